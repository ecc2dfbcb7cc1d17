//! A warp as data: registers and the places where its lanes are.

use std::collections::BTreeMap;

use super::super::lower::code::LoweredFunction;
use super::super::module::FunctionId;
use super::local::LocalMemory;
use super::partial::Row;
use super::places::Shape;
use super::stall::Stall;

pub(super) const LANES: usize = 32;

/// A value of each lane, with a bit for every lane whose value nothing wrote.
///
/// Both stand side by side, so that an instruction finds them at once; the values first, so that no vector of them lies
/// in two cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
pub(super) struct Register<T> {
    pub(super) values: [T; LANES],
    pub(super) undefined: u32,
    /// Those lanes of which some bits are known: `Registers` has a row for them.
    pub(super) partial: u32,
    /// How the values lie to each other; nobody asks of registers of 64 bits.
    pub(super) shape: Shape,
}

impl<T: Copy + Default> Register<T> {
    /// A value that all lanes share.
    pub(super) const fn shared(value: T) -> Self {
        Self { values: [value; LANES], undefined: 0, partial: 0, shape: Shape::Known([Some(0); 2]) }
    }

    /// What these lanes hold was never written.
    const fn forget(&mut self, mask: u32) {
        self.undefined |= mask;
        self.partial &= !mask;
    }

    /// Nothing that was written.
    fn unwritten() -> Self {
        Self {
            values: [T::default(); LANES],
            undefined: u32::MAX,
            partial: 0,
            shape: Shape::Unknown,
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
    /// Unknown bits of registers of 32 bits with lanes that are known in part.
    pub(super) word_rows: BTreeMap<usize, Box<Row>>,
    /// The same of 64 bits.
    pub(super) double_rows: BTreeMap<usize, Box<Row>>,
}

/// Where a frame lies among the registers and in the thread's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) function: FunctionId,
    pub(super) words: u32,
    pub(super) doubles: u32,
    pub(super) predicates: u32,
    /// Offset of the frame in the thread's memory, and its end.
    pub(super) local: u32,
    pub(super) local_end: u32,
    /// Where the caller goes on.
    pub(super) return_pc: u32,
    /// The call that made the frame.
    pub(super) call: u32,
}

/// Whether a split can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitState {
    Ready,
    /// At a barrier of the block, behind which it goes on.
    Barrier(u8),
    /// Until the lanes of the mask are here too.
    WarpSync(u32),
}

/// Lanes that are at the same place.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) frame: Frame,
    pub(super) callers: Vec<Frame>,
    pub(super) state: SplitState,
    /// Rounds that it used up: those with fewer go first.
    pub(super) rounds: u32,
}

/// One warp.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub(super) index: u32,
    pub(super) registers: Registers,
    pub(super) local: LocalMemory,
    pub(super) splits: Vec<Split>,
    /// Lanes that exist and have not ended.
    pub(super) live: u32,
    /// The last load of each lane that brought a value which nothing wrote.
    pub(super) undefined_load: [Option<u32>; LANES],
    /// Lanes that others wait for at a warp-wide operation, and that had something else to do.
    pub(super) awaited: u32,
    /// The last instruction that looked at what others write.
    pub(super) last_poll: Option<u32>,
    /// How often it did so since it last changed anything.
    pub(super) idle_polls: u32,
    /// Whether it does the same for ever.
    pub(super) stall: Stall,
}

impl Registers {
    /// Makes room for a frame, whose values nothing wrote in these lanes.
    pub(super) fn open(&mut self, frame: &Frame, function: &LoweredFunction, mask: u32) {
        let (words, doubles) = (frame.words as usize, frame.doubles as usize);
        let predicates = frame.predicates as usize;
        let end = words + function.words as usize;
        if self.words.len() < end {
            self.words.resize_with(end, Register::unwritten);
        }
        self.words[words..end].iter_mut().for_each(|register| register.forget(mask));
        let end = doubles + function.doubles as usize;
        if self.doubles.len() < end {
            self.doubles.resize_with(end, Register::unwritten);
        }
        self.doubles[doubles..end].iter_mut().for_each(|register| register.forget(mask));
        let end = predicates + function.predicates as usize;
        if self.predicates.len() < end {
            self.predicates.resize(end, 0);
            self.predicates_undefined.resize(end, u32::MAX);
        }
        self.predicates_undefined[predicates..end].iter_mut().for_each(|bits| *bits |= mask);
    }
}
