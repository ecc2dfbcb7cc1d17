//! Canonical form of index expressions, in which equal indices compare equal.

use std::collections::BTreeMap;

use lightbench_cuda_source::Node;
use lightbench_project::expression::Expression;

use super::function::Function;
use super::syntax::{all, bare, named, part};

const MAX_DEPTH: usize = 32;

/// Constants made of constants made of constants: more steps are not followed, as each may double the work.
const MAX_STEPS: usize = 6;

/// Sums of more products than this are no index that anybody wrote.
const MAX_TERMS: usize = 64;

/// A sum of products of names, with whole coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Canonical {
    terms: BTreeMap<Vec<String>, i128>,
}

impl Canonical {
    pub(super) fn name(name: &str) -> Self {
        Self { terms: BTreeMap::from([(vec![name.to_owned()], 1)]) }
    }

    pub(super) fn integer(value: i128) -> Self {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Vec::new(), value);
        }
        Self { terms }
    }

    /// The value, where it is a whole number.
    pub(super) fn as_integer(&self) -> Option<i128> {
        match self.terms.first_key_value() {
            None => Some(0),
            Some((names, value)) if names.is_empty() && self.terms.len() == 1 => Some(*value),
            Some(_) => None,
        }
    }

    /// The text in code, if the value is a name or an integer.
    pub(super) fn written(&self) -> Option<String> {
        match self.terms.first_key_value() {
            Some((names, 1)) if self.terms.len() == 1 && names.len() == 1 => names.first().cloned(),
            Some(_) | None => self.as_integer().map(|value| value.to_string()),
        }
    }

    /// The terms with names, and the integer.
    pub(super) fn split(mut self) -> (Self, i128) {
        let integer = self.terms.remove(&Vec::new()).unwrap_or_default();
        (self, integer)
    }

    /// Whether a term has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.terms.keys().any(|names| names.iter().any(|each| each == name))
    }

    /// Whether the value is a name plus terms without that name.
    pub(super) fn follows(&self, name: &str) -> bool {
        let with_name =
            self.terms.iter().filter(|(names, _)| names.iter().any(|each| each == name));
        let mut with_name = with_name.map(|(names, value)| names.len() == 1 && *value == 1);
        with_name.next() == Some(true) && with_name.next().is_none()
    }

    /// Whether different values of a name give different values, for all values of the other names.
    pub(super) fn is_linear_in(&self, name: &str) -> bool {
        let mut with_name = self.terms.keys().filter(|names| names.iter().any(|each| each == name));
        let alone = with_name.next().is_some_and(|names| names.len() == 1);
        alone && with_name.next().is_none()
    }

    /// The same with another name for a name.
    pub(super) fn renamed(&self, old: &str, new: &str) -> Self {
        let rename = |names: &Vec<String>| {
            let mut names: Vec<String> = names
                .iter()
                .map(|name| if name == old { new.to_owned() } else { name.clone() })
                .collect();
            names.sort();
            names
        };
        let terms = self.terms.iter().map(|(names, value)| (rename(names), *value));
        Self { terms: terms.collect() }
    }

    pub(super) fn plus(mut self, other: Self) -> Self {
        for (names, value) in other.terms {
            let sum = self.terms.entry(names).or_default();
            *sum = sum.saturating_add(value);
        }
        self.terms.retain(|_, value| *value != 0);
        self
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = Self::default();
        for (left, by) in &self.terms {
            for (right, value) in &other.terms {
                let mut names = [left.as_slice(), right.as_slice()].concat();
                names.sort();
                let terms = BTreeMap::from([(names, by.saturating_mul(*value))]);
                product = product.plus(Self { terms });
            }
        }
        product
    }
}

/// Threads that may have the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    /// Those of a block that differ along x only.
    Row,
    /// Those of a warp, in a block of one dimension.
    Warp,
}

/// Whether such threads have the same value: nothing that says which of them it is, nothing loaded.
pub(super) fn is_uniform(function: &Function<'_>, node: Node<'_>, among: Among) -> bool {
    uniform(function, node, among, 0)
}

/// Whether the number of a thread along x is divided by the size of a warp.
fn is_warp_number(function: &Function<'_>, field: Node<'_>) -> bool {
    field.parent().filter(|outer| outer.kind() == "binary_expression").is_some_and(|outer| {
        let text = |name| part(outer, name).map(|node| function.subject.of_node(node));
        part(outer, "left").map(|left| left.id()) == Some(field.id())
            && text("operator") == Some("/")
            && text("right") == Some("32")
    })
}

fn uniform(function: &Function<'_>, node: Node<'_>, among: Among, steps: usize) -> bool {
    let subject = function.subject;
    let unknown = [
        "subscript_expression",
        "pointer_expression",
        "assignment_expression",
        "update_expression",
        "lambda_expression",
    ];
    let calls = all(node, &["call_expression"]).into_iter().all(|call| {
        let callee = part(call, "function").map_or("", |callee| subject.of_node(callee));
        cast_operand(function, call).is_some() || matches!(callee, "min" | "max")
    });
    let threads = all(node, &["field_expression"])
        .into_iter()
        .filter(|field| subject.of_node(*field) == "threadIdx.x")
        .any(|field| among == Among::Row || !is_warp_number(function, field));
    if steps > MAX_STEPS || threads || !calls || !all(node, &unknown).is_empty() {
        return false;
    }
    all(node, &["identifier"]).into_iter().all(|name| {
        let text = subject.of_node(name);
        match function.local(text, name) {
            Some(local) => {
                let is_fixed = local.is_const || !function.is_changed(text, function.body);
                is_fixed
                    && local.value.is_some_and(|value| uniform(function, value, among, steps + 1))
            }
            None => !function.is_changed(text, function.body),
        }
    })
}

/// The block's size along x, in the names that code has for it.
pub(super) fn block_size(function: &Function<'_>) -> Option<Canonical> {
    block_extent(function, 0)
}

/// The block's size along a dimension.
pub(super) fn block_extent(function: &Function<'_>, dimension: usize) -> Option<Canonical> {
    let mut all = function.sites.iter().map(|site| {
        let size = site.step.block.get(dimension)?;
        of_launch(function, size)
    });
    let first = all.next()??;
    all.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// The index of a thread among all threads along a dimension of the grid.
pub(super) fn global_thread_along(function: &Function<'_>, dimension: usize) -> Option<Canonical> {
    let letter = ["x", "y", "z"].get(dimension)?;
    let block = Canonical::name(&format!("blockIdx.{letter}"));
    let thread = Canonical::name(&format!("threadIdx.{letter}"));
    Some(block.times(&block_extent(function, dimension)?).plus(thread))
}

/// The index of a thread among all threads of a one-dimensional grid.
pub(super) fn global_thread(function: &Function<'_>) -> Option<Canonical> {
    let block = Canonical::name("blockIdx.x").times(&block_size(function)?);
    Some(block.plus(Canonical::name("threadIdx.x")))
}

/// The number of all threads of a one-dimensional grid.
pub(super) fn all_threads(function: &Function<'_>) -> Option<Canonical> {
    Some(Canonical::name("gridDim.x").times(&block_size(function)?))
}

/// Canonical form of a product in the launch block; none if a factor is neither an integer nor a parameter.
fn of_launch(function: &Function<'_>, size: &Expression) -> Option<Canonical> {
    let mut product = Canonical::integer(1);
    for factor in size.text().split('*').map(str::trim) {
        let is_parameter =
            function.subject.launch.parameters.iter().any(|each| each.name == factor);
        product = product.times(&match factor.parse::<i128>() {
            Ok(value) => Canonical::integer(value),
            Err(_) if is_parameter => Canonical::name(&format!("PARAM_{factor}")),
            Err(_) => return None,
        });
    }
    Some(product)
}

/// An expression with constants, template arguments and the block's size put in.
pub(super) fn canonical(function: &Function<'_>, node: Node<'_>) -> Canonical {
    of(function, node, 0, 0)
}

/// `depth` counts nodes on the way, `steps` constants that were put in.
fn of(function: &Function<'_>, node: Node<'_>, depth: usize, steps: usize) -> Canonical {
    let subject = function.subject;
    let opaque = || Canonical::name(&subject.of_node(node).split_whitespace().collect::<String>());
    if depth > MAX_DEPTH || steps > MAX_STEPS {
        return opaque();
    }
    let inner = |field: &str| part(node, field).map(|child| of(function, child, depth + 1, steps));
    match node.kind() {
        "parenthesized_expression" => match bare(node) {
            inner if inner.id() != node.id() => of(function, inner, depth + 1, steps),
            _ => opaque(),
        },
        "number_literal" => {
            let digits = subject.of_node(node).trim_end_matches(['u', 'U', 'l', 'L']);
            digits.parse().map_or_else(|_| opaque(), Canonical::integer)
        }
        "cast_expression" => inner("value").unwrap_or_else(opaque),
        "call_expression" => match cast_operand(function, node) {
            Some(operand) => of(function, operand, depth + 1, steps),
            None => opaque(),
        },
        "binary_expression" => {
            let operator = part(node, "operator").map_or("", |node| subject.of_node(node));
            match (operator, inner("left"), inner("right")) {
                (_, Some(left), Some(right))
                    if left.terms.len() * right.terms.len() > MAX_TERMS =>
                {
                    opaque()
                }
                ("+", Some(left), Some(right)) => left.plus(right),
                ("-", Some(left), Some(right)) => left.plus(right.times(&Canonical::integer(-1))),
                ("*", Some(left), Some(right)) => left.times(&right),
                _ => opaque(),
            }
        }
        "field_expression" => match subject.of_node(node) {
            "blockDim.x" => block_extent(function, 0).unwrap_or_else(opaque),
            "blockDim.y" => block_extent(function, 1).unwrap_or_else(opaque),
            _ => opaque(),
        },
        "identifier" => identifier(function, node, steps).unwrap_or_else(opaque),
        _ => opaque(),
    }
}

fn identifier(function: &Function<'_>, node: Node<'_>, steps: usize) -> Option<Canonical> {
    let text = function.subject.of_node(node);
    if let Some(local) = function.local(text, node) {
        return local
            .value
            .filter(|_| local.is_const && !local.is_pointer)
            .map(|value| of(function, value, 0, steps + 1));
    }
    let index = function.templates.iter().position(|known| *known == text)?;
    let written = function.template_arguments(index);
    let first = written.first().filter(|first| written.iter().all(|other| other == *first))?;
    Some(match first.parse::<i128>() {
        Ok(value) => Canonical::integer(value),
        Err(_) => Canonical::name(first),
    })
}

/// Operand of `static_cast<…>(…)`.
pub(super) fn cast_operand<'t>(function: &Function<'_>, call: Node<'t>) -> Option<Node<'t>> {
    let callee = part(call, "function").filter(|callee| callee.kind() == "template_function")?;
    let name = part(callee, "name").map(|name| function.subject.of_node(name));
    named(part(call, "arguments")?).first().copied().filter(|_| name == Some("static_cast"))
}
