//! Faults below the source lines that committed them.

use lightbench_core::compile::diagnostics::SourcePlace;
use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::device::LaunchFault;
use lightbench_core::virtual_gpu::module::SourceLine;
use lightbench_core::virtual_gpu::{Fault, OtherSide};

use super::code::Code;
use crate::commands::check::kernel_file;
use crate::diagnostics;

/// Letters of a source line that a note quotes.
const MOST_SOURCE: usize = 80;

/// A fault as a person reads it.
pub(super) fn of(fault: &LaunchFault, code: &Code) -> String {
    match fault {
        LaunchFault::Seen(fault) => seen(fault, code),
        LaunchFault::Reported { kind, kernel, details, .. } => {
            let notes = [format!("in kernel {kernel}; a GPU does not say where")];
            diagnostics::of_fault((kind.word(), details), None, &notes, &code.sources())
        }
    }
}

fn seen(fault: &Fault, code: &Code) -> String {
    let kernel = with_readable_names(&fault.kernel);
    let (block, thread) = (position(fault.block), position(fault.thread));
    let mut notes = vec![format!("kernel {kernel}, block {block}, thread {thread}")];
    notes.extend(instruction(fault.place.line, code));
    notes.extend(fault.other.as_ref().map(|other| other_side(other, code)));
    let place = source_place(fault.place.line, fault.source_line.as_ref(), code);
    let details = sentence(&fault.details, code);
    let title = (fault.kind.word(), details.as_str());
    diagnostics::of_fault(title, place.as_ref(), &notes, &code.sources())
}

/// What happened, with the names of variables and files that people gave them.
pub(super) fn sentence(details: &str, code: &Code) -> String {
    with_readable_names(&code.artifact.names.in_text(details))
}

/// Faults of the same kind on the same line, or between the same two lines, say the same: the first of them, and how
/// many others there are.
pub(super) fn grouped<'f>(faults: &'f [LaunchFault], code: &Code) -> Vec<(&'f LaunchFault, usize)> {
    let mut groups: Vec<(_, &LaunchFault, usize)> = Vec::new();
    for fault in faults {
        let LaunchFault::Seen(seen) = fault else {
            groups.push((None, fault, 0));
            continue;
        };
        let line = |ptx_line| code.own_line(ptx_line).map_or((0, ptx_line), |own| (own.line, 0));
        let other = seen.other.as_ref().map(|other| (line(other.place.line), other.access));
        let key = Some((seen.kind, line(seen.place.line), seen.buffer.as_deref(), other));
        match groups.iter_mut().find(|(known, ..)| *known == key) {
            Some((_, _, others)) => *others += 1,
            None => groups.push((key, fault, 0)),
        }
    }
    groups.into_iter().map(|(_, first, others)| (first, others)).collect()
}

/// Something about a line of PTX.
pub(super) fn at_ptx(
    message: &str,
    (line, column): (u32, u32),
    source_line: Option<&SourceLine>,
    code: &Code,
) -> String {
    let mut place = source_place(line, source_line, code);
    if let (lightbench_core::project::Language::Ptx, Some(place)) = (code.file.language, &mut place)
    {
        place.column = Some(column);
    }
    let notes: Vec<String> = instruction(line, code).into_iter().collect();
    diagnostics::of_fault(("load", message), place.as_ref(), &notes, &code.sources())
}

fn other_side(other: &OtherSide, code: &Code) -> String {
    let line = code.own_line(other.place.line).map(|at| format!("line {}", at.line));
    let place = line.unwrap_or_else(|| format!("PTX line {}", other.place.line));
    let text = code.own_line(other.place.line).and_then(|at| {
        let index = usize::try_from(at.line).ok()?.checked_sub(1)?;
        let text = code.file.source.lines().nth(index)?.trim();
        let short: String = text.chars().take(MOST_SOURCE).collect();
        Some(format!(": {short}{}", if short.len() < text.len() { "…" } else { "" }))
    });
    format!(
        "the other side: {} by block {}, thread {} at {place}{}",
        other.access,
        position(other.block),
        position(other.thread),
        text.unwrap_or_default()
    )
}

/// The instruction, where the file is not itself PTX.
fn instruction(line: u32, code: &Code) -> Option<String> {
    match code.file.language {
        lightbench_core::project::Language::Cuda => {
            Some(format!("PTX line {line}: {}", code.ptx_text(line)?.replace('\t', " ")))
        }
        lightbench_core::project::Language::Ptx => None,
    }
}

/// The line of the launched file, else whatever the PTX names.
fn source_place(ptx_line: u32, named: Option<&SourceLine>, code: &Code) -> Option<SourcePlace> {
    let place = |file: String, line, column: u32, foreign| SourcePlace {
        file,
        line,
        column: Some(column).filter(|column| *column > 0),
        excerpt: None,
        foreign,
    };
    if let Some(own) = code.own_line(ptx_line) {
        return Some(place(kernel_file::shown_name(&code.file), own.line, own.column, false));
    }
    let named = named?;
    Some(place(code.artifact.names.known(&named.file).to_owned(), named.line, named.column, true))
}

/// `(3, 0, 0)`
pub(in crate::commands) fn position([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}
