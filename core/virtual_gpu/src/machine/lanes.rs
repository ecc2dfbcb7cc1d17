//! The registers of one instruction: reads and writes of all lanes of a slot at once.

use super::super::lower::code::{Op, Slot};
use super::lane_offsets::LaneStrides;
use super::warp::{Frame, LANES, Register, Registers};

pub(super) type Words = [u32; LANES];
pub(super) type Doubles = [u64; LANES];

/// Constants of a launch, which all lanes share.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    pub(super) words: Vec<Register<u32>>,
    pub(super) doubles: Vec<Register<u64>>,
}

/// The registers of a frame and the active lanes.
pub(super) struct Lanes<'l> {
    pub(super) registers: &'l mut Registers,
    pub(super) pool: &'l Pool,
    pub(super) frame: Frame,
    pub(super) mask: u32,
}

impl Lanes<'_> {
    /// A register of 32 bits, or a constant of the launch.
    #[inline(always)]
    pub(super) fn word_row(&self, slot: Slot) -> &Register<u32> {
        if slot.is_pool() {
            &self.pool.words[slot.index()]
        } else {
            &self.registers.words[self.frame.words as usize + slot.index()]
        }
    }

    /// A register of 64 bits, or a constant of the launch.
    #[inline(always)]
    pub(super) fn double_row(&self, slot: Slot) -> &Register<u64> {
        if slot.is_pool() {
            &self.pool.doubles[slot.index()]
        } else {
            &self.registers.doubles[self.frame.doubles as usize + slot.index()]
        }
    }

    /// The strides between the lanes of a 32-bit register, computed once for each value.
    #[inline(always)]
    pub(super) fn word_shape(&mut self, slot: Slot) -> [Option<u32>; 2] {
        if slot.is_pool() {
            return [Some(0); 2];
        }
        let register = &mut self.registers.words[self.frame.words as usize + slot.index()];
        register.strides()
    }

    #[inline(always)]
    pub(super) fn word_ref(&self, slot: Slot) -> &Words {
        &self.word_row(slot).values
    }

    #[inline(always)]
    pub(super) fn double_ref(&self, slot: Slot) -> &Doubles {
        &self.double_row(slot).values
    }

    #[inline(always)]
    pub(super) fn word(&self, slot: Slot) -> Words {
        *self.word_ref(slot)
    }

    #[inline(always)]
    pub(super) fn double(&self, slot: Slot) -> Doubles {
        *self.double_ref(slot)
    }

    /// A predicate, one bit per lane.
    #[inline(always)]
    pub(super) fn predicate(&self, slot: Slot) -> u32 {
        let bits = if slot.is_pool() {
            0_u32.wrapping_sub(self.pool.words[slot.index()].values[0] & 1)
        } else {
            self.registers.predicates[self.frame.predicates as usize + slot.index()]
        };
        if slot.is_negated() { !bits } else { bits }
    }

    #[inline(always)]
    pub(super) fn word_undefined(&self, slot: Slot) -> u32 {
        self.word_row(slot).undefined
    }

    #[inline(always)]
    pub(super) fn double_undefined(&self, slot: Slot) -> u32 {
        self.double_row(slot).undefined
    }

    #[inline(always)]
    pub(super) fn predicate_undefined(&self, slot: Slot) -> u32 {
        if slot.is_pool() {
            return 0;
        }
        self.registers.predicates_undefined[self.frame.predicates as usize + slot.index()]
    }

    #[inline(always)]
    pub(super) fn set_word(&mut self, slot: Slot, values: &Words, undefined: u32) {
        let index = self.frame.words as usize + slot.index();
        self.registers.words[index].set(values, undefined, self.mask);
    }

    /// The values of a 32-bit register, all of which the caller replaces.
    #[inline(always)]
    pub(super) fn replace_word(&mut self, slot: Slot) -> &mut Words {
        let index = self.frame.words as usize + slot.index();
        self.registers.words[index].replaced()
    }

    #[inline(always)]
    pub(super) fn set_double(&mut self, slot: Slot, values: &Doubles, undefined: u32) {
        let index = self.frame.doubles as usize + slot.index();
        self.registers.doubles[index].set(values, undefined, self.mask);
    }

    #[inline(always)]
    pub(super) fn set_predicate(&mut self, slot: Slot, values: u32, undefined: u32) {
        let index = self.frame.predicates as usize + slot.index();
        let bits = &mut self.registers.predicates[index];
        *bits = *bits & !self.mask | values & self.mask;
        let bits = &mut self.registers.predicates_undefined[index];
        *bits = *bits & !self.mask | undefined & self.mask;
    }

    #[inline(always)]
    pub(super) fn words_1(&mut self, op: &Op, f: impl Fn(u32) -> u32) {
        let a = self.word_row(op.a);
        let result = each(|lane| f(a.values[lane]));
        self.set_word(op.d, &result, a.undefined);
    }

    #[inline(always)]
    pub(super) fn words_2(&mut self, op: &Op, f: impl Fn(u32, u32) -> u32) {
        let (a, b) = (self.word_row(op.a), self.word_row(op.b));
        let result = each(|lane| f(a.values[lane], b.values[lane]));
        let undefined = a.undefined | b.undefined;
        self.set_word(op.d, &result, undefined);
    }

    #[inline(always)]
    pub(super) fn words_3(&mut self, op: &Op, f: impl Fn(u32, u32, u32) -> u32) {
        let (a, b, c) = (self.word_row(op.a), self.word_row(op.b), self.word_row(op.c));
        let result = each(|lane| f(a.values[lane], b.values[lane], c.values[lane]));
        let undefined = a.undefined | b.undefined | c.undefined;
        self.set_word(op.d, &result, undefined);
    }

    #[inline(always)]
    pub(super) fn doubles_1(&mut self, op: &Op, f: impl Fn(u64) -> u64) {
        let a = self.double_row(op.a);
        let result = each(|lane| f(a.values[lane]));
        self.set_double(op.d, &result, a.undefined);
    }

    #[inline(always)]
    pub(super) fn doubles_2(&mut self, op: &Op, f: impl Fn(u64, u64) -> u64) {
        let (a, b) = (self.double_row(op.a), self.double_row(op.b));
        let result = each(|lane| f(a.values[lane], b.values[lane]));
        let undefined = a.undefined | b.undefined;
        self.set_double(op.d, &result, undefined);
    }

    #[inline(always)]
    pub(super) fn doubles_3(&mut self, op: &Op, f: impl Fn(u64, u64, u64) -> u64) {
        let (a, b, c) = (self.double_row(op.a), self.double_row(op.b), self.double_row(op.c));
        let result = each(|lane| f(a.values[lane], b.values[lane], c.values[lane]));
        let undefined = a.undefined | b.undefined | c.undefined;
        self.set_double(op.d, &result, undefined);
    }

    /// `words_1` for an expensive function.
    #[inline(always)]
    pub(super) fn costly_words_1(&mut self, op: &Op, f: impl Fn(u32) -> u32) {
        let a = self.word_row(op.a);
        let result = dear_1(&a.values, f);
        self.set_word(op.d, &result, a.undefined);
    }

    /// An expensive function of two words.
    #[inline(always)]
    pub(super) fn costly_words_2(&mut self, op: &Op, f: impl Fn(u32, u32) -> u32) {
        let (a, b) = (self.word_row(op.a), self.word_row(op.b));
        let result = dear_2(&a.values, &b.values, f);
        let undefined = a.undefined | b.undefined;
        self.set_word(op.d, &result, undefined);
    }

    /// An expensive function of a 64-bit value.
    #[inline(always)]
    pub(super) fn costly_doubles_1(&mut self, op: &Op, f: impl Fn(u64) -> u64) {
        let a = self.double_row(op.a);
        let result = dear_1(&a.values, f);
        self.set_double(op.d, &result, a.undefined);
    }

    /// An expensive function of two 64-bit values.
    #[inline(always)]
    pub(super) fn costly_doubles_2(&mut self, op: &Op, f: impl Fn(u64, u64) -> u64) {
        let (a, b) = (self.double_row(op.a), self.double_row(op.b));
        let result = dear_2(&a.values, &b.values, f);
        let undefined = a.undefined | b.undefined;
        self.set_double(op.d, &result, undefined);
    }

    /// 32-bit sources, a 64-bit result: `mul.wide`.
    #[inline(always)]
    pub(super) fn widening_2(&mut self, op: &Op, f: impl Fn(u32, u32) -> u64) {
        let (a, b) = (self.word_row(op.a), self.word_row(op.b));
        let result = each(|lane| f(a.values[lane], b.values[lane]));
        let undefined = a.undefined | b.undefined;
        self.set_double(op.d, &result, undefined);
    }

    /// 32-bit sources and a 64-bit summand, a 64-bit result: `mad.wide`.
    #[inline(always)]
    pub(super) fn widening_3(&mut self, op: &Op, f: impl Fn(u32, u32, u64) -> u64) {
        let (a, b, c) = (self.word_row(op.a), self.word_row(op.b), self.double_row(op.c));
        let result = each(|lane| f(a.values[lane], b.values[lane], c.values[lane]));
        let undefined = a.undefined | b.undefined | c.undefined;
        self.set_double(op.d, &result, undefined);
    }

    /// A 64-bit source, a 32-bit result: bit counts.
    #[inline(always)]
    pub(super) fn narrowing_1(&mut self, op: &Op, f: impl Fn(u64) -> u32) {
        let a = self.double_row(op.a);
        let result = each(|lane| f(a.values[lane]));
        self.set_word(op.d, &result, a.undefined);
    }

    /// A predicate of two words: one bit per lane, and the lanes in which it is undefined.
    #[inline(always)]
    pub(super) fn test_words(&self, op: &Op, f: impl Fn(u32, u32) -> bool) -> (u32, u32) {
        let (a, b) = (self.word_row(op.a), self.word_row(op.b));
        let undefined = a.undefined | b.undefined;
        (bits(|lane| f(a.values[lane], b.values[lane])), undefined)
    }

    #[inline(always)]
    pub(super) fn test_doubles(&self, op: &Op, f: impl Fn(u64, u64) -> bool) -> (u32, u32) {
        let (a, b) = (self.double_row(op.a), self.double_row(op.b));
        let undefined = a.undefined | b.undefined;
        (bits(|lane| f(a.values[lane], b.values[lane])), undefined)
    }

    /// A source of either bank as 64 bits, zero-extended.
    pub(super) fn any(&self, slot: Slot, wide: bool) -> (Doubles, u32) {
        if wide || slot.is_pool() {
            return (self.double(slot), self.double_undefined(slot));
        }
        (self.word(slot).map(u64::from), self.word_undefined(slot))
    }
}

/// A value for each lane.
#[inline(always)]
pub(super) fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; LANES] {
    let mut values = [T::default(); LANES];
    for (lane, value) in values.iter_mut().enumerate() {
        *value = f(lane);
    }
    values
}

/// Whether all lanes have the same value.
#[inline(always)]
fn alike<T: PartialEq>(values: &[T; LANES]) -> bool {
    // Comparing all lanes vectorises, which is faster than stopping at the first difference.
    values.iter().fold(true, |all, value| all & (*value == values[0]))
}

/// An expensive function of each lane, evaluated once if all lanes have the same value, as values derived from the
/// block index or a parameter do.
#[inline(always)]
fn dear_1<T: Copy + Default + PartialEq>(a: &[T; LANES], f: impl Fn(T) -> T) -> [T; LANES] {
    if alike(a) { [f(a[0]); LANES] } else { each(|lane| f(a[lane])) }
}

/// An expensive function of two values.
#[inline(always)]
fn dear_2<T: Copy + Default + PartialEq>(
    a: &[T; LANES],
    b: &[T; LANES],
    f: impl Fn(T, T) -> T,
) -> [T; LANES] {
    if alike(a) && alike(b) { [f(a[0], b[0]); LANES] } else { each(|lane| f(a[lane], b[lane])) }
}

/// One bit for each lane.
#[inline(always)]
pub(super) fn bits(f: impl Fn(usize) -> bool) -> u32 {
    let mut flags = [0_u32; LANES];
    for (lane, flag) in flags.iter_mut().enumerate() {
        *flag = u32::from(f(lane)) << lane;
    }
    flags.iter().fold(0, |all, flag| all | flag)
}

/// A register type whose lanes can be selected without branches.
pub(super) trait Vectored: Copy {
    /// `new` where the bit is set, else `old`.
    fn choose(bit: u32, new: Self, old: Self) -> Self;
}

impl Vectored for u32 {
    #[inline(always)]
    fn choose(bit: u32, new: Self, old: Self) -> Self {
        let all = 0_u32.wrapping_sub(bit);
        new & all | old & !all
    }
}

impl Vectored for u64 {
    #[inline(always)]
    fn choose(bit: u32, new: Self, old: Self) -> Self {
        let all = 0_u64.wrapping_sub(Self::from(bit));
        new & all | old & !all
    }
}

impl<T: Vectored> Register<T> {
    /// Replaces the values of some lanes.
    #[inline(always)]
    pub(super) fn set(&mut self, values: &[T; LANES], undefined: u32, mask: u32) {
        self.strides = LaneStrides::Unknown;
        if mask == u32::MAX {
            self.values = *values;
            (self.undefined, self.partial) = (undefined, 0);
            return;
        }
        for (lane, (target, value)) in self.values.iter_mut().zip(values).enumerate() {
            *target = T::choose(mask >> lane & 1, *value, *target);
        }
        self.undefined = self.undefined & !mask | undefined & mask;
        self.partial &= !mask;
    }

    /// The values, all of which the caller replaces.
    #[inline(always)]
    pub(super) fn replaced(&mut self) -> &mut [T; LANES] {
        self.strides = LaneStrides::Unknown;
        (self.undefined, self.partial) = (0, 0);
        &mut self.values
    }
}

impl Register<u32> {
    /// The strides between the lanes, computed once for each value.
    #[inline(always)]
    pub(super) fn strides(&mut self) -> [Option<u32>; 2] {
        if let LaneStrides::Known(halves) = self.strides {
            return halves;
        }
        let halves = LaneStrides::strides(&self.values);
        self.strides = LaneStrides::Known(halves);
        halves
    }
}
