//! A recording of the memory accesses of one warp, instruction by instruction: the addresses in its registers
//! before each access.
//!
//! The recording takes place where a watched launch asks for its next step, so that a launch that is not watched
//! has no cost.

use super::super::cost::{Direction, Request, shared_wavefronts};
use super::super::error::PtxLocation;
use super::super::isa::memory::Space;
use super::super::isa::scalar::ScalarType;
use super::super::lower::code::{BaseKind, Code, Op};
use super::super::module::{Module, SourceLine};
use super::Machine;
use super::atomic;
use super::launch::{LaunchConfig, LaunchError, Schedule};
use super::run::Worker;
use super::warp::{LANES, Split};
use super::watch::Watch;

/// One warp of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpId {
    pub block: [u32; 3],
    /// The index of the warp within the block.
    pub warp: u32,
}

/// The memory that lanes access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessedMemory {
    /// Buffers and variables, in sectors of 32 bytes.
    Global,
    /// Shared memory of a block, in 32 banks of 4 bytes.
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    Load,
    Store,
    /// A read-modify-write.
    Atomic,
}

/// One access of a warp to one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpAccess {
    /// Location of the instruction in the PTX.
    pub place: PtxLocation,
    /// Location in the source, of the innermost inlined function.
    pub source_line: Option<SourceLine>,
    pub memory: AccessedMemory,
    pub kind: AccessKind,
    /// Bytes per lane.
    pub bytes: u32,
    /// The address of each lane; none if the lane is inactive.
    pub lanes: [Option<u64>; LANES],
    /// The buffer or variable that contains the first address, and the address at which it begins.
    pub object: Option<(String, u64)>,
}

/// The cost of an access, by the rules of the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessCost {
    /// Sectors of 32 bytes; zero for shared memory.
    pub sectors: u64,
    /// The number of distinct bytes.
    pub distinct_bytes: u64,
    /// Wavefronts over the banks; zero for global memory.
    pub passes: u64,
    /// Wavefronts caused by bank conflicts.
    pub conflicts: u64,
}

/// The accesses of a warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// In the order of execution.
    pub all: Vec<WarpAccess>,
    /// The number of accesses after the last recorded one.
    pub left_out: u64,
}

/// A recording in progress.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    of: WarpId,
    most: usize,
    accesses: Accesses,
}

impl WarpAccess {
    #[must_use]
    pub fn cost(&self) -> AccessCost {
        let addresses = self.lanes.map(Option::unwrap_or_default);
        let mask = self.mask();
        let request = Request { addresses: &addresses, mask, bytes: self.bytes };
        let touched = request.touched();
        match self.memory {
            AccessedMemory::Global => AccessCost {
                sectors: touched.sectors,
                distinct_bytes: touched.distinct_bytes,
                passes: 0,
                conflicts: 0,
            },
            AccessedMemory::Shared => {
                let direction = match self.kind {
                    AccessKind::Load => Direction::Load,
                    AccessKind::Store | AccessKind::Atomic => Direction::Store,
                };
                let (passes, conflicts) = shared_wavefronts(&request, direction);
                let distinct_bytes = touched.distinct_bytes;
                AccessCost { sectors: 0, distinct_bytes, passes, conflicts }
            }
        }
    }

    /// The active lanes, one bit each.
    #[must_use]
    pub fn mask(&self) -> u32 {
        let bits = self.lanes.iter().enumerate();
        bits.fold(0, |mask, (lane, address)| mask | u32::from(address.is_some()) << lane)
    }
}

impl Machine {
    /// Runs a kernel and records the first `most` accesses of one of its warps: loads, stores and scalar atomics.
    /// Constant loads, local memory and asynchronous copies are not recorded.
    ///
    /// # Errors
    ///
    /// As [`Machine::launch`]; also every schedule except the deterministic one.
    pub fn record(
        &mut self,
        module: &Module,
        kernel: &str,
        config: &LaunchConfig,
        (of, most): (WarpId, usize),
    ) -> Result<Accesses, LaunchError> {
        if config.schedule != Schedule::Deterministic {
            return Err(LaunchError::Unavailable(
                "recording with a schedule other than the deterministic one",
            ));
        }
        let recording = Recording { of, most, accesses: Accesses::default() };
        let done =
            self.watched_launch(module, kernel, config, Some(Watch::recording(recording)))?;
        Ok(done.recording.map(|recording| recording.accesses).unwrap_or_default())
    }
}

impl Worker<'_, '_> {
    /// Records the next access of a split, if it belongs to the recorded warp.
    pub(super) fn record(&mut self, split: &Split) {
        let Some(mut recording) =
            self.launch.watch.as_mut().and_then(|watch| watch.recording.take())
        else {
            return;
        };
        if recording.of == (WarpId { block: self.block.index, warp: self.warp.index }) {
            for access in self.accessed(split) {
                if recording.accesses.all.len() < recording.most {
                    recording.accesses.all.push(access);
                } else {
                    recording.accesses.left_out += 1;
                }
            }
        }
        if let Some(watch) = &mut self.launch.watch {
            watch.recording = Some(recording);
        }
    }

    /// The accesses of the next instruction of a split: none, one memory, or two if generic addresses differ in state
    /// space.
    fn accessed(&mut self, split: &Split) -> Vec<WarpAccess> {
        let Some(op) = self.launch.program.ops.get(split.pc as usize) else { return Vec::new() };
        let Some((kind, space, base, bytes)) = what(op) else { return Vec::new() };
        let lanes = self.lanes(split.frame, split.mask);
        let mask =
            if op.guard.is_none() { split.mask } else { split.mask & lanes.predicate(op.guard) };
        let offset = op.immediate as u64;
        let mut addresses = match base {
            BaseKind::Wide => lanes.double(op.a).map(|base| base.wrapping_add(offset)),
            BaseKind::Narrow => {
                lanes.word(op.a).map(|base| u64::from(base.wrapping_add(offset as u32)))
            }
            BaseKind::Frame => return Vec::new(),
        };
        let spaces = Self::spaces(space, base, &mut addresses, mask);
        let (place, source_line) = self.launch.program.place(self.launch.module, split.pc);
        let masks =
            [(AccessedMemory::Global, spaces.global), (AccessedMemory::Shared, spaces.shared)];
        let access = |(memory, mask): (AccessedMemory, u32)| {
            let lanes: [Option<u64>; LANES] =
                std::array::from_fn(|lane| (mask >> lane & 1 == 1).then_some(addresses[lane]));
            let object = lanes.iter().flatten().next().and_then(|address| match memory {
                AccessedMemory::Global => self.launch.memory.object_at(*address),
                AccessedMemory::Shared => None,
            });
            let (source_line, bytes) = (source_line.clone(), bytes);
            WarpAccess { place, source_line, memory, kind, bytes, lanes, object }
        };
        masks.into_iter().filter(|(_, mask)| *mask != 0).map(access).collect()
    }
}

/// The kind, the state space and the bytes per lane of an instruction that is recorded.
fn what(op: &Op) -> Option<(AccessKind, Space, BaseKind, u32)> {
    let (kind, space, base, bytes) = if let Code::Load { access, base, .. } = op.code {
        let bytes = ScalarType::from(access.element).bytes() * u32::from(op.list.1);
        (AccessKind::Load, access.space, base, bytes)
    } else if let Code::Store { access, base } = op.code {
        let bytes = ScalarType::from(access.element).bytes() * u32::from(op.list.1);
        (AccessKind::Store, access.space, base, bytes)
    } else if let Code::Atomic { atomic, base } = op.code {
        (AccessKind::Atomic, atomic.space, base, atomic::bytes(atomic.update))
    } else {
        return None;
    };
    match space {
        Space::Generic | Space::Global | Space::Shared | Space::SharedCluster => {
            Some((kind, space, base, bytes))
        }
        Space::Const | Space::Local | Space::Param => None,
    }
}
