//! Maps a line of PTX to its source lines, through all inlined functions.

use std::collections::HashMap;

use super::tree::{self, Position, Statement, Tree};

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

/// The index of an inlined function's name.
type NameId = usize;

/// The content of one `.loc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Location {
    position: Position,
    /// The inlined function, and the position of the call.
    inlined: Option<(NameId, Position)>,
}

/// The content of the `.file` and `.loc` directives of one text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineMap {
    files: HashMap<u32, String>,
    /// First line of PTX of each location, ascending; `None` between functions.
    changes: Vec<(u32, Option<Location>)>,
    /// Names of inlined functions; the label of a name that the text does not define.
    names: Vec<String>,
    /// The inlined function of each position, and the position of the call.
    callers: HashMap<Position, (NameId, Position)>,
}

impl LineMap {
    /// The source of a line of PTX (from 1): the innermost line first, then each line into which it was inlined. Empty
    /// if the compiler recorded none.
    #[must_use]
    pub fn at(&self, ptx_line: u32) -> Vec<SourceLine> {
        let after = self.changes.partition_point(|(from, _)| *from <= ptx_line);
        let found = after.checked_sub(1).and_then(|at| self.changes[at].1);
        let Some(location) = found else { return Vec::new() };
        let mut lines = Vec::new();
        let mut next = Some((location.position, location.inlined));
        // A chain is as long as inlining is deep; a cycle in a forged text is not.
        while let Some((position, inlined)) = next.filter(|_| lines.len() < 64) {
            lines.push(self.line(position, inlined.map(|(name, _)| name)));
            next = inlined.map(|(_, caller)| (caller, self.callers.get(&caller).copied()));
        }
        lines.retain(|each| each.line > 0);
        lines
    }

    /// The files named, sorted.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let mut files: Vec<&str> = self.files.values().map(String::as_str).collect();
        files.sort_unstable();
        files.into_iter()
    }

    /// The line information of a module.
    pub(super) fn from_tree(tree: &Tree<'_>) -> Self {
        let strings = tree.strings.iter().map(|(label, name)| (*label, name.as_str()));
        let mut reader =
            Reader { map: Self::default(), strings: strings.collect(), known: HashMap::new() };
        for file in &tree.files {
            reader.map.files.insert(file.index, file.path.to_owned());
        }
        for function in &tree.functions {
            let Some(body) = &function.body else { continue };
            for statement in &body.statements {
                if let Statement::Location(location, place) = statement {
                    reader.location(location, place.line);
                }
            }
            reader.change(function.end.line.saturating_add(1), None);
        }
        reader.map
    }

    fn line(&self, position: Position, name: Option<NameId>) -> SourceLine {
        SourceLine {
            file: self.files.get(&position.file).cloned().unwrap_or_default(),
            line: position.line,
            column: position.column,
            function: name.and_then(|name| self.names.get(name)).cloned(),
        }
    }
}

/// A line map while the functions of a module are read.
struct Reader<'a> {
    map: LineMap,
    /// Names of inlined functions by label.
    strings: HashMap<&'a str, &'a str>,
    /// The names that the map contains, by label.
    known: HashMap<&'a str, NameId>,
}

impl<'a> Reader<'a> {
    fn location(&mut self, written: &tree::Location<'a>, ptx_line: u32) {
        let position = written.position;
        let inlined = written.inlined.map(|(label, caller)| (self.name(label), caller));
        if let Some(inlined) = inlined {
            self.map.callers.insert(position, inlined);
        }
        self.change(ptx_line, Some(Location { position, inlined }));
    }

    fn name(&mut self, label: &'a str) -> NameId {
        let names = &mut self.map.names;
        *self.known.entry(label).or_insert_with(|| {
            names.push(self.strings.get(label).copied().unwrap_or(label).to_owned());
            names.len() - 1
        })
    }

    fn change(&mut self, ptx_line: u32, location: Option<Location>) {
        let changes = &mut self.map.changes;
        if changes.last().is_none_or(|(_, last)| *last != location) {
            changes.push((ptx_line, location));
        }
    }
}
