//! Structs of scalars whose methods a kernel calls, such as a compensated sum, replaced by a variable for each field and
//! the statements of the methods.

use lightbench_cuda_source::Node;

use super::edit::{Edit, Rewrite};
use super::function::{Function, Local};
use super::kernel_source::KernelSource;
use super::scalar_type::{ScalarType, scalar_type};
use super::syntax::{all, children, is_compound, named, part, statements};

/// A struct of scalars with initial values.
struct Struct<'s> {
    name: &'s str,
    fields: Vec<Field<'s>>,
    methods: Vec<Node<'s>>,
}

struct Field<'s> {
    name: &'s str,
    type_name: &'s str,
    value: &'s str,
}

/// The edits that replace all variables of such structs in a kernel; none if there are none, or one is used in another
/// way than through its fields and calls that are statements.
pub(super) fn replaced(function: &Function<'_>) -> Option<Rewrite> {
    let structs = structs(function.subject);
    let mut edits = Vec::new();
    for local in function.locals() {
        if let Some(known) = structs.iter().find(|each| each.name == local.type_name) {
            edits.extend(variables(function, known, local)?);
        }
    }
    let rewrite = Rewrite::new("", 0, edits);
    (!rewrite.edits.is_empty() && rewrite.is_orderly()).then_some(rewrite)
}

fn structs<'s>(subject: &'s KernelSource<'_>) -> Vec<Struct<'s>> {
    let nodes = all(subject.root(), &["struct_specifier"]);
    nodes.into_iter().filter_map(|node| read(subject, node)).collect()
}

fn read<'s>(subject: &'s KernelSource<'_>, node: Node<'s>) -> Option<Struct<'s>> {
    let name = subject.of_node(part(node, "name")?);
    let (mut fields, mut methods) = (Vec::new(), Vec::new());
    if children(node).iter().any(|child| child.kind() == "base_class_clause") {
        return None;
    }
    for member in named(part(node, "body")?) {
        match member.kind() {
            "field_declaration" => {
                let type_name = subject.of_node(part(member, "type")?);
                ScalarType::named(type_name)?;
                let mut cursor = member.walk();
                let mut declarators = member.children_by_field_name("declarator", &mut cursor);
                let (declarator, None) = (declarators.next()?, declarators.next()) else {
                    return None;
                };
                let value = subject.of_node(part(member, "default_value")?);
                if declarator.kind() != "field_identifier" {
                    return None;
                }
                fields.push(Field { name: subject.of_node(declarator), type_name, value });
            }
            // A constructor, a destructor or an operator would be called unseen.
            "function_definition" if is_plain_method(member) => methods.push(member),
            "comment" => {}
            _ => return None,
        }
    }
    Some(Struct { name, fields, methods })
}

fn is_plain_method(node: Node<'_>) -> bool {
    let name = part(node, "declarator").and_then(|declarator| part(declarator, "declarator"));
    name.is_some_and(|name| name.kind() == "field_identifier")
}

fn variables(function: &Function<'_>, known: &Struct<'_>, local: &Local<'_>) -> Option<Vec<Edit>> {
    let subject = function.subject;
    let declared = function.declared_by(local.declaration).count();
    let is_only = function.locals().iter().filter(|each| each.name == local.name).count() == 1;
    if declared != 1 || !is_only || local.is_array || local.is_pointer || local.value.is_some() {
        return None;
    }
    let name = |field: &str| subject.fresh(&format!("{}_{field}", local.name));
    let indentation = subject.indentation(local.declaration.start_byte());
    let declarations = known
        .fields
        .iter()
        .map(|field| format!("{} {} = {};", field.type_name, name(field.name), field.value));
    let text = declarations.collect::<Vec<_>>().join(&format!("\n{indentation}"));
    let mut edits = vec![Edit::replace(local.declaration.byte_range(), text)];
    for (number, node) in function.uses(local.name, function.body).into_iter().enumerate() {
        let member = node.parent().filter(|outer| outer.kind() == "field_expression")?;
        let field = subject.of_node(part(member, "field")?);
        let call = member.parent().filter(|outer| outer.kind() == "call_expression");
        match call.filter(|call| part(*call, "function").map(|f| f.id()) == Some(member.id())) {
            Some(call) => {
                let statement =
                    call.parent().filter(|node| node.kind() == "expression_statement")?;
                let prefix = match number {
                    0 => local.name.to_owned(),
                    _ => format!("{}_{number}", local.name),
                };
                let body = called(function, known, (field, call), &name, &prefix)?;
                let indentation = subject.indentation(statement.start_byte());
                let is_listed =
                    statement.parent().is_some_and(|outer| outer.kind() == "compound_statement");
                let text = if is_listed {
                    body.join(&format!("\n{indentation}"))
                } else {
                    let inner = body.join(&format!("\n{indentation}    "));
                    format!("{{\n{indentation}    {inner}\n{indentation}}}")
                };
                edits.push(Edit::replace(statement.byte_range(), text));
            }
            None => {
                known.fields.iter().find(|each| each.name == field)?;
                edits.push(Edit::replace(member.byte_range(), name(field)));
            }
        }
    }
    Some(edits)
}

/// The statements of a method, with the fields of a variable and the arguments of a call.
fn called(
    function: &Function<'_>,
    known: &Struct<'_>,
    (method, call): (&str, Node<'_>),
    field: &dyn Fn(&str) -> String,
    prefix: &str,
) -> Option<Vec<String>> {
    let subject = function.subject;
    let mut fitting = known.methods.iter().filter_map(|node| {
        let declarator = part(*node, "declarator")?;
        let name = part(declarator, "declarator").map(|name| subject.of_node(name));
        (name == Some(method)).then_some((*node, part(declarator, "parameters")?))
    });
    let ((node, parameters), None) = (fitting.next()?, fitting.next()) else { return None };
    let arguments = named(part(call, "arguments")?);
    let body = part(node, "body")?;
    let names = all(body, &["identifier", "this"]);
    let mut written = Vec::new();
    let mut replacements: Vec<(&str, String)> =
        known.fields.iter().map(|each| (each.name, field(each.name))).collect();
    let parameters = named(parameters);
    if parameters.len() != arguments.len() {
        return None;
    }
    for (parameter, argument) in parameters.into_iter().zip(arguments) {
        let declared = part(parameter, "declarator").filter(|node| node.kind() == "identifier")?;
        let type_name = subject.of_node(part(parameter, "type")?);
        ScalarType::named(type_name)?;
        let name = subject.of_node(declared);
        let text = subject.of_node(argument);
        let uses = names.iter().filter(|node| subject.of_node(**node) == name).count();
        let has_type = scalar_type(function, argument) == ScalarType::named(type_name);
        let value = if uses == 1 && has_type {
            if is_compound(argument) { format!("({text})") } else { text.to_owned() }
        } else {
            let variable = subject.fresh(&format!("{prefix}_{name}"));
            written.push(format!("const {type_name} {variable} = {};", text));
            variable
        };
        replacements.push((name, value));
    }
    for statement in statements(body) {
        if !matches!(statement.kind(), "declaration" | "expression_statement") {
            return None;
        }
        if let Some(declared) = part(statement, "declarator") {
            let name = subject.of_node(part(declared, "declarator")?);
            replacements.push((name, subject.fresh(&format!("{prefix}_{name}"))));
        }
        let edits = all(statement, &["identifier"]).into_iter().filter_map(|node| {
            let text = subject.of_node(node);
            let (_, value) = replacements.iter().rfind(|(known, _)| *known == text)?;
            Some(Edit::replace(node.byte_range(), value.clone()))
        });
        written.push(subject.with(statement, edits.collect()));
    }
    let plain = names.iter().all(|node| node.kind() == "identifier");
    (plain && all(body, &["call_expression", "return_statement", "field_expression"]).is_empty())
        .then_some(written)
}
