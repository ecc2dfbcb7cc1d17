//! How a distribution changes declared values.
//!
//! * *scaled*: one power of two for the whole tensor. Its exponent is at most 24 for formats with f32's range, so that
//!   fourth powers of values and sums of thousands of them (24 · 4 + 12 + the values' own) stay below 2^127, while half
//!   precision (largest 2^16, smallest 2^-24) overflows or vanishes half of the time. f16 and e5m2 themselves move by
//!   at most 4, so that sums of 4,096 products stay below 2^16 where f32 adds them up; where the task is computed in
//!   f16, a sum of 4,096 squares allows 1 upwards. e4m3 (largest 448) moves by at most 2.
//! * *shifted*: one offset of 3 to 8 standard deviations for the whole tensor.
//! * *heavy tail*: one value in 64 lies 16 to 128 times as far from the centre, 4 to 16 times in formats of little range.
//! * *exact*: integers so small that sums are exact: up to 8 where sums are kept with 24 bits or more (2^18 products
//!   fit), up to 2 in f16 and 1 in bf16 and 8-bit formats, of either sign, so that sums grow with the root of their
//!   length.

use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::random::Stream;
use lightbench_project::fill::Fill;
use lightbench_project::manifest::{Accuracy, Distribution};

use super::super::element::power_of_two;

/// One value in this many is in the tail.
const TAIL_ONE_IN: u32 = 64;

/// First counter part used here; elements use the first three, for normal numbers.
const TAIL_PART: u32 = 3;
/// Draws for a tensor as a whole.
pub(super) const WHOLE_TENSOR_PART: u32 = 4;

/// The change of a declared value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    Times(f64),
    Plus(f64),
    /// A few are far from the centre: by two to an exponent from the first to the second.
    Tail {
        center: f64,
        exponents: (u32, u32),
    },
}

/// The range of exponents available to a tensor and to sums of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Headroom {
    /// Smallest and largest exponent of the power of two that scales values.
    scale: (i32, i32),
    /// Exponents of scaled values.
    window: (i32, i32),
    /// Exponents of how far a tail reaches.
    tail: (u32, u32),
    /// The largest of the small integers.
    pub(super) small: i64,
}

impl Headroom {
    pub(super) fn new(dtype: Dtype, accuracy: Accuracy) -> Self {
        let small = match accuracy {
            Accuracy::F64 | Accuracy::F32 | Accuracy::Tf32 | Accuracy::Exact => 8,
            Accuracy::F16 => 2,
            Accuracy::Bf16 | Accuracy::F8 => 1,
        };
        let narrow = |low, high| Self { scale: (low, high), window: (-8, 6), tail: (2, 4), small };
        match (dtype, accuracy) {
            (_, Accuracy::F8) | (Dtype::F8E4M3, _) => narrow(-2, 2),
            (_, Accuracy::F16) => narrow(-4, 1),
            (Dtype::F16 | Dtype::F8E5M2, _) => narrow(-4, 4),
            (
                Dtype::F64
                | Dtype::F32
                | Dtype::Bf16
                | Dtype::I64
                | Dtype::I32
                | Dtype::I16
                | Dtype::I8
                | Dtype::U64
                | Dtype::U32
                | Dtype::U16
                | Dtype::U8
                | Dtype::Bool
                | Dtype::I4
                | Dtype::U4
                | Dtype::E2M1,
                _,
            ) => Self { scale: (-24, 24), window: (-48, 48), tail: (4, 7), small },
        }
    }

    fn scale(self, size: f64, bits: u64) -> Change {
        let exponent = if size > 0.0 { exponent_of(size) } else { 0 };
        let low = self.scale.0.max(self.window.0 - exponent);
        let high = self.scale.1.min(self.window.1 - exponent);
        if low > high {
            return Change::Times(1.0);
        }
        let count = (high - low + 1).unsigned_abs();
        let drawn = low + ((u128::from(bits) * u128::from(count)) >> 64) as i32;
        // 1 would be as declared.
        let drawn = if drawn == 0 { if high > 0 { high } else { low } } else { drawn };
        Change::Times(power_of_two(drawn))
    }
}

/// The centre and the standard deviation that a fill declares; the deviation is 1 if the fill declares none.
pub(super) fn center_and_spread(fill: &Fill<u64>) -> (f64, f64) {
    // 1/√12: the deviation of an even distribution of width 1.
    const EVEN: f64 = 0.288_675_134_594_812_9;
    match fill {
        Fill::Normal { mean, std } => (*mean, *std),
        Fill::Uniform { low, high } => (low * 0.5 + high * 0.5, (high - low) * EVEN),
        Fill::Integers { low, high } => {
            let (low, high) = (*low as f64, *high as f64);
            (low * 0.5 + high * 0.5, (high - low).max(1.0) * EVEN)
        }
        Fill::HeavyTail { scale } => (0.0, *scale),
        Fill::Constant(value) => (value.as_real(), 1.0),
        Fill::Ones => (1.0, 1.0),
        Fill::Mask { .. } | Fill::CausalMask => (0.5, 0.5),
        Fill::Zeros
        | Fill::Permutation
        | Fill::SortedOffsets { .. }
        | Fill::SortedIndices { .. }
        | Fill::Labels { .. }
        | Fill::PackedWeights => (0.0, 1.0),
    }
}

/// How a distribution changes values of this fill; `exact` replaces them instead.
pub(super) fn changes(
    fill: &Fill<u64>,
    distribution: Distribution,
    headroom: Headroom,
    stream: Stream,
) -> Vec<Change> {
    let (center, spread) = center_and_spread(fill);
    let [low, high, sign, _] = stream.words(0, WHOLE_TENSOR_PART);
    let bits = u64::from(high) << 32 | u64::from(low);
    let tail = Change::Tail { center, exponents: headroom.tail };
    let mut changes = Vec::new();
    if matches!(fill, Fill::HeavyTail { .. }) || distribution == Distribution::HeavyTail {
        changes.push(tail);
    }
    match distribution {
        Distribution::AsDeclared | Distribution::HeavyTail | Distribution::Exact => {}
        Distribution::Scaled => changes.push(headroom.scale(center.abs() + spread, bits)),
        Distribution::Shifted => {
            let distance = 3.0 + 5.0 * (f64::from(high) * power_of_two(-32));
            let distance = if sign & 1 == 0 { distance } else { -distance };
            changes.push(Change::Plus(spread * distance));
        }
    }
    changes
}

/// Moves a few values away from the centre.
pub(super) fn stretch(
    stream: Stream,
    first: u64,
    values: &mut [f64],
    (center, exponents): (f64, (u32, u32)),
) {
    for (index, value) in (first..).zip(values) {
        let [chosen, amount, ..] = stream.words(index, TAIL_PART);
        if chosen % TAIL_ONE_IN == 0 {
            let choices = exponents.1 - exponents.0 + 1;
            let exponent = exponents.0 + amount % choices;
            *value = center + (*value - center) * power_of_two(exponent as i32);
        }
    }
}

/// The exponent of the power of two at or below a positive number.
pub(super) fn exponent_of(value: f64) -> i32 {
    ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023
}
