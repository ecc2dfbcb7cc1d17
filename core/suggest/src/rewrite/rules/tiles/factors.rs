//! Loops that add up products of two loads.

use lightbench_cuda_source::Node;

use super::super::super::canonical::cast_operand;
use super::super::super::function::{Function, Local};
use super::super::super::loops::CountedLoop;
use super::super::super::scalar_type::ScalarType;
use super::super::super::syntax::{ancestors, bare, named, part, statements};

/// Constants made of constants made of constants are followed so far.
const MAX_STEPS: usize = 8;

/// The loads of a loop that adds up products; none where it does not even look like one.
pub(super) fn factors<'s>(
    function: &Function<'s>,
    counted: &CountedLoop<'s>,
) -> Option<(Local<'s>, [Node<'s>; 2])> {
    let subject = function.subject;
    let body = statements(counted.body);
    let (last, before) = body.split_last()?;
    if before.iter().any(|node| node.kind() != "declaration") {
        return None;
    }
    let assignment = named(*last).first().copied()?;
    let left = part(assignment, "left").filter(|left| left.kind() == "identifier")?;
    let name = subject.of_node(left);
    let right = bare(part(assignment, "right")?);
    let (factors, uses) = match subject.of_node(part(assignment, "operator")?) {
        "+=" => (product(function, right)?, 1),
        "=" => (added(function, right, name)?, 2),
        _ => return None,
    };
    let [first, second] = factors;
    let loads = [loaded(function, first, 0)?, loaded(function, second, 0)?];
    let local = function.local(name, counted.node)?;
    let is_sum =
        ScalarType::named(local.type_name).is_some() && !local.is_array && !local.is_pointer;
    let is_own = is_sum && function.uses(name, counted.node).len() == uses;
    is_own.then_some((local, loads))
}

fn product<'s>(function: &Function<'s>, node: Node<'s>) -> Option<[Node<'s>; 2]> {
    let is_product = part(node, "operator").map(|node| function.subject.of_node(node)) == Some("*");
    let sides = part(node, "left").zip(part(node, "right"))?;
    (node.kind() == "binary_expression" && is_product).then_some([sides.0, sides.1])
}

/// The factors of what `sum + a * b`, `a * b + sum` and `fmaf(a, b, sum)` add.
fn added<'s>(function: &Function<'s>, node: Node<'s>, sum: &str) -> Option<[Node<'s>; 2]> {
    let subject = function.subject;
    if node.kind() == "call_expression" {
        let callee = subject.of_node(part(node, "function")?);
        let arguments = named(part(node, "arguments")?);
        let [first, second, third] = arguments.as_slice() else { return None };
        let is_fused = matches!(callee, "fmaf" | "fma" | "__fmaf_rn");
        return (is_fused && subject.of_node(*third) == sum).then_some([*first, *second]);
    }
    let (left, right) = part(node, "left").zip(part(node, "right"))?;
    let is_sum = part(node, "operator").map(|node| subject.of_node(node)) == Some("+");
    let (first, second) = (bare(left), bare(right));
    match (subject.of_node(first) == sum, subject.of_node(second) == sum) {
        (true, false) if is_sum => product(function, second),
        (false, true) if is_sum => product(function, first),
        _ => None,
    }
}

/// The load that a factor is, conversions and constants of the loop left out.
fn loaded<'s>(function: &Function<'s>, node: Node<'s>, steps: usize) -> Option<Node<'s>> {
    let node = bare(node);
    if steps > MAX_STEPS {
        return None;
    }
    match node.kind() {
        "subscript_expression" => Some(node),
        "cast_expression" => loaded(function, part(node, "value")?, steps + 1),
        "identifier" => {
            let local = function.local(function.subject.of_node(node), node)?;
            let in_loop = ancestors(local.declaration).any(|outer| outer.kind() == "for_statement");
            let fixed = !function.is_changed(local.name, function.body) && !local.is_pointer;
            loaded(function, local.value.filter(|_| in_loop && fixed)?, steps + 1)
        }
        "call_expression" => {
            if let Some(operand) = cast_operand(function, node) {
                return loaded(function, operand, steps + 1);
            }
            let callee = function.subject.of_node(part(node, "function")?);
            let converts = matches!(callee, "__half2float" | "__bfloat162float" | "float");
            let arguments = named(part(node, "arguments")?);
            loaded(function, arguments.first().copied().filter(|_| converts)?, steps + 1)
        }
        _ => None,
    }
}
