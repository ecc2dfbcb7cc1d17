//! The memory that a name points to: a parameter, or a parameter plus an index.

use lightbench_cuda_source::Node;

use super::canonical::{Canonical, canonical};
use super::function::{Function, Parameter};
use super::syntax::{all, ancestors, bare, index, part};

/// Most steps from a pointer to the pointer that it is computed from.
const MAX_STEPS: usize = 8;

/// A pointer that leads back to a parameter.
#[derive(Clone, Copy)]
pub(super) struct Pointer<'f, 's> {
    pub(super) parameter: &'f Parameter<'s>,
    /// The type of what it points to, without qualifiers.
    pub(super) element: &'s str,
}

/// The pointer that a name is at a place; none where it leads nowhere, or may be moved.
pub(super) fn pointer<'f, 's>(
    function: &'f Function<'s>,
    name: Node<'_>,
) -> Option<Pointer<'f, 's>> {
    followed(function, name, &mut |_| {})
}

/// Elements from the parameter to where a name points.
pub(super) fn offset(function: &Function<'_>, name: Node<'_>) -> Option<Canonical> {
    let mut sum = Canonical::default();
    followed(function, name, &mut |term| {
        sum = std::mem::take(&mut sum).plus(canonical(function, term));
    })?;
    Some(sum)
}

/// Follows a name to its parameter; `add` gets each term that is added on the way.
fn followed<'f, 's>(
    function: &'f Function<'s>,
    name: Node<'_>,
    add: &mut dyn FnMut(Node<'s>),
) -> Option<Pointer<'f, 's>> {
    if name.kind() != "identifier" {
        return None;
    }
    let mut text = function.subject.of_node(name);
    let mut at = name;
    let mut found: Option<&'s str> = None;
    for _ in 0..MAX_STEPS {
        let Some(local) = function.local(text, at) else {
            let parameter = function.parameter(text).filter(|parameter| parameter.is_pointer)?;
            if function.is_changed(text, function.body) {
                return None;
            }
            return Some(Pointer { parameter, element: found.unwrap_or(parameter.type_name) });
        };
        if !local.is_pointer || function.is_changed(text, function.body) {
            return None;
        }
        found.get_or_insert(local.type_name);
        let mut value = bare(local.value?);
        while value.kind() == "binary_expression" {
            let operator = part(value, "operator").map(|node| function.subject.of_node(node));
            add(part(value, "right")?);
            value = bare(part(value, "left").filter(|_| operator == Some("+"))?);
        }
        if value.kind() != "identifier" {
            return None;
        }
        (text, at) = (function.subject.of_node(value), value);
    }
    None
}

/// Kind of access to `p[i]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Its value is used.
    Load,
    /// It is set by a statement of its own, `p[i] = …;`.
    Store,
    /// Anything else: changed in place, its address taken, set inside an expression.
    Other,
}

/// One `p[i]`.
#[derive(Clone, Copy)]
pub(super) struct Element<'f, 's> {
    pub(super) node: Node<'s>,
    pub(super) base: Node<'s>,
    pub(super) index: Node<'s>,
    pub(super) pointer: Pointer<'f, 's>,
    pub(super) access: Access,
}

/// Every `p[i]` of global memory in a part of a function, in order.
pub(super) fn elements<'f, 's>(
    function: &'f Function<'s>,
    within: Node<'s>,
) -> Vec<Element<'f, 's>> {
    all(within, &["subscript_expression"])
        .into_iter()
        .filter_map(|node| {
            let base = part(node, "argument")?;
            let pointer = pointer(function, base)?;
            Some(Element {
                node,
                base,
                index: index(node)?,
                pointer,
                access: access(function, node),
            })
        })
        .collect()
}

/// Whether each execution of a node executes another one inside it.
pub(super) fn is_unconditional(function: &Function<'_>, node: Node<'_>, within: Node<'_>) -> bool {
    let conditional =
        ["if_statement", "conditional_expression", "for_statement", "lambda_expression"];
    let mut inner = node;
    ancestors(node).take_while(|outer| outer.id() != within.id()).all(|outer| {
        let operator = part(outer, "operator").map(|node| function.subject.of_node(node));
        let is_condition = outer.kind() == "if_statement"
            && part(outer, "condition").is_some_and(|first| first.id() == inner.id());
        inner = outer;
        is_condition
            || !conditional.contains(&outer.kind()) && !matches!(operator, Some("&&" | "||"))
    })
}

fn access(function: &Function<'_>, node: Node<'_>) -> Access {
    let mut here = node;
    let Some(mut outer) = node.parent() else { return Access::Other };
    while outer.kind() == "parenthesized_expression" {
        here = outer;
        match outer.parent() {
            Some(next) => outer = next,
            None => return Access::Other,
        }
    }
    match outer.kind() {
        "assignment_expression" if part(outer, "left").map(|left| left.id()) == Some(here.id()) => {
            let is_plain =
                part(outer, "operator").map(|node| function.subject.of_node(node)) == Some("=");
            let is_statement =
                outer.parent().is_some_and(|node| node.kind() == "expression_statement");
            if is_plain && is_statement { Access::Store } else { Access::Other }
        }
        "update_expression"
        | "field_expression"
        | "subscript_expression"
        | "reference_declarator" => Access::Other,
        "pointer_expression" => Access::Other,
        // A reference to the element may be made of it.
        "init_declarator" => {
            let declared = part(outer, "declarator").map(|node| node.kind());
            if declared == Some("reference_declarator") { Access::Other } else { Access::Load }
        }
        "argument_list" => argument_access(function, outer),
        _ => Access::Load,
    }
}

/// A function of the file may take a reference; those of CUDA that are known here do not.
fn argument_access(function: &Function<'_>, list: Node<'_>) -> Access {
    let callee = list.parent().and_then(|call| part(call, "function"));
    let name = callee.map_or("", |callee| function.subject.of_node(callee));
    let is_known = name.starts_with("static_cast")
        || name.starts_with("__")
        || matches!(name, "min" | "max" | "float" | "int" | "double")
        || (name.ends_with('f') && !function.subject.source.contains(&format!(" {name}(float")));
    let is_of_the_file = function.subject.source.contains(&format!(" {name}("))
        && name.starts_with("__")
        && function.subject.source.contains(&format!("__device__ {name}"));
    if is_known && !is_of_the_file { Access::Load } else { Access::Other }
}
