//! The items of a source: what stands at the level of the file, of namespaces, and of linkage blocks.

use std::rc::Rc;

use super::source::Source;
use super::syntax::children;
use tree_sitter::Node;

/// Maximum nesting of scopes (namespaces, `extern "C"`, `#if`).
const DEEPEST_SCOPE: usize = 64;

/// The longest path of namespaces; longer ones are left out, because each kernel in them has a copy.
const LONGEST_PATH: usize = 1024;

/// One item of a scope, with the scopes around it.
#[derive(Clone)]
pub struct Item<'tree> {
    /// The item's node.
    pub node: Node<'tree>,
    /// The named namespaces around it, outermost first.
    pub namespaces: Rc<[String]>,
    /// Whether it stands in an `extern "C"` block or declaration.
    pub extern_c: bool,
}

/// The items of a source in order, from inside namespaces, linkage blocks and conditionals too.
#[must_use]
pub fn items<'tree>(source: &'tree Source<'_>) -> Vec<Item<'tree>> {
    let mut found = Vec::new();
    let root = Item { node: source.root(), namespaces: Rc::default(), extern_c: false };
    collect(source, &root, 0, &mut found);
    found
}

fn collect<'tree>(
    source: &'tree Source<'_>,
    scope: &Item<'tree>,
    depth: usize,
    found: &mut Vec<Item<'tree>>,
) {
    for child in children(scope.node) {
        let mut item = Item { node: child, ..scope.clone() };
        let opens = match child.kind() {
            "namespace_definition" => {
                if let Some(name) = child.child_by_field_name("name") {
                    item.namespaces = joined(&scope.namespaces, source.node_text(name));
                }
                true
            }
            "linkage_specification" => {
                item.extern_c = true;
                true
            }
            "declaration_list" | "preproc_if" | "preproc_ifdef" | "preproc_else"
            | "preproc_elif" | "preproc_elifdef" => true,
            _ => false,
        };
        if opens && depth < DEEPEST_SCOPE {
            collect(source, &item, depth + 1, found);
        } else {
            found.push(item);
        }
    }
}

/// The namespaces around a scope and those that its name adds: `a`, `b` for `namespace a::b`.
fn joined(outer: &Rc<[String]>, name: &str) -> Rc<[String]> {
    let length: usize = outer.iter().map(|part| part.len() + "::".len()).sum();
    if length + name.len() > LONGEST_PATH {
        return Rc::clone(outer);
    }
    let parts = name.split("::").map(|part| part.trim().to_owned());
    outer.iter().cloned().chain(parts).collect()
}
