//! The compiler's log as values: errors and warnings with file, line, column and context.
//!
//! The log has no columns, but it prints the source line and a caret under it. Nothing is lost:
//! what is no diagnostic is handed on as text. Texts are kept as the compiler wrote them,
//! control characters included; whoever displays them cleans them.

pub(super) mod bidirectional_text;
mod header;
mod reader;

#[cfg(test)]
mod tests;

use header::Header;
use reader::Reader;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Belongs to another diagnostic.
    Note,
    /// Rarely worth a look.
    Remark,
    /// Compiles, but is probably not what was meant.
    Warning,
    /// Does not compile.
    Error,
    /// Compilation stopped here: `catastrophic error`, `fatal`, `internal error`.
    Fatal,
}

/// A line of a source file, as the compiler names it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SourcePlace {
    /// The file's name; what `#line` says if the source says so.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The line of source, as the compiler printed it.
    pub excerpt: Option<String>,
    /// The file is none of the given sources: a toolkit header, or forged with `#line`.
    pub foreign: bool,
}

impl SourcePlace {
    fn new(file: &str, line: u32, sources: &[&str]) -> Self {
        let foreign = !sources.contains(&file);
        Self { file: file.to_owned(), line, column: None, excerpt: None, foreign }
    }
}

/// What a diagnostic is about.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A line of source.
    Source(SourcePlace),
    /// The end of the kernel file: something was not closed.
    EndOfSource,
    /// A line of the generated PTX, as the assembler counts it, from 1.
    Ptx {
        /// The line.
        line: u32,
    },
    /// Nothing in particular.
    Nowhere,
}

/// Something said about a diagnostic: an instantiation context or a remark elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Note {
    /// Where, if it says so.
    pub place: Option<SourcePlace>,
    /// What, without the place.
    pub message: String,
}

/// One message of the compiler or the assembler.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Diagnostic {
    /// What it is about.
    pub place: Place,
    /// How bad it is.
    pub severity: Severity,
    /// The compiler's number for it, such as `177-D`.
    pub code: Option<String>,
    /// What is wrong; several lines where the compiler wrote several.
    pub message: String,
    /// Innermost context first.
    pub notes: Vec<Note>,
}

/// A compiler log, sorted into its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    /// In the order of the log.
    pub diagnostics: Vec<Diagnostic>,
    /// The assembler's `info` lines, for [`super::ptxas_log::read`].
    pub resources: String,
    /// Every line that is nothing of this, except the compiler's own summaries.
    pub other: String,
}

impl Log {
    /// The worst severity in it.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.diagnostics.iter().map(|each| each.severity).max()
    }
}

/// Reads the log of a compilation of the texts named `sources`.
///
/// A source can forge what this returns, within one compilation of its own: `#line` may name
/// any file, even one with a newline in its name.
#[must_use]
pub fn read(log: &str, sources: &[&str]) -> Log {
    let mut reader = Reader::default();
    for line in log.lines() {
        match Header::parse(line, sources) {
            Some(header) => reader.header(header),
            None => reader.plain(line, sources),
        }
    }
    reader.finish()
}
