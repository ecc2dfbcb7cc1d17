//! Source locations, each stored once, with the chain of inlined calls. PTX ISA, section "Debugging Directives:
//! .loc".

use std::collections::HashMap;
use std::fmt;

use lightbench_ptx::tree::{self, Position, Tree};

/// The index of a location of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationId(pub u32);

/// The source location of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file number.
    pub file: u32,
    /// Line, counted from one; zero if the compiler generated the instruction.
    pub line: u32,
    /// Column, counted from one.
    pub column: u32,
    /// The inlined call, if there is one.
    pub inlined: Option<Inlined>,
}

/// An inlined call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlined {
    /// The mangled name of the function.
    pub function: String,
    /// The location of the call.
    pub caller: LocationId,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// The file name in the line information of the compiler.
    pub file: String,
    /// Line, counted from one.
    pub line: u32,
    /// Column, counted from one.
    pub column: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

pub(super) fn source_line(files: &[(u32, String)], location: &Location) -> SourceLine {
    let file = files.iter().find(|(index, _)| *index == location.file);
    SourceLine {
        file: file.map_or_else(|| format!("file {}", location.file), |(_, path)| path.clone()),
        line: location.line,
        column: location.column,
    }
}

/// Whether a file is in the folder of another file or below it.
pub(super) fn lies_beside(file: &str, other: &str) -> bool {
    match other.rsplit_once(['/', '\\']) {
        Some((folder, _)) => {
            file.strip_prefix(folder).is_some_and(|rest| rest.starts_with(['/', '\\']))
        }
        None => !file.starts_with('/'),
    }
}

/// The locations of a module while it is read.
pub(super) struct Locations<'a> {
    all: Vec<Location>,
    known: HashMap<tree::Location<'a>, LocationId>,
    /// The last location at each position: an inlined call refers to its caller by position alone.
    latest: HashMap<Position, LocationId>,
    names: HashMap<&'a str, &'a str>,
}

impl<'a> Locations<'a> {
    pub(super) fn new(tree: &'a Tree<'_>) -> Self {
        let names = tree.strings.iter().map(|(label, name)| (*label, name.as_str())).collect();
        Self { all: Vec::new(), known: HashMap::new(), latest: HashMap::new(), names }
    }

    pub(super) fn add(&mut self, written: &tree::Location<'a>) -> LocationId {
        if let Some(known) = self.known.get(written) {
            self.latest.insert(written.position, *known);
            return *known;
        }
        let inlined = written.inlined.map(|(label, position)| {
            let caller = match self.latest.get(&position) {
                Some(caller) => *caller,
                None => self.push(position, None),
            };
            let function = self.names.get(label).copied().unwrap_or(label);
            Inlined { function: function.to_owned(), caller }
        });
        let id = self.push(written.position, inlined);
        self.known.insert(*written, id);
        id
    }

    fn push(&mut self, position: Position, inlined: Option<Inlined>) -> LocationId {
        let id = LocationId(self.all.len() as u32);
        let Position { file, line, column } = position;
        self.all.push(Location { file, line, column, inlined });
        self.latest.insert(position, id);
        id
    }

    pub(super) fn get(&self, id: LocationId) -> Option<&Location> {
        self.all.get(id.0 as usize)
    }

    pub(super) fn into_all(self) -> Vec<Location> {
        self.all
    }
}
