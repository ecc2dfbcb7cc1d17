//! Gaps of a definition: sizes that no workload runs, inputs and scalars that do not influence the outputs, loose
//! tolerances.
//!
//! Each gap names the field that closes it. A gap is not a verdict about a kernel.

use std::collections::BTreeSet;

use lightbench_primitives::dtype::Family;
use lightbench_primitives::element;
use lightbench_primitives::scalar_value::ScalarValue;
use serde::Serialize;

use super::Sensitivity;
use crate::project::manifest::Accuracy;
use crate::project::scalar::{Axis, Scalar, ScalarDomain};
use crate::project::tensor::{Domain, Tensor};
use crate::project::{Definition, Project, Purpose, Workload};

/// Something that a wrong kernel can rely on, because no workload contradicts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The kind of gap.
    pub kind: GapKind,
    /// The gap, as a sentence.
    pub sentence: String,
    /// The text to write in `project.ron`.
    pub write: String,
}

/// The kinds of gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// No workload is held out.
    NoHeldOut,
    /// All sizes of an axis share a factor that the axis does not declare.
    SharedFactor,
    /// No workload runs the smallest size of an axis.
    SmallestNotRun,
    /// An axis permits sizes above the largest that a workload runs.
    LargestNotRun,
    /// A scalar has the same value in every run.
    FixedScalar,
    /// The domain of an input excludes numbers that its dtype has.
    NarrowDomain,
    /// The outputs do not depend on an input.
    IgnoredInput,
    /// The tolerance accepts a large relative error of every element of an output.
    LooseTolerance,
}

/// The gaps that the definition shows without running anything.
#[must_use]
pub fn of_definition(project: &Project) -> Vec<Gap> {
    let verified = |workload: &&Workload| workload.purpose != Purpose::Measure;
    let workloads: Vec<&Workload> = project.workloads.iter().filter(verified).collect();
    let mut gaps = Vec::new();
    if !workloads.iter().any(|workload| workload.purpose == Purpose::HeldOut) {
        gaps.push(no_held_out(project, &workloads));
    }
    for (index, axis) in project.definition.axes.iter().enumerate() {
        let sizes = Sizes { project, verified: &workloads, index, axis };
        gaps.extend(
            [sizes.shared_factor(), sizes.smallest(), sizes.largest()].into_iter().flatten(),
        );
    }
    for (index, scalar) in project.definition.scalars.iter().enumerate() {
        if !varies(&project.definition, scalar) {
            let values = project.workloads.iter().map(|workload| workload.scalars[index]);
            gaps.extend(fixed(scalar, values));
        }
    }
    gaps.extend(project.definition.tensors.iter().filter_map(narrowed));
    gaps
}

/// The gap of an output whose smallest caught error is too large: a relative error of 2 to the power of minus half the
/// significant bits of the output or of the permitted precision.
pub(super) fn of_tolerance(sensitivity: &Sensitivity, accuracy: Accuracy) -> Option<Gap> {
    let own = element::digits(sensitivity.dtype);
    let bits = accuracy.significant_bits().map_or(own, |bits| bits.min(own));
    if sensitivity.exponent.is_some_and(|exponent| exponent >= bits / 2) {
        return None;
    }
    let output = &sensitivity.output;
    let error = sensitivity.exponent.map_or_else(
        || "errors of 50 % of every element".to_owned(),
        |exponent| format!("relative errors of 2^-{} of every element", exponent + 1),
    );
    Some(Gap {
        kind: GapKind::LooseTolerance,
        sentence: format!("{error} of `{output}` are accepted"),
        write: format!("`{output}`: a smaller `factor` or fewer `terms` in `compare`"),
    })
}

/// The gap of an input that can be replaced without changing any output.
pub(super) fn ignored(input: &str) -> Gap {
    Gap {
        kind: GapKind::IgnoredInput,
        sentence: format!("no output depends on `{input}` in any workload"),
        write: format!("a `fill` of `{input}` that changes the results, or remove the tensor"),
    }
}

fn no_held_out(project: &Project, verified: &[&Workload]) -> Gap {
    let axes = &project.definition.axes;
    let next = |axis: &Axis, size: u64| {
        let larger = size.saturating_add(axis.multiple_of);
        if larger <= axis.max { larger } else { size }
    };
    let base = verified.iter().min_by_key(|workload| elements(workload));
    let sizes = axes.iter().enumerate().map(|(index, axis)| {
        next(axis, base.map_or(axis.min.next_multiple_of(axis.multiple_of), |it| it.axes[index]))
    });
    Gap {
        kind: GapKind::NoHeldOut,
        sentence: "no workload is held out: a kernel may work for the sizes in the file alone"
            .to_owned(),
        write: workload_line("hidden", "held_out", axes, &sizes.collect::<Vec<_>>()),
    }
}

/// The sizes of one axis.
struct Sizes<'a> {
    project: &'a Project,
    verified: &'a [&'a Workload],
    index: usize,
    axis: &'a Axis,
}

impl Sizes<'_> {
    fn run(&self) -> impl Iterator<Item = u64> {
        self.verified.iter().map(|workload| workload.axes[self.index])
    }

    fn shared_factor(&self) -> Option<Gap> {
        let Axis { name, min, max, multiple_of, .. } = self.axis;
        let factor = self.run().fold(0, greatest_common_divisor);
        let base = self.run().min()?;
        let other = [base.checked_add(*multiple_of), base.checked_sub(*multiple_of)];
        let other = other.into_iter().flatten().find(|size| (*min..=*max).contains(size))?;
        (factor > *multiple_of).then(|| Gap {
            kind: GapKind::SharedFactor,
            sentence: format!(
                "every verified size of `{name}` is a multiple of {factor}, and the axis permits multiples of \
                 {multiple_of}"
            ),
            write: format!("{}, or `multiple_of: {factor}`", self.line("other-multiple", other)),
        })
    }

    fn smallest(&self) -> Option<Gap> {
        let Axis { name, min, multiple_of, .. } = self.axis;
        let (permitted, run) = (min.next_multiple_of(*multiple_of), self.run().min()?);
        (run > permitted).then(|| Gap {
            kind: GapKind::SmallestNotRun,
            sentence: format!("no workload runs `{name}` = {permitted}, the smallest size; {run} is the smallest run"),
            write: format!("{}, or `min: {run}`", self.line("smallest", permitted)),
        })
    }

    fn largest(&self) -> Option<Gap> {
        let Axis { name, max, .. } = self.axis;
        let run = self.project.workloads.iter().map(|workload| workload.axes[self.index]).max()?;
        (*max > run).then(|| Gap {
            kind: GapKind::LargestNotRun,
            sentence: format!("`{name}` may be {max}, and no workload runs more than {run}"),
            write: format!("`max: {run}` in the axis, or a workload of a larger size"),
        })
    }

    /// The smallest verified workload with another size of this axis.
    fn line(&self, name: &str, size: u64) -> String {
        let base = self.verified.iter().min_by_key(|workload| elements(workload));
        let mut sizes = base.map(|workload| workload.axes.clone()).unwrap_or_default();
        if let Some(own) = sizes.get_mut(self.index) {
            *own = size;
        }
        let name = format!("{name}-{}", self.axis.name);
        workload_line(&name, "verify", &self.project.definition.axes, &sizes)
    }
}

/// Whether verification runs a scalar with values other than those of the workloads.
fn varies(definition: &Definition, scalar: &Scalar) -> bool {
    scalar.domain != ScalarDomain::Fixed
        && match scalar.dtype.family() {
            Family::Float => true,
            Family::Signed | Family::Unsigned | Family::Boolean => {
                !definition.decides_sizes(scalar)
            }
        }
}

fn fixed(scalar: &Scalar, values: impl Iterator<Item = ScalarValue>) -> Option<Gap> {
    let name = &scalar.name;
    let different: BTreeSet<u64> = values.map(|value| value.as_real().to_bits()).collect();
    let is_fixed = different.len() < 2;
    is_fixed.then(|| Gap {
        kind: GapKind::FixedScalar,
        sentence: format!(
            "`{name}` is {} in every run: a kernel may hard-code it",
            scalar.value.as_real()
        ),
        write: format!("`scalars: {{\"{name}\": …}}` with another value in a workload"),
    })
}

/// The gap of an input with a narrow domain, which kernels may rely on.
fn narrowed(tensor: &Tensor) -> Option<Gap> {
    tensor.role.fill()?;
    let range = match tensor.domain {
        Domain::NonZero => "other than 0".to_owned(),
        Domain::Positive => "above 0".to_owned(),
        Domain::NonNegative => "0 or above".to_owned(),
        Domain::UnitInterval => "from 0 to 1".to_owned(),
        Domain::Between { low, high } => format!("from {low} to {high}"),
        // Indices and probabilities are part of the task.
        Domain::Any | Domain::Finite | Domain::Probability | Domain::IndexBelow(_) => return None,
    };
    let name = &tensor.name;
    Some(Gap {
        kind: GapKind::NarrowDomain,
        sentence: format!("every element of `{name}` is {range}: a kernel may rely on it"),
        write: format!("`domain: any` in `{name}`, if a kernel must take every number"),
    })
}

fn workload_line(name: &str, purpose: &str, axes: &[Axis], sizes: &[u64]) -> String {
    let sizes = axes.iter().zip(sizes).map(|(axis, size)| format!("\"{}\": {size}", axis.name));
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    format!("`(name: \"{name}\", purpose: {purpose}, axes: {{{sizes}}})`")
}

fn elements(workload: &Workload) -> u64 {
    workload.extents.iter().map(|extent| extent.elements).fold(0, u64::saturating_add)
}

const fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
