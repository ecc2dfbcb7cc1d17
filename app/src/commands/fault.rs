//! A fault as people and programs read it: below the source line that committed it.

use lightbench_core::compile::diagnostics::SourcePlace;
use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::verify::fault_report::{CodePlace, FaultReport, OtherReport};

use crate::diagnostics;
use crate::report::Sources;

/// Letters of a source line that a note quotes.
const MOST_SOURCE: usize = 80;

/// What stands beside a fault.
pub(super) struct Quoted<'a> {
    /// The texts that are quoted.
    pub(super) sources: Sources<'a>,
    /// The kernel file, as the compiler is told to call it.
    pub(super) main: String,
    /// The PTX, where its lines are quoted too: not where it is the file itself.
    pub(super) ptx: Option<&'a str>,
}

/// A fault as a person reads it.
pub(super) fn text(fault: &FaultReport, quoted: &Quoted<'_>) -> String {
    let name = with_readable_names(&fault.kernel);
    let mut notes = Vec::new();
    let mut place = None;
    match &fault.seen {
        Some(seen) => {
            let (block, thread) = (position(seen.block), position(seen.thread));
            notes.push(format!("kernel {name}, block {block}, thread {thread}"));
            notes.extend(quoted.instruction(seen.place.ptx.0));
            place = quoted.place(&seen.place);
        }
        None => notes.push(format!("in kernel {name}; a GPU does not say where")),
    }
    notes.extend(fault.other.as_ref().map(|other| quoted.other_side(other)));
    let details = with_readable_names(&fault.details);
    diagnostics::of_fault((&word(fault), &details), place.as_ref(), &notes, &quoted.sources)
}

/// The word for the rule that was broken.
pub(super) fn word(fault: &FaultReport) -> String {
    let kind = serde_json::to_value(fault.kind).unwrap_or_default();
    kind.as_str().unwrap_or_default().to_owned()
}

/// `(3, 0, 0)`
pub(super) fn position([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

impl Quoted<'_> {
    /// Where it is quoted from, if the source says.
    pub(super) fn place(&self, place: &CodePlace) -> Option<SourcePlace> {
        let (file, line, column) = place.source.as_ref()?;
        Some(SourcePlace {
            file: file.clone(),
            line: *line,
            column: Some(*column).filter(|column| *column > 0),
            excerpt: None,
            foreign: *file != self.main,
        })
    }

    /// The instruction at a line of PTX.
    pub(super) fn instruction(&self, line: u32) -> Option<String> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let text = self.ptx?.lines().nth(index)?.trim();
        Some(format!("PTX line {line}: {}", text.replace('\t', " ")))
    }

    fn other_side(&self, other: &OtherReport) -> String {
        let at = match &other.place.source {
            Some((file, line, _)) if *file == self.main => format!("line {line}"),
            Some((file, line, _)) => format!("{file}:{line}"),
            None => format!("PTX line {}", other.place.ptx.0),
        };
        let text = other.place.source.as_ref().and_then(|(file, line, _)| {
            let text = self.sources.line(file, *line)?.trim();
            let short: String = text.chars().take(MOST_SOURCE).collect();
            Some(format!(": {short}{}", if short.len() < text.len() { "…" } else { "" }))
        });
        let (block, thread) = (position(other.block), position(other.thread));
        let text = text.unwrap_or_default();
        format!("the other side: {} by block {block}, thread {thread} at {at}{text}", other.access)
    }
}
