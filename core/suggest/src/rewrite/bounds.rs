//! Value ranges of index expressions, by interval arithmetic from the limits of axes, grids and blocks.

use std::cell::Cell;

use lightbench_cuda_source::Node;
use lightbench_project::argument::ValueSource;
use lightbench_project::expression::{Expression, Interval};
use lightbench_project::launch::{Argument, Buffer};
use lightbench_project::tensor::Layout;

use super::function::Function;
use super::kernel_source::Site;
use super::loops::counted_loop;
use super::refusal::Missing;
use super::scalar_type::{ScalarType, scalar_type};
use super::syntax::{bare, enclosing, named, part};

/// More combinations of parameters than this are held as intervals.
const MAX_COMBINATIONS: usize = 256;

const MAX_DEPTH: usize = 32;

/// Nodes that one question looks at: constants made of constants would multiply otherwise.
const MAX_NODES: u32 = 10_000;

/// One launch with one choice of parameters.
struct Setting<'f, 's> {
    function: &'f Function<'s>,
    site: Site<'s>,
    parameters: Vec<(&'s str, Interval)>,
    seen: Cell<u32>,
}

/// The smallest and the largest value of an integer expression in any launch; none where the text does not say it.
pub(super) fn bounds(function: &Function<'_>, node: Node<'_>) -> Option<Interval> {
    settings(function)
        .iter()
        .map(|setting| setting.of(node, 0))
        .reduce(|left, right| {
            let ((low, high), (other_low, other_high)) = (left?, right?);
            Some((low.min(other_low), high.max(other_high)))
        })
        .flatten()
}

/// Whether an expression and everything that it is computed from fits a type; otherwise the part that does not.
pub(super) fn fits(
    function: &Function<'_>,
    node: Node<'_>,
    limits: Interval,
) -> Result<(), (String, Option<i128>)> {
    let parts = super::syntax::all(node, &["binary_expression", "unary_expression"]);
    for part in parts.into_iter().chain([node]) {
        if scalar_type(function, part).is_some_and(|number| !number.is_integer()) {
            continue;
        }
        let text = || function.subject.line_of(part);
        match bounds(function, part) {
            None => return Err((text(), None)),
            Some((low, _)) if low < limits.0 => {
                return Err((text(), Some(low)));
            }
            Some((_, high)) if high > limits.1 => return Err((text(), Some(high))),
            Some(_) => {}
        }
    }
    Ok(())
}

/// How many elements the buffers have that launches pass for a parameter, in the order of the last dimension.
pub(super) fn length(function: &Function<'_>, index: usize) -> Option<Interval> {
    settings(function)
        .iter()
        .map(|setting| setting.length(index))
        .reduce(|left, right| {
            let ((low, high), (other_low, other_high)) = (left?, right?);
            Some((low.min(other_low), high.max(other_high)))
        })
        .flatten()
}

/// Smallest and largest value of a size of a launch, over all values of parameters.
pub(super) fn size_bounds(function: &Function<'_>, size: &str) -> Option<Interval> {
    let size = Expression::parse(size).ok()?;
    settings(function)
        .iter()
        .map(|setting| size.bounds(&|name| setting.named(name)))
        .reduce(|left, right| {
            let ((low, high), (other_low, other_high)) = (left?, right?);
            Some((low.min(other_low), high.max(other_high)))
        })
        .flatten()
}

/// Blocks of a grid along x; CUDA C++ Programming Guide, table of technical specifications.
const MAX_BLOCKS: i128 = (1 << 31) - 1;

/// Whether a grid has at most as many blocks along x as a launch may have, over all sizes and values of parameters.
pub(super) fn check_grid(function: &Function<'_>, grid: &str) -> Result<(), Missing> {
    let what = grid.to_owned();
    match size_bounds(function, grid) {
        Some((_, most)) if most <= MAX_BLOCKS => Ok(()),
        Some((_, most)) => Err(Missing::TooLarge { what, most, limit: MAX_BLOCKS }),
        None => Err(Missing::Unbounded { what }),
    }
}

fn settings<'f, 's>(function: &'f Function<'s>) -> Vec<Setting<'f, 's>> {
    let parameters = &function.subject.launch.parameters;
    let count =
        parameters.iter().map(|each| each.values.len()).try_fold(1_usize, usize::checked_mul);
    let mut choices: Vec<Vec<(&'s str, Interval)>> = vec![Vec::new()];
    if count.is_some_and(|count| count <= MAX_COMBINATIONS) {
        for parameter in parameters {
            choices = choices
                .iter()
                .flat_map(|chosen| {
                    parameter.values.iter().map(|value| {
                        let value = i128::from(*value);
                        let mut chosen = chosen.clone();
                        chosen.push((parameter.name.as_str(), (value, value)));
                        chosen
                    })
                })
                .collect();
        }
    } else {
        choices = vec![
            parameters
                .iter()
                .filter_map(|parameter| {
                    let (low, high) =
                        (parameter.values.iter().min()?, parameter.values.iter().max()?);
                    Some((parameter.name.as_str(), (i128::from(*low), i128::from(*high))))
                })
                .collect(),
        ];
    }
    let each = |site: &Site<'s>| {
        let site = *site;
        choices.iter().map(move |chosen| Setting {
            function,
            site,
            parameters: chosen.clone(),
            seen: Cell::new(0),
        })
    };
    function.sites.iter().flat_map(each).collect()
}

impl Setting<'_, '_> {
    /// Meaning of a name in the launch block.
    fn named(&self, name: &str) -> Option<Interval> {
        if let Some((_, value)) = self.parameters.iter().find(|(known, _)| *known == name) {
            return Some(*value);
        }
        let axis = self.function.subject.definition.axes.iter().find(|axis| axis.name == name)?;
        Some((axis.min.into(), axis.max.into()))
    }

    fn length(&self, index: usize) -> Option<Interval> {
        let subject = self.function.subject;
        let Argument::Buffer(buffer) = self.site.step.arguments.get(index)? else { return None };
        let shape = match buffer {
            Buffer::Tensor(index) => {
                let tensor = subject.definition.tensors.get(*index)?;
                (tensor.layout == Layout::RowMajor).then_some(&tensor.shape)?
            }
            Buffer::Scratch(index) => &subject.launch.scratch.get(*index)?.shape,
            Buffer::Magnitude(_) => return None,
        };
        shape.iter().try_fold((1, 1), |(low, high): Interval, size| {
            let (least, most) = size.bounds(&|name| self.named(name))?;
            Some((low.checked_mul(least)?, high.checked_mul(most)?))
        })
    }

    fn of(&self, node: Node<'_>, depth: usize) -> Option<Interval> {
        self.seen.set(self.seen.get().saturating_add(1));
        if depth > MAX_DEPTH || self.seen.get() > MAX_NODES {
            return None;
        }
        let text = self.function.subject.of_node(node);
        let inner = |field: &str| part(node, field).and_then(|child| self.of(child, depth + 1));
        match node.kind() {
            "parenthesized_expression" => {
                let bare = bare(node);
                if bare.id() == node.id() { None } else { self.of(bare, depth + 1) }
            }
            "number_literal" => {
                let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
                digits.parse().ok().map(|value: i128| (value, value))
            }
            "identifier" => self.identifier(node, depth),
            "qualified_identifier" => self.named(text.strip_prefix("axis::")?),
            "field_expression" => self.special(node),
            "cast_expression" => self.cast(part(node, "type")?, part(node, "value")?, depth),
            "binary_expression" => self.binary(node, inner("left")?, inner("right")?),
            "conditional_expression" => {
                let (left, right) = (inner("consequence")?, inner("alternative")?);
                Some((left.0.min(right.0), left.1.max(right.1)))
            }
            "call_expression" => self.call(node, depth),
            _ => None,
        }
    }

    fn binary(&self, node: Node<'_>, left: Interval, right: Interval) -> Option<Interval> {
        let products = || {
            let all = [(left.0, right.0), (left.0, right.1), (left.1, right.0), (left.1, right.1)];
            let all: Option<Vec<i128>> = all.into_iter().map(|(a, b)| a.checked_mul(b)).collect();
            let all = all?;
            Some((*all.iter().min()?, *all.iter().max()?))
        };
        match self.function.subject.of_node(part(node, "operator")?) {
            "+" => Some((left.0.checked_add(right.0)?, left.1.checked_add(right.1)?)),
            "-" => Some((left.0.checked_sub(right.1)?, left.1.checked_sub(right.0)?)),
            "*" => products(),
            "/" if left.0 >= 0 && right.0 > 0 => Some((left.0 / right.1, left.1 / right.0)),
            "%" if left.0 >= 0 && right.0 > 0 => Some((0, left.1.min(right.1 - 1))),
            _ => None,
        }
    }

    /// A cast changes nothing where the value fits the type.
    fn cast(&self, kind: Node<'_>, value: Node<'_>, depth: usize) -> Option<Interval> {
        let limits = ScalarType::named(self.function.subject.of_node(kind))?.limits()?;
        let (low, high) = self.of(value, depth + 1)?;
        (limits.0 <= low && high <= limits.1).then_some((low, high))
    }

    fn call(&self, node: Node<'_>, depth: usize) -> Option<Interval> {
        let callee = part(node, "function")?;
        let arguments = named(part(node, "arguments")?);
        if callee.kind() == "template_function" {
            let is_cast = part(callee, "name").map(|name| self.function.subject.of_node(name))
                == Some("static_cast");
            let kind = named(part(callee, "arguments")?).first().copied().filter(|_| is_cast)?;
            return self.cast(kind, *arguments.first()?, depth);
        }
        let all: Option<Vec<Interval>> =
            arguments.iter().map(|argument| self.of(*argument, depth + 1)).collect();
        let all = all?;
        match self.function.subject.of_node(callee) {
            "min" => all.into_iter().reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))),
            "max" => all.into_iter().reduce(|a, b| (a.0.max(b.0), a.1.max(b.1))),
            _ => None,
        }
    }

    fn special(&self, node: Node<'_>) -> Option<Interval> {
        let subject = self.function.subject;
        let dimension = match subject.of_node(part(node, "field")?) {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return None,
        };
        let step = self.site.step;
        let size = |list: &[lightbench_project::expression::Expression]| match list.get(dimension) {
            Some(size) => {
                size.bounds(&|name| self.named(name)).map(|(low, high)| (low.max(1), high.max(1)))
            }
            None => Some((1, 1)),
        };
        match subject.of_node(part(node, "argument")?) {
            "threadIdx" => size(&step.block).map(|(_, high)| (0, high - 1)),
            "blockIdx" => size(&step.grid).map(|(_, high)| (0, high - 1)),
            "blockDim" => size(&step.block),
            "gridDim" => size(&step.grid),
            _ => None,
        }
    }

    fn identifier(&self, node: Node<'_>, depth: usize) -> Option<Interval> {
        let function = self.function;
        let text = function.subject.of_node(node);
        if let Some(parameter) = text.strip_prefix("PARAM_") {
            return self.named(parameter);
        }
        if let Some(axis) = text.strip_prefix("AXIS_") {
            return self.named(axis);
        }
        if let Some(local) = function.local(text, node) {
            if let Some(interval) = self.counter(text, node, depth) {
                return Some(interval);
            }
            let is_fixed = local.is_const || !function.is_changed(text, function.body);
            return self.of(local.value.filter(|_| is_fixed)?, depth + 1);
        }
        if let Some(index) = function.templates.iter().position(|known| *known == text) {
            return self.template(index);
        }
        let index = function.parameters.iter().position(|parameter| parameter.name == text)?;
        if function.is_changed(text, function.body) {
            return None;
        }
        match self.site.step.arguments.get(index)? {
            Argument::Value(value) => match &value.source {
                ValueSource::Formula(formula) => formula.bounds(&|name| self.named(name)),
                ValueSource::Scalar(_) => None,
            },
            Argument::Buffer(_)
            | Argument::TensorMap(_)
            | Argument::Struct(_)
            | Argument::Texture(_)
            | Argument::Integer(_)
            | Argument::Null
            | Argument::Outside(_) => None,
        }
    }

    fn template(&self, index: usize) -> Option<Interval> {
        let sites = &self.function.sites;
        let here = sites.iter().position(|site| std::ptr::eq(site.step, self.site.step))?;
        let written = self.function.template_arguments(index);
        let written = written.get(here)?;
        match written.strip_prefix("PARAM_").or_else(|| written.strip_prefix("AXIS_")) {
            Some(name) => self.named(name),
            None => written.parse().ok().map(|value: i128| (value, value)),
        }
    }

    /// The variable of the counted loop around a place.
    fn counter(&self, name: &str, node: Node<'_>, depth: usize) -> Option<Interval> {
        let mut here = node;
        while let Some(outer) = enclosing(here, &["for_statement"]) {
            // In the update the counter has passed its end already.
            if let Some(counted) = counted_loop(self.function, outer)
                && counted.name == name
            {
                let in_body = super::syntax::contains(counted.body, node);
                let (low, start) = self.of(counted.start, depth + 1)?;
                let (_, end) = self.of(counted.end, depth + 1)?;
                return in_body.then_some((low, start.max(end - 1)));
            }
            here = outer;
        }
        None
    }
}
