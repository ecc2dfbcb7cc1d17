//! What one warp accesses, instruction by instruction: the addresses that its registers form right before each access.
//!
//! It is looked at where a watched launch asks for its next step, so that a launch that nobody watches pays nothing.

use super::super::cost::{Direction, Request, shared_wavefronts};
use super::super::error::Place;
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
    /// Its block.
    pub block: [u32; 3],
    /// The warp within the block.
    pub warp: u32,
}

/// Which memory lanes access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessedMemory {
    /// Buffers and variables, in sectors of 32 bytes.
    Global,
    /// A block's own memory, in 32 banks of 4 bytes.
    Shared,
}

/// What lanes do there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// They read.
    Load,
    /// They write.
    Store,
    /// They read, change and write.
    Atomic,
}

/// One access of a warp to one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpAccess {
    /// The instruction in the PTX.
    pub place: Place,
    /// The same in the source, innermost.
    pub source_line: Option<SourceLine>,
    /// Which memory.
    pub memory: AccessedMemory,
    /// What is done there.
    pub kind: AccessKind,
    /// Bytes of each lane.
    pub bytes: u32,
    /// The address of each lane; none of one that does not take part.
    pub lanes: [Option<u64>; LANES],
    /// The buffer or variable that the first of them means, and where that begins.
    pub object: Option<(String, u64)>,
}

/// What an access costs, by the same rules as the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessCost {
    /// Sectors of 32 bytes, of global memory.
    pub sectors: u64,
    /// Different bytes.
    pub distinct_bytes: u64,
    /// Passes over the banks, of shared memory.
    pub passes: u64,
    /// Those of them that conflicts cause.
    pub conflicts: u64,
}

/// What a warp accessed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// In order.
    pub all: Vec<WarpAccess>,
    /// Accesses behind the last that was kept.
    pub left_out: u64,
}

/// A recording while it runs.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    of: WarpId,
    most: usize,
    accesses: Accesses,
}

impl WarpAccess {
    /// What it costs.
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

    /// The lanes that take part, one bit each.
    #[must_use]
    pub fn mask(&self) -> u32 {
        let bits = self.lanes.iter().enumerate();
        bits.fold(0, |mask, (lane, address)| mask | u32::from(address.is_some()) << lane)
    }
}

impl Machine {
    /// Runs a kernel and keeps what one of its warps accesses, the first `most` accesses: loads, stores and atomics of
    /// one value. Fetches of constants, a thread's own memory and asynchronous copies are left out.
    ///
    /// # Errors
    ///
    /// As [`Machine::launch`], and every schedule but the deterministic one.
    pub fn record(
        &mut self,
        module: &Module,
        kernel: &str,
        config: &LaunchConfig,
        (of, most): (WarpId, usize),
    ) -> Result<Accesses, LaunchError> {
        if config.schedule != Schedule::Deterministic {
            return Err(LaunchError::Unavailable(
                "recording in another schedule than the deterministic one",
            ));
        }
        let recording = Recording { of, most, accesses: Accesses::default() };
        let done =
            self.watched_launch(module, kernel, config, Some(Watch::recording(recording)))?;
        Ok(done.recording.map(|recording| recording.accesses).unwrap_or_default())
    }
}

impl Worker<'_, '_> {
    /// Keeps what lanes are about to access, if it is their warp that is looked at.
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

    /// What the next instruction of a split accesses: nothing, one memory, or two where addresses say which.
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

/// Whether an instruction is an access that is kept: what it does, where, and how many bytes for each lane.
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
        Space::Generic | Space::Global | Space::Shared => Some((kind, space, base, bytes)),
        Space::Const | Space::Local | Space::Param => None,
    }
}
