//! Parser of the compiler's log: errors and warnings with file, line, column and context.
//!
//! The log has no column numbers; columns come from the caret below the printed source line. Lines that are not part of a
//! diagnostic are kept as text. Texts are kept as the compiler wrote them, with control characters, which the code that
//! displays them must replace.

pub(super) mod bidirectional_text;
mod header;
mod reader;

#[cfg(test)]
mod tests;

use header::Header;
use reader::Reader;

/// Severity of a diagnostic, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// An addition to another diagnostic.
    Note,
    /// Information of little importance.
    Remark,
    /// The source compiles but is probably wrong.
    Warning,
    /// The source does not compile.
    Error,
    /// The compilation stopped here: `catastrophic error`, `fatal`, `internal error`.
    Fatal,
}

/// A line of a source file, with the file name that the compiler reports.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SourcePlace {
    /// The file's name, or the name in a `#line` directive.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The line of source, as the compiler printed it.
    pub excerpt: Option<String>,
    /// Whether the file is not among the given sources: a toolkit header, or a name from a `#line` directive.
    pub foreign: bool,
}

impl SourcePlace {
    fn new(file: &str, line: u32, sources: &[&str]) -> Self {
        let foreign = !sources.contains(&file);
        Self { file: file.to_owned(), line, column: None, excerpt: None, foreign }
    }
}

/// Location of a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A line of source.
    Source(SourcePlace),
    /// The end of the kernel file, for example after a missing bracket.
    EndOfSource,
    /// A line of the generated PTX, from 1.
    Ptx {
        /// The line.
        line: u32,
    },
    /// No location.
    Nowhere,
}

/// An addition to a diagnostic: an instantiation context, or a note at another location.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Note {
    /// Its location, if the log has one.
    pub place: Option<SourcePlace>,
    /// The message without the location.
    pub message: String,
}

/// One message of the compiler or the assembler.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Diagnostic {
    /// Its location.
    pub place: Place,
    /// Its severity.
    pub severity: Severity,
    /// The compiler's number for it, such as `177-D`.
    pub code: Option<String>,
    /// The message, which may have several lines.
    pub message: String,
    /// Innermost context first.
    pub notes: Vec<Note>,
}

impl Diagnostic {
    /// The location and the message in one line.
    pub(super) fn in_line(&self) -> String {
        let message = self.message.split_whitespace().collect::<Vec<_>>().join(" ");
        match &self.place {
            Place::Source(place) if place.foreign => {
                format!("{}, line {}: {message}", place.file, place.line)
            }
            Place::Source(place) => format!("line {}: {message}", place.line),
            Place::EndOfSource => format!("at the end of the file: {message}"),
            Place::Ptx { line } => format!("line {line} of the PTX: {message}"),
            Place::Nowhere => message,
        }
    }
}

/// A compiler log, sorted into its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    /// In the order of the log.
    pub diagnostics: Vec<Diagnostic>,
    /// The assembler's `info` lines, for [`super::ptxas_log::read`].
    pub resources: String,
    /// All other lines except the compiler's summaries.
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
/// A source can forge diagnostics of its own compilation: `#line` may name any file, even with a newline in the name.
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
