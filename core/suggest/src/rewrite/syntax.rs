//! Queries of nodes of a syntax tree that do not need the text.

use lightbench_project::scaffold::source::walk;
pub(super) use lightbench_project::scaffold::source::{children, one_line};
use tree_sitter::Node;

/// Nodes of a kind at or below a node, in the order of the text.
pub(super) fn all<'t>(node: Node<'t>, kinds: &[&str]) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    walk(node, |here, _| {
        if kinds.contains(&here.kind()) {
            found.push(here);
        }
        true
    });
    found
}

/// The nodes around a node, the innermost first.
pub(super) fn ancestors<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    std::iter::successors(node.parent(), Node::parent)
}

/// The innermost node of one of the kinds around a node.
pub(super) fn enclosing<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    ancestors(node).find(|outer| kinds.contains(&outer.kind()))
}

/// Whether a node lies in another one, or is it.
pub(super) fn contains(outer: Node<'_>, inner: Node<'_>) -> bool {
    outer.start_byte() <= inner.start_byte() && inner.end_byte() <= outer.end_byte()
}

/// The part of a node with this name.
pub(super) fn part<'t>(node: Node<'t>, field: &str) -> Option<Node<'t>> {
    node.child_by_field_name(field)
}

/// Named parts without comments.
pub(super) fn named<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    children(node)
        .into_iter()
        .filter(|child| child.is_named() && child.kind() != "comment")
        .collect()
}

/// The expression without parentheses around it.
pub(super) fn bare(node: Node<'_>) -> Node<'_> {
    let mut here = node;
    while matches!(here.kind(), "parenthesized_expression" | "condition_clause") {
        match named(here).first() {
            Some(inner) => here = *inner,
            None => return here,
        }
    }
    here
}

/// The one index of `p[index]`; none with several.
pub(super) fn index(subscript: Node<'_>) -> Option<Node<'_>> {
    let list = part(subscript, "indices")?;
    match named(list).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// Statements of a block; of any other statement, itself.
pub(super) fn statements(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() == "compound_statement" { named(node) } else { vec![node] }
}

/// Whether an expression binds its operands loosely enough to need parentheses inside a product.
pub(super) fn is_compound(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "binary_expression"
            | "conditional_expression"
            | "assignment_expression"
            | "comma_expression"
            | "unary_expression"
            | "pointer_expression"
            | "cast_expression"
    )
}

/// A text that goes over several lines, its lines behind the first moved to the right; directives stay.
pub(super) fn moved(text: &str, by: &str) -> String {
    let mut lines = text.split('\n');
    let mut moved = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        moved.push('\n');
        if !line.trim().is_empty() && !line.starts_with('#') {
            moved.push_str(by);
        }
        moved.push_str(line);
    }
    moved
}

/// Whether a statement is `return;`, in braces or not.
pub(super) fn is_return(node: Node<'_>) -> bool {
    let inner = statements(node);
    matches!(inner.as_slice(), [only] if only.kind() == "return_statement" && named(*only).is_empty())
}

/// Whether a node lies in a lambda, whose returns leave it alone.
pub(super) fn in_lambda(node: Node<'_>) -> bool {
    ancestors(node).any(|outer| outer.kind() == "lambda_expression")
}
