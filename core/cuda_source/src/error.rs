//! Why a text or a kernel of it cannot be read, with the place and a suggestion.

use std::fmt;

/// A place in a source text; both numbers start at 1, and a column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLocation {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// A kernel that a source defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundKernel {
    /// The name with its namespaces, `ops::scale`.
    pub name: String,
    /// Where its name stands.
    pub place: SourceLocation,
}

/// Why no kernel of a source could be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The source defines no kernel.
    #[error(
        "no kernel found: expected a `__global__` function with a body; declarations without one do not count"
    )]
    NoKernel,
    /// The source defines several kernels, and the user chose none.
    #[error("{} kernels here: {}; choose one with --kernel NAME", .found.len(), listed(.found))]
    SeveralKernels {
        /// All of them, in the order of the file.
        found: Vec<FoundKernel>,
    },
    /// The source has no kernel of this name.
    #[error("no kernel `{wanted}` here; there is {}", listed(.found))]
    UnknownKernel {
        /// The requested name.
        wanted: String,
        /// The kernels of the source.
        found: Vec<FoundKernel>,
    },
    /// Several kernels share the chosen name.
    #[error("`{name}` is defined more than once, {}; rename all but one", listed(.found))]
    Overloaded {
        /// The shared name.
        name: String,
        /// Where.
        found: Vec<FoundKernel>,
    },
    /// A syntax error prevents finding kernels.
    #[error("{place}: syntax error at `{found}`; no kernel could be read")]
    Syntax {
        /// The first such place.
        place: SourceLocation,
        /// The text at the error.
        found: String,
    },
    /// The signature of the chosen kernel cannot be read.
    #[error(
        "{place}: cannot read the signature of `{kernel}` at `{found}`; write the type out where a macro stands"
    )]
    Signature {
        /// The kernel.
        kernel: String,
        /// The first such place.
        place: SourceLocation,
        /// The text at the error.
        found: String,
    },
    /// More parameters than the driver can pass.
    #[error("{place}: `{kernel}` has {count} parameters; the limit is {limit}")]
    TooManyParameters {
        /// The kernel.
        kernel: String,
        /// Its place.
        place: SourceLocation,
        /// Parameters of the function or of its template, whichever are more.
        count: usize,
        /// The number allowed.
        limit: usize,
    },
    /// A NUL character, which ends a source for the compiler.
    #[error("{place}: a NUL character; expected a text")]
    Nul {
        /// Where.
        place: SourceLocation,
    },
    /// The source is too long.
    #[error("{bytes} bytes are too much for one kernel; the limit is {limit}")]
    TooLarge {
        /// The size found.
        bytes: usize,
        /// The size allowed.
        limit: usize,
    },
    /// The source is so broken that reading it was given up.
    #[error("this is not CUDA C++: the parser gave up near {place}")]
    GaveUp {
        /// Approximate position of the error.
        place: SourceLocation,
    },
    /// The grammar does not fit the parser that it was built with.
    #[error("the CUDA grammar cannot be loaded: {0}")]
    Grammar(#[from] tree_sitter::LanguageError),
}

/// Maximum number of kernels in a message.
const MOST_LISTED: usize = 20;

fn listed(found: &[FoundKernel]) -> String {
    let mut names: Vec<String> = found
        .iter()
        .take(MOST_LISTED)
        .map(|kernel| format!("`{}` at {}", kernel.name, kernel.place))
        .collect();
    if found.len() > MOST_LISTED {
        names.push(format!("{} more", found.len() - MOST_LISTED));
    }
    names.join(", ")
}
