//! The `__global__` functions of a source: their places in the syntax tree, and their signatures.

use std::ops::Range;
use std::rc::Rc;

use tree_sitter::Node;

use super::error::{FoundKernel, SourceError, SourceLocation};
use super::items::{Item, items};
use super::source::{Source, brief};
use super::syntax::{children, first_error_below, named, one_line, part};

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
    /// Where its name stands.
    pub place: SourceLocation,
    /// The bytes of the body.
    pub body: Range<usize>,
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

/// How a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// By value.
    Value,
    /// A pointer to, or an array of, const elements.
    ConstPointer,
    /// A pointer to, or an array of, elements that the kernel may write.
    Pointer,
    /// `float** x`, or an array of arrays.
    PointerToPointer,
    /// `float& x`.
    Reference,
    /// A pointer to a function.
    Function,
    /// A parameter pack or `...`.
    Variadic,
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
pub fn read(text: &str, wanted: Option<&str>) -> Result<Signature, SourceError> {
    signature_of(&Source::parse(text)?, wanted)
}

/// As [`read`], of a source that is parsed already.
///
/// # Errors
///
/// As [`read`].
pub fn signature_of(source: &Source<'_>, wanted: Option<&str>) -> Result<Signature, SourceError> {
    let all = kernels(source);
    if all.is_empty() {
        let error = source.first_error();
        return Err(error
            .map_or(SourceError::NoKernel, |(place, found)| SourceError::Syntax { place, found }));
    }
    let found = |kernels: &[&KernelDefinition<'_>]| -> Vec<FoundKernel> {
        kernels.iter().map(|kernel| kernel.found(source)).collect()
    };
    let everything: Vec<&KernelDefinition<'_>> = all.iter().collect();
    let mut chosen: Vec<&KernelDefinition<'_>> = match wanted {
        Some(wanted) => all.iter().filter(|kernel| kernel.is_called(source, wanted)).collect(),
        None => everything.clone(),
    };
    let is_active =
        |kernel: &&KernelDefinition<'_>| !source.is_inactive(kernel.function.start_byte());
    if chosen.iter().any(is_active) {
        chosen.retain(is_active);
    }
    match (chosen.as_slice(), wanted) {
        ([kernel], _) => kernel.signature(source),
        ([], wanted) => Err(SourceError::UnknownKernel {
            wanted: brief(wanted.unwrap_or_default(), 80),
            found: found(&everything),
        }),
        ([first, ..], _) if chosen.iter().all(|other| other.path(source) == first.path(source)) => {
            Err(SourceError::Overloaded { name: first.path(source), found: found(&chosen) })
        }
        _ => Err(SourceError::SeveralKernels { found: found(&chosen) }),
    }
}

/// The most parameters of a kernel: the driver passes at most 32,764 bytes of them (CUDA C++ Programming Guide, "Function
/// Parameters"), and no list that a person writes is as long.
const MOST_PARAMETERS: usize = 4096;

/// A kernel's place in the syntax tree.
#[derive(Debug)]
pub struct KernelDefinition<'tree> {
    /// The definition of the function.
    pub function: Node<'tree>,
    /// The template declaration around it, or the function itself.
    pub outer: Node<'tree>,
    /// The block of its statements.
    pub body: Node<'tree>,
    declarator: Node<'tree>,
    template: Option<Node<'tree>>,
    namespaces: Rc<[String]>,
    extern_c: bool,
}

/// The `__global__` functions with a body that a source defines, in order.
///
/// A specialisation of a template is not a separate kernel: the template selects it.
#[must_use]
pub fn kernels<'tree>(source: &'tree Source<'_>) -> Vec<KernelDefinition<'tree>> {
    items(source).into_iter().filter_map(definition).collect()
}

/// Whether a node is the definition of a `__global__` function.
#[must_use]
pub fn is_kernel(node: Node<'_>) -> bool {
    node.kind() == "function_definition"
        && children(node).iter().any(|child| child.kind() == "__global__")
}

fn definition(item: Item<'_>) -> Option<KernelDefinition<'_>> {
    let mut function = item.node;
    let mut outer = None;
    let mut template = None;
    while function.kind() == "template_declaration" {
        outer = Some(function);
        template = part(function, "parameters");
        function = children(function).into_iter().rfind(|child| {
            matches!(child.kind(), "function_definition" | "template_declaration")
        })?;
    }
    let body = part(function, "body")?;
    let declarator = part(function, "declarator")?;
    let name = part(declarator, "declarator")?;
    (is_kernel(function)
        && declarator.kind() == "function_declarator"
        && name.kind() == "identifier")
        .then_some(KernelDefinition {
            function,
            outer: outer.unwrap_or(function),
            body,
            declarator,
            template,
            namespaces: item.namespaces,
            extern_c: item.extern_c,
        })
}

impl<'tree> KernelDefinition<'tree> {
    /// The name without namespaces.
    #[must_use]
    pub fn name<'text>(&self, source: &Source<'text>) -> &'text str {
        part(self.declarator, "declarator").map_or("", |name| source.node_text(name))
    }

    fn path(&self, source: &Source<'_>) -> String {
        let mut parts: Vec<&str> = self.namespaces.iter().map(String::as_str).collect();
        parts.push(self.name(source));
        parts.join("::")
    }

    fn is_called(&self, source: &Source<'_>, wanted: &str) -> bool {
        wanted == self.name(source) || wanted == self.path(source)
    }

    /// The name with its namespaces, and its place.
    #[must_use]
    pub fn found(&self, source: &Source<'_>) -> FoundKernel {
        let place = source.place(self.declarator.start_byte());
        FoundKernel { name: self.path(source), place }
    }

    /// The parameters of the template, in order; none for a plain function.
    #[must_use]
    pub fn template_parameters(&self) -> Vec<Node<'tree>> {
        self.template.map_or_else(Vec::new, named)
    }

    /// The parameters of the function, in order.
    #[must_use]
    pub fn parameters(&self, source: &Source<'_>) -> Vec<ParameterNode<'tree>> {
        let list = part(self.declarator, "parameters").map_or_else(Vec::new, children);
        let is_parameter = |node: &Node<'_>| {
            node.kind().ends_with("parameter_declaration") || node.kind() == "..."
        };
        let nodes: Vec<Node<'_>> = list.into_iter().filter(is_parameter).collect();
        match nodes.as_slice() {
            [only] if one_line(source.node_text(*only)) == "void" => Vec::new(),
            _ => nodes.into_iter().map(|node| ParameterNode::new(source, node)).collect(),
        }
    }

    /// The arguments of `__launch_bounds__`, as a list in parentheses.
    #[must_use]
    pub fn launch_bounds(&self) -> Option<Node<'tree>> {
        children(self.function).into_iter().find(|child| child.kind() == "launch_bounds")
    }

    /// All that a caller can see of the kernel.
    ///
    /// # Errors
    ///
    /// The grammar could not read the parameters, or there are more than the driver can pass.
    pub fn signature(&self, source: &Source<'_>) -> Result<Signature, SourceError> {
        let error = first_error_below(self.declarator)
            .or_else(|| self.template.and_then(first_error_below));
        if let Some(node) = error {
            let (place, found) = source.describe_error(node);
            return Err(SourceError::Signature { kernel: self.path(source), place, found });
        }
        let (parameters, templates) = (self.parameters(source), self.template_parameters());
        let place = source.place(self.declarator.start_byte());
        let count = parameters.len().max(templates.len());
        if count > MOST_PARAMETERS {
            let (kernel, limit) = (self.path(source), MOST_PARAMETERS);
            return Err(SourceError::TooManyParameters { kernel, place, count, limit });
        }
        let bounds = self.launch_bounds().and_then(|bounds| bounds.named_child(0));
        Ok(Signature {
            name: self.name(source).to_owned(),
            namespaces: self.namespaces.to_vec(),
            extern_c: self.extern_c,
            templates: templates.into_iter().map(|node| template(source, node)).collect(),
            parameters: parameters.iter().map(|node| node.read(source)).collect(),
            launch_bounds: bounds.map(|bounds| one_line(source.node_text(bounds))),
            place,
            body: self.body.byte_range(),
        })
    }
}

/// The name of a template parameter, if it has one.
#[must_use]
pub fn template_name<'text>(source: &Source<'text>, node: Node<'_>) -> Option<&'text str> {
    let name = match node.kind() {
        "type_parameter_declaration" => node.named_child(0),
        "optional_type_parameter_declaration" => part(node, "name"),
        "parameter_declaration" | "optional_parameter_declaration" => part(node, "declarator"),
        _ => None,
    };
    name.map(|name| source.node_text(name))
}

fn template(source: &Source<'_>, node: Node<'_>) -> TemplateParameter {
    let text = |field: &str| part(node, field).map(|child| one_line(source.node_text(child)));
    let (kind, default) = match node.kind() {
        "type_parameter_declaration" => (TemplateKind::Type, None),
        "optional_type_parameter_declaration" => (TemplateKind::Type, text("default_type")),
        "parameter_declaration" | "optional_parameter_declaration" => {
            let kind = text("type").map_or(TemplateKind::Other, TemplateKind::Value);
            (kind, text("default_value"))
        }
        _ => (TemplateKind::Other, None),
    };
    let name = template_name(source, node).map(one_line);
    let written = brief(source.node_text(node), 60);
    TemplateParameter { name, kind, default, written, place: source.place(node.start_byte()) }
}

/// A parameter's place in the syntax tree, and how it is passed.
#[derive(Debug, Clone, Copy)]
pub struct ParameterNode<'tree> {
    /// The whole parameter.
    pub node: Node<'tree>,
    /// Its name, if it has one.
    pub name: Option<Node<'tree>>,
    /// Whether the value, or what it points to, is `const`.
    pub is_const: bool,
    /// How it is passed.
    pub passing: Passing,
}

impl<'tree> ParameterNode<'tree> {
    fn new(source: &Source<'_>, node: Node<'tree>) -> Self {
        let is_const = children(node).iter().any(|child| {
            child.kind() == "type_qualifier"
                && matches!(source.node_text(*child), "const" | "constexpr")
        });
        let mut name = None;
        let mut pointers = 0;
        let variadic = matches!(node.kind(), "variadic_parameter_declaration" | "...");
        let mut unusual = variadic.then_some(Passing::Variadic);
        let mut next = part(node, "declarator");
        while let Some(inner) = next {
            match inner.kind() {
                "identifier" => name = Some(inner),
                "pointer_declarator"
                | "abstract_pointer_declarator"
                | "array_declarator"
                | "abstract_array_declarator" => pointers += 1,
                "reference_declarator" | "abstract_reference_declarator" => {
                    unusual = Some(Passing::Reference);
                }
                "function_declarator" | "abstract_function_declarator" => {
                    unusual = Some(Passing::Function);
                }
                _ => {}
            }
            next = part(inner, "declarator").or_else(|| inner_declarator(inner));
        }
        let passing = match (unusual, pointers) {
            (Some(unusual), _) => unusual,
            (None, 0) => Passing::Value,
            (None, 1) if is_const => Passing::ConstPointer,
            (None, 1) => Passing::Pointer,
            (None, _) => Passing::PointerToPointer,
        };
        Self { node, name, is_const, passing }
    }

    /// The type without qualifiers and pointer, as written.
    #[must_use]
    pub fn type_name<'text>(&self, source: &Source<'text>) -> &'text str {
        part(self.node, "type").map_or("", |kind| source.node_text(kind))
    }

    fn read(&self, source: &Source<'_>) -> Parameter {
        let written = source.node_text(self.node);
        Parameter {
            name: self.name.map(|name| source.node_text(name).to_owned()),
            type_name: one_line(self.type_name(source)),
            passing: self.passing,
            restrict: written.contains("__restrict") || written.contains("RESTRICT"),
            written: brief(written, 60),
            place: source.place(self.node.start_byte()),
        }
    }
}

/// The declarator inside a node for which the grammar has no field name.
fn inner_declarator(node: Node<'_>) -> Option<Node<'_>> {
    let is_declarator =
        |child: &Node<'_>| child.kind() == "identifier" || child.kind().ends_with("declarator");
    match node.kind() {
        "reference_declarator"
        | "parenthesized_declarator"
        | "variadic_declarator"
        | "abstract_reference_declarator"
        | "abstract_parenthesized_declarator" => children(node).into_iter().find(is_declarator),
        _ => None,
    }
}
