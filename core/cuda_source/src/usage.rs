//! The use of parameters and indices in the body of a kernel, from its syntax tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tree_sitter::Node;

use super::source::Source;
use super::syntax::{children, walk};

/// The accesses to the memory behind one pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access {
    pub read: bool,
    pub written: bool,
    /// The pointer is passed on (to a function, to another pointer), so its accesses are unknown.
    pub escapes: bool,
}

/// The uses in a body.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    pub accesses: BTreeMap<String, Access>,
    /// Number of block dimensions that the body uses: 0 to 3.
    pub block_rank: usize,
    /// Number of grid dimensions that the body uses: 0 to 3.
    pub grid_rank: usize,
    /// Whether `blockIdx` only selects, and is not multiplied by a width: one block per row.
    pub block_selects: bool,
    /// Whether dynamic shared memory is declared.
    pub dynamic_shared: bool,
    /// Whether the whole grid synchronises.
    pub grid_sync: bool,
}

/// More operators than any expression has around a name; the limit keeps the time linear in the text.
const MOST_OPERATORS: usize = 128;

/// Reads the body at the bytes `body` for the pointers called `pointers`; `sizes` are the integer parameters.
#[must_use]
pub fn read(
    source: &Source<'_>,
    body: Range<usize>,
    pointers: &BTreeSet<&str>,
    sizes: &BTreeSet<&str>,
) -> Usage {
    let mut usage = Usage::default();
    let Some(body) = source.root().descendant_for_byte_range(body.start, body.end) else {
        return usage;
    };
    let mut block_scaled = false;
    walk(body, |node, ancestors| {
        match node.kind() {
            "identifier" => {
                let name = source.node_text(node);
                if name == "this_grid" {
                    usage.grid_sync = true;
                } else if pointers.contains(name) {
                    let access = usage.accesses.entry(name.to_owned()).or_default();
                    note(access, source, node, ancestors);
                }
            }
            "field_expression" => {
                let (variable, rank) = index_rank(source.node_text(node));
                match variable {
                    "threadIdx" | "blockDim" => usage.block_rank = usage.block_rank.max(rank),
                    "blockIdx" => {
                        usage.grid_rank = usage.grid_rank.max(rank);
                        block_scaled |= is_scaled(source, node, ancestors, sizes);
                    }
                    _ => {}
                }
            }
            "declaration" => {
                let text = source.node_text(node);
                usage.dynamic_shared |= text.contains("extern") && text.contains("__shared__");
            }
            _ => {}
        }
        true
    });
    usage.block_selects = usage.grid_rank > 0 && !block_scaled;
    usage
}

/// `threadIdx.y` as its variable and 2.
fn index_rank(text: &str) -> (&str, usize) {
    match text.split_once('.') {
        Some((variable, "x")) => (variable, 1),
        Some((variable, "y")) => (variable, 2),
        Some((variable, "z")) => (variable, 3),
        _ => ("", 0),
    }
}

/// Whether an index is multiplied by something that is not a size of the problem.
fn is_scaled(
    source: &Source<'_>,
    node: Node<'_>,
    ancestors: &[Node<'_>],
    sizes: &BTreeSet<&str>,
) -> bool {
    let mut inner = node;
    for outer in ancestors.iter().rev().take(MOST_OPERATORS) {
        match outer.kind() {
            "parenthesized_expression" | "cast_expression" => inner = *outer,
            "binary_expression" => {
                let multiplies = children(*outer).iter().any(|child| child.kind() == "*");
                let other = ["left", "right"]
                    .into_iter()
                    .filter_map(|side| outer.child_by_field_name(side))
                    .find(|side| side.id() != inner.id());
                let by_size = other.is_some_and(|other| {
                    let (mut found, mut visited) = (false, 0);
                    walk(other, |part, _| {
                        visited += 1;
                        found |=
                            part.kind() == "identifier" && sizes.contains(source.node_text(part));
                        !found && visited < MOST_OPERATORS
                    });
                    found
                });
                return multiplies && !by_size;
            }
            _ => return false,
        }
    }
    false
}

/// Climbs from a pointer's name to the place that reads or writes through it.
fn note(access: &mut Access, source: &Source<'_>, name: Node<'_>, ancestors: &[Node<'_>]) {
    let mut inner = name;
    let mut dereferenced = false;
    for outer in ancestors.iter().rev().take(MOST_OPERATORS) {
        let is = |field: &str| {
            outer.child_by_field_name(field).is_some_and(|child| child.id() == inner.id())
        };
        match outer.kind() {
            "subscript_expression" if is("argument") => dereferenced = true,
            "subscript_expression" => break,
            "pointer_expression" => match source.node_text(*outer).as_bytes().first() {
                Some(b'*') => dereferenced = true,
                _ => dereferenced = false,
            },
            "parenthesized_expression" | "field_expression" => {}
            "cast_expression" if is("value") => {}
            "argument_list" | "subscript_argument_list" if dereferenced => break,
            "argument_list" => {}
            "call_expression" if is_cast(source, *outer) => {}
            "call_expression" if !dereferenced => {
                return called(access, source, *outer);
            }
            "binary_expression" if !dereferenced => {}
            "assignment_expression" if is("left") && dereferenced => {
                access.written = true;
                let plain =
                    outer.child_by_field_name("operator").map(|sign| source.node_text(sign));
                access.read |= plain != Some("=");
                return;
            }
            "update_expression" if dereferenced => {
                access.written = true;
                access.read = true;
                return;
            }
            _ => break,
        }
        inner = *outer;
    }
    if dereferenced { access.read = true } else { access.escapes = true }
}

fn is_cast(source: &Source<'_>, call: Node<'_>) -> bool {
    let function =
        call.child_by_field_name("function").map_or("", |function| source.node_text(function));
    ["reinterpret_cast", "static_cast", "const_cast"].iter().any(|cast| function.starts_with(cast))
}

/// An address passed to a function: atomics and cache-hinted loads and stores are recognised.
fn called(access: &mut Access, source: &Source<'_>, call: Node<'_>) {
    let function =
        call.child_by_field_name("function").map_or("", |function| source.node_text(function));
    if function.starts_with("atomic") || function.starts_with("red_") {
        access.read = true;
        access.written = true;
    } else if function.starts_with("__ld") {
        access.read = true;
    } else if function.starts_with("__st") {
        access.written = true;
    } else {
        access.escapes = true;
    }
}
