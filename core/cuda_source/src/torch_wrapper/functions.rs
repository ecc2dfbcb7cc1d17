//! Functions and macros of a file as the syntax tree has them: which are wrappers, their parameters, what they call.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::items::items;
use crate::source::{Source, brief};
use crate::syntax::{all, children, named, one_line, part};

use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::Kind;

/// The names of wrappers in a file, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Candidates {
    /// Functions that take tensors and launch a kernel, themselves or through functions of the file, and that no other
    /// such function calls.
    pub launching: Vec<String>,
    /// Other functions that take tensors.
    pub others: Vec<String>,
}

/// The functions with tensors among their parameters.
#[must_use]
pub fn wrappers(source: &Source<'_>) -> Candidates {
    let functions = host_functions(source);
    let calls: Vec<BTreeSet<&str>> =
        functions.iter().map(|function| called(source, *function)).collect();
    let names: Vec<&str> = functions
        .iter()
        .map(|function| function_name(source, *function).unwrap_or_default())
        .collect();
    let mut launches: BTreeSet<&str> = BTreeSet::new();
    for _ in 0..DEEPEST_CALL {
        let before = launches.len();
        for ((function, name), calls) in functions.iter().zip(&names).zip(&calls) {
            let direct = !all(*function, &["kernel_call_syntax"]).is_empty();
            if direct || calls.iter().any(|called| launches.contains(called)) {
                launches.insert(name);
            }
        }
        if launches.len() == before {
            break;
        }
    }
    let takes_tensors = |function: Node<'_>| {
        parameters(function).iter().any(|node| is_tensor(&type_text(source, *node)))
    };
    let mut found = Candidates::default();
    for (function, name) in functions.iter().zip(&names) {
        if name.is_empty() || !takes_tensors(*function) {
            continue;
        }
        let mut others = names.iter().zip(&calls).filter(|(other, _)| *other != name);
        let is_inner =
            others.any(|(other, calls)| launches.contains(other) && calls.contains(name));
        let list = if launches.contains(name) && !is_inner {
            &mut found.launching
        } else {
            &mut found.others
        };
        list.push((*name).to_owned());
    }
    found
}

/// The deepest chain of functions between a wrapper and its launch.
const DEEPEST_CALL: usize = 8;

/// The names that a function calls, without namespaces.
fn called<'all>(source: &'all Source<'all>, function: Node<'_>) -> BTreeSet<&'all str> {
    let text = Text { source, at: None };
    let calls = all(function, &["call_expression"]).into_iter();
    let names = calls.filter_map(|call| callee(text, part(call, "function")?));
    names.map(|callee| callee.name).collect()
}

/// The wrapper with a name, or the only one that launches a kernel.
pub(super) fn chosen<'tree>(
    source: &'tree Source<'_>,
    name: Option<&str>,
) -> Result<Node<'tree>, Refusal> {
    let text = Text { source, at: None };
    let candidates = wrappers(source);
    let refused = |found: &str, why| Refusal {
        place: text.place(source.root()),
        found: brief(found, 120),
        why,
    };
    let name = match (name, candidates.launching.as_slice()) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, []) => return Err(refused(&candidates.others.join(", "), Why::NoWrapper)),
        (None, several) => return Err(refused(&several.join(", "), Why::SeveralWrappers)),
    };
    functions(source).get(name).copied().ok_or_else(|| refused(name, Why::UnknownFunction))
}

/// The host functions with a body, by their names without namespaces; of several with one name, the first.
pub(super) fn functions<'tree>(source: &'tree Source<'_>) -> BTreeMap<&'tree str, Node<'tree>> {
    let mut found = BTreeMap::new();
    for function in host_functions(source) {
        if let Some(name) = function_name(source, function) {
            found.entry(name).or_insert(function);
        }
    }
    found
}

/// Maximum number of host functions that are read: each is compared with all others.
const MOST_FUNCTIONS: usize = 512;

fn host_functions<'tree>(source: &'tree Source<'_>) -> Vec<Node<'tree>> {
    let mut found = Vec::new();
    for item in items(source) {
        let mut node = item.node;
        while node.kind() == "template_declaration" {
            let inner = children(node).into_iter().rfind(Node::is_named);
            let Some(inner) = inner else { break };
            node = inner;
        }
        let on_device =
            children(node).iter().any(|child| matches!(child.kind(), "__global__" | "__device__"));
        let is_both = children(node).iter().any(|child| child.kind() == "__host__");
        if node.kind() == "function_definition"
            && (!on_device || is_both)
            && !source.is_inactive(node.start_byte())
            && found.len() < MOST_FUNCTIONS
        {
            found.push(node);
        }
    }
    found
}

pub(super) fn function_name<'text>(
    source: &Source<'text>,
    function: Node<'_>,
) -> Option<&'text str> {
    let mut declarator = part(function, "declarator")?;
    for _ in 0..8 {
        match declarator.kind() {
            "identifier" => return Some(source.node_text(declarator)),
            "qualified_identifier" => declarator = part(declarator, "name")?,
            _ => {
                declarator = part(declarator, "declarator")
                    .or_else(|| named(declarator).into_iter().next_back())?;
            }
        }
    }
    None
}

/// The nodes of the parameters.
pub(super) fn parameters(function: Node<'_>) -> Vec<Node<'_>> {
    let mut declarator = part(function, "declarator");
    while let Some(node) = declarator {
        if node.kind() == "function_declarator" {
            let list = part(node, "parameters").map_or_else(Vec::new, named);
            let is_parameter = |node: &Node<'_>| node.kind().ends_with("parameter_declaration");
            return list.into_iter().filter(is_parameter).collect();
        }
        declarator = part(node, "declarator").or_else(|| named(node).into_iter().next_back());
    }
    Vec::new()
}

/// The type of a parameter or declaration, without spaces, namespaces and qualifiers.
pub(super) fn type_text(source: &Source<'_>, node: Node<'_>) -> String {
    let written = part(node, "type").map_or("", |kind| source.node_text(kind));
    let mut name = one_line(written);
    name.retain(|letter| letter != ' ');
    for namespace in ["torch::", "at::", "c10::", "std::", "tvm::ffi::", "ffi::"] {
        name = name.replace(namespace, "");
    }
    name
}

pub(super) fn is_tensor(kind: &str) -> bool {
    matches!(
        kind,
        "Tensor"
            | "TensorView"
            | "optional<Tensor>"
            | "optional<constTensor>"
            | "OptionalTensorRef"
    )
}

/// The name of a parameter.
pub(super) fn parameter_name<'text>(source: &Source<'text>, node: Node<'_>) -> Option<&'text str> {
    let mut declarator = part(node, "declarator")?;
    for _ in 0..8 {
        if declarator.kind() == "identifier" {
            return Some(source.node_text(declarator));
        }
        declarator =
            part(declarator, "declarator").or_else(|| named(declarator).into_iter().next_back())?;
    }
    None
}

/// The kind of a C++ type of a number.
pub(super) fn kind_of(type_name: &str) -> Option<Kind> {
    Some(match type_name {
        "int" | "int64_t" | "int32_t" | "uint32_t" | "uint64_t" | "size_t" | "long"
        | "unsigned" | "unsignedint" | "longlong" | "longint" | "unsignedlong"
        | "unsignedlonglong" | "uint" | "short" | "int16_t" | "uint8_t" | "SymInt"
        | "longlongint" => Kind::Integer,
        "float" | "double" => Kind::Real,
        "bool" => Kind::Boolean,
        "dim3" => Kind::Extents,
        _ => return None,
    })
}

/// The name that a call names.
pub(super) struct Callee<'tree, 'text> {
    /// With namespaces, without template arguments.
    pub(super) path: String,
    pub(super) name: &'text str,
    pub(super) template: Vec<Node<'tree>>,
}

/// Reads the function of a call.
pub(super) fn callee<'tree, 'text>(
    text: Text<'text>,
    function: Node<'tree>,
) -> Option<Callee<'tree, 'text>> {
    let mut path = String::new();
    let mut node = function;
    for _ in 0..16 {
        match node.kind() {
            "qualified_identifier" => {
                if let Some(scope) = part(node, "scope") {
                    path.push_str(text.of(scope));
                    path.push_str("::");
                }
                node = part(node, "name")?;
            }
            "template_function" | "template_type" => {
                let name = text.of(part(node, "name")?);
                path.push_str(name);
                let template = part(node, "arguments").map_or_else(Vec::new, named);
                return Some(Callee { path, name, template });
            }
            "dependent_name" => node = named(node).pop()?,
            _ => {
                let name = text.of(node);
                path.push_str(name);
                return Some(Callee { path, name, template: Vec::new() });
            }
        }
    }
    None
}

/// The macros with parameters of a file, by their names.
pub(super) fn macros<'tree>(source: &'tree Source<'_>) -> BTreeMap<&'tree str, Node<'tree>> {
    let nodes = items(source).into_iter().map(|item| item.node);
    let definitions = nodes.filter(|node| node.kind() == "preproc_function_def");
    definitions.filter_map(|node| Some((source.node_text(part(node, "name")?), node))).collect()
}

/// The parameters and the replacement text of a macro.
pub(super) fn macro_parts<'text>(
    source: &Source<'text>,
    definition: Node<'_>,
) -> (Vec<&'text str>, &'text str) {
    let parameters = part(definition, "parameters").map_or_else(Vec::new, named);
    let names = parameters.into_iter().map(|node| source.node_text(node)).collect();
    (names, part(definition, "value").map_or("", |value| source.node_text(value)))
}
