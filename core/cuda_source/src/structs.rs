//! Structs of a source whose layout is that of their scalar fields in order.

use lightbench_primitives::dtype::{CType, Dtype};
use tree_sitter::Node;

use super::source::Source;
use super::syntax::children;

/// Names and types of the fields of the struct called `name`: `None` if the source defines no such struct, an empty list
/// if it has anything but fields that a project can pass by value.
#[must_use]
pub fn fields(source: &Source<'_>, name: &str) -> Option<Vec<(String, Dtype)>> {
    let (file, definition) = source.struct_definition(name)?;
    Some(plain_fields((source, file), definition).unwrap_or_default())
}

/// A struct of equal fields as memory: `struct Body { float x, y, z; }` is three `f32`.
#[must_use]
pub fn as_vector(source: &Source<'_>, name: &str) -> Option<(Dtype, u32)> {
    let fields = fields(source, name)?;
    let (_, dtype) = *fields.first()?;
    let lanes = u32::try_from(fields.len()).ok()?;
    fields.iter().all(|field| field.1 == dtype).then_some((dtype, lanes))
}

/// The fields of a struct; `source` knows all names, and `file` has the text.
fn plain_fields(
    (source, file): (&Source<'_>, &Source<'_>),
    definition: Node<'_>,
) -> Option<Vec<(String, Dtype)>> {
    let text = file.node_text(definition);
    let own_layout = ["__align__", "alignas", "__attribute__", "virtual"];
    let has_base = children(definition).iter().any(|child| child.kind() == "base_class_clause");
    if has_base
        || own_layout.iter().any(|word| text.contains(word))
        || file.text().contains("#pragma pack")
    {
        return None;
    }
    let mut fields = Vec::new();
    for child in children(definition.child_by_field_name("body")?) {
        match child.kind() {
            "field_declaration" => plain_field((source, file), child, &mut fields)?,
            kind if kind.starts_with("preproc") || child.is_error() => return None,
            // Methods, access labels, comments and braces take no space.
            _ => {}
        }
    }
    Some(fields)
}

fn plain_field(
    (source, file): (&Source<'_>, &Source<'_>),
    declaration: Node<'_>,
    fields: &mut Vec<(String, Dtype)>,
) -> Option<()> {
    let parts = children(declaration);
    if parts.iter().any(|part| file.node_text(*part) == "static") {
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
                let dtype = Dtype::from_c_name(&source.resolve_type(file.node_text(kind)))?;
                CType::from_dtype(dtype)?;
                fields.push((file.node_text(declarator).to_owned(), dtype));
            }
            _ => return None,
        }
    }
    Some(())
}
