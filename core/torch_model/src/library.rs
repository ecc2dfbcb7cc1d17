//! Calls of functions that are not in the file: Python's own, `math`, and PyTorch.

use std::rc::Rc;

use crate::arguments::Arguments;
use crate::dimension::Dimension;
use crate::evaluate::real;
use crate::interpreter::Interpreter;
use crate::modules;
use crate::operations;
use crate::trace::Step;
use crate::value::{Origin, Tensor, Value};

impl Interpreter<'_> {
    /// Calls a function by its full name.
    pub(crate) fn library(&mut self, path: &str, arguments: &Arguments) -> Step<Value> {
        if let Some(name) = path.strip_prefix("builtins.") {
            return self.built_in(name, arguments);
        }
        if let Some(name) = path.strip_prefix("math.") {
            return self.mathematics(name, arguments);
        }
        if let Some(name) = path.strip_prefix("torch.nn.functional.") {
            return operations::call(&mut self.trace, name, arguments);
        }
        if path == "torch.nn.Parameter" || path == "torch.nn.parameter.Parameter" {
            let tensor = arguments.tensor(&self.trace, 0, "data")?;
            return Ok(Value::Tensor(Tensor { origin: Origin::Parameter, ..tensor.clone() }));
        }
        if path.starts_with("torch.nn.init.") || path == "torch.manual_seed" {
            return Ok(Value::None);
        }
        if let Some(name) =
            path.strip_prefix("torch.nn.").or_else(|| path.strip_prefix("torch.nn.modules."))
        {
            return match modules::construct(&mut self.trace, name, arguments)? {
                Some(module) => Ok(Value::Module(Rc::new(module))),
                None => self
                    .trace
                    .refuse(format!("the module `nn.{name}` is not in the table of modules")),
            };
        }
        match path.strip_prefix("torch.") {
            Some(name) => {
                let name = name.rsplit('.').next().unwrap_or(name);
                operations::call(&mut self.trace, name, arguments)
            }
            None => self.trace.refuse(format!("`{path}` is not known")),
        }
    }

    fn mathematics(&mut self, name: &str, arguments: &Arguments) -> Step<Value> {
        let Some(value) = arguments.get(0, "x").and_then(real) else {
            return self.trace.refuse(format!("`math.{name}` of anything but a number"));
        };
        let function: fn(f64) -> f64 = match name {
            "sqrt" => f64::sqrt,
            "exp" => f64::exp,
            "log" if arguments.positional.len() == 1 => f64::ln,
            "log2" => f64::log2,
            "sin" => f64::sin,
            "cos" => f64::cos,
            "tanh" => f64::tanh,
            "prod" | "ceil" | "floor" | "log" | "pow" => {
                return self.trace.refuse(format!("`math.{name}`"));
            }
            _ => return self.trace.refuse(format!("`math.{name}` is not known")),
        };
        Ok(Value::Real(value.map(function)))
    }

    fn built_in(&mut self, name: &str, arguments: &Arguments) -> Step<Value> {
        match (name, arguments.positional.as_slice()) {
            ("range", _) => self.range(arguments),
            ("len", [Value::Sequence(all)]) => {
                Ok(Value::Integer(Dimension::from(all.len() as i128)))
            }
            ("len", [Value::Tensor(tensor)]) if !tensor.shape.is_empty() => {
                Ok(Value::Integer(tensor.shape[0].clone()))
            }
            ("tuple" | "list", [Value::Sequence(all)]) => Ok(Value::Sequence(all.clone())),
            ("int", [Value::Integer(size)]) => Ok(Value::Integer(size.clone())),
            ("float", [Value::Text(text)]) => Ok(Value::Real(match text.as_str() {
                "inf" => Some(f64::INFINITY),
                "-inf" => Some(f64::NEG_INFINITY),
                _ => None,
            })),
            ("float", [number]) => match real(number) {
                Some(value) => Ok(Value::Real(value)),
                None => self.trace.refuse(format!("`float` of {}", number.kind())),
            },
            ("isinstance", [Value::Integer(_), Value::Library(kind)]) => {
                Ok(Value::Boolean(Some(kind == "builtins.int")))
            }
            ("isinstance", [Value::Sequence(_), Value::Library(kind)]) => {
                Ok(Value::Boolean(Some(kind == "builtins.tuple" || kind == "builtins.list")))
            }
            ("print", _) => Ok(Value::None),
            _ => self.trace.refuse(format!("`{name}` is not known here")),
        }
    }
}
