//! Methods of tensors, sizes, options, and of what only the host uses.

use tree_sitter::Node;

use crate::syntax::{named, part};

use super::allocations::constant;
use super::condition::Condition;
use super::description::{NoteKind, Step};
use super::integer::{Fact, Integer};
use super::reader::Reader;
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::{Element, TensorView, Value};

/// One call of a method.
struct Method<'all> {
    text: Text<'all>,
    node: Node<'all>,
    name: &'all str,
    /// The template argument, if there is one.
    type_name: Option<&'all str>,
    arguments: Vec<Value>,
}

impl Method<'_> {
    fn refused(&self, why: Why) -> Refusal {
        self.text.refused(self.node, why)
    }
}

impl Reader<'_> {
    /// The value of `receiver.method(…)`.
    pub(super) fn method(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        function: Node<'_>,
        arguments: &[Node<'_>],
    ) -> Result<Value, Refusal> {
        let unknown = || text.refused(node, Why::UnknownCall);
        let receiver = part(function, "argument").ok_or_else(unknown)?;
        let receiver = self.value(text, receiver)?;
        let mut field = part(function, "field").ok_or_else(unknown)?;
        if field.kind() == "dependent_name" {
            field = named(field).pop().ok_or_else(unknown)?;
        }
        let (name, type_name) = match field.kind() {
            "template_method" => {
                let first = part(field, "arguments").and_then(|list| named(list).first().copied());
                (part(field, "name"), first.map(|first| text.of(first)))
            }
            _ => (Some(field), None),
        };
        let name = text.of(name.ok_or_else(unknown)?);
        let is_host_only = receiver == Value::HostOnly;
        if is_host_only && name.contains("ynchronize") {
            return Err(text.refused(node, Why::Synchronisation));
        }
        if is_host_only && name == "is_cuda" {
            return Ok(Value::Boolean(Condition::Given));
        }
        if is_host_only {
            return Ok(Value::HostOnly);
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(text, *argument)?);
        }
        let method = Method { text, node, name, type_name, arguments: values };
        match receiver {
            Value::Tensor(view) => self.tensor_method(&method, &view),
            Value::Sizes(view) => self.sizes_method(&method, view),
            Value::Options(element) => options_method(&method, element),
            Value::Null if matches!(name, "has_value" | "defined") => {
                Ok(Value::Boolean(Condition::Always(false)))
            }
            Value::List(values) if name == "size" => {
                let length = i128::try_from(values.len()).unwrap_or(i128::MAX);
                Ok(Value::Integer(Integer::Literal(length)))
            }
            Value::Null
            | Value::List(_)
            | Value::Integer(_)
            | Value::Real(_)
            | Value::Boolean(_)
            | Value::BooleanParameter(_)
            | Value::Pointer(_)
            | Value::Extents(_)
            | Value::Element(_)
            | Value::Kernel(_)
            | Value::HostOnly
            | Value::Unset => Err(unknown()),
        }
    }

    fn tensor_method(&mut self, method: &Method<'_>, view: &TensorView) -> Result<Value, Refusal> {
        let same = || Ok(Value::Tensor(view.clone()));
        match method.name {
            "size" | "sym_size" | "stride" => self.size_method(method, view),
            "sizes" | "sym_sizes" | "shape" => Ok(Value::Sizes(view.clone())),
            "dim" | "ndimension" | "ndim" => self.rank(method, view),
            "numel" | "nelement" => self
                .elements(view)
                .map(Value::Integer)
                .ok_or_else(|| method.refused(Why::NotAnInteger)),
            "data_ptr" | "mutable_data_ptr" | "const_data_ptr" | "data" => {
                if let Some(name) = method.type_name {
                    let dtype = self.named_dtype(name);
                    let dtype = dtype.ok_or_else(|| method.refused(Why::UnknownDtype))?;
                    self.set_dtype(method.text, method.node, view.tensor, dtype)?;
                }
                Ok(Value::Pointer(view.tensor))
            }
            "options" => Ok(Value::Options(Some(Element::Of(view.tensor)))),
            "scalar_type" | "dtype" | "type" => Ok(Value::Element(Element::Of(view.tensor))),
            "is_cuda" | "is_contiguous" | "is_non_overlapping_and_dense" => {
                Ok(Value::Boolean(Condition::Given))
            }
            "defined" | "has_value" => Ok(Value::Boolean(Condition::Always(true))),
            "is_cpu" | "is_sparse" => Ok(Value::Boolean(Condition::Always(false))),
            "device" | "get_device" | "layout" | "device_index" | "requires_grad" => {
                Ok(Value::HostOnly)
            }
            "is_floating_point" | "is_same_size" => Ok(Value::Boolean(Condition::Unknown)),
            "contiguous" => {
                self.note(method.text, method.node, NoteKind::Contiguous);
                same()
            }
            "cuda" | "value" | "detach" => same(),
            "to" => self.conversion(method, view),
            "element_size" | "itemsize" => {
                let bytes = self.decided(Element::Of(view.tensor)).address_bytes();
                Ok(Value::Integer(Integer::Literal(i128::from(bytes))))
            }
            "new_empty" => {
                self.allocation_by(method.text, method.node, view, &method.arguments, None)
            }
            "new_zeros" => {
                self.allocation_by(method.text, method.node, view, &method.arguments, Some(0.0))
            }
            "zero_" => Ok(self.fill(view, 0.0)),
            "fill_" => {
                let value = method.arguments.first().and_then(constant);
                let value = value.ok_or_else(|| method.refused(Why::NotANumber))?;
                Ok(self.fill(view, value))
            }
            "view" | "reshape" => self
                .reshaped(view, &method.arguments)
                .ok_or_else(|| method.refused(Why::TorchOperator)),
            "view_as" | "reshape_as" => match method.arguments.as_slice() {
                [Value::Tensor(other)] => {
                    let shape = Some(self.shape(other));
                    Ok(Value::Tensor(TensorView { tensor: view.tensor, shape }))
                }
                _ => Err(method.refused(Why::TorchOperator)),
            },
            "flatten" if method.arguments.is_empty() => self
                .reshaped(view, &[Value::Integer(Integer::Literal(-1))])
                .ok_or_else(|| method.refused(Why::TorchOperator)),
            name if name.contains("accessor") => Err(method.refused(Why::Accessor)),
            "item" | "cpu" => Err(method.refused(Why::Synchronisation)),
            _ => Err(method.refused(Why::TorchOperator)),
        }
    }

    fn fill(&mut self, view: &TensorView, value: f64) -> Value {
        self.steps.push(Step::Fill { tensor: view.tensor, value });
        Value::Tensor(view.clone())
    }

    fn size_method(&mut self, method: &Method<'_>, view: &TensorView) -> Result<Value, Refusal> {
        let unknown = || method.refused(Why::NotAnInteger);
        let [Value::Integer(Integer::Literal(dimension))] = method.arguments.as_slice() else {
            return Err(unknown());
        };
        let dimension = i64::try_from(*dimension).map_err(|_wide| unknown())?;
        let value = if method.name == "stride" {
            self.stride(view, dimension)
        } else {
            self.size(view, dimension)
        };
        value.map(Value::Integer).ok_or_else(unknown)
    }

    /// The distance of neighbours in a contiguous tensor.
    fn stride(&self, view: &TensorView, dimension: i64) -> Option<Integer> {
        if dimension == -1 {
            return Some(Integer::Literal(1));
        }
        match self.listed_sizes(view) {
            Some(sizes) => {
                let rank = i64::try_from(sizes.len()).ok()?;
                let index = if dimension < 0 { dimension + rank } else { dimension };
                let inner = usize::try_from(index).ok().filter(|index| *index < sizes.len())?;
                Integer::product(sizes.into_iter().skip(inner + 1))
            }
            None => {
                let tensor = self.shape_owner(view)?;
                (-8..8)
                    .contains(&dimension)
                    .then_some(Integer::Fact(Fact::Stride { tensor, dimension }))
            }
        }
    }

    fn rank(&mut self, method: &Method<'_>, view: &TensorView) -> Result<Value, Refusal> {
        if let Some(sizes) = self.listed_sizes(view) {
            let rank = i128::try_from(sizes.len()).unwrap_or(i128::MAX);
            return Ok(Value::Integer(Integer::Literal(rank)));
        }
        let tensor = self.shape_owner(view).ok_or_else(|| method.refused(Why::NotAnInteger))?;
        Ok(Value::Integer(Integer::Fact(Fact::Rank(tensor))))
    }

    /// `x.to(device)` copies nothing for a tensor on the device; a conversion of elements is an operator.
    fn conversion(&mut self, method: &Method<'_>, view: &TensorView) -> Result<Value, Refusal> {
        for argument in &method.arguments {
            let stays = match argument {
                Value::HostOnly | Value::Boolean(_) => true,
                Value::Element(Element::Of(tensor)) if *tensor == view.tensor => true,
                Value::Element(element) => {
                    let target = self.element(*element);
                    target.is_some() && target == self.dtype_of(view.tensor)
                }
                Value::Options(_)
                | Value::Integer(_)
                | Value::Real(_)
                | Value::BooleanParameter(_)
                | Value::Tensor(_)
                | Value::Pointer(_)
                | Value::Null
                | Value::Extents(_)
                | Value::Sizes(_)
                | Value::List(_)
                | Value::Kernel(_)
                | Value::Unset => false,
            };
            if !stays {
                return Err(method.refused(Why::TorchOperator));
            }
        }
        Ok(Value::Tensor(view.clone()))
    }

    fn sizes_method(&mut self, method: &Method<'_>, view: TensorView) -> Result<Value, Refusal> {
        match (method.name, method.arguments.as_slice()) {
            ("size", []) => self.rank(method, &view),
            ("vec", []) => Ok(Value::Sizes(view)),
            ("equals", [Value::Sizes(other)]) => Ok(Value::Boolean(self.same_shape(&view, other))),
            ("at" | "get", [Value::Integer(_)]) => self.size_method(method, &view),
            ("back", []) => {
                let size = self.size(&view, -1).map(Value::Integer);
                size.ok_or_else(|| method.refused(Why::NotAnInteger))
            }
            _ => Err(method.refused(Why::UnknownCall)),
        }
    }
}

fn options_method(method: &Method<'_>, element: Option<Element>) -> Result<Value, Refusal> {
    match method.name {
        "dtype" => match method.arguments.as_slice() {
            [Value::Element(element)] => Ok(Value::Options(Some(*element))),
            _ => Err(method.refused(Why::UnknownDtype)),
        },
        "device" | "requires_grad" | "layout" | "memory_format" | "pinned_memory" => {
            Ok(Value::Options(element))
        }
        _ => Err(method.refused(Why::UnknownCall)),
    }
}
