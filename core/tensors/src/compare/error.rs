//! Why outputs cannot be compared: what was handed over does not fit the case, or the reference is not sound.

use super::super::layout::LayoutError;

/// Why an output cannot be compared. It says nothing about the candidate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// No tensor, or one that is not written.
    #[error("tensor {tensor} is not an output")]
    NotAnOutput {
        /// Its index.
        tensor: usize,
    },
    /// Sizes that describe no memory, or too much of it.
    #[error("`{tensor}` cannot be compared: {reason}")]
    Layout {
        /// The tensor.
        tensor: String,
        /// What is wrong with it.
        reason: LayoutError,
    },
    /// A buffer has another size than the case says.
    #[error("`{tensor}` has {found} bytes of {what}; the case says {expected}")]
    Size {
        /// The tensor.
        tensor: String,
        /// Which of its buffers.
        what: &'static str,
        /// Bytes there are.
        found: usize,
        /// Bytes there should be.
        expected: usize,
    },
    /// The reference has not told how large the terms are.
    #[error("`{tensor}` is judged by the magnitude of its terms, which is missing")]
    NoMagnitudes {
        /// The tensor.
        tensor: String,
    },
    /// The reference gives a finite result and no finite magnitude of its terms.
    #[error(
        "the reference's magnitude for element {element} of `{tensor}` is not a finite number at or above 0"
    )]
    Magnitude {
        /// The tensor.
        tensor: String,
        /// The element, in the order of indices.
        element: u64,
    },
    /// The comparator does not judge this dtype.
    #[error("the comparator of `{tensor}` does not judge its dtype")]
    Dtype {
        /// The tensor.
        tensor: String,
    },
    /// The bytes of an input that the comparator reads are missing.
    #[error("`{tensor}` is judged by the input `{input}`, which is missing")]
    NoInput {
        /// The tensor.
        tensor: String,
        /// What is missing.
        input: String,
    },
    /// The shapes of an output and of the input that judges it do not belong together.
    #[error("the shapes of `{tensor}` and of `{input}`, which judges it, do not belong together")]
    Shape {
        /// The tensor.
        tensor: String,
        /// What it is judged by.
        input: String,
    },
    /// The reference points outside the tensor that it indexes.
    #[error("element {element} of the reference for `{tensor}` is no index of `{input}`")]
    ReferenceIndex {
        /// The tensor.
        tensor: String,
        /// What is pointed into.
        input: String,
        /// The element, in the order of indices.
        element: u64,
    },
    /// Probabilities that are negative, not finite or all 0.
    #[error("row {row} of `{input}` holds no probabilities")]
    Probabilities {
        /// The tensor that should hold them.
        input: String,
        /// The row.
        row: u64,
    },
}
