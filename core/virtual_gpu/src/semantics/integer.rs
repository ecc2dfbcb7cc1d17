//! Integer arithmetic. PTX ISA 9.7.1 "Integer Arithmetic Instructions" and 9.7.2 "Extended-Precision Integer
//! Arithmetic Instructions".

mod carry;
mod dot;
mod packed;
#[cfg(test)]
mod tests;
mod video;

pub use carry::{
    Carried, Limb, ProductPart, add_with_carry, multiply_add_with_carry, subtract_with_borrow,
};
pub use dot::{DotPart, Signedness, dot_product_2, dot_product_4};
pub use packed::{PackedType, add_packed, extreme_packed};
pub use video::{
    Elements, Join, PackedVideo, Part as VideoPart, ProductSign, ScalarVideo, Secondary,
    VideoFunction, VideoProduct, packed_video, scalar_video, video_product,
};

use super::{Extreme, Negative, Overflow};

/// The half of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The lower one (`.lo`).
    Low,
    /// The upper one (`.hi`).
    High,
}

/// The types of integer arithmetic: u16 to u64 and s16 to s64.
pub trait Integer: Copy + Ord + Sized {
    const ZERO: Self;
    /// All bits set: the result of a division by zero on an H200.
    const ONES: Self;
    /// The integer twice as wide.
    type Wide: Copy;

    /// The sum, wrapped.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// The difference, wrapped.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// The lower half of the product.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// The upper half of the product.
    #[must_use]
    fn times_high(self, other: Self) -> Self;
    /// The whole product.
    #[must_use]
    fn times_wide(self, other: Self) -> Self::Wide;
    /// The sum of wide numbers, wrapped.
    #[must_use]
    fn plus_wide(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// The quotient towards zero, wrapped, by a number other than zero.
    #[must_use]
    fn over(self, other: Self) -> Self;
    /// The remainder of that quotient.
    #[must_use]
    fn modulo(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($ty:ty => $wide:ty),+) => {$(
        impl Integer for $ty {
            const ZERO: Self = 0;
            const ONES: Self = !0;
            type Wide = $wide;

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn times_high(self, other: Self) -> Self {
                (self.times_wide(other) >> Self::BITS) as Self
            }
            #[inline]
            fn times_wide(self, other: Self) -> $wide {
                <$wide>::from(self) * <$wide>::from(other)
            }
            #[inline]
            fn plus_wide(a: $wide, b: $wide) -> $wide {
                a.wrapping_add(b)
            }
            #[inline]
            fn over(self, other: Self) -> Self {
                self.wrapping_div(other)
            }
            #[inline]
            fn modulo(self, other: Self) -> Self {
                self.wrapping_rem(other)
            }
        }
    )+};
}

integers!(u16 => u32, u32 => u64, u64 => u128, i16 => i32, i32 => i64, i64 => i128);

/// `a + b`, wrapped. PTX ISA 9.7.1.1 "add".
#[inline]
#[must_use]
pub fn add<T: Integer>(a: T, b: T) -> T {
    a.plus(b)
}

/// `a - b`, wrapped. PTX ISA 9.7.1.2 "sub".
#[inline]
#[must_use]
pub fn subtract<T: Integer>(a: T, b: T) -> T {
    a.minus(b)
}

/// `a + b`, saturated (`add.sat.s32`). PTX ISA 9.7.1.1 "add".
#[inline]
#[must_use]
pub fn add_saturating(a: i32, b: i32) -> i32 {
    a.saturating_add(b)
}

/// `a - b`, saturated (`sub.sat.s32`). PTX ISA 9.7.1.2 "sub".
#[inline]
#[must_use]
pub fn subtract_saturating(a: i32, b: i32) -> i32 {
    a.saturating_sub(b)
}

/// Half of `a * b`. PTX ISA 9.7.1.3 "mul".
#[inline]
#[must_use]
pub fn multiply<T: Integer>(a: T, b: T, part: Part) -> T {
    match part {
        Part::Low => a.times(b),
        Part::High => a.times_high(b),
    }
}

/// The full product `a * b` (`.wide`). PTX ISA 9.7.1.3 "mul".
#[inline]
#[must_use]
pub fn multiply_wide<T: Integer>(a: T, b: T) -> T::Wide {
    a.times_wide(b)
}

/// Half of `a * b`, plus `c`, wrapped. PTX ISA 9.7.1.4 "mad".
#[inline]
#[must_use]
pub fn multiply_add<T: Integer>(a: T, b: T, c: T, part: Part) -> T {
    multiply(a, b, part).plus(c)
}

/// The full product `a * b`, plus `c`, wrapped. PTX ISA 9.7.1.4 "mad".
#[inline]
#[must_use]
pub fn multiply_add_wide<T: Integer>(a: T, b: T, c: T::Wide) -> T::Wide {
    T::plus_wide(a.times_wide(b), c)
}

/// The upper half of `a * b`, plus `c`, saturated (`mad.hi.sat.s32`). PTX ISA 9.7.1.4 "mad".
#[inline]
#[must_use]
pub fn multiply_add_saturating(a: i32, b: i32, c: i32) -> i32 {
    a.times_high(b).saturating_add(c)
}

/// Bits 0 to 31 or 16 to 47 of the product of the low 24 bits. PTX ISA 9.7.1.5 "mul24".
#[inline]
#[must_use]
pub fn multiply_24(a: u32, b: u32, part: Part, signedness: Signedness) -> u32 {
    let low = |bits: u32| match signedness {
        Signedness::Signed => i64::from((bits << 8) as i32 >> 8),
        Signedness::Unsigned => i64::from(bits & 0x00ff_ffff),
    };
    let product = low(a) * low(b);
    match part {
        Part::Low => product as u32,
        Part::High => (product >> 16) as u32,
    }
}

/// `multiply_24`, plus `c`; only `.hi.s32` saturates. PTX ISA 9.7.1.6 "mad24".
#[inline]
#[must_use]
pub fn multiply_add_24(
    operands: [u32; 3],
    part: Part,
    signedness: Signedness,
    overflow: Overflow,
) -> u32 {
    let [a, b, c] = operands;
    let product = multiply_24(a, b, part, signedness);
    match overflow {
        Overflow::Wrap => product.wrapping_add(c),
        Overflow::Saturate => (product as i32).saturating_add(c as i32) as u32,
    }
}

/// `c + |a - b|`, wrapped. PTX ISA 9.7.1.7 "sad".
#[inline]
#[must_use]
pub fn sum_of_absolute_differences<T: Integer>(a: T, b: T, c: T) -> T {
    c.plus(if a < b { b.minus(a) } else { a.minus(b) })
}

/// `a / b`, truncated. PTX ISA 9.7.1.8 "div".
///
/// The ISA calls division by zero machine-specific. An H200 returns all ones, and the smallest number for the
/// smallest number divided by -1.
#[inline]
#[must_use]
pub fn divide<T: Integer>(a: T, b: T) -> T {
    if b == T::ZERO { T::ONES } else { a.over(b) }
}

/// `a % b`, with the sign of `a`. PTX ISA 9.7.1.9 "rem".
///
/// The ISA calls the remainder of a division by zero machine-specific; an H200 returns all ones.
#[inline]
#[must_use]
pub fn remainder<T: Integer>(a: T, b: T) -> T {
    if b == T::ZERO { T::ONES } else { a.modulo(b) }
}

/// `|a|`, wrapped. PTX ISA 9.7.1.10 "abs".
#[inline]
#[must_use]
pub fn absolute<T: Integer>(a: T) -> T {
    if a < T::ZERO { T::ZERO.minus(a) } else { a }
}

/// `-a`, wrapped. PTX ISA 9.7.1.11 "neg".
#[inline]
#[must_use]
pub fn negate<T: Integer>(a: T) -> T {
    T::ZERO.minus(a)
}

/// The minimum or maximum, or zero if that is negative and `.relu` is given. PTX ISA 9.7.1.12 "min" and 9.7.1.13
/// "max".
#[inline]
#[must_use]
pub fn extreme<T: Integer>(a: T, b: T, extreme: Extreme, negative: Negative) -> T {
    let winner = match extreme {
        Extreme::Minimum => a.min(b),
        Extreme::Maximum => a.max(b),
    };
    match negative {
        Negative::Keep => winner,
        Negative::Zero => winner.max(T::ZERO),
    }
}
