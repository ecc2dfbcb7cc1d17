//! Machine code as text (`nvdisasm`) read into instructions with their source lines, scheduling bits and live registers.
//!
//! The tool also writes JSON, but without the table behind its `source-file-id` and without
//! inlining; the text form has file names and the whole chain, at the same cost. It prints live registers only without
//! source lines, so that there are two listings.

mod control;
mod live;
mod reader;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use control::Control;

/// The arguments for the listing of the code; the cubin's path follows.
pub const CODE_ARGUMENTS: [&str; 3] = ["-c", "-gi", "-hex"];
/// The arguments for the listing of live registers.
pub const LIVE_ARGUMENTS: [&str; 3] = ["-c", "-lrm", "count"];

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
    /// The scheduling bits; `None` if the listing has no encodings.
    pub control: Option<Control>,
    /// The number of general registers that hold a value, as the disassembler counts them.
    pub live_registers: Option<u32>,
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

/// Reads the two listings of `nvdisasm`, the second of which may be empty; lines that are not code are ignored.
#[must_use]
pub fn read(code: &str, live: &str) -> Vec<SassFunction> {
    let mut reader = reader::Reader::default();
    for line in code.lines() {
        reader.line(line);
    }
    let mut functions = reader.finish();
    live::add(&mut functions, live);
    functions
}

/// The function of a line `.section .text.NAME`; `Some(None)` for a section without code.
fn section_of(line: &str) -> Option<Option<&str>> {
    let rest = line.strip_prefix(".section")?.trim_start();
    let name = rest.split(',').next().unwrap_or_default();
    // Tools write comments behind the line.
    let name = name.split_whitespace().next().unwrap_or_default().trim_matches('"');
    Some(name.strip_prefix(".text."))
}
