//! Video instructions of the reference: every operand is converted to an integer of 128 bits, every result is
//! truncated.

use super::super::virtual_gpu::isa::video::Video;
use super::super::virtual_gpu::semantics::Overflow;
use super::super::virtual_gpu::semantics::bits::Excess;
use super::super::virtual_gpu::semantics::compare::Order;
use super::super::virtual_gpu::semantics::integer::{
    Elements, Join, ProductSign, Secondary, Signedness, VideoFunction, VideoPart,
};
use super::whole::{piece, wrap};

fn part(word: u64, part: VideoPart, ty: Signedness) -> i128 {
    let signed = ty == Signedness::Signed;
    match part {
        VideoPart::Word => piece(word, 0, 32, signed),
        VideoPart::Byte(index) => piece(word, index.into(), 8, signed),
        VideoPart::Half(index) => piece(word, index.into(), 16, signed),
    }
}

fn limit(value: i128, width: u32, ty: Signedness, overflow: Overflow) -> i128 {
    let (least, most) = match ty {
        Signedness::Signed => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        Signedness::Unsigned => (0, (1 << width) - 1),
    };
    if overflow == Overflow::Saturate { value.max(least).min(most) } else { value }
}

fn of_two(function: VideoFunction, a: i128, b: i128) -> i128 {
    let amount = |excess| if excess == Excess::Clamp { b.min(32) } else { b % 32 };
    match function {
        VideoFunction::Add => a + b,
        VideoFunction::Subtract => a - b,
        // Halves go away from zero.
        VideoFunction::Average => {
            let sum = a + b;
            if sum % 2 == 0 { sum / 2 } else { (sum + sum.signum()) / 2 }
        }
        VideoFunction::AbsoluteDifference => (a - b).abs(),
        VideoFunction::Minimum => a.min(b),
        VideoFunction::Maximum => a.max(b),
        VideoFunction::ShiftLeft(excess) => a * (1 << amount(excess)),
        VideoFunction::ShiftRight(excess) => a.div_euclid(1 << amount(excess)),
        VideoFunction::Compare(order) => i128::from(match order {
            Order::Equal => a == b,
            Order::NotEqual => a != b,
            Order::Less => a < b,
            Order::LessEqual => a <= b,
            Order::Greater => a > b,
            Order::GreaterEqual => a >= b,
        }),
    }
}

/// Bits `shift..shift + width` of a word replaced.
fn replace(word: u64, shift: u32, width: u32, value: i128) -> u64 {
    let others = word & !(wrap(-1, width) << shift);
    others | wrap(value, width) << shift
}

pub(super) fn value(what: Video, s: &[u64]) -> u64 {
    match what {
        Video::Scalar(what) => {
            let exact = of_two(
                what.function,
                part(s[0], what.parts[0], what.sources[0]),
                part(s[1], what.parts[1], what.sources[1]),
            );
            let width = match what.secondary {
                Secondary::Merge(VideoPart::Byte(_)) => 8,
                Secondary::Merge(VideoPart::Half(_)) => 16,
                Secondary::Merge(VideoPart::Word) | Secondary::None => 32,
                Secondary::Add | Secondary::Minimum | Secondary::Maximum => 32,
            };
            let value = limit(exact, width, what.result, what.overflow);
            let third = |s: &[u64]| part(s[2], VideoPart::Word, what.result);
            match what.secondary {
                Secondary::None => wrap(value, 32),
                Secondary::Add => wrap(value + third(s), 32),
                Secondary::Minimum => wrap(value.min(third(s)), 32),
                Secondary::Maximum => wrap(value.max(third(s)), 32),
                Secondary::Merge(VideoPart::Word) => wrap(value, 32),
                Secondary::Merge(VideoPart::Byte(index)) => {
                    replace(s[2], 8 * u32::from(index), 8, value)
                }
                Secondary::Merge(VideoPart::Half(index)) => {
                    replace(s[2], 16 * u32::from(index), 16, value)
                }
            }
        }
        Video::Product(what) => {
            let product = part(s[0], what.parts[0], what.sources[0])
                * part(s[1], what.parts[1], what.sources[1]);
            let signed = what.sources.contains(&Signedness::Signed)
                || matches!(what.sign, ProductSign::NegatedProduct | ProductSign::NegatedSum);
            let ty = if signed { Signedness::Signed } else { Signedness::Unsigned };
            let third = part(s[2], VideoPart::Word, ty);
            let sum = match what.sign {
                ProductSign::Plain => product + third,
                ProductSign::NegatedProduct => third - product,
                // The complement of the 32 bits is extended, and one is added behind that.
                ProductSign::NegatedSum => product + part(!s[2], VideoPart::Word, ty) + 1,
                ProductSign::PlusOne => product + third + 1,
            };
            wrap(limit(sum.div_euclid(1 << what.shift), 32, ty, what.overflow), 32)
        }
        Video::Packed(what) => {
            let (count, width) = match what.elements {
                Elements::Halves => (2, 16),
                Elements::Bytes => (4, 8),
            };
            let both = s[1] << 32 | s[0];
            let one = |index: u32| {
                let side = |side: usize| {
                    let element = u32::from(what.selected[side] >> (4 * index) & 15);
                    piece(both, element, width, what.sources[side] == Signedness::Signed)
                };
                limit(of_two(what.function, side(0), side(1)), width, what.result, what.overflow)
            };
            let used: Vec<u32> = (0..count).filter(|i| what.mask & (1 << i) != 0).collect();
            match what.join {
                Join::Sum => {
                    wrap(i128::from(s[2]) + used.iter().map(|i| one(*i)).sum::<i128>(), 32)
                }
                Join::Elements => {
                    used.iter().fold(s[2], |word, i| replace(word, i * width, width, one(*i)))
                }
            }
        }
    }
}
