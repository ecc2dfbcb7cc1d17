//! What a kernel may have at most, so that hostile PTX is refused before it takes the host's memory or time.
//!
//! Real kernels stay far below: the largest that NVRTC made of our tests have thousands of instructions and 420 registers.

use super::super::module::{Body, Operand};
use super::Program;
use super::slots::Slots;

/// Targets of all indexed branches of a function together, however often a list is used.
const MOST_TARGETS: usize = 1 << 20;
/// Registers of a function that must keep their values at the same time: 8 MiB for the lanes of a warp.
const MOST_SLOTS: u32 = 1 << 15;
/// Instructions that a kernel reaches.
const MOST_INSTRUCTIONS: usize = 1 << 22;
/// Different constants, which are kept for all lanes: 400 MiB.
const MOST_CONSTANTS: usize = 1 << 20;

/// What a function has too much of before its registers get their slots.
pub(super) fn body(body: &Body) -> Option<String> {
    let lists = body.instructions.iter().flat_map(|instruction| &instruction.operands);
    let targets = lists.filter_map(|operand| {
        let Operand::Targets(list) = operand else { return None };
        body.targets.get(list.0 as usize)
    });
    let all = targets.fold(0_usize, |sum, list| sum.saturating_add(list.len()));
    (all > MOST_TARGETS).then(|| format!("indexed branches to more than {MOST_TARGETS} targets"))
}

/// What a function has too much of once its registers have slots.
pub(super) fn slots(slots: &Slots) -> Option<String> {
    let all = slots.words.saturating_add(slots.doubles).saturating_add(slots.predicates);
    (all > MOST_SLOTS).then(|| format!("more than {MOST_SLOTS} registers needed at once"))
}

/// What a program has too much of.
pub(super) fn program(program: &Program) -> Option<String> {
    if program.ops.len() > MOST_INSTRUCTIONS {
        return Some(format!("more than {MOST_INSTRUCTIONS} instructions in a kernel"));
    }
    let constants = program.pool.len() > MOST_CONSTANTS;
    constants.then(|| format!("more than {MOST_CONSTANTS} constants in a kernel"))
}
