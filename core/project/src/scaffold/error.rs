//! Why no project was written, with the text found and a suggestion.

use std::fmt;

use lightbench_cuda_source::{SourceError, SourceLocation};

use crate::new_folder::FolderError;

/// Why a kernel parameter cannot be represented in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterProblem {
    /// `float** x`, or an array of arrays.
    PointerToPointer,
    /// `float& x`.
    Reference,
    /// A pointer to a function.
    Function,
    /// A parameter pack or `...`.
    Variadic,
    /// `void* x`.
    VoidPointer,
    /// A texture or surface object.
    Texture,
    /// A built-in vector such as `float4` by value.
    VectorByValue,
    /// An 8-bit float by value.
    NarrowFloatByValue,
    /// A type that is neither arithmetic nor a struct of this file.
    UnknownType,
    /// A struct with a field that is not a plain scalar, with bases, or with an explicit layout.
    StructNotPlain,
}

impl fmt::Display for ParameterProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::PointerToPointer => {
                "a pointer to pointers has no tensor; pass each array as a pointer of its own, or one array and offsets"
            }
            Self::Reference => "a kernel takes no references; pass the value or a pointer",
            Self::Function => "a pointer to a function cannot come from the host; use a template parameter",
            Self::Variadic => "the number of arguments must be fixed; name each parameter",
            Self::VoidPointer => "its element type is unknown; give the pointer a type such as `const float*`",
            Self::Texture => {
                "textures are declared in the launch block and not guessed; replace it by a pointer, and see `textures` in the format"
            }
            Self::VectorByValue => "a vector by value is not supported; pass its components as scalars",
            Self::NarrowFloatByValue => "an 8-bit float by value is not supported; pass a float",
            Self::UnknownType => {
                "expected an arithmetic type, a pointer to one, or a struct of plain scalars defined in the same file"
            }
            Self::StructNotPlain => {
                "its struct must have plain scalar fields only: no pointers, arrays, nested structs, bases, bit fields or alignment"
            }
        })
    }
}

/// Why no project was written.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// No kernel of the source could be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A parameter of the kernel has no place in a project.
    #[error("{place}: parameter `{parameter}` of `{kernel}` is `{written}`: {problem}")]
    Parameter {
        /// The kernel.
        kernel: String,
        /// The parameter's name, or its position if it has none.
        parameter: String,
        /// The parameter as the source has it.
        written: String,
        /// Where.
        place: SourceLocation,
        /// Why.
        problem: ParameterProblem,
    },
    /// A template parameter that is neither a type nor an integer.
    #[error(
        "{place}: template parameter `{written}` of `{kernel}` is neither a type nor an integer; instantiate it in a kernel of its own"
    )]
    TemplateParameter {
        /// The kernel.
        kernel: String,
        /// The parameter as the source has it.
        written: String,
        /// Where.
        place: SourceLocation,
    },
    /// The kernel stands in a branch of a conditional that is not compiled.
    #[error(
        "{place}: `{kernel}` is in a branch of a conditional that is not compiled: define or remove macros at the beginning of the file so that its condition holds"
    )]
    NotCompiled {
        /// The kernel.
        kernel: String,
        /// Where.
        place: SourceLocation,
    },
    /// The kernel has no output.
    #[error(
        "{place}: `{kernel}` has no pointer that it may write through, so there is nothing to check; take `const` off its result"
    )]
    NoOutput {
        /// The kernel.
        kernel: String,
        /// Where.
        place: SourceLocation,
    },
    /// The source is a kernel of a project already.
    #[error(
        "{place}: there is a launch block already; copy the file into the kernels/ folder of its project"
    )]
    HasLaunchBlock {
        /// Where.
        place: SourceLocation,
    },
    /// A comment that the project reader would parse as a launch block, and reject.
    #[error(
        "{place}: a comment that begins with `/*@` is a launch block in a project, and this one is none; write `/* @`"
    )]
    OtherBlock {
        /// Where.
        place: SourceLocation,
    },
    /// The folder cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
}
