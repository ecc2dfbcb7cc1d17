//! A launched kernel of the file: its parameters with the arguments of the launches, and the names of its body.

use std::collections::{BTreeMap, BTreeSet};

use lightbench_cuda_source::{KernelDefinition, Node, ParameterNode, kernels, template_name};
use lightbench_project::launch::{Argument, Buffer};
use lightbench_project::tensor::Role;
use lightbench_project::{Kernel, Project};

use super::kernel_source::{KernelSource, Site};
use super::known_functions::is_known;
use super::refusal::NotApplicable;
use super::syntax::{all, children, contains, named, part, walk};

/// Nodes that are a scope.
const SCOPES: [&str; 4] =
    ["compound_statement", "for_statement", "lambda_expression", "for_range_loop"];

/// A `__global__` function that is launched.
pub(super) struct Function<'s> {
    pub(super) subject: &'s KernelSource<'s>,
    pub(super) node: Node<'s>,
    /// The template declaration around it, or the function itself.
    pub(super) outer: Node<'s>,
    pub(super) body: Node<'s>,
    pub(super) name: &'s str,
    pub(super) parameters: Vec<Parameter<'s>>,
    /// Names of template parameters, in order.
    pub(super) templates: Vec<&'s str>,
    /// The launches of this function; at least one.
    pub(super) sites: Vec<Site<'s>>,
    locals: Vec<Local<'s>>,
    /// Where the body uses each name, declarations left out.
    identifiers: BTreeMap<&'s str, Vec<Node<'s>>>,
}

/// A parameter of a kernel.
pub(super) struct Parameter<'s> {
    pub(super) name: &'s str,
    pub(super) node: Node<'s>,
    pub(super) declarator: Node<'s>,
    /// The type without qualifiers.
    pub(super) type_name: &'s str,
    pub(super) is_pointer: bool,
    pub(super) is_const: bool,
    /// The argument in each launch.
    pub(super) arguments: Vec<&'s Argument>,
}

/// A name that is declared in the body.
#[derive(Clone, Copy)]
pub(super) struct Local<'s> {
    pub(super) name: &'s str,
    pub(super) declaration: Node<'s>,
    pub(super) declarator: Node<'s>,
    /// Where the name is known, from its declaration on.
    scope: Node<'s>,
    pub(super) type_name: &'s str,
    pub(super) is_pointer: bool,
    pub(super) is_array: bool,
    pub(super) is_const: bool,
    pub(super) value: Option<Node<'s>>,
}

impl<'a> KernelSource<'a> {
    /// Reads a kernel file with the functions in it that its project launches.
    ///
    /// # Errors
    /// The kernel is not CUDA C++, or the grammar reads no launched function to its end.
    pub fn from_kernel(project: &'a Project, kernel: &'a Kernel) -> Result<Self, NotApplicable> {
        let subject = Self::parse(project, kernel)?;
        let functions = subject.functions();
        if functions.is_empty() {
            let line = subject.cuda.first_error().map_or(1, |(place, _)| place.line);
            return Err(NotApplicable::Unreadable { line });
        }
        // It is unknown which of them a launch starts.
        let mut names = BTreeSet::new();
        if let Some(again) = functions.iter().find(|function| !names.insert(function.name)) {
            return Err(NotApplicable::Several { name: again.name.to_owned() });
        }
        drop(functions);
        Ok(subject)
    }

    /// The kernels of the file that are launched and that the grammar read to the end.
    pub(super) fn functions(&self) -> Vec<Function<'_>> {
        let sites = self.sites();
        kernels(&self.cuda)
            .iter()
            .filter_map(|kernel| Function::new(self, kernel, &sites))
            .collect()
    }
}

impl<'s> Function<'s> {
    /// A kernel with its launches; `None` if the grammar did not read it to its end, or nothing launches it.
    fn new(
        subject: &'s KernelSource<'_>,
        kernel: &KernelDefinition<'s>,
        sites: &[Site<'s>],
    ) -> Option<Self> {
        let (node, body) = (kernel.function, kernel.body);
        if node.has_error() {
            return None;
        }
        let name = kernel.name(&subject.cuda);
        let is_this = |site: &&Site<'s>| site.step.kernel.base().rsplit("::").next() == Some(name);
        let sites: Vec<Site<'s>> = sites.iter().filter(is_this).copied().collect();
        if sites.is_empty() {
            return None;
        }
        let templates = kernel.template_parameters().into_iter();
        let templates =
            templates.map(|node| template_name(&subject.cuda, node).unwrap_or_default()).collect();
        let parameters: Vec<Parameter<'s>> = kernel
            .parameters(&subject.cuda)
            .iter()
            .enumerate()
            .filter_map(|(index, node)| parameter(subject, node, index, &sites))
            .collect();
        let locals = locals_of(subject, body);
        let mut identifiers: BTreeMap<&'s str, Vec<Node<'s>>> = BTreeMap::new();
        walk(body, |used, ancestors| {
            if used.kind() == "identifier" && !is_declared(used, ancestors) {
                identifiers.entry(subject.of_node(used)).or_default().push(used);
            }
            true
        });
        Some(Self {
            subject,
            node,
            outer: kernel.outer,
            body,
            name,
            parameters,
            templates,
            sites,
            locals,
            identifiers,
        })
    }

    /// The parameter with this name.
    pub(super) fn parameter(&self, name: &str) -> Option<&Parameter<'s>> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Names that are declared in the body, in order.
    pub(super) fn locals(&self) -> &[Local<'s>] {
        &self.locals
    }

    /// Names that one declaration declares.
    pub(super) fn declared_by(&self, declaration: Node<'_>) -> impl Iterator<Item = &Local<'s>> {
        let id = declaration.id();
        self.locals.iter().filter(move |local| local.declaration.id() == id)
    }

    /// The innermost declaration of a name before a place.
    pub(super) fn local(&self, name: &str, at: Node<'_>) -> Option<Local<'s>> {
        self.locals.iter().copied().rfind(|local| {
            local.name == name
                && local.declaration.start_byte() < at.start_byte()
                && contains(local.scope, at)
        })
    }

    /// Uses of a name in a part of the function, the declaration itself left out.
    pub(super) fn uses(&self, name: &str, within: Node<'s>) -> Vec<Node<'s>> {
        let all = self.identifiers.get(name).map_or(&[] as &[_], Vec::as_slice);
        all.iter().copied().filter(|node| contains(within, *node)).collect()
    }

    /// Whether a name may be given another value in a part of the function.
    pub(super) fn is_changed(&self, name: &str, within: Node<'s>) -> bool {
        self.uses(name, within).into_iter().any(is_changed_by)
    }

    /// The number of dimensions that threads and blocks are spread over, the most of all launches.
    pub(super) fn dimensions(&self) -> usize {
        let sizes = |site: &Site<'_>| site.step.block.len().max(site.step.grid.len());
        self.sites.iter().map(sizes).max().unwrap_or_default()
    }

    /// `__launch_bounds__` of the function.
    pub(super) fn launch_bounds(&self) -> Option<Node<'s>> {
        children(self.node).into_iter().find(|child| child.kind() == "launch_bounds")
    }

    /// Where `__launch_bounds__` is written: before the name.
    pub(super) fn place_of_launch_bounds(&self) -> Option<usize> {
        part(self.node, "declarator").map(|declarator| declarator.start_byte())
    }

    /// The number of threads in `__launch_bounds__`.
    pub(super) fn bounded_threads(&self) -> Option<Node<'s>> {
        named(self.launch_bounds()?).first().copied()
    }

    /// The n-th template argument of each launch, as written.
    pub(super) fn template_arguments(&self, index: usize) -> Vec<String> {
        let written = |site: &Site<'_>| {
            let text = site.step.kernel.text();
            let list = text.split_once('<').map_or("", |(_, list)| list.trim_end_matches('>'));
            list.split(',').nth(index).unwrap_or_default().trim().to_owned()
        };
        self.sites.iter().map(written).collect()
    }

    /// The line of a node, counted from 1.
    pub(super) fn line(&self, node: Node<'_>) -> usize {
        node.start_position().row + 1
    }

    /// Names of functions that are called in a part, as written.
    pub(super) fn calls(&self, within: Node<'s>) -> Vec<(&'s str, Node<'s>)> {
        all(within, &["call_expression"])
            .into_iter()
            .filter_map(|call| {
                let callee = part(call, "function")?;
                let name = part(callee, "name").unwrap_or(callee);
                Some((self.subject.of_node(name), call))
            })
            .collect()
    }

    /// The first call in a part in which threads may wait for each other, talk to each other, or ask where they are.
    pub(super) fn meeting(&self, within: Node<'s>) -> Option<&'s str> {
        const WORDS: [&str; 6] = ["sync", "__shfl", "__ballot", "__any", "__all", "__reduce"];
        let gathering = self.subject.gathering_functions();
        let is_unknown = self.subject.has_own_includes();
        self.calls(within).into_iter().map(|(name, _)| name).find(|name| {
            WORDS.iter().any(|word| name.contains(word))
                || gathering.contains(name)
                || (is_unknown && !is_known(name))
        })
    }
}

impl Parameter<'_> {
    /// Whether every launch passes memory that this kernel must not write.
    pub(super) fn is_input(&self, function: &Function<'_>) -> bool {
        let definition = function.subject.definition;
        !self.arguments.is_empty()
            && self.arguments.iter().all(|argument| match argument {
                Argument::Buffer(Buffer::Tensor(index)) => definition
                    .tensors
                    .get(*index)
                    .is_some_and(|tensor| matches!(tensor.role, Role::Input { .. })),
                Argument::Buffer(Buffer::Scratch(_) | Buffer::Magnitude(_))
                | Argument::Value(_)
                | Argument::TensorMap(_)
                | Argument::Struct(_)
                | Argument::Texture(_)
                | Argument::Integer(_)
                | Argument::Null
                | Argument::Outside(_) => false,
            })
    }

    /// The other parameter that some launch gives memory which may be the same, if there is one.
    pub(super) fn twin<'f>(&self, function: &'f Function<'_>) -> Option<&'f str> {
        let tensors = &function.subject.definition.tensors;
        let aliases = |one: usize, two: usize| {
            tensors.get(one).is_some_and(|tensor| tensor.alias.contains(&two))
        };
        let shares = |left: &Argument, right: &Argument| {
            let (Argument::Buffer(left), Argument::Buffer(right)) = (left, right) else {
                return false;
            };
            let declared = if let (Buffer::Tensor(left), Buffer::Tensor(right)) = (left, right) {
                aliases(*left, *right) || aliases(*right, *left)
            } else {
                false
            };
            left == right || declared
        };
        let others = function.parameters.iter().filter(|other| other.name != self.name);
        let mut others = others.filter(|other| {
            self.arguments.iter().zip(&other.arguments).any(|(left, right)| shares(left, right))
        });
        others.next().map(|other| other.name)
    }
}

/// Whether an identifier is the name in its own declaration; `ancestors` are those from the body of the function down.
fn is_declared(node: Node<'_>, ancestors: &[Node<'_>]) -> bool {
    let mut inner = node;
    for outer in ancestors.iter().rev() {
        if matches!(outer.kind(), "init_declarator" | "declaration" | "parameter_declaration") {
            let around = ancestors.iter().rev().take_while(|around| around.id() != outer.id());
            let mut sizes = around.filter_map(|around| part(*around, "size"));
            return part(*outer, "declarator").is_some_and(|declared| contains(declared, inner))
                && !sizes.any(|size| contains(size, node));
        }
        if !outer.kind().ends_with("declarator") {
            return false;
        }
        inner = *outer;
    }
    false
}

/// Whether the innermost operation on a name writes it or hands out its address.
pub(super) fn is_changed_by(name: Node<'_>) -> bool {
    let Some(outer) = name.parent() else { return false };
    match outer.kind() {
        "assignment_expression" => part(outer, "left").is_some_and(|left| left.id() == name.id()),
        "update_expression" => true,
        "pointer_expression" => {
            part(outer, "operator").is_some_and(|operator| operator.kind() == "&")
        }
        _ => false,
    }
}

fn parameter<'s>(
    subject: &'s KernelSource<'_>,
    read: &ParameterNode<'s>,
    index: usize,
    sites: &[Site<'s>],
) -> Option<Parameter<'s>> {
    let declarator = part(read.node, "declarator")?;
    Some(Parameter {
        name: subject.of_node(read.name?),
        node: read.node,
        declarator,
        type_name: read.type_name(&subject.cuda),
        is_pointer: declarator.kind() == "pointer_declarator",
        is_const: read.is_const,
        arguments: sites.iter().filter_map(|site| site.step.arguments.get(index)).collect(),
    })
}

fn locals_of<'s>(subject: &'s KernelSource<'_>, body: Node<'s>) -> Vec<Local<'s>> {
    let mut found = Vec::new();
    let mut declarations = Vec::new();
    walk(body, |node, ancestors| {
        if matches!(node.kind(), "declaration" | "parameter_declaration") {
            let scope = ancestors.iter().rfind(|outer| SCOPES.contains(&outer.kind()));
            declarations.extend(scope.map(|scope| (node, *scope)));
        }
        true
    });
    for (declaration, scope) in declarations {
        let Some(kind) = part(declaration, "type") else { continue };
        let qualifiers = children(declaration);
        let is_const = qualifiers.iter().any(|child| {
            child.kind() == "type_qualifier"
                && matches!(subject.of_node(*child), "const" | "constexpr")
        });
        let mut cursor = declaration.walk();
        for declarator in declaration.children_by_field_name("declarator", &mut cursor) {
            let inner =
                part(declarator, "declarator").filter(|_| declarator.kind() == "init_declarator");
            let inner = inner.unwrap_or(declarator);
            let Some(name) = all(inner, &["identifier"]).first().copied() else { continue };
            found.push(Local {
                name: subject.of_node(name),
                declaration,
                declarator,
                scope,
                type_name: subject.of_node(kind),
                is_pointer: inner.kind() == "pointer_declarator",
                is_array: inner.kind() == "array_declarator",
                is_const,
                value: part(declarator, "value"),
            });
        }
    }
    found
}
