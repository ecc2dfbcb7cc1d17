//! From a line of PTX to the line of the launched file that it came from.

use lightbench_core::project::Language;

use super::code::Code;
use crate::commands::check::kernel_file;

/// A line of the launched file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OwnLine {
    /// From 1.
    pub(super) line: u32,
    /// From 1; 0 for the whole line.
    pub(super) column: u32,
}

impl Code {
    /// The innermost line of the launched file; what was inlined from a header counts for the line that called it.
    pub(super) fn own_line(&self, ptx_line: u32) -> Option<OwnLine> {
        match self.file.language {
            Language::Ptx => Some(OwnLine { line: ptx_line, column: 0 }),
            Language::Cuda => {
                let main = kernel_file::shown_name(&self.file);
                let chain = self.artifact.module.line_map.at(ptx_line);
                let own = chain.iter().find(|at| self.artifact.names.known(&at.file) == main)?;
                Some(OwnLine { line: own.line, column: own.column })
            }
        }
    }

    /// The text of a line of PTX, from 1.
    pub(super) fn ptx_text(&self, line: u32) -> Option<&str> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        self.artifact.ptx.lines().nth(index).map(str::trim)
    }
}
