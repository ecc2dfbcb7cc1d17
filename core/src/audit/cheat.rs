//! The cheats that every project is audited with, and one honest kernel as the control.

use std::fmt;

use serde::Serialize;

use crate::project::fill::Fill;
use crate::project::tensor::{Role, Tensor};

/// A way to fill the outputs, given the results of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cheat {
    /// The results of the reference, rounded once: must pass.
    Honest,
    /// Zeros.
    Zeros,
    /// A constant in every element.
    Constant,
    /// The mean of the right results.
    Mean,
    /// An input.
    CopyOfInput,
    /// Writes nothing: the memory may hold the results of an earlier launch.
    Nothing,
    /// The results of other inputs of the same kind.
    OtherInputs,
    /// Inputs rounded to f16.
    HalfInputs,
    /// Inputs rounded to bf16.
    Bf16Inputs,
    /// Inputs rounded to tf32.
    Tf32Inputs,
    /// All but the last slice of the first dimension.
    LastRowSkipped,
    /// All but the last element.
    TailSkipped,
    /// Right, and one element behind each output.
    WriteBehind,
    /// Right, and one element before each output.
    WriteBefore,
    /// Right, and an element far behind each output.
    WriteFar,
    /// Right, and the inputs changed afterwards.
    InputModified,
    /// The stored results of the first launch.
    Memoised,
    /// Right in the first launches only.
    WarmUpOnly,
    /// Right, but for one NaN.
    NotANumber,
    /// Correct for visible sizes only.
    VisibleSizesOnly,
    /// The results for other values of one input.
    IgnoresInput {
        /// The input, by its index among the tensors.
        tensor: usize,
    },
    /// Too large by one part in two to this power, in one output.
    OffBy {
        /// The output, by its index among the tensors.
        tensor: usize,
        /// The power.
        exponent: u32,
    },
}

/// The change of inputs before the reference reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The same numbers in reverse order: every property of the whole input is preserved.
    Reversed,
    /// Rounded to f16.
    Half,
    /// Rounded to bf16.
    Bf16,
    /// Rounded to tf32.
    Tf32,
    /// Reverse order; floating-point numbers are also halved and incremented by one.
    Other,
}

/// Whether other values of an input preserve its structure, such as that of offsets or indices.
pub(super) fn is_replaceable(tensor: &Tensor) -> bool {
    let Role::Input { fill } = &tensor.role else { return false };
    !tensor.dtype.is_packed()
        && match fill {
            Fill::Normal { .. }
            | Fill::Uniform { .. }
            | Fill::Integers { .. }
            | Fill::Ones
            | Fill::Zeros
            | Fill::HeavyTail { .. }
            | Fill::Labels { .. }
            | Fill::Constant(_) => true,
            Fill::Permutation
            | Fill::SortedOffsets { .. }
            | Fill::SortedIndices { .. }
            | Fill::Mask { .. }
            | Fill::CausalMask
            | Fill::PackedWeights => false,
        }
}

impl Cheat {
    /// The change of inputs, if there is one.
    pub(super) const fn change(self) -> Option<Change> {
        match self {
            Self::OtherInputs => Some(Change::Reversed),
            Self::HalfInputs => Some(Change::Half),
            Self::Bf16Inputs => Some(Change::Bf16),
            Self::Tf32Inputs => Some(Change::Tf32),
            Self::IgnoresInput { .. } => Some(Change::Other),
            Self::Honest
            | Self::Zeros
            | Self::Constant
            | Self::Mean
            | Self::CopyOfInput
            | Self::Nothing
            | Self::LastRowSkipped
            | Self::TailSkipped
            | Self::WriteBehind
            | Self::WriteBefore
            | Self::WriteFar
            | Self::InputModified
            | Self::Memoised
            | Self::WarmUpOnly
            | Self::NotANumber
            | Self::VisibleSizesOnly
            | Self::OffBy { .. } => None,
        }
    }

    /// The cheats of every audit, in display order.
    pub const ALL: [Self; 19] = [
        Self::Zeros,
        Self::Constant,
        Self::Mean,
        Self::CopyOfInput,
        Self::Nothing,
        Self::OtherInputs,
        Self::HalfInputs,
        Self::Bf16Inputs,
        Self::Tf32Inputs,
        Self::LastRowSkipped,
        Self::TailSkipped,
        Self::WriteBehind,
        Self::WriteBefore,
        Self::WriteFar,
        Self::InputModified,
        Self::Memoised,
        Self::WarmUpOnly,
        Self::NotANumber,
        Self::VisibleSizesOnly,
    ];
}

impl fmt::Display for Cheat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Honest => "honest",
            Self::Zeros => "zeros",
            Self::Constant => "a constant",
            Self::Mean => "the mean",
            Self::CopyOfInput => "copy of an input",
            Self::Nothing => "writes nothing",
            Self::OtherInputs => "results of other inputs",
            Self::HalfInputs => "inputs rounded to f16",
            Self::Bf16Inputs => "inputs rounded to bf16",
            Self::Tf32Inputs => "inputs rounded to tf32",
            Self::LastRowSkipped => "last row skipped",
            Self::TailSkipped => "tail skipped",
            Self::WriteBehind => "writes after an output",
            Self::WriteBefore => "writes before an output",
            Self::WriteFar => "writes far after an output",
            Self::InputModified => "changes an input",
            Self::Memoised => "memoised",
            Self::WarmUpOnly => "computes at first only",
            Self::NotANumber => "one NaN",
            Self::VisibleSizesOnly => "visible sizes only",
            Self::IgnoresInput { .. } => "ignores an input",
            Self::OffBy { exponent, .. } => return write!(formatter, "off by 2^-{exponent}"),
        })
    }
}
