//! Several accumulators instead of one, so that additions are independent of each other.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::bounds::bounds;
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::loops::{
    CountedLoop, Step, counted_loop, is_innermost, is_invariant, jump, loops, pragma,
    statement_start,
};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::{ScalarType, scalar_type};
use super::super::syntax::{contains, is_compound, moved, named, part, statements};

pub(in super::super) const RULE: Rule = Rule {
    id: "several-accumulators",
    title: "add up in several variables",
    reason: "an addition waits several cycles for the one before; independent ones overlap, and so do their loads",
    needs: "an innermost counted loop whose last statement is `sum += …` or `best = fmaxf(best, …)`",
    technique: "more-work-per-thread",
    apply,
};

/// How many variables there are afterwards.
const COUNTS: [usize; 2] = [2, 4];

/// Steps of 32-bit counters beyond this could overflow where the counter ends.
const MAX_STEP: i128 = 1 << 24;

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for node in loops(&function).into_iter().filter(|node| is_innermost(*node)) {
            let line = function.line(node);
            match sum(&function, node) {
                Ok(sum) => {
                    for count in COUNTS {
                        found.offer(split(&function, &sum, count));
                    }
                }
                Err(missing) => found.refuse(line, missing),
            }
        }
    }
    found.finish("innermost loop in a launched kernel")
}

/// A loop that collects into one variable.
struct Sum<'s> {
    counted: CountedLoop<'s>,
    start: usize,
    name: &'s str,
    number: ScalarType,
    type_name: &'s str,
    /// `fmaxf` and its like; none for a sum.
    choice: Option<&'s str>,
}

fn sum<'s>(function: &Function<'s>, node: Node<'s>) -> Result<Sum<'s>, Missing> {
    let subject = function.subject;
    let form = |found: Node<'_>, expected| Missing::Form {
        found: subject.line_of(found).chars().take(60).collect(),
        expected,
    };
    let counted = counted_loop(function, node).ok_or_else(|| {
        form(node, "a loop that counts upwards, `for (int i = …; i < …; i += …)`")
    })?;
    if let Some(pragma) = pragma(node) {
        return Err(Missing::Already {
            what: subject.line_of(pragma),
            has: "a say in how this loop is unrolled",
        });
    }
    let start = statement_start(node).ok_or_else(|| form(node, "a loop in a block"))?;
    let body = statements(counted.body);
    let (last, before) = body.split_last().ok_or_else(|| form(node, "a statement in the loop"))?;
    let are_values = before
        .iter()
        .all(|each| each.kind() == "declaration" && subject.of_node(*each).starts_with("const "));
    if !are_values {
        return Err(form(counted.body, "constants, and then one sum"));
    }
    let assignment =
        named(*last).first().copied().filter(|node| node.kind() == "assignment_expression");
    let assignment =
        assignment.ok_or_else(|| form(*last, "`sum += …` or `best = fmaxf(best, …)`"))?;
    let (name, choice) = collected(function, assignment)
        .ok_or_else(|| form(assignment, "`sum += …` or `best = fmaxf(best, …)`"))?;
    let local = function.local(name, node).filter(|local| !local.is_array && !local.is_pointer);
    let local = local.ok_or_else(|| {
        form(assignment, "a variable of the kernel that is declared before the loop")
    })?;
    let number = ScalarType::named(local.type_name)
        .ok_or_else(|| form(local.declaration, "a variable of a plain type"))?;
    let expected_uses = if choice.is_some() { 2 } else { 1 };
    if contains(node, local.declaration) || function.uses(name, node).len() != expected_uses {
        return Err(Missing::OtherUse {
            name: name.to_owned(),
            used: subject.line_of(counted.body),
        });
    }
    check_head(function, &counted)?;
    if let Some(jump) = jump(counted.body) {
        return Err(Missing::Contains {
            what: subject.line_of(jump),
            why: "the loop may end early",
        });
    }
    if let Some(call) = function.meeting(counted.body) {
        return Err(Missing::Contains {
            what: call.to_owned(),
            why: "the loop contains a barrier or a warp exchange",
        });
    }
    Ok(Sum { counted, start, name, number, type_name: local.type_name, choice })
}

/// The counter is signed, and what it is compared with and moved by stays.
pub(super) fn check_head(
    function: &Function<'_>,
    counted: &CountedLoop<'_>,
) -> Result<(), Missing> {
    let subject = function.subject;
    let counter = ScalarType::named(counted.type_name);
    if !matches!(counter, Some(ScalarType::I32 | ScalarType::I64)) {
        return Err(Missing::Form {
            found: counted.type_name.to_owned(),
            expected: "a signed counter",
        });
    }
    let step = match counted.step {
        Step::One => None,
        Step::By(node) => Some(node),
    };
    for node in [Some(counted.end), step].into_iter().flatten() {
        if !is_invariant(function, node, counted.node) {
            let found = subject.line_of(node);
            return Err(Missing::Form {
                found,
                expected: "something that the loop does not change",
            });
        }
    }
    if let (Some(step), Some(ScalarType::I32)) = (step, counter) {
        let what = subject.line_of(step);
        let (_, most) = bounds(function, step).ok_or(Missing::Unbounded { what: what.clone() })?;
        if most > MAX_STEP {
            return Err(Missing::TooLarge { what, most, limit: MAX_STEP });
        }
    }
    Ok(())
}

/// The variable, and the function that chooses if it is no sum.
fn collected<'s>(
    function: &Function<'s>,
    assignment: Node<'s>,
) -> Option<(&'s str, Option<&'s str>)> {
    let subject = function.subject;
    let left = part(assignment, "left").filter(|left| left.kind() == "identifier")?;
    let name = subject.of_node(left);
    let right = part(assignment, "right")?;
    match subject.of_node(part(assignment, "operator")?) {
        "+=" => Some((name, None)),
        "=" => {
            let callee = part(right, "function").filter(|_| right.kind() == "call_expression")?;
            let choice = subject.of_node(callee);
            let arguments = named(part(right, "arguments")?);
            let is_first = arguments.len() == 2
                && arguments.first().is_some_and(|first| subject.of_node(*first) == name);
            let chooses = matches!(choice, "fmaxf" | "fminf" | "max" | "min");
            (is_first && chooses).then_some((name, Some(choice)))
        }
        _ => None,
    }
}

fn split(function: &Function<'_>, sum: &Sum<'_>, count: usize) -> Rewrite {
    let subject = function.subject;
    let Sum { counted, name, .. } = sum;
    let counter = counted.name;
    let kind = counted.type_name;
    let line = function.line(counted.node);
    let (start, end) = (subject.of_node(counted.start), subject.of_node(counted.end));
    let others: Vec<String> =
        (2..=count).map(|index| subject.fresh(&format!("{name}_{index}"))).collect();
    let indentation = subject.indentation(counted.node.start_byte());
    let inner = format!("{indentation}    ");
    let zero = match sum.number {
        ScalarType::F32 => "0.0f",
        ScalarType::F64 => "0.0",
        ScalarType::I32 | ScalarType::U32 | ScalarType::I64 | ScalarType::U64 => "0",
    };
    let first = if sum.choice.is_some() { name } else { zero };
    let mut text = String::from("{\n");
    for other in &others {
        text += &format!("{inner}{} {other} = {first};\n", sum.type_name);
    }
    text += &format!("{inner}{kind} {counter} = {start};\n");
    text += &format!(
        "{inner}for (; {counter} < {} - {}; {counter} += {}) {{\n",
        as_counter(function, counted, counted.end),
        steps(function, counted, count - 1),
        steps(function, counted, count)
    );
    for turn in 0..count {
        let place = (turn > 0).then(|| format!("({counter} + {})", steps(function, counted, turn)));
        let other = turn.checked_sub(1).and_then(|index| others.get(index));
        let body =
            turned(function, counted, place.as_deref(), other.map(|other| (*name, other.as_str())));
        text += &format!("{inner}    {}\n", moved(&body, "        "));
    }
    text += &format!("{inner}}}\n");
    let rest = subject.of_node(counted.body);
    let update = subject.of_node(counted.update);
    text += &format!("{inner}for (; {counter} < {end}; {update}) {}\n", moved(rest, "    "));
    for other in &others {
        text += &match sum.choice {
            None => format!("{inner}{name} += {other};\n"),
            Some(choice) => format!("{inner}{name} = {choice}({name}, {other});\n"),
        };
    }
    text += &format!("{indentation}}}");
    let what = format!(
        "the loop of line {line} collects into {count} variables instead of `{name}` alone"
    );
    Rewrite::new(what, line, vec![Edit::replace(sum.start..counted.node.end_byte(), text)])
}

/// Increment of the counter over `turns` iterations.
fn steps(function: &Function<'_>, counted: &CountedLoop<'_>, turns: usize) -> String {
    match counted.step {
        Step::One => turns.to_string(),
        Step::By(node) if turns == 1 => as_counter(function, counted, node),
        Step::By(node) => format!("{turns} * {}", as_counter(function, counted, node)),
    }
}

/// An expression in the type of the counter.
pub(super) fn as_counter(
    function: &Function<'_>,
    counted: &CountedLoop<'_>,
    node: Node<'_>,
) -> String {
    let text = function.subject.of_node(node);
    let same = scalar_type(function, node)
        .is_some_and(|kind| Some(kind) == ScalarType::named(counted.type_name));
    match (same, is_compound(node)) {
        (true, false) => text.to_owned(),
        (true, true) => format!("({text})"),
        (false, _) => format!("static_cast<{}>({text})", counted.type_name),
    }
}

/// The body as a block, for another place and another variable.
fn turned(
    function: &Function<'_>,
    counted: &CountedLoop<'_>,
    place: Option<&str>,
    other: Option<(&str, &str)>,
) -> String {
    let body = counted.body;
    let mut edits = Vec::new();
    let names = super::super::syntax::all(body, &["identifier"]);
    for node in names {
        let text = function.subject.of_node(node);
        match (place, other) {
            (Some(place), _) if text == counted.name => {
                edits.push(Edit::replace(node.byte_range(), place));
            }
            (_, Some((name, other))) if text == name => {
                edits.push(Edit::replace(node.byte_range(), other));
            }
            _ => {}
        }
    }
    let text = function.subject.with(body, edits);
    if body.kind() == "compound_statement" { text } else { format!("{{ {text} }}") }
}
