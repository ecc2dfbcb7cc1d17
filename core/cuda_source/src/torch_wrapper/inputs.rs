//! The parameters of a wrapper.

use tree_sitter::Node;

use crate::syntax::part;

use super::condition::Condition;
use super::description::{ParameterKind, TensorOrigin, WrapperParameter};
use super::functions::{is_tensor, kind_of, parameter_name, parameters, type_text};
use super::integer::{Fact, Integer};
use super::reader::{KnownInput, Reader, TensorFacts};
use super::real::Real;
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::{Kind, Local, TensorView, Value};

impl Reader<'_> {
    /// Declares the parameters of the wrapper.
    pub(super) fn inputs(&mut self, text: Text<'_>, function: Node<'_>) -> Result<(), Refusal> {
        for (position, node) in parameters(function).into_iter().enumerate() {
            let name = parameter_name(text.source, node)
                .ok_or_else(|| text.refused(node, Why::UnsupportedInput))?;
            self.input(text, node, position, name)?;
        }
        Ok(())
    }

    fn input(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        position: usize,
        name: &str,
    ) -> Result<(), Refusal> {
        let kind = type_text(text.source, node);
        let known = self.known.inputs.get(&position).copied();
        let default = part(node, "default_value").map(|node| text.of(node).trim().to_owned());
        if is_tensor(&kind) {
            self.tensor_input(position, name, known);
            return Ok(());
        }
        let (parameter, kind, value) = match kind_of(&kind) {
            Some(Kind::Integer) => {
                let default = default.and_then(|text| text.parse().ok());
                let fixed =
                    if let Some(KnownInput::Integer(value)) = known { Some(value) } else { None };
                let value =
                    fixed.map_or(Integer::Fact(Fact::Parameter(position)), Integer::Literal);
                (ParameterKind::Integer(fixed.or(default)), Kind::Integer, Value::Integer(value))
            }
            Some(Kind::Real) => {
                let default = default.and_then(|text| text.trim_end_matches('f').parse().ok());
                let fixed = match known {
                    Some(KnownInput::Real(value)) => Some(value),
                    #[expect(clippy::cast_precision_loss, reason = "Python passes 1 for 1.0")]
                    Some(KnownInput::Integer(value)) => Some(value as f64),
                    Some(
                        KnownInput::Tensor { .. } | KnownInput::Boolean(_) | KnownInput::Absent,
                    )
                    | None => None,
                };
                let value = Value::Real(Real::Parameter(position));
                (ParameterKind::Real(fixed.or(default)), Kind::Real, value)
            }
            Some(Kind::Boolean) => {
                let default = default.and_then(|text| text.parse().ok());
                let fixed =
                    if let Some(KnownInput::Boolean(value)) = known { Some(value) } else { None };
                let value = match fixed.or(default) {
                    Some(value) => Value::Boolean(Condition::Always(value)),
                    None => Value::BooleanParameter(position),
                };
                (ParameterKind::Boolean(fixed.or(default)), Kind::Boolean, value)
            }
            Some(Kind::Extents | Kind::Other) | None => {
                return Err(text.refused(node, Why::UnsupportedInput));
            }
        };
        self.parameters.push(WrapperParameter { name: name.to_owned(), kind: parameter });
        self.frame.declare(name, Local { kind, value });
        Ok(())
    }

    fn tensor_input(&mut self, position: usize, name: &str, known: Option<KnownInput>) {
        let (dtype, rank) = match known {
            Some(KnownInput::Tensor { dtype, rank }) => (dtype, rank),
            Some(
                KnownInput::Integer(_)
                | KnownInput::Real(_)
                | KnownInput::Boolean(_)
                | KnownInput::Absent,
            )
            | None => (None, None),
        };
        let tensor = self.tensors.len();
        self.tensors.push(TensorFacts {
            name: name.to_owned(),
            origin: TensorOrigin::Parameter(position),
            dtype,
            like: None,
            rank,
        });
        let kind = ParameterKind::Tensor(tensor);
        self.parameters.push(WrapperParameter { name: name.to_owned(), kind });
        let value = if known == Some(KnownInput::Absent) {
            Value::Null
        } else {
            Value::Tensor(TensorView { tensor, shape: None })
        };
        self.frame.declare(name, Local { kind: Kind::Other, value });
    }
}
