//! A launch that is paused before an instruction of one warp: registers, memory, calls, and the position of each
//! lane.

use std::sync::Arc;

use super::launch::{LaunchConfig, Watched};
use super::local::Initialisation;
use super::memory::{Addresses, Memory};
use super::warp::{Frame, LANES, Split, SplitState};
use super::watch::PausedWarp;
use super::{BufferId, Machine};
use crate::error::PtxLocation;
use crate::isa::scalar::ScalarType;
use crate::lower::code::{Bank, Object};
use crate::lower::registers::{RegisterMap, RegisterPlace};
use crate::lower::{FIRST_FRAME, Program};
use crate::module::{FunctionId, Module, SourceLine, VariableId};

/// A launch that is paused.
#[derive(Clone, Debug)]
pub struct Paused {
    machine: Machine,
    program: Arc<Program>,
    addresses: Addresses,
    found: PausedWarp,
    block: [u32; 3],
    shared_bytes: usize,
    /// The locations of the operations and calls of this warp, and the names of functions.
    module: PausedModule,
}

/// The parts of the module that a pause needs, so that it does not borrow the module.
#[derive(Clone, Debug)]
struct PausedModule {
    variables: Vec<(String, VariableId)>,
    frames: Vec<FrameMap>,
    places: Vec<(u32, PtxLocation, Option<SourceLine>)>,
}

#[derive(Clone, Debug)]
struct FrameMap {
    function: FunctionId,
    name: String,
    registers: RegisterMap,
}

/// The content of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// These bits; one or zero for a predicate.
    Bits(u64),
    Uninitialised,
    /// The register is not live: neither this nor a later instruction uses its value, or it is not assigned yet.
    NotLive,
}

/// A register with its value in one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterView {
    /// Its name in the PTX.
    pub name: String,
    /// The declared type.
    pub ty: ScalarType,
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneState {
    /// It executes the instruction before which the launch is paused.
    Active,
    /// It is ready and waits for its turn.
    Ready,
    /// It waits at this barrier of the block.
    AtBarrier(u8),
    /// Waits at the barrier of the cluster.
    AtClusterBarrier,
    /// It waits for other lanes of its warp.
    AtWarpOperation,
    /// It has exited.
    Ended,
}

/// The position of a lane of the paused warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanePlace {
    /// The thread index within the block.
    pub thread: [u32; 3],
    pub state: LaneState,
    /// The next instruction of the lane; none if it has exited.
    pub place: Option<PtxLocation>,
    /// The location in the source.
    pub source_line: Option<SourceLine>,
}

/// One level of the call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The name of the function.
    pub function: String,
    /// The next instruction in the innermost function, the call in the others.
    pub place: PtxLocation,
    /// The location in the source.
    pub source_line: Option<SourceLine>,
}

impl Paused {
    pub(super) fn new(
        machine: Machine,
        module: &Module,
        done: Watched,
        found: PausedWarp,
        config: &LaunchConfig,
    ) -> Self {
        let program = &done.program;
        let mut frames: Vec<FrameMap> = Vec::new();
        let mut places: Vec<(u32, PtxLocation, Option<SourceLine>)> = Vec::new();
        for split in &found.warp.splits {
            let callers = split.callers.iter().chain([&split.frame]);
            for frame in callers {
                if frames.iter().any(|known| known.function == frame.function) {
                    continue;
                }
                let function = module.functions.get(frame.function.0 as usize);
                let registers = RegisterMap::new(module, frame.function).unwrap_or_default();
                let name = function.map_or_else(String::new, |function| function.name.clone());
                frames.push(FrameMap { function: frame.function, name, registers });
            }
            for pc in pcs(split) {
                if !places.iter().any(|(known, ..)| *known == pc) {
                    let (place, line) = program.place(module, pc);
                    places.push((pc, place, line));
                }
            }
        }
        let variables = module.variables.iter().zip(0..);
        let variables =
            variables.map(|(variable, id)| (variable.name.clone(), VariableId(id))).collect();
        let module = PausedModule { variables, frames, places };
        let shared_bytes = done.shared_bytes as usize;
        let (program, addresses, block) = (done.program, done.addresses, config.block);
        Self { machine, program, addresses, found, block, shared_bytes, module }
    }

    /// The number of warp instructions executed before this one.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.found.step
    }

    /// The block of the paused warp.
    #[must_use]
    pub fn block(&self) -> [u32; 3] {
        self.found.block.index
    }

    /// The index of the paused warp within its block.
    #[must_use]
    pub fn warp(&self) -> u32 {
        self.found.warp.index
    }

    /// The lanes that reach the instruction, one bit each; its guard may still disable them.
    #[must_use]
    pub fn active(&self) -> u32 {
        self.found.mask
    }

    /// The location of the next instruction in the PTX.
    #[must_use]
    pub fn place(&self) -> PtxLocation {
        self.known_place(self.found.pc).0
    }

    /// The location of the next instruction in the source.
    #[must_use]
    pub fn source_line(&self) -> Option<SourceLine> {
        self.known_place(self.found.pc).1
    }

    /// The positions of the lanes of the warp.
    #[must_use]
    pub fn lanes(&self) -> Vec<LanePlace> {
        let threads = self.found.block.threads;
        let first = self.found.warp.index * LANES as u32;
        let count = threads.saturating_sub(first).min(LANES as u32);
        (0..count).map(|lane| self.lane(lane)).collect()
    }

    fn lane(&self, lane: u32) -> LanePlace {
        let linear = self.found.warp.index * LANES as u32 + lane;
        let [x, y, _] = self.block;
        let thread = [linear % x, linear / x % y, linear / (x * y)];
        let Some(split) = self.split(lane) else {
            let state = LaneState::Ended;
            return LanePlace { thread, state, place: None, source_line: None };
        };
        let is_active = self.found.mask >> lane & 1 == 1;
        let (state, pc) = match split.state {
            SplitState::Ready if is_active => (LaneState::Active, split.pc),
            SplitState::Ready => (LaneState::Ready, split.pc),
            // A lane that waits at a barrier continues after it.
            SplitState::Barrier(number) => {
                (LaneState::AtBarrier(number), split.pc.saturating_sub(1))
            }
            SplitState::ClusterBarrier => (LaneState::AtClusterBarrier, split.pc.saturating_sub(1)),
            SplitState::WarpSync(_) => (LaneState::AtWarpOperation, split.pc),
        };
        let (place, source_line) = self.known_place(pc);
        LanePlace { thread, state, place: Some(place), source_line }
    }

    /// Every register of the function that a lane executes, by name; empty if the lane has exited.
    #[must_use]
    pub fn registers(&self, lane: u32) -> Vec<RegisterView> {
        let Some(split) = self.split(lane) else { return Vec::new() };
        let Some(map) = self.frame_map(split.frame) else { return Vec::new() };
        let view = |place: &RegisterPlace| RegisterView {
            name: place.name.clone(),
            ty: place.ty,
            value: self.value(map, place, split, lane),
        };
        map.registers.registers.iter().map(view).collect()
    }

    /// The value of a register or predicate in one lane. If nested scopes declare the name several times, it is the
    /// one that is live. None if the function has no such register or the lane has exited.
    #[must_use]
    pub fn register(&self, lane: u32, name: &str) -> Option<Value> {
        let split = self.split(lane)?;
        let map = self.frame_map(split.frame)?;
        let named = map.registers.registers.iter().filter(|place| place.name == name);
        let values = named.map(|place| self.value(map, place, split, lane));
        values.reduce(|best, next| if best == Value::NotLive { next } else { best })
    }

    fn value(&self, map: &FrameMap, place: &RegisterPlace, split: &Split, lane: u32) -> Value {
        let live = self.program.origins.get(split.pc as usize);
        if !live.is_some_and(|origin| map.registers.is_live(place, *origin)) {
            return Value::NotLive;
        }
        let (registers, frame) = (&self.found.warp.registers, split.frame);
        let of = |base: u32| (base + place.slot) as usize;
        let (bits, undefined) = match place.bank {
            Bank::Words => {
                let slot = of(frame.words);
                let register = registers.words.get(slot);
                let value = register.and_then(|register| register.values.get(lane as usize));
                let undefined = register.map(|register| &register.undefined);
                (value.map(|value| u64::from(*value)), undefined)
            }
            Bank::Doubles => {
                let slot = of(frame.doubles);
                let register = registers.doubles.get(slot);
                let value = register.and_then(|register| register.values.get(lane as usize));
                (value.copied(), register.map(|register| &register.undefined))
            }
            Bank::Predicates => {
                let slot = of(frame.predicates);
                let value = registers.predicates.get(slot);
                let value = value.map(|bits| u64::from(bits >> lane & 1));
                (value, registers.predicates_undefined.get(slot))
            }
        };
        let defined = undefined.is_some_and(|undefined| undefined >> lane & 1 == 0);
        bits.filter(|_| defined).map_or(Value::Uninitialised, Value::Bits)
    }

    /// The call stack of a lane, innermost function first; empty if it has exited.
    #[must_use]
    pub fn calls(&self, lane: u32) -> Vec<CallSite> {
        let Some(split) = self.split(lane) else { return Vec::new() };
        let frames = [split.frame].into_iter().chain(split.callers.iter().rev().copied());
        let site = |(frame, pc): (Frame, u32)| {
            let (place, source_line) = self.known_place(pc);
            let function = self.frame_map(frame).map(|map| map.name.clone()).unwrap_or_default();
            CallSite { function, place, source_line }
        };
        frames.zip(pcs(split)).map(site).collect()
    }

    /// The bytes of the block's shared memory; uninitialised bytes are none.
    #[must_use]
    pub fn shared(&self) -> Vec<Option<u8>> {
        let shared = &self.found.block.shared;
        let byte =
            |offset| shared.is_any_initialised(offset, 1).then(|| shared.read(offset, 1) as u8);
        (0..self.shared_bytes).map(byte).collect()
    }

    /// The bytes of a lane's local memory, all frames from the outermost on; uninitialised bytes are none.
    #[must_use]
    pub fn local(&self, lane: u32) -> Vec<Option<u8>> {
        let Some(split) = self.split(lane) else { return Vec::new() };
        let byte = |offset| {
            let (value, known) = self.found.warp.local.read(lane as usize, offset, 1);
            (known == Initialisation::All).then_some(value as u8)
        };
        (FIRST_FRAME..split.frame.local_end).map(byte).collect()
    }

    /// The current bytes of a buffer; uninitialised bytes are zero.
    #[must_use]
    pub fn buffer(&self, buffer: BufferId) -> Vec<u8> {
        self.machine.read(buffer)
    }

    /// The current bytes of a global or constant variable of the module; none if the kernel uses no variable of this
    /// name.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<Vec<u8>> {
        let (_, id) = self.module.variables.iter().find(|(known, _)| known == name)?;
        let address = self.addresses.get(&Object::Variable(*id))?;
        let (region, _) = self.machine.memory.region_of(*address)?;
        let is_start = Memory::address(region) == *address;
        is_start.then(|| self.buffer(BufferId(region)))
    }

    fn split(&self, lane: u32) -> Option<&Split> {
        let splits = &self.found.warp.splits;
        splits.iter().find(|split| split.mask.checked_shr(lane).is_some_and(|bits| bits & 1 == 1))
    }

    fn frame_map(&self, frame: Frame) -> Option<&FrameMap> {
        self.module.frames.iter().find(|map| map.function == frame.function)
    }

    fn known_place(&self, pc: u32) -> (PtxLocation, Option<SourceLine>) {
        let known = self.module.places.iter().find(|(known, ..)| *known == pc);
        known.map(|(_, place, line)| (*place, line.clone())).unwrap_or_default()
    }
}

/// The program counters of a split and of its callers, innermost first. The program counter of a split at a barrier
/// points after the barrier and is corrected.
fn pcs(split: &Split) -> Vec<u32> {
    let mut all = vec![split.pc];
    let frames = [&split.frame].into_iter().chain(split.callers.iter().rev());
    let calls = frames.map(|frame| frame.return_pc.saturating_sub(1)).take(split.callers.len());
    all.extend(calls);
    if split.state.is_at_barrier() {
        all.push(split.pc.saturating_sub(1));
    }
    all
}
