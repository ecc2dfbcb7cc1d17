//! Conditions of guards: their negation and their terms.

use lightbench_cuda_source::Node;

use super::function::Function;
use super::scalar_type::scalar_type;
use super::syntax::{bare, is_compound, part};

/// Conditions nested deeper than this are not taken apart.
const MAX_DEPTH: usize = 16;

/// Text of the negation of a condition.
pub(super) fn negated(function: &Function<'_>, condition: Node<'_>) -> String {
    turned(function, bare(condition), 0)
}

fn turned(function: &Function<'_>, node: Node<'_>, depth: usize) -> String {
    let subject = function.subject;
    let text = subject.of_node(node);
    let otherwise = || if is_compound(node) { format!("!({text})") } else { format!("!{text}") };
    let sides = part(node, "left").zip(part(node, "right"));
    let Some((left, right)) = sides.filter(|_| node.kind() == "binary_expression") else {
        return otherwise();
    };
    let operator = part(node, "operator").map_or("", |node| subject.of_node(node));
    let inner = |side: Node<'_>| turned(function, bare(side), depth + 1);
    match operator {
        // The order of binding turns round with the operators.
        "||" if depth < MAX_DEPTH => format!("{} && {}", inner(left), inner(right)),
        "&&" if depth < MAX_DEPTH => format!("({} || {})", inner(left), inner(right)),
        _ => {
            let are_whole = [left, right]
                .into_iter()
                .all(|side| scalar_type(function, side).is_some_and(|number| number.is_integer()));
            match opposite(operator).filter(|_| are_whole) {
                Some(other) => {
                    format!("{} {other} {}", subject.of_node(left), subject.of_node(right))
                }
                None => otherwise(),
            }
        }
    }
}

/// The comparison of whole numbers that holds where this one does not.
fn opposite(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "<" => ">=",
        "<=" => ">",
        ">" => "<=",
        ">=" => "<",
        "==" => "!=",
        "!=" => "==",
        _ => return None,
    })
}

/// The parts of a chain of `&&` or `||`, without parentheses.
pub(super) fn terms<'t>(
    function: &Function<'_>,
    condition: Node<'t>,
    joined: &str,
) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut waiting = vec![bare(condition)];
    while let Some(node) = waiting.pop() {
        let operator = part(node, "operator").map(|node| function.subject.of_node(node));
        let sides = part(node, "left").zip(part(node, "right"));
        match sides.filter(|_| node.kind() == "binary_expression" && operator == Some(joined)) {
            Some((left, right)) => waiting.extend([bare(right), bare(left)]),
            None => found.push(node),
        }
    }
    found
}
