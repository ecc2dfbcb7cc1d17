//! Evidence in one instruction by itself, without data flow.

use lightbench_project::manifest::Evidence;
use lightbench_ptx::tree::{Instruction, Operand};

use super::cache_hints::CacheHints;
use super::reach::each_name;

/// The evidence in one instruction; `is_foreign` is whether the module does not define a name.
pub(super) fn evidence_of<'t>(
    instruction: &Instruction<'t>,
    modifiers: &[&str],
    hints: &CacheHints<'t>,
    is_foreign: impl Fn(&'t str) -> bool,
) -> Vec<(Evidence, String)> {
    let mut shown = Vec::new();
    if let Some(evidence) = by_opcode(instruction.opcode) {
        shown.push((evidence, format!("has `{}`", instruction.opcode)));
    } else if let Some(hint) = modifiers.iter().find(|modifier| {
        is_eviction_priority(modifier)
            || is_policy(modifier) && !hints.keeps_nothing(instruction, modifiers)
    }) {
        shown.push((Evidence::CachePersistence, format!("has `.{hint}`")));
    }
    for (operand, _) in &instruction.operands {
        each_name(operand, &mut |name| {
            if is_clock(name) {
                shown.push((Evidence::Clocks, format!("reads `{name}`")));
            } else if let Some(evidence) = by_function(name).filter(|_| is_foreign(name)) {
                let does =
                    if instruction.opcode == "call" { "calls" } else { "takes the address of" };
                shown.push((evidence, format!("{does} `{name}`")));
            }
        });
    }
    shown
}

/// PTX ISA 9.0: `nanosleep`, `trap`, `brkpt`, `createpolicy`, `applypriority`, `discard`.
fn by_opcode(opcode: &str) -> Option<Evidence> {
    match opcode {
        "nanosleep" => Some(Evidence::Sleeps),
        "trap" | "brkpt" => Some(Evidence::Trap),
        // `discard` drops lines of the L2 cache unwritten; the others say what should stay in it.
        "createpolicy" | "applypriority" | "discard" => Some(Evidence::CachePersistence),
        _ => None,
    }
}

/// PTX ISA 9.0, "Cache Eviction Priority Hints": `.L1::evict_last`, `.L2::evict_last`.
fn is_eviction_priority(modifier: &str) -> bool {
    modifier.ends_with("::evict_last")
}

/// `.L2::cache_hint`, whose policy is a number that may be computed.
fn is_policy(modifier: &str) -> bool {
    modifier.ends_with("::cache_hint")
}

/// PTX ISA 9.0, "Special Registers": counters of time, of events and of launches (`%gridid`), and what tells a launch
/// in a graph from another. `%smid`, `%warpid` and the like tell places.
fn is_clock(name: &str) -> bool {
    let Some(register) = name.strip_prefix('%') else { return false };
    let counter = register.strip_prefix("pm").map(|rest| rest.trim_end_matches("_64"));
    matches!(
        register,
        "clock"
            | "clock_hi"
            | "clock64"
            | "globaltimer"
            | "globaltimer_lo"
            | "globaltimer_hi"
            | "gridid"
            | "current_graph_exec"
    ) || matches!(counter, Some("0" | "1" | "2" | "3" | "4" | "5" | "6" | "7"))
}

/// The name behind `call`: that of a function, or of the register with its address.
pub(super) fn callee<'t>(instruction: &Instruction<'t>) -> Option<&'t str> {
    if instruction.opcode != "call" {
        return None;
    }
    instruction.operands.iter().find_map(|(operand, _)| match operand {
        Operand::Name { name, .. } => Some(*name),
        Operand::Component { .. }
        | Operand::Literal(_)
        | Operand::Address(_)
        | Operand::Vector(_)
        | Operand::Pair(..)
        | Operand::Not(_)
        | Operand::Negative { .. }
        | Operand::Group(_) => None,
    })
}

/// What a function shows that the driver provides (CUDA programming guide: formatted output, dynamic global memory
/// allocation, assertion), or the device runtime, whose names all begin with `cuda`.
pub(super) fn by_function(name: &str) -> Option<Evidence> {
    match name {
        "malloc" | "free" | "__nv_aligned_device_malloc" => Some(Evidence::Heap),
        "vprintf" => Some(Evidence::Printf),
        "__assertfail" => Some(Evidence::Trap),
        _ if name.trim_start_matches('_').starts_with("cuda") => Some(Evidence::DeviceLaunch),
        _ => None,
    }
}
