//! The smallest and the largest element that a fill or a domain allows, so that rounding does not leave the range.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::tensor::Domain;

use super::super::element::{nearest, real, smallest_positive};

/// The smallest and the largest number of a dtype that are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Bounds {
    /// Everything finite.
    pub(super) fn finite(dtype: Dtype) -> Self {
        let high = dtype.largest_finite().unwrap_or(f64::MAX);
        Self { low: -high, high }
    }

    /// The half-open range from `low` to `high`. If the dtype has no number in it, the nearest to `low`.
    pub(super) fn between(dtype: Dtype, low: f64, high: f64) -> Self {
        let finite = Self::finite(dtype);
        let rounded = |value: f64| real(dtype, nearest(dtype, finite.clamp(value)));
        let first = rounded(low);
        let least = if first < low { neighbour(dtype, first, 1) } else { first };
        let last = rounded(high);
        let most = if last >= high { neighbour(dtype, last, -1) } else { last };
        if least <= most {
            Self { low: least, high: most }
        } else {
            Self { low: first, high: first }
        }
    }

    /// The closed range from `low` to `high`. If the dtype has no number in it, the nearest to `low`.
    fn within(dtype: Dtype, low: f64, high: f64) -> Self {
        let finite = Self::finite(dtype);
        let rounded = |value: f64| real(dtype, nearest(dtype, finite.clamp(value)));
        let (first, last) = (rounded(low), rounded(high));
        let least = if first < low { neighbour(dtype, first, 1) } else { first };
        let most = if last > high { neighbour(dtype, last, -1) } else { last };
        let (low, high) = if least <= most { (least, most) } else { (first, first) };
        Self { low, high }
    }

    /// The finite numbers of a domain, 0 included.
    pub(super) fn from_domain(dtype: Dtype, domain: &Domain<u64>) -> Self {
        let finite = Self::finite(dtype);
        match domain {
            Domain::Any | Domain::Finite | Domain::NonZero | Domain::IndexBelow(_) => finite,
            Domain::Positive => Self { low: smallest_positive(dtype), ..finite },
            Domain::NonNegative => Self { low: 0.0, ..finite },
            Domain::UnitInterval | Domain::Probability => Self { low: 0.0, high: 1.0 },
            Domain::Between { low, high } => Self::within(dtype, *low, *high),
        }
    }

    /// The nearest allowed number.
    #[inline(always)]
    pub(super) fn clamp(self, value: f64) -> f64 {
        let raised = if value < self.low { self.low } else { value };
        if raised > self.high { self.high } else { raised }
    }
}

/// The number of a dtype next to another one of it: above for 1, below for -1.
fn neighbour(dtype: Dtype, value: f64, direction: i64) -> f64 {
    let sign = 1_i64 << (dtype.bits() - 1).min(62);
    if dtype == Dtype::F64 {
        return if direction > 0 { value.next_up() } else { value.next_down() };
    }
    let bits = nearest(dtype, value) as i64;
    // Two's complement order of sign and magnitude.
    let ordered = if bits & sign == 0 { bits } else { sign - bits };
    let moved = ordered + direction;
    real(dtype, (if moved < 0 { sign - moved } else { moved }) as u64)
}
