//! Allocations: `torch::empty_like(x)`, `torch::zeros({rows, cols}, x.options())`, and their options.

use lightbench_primitives::dtype::Dtype;
use tree_sitter::Node;

use super::description::{AllocatedShape, Step};
use super::integer::{Integer, Operator};
use super::reader::Reader;
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::{Element, TensorView, Value};

/// What the memory holds after an allocation.
#[derive(Clone, Copy)]
enum Content {
    Undefined,
    Number(f64),
    /// The argument with this position.
    Argument(usize),
}

impl Reader<'_> {
    /// The tensor that a function of PyTorch allocates; `None` if it is none that allocates.
    pub(super) fn allocation(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        name: &str,
        arguments: &[Node<'_>],
    ) -> Result<Option<Value>, Refusal> {
        let (content, is_like) = match name {
            "empty" => (Content::Undefined, false),
            "zeros" => (Content::Number(0.0), false),
            "ones" => (Content::Number(1.0), false),
            "full" => (Content::Argument(1), false),
            "empty_like" => (Content::Undefined, true),
            "zeros_like" => (Content::Number(0.0), true),
            "ones_like" => (Content::Number(1.0), true),
            "full_like" => (Content::Argument(1), true),
            _ => return Ok(None),
        };
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(text, *argument)?);
        }
        let refused = || text.refused(node, Why::Allocation);
        let first = values.first().ok_or_else(refused)?;
        let (shape, base) = if is_like {
            let view = first.clone().into_tensor().ok_or_else(refused)?;
            (self.shape(&view), Some(Element::Of(view.tensor)))
        } else {
            (self.written_shape(first).ok_or_else(refused)?, None)
        };
        let options = values.iter().skip(1).find_map(Value::options);
        let element = options.flatten().or(base).unwrap_or(Element::Known(Dtype::F32));
        let tensor = self.allocated(shape, element);
        let fill = match content {
            Content::Undefined => None,
            Content::Number(value) => Some(value),
            Content::Argument(position) => {
                let value = values.get(position).and_then(constant).ok_or_else(refused)?;
                Some(value)
            }
        };
        self.steps.extend(fill.map(|value| Step::Fill { tensor, value }));
        Ok(Some(Value::Tensor(TensorView { tensor, shape: None })))
    }

    /// `x.new_empty({rows})`, `x.new_zeros(…)`.
    pub(super) fn allocation_by(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        view: &TensorView,
        arguments: &[Value],
        fill: Option<f64>,
    ) -> Result<Value, Refusal> {
        let shape = arguments.first().and_then(|first| self.written_shape(first));
        let shape = shape.ok_or_else(|| text.refused(node, Why::Allocation))?;
        let options = arguments.iter().find_map(|value| value.options().flatten());
        let tensor = self.allocated(shape, options.unwrap_or(Element::Of(view.tensor)));
        self.steps.extend(fill.map(|value| Step::Fill { tensor, value }));
        Ok(Value::Tensor(TensorView { tensor, shape: None }))
    }

    fn allocated(&mut self, shape: AllocatedShape, element: Element) -> usize {
        match element {
            Element::Known(dtype) => self.allocate(shape, Some(dtype), None),
            Element::Of(tensor) => self.allocate(shape, None, Some(tensor)),
        }
    }

    /// The shape that an argument lists.
    fn written_shape(&self, value: &Value) -> Option<AllocatedShape> {
        match value {
            Value::Integer(size) => Some(AllocatedShape::Sizes(vec![size.clone()])),
            Value::Sizes(view) => Some(self.shape(view)),
            Value::List(values) => {
                let sizes = values.iter().map(|value| value.clone().into_integer());
                Some(AllocatedShape::Sizes(sizes.collect::<Option<_>>()?))
            }
            Value::Real(_)
            | Value::Boolean(_)
            | Value::BooleanParameter(_)
            | Value::Tensor(_)
            | Value::Pointer(_)
            | Value::Null
            | Value::Extents(_)
            | Value::Element(_)
            | Value::Options(_)
            | Value::Kernel(_)
            | Value::HostOnly
            | Value::Unset => None,
        }
    }

    /// The same memory under another shape: `x.view({-1, cols})`.
    pub(super) fn reshaped(&self, view: &TensorView, arguments: &[Value]) -> Option<Value> {
        let one = match arguments {
            [one @ (Value::List(_) | Value::Sizes(_))] => one.clone(),
            several => Value::List(several.to_vec()),
        };
        let mut shape = self.written_shape(&one)?;
        if let AllocatedShape::Sizes(sizes) = &mut shape {
            let rest = Integer::Literal(-1);
            let others = sizes.iter().filter(|size| **size != rest).cloned();
            let others = Integer::product(others)?;
            let elements = self.elements(view)?;
            let missing = Integer::combined(Operator::Divide, elements, others)?;
            for size in sizes.iter_mut().filter(|size| **size == rest) {
                *size = missing.clone();
            }
        }
        Some(Value::Tensor(TensorView { tensor: view.tensor, shape: Some(shape) }))
    }
}

/// The number that every call passes.
pub(super) fn constant(value: &Value) -> Option<f64> {
    match value {
        Value::Real(real) => real.constant(),
        Value::Integer(integer) => super::real::Real::Integer(integer.clone()).constant(),
        Value::Boolean(_)
        | Value::BooleanParameter(_)
        | Value::Tensor(_)
        | Value::Pointer(_)
        | Value::Null
        | Value::Extents(_)
        | Value::Sizes(_)
        | Value::List(_)
        | Value::Element(_)
        | Value::Options(_)
        | Value::Kernel(_)
        | Value::HostOnly
        | Value::Unset => None,
    }
}
