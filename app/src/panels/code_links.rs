//! Links between source lines and machine code: the editor and the assembly mark each other's lines.

use std::path::PathBuf;
use std::sync::Arc;

/// Source lines of the code that the assembly panel shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodeLinks {
    /// The file of the lines.
    pub(super) file: PathBuf,
    /// Identifies the code.
    pub(super) generation: u64,
    /// Lines with code, from 1, in the text that was compiled.
    pub(super) lines: Arc<[usize]>,
    /// The line of the instruction under the pointer.
    pub(super) marked: Option<usize>,
}
