//! Values of expressions while a wrapper is read.

use std::collections::BTreeMap;

use lightbench_primitives::dtype::Dtype;

use super::condition::Condition;
use super::description::AllocatedShape;
use super::integer::Integer;
use super::real::Real;

/// The value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Integer(Integer),
    Real(Real),
    Boolean(Condition),
    /// A boolean parameter of the wrapper, by its position.
    BooleanParameter(usize),
    Tensor(TensorView),
    /// The address of a tensor's first element.
    Pointer(usize),
    Null,
    /// A `dim3`.
    Extents([Integer; 3]),
    /// The sizes of a tensor.
    Sizes(TensorView),
    List(Vec<Self>),
    /// The dtype of a tensor, or a fixed one.
    Element(Element),
    /// Options of an allocation, with the dtype that they name.
    Options(Option<Element>),
    /// A kernel as a function pointer, with its template arguments as written.
    Kernel(String),
    /// Streams, devices, guards, error codes, texts: without effect on launches.
    HostOnly,
    /// A local without a value yet.
    Unset,
}

impl Value {
    pub(super) fn into_integer(self) -> Option<Integer> {
        if let Self::Integer(integer) = self { Some(integer) } else { None }
    }

    pub(super) fn into_tensor(self) -> Option<TensorView> {
        if let Self::Tensor(view) = self { Some(view) } else { None }
    }

    pub(super) fn into_extents(self) -> Option<[Integer; 3]> {
        if let Self::Extents(extents) = self { Some(extents) } else { None }
    }

    pub(super) fn pointee(&self) -> Option<usize> {
        if let Self::Pointer(tensor) = self { Some(*tensor) } else { None }
    }

    pub(super) fn literal(&self) -> Option<i128> {
        if let Self::Integer(Integer::Literal(literal)) = self { Some(*literal) } else { None }
    }

    pub(super) fn element(&self) -> Option<Element> {
        if let Self::Element(element) = self { Some(*element) } else { None }
    }

    /// The dtype that an argument of an allocation names; `Some(None)` if it has only other options.
    pub(super) fn options(&self) -> Option<Option<Element>> {
        if let Self::Options(element) = self { Some(*element) } else { self.element().map(Some) }
    }
}

/// A tensor, possibly with another shape for the same memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TensorView {
    pub(super) tensor: usize,
    pub(super) shape: Option<AllocatedShape>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Known(Dtype),
    Of(usize),
}

/// The kind of a local, which converts what is assigned to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Real,
    Boolean,
    Extents,
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Local {
    pub(super) kind: Kind,
    pub(super) value: Value,
}

/// The names of one function call.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    /// Locals, the innermost block last.
    pub(super) scopes: Vec<BTreeMap<String, Local>>,
    /// Type names of a dispatch, aliases, and template parameters.
    pub(super) types: BTreeMap<String, Dtype>,
}

impl Frame {
    pub(super) fn new() -> Self {
        Self { scopes: vec![BTreeMap::new()], types: BTreeMap::new() }
    }

    pub(super) fn local(&self, name: &str) -> Option<&Local> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    pub(super) fn local_mut(&mut self, name: &str) -> Option<&mut Local> {
        self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name))
    }

    pub(super) fn declare(&mut self, name: &str, local: Local) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), local);
        }
    }
}

/// What happens after a statement.
pub(super) enum Flow {
    Next,
    Return(Option<Value>),
}
