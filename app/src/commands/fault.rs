//! A fault as text and JSON, with the source line that caused it.

use lightbench_core::compile::diagnostics::SourcePlace;
use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::verify::fault_report::{CodePlace, FaultReport, OtherReport};

use crate::diagnostics;
use crate::report::Sources;

/// Maximum number of quoted characters of a source line.
const MOST_SOURCE: usize = 80;

/// The texts that a fault quotes.
pub(super) struct Quoted<'a> {
    pub(super) sources: Sources<'a>,
    /// The kernel file, by its name for the compiler.
    pub(super) main: String,
    /// The PTX, if its lines are quoted too: not if it is the launched file itself.
    pub(super) ptx: Option<&'a str>,
}

/// A fault as text.
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
        None => notes.push(format!("in kernel {name}; a GPU does not report the location")),
    }
    notes.extend(fault.other.as_ref().map(|other| quoted.other_side(other)));
    let details = with_readable_names(&fault.details);
    diagnostics::fault((&word(fault), &details), place.as_ref(), &notes, &quoted.sources)
}

/// The name of the violated rule.
fn word(fault: &FaultReport) -> String {
    let kind = serde_json::to_value(fault.kind).unwrap_or_default();
    kind.as_str().unwrap_or_default().to_owned()
}

pub(super) fn position([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

impl Quoted<'_> {
    /// The quoted location, if the source is known.
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
        format!(
            "the other access: {} by block {block}, thread {thread} at {at}{text}",
            other.access
        )
    }
}
