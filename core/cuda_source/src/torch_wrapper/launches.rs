//! Launches: `kernel<scalar_t, 256><<<grid, block, shared, stream>>>(x.data_ptr<scalar_t>(), n)`.

use std::collections::{BTreeMap, BTreeSet};

use lightbench_primitives::dtype::Dtype;
use tree_sitter::Node;

use crate::kernel::{Parameter, Passing, Signature, TemplateKind};
use crate::syntax::{children, named, one_line, part};
use crate::usage::{self, Access};

use super::condition::Condition;
use super::description::{ArgumentValue, LaunchArgument, Step, WrapperLaunch};
use super::dtypes::c_name;
use super::functions::{Callee, callee};
use super::integer::Integer;
use super::reader::Reader;
use super::real::Real;
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::{Element, Value};

/// Maximum number of steps of a launch block.
const MOST_STEPS: usize = 256;

/// The template arguments of a launch.
#[derive(Default)]
struct Template {
    /// In the order of the kernel's template parameters, as a launch block writes them.
    written: Vec<String>,
    /// The dtypes of the parameters that are types.
    types: BTreeMap<String, Dtype>,
}

/// A parameter of a kernel.
struct Own<'all> {
    parameter: &'all Parameter,
    dtype: Option<Dtype>,
    access: Access,
}

impl Reader<'_> {
    /// The kernel of the file with this name, with or without namespaces and template arguments.
    pub(super) fn kernel(&self, written: &str) -> Option<&Signature> {
        let path = written.split('<').next().unwrap_or(written).trim().trim_start_matches("::");
        let name = path.rsplit("::").next().unwrap_or(path);
        let exact = self.signatures.iter().find(|signature| signature.path() == path);
        exact.or_else(|| self.signatures.iter().find(|signature| signature.name == name))
    }

    pub(super) fn launch(&mut self, text: Text<'_>, node: Node<'_>) -> Result<(), Refusal> {
        let unknown = || text.refused(node, Why::UnknownKernel);
        if self.steps.len() >= MOST_STEPS {
            return Err(text.refused(node, Why::TooLarge));
        }
        let function = part(node, "function").ok_or_else(unknown)?;
        let callee = callee(text, function).ok_or_else(unknown)?;
        let (path, stored) = match self.frame.local(&callee.path).map(|local| &local.value) {
            Some(Value::Kernel(written)) => (written.clone(), Some(written.clone())),
            Some(_) | None => (callee.path.clone(), None),
        };
        let signature = self.kernel(&path).cloned().ok_or_else(unknown)?;
        let configuration = children(node)
            .into_iter()
            .find(|child| child.kind() == "kernel_call_syntax")
            .ok_or_else(unknown)?;
        let (grid, block, shared) = self.configuration(text, configuration)?;
        let list = part(node, "arguments").map_or_else(Vec::new, named);
        if list.len() != signature.parameters.len() {
            let parameters = signature.parameters.len();
            return Err(text.refused(node, Why::ArgumentCount { parameters }));
        }
        let mut values = Vec::new();
        for argument in &list {
            values.push(self.value(text, *argument)?);
        }
        let template = match stored {
            Some(written) => self.stored_template(&written, &signature),
            None => self.template(text, &callee, &signature)?,
        };
        let template = self.deduced(text, node, template, &signature, &values)?;
        let accesses = self.accesses(&signature);
        let mut arguments = Vec::new();
        for ((parameter, value), node) in signature.parameters.iter().zip(values).zip(&list) {
            let bound = template.types.get(&parameter.type_name).copied();
            let dtype = bound.or_else(|| self.named_dtype(&parameter.type_name));
            let access = parameter.name.as_ref().and_then(|name| accesses.get(name).copied());
            let own = Own { parameter, dtype, access: access.unwrap_or_default() };
            arguments.push(self.argument(text, *node, &own, value)?);
        }
        self.steps.push(Step::Launch(Box::new(WrapperLaunch {
            kernel: signature.path(),
            template_arguments: template.written,
            grid,
            block,
            shared,
            arguments,
            triton: None,
            place: text.place(node),
        })));
        Ok(())
    }

    /// Grid, block and dynamic shared memory; the stream is Lightbench's.
    fn configuration(
        &mut self,
        text: Text<'_>,
        configuration: Node<'_>,
    ) -> Result<([Integer; 3], [Integer; 3], Integer), Refusal> {
        let parts = named(configuration);
        let missing = || text.refused(configuration, Why::Syntax);
        let mut extents = Vec::new();
        for node in parts.iter().take(2) {
            let value = self.value(text, *node)?;
            let found = self.extents_of(text, *node, vec![value])?;
            extents.push(found.into_extents().ok_or_else(missing)?);
        }
        let shared = match parts.get(2) {
            Some(node) => {
                let value = self.value(text, *node)?;
                self.integer(text, *node, value)?
            }
            None => Integer::Literal(0),
        };
        let mut extents = extents.into_iter();
        match (extents.next(), extents.next()) {
            (Some(grid), Some(block)) => Ok((grid, block, shared)),
            _ => Err(missing()),
        }
    }

    /// The template arguments that a launch writes.
    fn template(
        &mut self,
        text: Text<'_>,
        callee: &Callee<'_, '_>,
        signature: &Signature,
    ) -> Result<Template, Refusal> {
        let mut template = Template::default();
        for (argument, parameter) in callee.template.iter().zip(&signature.templates) {
            let name = parameter.name.clone().unwrap_or_default();
            let written = one_line(text.of(*argument));
            let dtype = if parameter.kind == TemplateKind::Type {
                self.named_dtype(&written)
            } else {
                None
            };
            if let Some(dtype) = dtype {
                let own =
                    c_name(dtype).ok_or_else(|| text.refused(*argument, Why::UnknownDtype))?;
                template.types.insert(name, dtype);
                template.written.push(own.to_owned());
            } else if parameter.kind == TemplateKind::Type {
                template.written.push(written);
            } else {
                let value = self.template_value(text, *argument, &written)?;
                template.written.push(value);
            }
        }
        Ok(template)
    }

    /// An integer or a boolean that every call passes.
    fn template_value(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        written: &str,
    ) -> Result<String, Refusal> {
        // The grammar reads a name among template arguments as a type.
        let value = match node.kind() {
            "type_descriptor" => self.name(text, node, written)?,
            _ => self.value(text, node)?,
        };
        if let Some(literal) = value.literal() {
            return Ok(literal.to_string());
        }
        if let Value::Boolean(Condition::Always(value)) = value {
            return Ok(value.to_string());
        }
        Err(text.refused(node, Why::TemplateArgument { parameter: written.to_owned() }))
    }

    /// The template arguments of a kernel that a local holds: `auto kernel = softmax<float, 256>`.
    fn stored_template(&self, written: &str, signature: &Signature) -> Template {
        let mut template = Template::default();
        let inside = written.split_once('<').map_or("", |(_, rest)| rest.trim_end_matches('>'));
        let arguments = inside.split(',').map(str::trim).filter(|argument| !argument.is_empty());
        for (argument, parameter) in arguments.zip(&signature.templates) {
            let dtype = self.named_dtype(argument).filter(|_| parameter.kind == TemplateKind::Type);
            if let (Some(dtype), Some(name)) = (dtype, &parameter.name) {
                template.types.insert(name.clone(), dtype);
            }
            let number = self.main.integer(argument).map(|value| value.to_string());
            let own = dtype.and_then(c_name).map(str::to_owned).or(number);
            template.written.push(own.unwrap_or_else(|| argument.to_owned()));
        }
        template
    }

    /// The template arguments with those that the compiler deduces from the arguments.
    fn deduced(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        mut template: Template,
        signature: &Signature,
        values: &[Value],
    ) -> Result<Template, Refusal> {
        for parameter in signature.templates.iter().skip(template.written.len()) {
            let name = parameter.name.clone().unwrap_or_default();
            let from_argument = signature.parameters.iter().zip(values).find_map(|(own, value)| {
                let element = Element::Of(value.pointee()?);
                (own.type_name == name && !name.is_empty()).then_some(element)
            });
            let Some(element) = from_argument.filter(|_| parameter.kind == TemplateKind::Type)
            else {
                if parameter.default.is_some() {
                    break;
                }
                return Err(text.refused(node, Why::TemplateArgument { parameter: name }));
            };
            let dtype = self.decided(element);
            let own = c_name(dtype).ok_or_else(|| text.refused(node, Why::UnknownDtype))?;
            template.types.insert(name, dtype);
            template.written.push(own.to_owned());
        }
        Ok(template)
    }

    /// What the kernel does with the memory behind its pointers.
    fn accesses(&self, signature: &Signature) -> BTreeMap<String, Access> {
        let names: BTreeSet<&str> =
            signature.parameters.iter().filter_map(|each| each.name.as_deref()).collect();
        usage::read(self.main, signature.body.clone(), &names, &BTreeSet::new()).accesses
    }

    /// The argument for a parameter of the kernel, whose type is `dtype` if it is one of numbers.
    fn argument(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        own: &Own<'_>,
        value: Value,
    ) -> Result<LaunchArgument, Refusal> {
        let Own { parameter, dtype, access } = *own;
        let unsupported = || {
            text.refused(node, Why::UnsupportedParameter { parameter: parameter.written.clone() })
        };
        let value = match parameter.passing {
            Passing::Pointer | Passing::ConstPointer => {
                let value = self.pointer(text, node, "", value)?;
                match (value.pointee(), value == Value::Null) {
                    (Some(tensor), _) => {
                        if let Some(dtype) = dtype
                            && self.dtype_of(tensor).is_none()
                        {
                            self.set_dtype(text, node, tensor, dtype)?;
                        }
                        let may_write = parameter.passing == Passing::Pointer;
                        ArgumentValue::Tensor {
                            tensor,
                            writes: may_write && (access.written || access.escapes),
                            reads: access.read || access.escapes || !may_write,
                        }
                    }
                    (None, true) => ArgumentValue::Null,
                    (None, false) => return Err(text.refused(node, Why::NotAPointer)),
                }
            }
            Passing::Value => self.scalar(text, node, dtype.ok_or_else(unsupported)?, value)?,
            Passing::PointerToPointer
            | Passing::Reference
            | Passing::Function
            | Passing::Variadic => return Err(unsupported()),
        };
        Ok(LaunchArgument { parameter: parameter.name.clone().unwrap_or_default(), value })
    }

    fn scalar(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        dtype: Dtype,
        value: Value,
    ) -> Result<ArgumentValue, Refusal> {
        if dtype == Dtype::Bool {
            if let Value::BooleanParameter(position) = value {
                return Ok(ArgumentValue::BooleanParameter(position));
            }
            return match self.condition_of(text, node, value)? {
                Condition::Always(value) => Ok(ArgumentValue::Boolean(value)),
                Condition::Compare(..)
                | Condition::And(..)
                | Condition::Or(..)
                | Condition::Not(_)
                | Condition::SameShape(..)
                | Condition::HasDtype(..)
                | Condition::SameDtype(..)
                | Condition::Given
                | Condition::Unknown => Err(text.refused(node, Why::Branch)),
            };
        }
        if dtype.is_float() {
            let real = self.real(text, node, value)?;
            if let Real::Integer(integer) = real {
                return Ok(ArgumentValue::Integer(integer, dtype));
            }
            return Ok(ArgumentValue::Real(real, dtype));
        }
        Ok(ArgumentValue::Integer(self.integer(text, node, value)?, dtype))
    }

    /// The tensor that an address or a cast of one points to; an address without a type takes that of the cast.
    pub(super) fn pointer(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        type_name: &str,
        value: Value,
    ) -> Result<Value, Refusal> {
        if let Some(tensor) = value.pointee() {
            if self.dtype_of(tensor).is_none()
                && let Some(dtype) = self.named_dtype(type_name)
            {
                self.set_dtype(text, node, tensor, dtype)?;
            }
            return Ok(value);
        }
        if value == Value::Null || value.literal() == Some(0) {
            return Ok(Value::Null);
        }
        if value == Value::HostOnly {
            return Ok(value);
        }
        Err(text.refused(node, Why::NotAPointer))
    }
}
