//! Logic, shifts, fields, counts and permutations. PTX ISA 9.7.8 "Logic and Shift Instructions" and the bit
//! operations of 9.7.1 "Integer Arithmetic Instructions".

mod field;
mod permute;
#[cfg(test)]
mod tests;

pub use field::{
    FoundBit, extend_sign, extend_zero, extract_32, extract_64, extract_signed_32,
    extract_signed_64, find_32, find_64, find_nth_set, find_signed_32, find_signed_64, insert_32,
    insert_64, mask,
};
pub use permute::{PermuteMode, permute, permute_by_mode};

/// Treatment of an amount or position that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Excess {
    /// It is clamped (`.clamp`).
    Clamp,
    /// It is taken modulo 32 (`.wrap`).
    Wrap,
}

/// The direction of a funnel shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Towards the most significant bit (`.l`).
    Left,
    /// Towards the least significant bit (`.r`).
    Right,
}

/// The widths and types of logic and shift operations; predicates are Rust's `bool`.
pub trait Bits:
    Copy
    + PartialEq
    + std::ops::BitAnd<Output = Self>
    + std::ops::BitOr<Output = Self>
    + std::ops::BitXor<Output = Self>
    + std::ops::Not<Output = Self>
{
    /// All bits zero.
    const ZERO: Self;
    const ONE: Self;
    /// `a << count`; zero if the count reaches the width.
    #[must_use]
    fn left(self, count: u32) -> Self;
    /// `a >> count`; a count beyond the width gives the sign bits, or zero.
    #[must_use]
    fn right(self, count: u32) -> Self;
}

macro_rules! shifted_with_zeros {
    ($($ty:ty),+) => {$(
        impl Bits for $ty {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline]
            fn left(self, count: u32) -> Self {
                let inside = count < Self::BITS;
                if inside { self.wrapping_shl(count) } else { 0 }
            }
            #[inline]
            fn right(self, count: u32) -> Self {
                let inside = count < Self::BITS;
                if inside { self.wrapping_shr(count) } else { 0 }
            }
        }
    )+};
}

macro_rules! shifted_with_sign {
    ($($ty:ty),+) => {$(
        impl Bits for $ty {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline]
            fn left(self, count: u32) -> Self {
                let inside = count < Self::BITS;
                if inside { self.wrapping_shl(count) } else { 0 }
            }
            #[inline]
            fn right(self, count: u32) -> Self {
                self.wrapping_shr(count.min(Self::BITS - 1))
            }
        }
    )+};
}

shifted_with_zeros!(u16, u32, u64);
shifted_with_sign!(i16, i32, i64);

/// `a & b`. PTX ISA 9.7.8.1 "and".
#[inline]
#[must_use]
pub fn and<T: Bits>(a: T, b: T) -> T {
    a & b
}

/// `a | b`. PTX ISA 9.7.8.2 "or".
#[inline]
#[must_use]
pub fn or<T: Bits>(a: T, b: T) -> T {
    a | b
}

/// `a ^ b`. PTX ISA 9.7.8.3 "xor".
#[inline]
#[must_use]
pub fn xor<T: Bits>(a: T, b: T) -> T {
    a ^ b
}

/// `~a`. PTX ISA 9.7.8.4 "not".
#[inline]
#[must_use]
pub fn not<T: Bits>(a: T) -> T {
    !a
}

/// One if `a` is zero, else zero. PTX ISA 9.7.8.5 "cnot".
#[inline]
#[must_use]
pub fn logical_not<T: Bits>(a: T) -> T {
    if a == T::ZERO { T::ONE } else { T::ZERO }
}

/// The function of three bits with a truth table of eight bits. PTX ISA 9.7.8.6 "lop3".
#[inline]
#[must_use]
pub fn table_3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    let row = |index: u32| if table & (1 << index) == 0 { 0 } else { u32::MAX };
    // Selections by c, then by b, then by a; the index of the table is abc.
    let by_c = |low: u32| (row(low) & !c) | (row(low + 1) & c);
    let by_b = |low: u32| (by_c(low) & !b) | (by_c(low + 2) & b);
    (by_b(0) & !a) | (by_b(4) & a)
}

/// `a << count`; larger counts are clamped to the width. PTX ISA 9.7.8.8 "shl".
#[inline]
#[must_use]
pub fn shift_left<T: Bits>(a: T, count: u32) -> T {
    a.left(count)
}

/// `a >> count`; larger counts are clamped to the width, and signed types shift in the sign. PTX ISA 9.7.8.9 "shr".
#[inline]
#[must_use]
pub fn shift_right<T: Bits>(a: T, count: u32) -> T {
    a.right(count)
}

/// 32 bits of the shifted pair (`high`, `low`). PTX ISA 9.7.8.7 "shf".
#[inline]
#[must_use]
pub fn funnel(low: u32, high: u32, count: u32, direction: Direction, excess: Excess) -> u32 {
    let count = match excess {
        Excess::Clamp => count.min(32),
        Excess::Wrap => count & 31,
    };
    let both = u64::from(high) << 32 | u64::from(low);
    match direction {
        Direction::Left => ((both << count) >> 32) as u32,
        Direction::Right => (both >> count) as u32,
    }
}

/// The number of one bits. PTX ISA 9.7.1.14 "popc".
#[inline]
#[must_use]
pub fn population_count(a: u64) -> u32 {
    a.count_ones()
}

/// The number of leading zeros of 32 bits. PTX ISA 9.7.1.15 "clz".
#[inline]
#[must_use]
pub fn leading_zeros_32(a: u32) -> u32 {
    a.leading_zeros()
}

/// The number of leading zeros of 64 bits. PTX ISA 9.7.1.15 "clz".
#[inline]
#[must_use]
pub fn leading_zeros_64(a: u64) -> u32 {
    a.leading_zeros()
}

/// The bits in reverse order. PTX ISA 9.7.1.18 "brev".
#[inline]
#[must_use]
pub fn reverse_32(a: u32) -> u32 {
    a.reverse_bits()
}

/// The bits in reverse order. PTX ISA 9.7.1.18 "brev".
#[inline]
#[must_use]
pub fn reverse_64(a: u64) -> u64 {
    a.reverse_bits()
}
