//! Reductions of a loop: variables from outside the loop that its iterations update in any order.

use lightbench_cuda_source::Node;

use super::super::super::function::{Function, is_changed_by};
use super::super::super::loops::CountedLoop;
use super::super::super::refusal::Missing;
use super::super::super::scalar_type::{ScalarType, is_zero};
use super::super::super::syntax::{bare, contains, named, part, squeezed, statements};

/// One variable that a loop collects in.
pub(in super::super) struct Collected<'s> {
    pub(in super::super) name: &'s str,
    pub(in super::super) type_name: &'s str,
    pub(in super::super) how: How<'s>,
}

/// How it is joined with what other threads collected.
pub(in super::super) enum How<'s> {
    Sum,
    /// With the rounding error carried along in a variable of its own (Kahan).
    Compensated {
        lost: &'s str,
    },
    /// The name of a function such as `fmaxf`.
    Choice(&'s str),
    /// Operator that compares `a` with `b`; `b` is taken if the comparison holds.
    Comparison(String),
}

/// Every variable from outside that a loop changes, each of them collected in.
pub(in super::super) fn collected<'s>(
    function: &Function<'s>,
    counted: &CountedLoop<'s>,
) -> Result<Vec<Collected<'s>>, Missing> {
    let subject = function.subject;
    let body = statements(counted.body);
    let mut found: Vec<Collected<'s>> = Vec::new();
    for (at, statement) in body.iter().enumerate() {
        let one = compensated(function, body.get(at..).unwrap_or_default())
            .or_else(|| assigned(function, *statement))
            .or_else(|| compared(function, *statement));
        let Some((name, how, uses)) = one else { continue };
        let local = function.local(name, counted.node);
        let local = local.filter(|local| {
            !local.is_array && !local.is_pointer && !contains(counted.node, local.declaration)
        });
        let Some(local) = local else { continue };
        let is_plain = ScalarType::named(local.type_name).is_some();
        if is_plain && function.uses(name, counted.node).len() == uses {
            found.push(Collected { name, type_name: local.type_name, how });
        }
    }
    for node in super::super::super::syntax::all(counted.body, &["identifier"]) {
        let text = subject.of_node(node);
        let inside = function
            .local(text, node)
            .is_some_and(|local| contains(counted.node, local.declaration));
        let known = found.iter().any(|each| {
            each.name == text || matches!(each.how, How::Compensated { lost } if lost == text)
        });
        if !is_changed_by(node) || inside || known {
            continue;
        }
        if let Some(sum) = added(function, counted, text) {
            found.push(sum);
        } else {
            let used = node.parent().map_or(node, |outer| outer);
            return Err(Missing::Form {
                found: subject.line_of(used).chars().take(60).collect(),
                expected: "changes by `sum += …`, `best = fmaxf(best, …)`, `if (… > best) best = …` or a compensated sum only",
            });
        }
    }
    Ok(found)
}

/// A variable that the loop does nothing with but `sum += …` and `++sum`, wherever in a turn.
fn added<'s>(
    function: &Function<'s>,
    counted: &CountedLoop<'s>,
    name: &'s str,
) -> Option<Collected<'s>> {
    let subject = function.subject;
    let local = function.local(name, counted.node)?;
    let is_plain =
        ScalarType::named(local.type_name).is_some() && !local.is_array && !local.is_pointer;
    let adds = |node: &Node<'s>| {
        let Some(outer) = node.parent() else { return false };
        let is_statement =
            outer.parent().is_some_and(|around| around.kind() == "expression_statement");
        let is_left = part(outer, "left").map(|left| left.id()) == Some(node.id());
        let operator = part(outer, "operator").map(|node| subject.of_node(node));
        let adds = (outer.kind() == "assignment_expression" && is_left && operator == Some("+="))
            || (outer.kind() == "update_expression" && subject.of_node(outer).contains("++"));
        is_statement && adds
    };
    let only_adds = function.uses(name, counted.node).iter().all(adds);
    let how = How::Sum;
    (is_plain && only_adds).then_some(Collected { name, type_name: local.type_name, how })
}

fn assignment<'s>(function: &Function<'s>, node: Node<'s>) -> Option<(&'s str, &'s str, Node<'s>)> {
    let only = named(node).first().copied().filter(|_| node.kind() == "expression_statement")?;
    let left = part(only, "left").filter(|left| left.kind() == "identifier")?;
    let operator = part(only, "operator").filter(|_| only.kind() == "assignment_expression")?;
    let subject = function.subject;
    Some((subject.of_node(left), subject.of_node(operator), bare(part(only, "right")?)))
}

/// `sum += …`, `sum = sum + …`, `sum = fmaf(…, …, sum)`, `best = fmaxf(best, …)`, and how often they have the name.
fn assigned<'s>(function: &Function<'s>, node: Node<'s>) -> Option<(&'s str, How<'s>, usize)> {
    let subject = function.subject;
    let (name, operator, right) = assignment(function, node)?;
    if operator == "+=" {
        return Some((name, How::Sum, 1));
    }
    let is_name = |node: &Node<'_>| subject.of_node(*node) == name;
    if operator != "=" {
        return None;
    }
    if right.kind() == "call_expression" {
        let callee = subject.of_node(part(right, "function")?);
        let arguments = named(part(right, "arguments")?);
        let has = arguments.iter().any(is_name);
        return match (callee, arguments.len()) {
            ("fmaxf" | "fminf" | "fmax" | "fmin" | "max" | "min", 2) if has => {
                Some((name, How::Choice(callee), 2))
            }
            ("fmaf" | "fma", 3) if arguments.last().is_some_and(is_name) => {
                Some((name, How::Sum, 2))
            }
            _ => None,
        };
    }
    let adds = part(right, "operator").map(|node| subject.of_node(node)) == Some("+");
    let sides = part(right, "left").zip(part(right, "right"))?;
    let is_binary = right.kind() == "binary_expression" && adds;
    (is_binary && (is_name(&sides.0) || is_name(&sides.1))).then_some((name, How::Sum, 2))
}

/// `if (… > best) best = …;`
fn compared<'s>(function: &Function<'s>, node: Node<'s>) -> Option<(&'s str, How<'s>, usize)> {
    let subject = function.subject;
    if node.kind() != "if_statement" || part(node, "alternative").is_some() {
        return None;
    }
    let inside = statements(part(node, "consequence")?);
    let [only] = inside.as_slice() else { return None };
    let (name, operator, value) = assignment(function, *only)?;
    let condition = bare(part(node, "condition")?);
    let sign = subject.of_node(part(condition, "operator")?);
    let (left, right) = part(condition, "left").zip(part(condition, "right"))?;
    let (left, right) = (bare(left), bare(right));
    if operator != "=" || !matches!(sign, "<" | ">" | "<=" | ">=") {
        return None;
    }
    let wanted = squeezed(subject.of_node(value));
    let how = if subject.of_node(right) == name && squeezed(subject.of_node(left)) == wanted {
        format!("b {sign} a")
    } else if subject.of_node(left) == name && squeezed(subject.of_node(right)) == wanted {
        format!("a {sign} b")
    } else {
        return None;
    };
    Some((name, How::Comparison(how), 2))
}

/// `term = … - lost; next = sum + term; lost = (next - sum) - term; sum = next;` at the end of a loop.
fn compensated<'s>(
    function: &Function<'s>,
    last: &[Node<'s>],
) -> Option<(&'s str, How<'s>, usize)> {
    let subject = function.subject;
    let [first, second, third, fourth] = last else { return None };
    let declared = |node: Node<'s>| {
        let declarator = part(node, "declarator").filter(|_| node.kind() == "declaration")?;
        let name = subject.of_node(part(declarator, "declarator")?);
        Some((name, part(declarator, "value")?))
    };
    let (term, difference) = declared(*first)?;
    let (next, added) = declared(*second)?;
    let (lost, is_lost, error) = assignment(function, *third)?;
    let (sum, is_sum, value) = assignment(function, *fourth)?;
    let minus = part(difference, "operator").map(|node| subject.of_node(node)) == Some("-");
    let takes = part(difference, "right").map(|node| subject.of_node(node)) == Some(lost);
    let error = squeezed(subject.of_node(error));
    let fits = minus
        && takes
        && is_lost == "="
        && is_sum == "="
        && squeezed(subject.of_node(added)) == format!("{sum}+{term}")
        && (error == format!("({next}-{sum})-{term}") || error == format!("{next}-{sum}-{term}"))
        && subject.of_node(value) == next;
    // What is lost begins with nothing, and nobody asks for it afterwards.
    let local = function.local(lost, *first)?;
    let zero = local.value.is_some_and(|value| is_zero(subject.of_node(value)))
        && ScalarType::named(local.type_name).is_some();
    let own = function.uses(lost, function.body).len() == 2;
    (fits && zero && own).then_some((sum, How::Compensated { lost }, 3))
}
