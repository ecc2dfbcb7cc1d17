//! Structs of a source that the project format can represent: plain scalar fields only.

use tree_sitter::Node;

use super::element::{self, Element, Pointee};
use super::source::{Source, children, walk};

/// The fields of the struct called `name`: `None` if the source defines no such struct, an empty list if it is not
/// plain.
pub(super) fn fields(source: &Source, name: &str) -> Option<Vec<(String, Element)>> {
    let definition = find(source, name)?;
    Some(plain_fields(source, definition).unwrap_or_default())
}

/// A struct of equal fields as memory: `struct Body { float x, y, z; }` is three floats.
pub(super) fn as_pointee(source: &Source, name: &str) -> Option<Pointee> {
    let fields = fields(source, name)?;
    let (_, element) = *fields.first()?;
    let lanes = u32::try_from(fields.len()).ok()?;
    fields.iter().all(|field| field.1 == element).then_some(Pointee { element, lanes })
}

fn find<'tree>(source: &'tree Source, name: &str) -> Option<Node<'tree>> {
    let mut found = None;
    walk(source.root(), |node, _| {
        let named = match node.kind() {
            "struct_specifier" | "class_specifier" => node.child_by_field_name("name"),
            "type_definition" => node.child_by_field_name("declarator"),
            _ => None,
        };
        if found.is_none() && named.is_some_and(|named| source.node_text(named) == name) {
            let definition = node.child_by_field_name("type").unwrap_or(node);
            found = definition.child_by_field_name("body").map(|_| definition);
        }
        found.is_none()
    });
    found
}

fn plain_fields(source: &Source, definition: Node<'_>) -> Option<Vec<(String, Element)>> {
    let text = source.node_text(definition);
    let own_layout = ["__align__", "alignas", "__attribute__", "virtual"];
    let has_base = children(definition).iter().any(|child| child.kind() == "base_class_clause");
    if has_base
        || own_layout.iter().any(|word| text.contains(word))
        || source.text.contains("#pragma pack")
    {
        return None;
    }
    let mut fields = Vec::new();
    for child in children(definition.child_by_field_name("body")?) {
        match child.kind() {
            "field_declaration" => plain_field(source, child, &mut fields)?,
            kind if kind.starts_with("preproc") || child.is_error() => return None,
            // Methods, access labels, comments and braces take no space.
            _ => {}
        }
    }
    Some(fields)
}

fn plain_field(
    source: &Source,
    declaration: Node<'_>,
    fields: &mut Vec<(String, Element)>,
) -> Option<()> {
    let parts = children(declaration);
    if parts.iter().any(|part| source.node_text(*part) == "static") {
        return Some(());
    }
    if parts.iter().any(|part| part.kind() == "bitfield_clause" || part.has_error()) {
        return None;
    }
    let kind = declaration.child_by_field_name("type")?;
    let mut cursor = declaration.walk();
    for declarator in declaration.children_by_field_name("declarator", &mut cursor) {
        match declarator.kind() {
            "function_declarator" => {}
            "field_identifier" => {
                let element = element::from_c_type(&source.resolve_type(source.node_text(kind)))?;
                element.by_value().then_some(())?;
                fields.push((source.node_text(declarator).to_owned(), element));
            }
            _ => return None,
        }
    }
    Some(())
}
