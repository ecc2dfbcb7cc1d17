//! Generates the real numbers of a class.

use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::random::Stream;
use lightbench_project::manifest::Accuracy;
use lightbench_project::tensor::Domain;

use super::super::bounds::Bounds;
use super::super::distribution::{self, WHOLE_TENSOR_PART};
use super::super::reals::unit;
use super::super::{Class, Plan};
use super::{CLASS_PART, LINE_PART, Lines};
use crate::element::{self, power_of_two, smallest_positive};

/// Parameters of a class of real numbers.
pub(super) struct RealShape {
    class: Class,
    lines: Lines,
    stream: Stream,
    dtype: Dtype,
    center: f64,
    spread: f64,
    /// A magnitude that the fill makes often.
    typical: f64,
    reach: Reach,
    /// One random number for the whole tensor, in [0, 1), and a sign.
    whole: (f64, f64),
    domain: Domain<u64>,
    limits: Bounds,
    /// The smallest magnitude above 0 that inputs have.
    least: f64,
}

impl RealShape {
    pub(super) fn new(plan: &Plan<'_>, class: Class, lines: Lines) -> Self {
        let dtype = plan.made.dtype;
        let (center, spread) = distribution::center_and_spread(plan.fill);
        let typical = center.abs().max(spread);
        let [low, high, sign, _] = plan.stream.words(1, WHOLE_TENSOR_PART);
        let random = unit(u64::from(high) << 32 | u64::from(low));
        let mut reach = Reach::new(dtype, plan.case.accuracy);
        let exponent = distribution::exponent_of(typical.max(power_of_two(-60)));
        // Large numbers grow by a smaller factor.
        reach.large = reach.large.min(2 * reach.large - exponent).max(0);
        reach.small -= exponent;
        Self {
            class,
            lines,
            stream: plan.stream,
            dtype,
            center,
            spread,
            typical,
            reach,
            whole: (random, if sign & 1 == 0 { 1.0 } else { -1.0 }),
            domain: plan.made.domain.clone(),
            limits: Bounds::from_domain(dtype, &plan.made.domain),
            least: least_magnitude(dtype, class),
        }
    }

    fn sign(&self, index: u64) -> f64 {
        if self.stream.words(index, CLASS_PART)[2] & 1 == 0 { 1.0 } else { -1.0 }
    }

    /// The element with this index; `declared` is its value by the fill.
    pub(super) fn at(&self, index: u64, declared: f64) -> f64 {
        let (line, position) = self.lines.place(index);
        let own = || part(self.stream, index, CLASS_PART);
        let of_line = || part(self.stream, line, LINE_PART);
        let power = |share: f64, least: i32, most: i32| {
            power_of_two(least + (share * f64::from(most - least + 1)) as i32)
        };
        let Reach { large, small, far, means, outlier } = self.reach;
        let offset = far.0 + (far.1 - far.0) * self.whole.0;
        match self.class {
            Class::Signs => declared * self.sign(index),
            Class::Zeros if line % 4 == 3 || own() < 0.5 => 0.0,
            Class::Zeros => declared,
            Class::Large => declared * self.sign(index) * power_of_two(large),
            Class::Small => declared * power_of_two(small),
            Class::Subnormal => declared.signum() * least_common(self.dtype) * (0.02 + 0.9 * own()),
            Class::Wide => declared * power(own(), -large, large),
            Class::Equal => self.whole.1 * self.typical * (0.3 + self.whole.0),
            Class::FarBelow => declared - offset,
            Class::FarAbove => declared + offset,
            Class::LineScales => declared * power(of_line(), -large / 2, large / 2),
            Class::LineMeans => declared + self.spread * means * (2.0 * of_line() - 1.0),
            Class::Outlier if position == self.lines.outlier(line) => {
                let sign = if self.lines.is_outlier_opposite(line) { -1.0 } else { 1.0 };
                // The first six lines have large ones, whose exponential overflows.
                let exponents = if line % 12 < 6 {
                    ((outlier - 3).max(outlier / 2), outlier)
                } else {
                    (outlier / 2, outlier)
                };
                let factor = power(own(), exponents.0, exponents.1);
                self.center + sign * self.whole.1 * self.typical * factor
            }
            Class::Outlier => declared,
            Class::OneMaximum => {
                let largest = self.lines.maximum(line, of_line());
                let below = if position == largest { 0.0 } else { 12.0 + 2.0 * own() };
                self.center - below
            }
            Class::Sorted => {
                let ascends = (line % 2 == 0) == (self.whole.1 > 0.0);
                let ramp = (position as f64 + own()) / self.lines.length as f64;
                let ramp = if ascends { ramp } else { 1.0 - ramp };
                self.center + self.spread * (6.0 * ramp - 3.0)
            }
            Class::Alternating => {
                // Both of a pair draw from the same index.
                let pair = index - (position % 2) * self.lines.step;
                let magnitude = self.typical * (0.5 + part(self.stream, pair, CLASS_PART));
                if position % 2 == 0 { magnitude } else { -magnitude }
            }
            Class::Duplicates => {
                let which = self.stream.words(index, CLASS_PART)[3] % 4;
                self.typical * (f64::from(which) - 1.5 + 0.1 * self.whole.0)
            }
        }
    }

    /// The nearest number in the domain, with the same magnitude where possible.
    pub(super) fn within_domain(&self, value: f64) -> f64 {
        let value = match self.domain {
            // The limits clamp it below.
            Domain::Between { .. } => value,
            Domain::Any | Domain::Finite | Domain::NonZero | Domain::IndexBelow(_) => value,
            Domain::Positive | Domain::NonNegative => value.abs(),
            Domain::UnitInterval | Domain::Probability => {
                let magnitude = value.abs();
                if magnitude > 1.0 { magnitude.fract() } else { magnitude }
            }
        };
        let excludes_zero = matches!(self.domain, Domain::Positive | Domain::NonZero);
        let value = if value.abs() >= self.least {
            value
        } else if excludes_zero {
            self.least.copysign(value)
        } else if value.abs() * 2.0 < self.least {
            0.0
        } else {
            self.least.copysign(value)
        };
        debug_assert!(self.dtype.is_float(), "only floats have real shapes");
        self.limits.clamp(value)
    }
}

/// Limits on the values of a format.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reach {
    /// Largest power of two by which values grow.
    large: i32,
    /// The power of two of small values.
    small: i32,
    /// The least and the greatest far offset.
    far: (f64, f64),
    /// Largest offset of a line, in standard deviations.
    means: f64,
    /// Exponent of the factor by which an outlier is larger.
    outlier: i32,
}

impl Reach {
    fn new(dtype: Dtype, accuracy: Accuracy) -> Self {
        let narrow =
            |large, small, far| Self { large, small, far, means: 8.0, outlier: large.min(3) };
        match (dtype, accuracy) {
            (Dtype::F8E4M3, _) => narrow(2, -8, (48.0, 64.0)),
            (Dtype::F8E5M2, _) | (_, Accuracy::F8) => narrow(2, -14, (48.0, 64.0)),
            (_, Accuracy::F16) => narrow(1, -20, (24.0, 48.0)),
            (Dtype::F16, _) => narrow(4, -20, (20_000.0, 30_000.0)),
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
            ) => Self { large: 24, small: -100, far: (1.1e9, 1.4e9), means: 4000.0, outlier: 10 },
        }
    }
}

/// The smallest positive magnitude of inputs. Subnormal numbers of 16- and 8-bit floats always belong to the domain;
/// for wider formats they have a separate class.
fn least_magnitude(dtype: Dtype, class: Class) -> f64 {
    if class == Class::Subnormal { smallest_positive(dtype) } else { least_common(dtype) }
}

/// The smallest number above 0 that is not subnormal; of 16- and 8-bit floats, and of integers, the smallest at all.
fn least_common(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F64 | Dtype::F32 | Dtype::Bf16 => element::smallest_normal(dtype),
        Dtype::F16
        | Dtype::F8E4M3
        | Dtype::F8E5M2
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
        | Dtype::E2M1 => smallest_positive(dtype),
    }
}

/// A random number in [0, 1).
fn part(stream: Stream, index: u64, part: u32) -> f64 {
    let [low, high, ..] = stream.words(index, part);
    unit(u64::from(high) << 32 | u64::from(low))
}
