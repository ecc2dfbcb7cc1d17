//! The languages of kernel files.

use std::path::Path;

/// The language of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// CUDA C++.
    Cuda,
    /// PTX, the virtual instruction set.
    Ptx,
    /// Python with `@triton.jit`.
    Triton,
}

impl Language {
    /// By the extension of the file.
    pub fn from_path(file: &Path) -> Self {
        let is = |known: &str| {
            file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(known))
        };
        match () {
            () if is("ptx") => Self::Ptx,
            () if is("py") => Self::Triton,
            () => Self::Cuda,
        }
    }

    /// The extension of its files.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Cuda => "cu",
            Self::Ptx => "ptx",
            Self::Triton => "py",
        }
    }
}
