//! Operands that a product loads in each iteration: one by the row of the result, one by its column.

use lightbench_cuda_source::Node;
use lightbench_primitives::dtype::Dtype;

use super::super::super::canonical::canonical;
use super::super::super::function::{Function, Local};
use super::super::super::loops::CountedLoop;
use super::super::super::pointers::{Access, elements};
use super::super::super::refusal::Missing;
use super::super::super::scalar_type::ScalarType;
use super::super::super::syntax::{all, index};
use super::product::form;

/// Constants made of constants made of constants are followed so far.
const MAX_STEPS: usize = 8;

/// A load of each iteration.
#[derive(Clone, Copy)]
pub(super) struct Operand<'s> {
    pub(super) load: Node<'s>,
    pub(super) element: &'s str,
    /// Whether elements of successive turns are neighbours.
    pub(super) is_along: bool,
}

/// Whether a value comes of a variable, through constants that are made of it.
pub(in super::super) fn depends(
    function: &Function<'_>,
    node: Node<'_>,
    name: &str,
    steps: usize,
) -> bool {
    steps < MAX_STEPS
        && all(node, &["identifier"]).into_iter().any(|each| {
            let text = function.subject.of_node(each);
            let value = function.local(text, each).and_then(|local| local.value);
            text == name || value.is_some_and(|value| depends(function, value, name, steps + 1))
        })
}

/// The operand that changes along y, then the one that changes along x.
pub(super) fn operands<'s>(
    function: &Function<'s>,
    counted: &CountedLoop<'s>,
    loads: [Node<'s>; 2],
    places: &[Local<'s>; 2],
) -> Result<[Operand<'s>; 2], Missing> {
    let subject = function.subject;
    let all_elements = elements(function, counted.body);
    let mut found = [None, None];
    for load in loads {
        let element = all_elements.iter().find(|element| element.node.id() == load.id());
        let element = element
            .filter(|element| {
                element.access == Access::Load && element.pointer.parameter.is_input(function)
            })
            .ok_or_else(|| form(function, load, "an input tensor, which no kernel writes"))?;
        let by = [0, 1].map(|at: usize| {
            places.get(at).is_some_and(|place| depends(function, load, place.name, 0))
        });
        let slot = match by {
            [true, false] => 0,
            [false, true] => 1,
            _ => return Err(form(function, load, "one operand by the row and one by the column")),
        };
        let place = index(load).map(|index| canonical(function, index));
        let is_along = place.is_some_and(|place| place.follows(counted.name));
        let kind = element.pointer.element;
        if zero(kind).is_none() {
            return Err(form(function, load, "elements of a type whose zero is known"));
        }
        if let Some(slot) = found.get_mut(slot) {
            *slot = Some(Operand { load, element: kind, is_along });
        }
    }
    let [Some(left), Some(right)] = found else {
        let expected = "one operand by the row and one by the column";
        return Err(form(function, counted.body, expected));
    };
    let changes = |name: &Node<'_>| function.is_changed(subject.of_node(*name), function.body);
    let dependent_end = places.iter().any(|place| depends(function, counted.end, place.name, 0))
        || all(counted.end, &["identifier"]).iter().any(changes);
    let others = all_elements.len() != 2 || !all(counted.end, &["subscript_expression"]).is_empty();
    if dependent_end || others {
        return Err(Missing::Form {
            found: subject.line_of(counted.node).chars().take(60).collect(),
            expected: "two loads in the loop, and an end that is the same for all threads",
        });
    }
    Ok([left, right])
}

/// How a zero of a type is written, and its bytes.
pub(super) fn zero(kind: &str) -> Option<(String, i128)> {
    Some(match ScalarType::named(kind) {
        Some(ScalarType::F32) => ("0.0f".to_owned(), 4),
        Some(ScalarType::F64) => ("0.0".to_owned(), 8),
        Some(ScalarType::I32 | ScalarType::U32) => ("0".to_owned(), 4),
        Some(ScalarType::I64 | ScalarType::U64) => ("0".to_owned(), 8),
        None if matches!(Dtype::from_c_name(kind), Some(Dtype::F16 | Dtype::Bf16)) => {
            (format!("static_cast<{kind}>(0.0f)"), 2)
        }
        None => return None,
    })
}
