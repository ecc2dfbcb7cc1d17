//! From a line of PTX to the line of the launched file that it came from.

use lightbench_core::compile::line_directives::Written;
use lightbench_core::project::Language;

use super::code::Code;

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
                let chain = self.artifact.module.line_map.at(ptx_line);
                chain.iter().find_map(|at| match self.artifact.names.written(&at.file, at.line) {
                    Written::Line(line) => Some(OwnLine { line, column: at.column }),
                    Written::Unknown | Written::Elsewhere => None,
                })
            }
        }
    }
}
