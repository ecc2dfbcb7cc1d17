//! Fills, which generate inputs, checked against dtype and domain.

use lightbench_primitives::dtype::{Dtype, Family};
use lightbench_primitives::scalar_value::ScalarValue;
use serde::{Deserialize, Serialize};

use super::PlanError;
use super::environment::Environment;
use super::expression::{Expression, Kind, Scope};
use super::extent::Extent;
use super::locate::Located;
use super::manifest::{FillWritten, TensorWritten};
use super::problem::Findings;
use super::scalar::scalar_value;
use super::tensor::Domain;

/// The fill of an input: as written, or with the counts of one workload as numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fill<Count = Expression> {
    /// Normally distributed.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation; positive.
        std: f64,
    },
    /// Evenly distributed.
    Uniform {
        /// Smallest value.
        low: f64,
        /// Exclusive upper limit.
        high: f64,
    },
    /// Evenly distributed integers, both ends included.
    Integers {
        /// Smallest value.
        low: i64,
        /// Largest value.
        high: i64,
    },
    /// All 1.
    Ones,
    /// All 0.
    Zeros,
    /// All the same.
    Constant(ScalarValue),
    /// Each of 0..n once.
    Permutation,
    /// CSR row offsets: first 0, last `total`, never decreasing.
    SortedOffsets {
        /// The last offset.
        total: Count,
    },
    /// Indices that increase inside each row.
    SortedIndices {
        /// The index of the tensor with the row offsets.
        offsets: usize,
        /// Exclusive upper limit of every index.
        below: Count,
    },
    /// 1 or true with this probability.
    Mask {
        /// From 0 to 1.
        density: f64,
    },
    /// 1 or true on and below the diagonal of the last two dimensions.
    CausalMask,
    /// A few values far from the rest.
    HeavyTail {
        /// Scale; positive.
        scale: f64,
    },
    /// Class labels.
    Labels {
        /// Exclusive upper limit of every label.
        below: Count,
    },
    /// Random packed 4-bit values.
    PackedWeights,
}

impl Fill {
    /// The same with the numbers of one workload.
    ///
    /// # Errors
    /// An expression without a value from 0 to 2^64.
    pub fn resolve(&self, environment: &Environment<'_>) -> Result<Fill<u64>, PlanError> {
        let count = |formula: &Expression| formula.count(environment);
        Ok(match self {
            Self::Normal { mean, std } => Fill::Normal { mean: *mean, std: *std },
            Self::Uniform { low, high } => Fill::Uniform { low: *low, high: *high },
            Self::Integers { low, high } => Fill::Integers { low: *low, high: *high },
            Self::Ones => Fill::Ones,
            Self::Zeros => Fill::Zeros,
            Self::Constant(value) => Fill::Constant(*value),
            Self::Permutation => Fill::Permutation,
            Self::SortedOffsets { total } => Fill::SortedOffsets { total: count(total)? },
            Self::SortedIndices { offsets, below } => {
                Fill::SortedIndices { offsets: *offsets, below: count(below)? }
            }
            Self::Mask { density } => Fill::Mask { density: *density },
            Self::CausalMask => Fill::CausalMask,
            Self::HeavyTail { scale } => Fill::HeavyTail { scale: *scale },
            Self::Labels { below } => Fill::Labels { below: count(below)? },
            Self::PackedWeights => Fill::PackedWeights,
        })
    }

    /// The fill's formula, if it has one.
    pub(super) fn count(&self) -> Option<&Expression> {
        match self {
            Self::SortedOffsets { total } => Some(total),
            Self::SortedIndices { below, .. } | Self::Labels { below } => Some(below),
            Self::Normal { .. }
            | Self::Uniform { .. }
            | Self::Integers { .. }
            | Self::Ones
            | Self::Zeros
            | Self::Constant(_)
            | Self::Permutation
            | Self::Mask { .. }
            | Self::CausalMask
            | Self::HeavyTail { .. }
            | Self::PackedWeights => None,
        }
    }

    /// The default fill for a dtype and domain, as documented in the format's page.
    pub(super) fn default_for(dtype: Dtype, domain: &Domain) -> Self {
        if let Domain::IndexBelow(below) = domain {
            return Self::Labels { below: below.clone() };
        }
        if let Domain::Between { low, high } = domain {
            return match dtype.is_float() {
                true => Self::Uniform { low: *low, high: *high },
                // Beyond 64 bits the nearest integer is as good as any other.
                false => Self::Integers { low: low.ceil() as i64, high: high.floor() as i64 },
            };
        }
        let positive = matches!(domain, Domain::Positive | Domain::NonZero);
        match dtype.family() {
            _ if dtype.is_packed() => Self::PackedWeights,
            Family::Boolean => Self::Mask { density: 0.5 },
            Family::Float => match domain {
                Domain::Positive => Self::Uniform { low: 0.5, high: 1.5 },
                Domain::NonNegative | Domain::UnitInterval | Domain::Probability => {
                    Self::Uniform { low: 0.0, high: 1.0 }
                }
                Domain::Any
                | Domain::Finite
                | Domain::NonZero
                | Domain::Between { .. }
                | Domain::IndexBelow(_) => Self::Normal { mean: 0.0, std: 1.0 },
            },
            Family::Signed if matches!(domain, Domain::Any | Domain::Finite) => {
                Self::Integers { low: -100, high: 100 }
            }
            Family::Signed | Family::Unsigned => {
                Self::Integers { low: i64::from(positive), high: 100 }
            }
        }
    }

    /// The range of values, if the fill bounds them.
    fn range(&self) -> Option<(f64, f64)> {
        #[expect(clippy::cast_precision_loss, reason = "only compared with small bounds")]
        match self {
            Self::Uniform { low, high } => Some((*low, *high)),
            Self::Integers { low, high } => Some((*low as f64, *high as f64)),
            Self::Ones => Some((1.0, 1.0)),
            Self::Zeros => Some((0.0, 0.0)),
            Self::Constant(value) => Some((value.as_real(), value.as_real())),
            Self::Mask { .. } | Self::CausalMask => Some((0.0, 1.0)),
            Self::Permutation
            | Self::SortedOffsets { .. }
            | Self::SortedIndices { .. }
            | Self::Labels { .. } => Some((0.0, f64::INFINITY)),
            Self::Normal { .. } | Self::HeavyTail { .. } => {
                Some((f64::NEG_INFINITY, f64::INFINITY))
            }
            Self::PackedWeights => None,
        }
    }

    fn is_integral(&self) -> bool {
        match self {
            Self::Normal { .. }
            | Self::Uniform { .. }
            | Self::HeavyTail { .. }
            | Self::PackedWeights => false,
            Self::Constant(value) => !matches!(value, ScalarValue::Real(_)),
            Self::Integers { .. }
            | Self::Ones
            | Self::Zeros
            | Self::Permutation
            | Self::SortedOffsets { .. }
            | Self::SortedIndices { .. }
            | Self::Mask { .. }
            | Self::CausalMask
            | Self::Labels { .. } => true,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Normal { .. } => "normal",
            Self::Uniform { .. } => "uniform",
            Self::Integers { .. } => "integers",
            Self::Ones => "ones",
            Self::Zeros => "zeros",
            Self::Constant(_) => "constant",
            Self::Permutation => "permutation",
            Self::SortedOffsets { .. } => "sorted_offsets",
            Self::SortedIndices { .. } => "sorted_indices",
            Self::Mask { .. } => "mask",
            Self::CausalMask => "causal_mask",
            Self::HeavyTail { .. } => "heavy_tail",
            Self::Labels { .. } => "labels",
            Self::PackedWeights => "packed_weights",
        }
    }
}

/// The tensor that a fill is checked against.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) dtype: Dtype,
    pub(super) rank: usize,
    pub(super) domain: &'a Domain,
    /// All tensors of the project as written: some fills refer to others.
    pub(super) tensors: &'a [TensorWritten],
    pub(super) scope: &'a Scope,
}

/// Validates a fill; reports every problem that does not depend on a workload.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &FillWritten,
    target: Target<'_>,
) -> Fill {
    let before = findings.count();
    let fill = convert(findings, at, written, target);
    if findings.count() == before {
        check_dtype(findings, at, &fill, target);
    }
    if findings.count() == before {
        check_domain(findings, at, &fill, target);
    }
    fill
}

fn convert(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &FillWritten,
    target: Target<'_>,
) -> Fill {
    let mut formula = |field: &str, text: &str| {
        findings.formula(at.field(field), text, target.scope, Kind::Integer)
    };
    match written {
        FillWritten::SortedOffsets { total } => {
            Fill::SortedOffsets { total: formula("total", &total.0) }
        }
        FillWritten::Labels { below } => Fill::Labels { below: formula("below", &below.0) },
        FillWritten::SortedIndices { offsets, below } => {
            let below = formula("below", &below.0);
            let is_offsets = |tensor: &&TensorWritten| {
                matches!(tensor.fill, Some(FillWritten::SortedOffsets { .. }))
            };
            let known: Vec<&str> = target
                .tensors
                .iter()
                .filter(is_offsets)
                .map(|tensor| tensor.name.as_str())
                .collect();
            if !known.contains(&offsets.as_str()) {
                findings.unknown(
                    at.field("offsets"),
                    "tensor filled with sorted_offsets",
                    offsets,
                    &known,
                );
            }
            let index = target.tensors.iter().position(|tensor| tensor.name == *offsets);
            Fill::SortedIndices { offsets: index.unwrap_or_default(), below }
        }
        FillWritten::Normal { mean, std } => {
            let sound = mean.is_finite() && std.is_finite() && *std > 0.0;
            require(findings, at, sound, "a finite mean and a std above 0");
            Fill::Normal { mean: *mean, std: *std }
        }
        FillWritten::Uniform { low, high } => {
            let sound = low.is_finite() && high.is_finite() && low < high;
            require(findings, at, sound, "finite limits, low below high");
            Fill::Uniform { low: *low, high: *high }
        }
        FillWritten::Integers { low, high } => {
            require(findings, at, low <= high, "low at most high");
            Fill::Integers { low: *low, high: *high }
        }
        FillWritten::Mask { density } => {
            require(findings, at, (0.0..=1.0).contains(density), "a density from 0 to 1");
            Fill::Mask { density: *density }
        }
        FillWritten::HeavyTail { scale } => {
            require(findings, at, scale.is_finite() && *scale > 0.0, "a scale above 0");
            Fill::HeavyTail { scale: *scale }
        }
        FillWritten::Constant(value) => {
            Fill::Constant(scalar_value(findings, at.item(0), *value, target.dtype))
        }
        FillWritten::Ones => Fill::Ones,
        FillWritten::Zeros => Fill::Zeros,
        FillWritten::Permutation => Fill::Permutation,
        FillWritten::CausalMask => Fill::CausalMask,
        FillWritten::PackedWeights => Fill::PackedWeights,
    }
}

fn require(findings: &mut Findings<'_>, at: &Located, sound: bool, expected: &str) {
    if !sound {
        findings.add(at, "limits that describe no values", expected);
    }
}

fn check_dtype(findings: &mut Findings<'_>, at: &Located, fill: &Fill, target: Target<'_>) {
    let dtype = target.dtype;
    let packed = dtype.is_packed();
    let fits = match fill {
        Fill::Normal { .. } | Fill::Uniform { .. } | Fill::HeavyTail { .. } => {
            dtype.is_float() && !packed
        }
        Fill::Integers { low, high } => {
            let holds = dtype.holds(i128::from(*low)) && dtype.holds(i128::from(*high));
            dtype.family() != Family::Boolean && !packed && holds
        }
        Fill::Ones | Fill::Constant(_) | Fill::Mask { .. } | Fill::CausalMask => !packed,
        Fill::Zeros => true,
        Fill::Permutation
        | Fill::SortedOffsets { .. }
        | Fill::SortedIndices { .. }
        | Fill::Labels { .. } => dtype.is_integer() && !packed,
        Fill::PackedWeights => packed,
    };
    if !fits {
        let default = Fill::default_for(dtype, target.domain);
        let found = format!("the fill `{}` does not make values of {}", fill.name(), dtype.name());
        let help = format!("write `{}(…)`, or leave the fill out", default.name());
        findings.add_with_help(at, found, format!("a fill for {}", dtype.name()), help);
    }
    let (rank, expected) = match fill {
        Fill::Permutation | Fill::SortedOffsets { .. } | Fill::SortedIndices { .. } => {
            (target.rank == 1, "a tensor with 1 dimension")
        }
        Fill::CausalMask => (target.rank >= 2, "a tensor with at least 2 dimensions"),
        Fill::Normal { .. }
        | Fill::Uniform { .. }
        | Fill::Integers { .. }
        | Fill::Ones
        | Fill::Zeros
        | Fill::Constant(_)
        | Fill::Mask { .. }
        | Fill::HeavyTail { .. }
        | Fill::Labels { .. }
        | Fill::PackedWeights => (true, ""),
    };
    if !rank {
        findings.add(
            at,
            format!("the fill `{}` with {} dimensions", fill.name(), target.rank),
            expected,
        );
    }
}

fn check_domain(findings: &mut Findings<'_>, at: &Located, fill: &Fill, target: Target<'_>) {
    let Some((low, high)) = fill.range() else { return };
    let (fits, help) = match target.domain {
        Domain::Any => (true, ""),
        Domain::Finite => (
            !(fill.is_integral() || matches!(fill, Fill::Constant(_))) || low.abs() < f64::INFINITY,
            "write a finite number",
        ),
        Domain::NonZero => {
            (low > 0.0 || high < 0.0 || !(fill.is_integral()), "write a fill that never makes 0")
        }
        Domain::Positive => (low > 0.0, "write `uniform(low: 0.5, high: 1.5)`"),
        Domain::NonNegative => (low >= 0.0, "write `uniform(low: 0, high: 1)`"),
        Domain::UnitInterval | Domain::Probability => {
            (low >= 0.0 && high <= 1.0, "write `uniform(low: 0, high: 1)`")
        }
        Domain::Between { low: least, high: most } => {
            (low >= *least && high <= *most, "write limits inside those of the domain")
        }
        Domain::IndexBelow(_) => (low >= 0.0 && fill.is_integral(), "write `labels(below: …)`"),
    };
    if !fits {
        let found =
            format!("the fill `{}` leaves the domain `{}`", fill.name(), target.domain.name());
        findings.add_with_help(at, found, "values inside the domain", help);
    }
}

/// The workload and sizes that a fill is checked against.
#[derive(Clone, Copy)]
pub(super) struct Instance<'a> {
    pub(super) dtype: Dtype,
    pub(super) domain: &'a Domain,
    pub(super) extents: &'a [Extent],
    /// The index of the tensor among the extents.
    pub(super) tensor: usize,
    pub(super) environment: &'a Environment<'a>,
    pub(super) workload: &'a str,
}

/// Reports values of one workload that the fill cannot have.
pub(super) fn check_instance(
    findings: &mut Findings<'_>,
    at: &Located,
    fill: &Fill,
    instance: Instance<'_>,
) {
    let own = &instance.extents[instance.tensor];
    let elements = i128::from(own.elements);
    let mut formula =
        |field: &str, formula: &Expression| match formula.integer(instance.environment) {
            Ok(value) => Some(value),
            Err(error) => {
                findings.expression(at.field(field), 0, &error);
                None
            }
        };
    let (largest, field) = match fill {
        Fill::Permutation => (Some(elements - 1), ""),
        Fill::SortedOffsets { total } => (formula("total", total), "total"),
        Fill::SortedIndices { below, .. } | Fill::Labels { below } => {
            (formula("below", below).map(|below| below.saturating_sub(1)), "below")
        }
        Fill::Integers { high, .. } => (Some(i128::from(*high)), "high"),
        Fill::Constant(ScalarValue::Integer(value)) => (Some(*value), ""),
        Fill::Normal { .. }
        | Fill::Uniform { .. }
        | Fill::Ones
        | Fill::Zeros
        | Fill::Constant(_)
        | Fill::Mask { .. }
        | Fill::CausalMask
        | Fill::HeavyTail { .. }
        | Fill::PackedWeights => (None, ""),
    };
    let Some(largest) = largest else { return };
    let workload = instance.workload;
    if largest < 0 && !matches!(fill, Fill::Integers { .. } | Fill::Constant(_)) {
        findings.add(
            at.field(field),
            format!("no value is possible in workload `{workload}`"),
            "a larger limit",
        );
    } else if !instance.dtype.holds(largest) {
        let found = format!("values up to {largest} in workload `{workload}`");
        findings.add(at.field(field), found, format!("values that fit {}", instance.dtype.name()));
    }
    if let Domain::IndexBelow(limit) = instance.domain
        && let Ok(limit) = limit.integer(instance.environment)
        && largest >= limit
    {
        let found = format!("values up to {largest} in workload `{workload}`");
        findings.add(at.field(field), found, format!("values below {limit}, as the domain says"));
    }
    if let Fill::SortedIndices { offsets, .. } = fill {
        check_rows(findings, at, largest.saturating_add(1), *offsets, instance);
    }
}

/// Each row holds distinct indices, so `n` of them need enough rows.
fn check_rows(
    findings: &mut Findings<'_>,
    at: &Located,
    below: i128,
    offsets: usize,
    instance: Instance<'_>,
) {
    let elements = i128::from(instance.extents[instance.tensor].elements);
    let rows = i128::from(instance.extents[offsets].elements) - 1;
    if rows.saturating_mul(below) < elements {
        let found = format!(
            "{elements} increasing indices below {below} in {rows} rows in workload `{}`",
            instance.workload
        );
        findings.add(at, found, "at most one of each index in each row");
    }
}
