//! Thread coarsening: fewer threads, each with a grid-stride loop.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::bounds::bounds;
use super::super::edit::{Edit, Rewrite};
use super::super::function::{Function, Local};
use super::super::kernel_source::KernelSource;
use super::super::loops::is_invariant;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::ScalarType;
use super::super::syntax::{
    all, ancestors, bare, children, in_lambda, is_return, part, statements,
};
use super::super::thread_index::thread_index;

pub(in super::super) const RULE: Rule = Rule {
    id: "grid-stride",
    title: "give a thread several elements, a grid apart",
    reason: "what a thread computes before it begins is shared, fewer blocks start, and loads of several turns overlap",
    needs: "a one-dimensional launch, one index `blockIdx.x * block + threadIdx.x`, and one guard of it around the work",
    technique: "more-work-per-thread",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        found.add(function.line(function.node), coarsened(&function));
    }
    found.finish("launched kernel")
}

/// The edits of the code that make a loop of the guard; grid and parameters are for the caller to choose.
pub(super) struct Stride {
    pub(super) edits: Vec<Edit>,
    pub(super) line: usize,
}

fn coarsened(function: &Function<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let Stride { mut edits, line } = strided(function)?;
    let items = subject.fresh("ITEMS");
    edits.extend(divided_grids(function, &items));
    edits.push(subject.new_parameter(&items, &[4, 2, 8, 16])?);
    let what = format!(
        "a thread of `{}` does `{items}` elements, in a loop at line {line}",
        function.name
    );
    Ok(Rewrite::new(what, line, edits))
}

/// Grids of one block for each `items` blocks.
pub(super) fn divided_grids(function: &Function<'_>, items: &str) -> Vec<Edit> {
    let divided = function.sites.iter().filter_map(|site| {
        let fewer = format!("ceil_div({}, {items})", site.step.grid.first()?.text());
        Some(function.subject.new_size(site.size("grid", 0), &fewer))
    });
    divided.collect()
}

/// A loop over elements a grid apart in place of the guard.
pub(super) fn strided(function: &Function<'_>) -> Result<Stride, Missing> {
    let subject = function.subject;
    check_launches(function)?;
    let index = thread_index(function)?;
    let guard = guard(function, &index)?;
    check_work(function, &index, &guard)?;
    check_range(function, &index, guard.end)?;
    let (mut edits, start) = taken_out(function, &index);
    let (name, kind) = (index.name, index.type_name);
    let head = format!(
        "for ({start}; {}; {name} += static_cast<{kind}>(gridDim.x) * blockDim.x) ",
        guard.condition
    );
    let (first, last) = guard.work;
    if guard.returns {
        let span = first.start_byte()..last.end_byte();
        let returns = all(function.body, &["return_statement"]);
        let returns = returns
            .into_iter()
            .filter(|node| span.contains(&node.start_byte()) && !in_lambda(*node));
        edits.extend(returns.map(|node| Edit::replace(node.byte_range(), "continue;")));
        edits.push(Edit::replace(guard.node.byte_range(), format!("{head}{{")));
        edits.extend(subject.moved_right(span.clone()));
        let indentation = subject.indentation(span.start);
        edits.push(Edit::insert(span.end, format!("\n{indentation}}}")));
    } else {
        edits.push(Edit::replace(guard.node.start_byte()..first.start_byte(), head));
    }
    Ok(Stride { edits, line: function.line(guard.node) })
}

/// The declaration of the index moves into the head of the loop; where it declares more, it stays and becomes variable.
pub(super) fn taken_out(function: &Function<'_>, index: &Local<'_>) -> (Vec<Edit>, String) {
    let subject = function.subject;
    let (declaration, name, kind) = (index.declaration, index.name, index.type_name);
    let declared = all(declaration, &["init_declarator"]).len();
    if let (1, Some(value)) = (declared, index.value) {
        let start = format!("{kind} {name} = {}", subject.of_node(value));
        return (vec![Edit::replace(subject.whole_line(declaration), "")], start);
    }
    let qualifier =
        children(declaration).into_iter().find(|child| subject.of_node(*child) == "const");
    let edit = qualifier.map(|node| {
        let after = node.next_sibling().map_or(node.end_byte(), |next| next.start_byte());
        Edit::replace(node.start_byte()..after, "")
    });
    (edit.into_iter().collect(), String::new())
}

/// The guard, and what it guards.
pub(super) struct Guard<'s> {
    pub(super) node: Node<'s>,
    /// The comparison that holds where there is work, as written.
    pub(super) condition: String,
    pub(super) end: Node<'s>,
    /// The first and the last statement that are repeated.
    pub(super) work: (Node<'s>, Node<'s>),
    /// Whether the guard leaves the kernel where there is no work.
    pub(super) returns: bool,
}

/// Checks that each launch has one dimension and a grid that grows with the axes.
pub(super) fn check_grids(function: &Function<'_>) -> Result<(), Missing> {
    for site in &function.sites {
        let grid = site.step.grid.first();
        let text = grid.map_or("", |grid| grid.text()).to_owned();
        if function.dimensions() != 1 || site.at.field("grid").span == site.at.span {
            let found = format!("{} dimensions", function.dimensions());
            return Err(Missing::Form { found, expected: "a launch of one dimension" });
        }
        if site.step.cooperative || site.step.cluster.is_some() {
            return Err(Missing::Contains {
                what: text,
                why: "the launch is cooperative, or in clusters",
            });
        }
        let divides =
            grid.is_some_and(|grid| grid.as_integer().is_none() && grid.occupancy_of().is_empty());
        if !divides || text.contains("device.") {
            return Err(Missing::Form { found: text, expected: "a grid that grows with the axes" });
        }
    }
    Ok(())
}

pub(super) fn check_launches(function: &Function<'_>) -> Result<(), Missing> {
    check_grids(function)?;
    if let Some(call) = function.meeting(function.body) {
        return Err(Missing::Contains {
            what: call.to_owned(),
            why: "it may synchronise threads or read thread indices, which a grid-stride loop does not permit",
        });
    }
    Ok(())
}

pub(super) fn guard<'s>(function: &Function<'s>, index: &Local<'s>) -> Result<Guard<'s>, Missing> {
    let subject = function.subject;
    let all_statements = statements(function.body);
    let at = all_statements.iter().position(|node| node.id() == index.declaration.id());
    let expected = "the guard of the index right behind it, around all that follows";
    let form = |node: Node<'_>| Missing::Form {
        found: subject.line_of(node).chars().take(60).collect(),
        expected,
    };
    let rest =
        at.and_then(|at| all_statements.get(at + 1..)).ok_or_else(|| form(index.declaration))?;
    let between = rest
        .iter()
        .position(|node| node.kind() == "if_statement")
        .ok_or_else(|| form(index.declaration))?;
    let (before, rest) = rest.split_at(between);
    if let Some(early) = before.iter().find(|node| !function.uses(index.name, **node).is_empty()) {
        return Err(form(*early));
    }
    let node = *rest.first().ok_or_else(|| form(index.declaration))?;
    let condition = part(node, "condition").map(bare).ok_or_else(|| form(node))?;
    let operator = part(condition, "operator").map_or("", |node| subject.of_node(node));
    let is_index = part(condition, "left").is_some_and(|left| subject.of_node(left) == index.name);
    let end = part(condition, "right").filter(|_| is_index).ok_or_else(|| form(node))?;
    let consequence = part(node, "consequence").ok_or_else(|| form(node))?;
    let plain = part(node, "alternative").is_none();
    let is_last = rest.len() == 1;
    match (operator, rest.get(1), rest.last()) {
        ("<", _, _) if is_last && plain => {
            let condition = subject.of_node(condition).to_owned();
            Ok(Guard { node, condition, end, work: (consequence, consequence), returns: false })
        }
        (">=", Some(first), Some(last)) if plain && is_return(consequence) => {
            let condition = format!("{} < {}", index.name, subject.of_node(end));
            Ok(Guard { node, condition, end, work: (*first, *last), returns: true })
        }
        _ => Err(form(node)),
    }
}

/// Nothing of one element reaches the next one, and nothing leaves the loop.
pub(super) fn check_work(
    function: &Function<'_>,
    index: &Local<'_>,
    guard: &Guard<'_>,
) -> Result<(), Missing> {
    let subject = function.subject;
    let (first, last) = guard.work;
    let span = first.start_byte()..last.end_byte();
    let inside = |node: Node<'_>| span.contains(&node.start_byte());
    for node in all(function.body, &["return_statement"]).into_iter().filter(|node| inside(*node)) {
        let in_loop = ancestors(node)
            .take_while(|outer| inside(*outer) || outer.id() == first.id())
            .any(|outer| {
                matches!(
                    outer.kind(),
                    "for_statement" | "while_statement" | "do_statement" | "switch_statement"
                )
            });
        if !in_lambda(node) && (!guard.returns || in_loop) {
            let what = subject.line_of(node);
            return Err(Missing::Contains { what, why: "it would leave the grid-stride loop" });
        }
    }
    let outside = function.locals().iter().copied().filter(|local| {
        !inside(local.declaration)
            && local.name != index.name
            && local.declaration.kind() == "declaration"
    });
    for local in outside {
        let used = function.uses(local.name, function.body).into_iter().any(inside);
        let is_value = ScalarType::named(local.type_name).is_some() && !local.is_array;
        let is_fixed = local.is_const
            || (is_value || local.is_pointer) && !function.is_changed(local.name, function.body);
        if used && !is_fixed {
            let used = subject.line_of(local.declaration);
            return Err(Missing::OtherUse { name: local.name.to_owned(), used });
        }
    }
    let end = guard.end;
    if !is_invariant(function, end, function.body)
        && !all(end, &["identifier"]).iter().all(|name| {
            let text = subject.of_node(*name);
            !function.is_changed(text, function.body)
        })
    {
        return Err(Missing::Form {
            found: subject.line_of(end),
            expected: "an end that does not change",
        });
    }
    Ok(())
}

/// The index passes its end by a whole grid at most, which has to fit, too.
pub(super) fn check_range(
    function: &Function<'_>,
    index: &Local<'_>,
    end: Node<'_>,
) -> Result<(), Missing> {
    let subject = function.subject;
    let what = subject.line_of(end);
    let form = || Missing::Form {
        found: index.type_name.to_owned(),
        expected: "an index of a plain whole type",
    };
    let number =
        ScalarType::named(index.type_name).filter(|number| number.is_integer()).ok_or_else(form)?;
    if number.is_wide_integer() {
        return Ok(());
    }
    let (_, most) = bounds(function, end).ok_or(Missing::Unbounded { what: what.clone() })?;
    let (_, largest) = number.limits().unwrap_or_default();
    let limit = largest / 2 - 1024;
    if most > limit { Err(Missing::TooLarge { what, most, limit }) } else { Ok(()) }
}
