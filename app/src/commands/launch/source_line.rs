//! Maps a line of PTX to its line in the launched file.

use lightbench_core::compile::line_directives::PhysicalLine;
use lightbench_core::project::Language;

use super::code::CompiledCode;

/// A line of the launched file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SourceLine {
    /// From 1.
    pub(super) line: u32,
    /// From 1; 0 for the whole line.
    pub(super) column: u32,
}

impl CompiledCode {
    /// The innermost line in the launched file; code inlined from a header counts for the calling line.
    pub(super) fn source_line(&self, ptx_line: u32) -> Option<SourceLine> {
        match self.file.language {
            Language::Ptx => Some(SourceLine { line: ptx_line, column: 0 }),
            Language::Cuda | Language::Triton => {
                let chain = self.artifact.module.line_map.at(ptx_line);
                chain.iter().find_map(|at| {
                    match self.artifact.names.physical_line(&at.file, at.line) {
                        PhysicalLine::Line(line) => Some(SourceLine { line, column: at.column }),
                        PhysicalLine::Unknown | PhysicalLine::Elsewhere => None,
                    }
                })
            }
        }
    }
}
