//! Why a text cannot be read as Python, with the line.

/// Why a text cannot be read as Python.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The text is too long.
    #[error("the file has {bytes} bytes; the limit for a Python file is {limit}")]
    TooLarge {
        /// The size found.
        bytes: usize,
        /// The size allowed.
        limit: usize,
    },
    /// A NUL character, which Python does not permit.
    #[error("line {line}: a NUL character; expected a text")]
    Nul {
        /// Where, from 1.
        line: usize,
    },
    /// The first syntax error.
    #[error("line {line}: syntax error at `{found}`; expected Python 3")]
    Syntax {
        /// Where, from 1.
        line: usize,
        /// The text at the error.
        found: String,
    },
    /// The source is so broken that reading it was given up.
    #[error("this is not Python: the parser gave up near line {line}")]
    GaveUp {
        /// Approximate place of the error, from 1.
        line: usize,
    },
    /// The grammar does not fit the parser that it was built with.
    #[error("the Python grammar cannot be loaded: {0}")]
    Grammar(#[from] tree_sitter::LanguageError),
}
