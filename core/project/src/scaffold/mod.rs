//! `lightbench new`: a project made from a kernel's signature, or a small one to start from.
//!
//! ```text
//!  Source ──► Signature ──► guess ──► texts (Plan) ──► folder (Written)
//!         └─► device code ──────────────┘
//! ```
//!
//! A signature determines types and const-ness. Shapes, sizes and the launch are guesses: each is marked in the written
//! files, and the reference does not compile until the user has written it.

use std::path::{Path, PathBuf};

mod device_code;
mod error;
mod geometry;
mod guess;
mod names;
mod plan;
mod reference;
mod render;
mod sizes;
mod templates;

#[cfg(test)]
mod tests;

use crate::new_folder;
pub use crate::new_folder::PlannedFile;
pub use device_code::device_text;
pub use error::{ParameterProblem, ScaffoldError};
pub use lightbench_cuda_source::{
    FoundKernel, HeaderText, OmittedItem, Reason, Signature, SourceError, SourceLocation,
};
pub use plan::{KernelSource, Plan, UnparsedSpan, plan_default, plan_from};

/// A project that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its folder.
    pub folder: PathBuf,
    /// The written texts, and the omitted items.
    pub plan: Plan,
}

/// Writes the small complete project to `folder`, which must be missing or empty.
///
/// # Errors
///
/// The folder is occupied, its parent is missing, or the file system refuses; then nothing is left behind.
pub fn write_default(folder: &Path) -> Result<Written, ScaffoldError> {
    write(folder, plan_default())
}

/// Writes a project around a kernel of `text` to `folder`, which must be missing or empty.
///
/// The source's `display_name` is used in texts and never opened.
///
/// # Errors
///
/// As [`plan_from`] and [`write_default`]; then nothing is left behind.
pub fn write_from(folder: &Path, source: &KernelSource<'_>) -> Result<Written, ScaffoldError> {
    write(folder, plan_from(source)?)
}

fn write(folder: &Path, plan: Plan) -> Result<Written, ScaffoldError> {
    let unchecked = |_: &Path| Ok::<(), ScaffoldError>(());
    let folder = new_folder::write(folder, &plan.files, unchecked)?;
    Ok(Written { folder, plan })
}
