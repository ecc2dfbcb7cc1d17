//! Counted loops: `for (T i = start; i < end; i += step)`.

use lightbench_cuda_source::Node;

use super::function::Function;
use super::syntax::{all, ancestors, part};

/// A loop whose variable is its own and is changed in its head only.
#[derive(Clone, Copy)]
pub(super) struct CountedLoop<'s> {
    pub(super) node: Node<'s>,
    pub(super) name: &'s str,
    pub(super) type_name: &'s str,
    pub(super) declaration: Node<'s>,
    pub(super) start: Node<'s>,
    pub(super) end: Node<'s>,
    pub(super) step: Step<'s>,
    pub(super) update: Node<'s>,
    pub(super) body: Node<'s>,
}

/// Increment of the counter after each iteration.
#[derive(Clone, Copy)]
pub(super) enum Step<'s> {
    One,
    By(Node<'s>),
}

/// The loop, if it counts upwards.
pub(super) fn counted_loop<'s>(function: &Function<'s>, node: Node<'s>) -> Option<CountedLoop<'s>> {
    let subject = function.subject;
    let declaration = part(node, "initializer").filter(|first| first.kind() == "declaration")?;
    let type_name = subject.of_node(part(declaration, "type")?);
    let declarator =
        part(declaration, "declarator").filter(|node| node.kind() == "init_declarator")?;
    let name = part(declarator, "declarator").filter(|name| name.kind() == "identifier")?;
    let name = subject.of_node(name);
    let start = part(declarator, "value")?;
    let condition = part(node, "condition").filter(|node| node.kind() == "binary_expression")?;
    let is_below = part(condition, "operator").map(|node| subject.of_node(node)) == Some("<");
    let is_name = |node: Node<'s>| subject.of_node(node) == name;
    if !is_below || !part(condition, "left").is_some_and(is_name) {
        return None;
    }
    let end = part(condition, "right")?;
    let update = part(node, "update")?;
    let step = step(function, update, name)?;
    let body = part(node, "body")?;
    let several = all(declaration, &["init_declarator"]).len() > 1;
    if several || function.is_changed(name, body) || declares(function, body, name) {
        return None;
    }
    let declared =
        CountedLoop { node, name, type_name, declaration, start, end, step, update, body };
    Some(declared)
}

fn step<'s>(function: &Function<'s>, update: Node<'s>, name: &str) -> Option<Step<'s>> {
    let subject = function.subject;
    match update.kind() {
        "update_expression" => {
            let counted =
                part(update, "argument").is_some_and(|node| subject.of_node(node) == name);
            (counted && subject.of_node(update).contains("++")).then_some(Step::One)
        }
        "assignment_expression" => {
            let counted = part(update, "left").is_some_and(|node| subject.of_node(node) == name);
            let adds = part(update, "operator").map(|node| subject.of_node(node)) == Some("+=");
            part(update, "right").filter(|_| counted && adds).map(Step::By)
        }
        _ => None,
    }
}

/// Whether an inner declaration takes the name.
fn declares(function: &Function<'_>, body: Node<'_>, name: &str) -> bool {
    let inside = |node: Node<'_>| super::syntax::contains(body, node);
    function.locals().iter().any(|local| local.name == name && inside(local.declaration))
}

/// The expressions that keep their value while a loop runs: nothing in them is changed or declared inside it.
pub(super) fn is_invariant<'s>(
    function: &Function<'s>,
    expression: Node<'s>,
    within: Node<'s>,
) -> bool {
    let names = all(expression, &["identifier"]);
    let is_plain = all(
        expression,
        &[
            "subscript_expression",
            "pointer_expression",
            "update_expression",
            "assignment_expression",
            "lambda_expression",
        ],
    )
    .is_empty();
    let casts_only = all(expression, &["call_expression"])
        .into_iter()
        .all(|call| super::canonical::cast_operand(function, call).is_some());
    is_plain
        && casts_only
        && names.into_iter().all(|name| {
            let text = function.subject.of_node(name);
            let declared = function.local(text, expression);
            let inside =
                declared.is_some_and(|local| super::syntax::contains(within, local.declaration));
            !inside && !function.is_changed(text, within)
        })
}

/// The loops of a function, the innermost ones marked.
pub(super) fn loops<'s>(function: &Function<'s>) -> Vec<Node<'s>> {
    all(function.body, &["for_statement"])
}

/// Whether a loop has no other loop in it.
pub(super) fn is_innermost(node: Node<'_>) -> bool {
    all(node, &["for_statement", "while_statement", "do_statement"]).len() == 1
}

/// The pragma right before a loop.
pub(super) fn pragma(node: Node<'_>) -> Option<Node<'_>> {
    let mut before = node.prev_sibling()?;
    while before.kind() == "comment" {
        before = before.prev_sibling()?;
    }
    (before.kind() == "preproc_call").then_some(before)
}

/// Start of a statement of a block, including pragmas before it; none if it is not in a block.
pub(super) fn statement_start(node: Node<'_>) -> Option<usize> {
    let outer = node.parent().filter(|outer| outer.kind() == "compound_statement");
    outer.map(|_| pragma(node).map_or(node.start_byte(), |pragma| pragma.start_byte()))
}

/// A statement that leaves a loop or skips the rest of an iteration.
pub(super) fn jump<'s>(node: Node<'s>) -> Option<Node<'s>> {
    let jumps = ["break_statement", "continue_statement", "return_statement", "goto_statement"];
    all(node, &jumps).into_iter().find(|jump| {
        // A return in a lambda leaves the lambda only.
        !ancestors(*jump)
            .take_while(|outer| outer.id() != node.id())
            .any(|outer| outer.kind() == "lambda_expression")
    })
}
