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

/// What happens to an amount or position that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Excess {
    /// It is limited (`.clamp`).
    Clamp,
    /// Its lowest five bits count (`.wrap`).
    Wrap,
}

/// Into which direction a funnel shifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Towards the upper end (`.l`).
    Left,
    /// Towards the lower end (`.r`).
    Right,
}

/// The widths and types that logic and shifts take; predicates are Rust's own `bool`.
pub trait Bits:
    Copy
    + PartialEq
    + std::ops::BitAnd<Output = Self>
    + std::ops::BitOr<Output = Self>
    + std::ops::BitXor<Output = Self>
    + std::ops::Not<Output = Self>
{
    /// No bit.
    const ZERO: Self;
    /// The lowest bit.
    const ONE: Self;
    /// `a << count`, nothing if the count reaches the width.
    #[must_use]
    fn left(self, count: u32) -> Self;
    /// `a >> count`; counts beyond the width leave the sign, or nothing.
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

/// The function of three bits that a table of eight gives. PTX ISA 9.7.8.6 "lop3".
#[inline]
#[must_use]
pub fn table_3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    let row = |index: u32| if table & (1 << index) == 0 { 0 } else { u32::MAX };
    // Two choices by c, then by b, then by a; the table's index is abc.
    let by_c = |low: u32| (row(low) & !c) | (row(low + 1) & c);
    let by_b = |low: u32| (by_c(low) & !b) | (by_c(low + 2) & b);
    (by_b(0) & !a) | (by_b(4) & a)
}

/// `a << count`; counts beyond the width count as the width. PTX ISA 9.7.8.8 "shl".
#[inline]
#[must_use]
pub fn shift_left<T: Bits>(a: T, count: u32) -> T {
    a.left(count)
}

/// `a >> count`; counts beyond the width count as the width, and signed types copy the sign. PTX ISA 9.7.8.9
/// "shr".
#[inline]
#[must_use]
pub fn shift_right<T: Bits>(a: T, count: u32) -> T {
    a.right(count)
}

/// 32 bits of the pair (`high`, `low`), shifted. PTX ISA 9.7.8.7 "shf".
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

/// How many bits are set. PTX ISA 9.7.1.14 "popc".
#[inline]
#[must_use]
pub fn population_count(a: u64) -> u32 {
    a.count_ones()
}

/// How many zeros lead in 32 bits. PTX ISA 9.7.1.15 "clz".
#[inline]
#[must_use]
pub fn leading_zeros_32(a: u32) -> u32 {
    a.leading_zeros()
}

/// How many zeros lead in 64 bits. PTX ISA 9.7.1.15 "clz".
#[inline]
#[must_use]
pub fn leading_zeros_64(a: u64) -> u32 {
    a.leading_zeros()
}

/// The bits in the opposite order. PTX ISA 9.7.1.18 "brev".
#[inline]
#[must_use]
pub fn reverse_32(a: u32) -> u32 {
    a.reverse_bits()
}

/// The bits in the opposite order. PTX ISA 9.7.1.18 "brev".
#[inline]
#[must_use]
pub fn reverse_64(a: u64) -> u64 {
    a.reverse_bits()
}
