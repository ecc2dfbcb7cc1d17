//! Problems of a project, each with its location and a suggestion.

use std::{io, ops::Range, path::PathBuf};

use lightbench_primitives::display_text::visible;
use thiserror::Error;

use super::{expression::ExpressionError, locate::Located};

/// One thing that is wrong in one place. All texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The file, relative to the project folder.
    pub file: PathBuf,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// Characters on that line: at least 1, and 0 if the file has no text.
    pub length: usize,
    /// Bytes of the file that the problem is about.
    pub span: Range<usize>,
    /// The field, such as `tensors[2].shape[1]`; empty for a problem of the whole file.
    pub field: String,
    /// The text found.
    pub found: String,
    /// The text expected.
    pub expected: String,
    /// A suggestion, if there is one.
    pub help: Option<String>,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = self.file.display().to_string();
        write!(formatter, "{}:{}:{}: ", visible(&file), self.line, self.column)?;
        if !self.field.is_empty() {
            write!(formatter, "{}: ", self.field)?;
        }
        write!(formatter, "{}; expected {}", self.found, self.expected)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(formatter, "; {help}"))
    }
}

/// Why a project cannot be used.
#[derive(Debug, Error)]
pub enum ProjectError {
    /// The project folder cannot be listed.
    #[error(
        "cannot read the folder {}: {source}; expected a folder with a project.ron",
        shown(folder)
    )]
    UnreadableFolder {
        /// The requested folder.
        folder: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The path is a file, and a folder is required.
    #[error("{} is not a folder; expected a folder with a project.ron", shown(path))]
    NotAFolder {
        /// The requested path.
        path: PathBuf,
    },
    /// A required file is missing.
    #[error(
        "{} is missing; expected every project to have one, and `lightbench new` writes one",
        shown(file)
    )]
    Missing {
        /// Path of the file.
        file: PathBuf,
    },
    /// A file cannot be read as text.
    #[error("{}: {reason}", shown(file))]
    Unreadable {
        /// Path of the file.
        file: PathBuf,
        /// Why not.
        reason: ReadError,
    },
    /// The files are readable and invalid: problems sorted by file and location.
    #[error("{}", summary(problems))]
    Problems {
        /// At least one.
        problems: Vec<Problem>,
    },
}

/// Why a file cannot be used as text.
#[derive(Debug, Error)]
pub enum ReadError {
    /// No such file.
    #[error("the file does not exist")]
    Missing,
    /// The file exceeds the size limit.
    #[error("the file has {bytes} bytes, and at most {limit} are read")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Bytes that are not text.
    #[error("byte {offset} (line {line}) is not UTF-8; save the file as UTF-8")]
    NotUtf8 {
        /// Bytes before the first bad one.
        offset: usize,
        /// The line it is on, counted from 1.
        line: usize,
    },
    /// A folder, pipe, socket or device.
    #[error("this is not a regular file")]
    NotAFile,
    /// A link, or a `..`, that leads out of the project folder.
    #[error("the file lies outside the project folder; copy it in, links out are not followed")]
    OutsideProject,
    /// Another error of the operating system.
    #[error("cannot read the file: {0}")]
    Failed(io::Error),
}

/// A file that cannot be used as text, as the problem that it is.
pub(super) fn unreadable(file: &std::path::Path, reason: &ReadError) -> Problem {
    let line = match reason {
        ReadError::NotUtf8 { line, .. } => *line,
        ReadError::Missing
        | ReadError::TooLarge { .. }
        | ReadError::NotAFile
        | ReadError::OutsideProject
        | ReadError::Failed(_) => 1,
    };
    Problem {
        file: file.to_path_buf(),
        line,
        column: 1,
        length: 0,
        span: 0..0,
        field: String::new(),
        found: visible(&reason.to_string()).into_owned(),
        expected: "a text file of the project".to_owned(),
        help: None,
    }
}

fn shown(path: &std::path::Path) -> String {
    visible(&path.display().to_string()).into_owned()
}

fn summary(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// A text with the locations of its values, for reporting problems.
#[derive(Debug)]
pub struct Source<'a> {
    pub(crate) file: PathBuf,
    pub(crate) text: &'a str,
    pub tree: Located,
}

/// The problems of one file, collected.
#[derive(Debug)]
pub struct Findings<'a> {
    source: &'a Source<'a>,
    problems: Vec<Problem>,
}

impl<'a> Findings<'a> {
    pub fn new(source: &'a Source<'a>) -> Self {
        Self { source, problems: Vec::new() }
    }

    /// An empty list about the same text.
    pub(super) fn separate(&self) -> Self {
        Self::new(self.source)
    }

    /// The problems, in the order of their places.
    pub fn into_problems(mut self) -> Vec<Problem> {
        sort(&mut self.problems);
        self.problems.dedup();
        self.problems
    }

    pub(super) fn count(&self) -> usize {
        self.problems.len()
    }

    pub fn add(&mut self, at: &Located, found: impl Into<String>, expected: impl Into<String>) {
        self.push(at.span.clone(), &found.into(), &expected.into(), None);
    }

    pub(crate) fn add_with_help(
        &mut self,
        at: &Located,
        found: impl Into<String>,
        expected: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(at.span.clone(), &found.into(), &expected.into(), Some(&help.into()));
    }

    /// A problem of a part of a string value, given as bytes of its decoded text.
    pub(super) fn add_inside(
        &mut self,
        at: &Located,
        inner: Range<usize>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        let span = at.text_span(self.source.text, inner);
        self.push(span, &found.into(), &expected.into(), None);
    }

    /// An unknown name, with the most similar known one.
    pub fn unknown(&mut self, at: &Located, what: &str, name: &str, known: &[&str]) {
        let expected = if known.is_empty() {
            format!("unknown {what}: the project has none")
        } else {
            format!("one of {}", known.join(", "))
        };
        let help = super::nearest::nearest(name, known.iter().copied())
            .map(|near| format!("write `{near}`"));
        self.push(at.span.clone(), &format!("unknown {what} `{name}`"), &expected, help.as_deref());
    }

    /// An error of an expression that is written somewhere inside `at`.
    pub(super) fn expression_inside(&mut self, at: &Located, text: &str, error: &ExpressionError) {
        let place = at.find_text(self.source.text, text).unwrap_or(at);
        self.expression(place, 0, error);
    }

    /// An error of the expression that is written at `at`, starting `skipped` bytes into its text.
    pub(super) fn expression(&mut self, at: &Located, skipped: usize, error: &ExpressionError) {
        let inner = skipped + error.span.start..skipped + error.span.end;
        let span = at.text_span(self.source.text, inner);
        let (found, expected) = (error.reason.to_string(), error.reason.expected());
        self.push(span, &found, &expected, error.reason.help().as_deref());
    }

    fn push(&mut self, span: Range<usize>, found: &str, expected: &str, help: Option<&str>) {
        let field = self.source.tree.path_of(&span);
        let place = SourceLocation { file: &self.source.file, text: self.source.text, span, field };
        self.problems.push(problem(place, found, expected, help));
    }
}

/// By file, then by place, so that a person reads them in the order of the text.
pub fn sort(problems: &mut [Problem]) {
    problems.sort_by(|left, right| {
        let place = |problem: &Problem| (problem.span.start, problem.span.end);
        left.file
            .cmp(&right.file)
            .then(place(left).cmp(&place(right)))
            .then(left.found.cmp(&right.found))
    });
}

/// The location of a problem.
pub struct SourceLocation<'a> {
    pub file: &'a std::path::Path,
    pub text: &'a str,
    pub span: Range<usize>,
    pub field: String,
}

/// Completes a problem with line and column, and makes its texts safe to show.
pub fn problem(
    place: SourceLocation<'_>,
    found: &str,
    expected: &str,
    help: Option<&str>,
) -> Problem {
    let SourceLocation { file, text, span, field } = place;
    let before = text.get(..span.start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let covered = text.get(span.clone()).unwrap_or_default().split('\n').next().unwrap_or_default();
    Problem {
        file: file.to_path_buf(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        length: covered.chars().count().max(1),
        span,
        field: visible(&field).into_owned(),
        found: shorten(&visible(found)),
        expected: visible(expected).into_owned(),
        help: help.map(|help| visible(help).into_owned()),
    }
}

/// The text found may be long; its beginning suffices.
fn shorten(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
