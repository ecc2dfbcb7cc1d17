//! Calls of functions: PyTorch's, CUDA's, the language's, and those of the file, which are followed.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::source::Source;
use crate::syntax::{children, named, part};

use super::checks::compared_by;
use super::description::NoteKind;
use super::expressions::ceiling;
use super::functions::{
    Callee, callee, kind_of, macro_parts, parameter_name, parameters, type_text,
};
use super::integer::{Integer, Operator};
use super::reader::Reader;
use super::real::{Real, RealFunction};
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::{Flow, Frame, Kind, Local, Value};

/// The longest expansion of a macro.
const LONGEST_EXPANSION: usize = 8192;

impl Reader<'_> {
    /// The value of a call.
    pub(super) fn call(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Value, Refusal> {
        let unknown = || text.refused(node, Why::UnknownCall);
        if children(node).iter().any(|child| child.kind() == "kernel_call_syntax") {
            self.launch(text, node)?;
            return Ok(Value::HostOnly);
        }
        let function = part(node, "function").ok_or_else(unknown)?;
        let arguments = part(node, "arguments").map_or_else(Vec::new, named);
        match function.kind() {
            "field_expression" => self.method(text, node, function, &arguments),
            "primitive_type" | "sized_type_specifier" => {
                self.function_cast(text, node, text.of(function), &arguments)
            }
            _ => {
                let callee = callee(text, function).ok_or_else(unknown)?;
                self.free_call(text, node, &callee, &arguments)
            }
        }
    }

    /// `int(x)`.
    fn function_cast(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        type_name: &str,
        arguments: &[Node<'_>],
    ) -> Result<Value, Refusal> {
        let [only] = arguments else { return Err(text.refused(node, Why::UnknownCall)) };
        let value = self.value(text, *only)?;
        self.cast(text, node, type_name, value)
    }

    fn free_call(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        callee: &Callee<'_, '_>,
        arguments: &[Node<'_>],
    ) -> Result<Value, Refusal> {
        let name = callee.name;
        let is_of_torch =
            ["torch::", "at::", "c10::", "std::"].iter().any(|own| callee.path.starts_with(own));
        if !is_of_torch {
            if let Some(function) = self.functions.get(name).copied() {
                return self.follow(text, node, function, callee, arguments);
            }
            if let Some(value) = self.expanded(text, node, name, arguments)? {
                return Ok(value);
            }
        }
        if let Some(value) = self.checks(text, node, name, arguments)? {
            return Ok(value);
        }
        if name.starts_with("AT_DISPATCH_") {
            return self.dispatch(text, node, name, arguments);
        }
        if is_of_torch && let Some(value) = self.allocation(text, node, name, arguments)? {
            return Ok(value);
        }
        if let Some(value) = self.arithmetic(text, node, callee, arguments)? {
            return Ok(value);
        }
        let why = if is_of_torch && !callee.path.starts_with("std::") {
            Why::TorchOperator
        } else {
            Why::UnknownCall
        };
        Err(text.refused(node, why))
    }

    /// Checks, and calls of the runtime that change nothing that a launch block states.
    fn checks(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        name: &str,
        arguments: &[Node<'_>],
    ) -> Result<Option<Value>, Refusal> {
        if let Some(symbol) = compared_by(name) {
            return self.comparing_check(text, node, symbol, arguments).map(Some);
        }
        match name {
            "TORCH_CHECK"
            | "AT_ASSERT"
            | "AT_ASSERTM"
            | "TORCH_INTERNAL_ASSERT"
            | "assert"
            | "TORCH_CHECK_VALUE"
            | "TORCH_CHECK_TYPE"
            | "TVM_FFI_CHECK"
            | "TVM_FFI_ICHECK" => {
                return self.check(text, node, arguments).map(Some);
            }
            "AT_ERROR" => return Err(text.refused(node, Why::AlwaysFails)),
            "cudaFuncSetAttribute" | "cudaFuncSetCacheConfig" => {
                self.note(text, node, NoteKind::SharedMemoryLimit);
            }
            "C10_CUDA_KERNEL_LAUNCH_CHECK"
            | "cudaGetLastError"
            | "cudaPeekAtLastError"
            | "getCurrentCUDAStream"
            | "getDefaultCUDAStream"
            | "cudaGetErrorString"
            | "cudaGetDevice"
            | "cudaSetDevice"
            | "cudaDeviceGetAttribute"
            | "device_of"
            | "cudaGetDeviceProperties"
            | "getCurrentDeviceProperties"
            | "printf"
            | "fprintf"
            | "TORCH_WARN"
            | "AT_CUDA_KERNEL_LAUNCH_CHECK"
            | "THCudaCheck"
            | "TVMFFIEnvGetStream" => {
                self.note(text, node, NoteKind::HostOnly);
            }
            _ if name.ends_with("CUDA_CHECK") || name == "CHECK_CUDA_ERROR" => {
                for argument in arguments {
                    self.value(text, *argument)?;
                }
            }
            _ if name.contains("ynchronize") => {
                return Err(text.refused(node, Why::Synchronisation));
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::HostOnly))
    }

    /// Casts, functions of numbers, `dim3`, and options of allocations.
    fn arithmetic(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        callee: &Callee<'_, '_>,
        arguments: &[Node<'_>],
    ) -> Result<Option<Value>, Refusal> {
        let unknown = || text.refused(node, Why::UnknownCall);
        if matches!(callee.name, "static_cast" | "reinterpret_cast" | "const_cast") {
            let kind = callee.template.first().ok_or_else(unknown)?;
            let value = self.function_cast(text, node, text.of(*kind), arguments)?;
            return Ok(Some(value));
        }
        let is_type = callee.template.is_empty()
            && (kind_of(callee.name).is_some_and(|kind| kind != Kind::Extents)
                || self.frame.types.contains_key(callee.name));
        if is_type {
            return self.function_cast(text, node, callee.name, arguments).map(Some);
        }
        let known = matches!(
            callee.name,
            "min"
                | "max"
                | "fmin"
                | "fmax"
                | "ceil"
                | "ceilf"
                | "floor"
                | "floorf"
                | "ceil_div"
                | "dim3"
                | "infinity"
                | "TensorOptions"
                | "dtype"
                | "device"
                | "Device"
                | "IntArrayRef"
                | "pow"
        ) || RealFunction::from_name(callee.name).is_some();
        if !known {
            return Ok(None);
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(text, *argument)?);
        }
        self.arithmetic_of(text, node, callee.name, values).map(Some)
    }

    fn arithmetic_of(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        name: &str,
        mut values: Vec<Value>,
    ) -> Result<Value, Refusal> {
        let not_integer = || text.refused(node, Why::NotAnInteger);
        match name {
            "dim3" => return self.extents_of(text, node, values),
            "infinity" => return Ok(Value::Real(Real::Literal(f64::INFINITY))),
            "TensorOptions" | "device" => return Ok(Value::Options(None)),
            "Device" => return Ok(Value::HostOnly),
            "IntArrayRef" => return Ok(values.pop().unwrap_or(Value::List(Vec::new()))),
            "dtype" => {
                return match values.as_slice() {
                    [Value::Element(element)] => Ok(Value::Options(Some(*element))),
                    _ => Err(text.refused(node, Why::UnknownDtype)),
                };
            }
            _ => {}
        }
        if let (Some(function), [_]) = (RealFunction::from_name(name), values.as_slice()) {
            let operand = values.pop().unwrap_or(Value::Unset);
            let operand = self.real(text, node, operand)?;
            return Ok(Value::Real(Real::Call(function, Box::new(operand))));
        }
        let mut values = values.into_iter();
        match (name, values.next(), values.next()) {
            ("ceil" | "ceilf", Some(Value::Real(real)), None) => {
                ceiling(&real).map(Value::Integer).ok_or_else(not_integer)
            }
            ("ceil" | "ceilf" | "floor" | "floorf", Some(value), None) => {
                self.integer(text, node, value).map(Value::Integer)
            }
            ("min" | "max" | "ceil_div" | "fmin" | "fmax", Some(left), Some(right)) => {
                let operator = match name {
                    "min" | "fmin" => Operator::Minimum,
                    "max" | "fmax" => Operator::Maximum,
                    _ => Operator::CeilingDivide,
                };
                let (left, right) =
                    (self.integer(text, node, left)?, self.integer(text, node, right)?);
                Integer::combined(operator, left, right).map(Value::Integer).ok_or_else(not_integer)
            }
            _ => Err(text.refused(node, Why::UnknownCall)),
        }
    }

    /// Reads a function of the file with these arguments.
    fn follow(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        function: Node<'_>,
        callee: &Callee<'_, '_>,
        arguments: &[Node<'_>],
    ) -> Result<Value, Refusal> {
        let main = Text { source: self.main, at: text.at };
        let mut frame = Frame::new();
        self.bind_template(text, function, callee, &mut frame)?;
        let inputs = parameters(function);
        for (index, input) in inputs.iter().enumerate() {
            let value = match (arguments.get(index), part(*input, "default_value")) {
                (Some(argument), _) => self.value(text, *argument)?,
                (None, Some(default)) => self.value(main, default)?,
                (None, None) => return Err(text.refused(node, Why::UnknownCall)),
            };
            let kind = kind_of(&type_text(self.main, *input)).unwrap_or(Kind::Other);
            let value = match (kind, value) {
                (Kind::Integer, value @ Value::Real(_)) => {
                    Value::Integer(self.integer(text, node, value)?)
                }
                (Kind::Real, value @ Value::Integer(_)) => {
                    Value::Real(self.real(text, node, value)?)
                }
                (_, value) => value,
            };
            if let Some(name) = parameter_name(self.main, *input) {
                frame.declare(name, Local { kind, value });
            }
        }
        let body = part(function, "body").ok_or_else(|| text.refused(node, Why::UnknownCall))?;
        let outer = std::mem::replace(&mut self.frame, frame);
        let result = self.nested(text, node, |reader| reader.block(main, body));
        self.frame = outer;
        Ok(result?.unwrap_or(Value::HostOnly))
    }

    /// The template parameters of a function: `launch<scalar_t, 4>(…)`.
    fn bind_template(
        &mut self,
        text: Text<'_>,
        function: Node<'_>,
        callee: &Callee<'_, '_>,
        frame: &mut Frame,
    ) -> Result<(), Refusal> {
        frame.types = self.frame.types.clone();
        let outer = function.parent().filter(|outer| outer.kind() == "template_declaration");
        let list = outer.and_then(|outer| part(outer, "parameters")).map_or_else(Vec::new, named);
        for (parameter, argument) in list.iter().zip(&callee.template) {
            let Some(name) = crate::kernel::template_name(self.main, *parameter) else { continue };
            if let Some(dtype) = self.named_dtype(text.of(*argument)) {
                frame.types.insert(name.to_owned(), dtype);
            } else {
                let value = self.value(text, *argument)?;
                frame.declare(name, Local { kind: Kind::Other, value });
            }
        }
        Ok(())
    }

    /// The value of a macro of the file; `None` if the macro is not defined.
    fn expanded(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        name: &str,
        arguments: &[Node<'_>],
    ) -> Result<Option<Value>, Refusal> {
        let Some(definition) = self.macros.get(name).copied() else { return Ok(None) };
        let (parameters, body) = macro_parts(self.main, definition);
        let arguments: Vec<&str> = arguments.iter().map(|argument| text.of(*argument)).collect();
        let values: BTreeMap<&str, &str> = parameters.into_iter().zip(arguments).collect();
        let body = substituted(body, &values);
        if body.len() > LONGEST_EXPANSION {
            return Err(text.refused(node, Why::TooLarge));
        }
        let function = format!("void expansion() {{ {body}; }}");
        let parsed = Source::parse(&function);
        let source = parsed.map_err(|_unreadable| text.refused(node, Why::Syntax))?;
        let inner = Text { source: &source, at: Some(text.place(node)) };
        let block = named(source.root()).into_iter().find_map(|item| part(item, "body"));
        let block = block.ok_or_else(|| text.refused(node, Why::Syntax))?;
        self.nested(text, node, |reader| reader.expansion(inner, block)).map(Some)
    }

    /// The value of the only expression of an expansion, or its statements' effect.
    fn expansion(&mut self, text: Text<'_>, block: Node<'_>) -> Result<Value, Refusal> {
        let empty =
            |node: &Node<'_>| node.kind() == "expression_statement" && named(*node).is_empty();
        let statements: Vec<Node<'_>> =
            named(block).into_iter().filter(|node| !empty(node)).collect();
        let [only] = statements.as_slice() else {
            return match self.statements(text, block)? {
                Flow::Next => Ok(Value::HostOnly),
                Flow::Return(_) => Err(text.refused(block, Why::Branch)),
            };
        };
        match only.kind() {
            "expression_statement" => match named(*only).first() {
                Some(expression) if expression.kind() != "assignment_expression" => {
                    self.value(text, *expression)
                }
                Some(_) | None => self.statements(text, *only).map(|_flow| Value::HostOnly),
            },
            // `do { … } while (0)` makes one statement of several.
            "do_statement" if ends_at_once(text, *only) => {
                let body = part(*only, "body").unwrap_or(*only);
                self.scope(text, body).map(|_flow| Value::HostOnly)
            }
            _ => self.statements(text, *only).map(|_flow| Value::HostOnly),
        }
    }
}

fn ends_at_once(text: Text<'_>, statement: Node<'_>) -> bool {
    let condition = part(statement, "condition").map_or("", |condition| text.of(condition));
    matches!(condition.trim_matches(['(', ')', ' ']), "0" | "false")
}

/// A replacement text with arguments in place of parameters; `#x` becomes an empty string.
fn substituted(body: &str, values: &BTreeMap<&str, &str>) -> String {
    let mut result = String::new();
    let mut rest = body;
    let is_name = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    while let Some(first) = rest.chars().next() {
        if result.len() > LONGEST_EXPANSION {
            break;
        }
        let length = if is_name(first) {
            rest.find(|letter| !is_name(letter)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        match (first, values.get(token)) {
            ('#', _) if rest.starts_with('#') => {
                result.truncate(result.trim_end().len());
                rest = rest[1..].trim_start();
            }
            ('#', _) => {
                let name = rest.trim_start();
                let end = name.find(|letter| !is_name(letter)).unwrap_or(name.len());
                rest = &name[end..];
                result.push_str("\"\"");
            }
            ('\\', _) => {}
            (_, Some(value)) => result.push_str(value),
            (_, None) => result.push_str(token),
        }
    }
    result
}
