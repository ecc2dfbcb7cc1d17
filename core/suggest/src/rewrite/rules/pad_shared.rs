//! Padding of a two-dimensional shared array by one element in each row.

use lightbench_cuda_source::Node;
use lightbench_primitives::dtype::Dtype;

use super::super::Rule;
use super::super::bounds::bounds;
use super::super::edit::{Edit, Rewrite};
use super::super::function::{Function, Local};
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::syntax::{index, is_compound, part};

pub(in super::super) const RULE: Rule = Rule {
    id: "pad-shared",
    title: "pad the rows of a shared array",
    reason: "a row that is no multiple of 32 words long puts the elements of a column into different banks",
    needs: "a `__shared__` array of two dimensions, used as `array[row][col]` only, with an even row",
    technique: "pad-shared-memory",
    apply,
};

/// Static shared memory of a block; CUDA C++ Programming Guide, table of technical specifications.
const STATIC_BYTES: i128 = 48 << 10;

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for local in function.locals().iter().copied() {
            let is_shared = subject.of_node(local.declaration).contains("__shared__");
            let outer = local.declarator;
            let rows = part(outer, "declarator").filter(|inner| inner.kind() == "array_declarator");
            if let (true, true, Some(rows)) = (is_shared, local.is_array, rows) {
                found.add(function.line(outer), padded(&function, local, rows));
            }
        }
    }
    found.finish("two-dimensional `__shared__` array in a launched kernel")
}

fn padded(function: &Function<'_>, local: Local<'_>, rows: Node<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let name = local.name;
    let form = |node: Node<'_>, expected| Missing::Form { found: subject.line_of(node), expected };
    if part(rows, "declarator").is_none_or(|inner| inner.kind() != "identifier") {
        return Err(form(local.declarator, "two dimensions"));
    }
    let sizes = part(rows, "size").zip(part(local.declarator, "size"));
    let (rows, cols) = sizes.ok_or_else(|| form(local.declarator, "a size for each dimension"))?;
    for node in function.uses(name, function.body) {
        if !is_element(node) {
            let used = node.parent().map_or_else(String::new, |node| subject.line_of(node));
            return Err(Missing::OtherUse { name: name.to_owned(), used });
        }
    }
    if let (Some((low, high)), Some((_, most_rows))) =
        (bounds(function, cols), bounds(function, rows))
    {
        if low == high && low % 2 != 0 {
            return Err(Missing::Already {
                what: name.to_owned(),
                has: "rows of an odd number of elements",
            });
        }
        let bytes =
            most_rows.saturating_mul(high + 1).saturating_mul(element_bytes(local.type_name));
        if bytes > STATIC_BYTES {
            return Err(Missing::TooLarge {
                what: name.to_owned(),
                most: bytes,
                limit: STATIC_BYTES,
            });
        }
    }
    let text = subject.of_node(cols);
    if text.replace(' ', "").ends_with("+1") {
        return Err(Missing::Already { what: name.to_owned(), has: "padded rows" });
    }
    let edits =
        if is_compound(cols) && !text.contains('+') && !text.contains('-') && !text.contains('*') {
            vec![Edit::insert(cols.start_byte(), "("), Edit::insert(cols.end_byte(), ") + 1")]
        } else {
            vec![Edit::insert(cols.end_byte(), " + 1")]
        };
    let line = function.line(local.declarator);
    let what = format!("each row of `{name}` (line {line}) is one element longer");
    Ok(Rewrite::new(what, line, edits))
}

/// `name[row][col]` whose address is not taken.
fn is_element(name: Node<'_>) -> bool {
    let Some(element) = subscripted(name).and_then(subscripted) else { return false };
    element.parent().is_none_or(|outer| match outer.kind() {
        "subscript_expression" | "pointer_expression" | "field_expression" => false,
        // Wider than an element, and so perhaps aligned.
        "argument_list" => outer
            .parent()
            .and_then(|call| part(call, "function"))
            .is_none_or(|callee| callee.kind() != "template_function"),
        _ => true,
    })
}

/// `node[i]` around a node.
fn subscripted(node: Node<'_>) -> Option<Node<'_>> {
    let outer = node.parent().filter(|outer| outer.kind() == "subscript_expression")?;
    let is_base = part(outer, "argument").map(|base| base.id()) == Some(node.id());
    (is_base && index(outer).is_some()).then_some(outer)
}

/// Bytes of an element; those of a `float` for types that are neither scalars nor built-in vectors.
fn element_bytes(type_name: &str) -> i128 {
    let scalar = Dtype::from_c_name(type_name).map(|dtype| (dtype, 1));
    let known = scalar.or_else(|| Dtype::vector_from_c_name(type_name));
    known.map_or(4, |(dtype, lanes)| i128::from(dtype.address_bytes()) * i128::from(lanes))
}
