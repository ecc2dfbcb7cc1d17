//! A note for instructions that belong to one architecture.
//!
//! The assembler reports that `sm_90` does not support them; the launch block chooses `sm_90a`. PTX ISA, ".target":
//! features of targets with the suffix `a` are not available on other targets.

use super::diagnostics::{Diagnostic, Note, Severity};

/// The assembler's words before the target's name.
const NOT_SUPPORTED: &str = " not supported on .target '";

const ADVICE: &str = "instructions of one architecture, such as `wgmma` and `setmaxnreg`, need `arch: specific` in the \
                      launch block (compiles for `sm_90a` rather than `sm_90`); in PTX write `.target sm_90a` too";

/// Adds the note to the first error about such an instruction.
pub(super) fn explain(diagnostics: &mut [Diagnostic]) {
    let first = diagnostics
        .iter_mut()
        .find(|each| each.severity >= Severity::Error && portable_target(&each.message).is_some());
    if let Some(diagnostic) = first {
        diagnostic.notes.push(Note { place: None, message: ADVICE.to_owned() });
    }
}

/// The target of an error, if it has no suffix and a variant with one: from `sm_90` on.
fn portable_target(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once(NOT_SUPPORTED)?;
    let (target, _) = rest.split_once('\'')?;
    let number: u32 = target.strip_prefix("sm_")?.parse().ok()?;
    (number >= 90).then_some(target)
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
}
