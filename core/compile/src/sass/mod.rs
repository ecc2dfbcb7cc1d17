//! Machine code as text (`nvdisasm -c -gi`) read into instructions with their source lines.
//!
//! The tool also writes JSON, but without the table behind its `source-file-id` and without
//! inlining; the text form has file names and the whole chain, at the same cost.

mod reader;

#[cfg(test)]
mod tests;

use std::sync::Arc;

/// The arguments with which `nvdisasm` writes what [`read`] reads; the cubin's path follows.
pub const NVDISASM_ARGUMENTS: [&str; 2] = ["-c", "-gi"];

/// A line of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as the compiler names it: NVRTC puts its working directory in front.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
}

/// One machine instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SassInstruction {
    /// Bytes from the beginning of the kernel.
    pub address: u64,
    /// `P0`, `!UP1` …: executed where it holds.
    pub predicate: Option<String>,
    /// With its modifiers, such as `LDG.E.128.CONSTANT`.
    pub opcode: String,
    /// As written, labels included.
    pub operands: Vec<String>,
    /// Addresses of its labels: targets of branches and calls, and reconvergence points.
    pub targets: Vec<u64>,
    /// The line it came from, innermost first, then each line into which that was inlined.
    /// Empty where the compiler gives none.
    pub source: Arc<[SourceLine]>,
}

/// One section of code: a kernel with the functions it calls, or a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SassFunction {
    /// The symbol, mangled.
    pub name: String,
    /// In order of address.
    pub instructions: Vec<SassInstruction>,
    /// Labels and the symbols of functions inside, in order of address.
    pub labels: Vec<(String, u64)>,
}

/// Reads the output of `nvdisasm`; lines that are not code are ignored.
#[must_use]
pub fn read(text: &str) -> Vec<SassFunction> {
    let mut reader = reader::Reader::default();
    for line in text.lines() {
        reader.line(line);
    }
    reader.finish()
}
