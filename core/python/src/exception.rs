//! Exceptions of Python code, with texts that are safe to show.

use std::fmt;
use std::path::PathBuf;

use lightbench_worker::printable;
use serde::{Deserialize, Serialize};

/// Most lines shown of an exception's message.
const MESSAGE_LINES: usize = 40;
/// Most calls shown of a traceback.
const FRAMES: usize = 32;

/// A Python exception. Its texts come from the code that raised it; control characters are replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// The name of its class.
    pub kind: String,
    /// Its message; may have several lines.
    pub message: String,
    /// The calls that led to it, outermost first, without those of the worker itself; the innermost 32.
    pub traceback: Vec<TracebackFrame>,
    /// For a failed import or a refused file: paths that the interpreter's packages name and the sandbox hides, such as
    /// the folder of an editable install.
    pub outside: Vec<PathBuf>,
}

/// One call of a traceback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracebackFrame {
    /// The file, as the code names it.
    pub file: String,
    /// The line, from 1; 0 if it is unknown.
    pub line: u32,
    /// The function.
    pub function: String,
    /// The text of the line; may be empty.
    pub text: String,
}

impl Exception {
    /// Replaces control characters and cuts what is too long: the texts come from untrusted code.
    pub(crate) fn into_printable(self) -> Self {
        let lines = self.message.lines().take(MESSAGE_LINES).map(printable);
        let frame = |frame: TracebackFrame| TracebackFrame {
            file: printable(&frame.file),
            line: frame.line,
            function: printable(&frame.function),
            text: printable(&frame.text),
        };
        let first = self.traceback.len().saturating_sub(FRAMES);
        let path = |path: PathBuf| PathBuf::from(printable(&path.to_string_lossy()));
        Self {
            kind: printable(&self.kind),
            message: lines.collect::<Vec<_>>().join("\n"),
            traceback: self.traceback.into_iter().skip(first).map(frame).collect(),
            outside: self.outside.into_iter().take(FRAMES).map(path).collect(),
        }
    }

    /// The innermost call in a file of this name.
    #[must_use]
    pub fn innermost_in(&self, file: &str) -> Option<&TracebackFrame> {
        self.traceback.iter().rev().find(|frame| frame.file == file)
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.kind, self.message)?;
        if let Some(TracebackFrame { file, line, function, .. }) = self.traceback.last() {
            write!(formatter, " (in {function}, {file}:{line})")?;
        }
        if self.outside.is_empty() {
            return Ok(());
        }
        let paths: Vec<String> =
            self.outside.iter().map(|it| format!("`{}`", it.display())).collect();
        write!(
            formatter,
            "; the Python worker reads only the interpreter's own folders, and not {}, which this interpreter's packages \
             or this code name: install such a package without `--editable`, or add its folder to the interpreter's \
             environment",
            paths.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exception(message: &str, outside: &[&str]) -> Exception {
        let frame = |line| TracebackFrame {
            file: "reference.py".to_owned(),
            line,
            function: "run\u{1b}[31m".to_owned(),
            text: String::new(),
        };
        Exception {
            kind: "ImportError".to_owned(),
            message: message.to_owned(),
            traceback: (1..100).map(frame).collect(),
            outside: outside.iter().map(PathBuf::from).collect(),
        }
    }

    #[test]
    fn texts_of_untrusted_code_are_cut_and_cannot_control_a_terminal() {
        let long = exception(&"x\u{7}\n".repeat(10_000), &[]).into_printable();
        assert_eq!(long.message.lines().count(), MESSAGE_LINES);
        assert_eq!(long.traceback.len(), FRAMES);
        assert_eq!(long.traceback.last().map(|frame| frame.line), Some(99));
        assert!(!long.to_string().contains(['\u{1b}', '\u{7}']), "{long}");
    }

    #[test]
    fn a_message_names_the_line_and_hidden_packages() {
        let text = exception("no module named x", &["/home/user/x"]).to_string();
        for part in
            ["ImportError: no module named x", "reference.py:99", "`/home/user/x`", "--editable"]
        {
            assert!(text.contains(part), "{text}");
        }
        assert!(!exception("", &[]).to_string().contains("--editable"));
    }
}
