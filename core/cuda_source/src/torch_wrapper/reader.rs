//! The state while a wrapper is read.

use std::collections::BTreeMap;

use lightbench_primitives::dtype::Dtype;
use tree_sitter::Node;

use crate::kernel::{Signature, kernels};
use crate::source::{Source, brief};

use super::condition::Condition;
use super::description::{
    AllocatedShape, NoteKind, Step, TensorOrigin, WrapperNote, WrapperParameter, WrapperTensor,
};
use super::functions;
use super::integer::{Fact, Integer};
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::{Frame, Local, TensorView, Value};

/// What the caller knows about a call: a task states shapes and dtypes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    /// The dtype that dispatches and branches choose where nothing else decides; f32 if possible otherwise.
    pub dtype: Option<Dtype>,
    /// Inputs by the position of the wrapper's parameter.
    pub inputs: BTreeMap<usize, KnownInput>,
}

/// What is known about one parameter of the wrapper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KnownInput {
    Tensor {
        dtype: Option<Dtype>,
        rank: Option<usize>,
    },
    Integer(i128),
    Real(f64),
    Boolean(bool),
    /// `None` in Python.
    Absent,
}

/// A tensor while its facts are collected.
#[derive(Debug, Clone)]
pub(super) struct TensorFacts {
    pub(super) name: String,
    pub(super) origin: TensorOrigin,
    pub(super) dtype: Option<Dtype>,
    /// The tensor that has the same dtype, unless one is known.
    pub(super) like: Option<usize>,
    pub(super) rank: Option<usize>,
}

pub(super) struct Reader<'all> {
    /// The file, whose functions and kernels are found by name.
    pub(super) main: &'all Source<'all>,
    pub(super) known: &'all Known,
    pub(super) signatures: Vec<Signature>,
    /// Functions with a body, by their names without namespaces.
    pub(super) functions: BTreeMap<&'all str, Node<'all>>,
    /// Macros with parameters, by their names.
    pub(super) macros: BTreeMap<&'all str, Node<'all>>,
    pub(super) frame: Frame,
    pub(super) parameters: Vec<WrapperParameter>,
    pub(super) tensors: Vec<TensorFacts>,
    pub(super) steps: Vec<Step>,
    pub(super) requirements: Vec<Condition>,
    pub(super) local_names: Vec<(Integer, String)>,
    pub(super) same_shapes: Vec<(usize, usize)>,
    pub(super) other_dtypes: Vec<Dtype>,
    pub(super) notes: Vec<WrapperNote>,
    /// Functions, macros and expressions around the present one.
    depth: usize,
    /// Nodes that may still be read: functions call functions, so a short text can be long work.
    budget: usize,
}

/// Maximum nesting of expressions, statements and calls together.
const DEEPEST: usize = 96;

/// Maximum number of expressions and statements of a wrapper, with those of the functions that it calls.
const MOST_NODES: usize = 20_000;

/// Maximum number of notes: a report lists them all.
const MOST_NOTES: usize = 200;

impl<'all> Reader<'all> {
    pub(super) fn new(main: &'all Source<'all>, known: &'all Known) -> Self {
        let all = kernels(main);
        let signatures = all.iter().filter_map(|kernel| kernel.signature(main).ok()).collect();
        Self {
            main,
            known,
            signatures,
            functions: functions::functions(main),
            macros: functions::macros(main),
            frame: Frame::new(),
            parameters: Vec::new(),
            tensors: Vec::new(),
            steps: Vec::new(),
            requirements: Vec::new(),
            local_names: Vec::new(),
            same_shapes: Vec::new(),
            other_dtypes: Vec::new(),
            notes: Vec::new(),
            depth: 0,
            budget: MOST_NODES,
        }
    }

    /// Reads one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        read: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        if self.depth >= DEEPEST || self.budget == 0 {
            return Err(text.refused(node, Why::TooLarge));
        }
        self.depth += 1;
        self.budget -= 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    pub(super) fn note(&mut self, text: Text<'_>, node: Node<'_>, kind: NoteKind) {
        let note = WrapperNote { place: text.place(node), found: brief(text.of(node), 60), kind };
        if self.notes.len() < MOST_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// A new tensor, by its position.
    pub(super) fn allocate(
        &mut self,
        shape: AllocatedShape,
        dtype: Option<Dtype>,
        like: Option<usize>,
    ) -> usize {
        self.tensors.push(TensorFacts {
            name: String::new(),
            origin: TensorOrigin::Allocated(shape),
            dtype,
            like,
            rank: None,
        });
        self.tensors.len() - 1
    }

    /// Names a local, and the tensor or size that it holds, if that has no name yet.
    pub(super) fn declare(&mut self, name: &str, local: Local) {
        match &local.value {
            Value::Tensor(view) => {
                if let Some(tensor) = self.tensors.get_mut(view.tensor)
                    && tensor.name.is_empty()
                {
                    name.clone_into(&mut tensor.name);
                }
            }
            Value::Integer(integer) if !matches!(integer, Integer::Literal(_)) => {
                if !self.local_names.iter().any(|(known, _)| known == integer) {
                    self.local_names.push((integer.clone(), name.to_owned()));
                }
            }
            Value::Integer(_)
            | Value::Real(_)
            | Value::Boolean(_)
            | Value::BooleanParameter(_)
            | Value::Pointer(_)
            | Value::Null
            | Value::Extents(_)
            | Value::Sizes(_)
            | Value::List(_)
            | Value::Element(_)
            | Value::Options(_)
            | Value::Kernel(_)
            | Value::HostOnly
            | Value::Unset => {}
        }
        self.frame.declare(name, local);
    }

    /// The shape of a tensor; of a received one, its own.
    pub(super) fn shape(&self, view: &TensorView) -> AllocatedShape {
        let origin = self.tensors.get(view.tensor).map(|facts| &facts.origin);
        match (&view.shape, origin) {
            (Some(shape), _) | (None, Some(TensorOrigin::Allocated(shape))) => shape.clone(),
            (None, Some(TensorOrigin::Parameter(_)) | None) => AllocatedShape::Like(view.tensor),
        }
    }

    /// The sizes of a tensor, if their number is known.
    pub(super) fn listed_sizes(&self, view: &TensorView) -> Option<Vec<Integer>> {
        match self.shape(view) {
            AllocatedShape::Sizes(sizes) => Some(sizes),
            AllocatedShape::Like(tensor) => {
                let rank = i64::try_from(self.tensors.get(tensor)?.rank?).ok()?;
                let size = |dimension| Integer::Fact(Fact::Size { tensor, dimension });
                Some((0..rank).map(size).collect())
            }
        }
    }

    /// The received tensor whose shape a tensor has.
    pub(super) fn shape_owner(&self, view: &TensorView) -> Option<usize> {
        match self.shape(view) {
            AllocatedShape::Sizes(_) => None,
            AllocatedShape::Like(tensor) => Some(tensor),
        }
    }

    /// The tensors that a wrapper returns.
    pub(super) fn results(
        &mut self,
        text: Text<'_>,
        function: Node<'_>,
        value: Value,
    ) -> Result<Vec<usize>, Refusal> {
        match value {
            Value::Tensor(view) => {
                if let Some(shape) = view.shape
                    && let Some(tensor) = self.tensors.get_mut(view.tensor)
                    && matches!(tensor.origin, TensorOrigin::Allocated(_))
                {
                    tensor.origin = TensorOrigin::Allocated(shape);
                }
                Ok(vec![view.tensor])
            }
            Value::List(values) => {
                let mut all = Vec::new();
                for value in values {
                    all.extend(self.results(text, function, value)?);
                }
                Ok(all)
            }
            Value::HostOnly
            | Value::Unset
            | Value::Null
            | Value::Integer(_)
            | Value::Real(_)
            | Value::Boolean(_)
            | Value::BooleanParameter(_)
            | Value::Pointer(_)
            | Value::Extents(_)
            | Value::Sizes(_)
            | Value::Element(_)
            | Value::Options(_)
            | Value::Kernel(_) => Err(text.refused(function, Why::UnknownResult)),
        }
    }

    pub(super) fn described(&self, index: usize) -> WrapperTensor {
        let facts = &self.tensors[index];
        let name =
            if facts.name.is_empty() { format!("tensor_{index}") } else { facts.name.clone() };
        WrapperTensor {
            name,
            origin: facts.origin.clone(),
            dtype: self.dtype_of(index),
            rank: facts.rank,
        }
    }
}
