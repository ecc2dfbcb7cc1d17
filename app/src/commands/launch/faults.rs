//! Faults of a launch, with source names and locations, and with repetitions grouped.

use std::collections::BTreeSet;

use lightbench_core::device::LaunchFault;
use lightbench_core::project::Language;
use lightbench_core::project::launch::expectation::FaultKind;
use lightbench_core::verify::fault_report::{CodePlace, FaultReport};
use lightbench_core::virtual_gpu::module::SourceLine;

use super::code::CompiledCode;
use crate::commands::fault::Quoted;
use crate::diagnostics;

/// A fault with source locations and parameter names.
pub(super) fn resolve(fault: &LaunchFault, code: &CompiledCode) -> FaultReport {
    let mut fault = FaultReport::from(fault.clone());
    fault.settle(&code.origins);
    name_constant_store(&mut fault, &code.origins.file, &constant_stores(&code.warnings()));
    fault
}

/// The NVRTC warning about a store to constant memory, which the compiler replaces by a trap.
const CONSTANT_STORE: &str = "Cannot store to pointer that points to constant memory space";

/// Lines of stores to constant memory, from the compiler's warnings.
fn constant_stores(warnings: &str) -> BTreeSet<u32> {
    let line = |text: &str| {
        let (before, _) = text.split_once(CONSTANT_STORE)?;
        let (_, number) = before.rsplit_once('(')?;
        number.split_once(')')?.0.parse().ok()
    };
    warnings.lines().filter_map(line).collect()
}

/// Attributes a trap without a source statement to the store that the compiler replaced by it.
fn name_constant_store(fault: &mut FaultReport, file: &str, lines: &BTreeSet<u32>) {
    let Some(seen) = &mut fault.seen else { return };
    if fault.kind != FaultKind::Trap || seen.place.source.is_some() || lines.is_empty() {
        return;
    }
    if let (1, Some(line)) = (lines.len(), lines.first()) {
        seen.place.source = Some((file.to_owned(), *line, 0));
    }
    let numbers: Vec<String> = lines.iter().map(u32::to_string).collect();
    fault.kind = FaultKind::ReadOnlyWrite;
    fault.details = format!(
        "a store to constant memory (line {}), which a kernel cannot write; the compiler replaced it by a trap: declare the variable `__device__` instead of `__constant__`",
        numbers.join(", ")
    );
}

/// The texts that a fault of this file quotes.
pub(super) fn quoted(code: &CompiledCode) -> Quoted<'_> {
    let ptx = match code.file.language {
        Language::Cuda | Language::Triton => Some(code.artifact.ptx.as_str()),
        Language::Ptx => None,
    };
    Quoted { sources: code.sources(), main: code.origins.file.clone(), ptx }
}

/// Groups faults of one kind at one line or pair of lines: the first fault, and the number of others.
pub(super) fn grouped<'f>(
    faults: &'f [FaultReport],
    code: &CompiledCode,
) -> Vec<(&'f FaultReport, usize)> {
    let line = |place: &CodePlace| match &place.source {
        Some((file, line, _)) if *file == code.origins.file => (*line, 0),
        Some(_) | None => (0, place.ptx.0),
    };
    let mut groups: Vec<(_, &FaultReport, usize)> = Vec::new();
    for fault in faults {
        let Some(seen) = &fault.seen else {
            groups.push((None, fault, 0));
            continue;
        };
        let other = fault.other.as_ref().map(|other| (line(&other.place), other.access.as_str()));
        let key = Some((fault.kind, line(&seen.place), fault.buffer.as_deref(), other));
        match groups.iter_mut().find(|(known, ..)| *known == key) {
            Some((_, _, others)) => *others += 1,
            None => groups.push((key, fault, 0)),
        }
    }
    groups.into_iter().map(|(_, first, others)| (first, others)).collect()
}

/// A message at a line of PTX.
pub(super) fn at_ptx(
    message: &str,
    (line, column): (u32, u32),
    source_line: Option<&SourceLine>,
    code: &CompiledCode,
) -> String {
    let named = source_line.map(|line| (line.file.clone(), line.line, line.column));
    let mut place = CodePlace { ptx: (line, column), source: named };
    code.origins.settle(&mut place);
    let quoted = quoted(code);
    let notes: Vec<String> = quoted.instruction(line).into_iter().collect();
    let place = quoted.place(&place);
    diagnostics::fault(("load", message), place.as_ref(), &notes, &quoted.sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_stores_to_constant_memory_are_read_from_the_warnings() {
        let warnings = format!(
            "warning: /lightbench/k.cu(16): Warning: {CONSTANT_STORE}\n\
             warning: /lightbench/k.cu(16): Warning: {CONSTANT_STORE}\n\
             warning: k.cu(3): unused variable\n"
        );
        assert_eq!(constant_stores(&warnings), BTreeSet::from([16]));
        assert!(constant_stores("warning: k.cu(3): unused variable").is_empty());
    }
}
