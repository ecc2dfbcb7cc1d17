//! The ways to cheat that every project is tried with, and one honest way beside them.

use std::fmt;

use serde::Serialize;

use crate::project::fill::Fill;
use crate::project::tensor::{Role, Tensor};

/// One way to fill the outputs, given what the reference computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cheat {
    /// What the reference computes, rounded once: must pass.
    Honest,
    /// Zeros.
    Zeros,
    /// The same number everywhere.
    Constant,
    /// The mean of the right results.
    Mean,
    /// An input.
    CopyOfInput,
    /// Nothing: what an earlier launch left might be there.
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
    /// The results of the first launch, kept.
    Memoised,
    /// Right in the first launches only.
    WarmUpOnly,
    /// Right, but for one NaN.
    NotANumber,
    /// Right for the sizes that everybody sees.
    VisibleSizesOnly,
    /// The results of another content of one input.
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

/// How inputs are changed before the reference sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The same numbers in the opposite order: every property of the whole input stays.
    Reversed,
    /// Rounded to f16.
    Half,
    /// Rounded to bf16.
    Bf16,
    /// Rounded to tf32.
    Tf32,
    /// In the opposite order; floating-point numbers halved and one added, besides.
    Other,
}

/// Whether other content of an input is no violation of its structure, such as that of offsets or indices.
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
    /// How it changes inputs, if it does.
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

    /// The cheats of every audit, in the order in which they are shown.
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
            Self::WriteBehind => "writes behind an output",
            Self::WriteBefore => "writes before an output",
            Self::WriteFar => "writes far behind an output",
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
