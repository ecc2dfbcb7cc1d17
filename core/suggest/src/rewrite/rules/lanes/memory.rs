//! Which thread accesses which element after the threads of a group share a row.

use lightbench_cuda_source::Node;

use super::super::super::canonical::{Canonical, canonical};
use super::super::super::function::{Function, Parameter};
use super::super::super::loops::CountedLoop;
use super::super::super::pointers::{Access, Element, elements, pointer};
use super::super::super::refusal::Missing;
use super::super::super::syntax::{all, ancestors, contains, enclosing, part};

/// Constants made of constants made of constants are followed so far.
const MAX_STEPS: usize = 8;

/// Where an element of an array that is written is accessed.
#[derive(Clone, PartialEq)]
enum Owner {
    /// One thread of the group, outside of shared loops.
    First,
    /// The thread whose turn it is: where the loop begins, the pointer, and the index with the counter as `@`.
    Turn(Canonical, String, Canonical),
}

/// Every element of an array that the kernel writes is the business of one thread.
pub(super) fn check<'s>(
    function: &Function<'s>,
    shared: &[CountedLoop<'s>],
) -> Result<(), Missing> {
    let all_elements = elements(function, function.body);
    for parameter in function.parameters.iter().filter(|each| each.is_pointer) {
        let own =
            || all_elements.iter().filter(|each| each.pointer.parameter.name == parameter.name);
        let (atomic, plain): (Vec<&Element<'_, 's>>, Vec<&Element<'_, 's>>) =
            own().partition(|each| is_atomic(function, each.node));
        let is_written = plain.iter().any(|each| each.access != Access::Load);
        if !is_written && (atomic.is_empty() || plain.is_empty()) {
            continue;
        }
        check_names(function, parameter)?;
        let mut owner = None;
        for element in atomic.first().into_iter().chain(plain.iter()).copied() {
            let here = owner_of(function, element, shared)?;
            if *owner.get_or_insert_with(|| here.clone()) != here
                || is_atomic(function, element.node)
            {
                return Err(Missing::OtherUse {
                    name: parameter.name.to_owned(),
                    used: function.subject.line_of(element.node),
                });
            }
        }
    }
    Ok(())
}

/// An array that is written has one name, and is accessed by index only.
fn check_names(function: &Function<'_>, parameter: &Parameter<'_>) -> Result<(), Missing> {
    if let Some(other) = parameter.twin(function) {
        return Err(Missing::SameMemory {
            name: parameter.name.to_owned(),
            other: other.to_owned(),
        });
    }
    for node in all(function.body, &["identifier"]) {
        let is_this =
            pointer(function, node).is_some_and(|found| found.parameter.name == parameter.name);
        let outer = node.parent().unwrap_or(node);
        let is_element = outer.kind() == "subscript_expression"
            && part(outer, "argument").map(|base| base.id()) == Some(node.id());
        let is_declared = enclosing(node, &["init_declarator"]).is_some_and(|declared| {
            part(declared, "declarator").is_some_and(|name| name.kind() == "pointer_declarator")
        });
        if is_this && !is_element && !is_declared && !is_name(node) {
            return Err(Missing::OtherUse {
                name: parameter.name.to_owned(),
                used: function.subject.line_of(outer),
            });
        }
    }
    Ok(())
}

/// Whether an identifier is a pointer's name in its declaration.
fn is_name(node: Node<'_>) -> bool {
    node.parent().is_some_and(|outer| outer.kind().ends_with("declarator"))
}

fn owner_of<'s>(
    function: &Function<'s>,
    element: &Element<'_, 's>,
    shared: &[CountedLoop<'s>],
) -> Result<Owner, Missing> {
    let subject = function.subject;
    let Some(counted) = shared.iter().find(|counted| contains(counted.node, element.node)) else {
        // What one thread wrote, others must not read.
        let alone = is_alone(element.node);
        return if alone {
            Ok(Owner::First)
        } else {
            Err(Missing::OtherUse {
                name: element.pointer.parameter.name.to_owned(),
                used: subject.line_of(element.node.parent().unwrap_or(element.node)),
            })
        };
    };
    let index = canonical(function, element.index);
    let base = subject.of_node(element.base);
    let outside = function
        .local(base, element.base)
        .is_none_or(|local| !contains(counted.node, local.declaration));
    let parts = [counted.start, element.index, element.base];
    let settled = parts.iter().all(|part| is_settled(function, *part, counted.name, 0));
    if !index.is_linear_in(counted.name) || !outside || !settled {
        return Err(Missing::Form {
            found: subject.line_of(element.node),
            expected: "an element of its own for each turn of the loop",
        });
    }
    let start = canonical(function, counted.start);
    Ok(Owner::Turn(start, base.to_owned(), index.renamed(counted.name, "@")))
}

/// Whether an expression is the same each time, but for a counter: nothing that it is made of changes.
fn is_settled(function: &Function<'_>, node: Node<'_>, counter: &str, steps: usize) -> bool {
    steps < MAX_STEPS
        && all(node, &["identifier"]).into_iter().all(|name| {
            let text = function.subject.of_node(name);
            let value = function.local(text, name).and_then(|local| local.value);
            text == counter
                || (!function.is_changed(text, function.body)
                    && value.is_none_or(|value| is_settled(function, value, counter, steps + 1)))
        })
}

/// Whether an element is what a statement of one thread sets or changes.
fn is_alone(node: Node<'_>) -> bool {
    let outer = node.parent();
    outer.is_some_and(|outer| {
        matches!(outer.kind(), "assignment_expression" | "update_expression")
            && outer.parent().is_some_and(|outer| outer.kind() == "expression_statement")
            && outer
                .child(0)
                .is_some_and(|first| contains(first, node) || outer.kind() == "update_expression")
    })
}

/// Whether an element is the target of an atomic function.
pub(super) fn is_atomic(function: &Function<'_>, node: Node<'_>) -> bool {
    ancestors(node).take(3).any(|outer| {
        outer.kind() == "call_expression" && function.subject.of_node(outer).starts_with("atomic")
    })
}
