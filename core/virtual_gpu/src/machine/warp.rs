//! A warp as data: registers, the threads' own memory, and the places where its lanes are.

use super::super::lower::code::LoweredFunction;
use super::super::module::FunctionId;
use super::places::Shape;

pub(super) const LANES: usize = 32;

/// A value of each lane, with a bit for every lane whose value nothing wrote.
///
/// Both stand side by side, so that an instruction finds them at once.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(super) struct Register<T> {
    pub(super) values: [T; LANES],
    pub(super) undefined: u32,
    /// How the values lie to each other; nobody asks of registers of 64 bits.
    pub(super) shape: Shape,
}

impl<T: Copy + Default> Register<T> {
    /// A value that all lanes share.
    pub(super) const fn shared(value: T) -> Self {
        Self { values: [value; LANES], undefined: 0, shape: Shape::Known([Some(0); 2]) }
    }

    /// Nothing that was written.
    fn unwritten() -> Self {
        Self { values: [T::default(); LANES], undefined: u32::MAX, shape: Shape::Unknown }
    }
}

/// Registers of all frames, one slot for 32 lanes.
#[derive(Clone, Debug, Default)]
pub(super) struct Registers {
    pub(super) words: Vec<Register<u32>>,
    pub(super) doubles: Vec<Register<u64>>,
    pub(super) predicates: Vec<u32>,
    pub(super) predicates_undefined: Vec<u32>,
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

/// The threads' own memory: words of 32 bits, each for all lanes, so that frames can grow.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalMemory {
    pub(super) words: Vec<[u32; LANES]>,
    /// Bits 0 to 3 of each lane: the bytes that were written.
    pub(super) written: Vec<[u8; LANES]>,
}

impl LocalMemory {
    /// Makes room up to `end`.
    pub(super) fn grow(&mut self, end: u32) {
        let words = end.div_ceil(4) as usize;
        if self.words.len() < words {
            self.words.resize(words, [0; LANES]);
            self.written.resize(words, [0; LANES]);
        }
    }

    /// A new frame of these lanes: nothing is written.
    pub(super) fn clear(&mut self, start: u32, end: u32, mask: u32) {
        for written in &mut self.written[start as usize / 4..end.div_ceil(4) as usize] {
            for (lane, bits) in written.iter_mut().enumerate() {
                if mask >> lane & 1 == 1 {
                    *bits = 0;
                }
            }
        }
    }

    /// Reads up to eight bytes that do not cross a multiple of their size.
    pub(super) fn read(&self, lane: usize, offset: u32, bytes: u32) -> (u64, bool) {
        let word = offset as usize / 4;
        let shift = 8 * (offset % 4);
        if bytes == 8 {
            let value =
                u64::from(self.words[word][lane]) | u64::from(self.words[word + 1][lane]) << 32;
            let written = self.written[word][lane] | self.written[word + 1][lane];
            return (value, written != 0);
        }
        let mask = if bytes == 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 };
        let bits = ((1_u8 << bytes) - 1) << (offset % 4);
        let value = self.words[word][lane] >> shift & mask;
        (u64::from(value), self.written[word][lane] & bits != 0)
    }

    pub(super) fn write(
        &mut self,
        lane: usize,
        offset: u32,
        bytes: u32,
        value: u64,
        defined: bool,
    ) {
        let word = offset as usize / 4;
        if bytes == 8 {
            self.write(lane, offset, 4, value & 0xffff_ffff, defined);
            self.write(lane, offset + 4, 4, value >> 32, defined);
            return;
        }
        let shift = 8 * (offset % 4);
        let mask = if bytes == 4 { u32::MAX } else { ((1 << (8 * bytes)) - 1) << shift };
        let old = self.words[word][lane];
        self.words[word][lane] = old & !mask | (value as u32) << shift & mask;
        let bits = ((1_u8 << bytes) - 1) << (offset % 4);
        let written = &mut self.written[word][lane];
        *written = if defined { *written | bits } else { *written & !bits };
    }
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
        self.words[words..end].iter_mut().for_each(|register| register.undefined |= mask);
        let end = doubles + function.doubles as usize;
        if self.doubles.len() < end {
            self.doubles.resize_with(end, Register::unwritten);
        }
        self.doubles[doubles..end].iter_mut().for_each(|register| register.undefined |= mask);
        let end = predicates + function.predicates as usize;
        if self.predicates.len() < end {
            self.predicates.resize(end, 0);
            self.predicates_undefined.resize(end, u32::MAX);
        }
        self.predicates_undefined[predicates..end].iter_mut().for_each(|bits| *bits |= mask);
    }
}
