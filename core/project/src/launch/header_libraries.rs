//! The libraries of headers that a kernel names. A project names no folder: the user's machine determines where a library
//! lies.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::language::Language;
use crate::locate::Located;
use crate::problem::Findings;

/// A library of headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeaderLibrary {
    /// CUTLASS with CuTe.
    Cutlass,
}

impl fmt::Display for HeaderLibrary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Cutlass => "cutlass",
        })
    }
}

/// Validates the list.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &[HeaderLibrary],
    language: Language,
) -> Vec<HeaderLibrary> {
    let mut libraries = Vec::new();
    for (index, library) in written.iter().enumerate() {
        if libraries.contains(library) {
            findings.add(at.item(index), format!("`{library}` again"), "each library once");
        }
        libraries.push(*library);
    }
    match language {
        Language::Cuda => {}
        Language::Ptx | Language::Triton if libraries.is_empty() => {}
        Language::Ptx | Language::Triton => {
            findings.add(at, "`libraries` in a file without `#include`", "CUDA C++");
        }
    }
    libraries
}
