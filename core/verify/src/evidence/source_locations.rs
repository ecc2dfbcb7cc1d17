//! Source locations: lines through inlining, statements as text, and the extent of assembly statements.

use std::collections::HashMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use lightbench_ptx::tree::{Location, Position};
use lightbench_ptx::{PtxLocation, SourceLine};

use super::index::Index;

/// A chain of inlined calls is as long as inlining is deep; a cycle in a forged text is not.
const LONGEST_CHAIN: usize = 64;

/// Bytes of an instruction that are worth showing.
const LONGEST_STATEMENT: usize = 200;

/// The source line that holds at the moment, while a function's statements are walked in order.
pub(super) struct SourceLocations<'a, 't> {
    index: &'a Index<'a, 't>,
    function: &'a str,
    current: Option<Location<'t>>,
    /// The last location at each position: an inlined call names its caller by position alone, and the compiler writes
    /// a call's own location before what was inlined there.
    latest: HashMap<Position, Location<'t>>,
}

impl<'a, 't> SourceLocations<'a, 't> {
    /// At the beginning of a function.
    pub(super) fn new(index: &'a Index<'a, 't>, function: &'a str) -> Self {
        Self { index, function, current: None, latest: HashMap::new() }
    }

    pub(super) fn enter(&mut self, location: &Location<'t>) {
        self.current = Some(*location);
        self.latest.insert(location.position, *location);
    }

    /// The innermost line first; empty where the compiler gives none.
    pub(super) fn source(&self) -> Vec<SourceLine> {
        let mut lines = Vec::new();
        let mut next = self.current;
        while let Some(location) = next.filter(|_| lines.len() < LONGEST_CHAIN) {
            lines.push(self.line(&location));
            next = location.inlined.map(|(_, caller)| match self.latest.get(&caller) {
                Some(known) => *known,
                None => Location { position: caller, inlined: None },
            });
        }
        lines
    }

    fn line(&self, location: &Location<'t>) -> SourceLine {
        let Position { file, line, column } = location.position;
        let function =
            location.inlined.map_or(self.function, |(label, _)| self.index.string(label));
        SourceLine {
            file: self.index.file(file).to_owned(),
            line,
            column,
            function: Some(function.to_owned()),
        }
    }
}

/// An assembly statement: the lines of the comments that the compiler puts before and behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Assembly {
    pub(super) begin: u32,
    pub(super) end: u32,
}

/// The text by lines.
pub(super) struct Text<'t> {
    text: &'t str,
    lines: Vec<usize>,
    assembly: Vec<Assembly>,
}

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(after).collect();
        Self { text, lines, assembly: assembly(text) }
    }

    /// The statement that begins at a place, without its `;`, blanks shortened and cut where it is long.
    pub(super) fn statement(&self, place: PtxLocation) -> String {
        let line = self.lines.get((place.line as usize).wrapping_sub(1)).copied();
        let start = line.unwrap_or(self.text.len()) + (place.column as usize).saturating_sub(1);
        let rest = self.text.get(start..).unwrap_or_default();
        let whole = rest.split(';').next().unwrap_or_default();
        let mut end = whole.len().min(LONGEST_STATEMENT);
        while !whole.is_char_boundary(end) {
            end -= 1;
        }
        let shown = whole.get(..end).unwrap_or_default();
        let mut words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        if end < whole.len() {
            words.push('…');
        }
        words
    }

    /// The assembly statements that begin between two lines.
    pub(super) fn assembly_between(&self, begin: u32, end: u32) -> Peekable<IntoIter<Assembly>> {
        let from = self.assembly.partition_point(|block| block.begin < begin);
        let to = self.assembly.partition_point(|block| block.begin < end);
        self.assembly.get(from..to).unwrap_or_default().to_vec().into_iter().peekable()
    }
}

/// Both of the compiler's back ends write these comments; no token has them.
fn assembly(text: &str) -> Vec<Assembly> {
    let mut blocks: Vec<Assembly> = Vec::new();
    for (line, words) in (1_u32..).zip(text.lines()) {
        match words.trim() {
            "// begin inline asm" => blocks.push(Assembly { begin: line, end: u32::MAX }),
            "// end inline asm" => {
                if let Some(block) = blocks.last_mut().filter(|block| block.end == u32::MAX) {
                    block.end = line;
                }
            }
            _ => {}
        }
    }
    blocks
}
