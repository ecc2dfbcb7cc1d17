//! The registers of the warps of a block, which `setmaxnreg` moves between them. PTX ISA, section "setmaxnreg".
//!
//! A block starts with the same number of registers for each thread, the largest that its launch bounds permit: for a
//! kernel with `setmaxnreg`, ptxas allocates that many. `.dec` returns registers to the pool of the block, and `.inc` waits
//! until the pool has enough. Without a bound, ptxas ignores the instruction.

use super::super::isa::system::RegisterChange;
use super::super::module::LaunchBounds;

/// Threads of a warp.
const WARP: u32 = 32;
/// Registers of a multiprocessor, and of a block. Programming Guide, "Technical Specifications per Compute Capability".
const REGISTERS: u32 = 1 << 16;
/// The largest number of registers of a thread.
const MOST_OF_A_THREAD: u32 = 255;
/// The unit in which the registers of a thread are allocated.
const UNIT: u32 = 8;

/// The registers that the warps of a block have, and those that they may take.
#[derive(Clone, Debug)]
pub(super) struct RegisterPool {
    /// By warp: registers of each thread.
    warps: Vec<u32>,
    /// Registers of each thread of a warp that no warp has.
    free: u32,
    /// Warps that wait, and the number of registers that each of their threads requests.
    waiting: Vec<(u32, u32)>,
}

impl RegisterPool {
    /// The pool of a block; none if the kernel has no bound on its registers.
    pub(super) fn from_bounds(bounds: &LaunchBounds, warps: u32) -> Option<Self> {
        let of_block = bounds.required_threads.or(bounds.max_threads).map(|threads| {
            let blocks = bounds.min_blocks_per_multiprocessor.unwrap_or(1).max(1);
            let threads = threads.iter().product::<u32>().next_multiple_of(WARP).max(1);
            REGISTERS / threads.saturating_mul(blocks).max(1)
        });
        let most = bounds.max_registers.into_iter().chain(of_block).min()?.min(MOST_OF_A_THREAD);
        let each = most / UNIT * UNIT;
        Some(Self { warps: vec![each; warps as usize], free: 0, waiting: Vec::new() })
    }

    /// Changes the registers of a warp; returns whether it has them now.
    pub(super) fn change(&mut self, warp: u32, change: RegisterChange, count: u32) -> bool {
        self.waiting.retain(|(waiting, _)| *waiting != warp);
        let held = self.warps[warp as usize];
        match change {
            RegisterChange::Decrease => {
                self.free += held.saturating_sub(count);
                self.warps[warp as usize] = held.min(count);
            }
            RegisterChange::Increase if held + self.free < count => {
                self.waiting.push((warp, count));
                return false;
            }
            RegisterChange::Increase => {
                self.free -= count.saturating_sub(held);
                self.warps[warp as usize] = held.max(count);
            }
        }
        true
    }

    /// A message about the first warp that waits; none if no warp does.
    pub(super) fn shortage(&self) -> Option<String> {
        let (warp, count) = self.waiting.first()?;
        let (held, free) = (self.warps[*warp as usize], self.free);
        Some(format!(
            "warp {warp} has {held} registers for each thread and waits at `setmaxnreg.inc` for {count}: the pool of the \
             block has {free} free for a warp, so that other warps must release more with `setmaxnreg.dec`"
        ))
    }
}
