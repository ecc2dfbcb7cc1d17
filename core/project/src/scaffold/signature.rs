//! The signatures of the `__global__` functions of a CUDA source, parsed with the CUDA grammar.

use std::ops::Range;

use tree_sitter::Node;

use super::error::{FoundKernel, ParameterProblem, ScaffoldError, SourceLocation};
use super::source::{Item, Source, brief, children, first_error_below, items, one_line};

/// The signature of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The name of the function.
    pub name: String,
    /// The enclosing namespaces, outermost first; unnamed ones are omitted.
    pub namespaces: Vec<String>,
    /// Whether it has C linkage.
    pub extern_c: bool,
    /// Template parameters, empty for a plain function.
    pub templates: Vec<TemplateParameter>,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The first argument of `__launch_bounds__`, as written.
    pub launch_bounds: Option<String>,
    pub place: SourceLocation,
    /// The bytes of the body in the normalised text (line feeds, no byte order mark).
    pub(super) body: Range<usize>,
}

/// A template parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateParameter {
    /// Its name, if it has one.
    pub name: Option<String>,
    pub kind: TemplateKind,
    /// The default, as written.
    pub default: Option<String>,
    /// The whole parameter, as written in one line.
    pub written: String,
    pub place: SourceLocation,
}

/// The kind of a template parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateKind {
    /// `typename T`.
    Type,
    /// `int N`, with the type as written.
    Value(String),
    /// A pack or a template: not supported.
    Other,
}

/// A function parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The type without qualifiers and pointer, in single spaces.
    pub type_name: String,
    pub passing: Passing,
    /// Whether it has `__restrict__` in any spelling.
    pub restrict: bool,
    /// The whole parameter, as written in one line.
    pub written: String,
    pub place: SourceLocation,
}

/// How a parameter is passed: by value, pointer or array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// By value.
    Value,
    /// A pointer to, or an array of, const elements.
    ConstPointer,
    /// A pointer to, or an array of, elements that the kernel may write.
    Pointer,
    /// In a way that a project cannot express.
    Unsupported(ParameterProblem),
}

impl Signature {
    /// The name with its namespaces, `ops::scale`.
    pub fn path(&self) -> String {
        let mut parts = self.namespaces.clone();
        parts.push(self.name.clone());
        parts.join("::")
    }
}

/// Reads the signature of the kernel called `wanted` (with or without namespaces), or of the only one.
///
/// # Errors
///
/// There is no such kernel, there are several, or its signature cannot be read.
pub fn read(text: &str, wanted: Option<&str>) -> Result<Signature, ScaffoldError> {
    read_from(&Source::parse(text)?, wanted)
}

/// All kernels with a body that a source defines, in order.
///
/// # Errors
///
/// If the text is no source at all: too large, with NUL characters, or hopeless for the parser.
pub fn list(text: &str) -> Result<Vec<FoundKernel>, ScaffoldError> {
    let source = Source::parse(text)?;
    Ok(kernels(&source).iter().map(|kernel| kernel.found(&source)).collect())
}

pub(super) fn read_from(source: &Source, wanted: Option<&str>) -> Result<Signature, ScaffoldError> {
    let all = kernels(source);
    if all.is_empty() {
        return Err(source.first_error().map_or(ScaffoldError::NoKernel, |(place, found)| {
            ScaffoldError::Syntax { place, found }
        }));
    }
    let found = |kernels: &[&Definition<'_>]| -> Vec<FoundKernel> {
        kernels.iter().map(|kernel| kernel.found(source)).collect()
    };
    let everything: Vec<&Definition<'_>> = all.iter().collect();
    let chosen: Vec<&Definition<'_>> = match wanted {
        Some(wanted) => all.iter().filter(|kernel| kernel.is_called(source, wanted)).collect(),
        None => everything.clone(),
    };
    match (chosen.as_slice(), wanted) {
        ([kernel], _) => kernel.signature(source),
        ([], wanted) => Err(ScaffoldError::UnknownKernel {
            wanted: brief(wanted.unwrap_or_default(), 80),
            found: found(&everything),
        }),
        ([first, ..], _) if chosen.iter().all(|other| other.path(source) == first.path(source)) => {
            Err(ScaffoldError::Overloaded { name: first.path(source), found: found(&chosen) })
        }
        _ => Err(ScaffoldError::SeveralKernels { found: found(&chosen) }),
    }
}

/// A kernel's place in the tree, not yet read.
struct Definition<'tree> {
    function: Node<'tree>,
    declarator: Node<'tree>,
    template: Option<Node<'tree>>,
    namespaces: Vec<String>,
    extern_c: bool,
}

fn kernels(source: &Source) -> Vec<Definition<'_>> {
    items(source).into_iter().filter_map(definition).collect()
}

/// A specialisation of a template is not a separate kernel: the template selects it.
fn definition(item: Item<'_>) -> Option<Definition<'_>> {
    let mut function = item.node;
    let mut template = None;
    while function.kind() == "template_declaration" {
        template = function.child_by_field_name("parameters");
        function = children(function).into_iter().rfind(|child| {
            matches!(child.kind(), "function_definition" | "template_declaration")
        })?;
    }
    let is_kernel = function.kind() == "function_definition"
        && function.child_by_field_name("body").is_some()
        && children(function).iter().any(|child| child.kind() == "__global__");
    let declarator = function.child_by_field_name("declarator")?;
    let name = declarator.child_by_field_name("declarator")?;
    (is_kernel && declarator.kind() == "function_declarator" && name.kind() == "identifier")
        .then_some(Definition {
            function,
            declarator,
            template,
            namespaces: item.namespaces,
            extern_c: item.extern_c,
        })
}

impl Definition<'_> {
    fn name<'text>(&self, source: &'text Source) -> &'text str {
        self.declarator.child_by_field_name("declarator").map_or("", |name| source.node_text(name))
    }

    fn path(&self, source: &Source) -> String {
        let mut parts: Vec<&str> = self.namespaces.iter().map(String::as_str).collect();
        parts.push(self.name(source));
        parts.join("::")
    }

    fn is_called(&self, source: &Source, wanted: &str) -> bool {
        wanted == self.name(source) || wanted == self.path(source)
    }

    fn found(&self, source: &Source) -> FoundKernel {
        let place = source.place(self.declarator.start_byte());
        FoundKernel { name: self.path(source), place }
    }

    fn signature(&self, source: &Source) -> Result<Signature, ScaffoldError> {
        let unreadable = |node: Node<'_>| {
            let (place, found) = source.describe_error(node);
            ScaffoldError::Signature { kernel: self.path(source), place, found }
        };
        if let Some(node) = first_error_below(self.declarator) {
            return Err(unreadable(node));
        }
        if let Some(node) = self.template.and_then(first_error_below) {
            return Err(unreadable(node));
        }
        let parameters = self.declarator.child_by_field_name("parameters");
        let parameters = parameters.map_or_else(Vec::new, |list| parameters_of(source, list));
        let templates = self.template.map_or_else(Vec::new, |list| templates_of(source, list));
        let body = self.function.child_by_field_name("body");
        Ok(Signature {
            name: self.name(source).to_owned(),
            namespaces: self.namespaces.clone(),
            extern_c: self.extern_c,
            templates,
            parameters,
            launch_bounds: launch_bounds(source, self.function),
            place: source.place(self.declarator.start_byte()),
            body: body.map_or(0..0, |body| body.byte_range()),
        })
    }
}

fn launch_bounds(source: &Source, function: Node<'_>) -> Option<String> {
    let bounds = children(function).into_iter().find(|child| child.kind() == "launch_bounds")?;
    Some(one_line(source.node_text(bounds.named_child(0)?)))
}

fn templates_of(source: &Source, list: Node<'_>) -> Vec<TemplateParameter> {
    let parameters =
        children(list).into_iter().filter(|child| child.is_named() && child.kind() != "comment");
    parameters.map(|node| template(source, node)).collect()
}

fn template(source: &Source, node: Node<'_>) -> TemplateParameter {
    let text = |field: &str| {
        node.child_by_field_name(field).map(|child| one_line(source.node_text(child)))
    };
    let (name, kind, default) = match node.kind() {
        "type_parameter_declaration" => {
            let name = node.named_child(0).map(|name| source.node_text(name).to_owned());
            (name, TemplateKind::Type, None)
        }
        "optional_type_parameter_declaration" => {
            (text("name"), TemplateKind::Type, text("default_type"))
        }
        "parameter_declaration" | "optional_parameter_declaration" => {
            let kind = text("type").map_or(TemplateKind::Other, TemplateKind::Value);
            (text("declarator"), kind, text("default_value"))
        }
        _ => (None, TemplateKind::Other, None),
    };
    let written = brief(source.node_text(node), 60);
    TemplateParameter { name, kind, default, written, place: source.place(node.start_byte()) }
}

fn parameters_of(source: &Source, list: Node<'_>) -> Vec<Parameter> {
    let is_parameter =
        |node: &Node<'_>| node.kind().ends_with("parameter_declaration") || node.kind() == "...";
    let nodes: Vec<Node<'_>> = children(list).into_iter().filter(is_parameter).collect();
    if let [only] = nodes.as_slice()
        && one_line(source.node_text(*only)) == "void"
    {
        return Vec::new();
    }
    nodes.into_iter().map(|node| parameter(source, node)).collect()
}

fn parameter(source: &Source, node: Node<'_>) -> Parameter {
    let type_name = node.child_by_field_name("type").map_or("", |kind| source.node_text(kind));
    let declarator = declarator_of(source, node);
    let constant = children(node).iter().any(|child| {
        child.kind() == "type_qualifier"
            && matches!(source.node_text(*child), "const" | "constexpr")
    });
    let passing = match (declarator.problem, declarator.pointers) {
        (Some(problem), _) => Passing::Unsupported(problem),
        (None, 0) => Passing::Value,
        (None, 1) if constant => Passing::ConstPointer,
        (None, 1) => Passing::Pointer,
        (None, _) => Passing::Unsupported(ParameterProblem::PointerToPointer),
    };
    let written = source.node_text(node);
    Parameter {
        name: declarator.name,
        type_name: one_line(type_name),
        passing,
        restrict: written.contains("__restrict") || written.contains("RESTRICT"),
        written: brief(written, 60),
        place: source.place(node.start_byte()),
    }
}

/// The declarator around a parameter's name.
#[derive(Default)]
struct Declarator {
    name: Option<String>,
    pointers: usize,
    problem: Option<ParameterProblem>,
}

fn declarator_of(source: &Source, parameter: Node<'_>) -> Declarator {
    let mut found = Declarator::default();
    if matches!(parameter.kind(), "variadic_parameter_declaration" | "...") {
        found.problem = Some(ParameterProblem::Variadic);
    }
    let mut next = parameter.child_by_field_name("declarator");
    while let Some(node) = next {
        match node.kind() {
            "identifier" => found.name = Some(source.node_text(node).to_owned()),
            "pointer_declarator"
            | "abstract_pointer_declarator"
            | "array_declarator"
            | "abstract_array_declarator" => found.pointers += 1,
            "reference_declarator" | "abstract_reference_declarator" => {
                found.problem = Some(ParameterProblem::Reference);
            }
            "function_declarator" | "abstract_function_declarator" => {
                found.problem = Some(ParameterProblem::Function);
            }
            _ => {}
        }
        next = node.child_by_field_name("declarator").or_else(|| inner_declarator(node));
    }
    found
}

/// The declarator inside a node for which the grammar has no field name.
fn inner_declarator(node: Node<'_>) -> Option<Node<'_>> {
    let is_declarator =
        |child: &Node<'_>| child.kind() == "identifier" || child.kind().ends_with("declarator");
    match node.kind() {
        "identifier" => None,
        "reference_declarator"
        | "parenthesized_declarator"
        | "variadic_declarator"
        | "abstract_reference_declarator"
        | "abstract_parenthesized_declarator" => children(node).into_iter().find(is_declarator),
        _ => None,
    }
}
