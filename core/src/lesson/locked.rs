//! Locked lines of a kernel, which the student must not change: from `// lesson: locked` up to and including
//! `// lesson: open`, or the end of the file.
//!
//! ```text
//!  // lesson: locked, the task fixes the number of threads
//!  …
//!  // lesson: open
//! ```

use std::ops::Range;

/// The prefix of a marker.
const MARK: &str = "// lesson:";

/// A range of locked lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// From 1, the last one excluded.
    pub lines: Range<usize>,
    /// The reason in the marker; empty if it has none.
    pub why: String,
}

/// A marker that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// From 1.
    pub line: usize,
    /// The marker found.
    pub found: String,
    /// The marker expected.
    pub expected: &'static str,
}

/// The locked lines of a text, and the misplaced markers.
#[must_use]
pub fn locked(text: &str) -> (Vec<Locked>, Vec<Misplaced>) {
    let (mut all, mut misplaced) = (Vec::new(), Vec::new());
    let mut open: Option<Locked> = None;
    for (line, said) in text.lines().zip(1..).filter_map(|(text, line)| Some((line, mark(text)?))) {
        let (word, why) = said.split_once(',').unwrap_or((said, ""));
        let mut wrong = |expected| {
            misplaced.push(Misplaced { line, found: format!("`{MARK} {said}`"), expected });
        };
        match (word.trim(), open.take()) {
            ("locked", None) => {
                open = Some(Locked { lines: line..line + 1, why: why.trim().to_owned() });
            }
            ("open", Some(before)) => {
                all.push(Locked { lines: before.lines.start..line + 1, ..before });
            }
            ("locked", Some(before)) => {
                wrong("`// lesson: open` before lines are locked again");
                open = Some(before);
            }
            ("open", None) => wrong("`// lesson: locked` before it"),
            (_, before) => {
                wrong("`// lesson: locked` or `// lesson: open`");
                open = before;
            }
        }
    }
    if let Some(before) = open {
        let end = text.lines().count() + 1;
        all.push(Locked { lines: before.lines.start..end, ..before });
    }
    (all, misplaced)
}

/// The text of locked lines, for comparing the tasks of two kernels.
#[must_use]
pub fn texts<'a>(text: &'a str, locked: &[Locked]) -> Vec<Vec<&'a str>> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let of = |locked: &Locked| {
        let Range { start, end } = locked.lines;
        lines.get(start - 1..end - 1).unwrap_or_default().to_vec()
    };
    locked.iter().map(of).collect()
}

/// The locked lines of a text: those of two kernels for the same task are equal.
#[must_use]
pub fn locked_texts(text: &str) -> Vec<Vec<&str>> {
    let (locked, _) = locked(text);
    texts(text, &locked)
}

/// The text of a line after the marker.
fn mark(line: &str) -> Option<&str> {
    line.trim().strip_prefix(MARK).map(str::trim)
}
