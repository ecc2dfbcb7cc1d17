//! Video instructions: arithmetic on bytes and halves of words. PTX ISA, sections "Scalar Video Instructions" and
//! "SIMD Video Instructions".
//!
//! Results are exact in 128 bits until they are saturated or truncated.

use super::super::Overflow;
use super::super::bits::Excess;
use super::super::compare::{Order, compare};
use super::Signedness;

/// A byte, a half or all of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All 32 bits.
    Word,
    /// Byte 0 to 3, the lowest first.
    Byte(u8),
    /// Half 0 or 1, the lower first.
    Half(u8),
}

/// A function of two extended values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoFunction {
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `(a + b) / 2`; halves are rounded away from zero. SIMD only.
    Average,
    /// `|a - b|`.
    AbsoluteDifference,
    Minimum,
    Maximum,
    /// `a << b`. Scalar only.
    ShiftLeft(Excess),
    /// `a >> b`, by the sign of `a`. Scalar only.
    ShiftRight(Excess),
    /// One if the comparison is true, else zero.
    Compare(Order),
}

/// The operation with the third source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Secondary {
    None,
    /// Addition.
    Add,
    /// The minimum of both.
    Minimum,
    /// The maximum of both.
    Maximum,
    /// The result replaces a part of the third source.
    Merge(Part),
}

/// `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarVideo {
    pub function: VideoFunction,
    /// The type of the result and of the third source.
    pub result: Signedness,
    /// The types of the first two sources.
    pub sources: [Signedness; 2],
    /// The parts of the first two sources.
    pub parts: [Part; 2],
    /// Whether the result saturates to its type and part (`.sat`).
    pub overflow: Overflow,
    /// The operation with the third source.
    pub secondary: Secondary,
}

/// The sign of the terms of `a * b + c`, or the addition of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProductSign {
    /// `a * b + c`.
    Plain,
    /// `-(a * b) + c`.
    NegatedProduct,
    /// `a * b - c`.
    NegatedSum,
    /// `a * b + c + 1` (`.po`).
    PlusOne,
}

/// `vmad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoProduct {
    /// The types of the factors.
    pub sources: [Signedness; 2],
    /// The parts of the factors.
    pub parts: [Part; 2],
    /// The sign of the terms.
    pub sign: ProductSign,
    /// The right shift of the sum: 0, 7 or 15.
    pub shift: u8,
    /// Whether the result saturates to 32 bits (`.sat`).
    pub overflow: Overflow,
}

/// How the results of the elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// Packed, each truncated to its element.
    Elements,
    /// Added, without truncation, to the third source (`.add`).
    Sum,
}

/// The number of elements of a SIMD instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elements {
    /// Two halves.
    Halves,
    /// Four bytes.
    Bytes,
}

/// `vadd2`, `vsub2`, `vavrg2`, `vabsdiff2`, `vmin2`, `vmax2`, `vset2`, and the same with `4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PackedVideo {
    /// The function of each pair.
    pub function: VideoFunction,
    /// The number of pairs.
    pub elements: Elements,
    /// The type of the results for `.sat`.
    pub result: Signedness,
    /// The extension of elements.
    pub sources: [Signedness; 2],
    /// For each source and result, four bits with the index of its element in the pair `{b, a}`; the lowest first.
    pub selected: [u16; 2],
    /// One bit for each result that is written; the others are elements of the third source.
    pub mask: u8,
    /// Whether each result saturates to its element (`.sat`).
    pub overflow: Overflow,
    /// How the results are combined.
    pub join: Join,
}

impl Part {
    const fn shift(self) -> u32 {
        match self {
            Self::Word => 0,
            Self::Byte(index) => 8 * index as u32,
            Self::Half(index) => 16 * index as u32,
        }
    }

    const fn bits(self) -> u32 {
        match self {
            Self::Word => 32,
            Self::Byte(_) => 8,
            Self::Half(_) => 16,
        }
    }

    fn read(self, word: u32, ty: Signedness) -> i128 {
        extended(u64::from(word >> self.shift()), self.bits(), ty)
    }

    /// The word with this part replaced.
    fn replaced(self, word: u32, value: u32) -> u32 {
        let mask = u32::MAX >> (32 - self.bits()) << self.shift();
        (word & !mask) | (value << self.shift() & mask)
    }
}

impl Elements {
    /// The number of elements.
    #[must_use]
    pub const fn count(self) -> u32 {
        match self {
            Self::Halves => 2,
            Self::Bytes => 4,
        }
    }

    const fn bits(self) -> u32 {
        32 / self.count()
    }
}

/// The low bits of a value, extended by their type.
#[inline]
fn extended(value: u64, bits: u32, ty: Signedness) -> i128 {
    let unused = 64 - bits;
    match ty {
        Signedness::Unsigned => i128::from(value << unused >> unused),
        Signedness::Signed => i128::from((value << unused) as i64 >> unused),
    }
}

/// The value saturated to this number of bits.
#[inline]
fn limited(value: i128, bits: u32, ty: Signedness) -> i128 {
    match ty {
        Signedness::Unsigned => value.clamp(0, (1 << bits) - 1),
        Signedness::Signed => value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

#[inline]
fn apply(function: VideoFunction, a: i128, b: i128) -> i128 {
    // A shift amount is unsigned; beyond the width of a word it is clamped or wraps.
    let amount = |excess| match excess {
        Excess::Clamp => b.clamp(0, 32) as u32,
        Excess::Wrap => (b & 31) as u32,
    };
    match function {
        VideoFunction::Add => a + b,
        VideoFunction::Subtract => a - b,
        VideoFunction::Average if a + b >= 0 => (a + b + 1) >> 1,
        VideoFunction::Average => (a + b) >> 1,
        VideoFunction::AbsoluteDifference => (a - b).abs(),
        VideoFunction::Minimum => a.min(b),
        VideoFunction::Maximum => a.max(b),
        VideoFunction::ShiftLeft(excess) => a << amount(excess),
        VideoFunction::ShiftRight(excess) => a >> amount(excess),
        VideoFunction::Compare(order) => i128::from(compare(a, b, order)),
    }
}

/// A scalar instruction. PTX ISA, "Scalar Video Instructions": extract, compute, `optSaturate`, then `optSecondaryOp`
/// or `optMerge`, all of them on exact values. `c` is used only by a secondary operation. An NVIDIA H100 (driver
/// 580.159) differs from the clause in two cases: it does not merge into `.h1`, and `vsub` below zero is not the
/// minimum.
#[inline]
#[must_use]
pub fn scalar_video(a: u32, b: u32, c: u32, what: ScalarVideo) -> u32 {
    let [a_type, b_type] = what.sources;
    let [a_part, b_part] = what.parts;
    let exact = apply(what.function, a_part.read(a, a_type), b_part.read(b, b_type));
    let part = match what.secondary {
        Secondary::Merge(part) => part,
        Secondary::None | Secondary::Add | Secondary::Minimum | Secondary::Maximum => Part::Word,
    };
    let value = match what.overflow {
        Overflow::Wrap => exact,
        Overflow::Saturate => limited(exact, part.bits(), what.result),
    };
    let third = Part::Word.read(c, what.result);
    match what.secondary {
        Secondary::None => value as u32,
        Secondary::Add => (value + third) as u32,
        Secondary::Minimum => value.min(third) as u32,
        Secondary::Maximum => value.max(third) as u32,
        Secondary::Merge(part) => part.replaced(c, value as u32),
    }
}

/// `a * b + c`, shifted and saturated. PTX ISA, "Scalar Video Instructions: vmad": the final result is signed if a
/// factor is signed or a term is negated, and `c` is extended by that sign. A negation is the complement plus one.
/// Here the sum is exact, as in the clause; an NVIDIA H100 (driver 580.159) keeps 32 bits of it before shift and
/// saturation.
#[inline]
#[must_use]
pub fn video_product(a: u32, b: u32, c: u32, what: VideoProduct) -> u32 {
    let [a_type, b_type] = what.sources;
    let [a_part, b_part] = what.parts;
    let product = a_part.read(a, a_type) * b_part.read(b, b_type);
    let any_signed = what.sources.contains(&Signedness::Signed);
    let negated = matches!(what.sign, ProductSign::NegatedProduct | ProductSign::NegatedSum);
    let result = if any_signed || negated { Signedness::Signed } else { Signedness::Unsigned };
    let third = |c| Part::Word.read(c, result);
    let sum = match what.sign {
        ProductSign::Plain => product + third(c),
        ProductSign::NegatedProduct => !product + third(c) + 1,
        ProductSign::NegatedSum => product + third(!c) + 1,
        ProductSign::PlusOne => product + third(c) + 1,
    };
    let scaled = sum >> what.shift;
    match what.overflow {
        Overflow::Wrap => scaled as u32,
        Overflow::Saturate => limited(scaled, 32, result) as u32,
    }
}

/// A SIMD instruction. PTX ISA, "SIMD Video Instructions": elements of both sources are selected from `{b, a}`, and
/// each result is written to its element, or added to `c`.
#[inline]
#[must_use]
pub fn packed_video(a: u32, b: u32, c: u32, what: PackedVideo) -> u32 {
    let bits = what.elements.bits();
    let both = u64::from(b) << 32 | u64::from(a);
    let source = |side: usize, index: u32| {
        let element = u32::from(what.selected[side] >> (4 * index) & 7);
        // Selectors of halves end at 3, those of bytes at 7, so that no shift exceeds 56.
        extended(both >> ((bits * element) & 63), bits, what.sources[side])
    };
    let result = |index| {
        let exact = apply(what.function, source(0, index), source(1, index));
        match what.overflow {
            Overflow::Wrap => exact,
            Overflow::Saturate => limited(exact, bits, what.result),
        }
    };
    let used = (0..what.elements.count()).filter(|index| what.mask >> index & 1 == 1);
    match what.join {
        Join::Sum => used.fold(c, |sum, index| sum.wrapping_add(result(index) as u32)),
        Join::Elements => used.fold(c, |word, index| {
            let part = match what.elements {
                Elements::Halves => Part::Half(index as u8),
                Elements::Bytes => Part::Byte(index as u8),
            };
            part.replaced(word, result(index) as u32)
        }),
    }
}
