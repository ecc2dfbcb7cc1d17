//! The tensors of a definition: dtype, shape, layout and contract.

use lightbench_primitives::dtype::Dtype;
use serde::{Deserialize, Serialize};

use super::compare::Comparator;
use super::environment::Environment;
use super::expression::{Expression, Kind, Scope};
use super::fill::Fill;
use super::locate::Located;
use super::manifest::{
    Distribution, DomainWritten, Init, LARGEST_AXIS, LayoutWritten, RoleWritten, ScalesWritten,
    TensorWritten,
};
use super::problem::Findings;
use super::{PlanError, compare, fill};

/// Maximum number of dimensions.
pub const MAX_RANK: usize = 8;

/// The largest alignment, in bytes.
const MAX_ALIGN: i64 = 1 << 20;

/// One tensor of the definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Its dimensions; empty for a single element.
    pub shape: Vec<Expression>,
    pub role: Role,
    pub layout: Layout,
    /// Every address that it is given is a multiple of this many bytes.
    pub align: u64,
    /// Indices of the tensors whose memory this one may share.
    pub alias: Vec<usize>,
    /// The values that it may have.
    pub domain: Domain,
    /// The inputs that make sense.
    pub distributions: Vec<Distribution>,
    /// Location of the scales, for packed 4-bit dtypes only.
    pub scales: Option<Scales>,
}

/// The role of a tensor with its fill or comparator: as written, or with the counts of one workload as numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Role<Count = Expression> {
    /// Read.
    Input { fill: Fill<Count> },
    /// Written.
    Output {
        /// Initial content.
        init: Init,
        compare: Comparator<Count>,
    },
    /// Read and written.
    Inout { fill: Fill<Count>, compare: Comparator<Count> },
}

impl<Count> Role<Count> {
    /// The fill, unless the tensor is an output.
    pub fn fill(&self) -> Option<&Fill<Count>> {
        match self {
            Self::Input { fill } | Self::Inout { fill, .. } => Some(fill),
            Self::Output { .. } => None,
        }
    }

    /// The comparator, unless the tensor is an input.
    pub fn compare(&self) -> Option<&Comparator<Count>> {
        match self {
            Self::Output { compare, .. } | Self::Inout { compare, .. } => Some(compare),
            Self::Input { .. } => None,
        }
    }
}

/// The memory layout of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Layout {
    /// The last dimension is contiguous, and so on outwards.
    RowMajor,
    /// Elements between neighbours, for each dimension.
    Strides(Vec<Expression>),
    /// Elements between rows of the last dimension.
    LeadingDimension(Expression),
}

/// The values that a tensor may have: as written, or with the counts of one workload as numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Domain<Count = Expression> {
    Any,
    Finite,
    NonZero,
    Positive,
    NonNegative,
    UnitInterval,
    Probability,
    /// Both limits are included.
    Between {
        low: f64,
        high: f64,
    },
    IndexBelow(Count),
}

impl Domain {
    /// The same with the numbers of one workload.
    ///
    /// # Errors
    /// An expression without a value from 0 to 2^64.
    pub fn resolve(&self, environment: &Environment<'_>) -> Result<Domain<u64>, PlanError> {
        Ok(match self {
            Self::Any => Domain::Any,
            Self::Finite => Domain::Finite,
            Self::NonZero => Domain::NonZero,
            Self::Positive => Domain::Positive,
            Self::NonNegative => Domain::NonNegative,
            Self::UnitInterval => Domain::UnitInterval,
            Self::Probability => Domain::Probability,
            Self::Between { low, high } => Domain::Between { low: *low, high: *high },
            Self::IndexBelow(below) => Domain::IndexBelow(below.count(environment)?),
        })
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Finite => "finite",
            Self::NonZero => "non_zero",
            Self::Positive => "positive",
            Self::NonNegative => "non_negative",
            Self::UnitInterval => "unit_interval",
            Self::Probability => "probability",
            Self::Between { .. } => "between",
            Self::IndexBelow(_) => "index_below",
        }
    }
}

impl Tensor {
    /// Whether its sizes, its fill, its domain or its comparator depend on an axis or a scalar.
    #[must_use]
    pub fn depends_on(&self, name: &str) -> bool {
        let strides: &[Expression] = match &self.layout {
            Layout::RowMajor => &[],
            Layout::Strides(strides) => strides,
            Layout::LeadingDimension(elements) => std::slice::from_ref(elements),
        };
        let below = match &self.domain {
            Domain::IndexBelow(below) => Some(below),
            Domain::Any
            | Domain::Finite
            | Domain::NonZero
            | Domain::Positive
            | Domain::NonNegative
            | Domain::UnitInterval
            | Domain::Probability
            | Domain::Between { .. } => None,
        };
        let counts = [
            below,
            self.role.fill().and_then(Fill::count),
            self.role.compare().and_then(Comparator::count),
        ];
        let all = self.shape.iter().chain(strides).chain(counts.into_iter().flatten());
        all.into_iter().any(|expression| expression.names().contains(name))
    }
}

/// The scales of a packed tensor: one per block of the last dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scales {
    /// The index of the tensor that holds them.
    pub tensor: usize,
    /// Elements that share one.
    pub block: u64,
}

/// The context that a tensor is checked against.
#[derive(Clone, Copy)]
pub(super) struct TensorContext<'a> {
    pub(super) tensors: &'a [TensorWritten],
    pub(super) scope: &'a Scope,
}

impl TensorContext<'_> {
    /// The index of a tensor that another one names.
    pub(super) fn find(
        &self,
        findings: &mut Findings<'_>,
        at: &Located,
        name: &str,
    ) -> Option<usize> {
        let found = self.tensors.iter().position(|tensor| tensor.name == name);
        if found.is_none() {
            let known: Vec<&str> = self.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
            findings.unknown(at, "tensor", name, &known);
        }
        found
    }
}

/// Validates a tensor; reports every problem that does not depend on a workload.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &TensorWritten,
    around: TensorContext<'_>,
) -> Tensor {
    findings.identifier(at.field("name"), &written.name);
    findings.at_most(at.field("shape"), "dimensions", written.shape.len(), MAX_RANK);
    let shape = formulas(
        findings,
        at.field("shape"),
        written.shape.iter().map(|text| &text.0),
        around.scope,
    );
    let domain = check_domain(findings, at.field("domain"), written, around.scope);
    let role = check_role(findings, at, written, &domain, around);
    let layout = check_layout(findings, at.field("layout"), written, around.scope);
    let align = check_align(findings, at.field("align"), written);
    let mut alias = Vec::new();
    for (index, name) in written.alias.iter().enumerate() {
        let place = at.field("alias").item(index);
        if *name == written.name {
            findings.add(place, format!("`{name}` shares memory with itself"), "another tensor");
        }
        alias.extend(around.find(findings, place, name));
    }
    let distributions = check_distributions(findings, at.field("distributions"), written, &domain);
    let scales = written
        .scales
        .as_ref()
        .and_then(|scales| check_scales(findings, at.field("scales"), scales, written, around));
    let name = written.name.clone();
    Tensor {
        name,
        dtype: written.dtype,
        shape,
        role,
        layout,
        align,
        alias,
        domain,
        distributions,
        scales,
    }
}

/// A list of integer expressions.
pub(super) fn formulas<'t>(
    findings: &mut Findings<'_>,
    at: &Located,
    texts: impl Iterator<Item = &'t String>,
    scope: &Scope,
) -> Vec<Expression> {
    texts
        .enumerate()
        .map(|(index, text)| findings.formula(at.item(index), text, scope, Kind::Integer))
        .collect()
}

fn check_domain(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &TensorWritten,
    scope: &Scope,
) -> Domain {
    let dtype = written.dtype;
    let (domain, fits, expected) = match &written.domain {
        DomainWritten::Any => (Domain::Any, true, ""),
        DomainWritten::Finite => (Domain::Finite, true, ""),
        DomainWritten::NonZero => {
            (Domain::NonZero, !dtype.is_packed(), "a dtype of at least 8 bits")
        }
        DomainWritten::Positive => {
            (Domain::Positive, !dtype.is_packed(), "a dtype of at least 8 bits")
        }
        DomainWritten::NonNegative => {
            (Domain::NonNegative, !dtype.is_packed(), "a dtype of at least 8 bits")
        }
        DomainWritten::UnitInterval => {
            (Domain::UnitInterval, dtype.is_float() && !dtype.is_packed(), "a float")
        }
        DomainWritten::Probability => {
            (Domain::Probability, dtype.is_float() && !dtype.is_packed(), "a float")
        }
        DomainWritten::Between { low, high } => {
            let (low, high) = check_limits(findings, at, dtype, (*low, *high));
            (Domain::Between { low, high }, !dtype.is_packed(), "a dtype of at least 8 bits")
        }
        DomainWritten::IndexBelow(below) => {
            let below = findings.formula(at.item(0), &below.0, scope, Kind::Integer);
            (
                Domain::IndexBelow(below),
                dtype.is_integer() && !dtype.is_packed(),
                "an integer dtype",
            )
        }
    };
    if !fits {
        findings.add(at, format!("the domain `{}` of {}", domain.name(), dtype.name()), expected);
    }
    domain
}

/// The limits of a domain, with an element between them.
fn check_limits(
    findings: &mut Findings<'_>,
    at: &Located,
    dtype: Dtype,
    (low, high): (f64, f64),
) -> (f64, f64) {
    let has_one = if dtype.is_float() { low <= high } else { low.ceil() <= high.floor() };
    if low.is_finite() && high.is_finite() && has_one {
        return (low, high);
    }
    let found = format!("no {} between {low} and {high}", dtype.name());
    findings.add(at, found, "finite limits with a value between them");
    // An invalid limit is reported once: the fill is then checked against all finite numbers.
    (f64::MIN, f64::MAX)
}

fn check_role(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &TensorWritten,
    domain: &Domain,
    around: TensorContext<'_>,
) -> Role {
    let target = fill::Target {
        dtype: written.dtype,
        rank: written.shape.len(),
        domain,
        tensors: around.tensors,
        scope: around.scope,
    };
    let mut made = || match &written.fill {
        Some(fill) => fill::check(findings, at.field("fill"), fill, target),
        None => Fill::default_for(written.dtype, domain),
    };
    match written.role {
        RoleWritten::Input => {
            let fill = made();
            unwanted(findings, at, "compare", written.compare.is_some(), "outputs and inouts");
            unwanted(findings, at, "init", written.init.is_some(), "outputs");
            Role::Input { fill }
        }
        RoleWritten::Output => {
            unwanted(findings, at, "fill", written.fill.is_some(), "inputs and inouts");
            let compare = compare::check(findings, at, written, around);
            Role::Output { init: written.init.unwrap_or_default(), compare }
        }
        RoleWritten::Inout => {
            let fill = made();
            unwanted(findings, at, "init", written.init.is_some(), "outputs");
            Role::Inout { fill, compare: compare::check(findings, at, written, around) }
        }
    }
}

fn unwanted(findings: &mut Findings<'_>, at: &Located, field: &str, written: bool, owners: &str) {
    if written {
        let found = format!("`{field}` is for {owners}");
        findings.add_with_help(at.field(field), found, "another role", format!("remove `{field}`"));
    }
}

fn check_layout(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &TensorWritten,
    scope: &Scope,
) -> Layout {
    let rank = written.shape.len();
    let plain = matches!(written.layout, LayoutWritten::RowMajor);
    if written.dtype.is_packed() && !plain {
        findings.add(at, format!("a layout for packed {}", written.dtype.name()), "row_major");
    }
    match &written.layout {
        LayoutWritten::RowMajor => Layout::RowMajor,
        LayoutWritten::Strides(strides) => {
            if strides.len() != rank {
                let found = format!("{} strides for {rank} dimensions", strides.len());
                findings.add(at.item(0), found, "one stride for each dimension");
            }
            Layout::Strides(formulas(
                findings,
                at.item(0),
                strides.iter().map(|text| &text.0),
                scope,
            ))
        }
        LayoutWritten::LeadingDimension(leading) => {
            if rank < 2 {
                findings.add(
                    at,
                    format!("a leading dimension with {rank} dimensions"),
                    "at least 2 dimensions",
                );
            }
            Layout::LeadingDimension(findings.formula(at.item(0), &leading.0, scope, Kind::Integer))
        }
    }
}

fn check_align(findings: &mut Findings<'_>, at: &Located, written: &TensorWritten) -> u64 {
    let least = written.dtype.address_bytes();
    let align = u64::try_from(written.align).unwrap_or_default();
    if written.align > MAX_ALIGN || !align.is_power_of_two() || align < least {
        let expected = format!("a power of two from {least} to {MAX_ALIGN}");
        findings.add(at, format!("an alignment of {}", written.align), expected);
    }
    align
}

fn check_distributions(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &TensorWritten,
    domain: &Domain,
) -> Vec<Distribution> {
    let all = [
        Distribution::AsDeclared,
        Distribution::Scaled,
        Distribution::Shifted,
        Distribution::HeavyTail,
        Distribution::Exact,
    ];
    let permitted = match domain {
        _ if !written.dtype.is_float() || written.dtype.is_packed() => &all[..1],
        Domain::Any | Domain::Finite => &all[..],
        Domain::NonZero | Domain::Positive | Domain::NonNegative => &all[..2],
        Domain::UnitInterval
        | Domain::Probability
        | Domain::Between { .. }
        | Domain::IndexBelow(_) => &all[..1],
    };
    let Some(chosen) = &written.distributions else { return permitted.to_vec() };
    if chosen.is_empty() {
        findings.add(at, "no distribution", "at least `as_declared`");
    }
    for (index, distribution) in chosen.iter().enumerate() {
        if !permitted.contains(distribution) {
            let found = format!(
                "{distribution:?} inputs of {} in the domain `{}`",
                written.dtype.name(),
                domain.name()
            );
            findings.add(
                at.item(index),
                found,
                format!(
                    "among the first {} of as_declared, scaled, shifted, heavy_tail, exact",
                    permitted.len()
                ),
            );
        }
    }
    chosen.clone()
}

fn check_scales(
    findings: &mut Findings<'_>,
    at: &Located,
    scales: &ScalesWritten,
    written: &TensorWritten,
    around: TensorContext<'_>,
) -> Option<Scales> {
    if !written.dtype.is_packed() {
        findings.add(at, format!("scales of {}", written.dtype.name()), "a packed 4-bit dtype");
    }
    let block = findings.within(at.field("block"), scales.block, 1, LARGEST_AXIS);
    let tensor = around.find(findings, at.field("tensor"), &scales.tensor)?;
    let dtype = around.tensors[tensor].dtype;
    if !dtype.is_float() || dtype.is_packed() {
        findings.add(
            at.field("tensor"),
            format!("`{}` is {}", scales.tensor, dtype.name()),
            "scales that are floats",
        );
    }
    Some(Scales { tensor, block })
}
