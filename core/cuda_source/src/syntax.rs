//! Queries of nodes of a syntax tree that do not need the text.

use tree_sitter::Node;

/// The children of a node, tokens included.
pub fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Visits `node` and all nodes below, parents first, with the ancestors from `node` down; `visit` returns whether to
/// descend. Not recursive, because a hostile source may nest deeply.
pub fn walk<'tree>(node: Node<'tree>, mut visit: impl FnMut(Node<'tree>, &[Node<'tree>]) -> bool) {
    let mut cursor = node.walk();
    let mut ancestors = Vec::new();
    loop {
        let here = cursor.node();
        if visit(here, &ancestors) && cursor.goto_first_child() {
            ancestors.push(here);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            ancestors.pop();
        }
    }
}

/// The first ERROR or MISSING node at or below `node`.
pub fn first_error_below(node: Node<'_>) -> Option<Node<'_>> {
    let mut found = None;
    walk(node, |here, _| {
        if found.is_none() && (here.is_error() || here.is_missing()) {
            found = Some(here);
        }
        found.is_none() && here.has_error()
    });
    found
}

/// A text in one line with single spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Nodes of a kind at or below a node, in the order of the text.
pub fn all<'t>(node: Node<'t>, kinds: &[&str]) -> Vec<Node<'t>> {
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
pub fn ancestors<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    std::iter::successors(node.parent(), Node::parent)
}

/// The innermost node of one of the kinds around a node.
pub fn enclosing<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    ancestors(node).find(|outer| kinds.contains(&outer.kind()))
}

/// Whether a node lies in another one, or is it.
pub fn contains(outer: Node<'_>, inner: Node<'_>) -> bool {
    outer.start_byte() <= inner.start_byte() && inner.end_byte() <= outer.end_byte()
}

/// The part of a node with this name.
pub fn part<'t>(node: Node<'t>, field: &str) -> Option<Node<'t>> {
    node.child_by_field_name(field)
}

/// Named parts without comments.
pub fn named<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    children(node)
        .into_iter()
        .filter(|child| child.is_named() && child.kind() != "comment")
        .collect()
}

/// The expression without parentheses around it.
pub fn bare(node: Node<'_>) -> Node<'_> {
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
pub fn index(subscript: Node<'_>) -> Option<Node<'_>> {
    let list = part(subscript, "indices")?;
    match named(list).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// Statements of a block; of any other statement, itself.
pub fn statements(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() == "compound_statement" { named(node) } else { vec![node] }
}

/// Whether an expression binds its operands loosely enough to need parentheses inside a product.
pub fn is_compound(node: Node<'_>) -> bool {
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

/// Whether a statement is `return;`, in braces or not.
pub fn is_return(node: Node<'_>) -> bool {
    let inner = statements(node);
    matches!(inner.as_slice(), [only] if only.kind() == "return_statement" && named(*only).is_empty())
}

/// Whether a node lies in a lambda, whose returns leave it alone.
pub fn in_lambda(node: Node<'_>) -> bool {
    ancestors(node).any(|outer| outer.kind() == "lambda_expression")
}
