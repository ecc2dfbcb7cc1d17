//! A warp as data: its registers and the positions of its lanes.

use std::collections::BTreeMap;

use super::super::lower::code::LoweredFunction;
use super::super::module::FunctionId;
use super::lane_offsets::LaneStrides;
use super::local::LocalMemory;
use super::register_init_mask::RegisterInitMask;
use super::stall::Stall;

pub(super) const LANES: usize = 32;

/// A value of each lane, with a mask of the lanes whose value is uninitialised.
///
/// Both are adjacent, so that an instruction finds them at once; the values come first, so that no vector of them
/// crosses a cache line.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
pub(super) struct Register<T> {
    pub(super) values: [T; LANES],
    pub(super) undefined: u32,
    /// Uninitialised lanes with some initialised bits; `Registers` has a mask of their bits.
    pub(super) partial: u32,
    /// The strides between the lanes; not used for 64-bit registers.
    pub(super) strides: LaneStrides,
}

impl<T: Copy + Default> Register<T> {
    /// The same value in all lanes.
    pub(super) const fn shared(value: T) -> Self {
        Self {
            values: [value; LANES],
            undefined: 0,
            partial: 0,
            strides: LaneStrides::Known([Some(0); 2]),
        }
    }

    /// Marks the values of these lanes as uninitialised.
    const fn mark_uninitialised(&mut self, mask: u32) {
        self.undefined |= mask;
        self.partial &= !mask;
    }

    /// A register whose lanes are all uninitialised.
    fn uninitialised() -> Self {
        Self {
            values: [T::default(); LANES],
            undefined: u32::MAX,
            partial: 0,
            strides: LaneStrides::Unknown,
        }
    }
}

/// Registers of all frames, one slot for 32 lanes.
#[derive(Clone, Debug, Default)]
pub(super) struct Registers {
    pub(super) words: Vec<Register<u32>>,
    pub(super) doubles: Vec<Register<u64>>,
    pub(super) predicates: Vec<u32>,
    pub(super) predicates_undefined: Vec<u32>,
    /// The uninitialised bits of 32-bit registers with partly initialised lanes.
    pub(super) word_init_masks: BTreeMap<usize, Box<RegisterInitMask>>,
    /// The uninitialised bits of 64-bit registers with partly initialised lanes.
    pub(super) double_init_masks: BTreeMap<usize, Box<RegisterInitMask>>,
}

/// The location of a frame in the registers and in local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) function: FunctionId,
    pub(super) words: u32,
    pub(super) doubles: u32,
    pub(super) predicates: u32,
    /// Offset of the frame in local memory, and its end.
    pub(super) local: u32,
    pub(super) local_end: u32,
    /// The program counter after the call.
    pub(super) return_pc: u32,
    /// The call that created the frame.
    pub(super) call: u32,
}

/// Whether a split can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitState {
    Ready,
    /// Waits at a barrier of the block; it continues after it.
    Barrier(u8),
    /// Waits at the barrier of the cluster; it continues after it.
    ClusterBarrier,
    /// Waits until the lanes of the mask have arrived.
    WarpSync(u32),
}

impl SplitState {
    /// Whether the lanes wait at a barrier of the block or the cluster; their program counter points after it.
    pub(super) const fn is_at_barrier(self) -> bool {
        match self {
            Self::Barrier(_) | Self::ClusterBarrier => true,
            Self::Ready | Self::WarpSync(_) => false,
        }
    }
}

/// Lanes with the same position.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) frame: Frame,
    pub(super) callers: Vec<Frame>,
    pub(super) state: SplitState,
    /// Rounds that it used: splits with fewer rounds run first.
    pub(super) rounds: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub(super) index: u32,
    pub(super) registers: Registers,
    pub(super) local: LocalMemory,
    pub(super) splits: Vec<Split>,
    /// Lanes that exist and have not exited.
    pub(super) live: u32,
    /// The last load of each lane that returned an uninitialised value.
    pub(super) undefined_load: [Option<u32>; LANES],
    /// Lanes that other lanes wait for at a warp-wide operation, and that could execute something else.
    pub(super) awaited: u32,
    /// The last instruction that polled memory.
    pub(super) last_poll: Option<u32>,
    /// The number of changes of the launch at the end of the last turn.
    pub(super) changes: u64,
    /// Turns until then in which the warp polled memory and nothing changed.
    pub(super) idle_turns: u32,
    /// The detection of a repeated state.
    pub(super) stall: Stall,
}

impl Registers {
    /// Opens a frame, whose registers are uninitialised in these lanes.
    pub(super) fn open(&mut self, frame: &Frame, function: &LoweredFunction, mask: u32) {
        let (words, doubles) = (frame.words as usize, frame.doubles as usize);
        let predicates = frame.predicates as usize;
        let end = words + function.words as usize;
        if self.words.len() < end {
            self.words.resize_with(end, Register::uninitialised);
        }
        self.words[words..end].iter_mut().for_each(|register| register.mark_uninitialised(mask));
        let end = doubles + function.doubles as usize;
        if self.doubles.len() < end {
            self.doubles.resize_with(end, Register::uninitialised);
        }
        self.doubles[doubles..end]
            .iter_mut()
            .for_each(|register| register.mark_uninitialised(mask));
        let end = predicates + function.predicates as usize;
        if self.predicates.len() < end {
            self.predicates.resize(end, 0);
            self.predicates_undefined.resize(end, u32::MAX);
        }
        self.predicates_undefined[predicates..end].iter_mut().for_each(|bits| *bits |= mask);
    }
}
