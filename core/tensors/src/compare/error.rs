//! Why outputs cannot be compared: the arguments do not match the case, or the reference is invalid.

use super::super::layout::LayoutError;

/// Why an output cannot be compared. The candidate is not the cause.
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
        reason: LayoutError,
    },
    /// A buffer differs in size from the case.
    #[error("`{tensor}` has {found} bytes of {what}; the case says {expected}")]
    Size {
        /// The tensor.
        tensor: String,
        /// Which of its buffers.
        what: &'static str,
        /// Bytes of the buffer.
        found: usize,
        /// Required bytes.
        expected: usize,
    },
    /// The reference did not output the magnitudes of the terms.
    #[error("`{tensor}` is judged by the magnitude of its terms, which is missing")]
    NoMagnitudes {
        /// The tensor.
        tensor: String,
    },
    /// The reference has a finite result without a finite magnitude of its terms.
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
        /// The missing input.
        input: String,
    },
    /// The shapes of an output and of the input that judges it do not belong together.
    #[error("the shapes of `{tensor}` and of `{input}`, which judges it, do not match")]
    Shape {
        /// The tensor.
        tensor: String,
        /// The input that judges it.
        input: String,
    },
    /// The reference points outside the tensor that it indexes.
    #[error("element {element} of the reference for `{tensor}` is not an index of `{input}`")]
    ReferenceIndex {
        /// The tensor.
        tensor: String,
        /// The input that the indices refer to.
        input: String,
        /// The element, in the order of indices.
        element: u64,
    },
    /// Probabilities that are negative, not finite or all 0.
    #[error("row {row} of `{input}` contains no probabilities")]
    Probabilities {
        /// The tensor that should hold them.
        input: String,
        /// The row.
        row: u64,
    },
}
