//! Maps a line of PTX to its source lines, through all inlined functions.

use std::collections::HashMap;

/// A line of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as the compiler names it: NVRTC puts its working directory in front.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, or 0 for the whole line.
    pub column: u32,
    /// The inlined function that the line belongs to, mangled.
    pub function: Option<String>,
}

/// File number, line and column of a `.loc`.
pub(super) type Position = (u32, u32, u32);

/// Number of the label that represents a function's name.
pub(super) type Label = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) position: Position,
    pub(super) function: Option<Label>,
    /// Where that function was inlined.
    pub(super) inlined_at: Option<Position>,
}

/// The content of the `.file` and `.loc` directives of one text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineMap {
    files: HashMap<u32, String>,
    /// First line of PTX of each location, ascending; `None` between functions.
    changes: Vec<(u32, Option<Location>)>,
    labels: HashMap<String, Label>,
    /// Names of inlined functions; until the name is met, the label itself.
    names: Vec<String>,
    /// The call that inlined each position.
    callers: HashMap<Position, (Option<Label>, Position)>,
}

impl LineMap {
    /// The source of a line of PTX (from 1): the innermost line first, then each line into which it was inlined. Empty
    /// if the compiler recorded none.
    #[must_use]
    pub fn at(&self, ptx_line: u32) -> Vec<SourceLine> {
        let after = self.changes.partition_point(|(from, _)| *from <= ptx_line);
        let found = after.checked_sub(1).and_then(|at| self.changes[at].1);
        let Some(location) = found else { return Vec::new() };
        let mut lines = vec![self.line(location.position, location.function)];
        let mut outer = location.inlined_at;
        // A chain is as long as inlining is deep; a cycle in a forged text is not.
        while let Some(position) = outer.filter(|_| lines.len() < 64) {
            let caller = self.callers.get(&position);
            let function = caller.and_then(|(function, _)| *function);
            lines.push(self.line(position, function));
            outer = caller.map(|(_, next)| *next);
        }
        lines.retain(|each| each.line > 0);
        lines
    }

    /// The files named, in no order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let mut files: Vec<&str> = self.files.values().map(String::as_str).collect();
        files.sort_unstable();
        files.into_iter()
    }

    fn line(&self, (file, line, column): Position, label: Option<Label>) -> SourceLine {
        let name = |label: Label| self.names.get(usize::try_from(label).ok()?).cloned();
        SourceLine {
            file: self.files.get(&file).cloned().unwrap_or_default(),
            line,
            column,
            function: label.and_then(name),
        }
    }

    pub(super) fn add_file(&mut self, number: u32, name: &str) {
        self.files.insert(number, name.to_owned());
    }

    pub(super) fn add_name(&mut self, label: &str, name: String) {
        let number = self.label(label);
        if let Some(known) = usize::try_from(number).ok().and_then(|at| self.names.get_mut(at)) {
            *known = name;
        }
    }

    pub(super) fn label(&mut self, label: &str) -> Label {
        if let Some(known) = self.labels.get(label) {
            return *known;
        }
        let number = Label::try_from(self.names.len()).unwrap_or(Label::MAX);
        self.labels.insert(label.to_owned(), number);
        self.names.push(label.to_owned());
        number
    }

    pub(super) fn change(&mut self, ptx_line: u32, location: Option<Location>) {
        if self.changes.last().is_some_and(|(_, last)| *last == location) {
            return;
        }
        if let Some(Location { position, function, inlined_at: Some(outer) }) = location {
            self.callers.insert(position, (function, outer));
        }
        self.changes.push((ptx_line, location));
    }
}
