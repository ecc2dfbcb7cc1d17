//! Errors of the assembler about instructions that the architecture does not have.
//!
//! Some belong to one architecture: the assembler reports that `sm_90` does not support them, and the launch block
//! chooses `sm_90a` (PTX ISA, ".target": features of targets with the suffix `a` are not available on other targets).
//! The others need a newer device.

use super::diagnostics::{Diagnostic, Note, Severity};

/// The assembler's words before the target's name.
const NOT_SUPPORTED: &str = " not supported on .target '";

const ADVICE: &str = "instructions of one architecture, such as `wgmma` and `setmaxnreg`, need `arch: specific` in the \
                      launch block (compiles for `sm_90a` rather than `sm_90`); in PTX write `.target sm_90a` too";

/// The assembler's words before the least target.
const REQUIRES: &str = " requires .target sm_";

/// The least compute capability times ten with targets of one architecture.
const FIRST_SPECIFIC: u32 = 90;

/// The assembler's last error, which says only that there were others.
const ABORTED: &str = "Ptx assembly aborted due to errors";

/// The first error, if the only errors are about instructions that every device of the target lacks: no launch block
/// helps, and on a newer device the kernel may compile.
#[must_use]
pub(super) fn newer_device_needed(diagnostics: &[Diagnostic]) -> Option<&str> {
    let mut errors = diagnostics
        .iter()
        .filter(|each| each.severity >= Severity::Error && !each.message.starts_with(ABORTED))
        .map(|each| each.message.as_str())
        .peekable();
    let first = *errors.peek()?;
    errors.all(is_about_newer_device).then_some(first)
}

fn is_about_newer_device(message: &str) -> bool {
    message.contains(REQUIRES)
        || target_of(message).is_some_and(|(_, number)| number < FIRST_SPECIFIC)
}

/// Adds the note to the first error about such an instruction.
pub(super) fn explain(diagnostics: &mut [Diagnostic]) {
    let first = diagnostics
        .iter_mut()
        .find(|each| each.severity >= Severity::Error && portable_target(&each.message).is_some());
    if let Some(diagnostic) = first {
        diagnostic.notes.push(Note { place: None, message: ADVICE.to_owned() });
    }
}

/// The target of an error, if it has no suffix and a variant with one.
fn portable_target(message: &str) -> Option<&str> {
    let (target, number) = target_of(message)?;
    (number >= FIRST_SPECIFIC).then_some(target)
}

/// The target without suffix that does not have an instruction, and its compute capability times ten.
fn target_of(message: &str) -> Option<(&str, u32)> {
    let (_, rest) = message.split_once(NOT_SUPPORTED)?;
    let (target, _) = rest.split_once('\'')?;
    Some((target, target.strip_prefix("sm_")?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::read;

    /// Logs of NVRTC 13.5.
    #[test]
    fn the_first_error_about_an_instruction_of_one_architecture_has_a_note() {
        let check = |log: &str, expected: &[usize]| {
            let mut diagnostics = read(log, &["k.cu"]).diagnostics;
            explain(&mut diagnostics);
            let notes: Vec<usize> = diagnostics.iter().map(|each| each.notes.len()).collect();
            assert_eq!(notes, expected, "{log}");
            let all = diagnostics.iter().flat_map(|each| &each.notes);
            assert!(all.clone().all(|note| note.message.contains("`arch: specific`")), "{log}");
        };
        let error = |line: u32, instruction: &str, target: &str| {
            format!(
                "ptxas application ptx input, line {line}; error   : Instruction '{instruction}' not supported on \
                 .target '{target}'\n"
            )
        };
        let wgmma = error(29, "wgmma.fence", "sm_90");
        check(&(wgmma.clone() + &error(33, "setmaxnreg.inc", "sm_90")), &[1, 0]);
        check(&(wgmma + "ptxas fatal   : Ptx assembly aborted due to errors\n"), &[1, 0]);
        check(&error(29, "tcgen05.alloc", "sm_90a"), &[0]);
        check(&error(29, "cp.async", "sm_75"), &[0]);
        check("k.cu(1): error: identifier \"z\" is undefined\n  z\n  ^\n\n", &[0]);
    }

    #[test]
    fn instructions_that_a_device_lacks_are_no_mistake_of_the_kernel() {
        let check = |log: &str, expected: Option<&str>| {
            let diagnostics = read(log, &["k.cu"]).diagnostics;
            let found = newer_device_needed(&diagnostics);
            assert_eq!(found.is_some(), expected.is_some(), "{log}");
            assert!(found.unwrap_or("").starts_with(expected.unwrap_or("")), "{found:?}");
        };
        let line = |text: &str| format!("ptxas application ptx input, line 9; error   : {text}\n");
        let requires = line("Feature 'cp.async.bulk.tensor' requires .target sm_90 or higher");
        let wgmma = line("Instruction 'wgmma.fence' not supported on .target 'sm_80'");
        let aborted = "ptxas fatal   : Ptx assembly aborted due to errors\n";
        check(
            &format!("{requires}{wgmma}{aborted}"),
            Some("Feature 'cp.async.bulk.tensor' requires"),
        );
        check(&wgmma, Some("Instruction 'wgmma.fence'"));
        check(&line("Instruction 'wgmma.fence' not supported on .target 'sm_90'"), None);
        check(&(requires + &line("Unknown symbol 'x'")), None);
        check("k.cu(1): error: identifier \"z\" is undefined\n  z\n  ^\n\n", None);
        check("", None);
    }
}
