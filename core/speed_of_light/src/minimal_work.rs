//! The least work of any correct kernel in one workload: bytes read, bytes written, operations by kind.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::extent::Extent;
use lightbench_project::manifest::{Accuracy, OperationKind};
use lightbench_project::tensor::{Role, Tensor};
use lightbench_project::work::WorkBytes;
use lightbench_project::{Definition, Workload};
use lightbench_units::{Bytes, Flops};

/// The least that any correct kernel does in one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct MinimalWork {
    /// Bytes that come from device memory if no cache holds them.
    pub read: Bytes,
    /// Bytes that have to be written.
    pub written: Bytes,
    /// The source of the byte counts.
    pub bytes: ByteCount,
    /// The size of all tensors, gaps included: a cache of this size avoids DRAM traffic.
    pub working_set: Bytes,
    /// Operations by kind.
    pub operations: Vec<(OperationKind, Flops)>,
    /// The precision in which the task may be computed.
    pub accuracy: Accuracy,
    /// The operands of products.
    pub operands: Operands,
    /// Bytes of smaller inputs per byte of the largest input, for inputs that are reused for each of its rows: those whose
    /// shape is a suffix of its shape.
    pub broadcast: f64,
}

/// The source of the byte counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteCount {
    /// Each input and output once, each inout twice.
    Tensors,
    /// A formula of the project; the bytes of its outputs count as written, the rest as read.
    Formula,
}

/// The factors of products, with the significant bits of their elements, including the implicit bit.
///
/// A definition does not state which of its inputs are multiplied. The two narrowest floating-point inputs are assumed:
/// the others may be scales or biases, and a wider pair would make the bound longer than a correct kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// No input is a float.
    Integers {
        /// Bits of the widest input.
        bits: u64,
    },
    /// At least one input is.
    Floats {
        /// Significant bits of the wider factor.
        widest: u32,
        /// Significant bits of the narrower one.
        narrowest: u32,
    },
}

impl MinimalWork {
    /// The work of a workload of a checked definition.
    #[must_use]
    pub fn new(definition: &Definition, workload: &Workload) -> Self {
        let tensors = || definition.tensors.iter().zip(&workload.extents);
        let (mut read, mut written) = (Bytes(0), Bytes(0));
        for (tensor, extent) in tensors() {
            let once = distinct(tensor, extent);
            match tensor.role {
                Role::Input { .. } => read = read + once,
                Role::Output { .. } => written = written + once,
                Role::Inout { .. } => (read, written) = (read + once, written + once),
            }
        }
        let bytes = match definition.work.bytes {
            WorkBytes::Automatic => ByteCount::Tensors,
            WorkBytes::Formula(_) => {
                // Whole bytes, rounded down; a cast saturates, and a checked project has no negative amount.
                let total = Bytes(workload.work.bytes as u64);
                written = written.min(total);
                read = total.checked_sub(written).unwrap_or_default();
                ByteCount::Formula
            }
        };
        let counted = workload.work.operations.iter();
        let inputs = definition.tensors.iter().filter(|tensor| tensor.role.fill().is_some());
        Self {
            read,
            written,
            bytes,
            working_set: tensors().map(|(_, extent)| Bytes(extent.bytes)).sum(),
            operations: counted.map(|(kind, count)| (*kind, Flops(*count))).collect(),
            accuracy: definition.accuracy,
            operands: Operands::new(inputs.map(|tensor| tensor.dtype)),
            broadcast: broadcast(tensors()),
        }
    }

    /// Bytes in both directions.
    #[must_use]
    pub fn moved(&self) -> Bytes {
        self.read + self.written
    }

    /// Operations of one kind; zero if the project states none.
    #[must_use]
    pub fn count(&self, kind: OperationKind) -> Flops {
        self.operations.iter().filter(|(known, _)| *known == kind).map(|(_, count)| *count).sum()
    }

    /// Significant bits that results need; zero for integers.
    #[must_use]
    pub const fn accuracy_bits(&self) -> u32 {
        match self.accuracy {
            Accuracy::F64 => 53,
            Accuracy::F32 => 24,
            Accuracy::Tf32 | Accuracy::F16 => 11,
            Accuracy::Bf16 => 8,
            Accuracy::F8 => 4,
            Accuracy::Exact => 0,
        }
    }

    /// Floating-point operations: sums, products and functions.
    #[must_use]
    pub fn flops(&self) -> Flops {
        let kinds = [OperationKind::Arithmetic, OperationKind::Contraction, OperationKind::Special];
        kinds.into_iter().map(|kind| self.count(kind)).sum()
    }
}

/// The bytes of distinct elements: elements that share memory through a stride of zero count once.
fn distinct(tensor: &Tensor, extent: &Extent) -> Bytes {
    let elements = extent.elements.min(extent.span_elements);
    Bytes(elements.saturating_mul(tensor.dtype.bits()).div_ceil(8))
}

/// Bytes of inputs that every row of the largest input reuses, per byte of the largest input.
fn broadcast<'a>(tensors: impl Iterator<Item = (&'a Tensor, &'a Extent)>) -> f64 {
    let inputs: Vec<(&Tensor, &Extent)> =
        tensors.filter(|(tensor, _)| tensor.role.fill().is_some()).collect();
    let largest = inputs.iter().max_by_key(|(_, extent)| extent.bytes);
    let Some((largest, its_extent)) = largest else { return 0.0 };
    let is_row = |extent: &Extent| {
        extent.dims.len() < its_extent.dims.len()
            && !extent.dims.is_empty()
            && its_extent.dims.ends_with(&extent.dims)
    };
    let rows = inputs.iter().filter(|(_, extent)| is_row(extent));
    rows.map(|(tensor, _)| tensor.dtype.bits() as f64 / largest.dtype.bits() as f64).sum()
}

impl Operands {
    pub(super) fn new(inputs: impl Iterator<Item = Dtype>) -> Self {
        let mut floats = Vec::new();
        let mut bits = 0;
        for dtype in inputs {
            bits = bits.max(dtype.bits());
            floats.extend(significant_bits(dtype));
        }
        floats.sort_unstable();
        match *floats {
            [] => Self::Integers { bits },
            // One input times itself.
            [bits] => Self::Floats { widest: bits, narrowest: bits },
            [narrowest, widest, ..] => Self::Floats { widest, narrowest },
        }
    }
}

/// Significant bits of a floating-point type, including the implicit bit (IEEE 754; OCP 8-bit and MX specifications);
/// `None` for integers.
const fn significant_bits(dtype: Dtype) -> Option<u32> {
    match dtype {
        Dtype::F64 => Some(53),
        Dtype::F32 => Some(24),
        Dtype::F16 => Some(11),
        Dtype::Bf16 => Some(8),
        Dtype::F8E4M3 => Some(4),
        Dtype::F8E5M2 => Some(3),
        Dtype::E2M1 => Some(2),
        Dtype::I64
        | Dtype::I32
        | Dtype::I16
        | Dtype::I8
        | Dtype::U64
        | Dtype::U32
        | Dtype::U16
        | Dtype::U8
        | Dtype::Bool
        | Dtype::I4
        | Dtype::U4 => None,
    }
}
