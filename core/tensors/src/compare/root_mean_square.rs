//! The root mean square of errors, which distinguishes lower precision from unlucky rounding.
//!
//! The bound of a single element must allow the worst case, `√terms · u · S`, of which an f32 sum of 4,096 terms of
//! either sign uses so little that tf32 inputs pass it. Over many elements the error of a correct sum is known more
//! precisely. Each addition errs by about 0.4 u of the partial sum (uniformly distributed between ±½ ulp). In the worst
//! order, sequential addition:
//!
//! * terms of one sign: partial sums grow to S, and the error is `0.23 · √terms · u · S`, where S = |reference|;
//! * terms of either sign: partial sums walk at random, and the error is `0.28 · u · √terms · √Σterm²`, about
//!   `0.44 u · S` for products of normal numbers.
//!
//! So `u · (√terms · |reference| + S)` is a scale that exceeds both by a factor of two to four, while rounding the
//! factors of 4,096 normal products to tf32 or half errs by 47 times as much (root mean square over elements), of
//! 65,536 by 12 times, and bf16 by 8 times more still. The limit is half the comparator's factor (4 by default, so
//! twice the scale): other errors of a term, such as the few ulps of `expf` or `rsqrtf`, are covered by the factor.
//! Over few elements the root mean square varies; the limit grows by `1 + 2/√elements`, so that for a single one it is
//! three times as large. Rounding to the output's dtype is not counted: half an ulp is subtracted from each error.
//!
//! Tensor cores truncate their f32 accumulator towards zero after each instruction. That error has one sign and grows
//! with the number of instructions: 0.16 · terms · u · |reference| for three products of TF32 parts, eight terms at a
//! time. A weight of terms/6 instead of √terms would accept it, and also one plain TF32 product of 1,000 positive
//! terms. So the weight stays, and a split product passes if accumulators are added in f32 every 256 terms
//! (docs/verification.md).
//!
//! Sums share a power of two, so that the square of no f64 overflows or underflows.

use super::super::element::power_of_two;
use super::elementwise::CHUNK;
use crate::encoding::comparison::{GROUP, GroupSquares};

/// Sums of squares of errors and of their yardstick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SquareSums {
    /// The biased exponent of the power of two that both are divided by, squared.
    exponent: i32,
    errors: f64,
    scales: f64,
    /// Elements with a yardstick above 0.
    count: u64,
}

/// Lanes that are summed side by side.
const LANES: usize = 8;

impl SquareSums {
    /// The sums of one chunk; elements with scale 0 do not count.
    #[inline(always)]
    pub(super) fn from_chunk(errors: &[f64; CHUNK], scales: &[f64; CHUNK]) -> Self {
        let largest =
            scales.iter().fold(0.0, |most, scale| if *scale > most { *scale } else { most });
        if largest == 0.0 {
            return Self::default();
        }
        let exponent = (((largest.to_bits() >> 52) & 0x7ff) as i32).clamp(1, 2045);
        let shrink = power_of_two(1023 - exponent);
        let mut sums = [[0.0; LANES]; 2];
        let mut counts = [0_u64; LANES];
        for (errors, scales) in
            errors.as_chunks::<LANES>().0.iter().zip(scales.as_chunks::<LANES>().0)
        {
            for lane in 0..LANES {
                let (error, scale) = (errors[lane] * shrink, scales[lane] * shrink);
                let counts_here = scales[lane] > 0.0;
                sums[0][lane] += if counts_here { error * error } else { 0.0 };
                sums[1][lane] += scale * scale;
                counts[lane] += u64::from(counts_here);
            }
        }
        let [errors, scales] = sums.map(|lanes| lanes.into_iter().sum());
        Self { exponent, errors, scales, count: counts.into_iter().sum() }
    }

    /// The sums of one group of chunks as a device computed them, equal to those of [`SumsByGroup`].
    pub(super) fn from_group(group: GroupSquares) -> Self {
        let GroupSquares { exponent, errors, scales, count } = group;
        // The device counts exponents as f64 has them, from 0 to 2047.
        Self { exponent: exponent as i32, errors, scales, count }
    }

    /// The sum of both.
    pub(super) fn and(self, other: Self) -> Self {
        let (large, small) =
            if self.exponent < other.exponent { (other, self) } else { (self, other) };
        let shrink = power_of_two(2 * (small.exponent - large.exponent));
        Self {
            exponent: large.exponent,
            errors: large.errors + small.errors * shrink,
            scales: large.scales + small.scales * shrink,
            count: large.count + small.count,
        }
    }

    /// The root mean square and its limit, if it exceeds the limit; `factor` is the comparator's.
    pub(super) fn beyond(self, factor: f64) -> Option<(f64, f64)> {
        let count = self.count as f64;
        let limit = factor * 0.5 * (1.0 + 2.0 / count.sqrt());
        let within = self.count == 0 || self.ratio() <= limit;
        let absolute = |sum: f64| (sum / count).sqrt() * power_of_two(self.exponent - 1023);
        (!within).then(|| (absolute(self.errors), absolute(self.scales) * limit))
    }

    /// The root mean square as a multiple of the yardstick.
    fn ratio(self) -> f64 {
        (self.errors / self.scales).sqrt()
    }
}

/// Sums of many chunks: those of [`GROUP`] neighbouring chunks first, then those of all groups. A device adds up groups
/// side by side, and both results are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SumsByGroup {
    /// Of all complete groups.
    groups: SquareSums,
    /// Of the chunks after them.
    group: SquareSums,
    chunks: u64,
}

impl SumsByGroup {
    pub(super) fn add(&mut self, chunk: SquareSums) {
        self.group = self.group.and(chunk);
        self.chunks += 1;
        if self.chunks == GROUP {
            *self = Self { groups: self.groups.and(self.group), ..Self::default() };
        }
    }

    pub(super) fn total(self) -> SquareSums {
        self.groups.and(self.group)
    }
}
