//! A launch that stands before an instruction of one warp: registers, memory, calls, and where each lane is.

use std::sync::Arc;

use super::launch::{LaunchConfig, Watched};
use super::local::Known;
use super::memory::{Addresses, Memory};
use super::warp::{Frame, LANES, Split, SplitState};
use super::watch::Found;
use super::{BufferId, Machine};
use crate::error::Place;
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
    found: Found,
    block: [u32; 3],
    shared_bytes: usize,
    /// Places of the operations that lanes and calls of this warp are at, and names of functions.
    module: PausedModule,
}

/// What is needed of the module, so that a pause does not borrow it.
#[derive(Clone, Debug)]
struct PausedModule {
    variables: Vec<(String, VariableId)>,
    frames: Vec<FrameMap>,
    places: Vec<(u32, Place, Option<SourceLine>)>,
}

#[derive(Clone, Debug)]
struct FrameMap {
    function: FunctionId,
    name: String,
    registers: RegisterMap,
}

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// These bits; one or zero of a predicate.
    Bits(u64),
    /// Nothing that was written.
    Unwritten,
    /// Nothing here: it is needed neither by this instruction nor by a later one, or is not set yet.
    NotLive,
}

/// A register with its value in one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterView {
    /// Its name in the PTX.
    pub name: String,
    /// The type that it is declared with.
    pub ty: ScalarType,
    /// What it holds.
    pub value: Value,
}

/// Whether a lane can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneState {
    /// It executes the instruction before which the launch is paused.
    Active,
    /// It can go on when its turn comes.
    Ready,
    /// It waits at this barrier of the block.
    AtBarrier(u8),
    /// It waits for other lanes of its warp.
    AtWarpOperation,
    /// It has ended.
    Ended,
}

/// Where a lane of the paused warp is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanePlace {
    /// Its thread within the block.
    pub thread: [u32; 3],
    /// Whether it can go on.
    pub state: LaneState,
    /// The instruction before which it stands; none if it has ended.
    pub place: Option<Place>,
    /// The same in the source.
    pub source_line: Option<SourceLine>,
}

/// One level of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The function.
    pub function: String,
    /// Where in it: the next instruction of the innermost one, the call in the others.
    pub place: Place,
    /// The same in the source.
    pub source_line: Option<SourceLine>,
}

impl Paused {
    pub(super) fn new(
        machine: Machine,
        module: &Module,
        done: Watched,
        found: Found,
        config: &LaunchConfig,
    ) -> Self {
        let program = &done.program;
        let mut frames: Vec<FrameMap> = Vec::new();
        let mut places: Vec<(u32, Place, Option<SourceLine>)> = Vec::new();
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

    /// Warp instructions before this one.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.found.step
    }

    /// The block of the paused warp.
    #[must_use]
    pub fn block(&self) -> [u32; 3] {
        self.found.block.index
    }

    /// The paused warp within its block.
    #[must_use]
    pub fn warp(&self) -> u32 {
        self.found.warp.index
    }

    /// The lanes that come to the instruction, one bit each; its guard may still forbid it.
    #[must_use]
    pub fn active(&self) -> u32 {
        self.found.mask
    }

    /// The instruction before which the launch stands.
    #[must_use]
    pub fn place(&self) -> Place {
        self.known_place(self.found.pc).0
    }

    /// The same in the source.
    #[must_use]
    pub fn source_line(&self) -> Option<SourceLine> {
        self.known_place(self.found.pc).1
    }

    /// Where each lane of the warp is.
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
            // Who waits at a barrier goes on behind it.
            SplitState::Barrier(number) => {
                (LaneState::AtBarrier(number), split.pc.saturating_sub(1))
            }
            SplitState::WarpSync(_) => (LaneState::AtWarpOperation, split.pc),
        };
        let (place, source_line) = self.known_place(pc);
        LanePlace { thread, state, place: Some(place), source_line }
    }

    /// Every register of the function that a lane is in, by name; empty if the lane has ended.
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

    /// The value of a register or predicate in one lane. Where nested scopes have several of one name it is the one that
    /// is live; none if the function has no such register or the lane has ended.
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
        bits.filter(|_| defined).map_or(Value::Unwritten, Value::Bits)
    }

    /// The calls that a lane is in, innermost first; empty if it has ended.
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

    /// Bytes of the block's shared memory, with what was never written as none.
    #[must_use]
    pub fn shared(&self) -> Vec<Option<u8>> {
        let shared = &self.found.block.shared;
        let byte = |offset| shared.written(offset, 1).then(|| shared.read(offset, 1) as u8);
        (0..self.shared_bytes).map(byte).collect()
    }

    /// Bytes of a lane's own memory, all frames from the first one on, with what was never written as none.
    #[must_use]
    pub fn local(&self, lane: u32) -> Vec<Option<u8>> {
        let Some(split) = self.split(lane) else { return Vec::new() };
        let byte = |offset| {
            let (value, known) = self.found.warp.local.read(lane as usize, offset, 1);
            (known == Known::All).then_some(value as u8)
        };
        (FIRST_FRAME..split.frame.local_end).map(byte).collect()
    }

    /// The bytes of a buffer in this moment; those that nothing wrote are zero.
    #[must_use]
    pub fn buffer(&self, buffer: BufferId) -> Vec<u8> {
        self.machine.read(buffer)
    }

    /// The bytes of a global or constant variable of the module in this moment; none if the kernel does not use one of
    /// that name.
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

    fn known_place(&self, pc: u32) -> (Place, Option<SourceLine>) {
        let known = self.module.places.iter().find(|(known, ..)| *known == pc);
        known.map(|(_, place, line)| (*place, line.clone())).unwrap_or_default()
    }
}

/// Where a split is and where its callers were left, innermost first; a barrier is left behind, so before it too.
fn pcs(split: &Split) -> Vec<u32> {
    let mut all = vec![split.pc];
    let frames = [&split.frame].into_iter().chain(split.callers.iter().rev());
    let calls = frames.map(|frame| frame.return_pc.saturating_sub(1)).take(split.callers.len());
    all.extend(calls);
    if let SplitState::Barrier(_) = split.state {
        all.push(split.pc.saturating_sub(1));
    }
    all
}
