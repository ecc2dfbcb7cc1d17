//! Text of a definition for a prompt, without held-out workloads.

use super::fence::one_line;
use crate::project::compare::Comparator;
use crate::project::definition::Argument;
use crate::project::tensor::{Domain, Layout, Role, Tensor};
use crate::project::{Definition, Project, Purpose, Workload};

/// Most characters of a title or a note.
const LINE: usize = 200;
/// Most characters of a summary.
const SUMMARY: usize = 1200;
/// Most workloads.
const MOST_WORKLOADS: usize = 24;

/// The definition in lines.
#[must_use]
pub(super) fn definition_text(project: &Project) -> String {
    let definition = &project.definition;
    let mut lines = vec![
        format!("{} ({})", one_line(&definition.title, LINE), one_line(&definition.name, LINE)),
        one_line(&definition.summary, SUMMARY),
        String::new(),
        "axes (every size in these ranges must work):".to_owned(),
    ];
    for axis in &definition.axes {
        let multiple = match axis.multiple_of {
            1 => String::new(),
            multiple => format!(", a multiple of {multiple}"),
        };
        let note = noted(&axis.note);
        lines.push(format!("  {}: {} to {}{multiple}{note}", axis.name, axis.min, axis.max));
    }
    if !definition.scalars.is_empty() {
        lines.push("scalars:".to_owned());
        for scalar in &definition.scalars {
            let (name, note) = (scalar.dtype.name(), noted(&scalar.note));
            lines.push(format!("  {}: {name} = {}{note}", scalar.name, scalar.value));
        }
    }
    lines.push("tensors:".to_owned());
    lines.extend(definition.tensors.iter().map(|each| format!("  {}", tensor(definition, each))));
    let arguments: Vec<String> =
        definition.arguments.iter().map(|each| argument(definition, each)).collect();
    lines.push(format!("arguments of the kernel, in this order: {}", arguments.join(", ")));
    let accuracy = format!("{:?}", definition.accuracy).to_lowercase();
    lines.push(format!("may be computed in: {accuracy} or better"));
    lines.push("workloads that you are told of:".to_owned());
    let open = project.workloads.iter().filter(|workload| workload.purpose != Purpose::HeldOut);
    lines.extend(open.take(MOST_WORKLOADS).map(|each| format!("  {}", workload(definition, each))));
    lines.join("\n")
}

fn noted(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!(" ({})", one_line(note, LINE)) }
}

fn tensor(definition: &Definition, tensor: &Tensor) -> String {
    let shape: Vec<&str> = tensor.shape.iter().map(|size| size.text()).collect();
    let (dtype, align) = (tensor.dtype.name(), tensor.align);
    let mut text = format!("{}: {dtype}[{}]", tensor.name, shape.join(", "));
    text += match &tensor.role {
        Role::Input { .. } => ", input",
        Role::Output { .. } => ", output",
        Role::Inout { .. } => ", read and written",
    };
    text += &match &tensor.layout {
        Layout::RowMajor => ", row-major".to_owned(),
        Layout::Strides(strides) => {
            let strides: Vec<&str> = strides.iter().map(|stride| stride.text()).collect();
            format!(", strides {}", strides.join(", "))
        }
        Layout::LeadingDimension(elements) => format!(", rows {} elements apart", elements.text()),
    };
    text += &format!(", begins at a multiple of {align} bytes");
    text += &domain(&tensor.domain);
    if let Some(compare) = tensor.role.compare() {
        text += &judged(definition, compare);
    }
    text
}

fn domain(domain: &Domain) -> String {
    let values = match domain {
        Domain::Any => return String::new(),
        Domain::Finite => "finite",
        Domain::NonZero => "not zero",
        Domain::Positive => "positive",
        Domain::NonNegative => "not negative",
        Domain::UnitInterval => "from 0 to 1",
        Domain::Probability => "probabilities",
        Domain::Between { low, high } => return format!(", values from {low} to {high}"),
        Domain::IndexBelow(below) => return format!(", indices below {}", below.text()),
    };
    format!(", values {values}")
}

fn judged(definition: &Definition, compare: &Comparator) -> String {
    let named = |index: &usize| {
        definition.tensors.get(*index).map_or("another tensor", |tensor| tensor.name.as_str())
    };
    match compare {
        Comparator::Elementwise { terms, factor, .. } => {
            format!(", right within {factor} times the rounding of a sum of {} terms", terms.text())
        }
        Comparator::IntegerExact => ", right if exactly equal".to_owned(),
        Comparator::IndexByValue { of, .. } => {
            format!(", an index is right if its value in {} ties with the right one", named(of))
        }
        Comparator::Permutation { of } => format!(", the elements of {} in any order", named(of)),
        Comparator::Set => ", the right elements in any order".to_owned(),
        Comparator::Sampling { probabilities, .. } => {
            format!(", draws from {}", named(probabilities))
        }
    }
}

fn argument(definition: &Definition, argument: &Argument) -> String {
    match argument {
        Argument::Tensor(index) => {
            definition.tensors.get(*index).map_or_else(String::new, |tensor| {
                format!("{} (address of {})", tensor.name, tensor.dtype.name())
            })
        }
        Argument::Value(value) => format!("{} ({})", value.name, value.c_type.name()),
    }
}

fn workload(definition: &Definition, workload: &Workload) -> String {
    let axes = definition.axes.iter().zip(&workload.axes);
    let sizes: Vec<String> = axes.map(|(axis, size)| format!("{} = {size}", axis.name)).collect();
    let purpose = match workload.purpose {
        Purpose::Measure => "timed",
        Purpose::Verify | Purpose::HeldOut => "checked only",
    };
    format!("{}: {} ({purpose})", workload.name, sizes.join(", "))
}
