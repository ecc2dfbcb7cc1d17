//! Limits of a kernel's size: hostile PTX is rejected before it exhausts the memory or the time of the host.
//!
//! Real kernels stay far below these limits: the largest ones that NVRTC generates for the tests have thousands of
//! instructions and 420 registers.

use super::super::module::{Body, Operand};
use super::Program;
use super::slots::Slots;

/// The limit of targets of all indexed branches of a function, counted per branch.
const MOST_TARGETS: usize = 1 << 20;
/// The limit of live registers of a function: 8 MiB for the lanes of a warp.
const MOST_SLOTS: u32 = 1 << 15;
/// The limit of reachable instructions of a kernel.
const MOST_INSTRUCTIONS: usize = 1 << 22;
/// The limit of distinct constants, which are stored for all lanes: 400 MiB.
const MOST_CONSTANTS: usize = 1 << 20;

/// The limit that a function exceeds before register allocation, if any.
pub(super) fn body(body: &Body) -> Option<String> {
    let lists = body.instructions.iter().flat_map(|instruction| &instruction.operands);
    let targets = lists.filter_map(|operand| {
        let Operand::Targets(list) = operand else { return None };
        body.targets.get(list.0 as usize)
    });
    let all = targets.fold(0_usize, |sum, list| sum.saturating_add(list.len()));
    (all > MOST_TARGETS).then(|| format!("indexed branches to more than {MOST_TARGETS} targets"))
}

/// The limit that a function exceeds after register allocation, if any.
pub(super) fn slots(slots: &Slots) -> Option<String> {
    let all = slots.words.saturating_add(slots.doubles).saturating_add(slots.predicates);
    (all > MOST_SLOTS).then(|| format!("more than {MOST_SLOTS} live registers"))
}

/// The limit that a program exceeds, if any.
pub(super) fn program(program: &Program) -> Option<String> {
    if program.ops.len() > MOST_INSTRUCTIONS {
        return Some(format!("more than {MOST_INSTRUCTIONS} instructions in a kernel"));
    }
    let constants = program.pool.len() > MOST_CONSTANTS;
    constants.then(|| format!("more than {MOST_CONSTANTS} constants in a kernel"))
}
