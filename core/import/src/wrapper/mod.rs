//! Projects from the description of a host wrapper, which PyTorch extensions, Triton files, solutions and records of
//! launches share.

pub(crate) mod interface;
pub(crate) mod launch_block;
pub(crate) mod reference;
pub(crate) mod sizes;

use std::path::Path;

use lightbench_cuda_source::torch_wrapper::Wrapper;
use lightbench_project::manifest::{
    ComparatorWritten, OperationKind, RoleWritten, ScalarDomainWritten, TensorWritten,
};

use self::interface::{Interface, Role};
use crate::draft::{Draft, axis, expression, operation, scalar, tensor};
use crate::error::ImportError;
use crate::report::{Place, Report};
use crate::starter::{elements, factor};

/// Whether an element of a result can be a sum of several numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sums {
    /// No code has a loop or exchanges values between threads.
    None,
    Possible,
}

/// Axes, scalars, tensors, arguments and work.
pub(crate) fn define(
    draft: &mut Draft,
    interface: &Interface<'_>,
    sums: Sums,
    report: &mut Report,
) -> Result<(), ImportError> {
    let manifest = &mut draft.manifest;
    for own in &interface.axes.axes {
        let mut written = axis(&own.name);
        written.min = i64::try_from(own.min).unwrap_or(1);
        written.max = own.max.and_then(|max| i64::try_from(max).ok()).unwrap_or(written.max);
        written.multiple_of = i64::try_from(own.multiple_of).unwrap_or(1);
        manifest.axes.push(written);
    }
    for own in &interface.scalars {
        let mut written = scalar(&own.name, own.dtype, own.value);
        if own.is_fixed {
            written.domain = ScalarDomainWritten::Fixed;
        }
        manifest.scalars.push(written);
    }
    for (index, own) in interface.tensors.iter().enumerate() {
        let role = match own.role {
            Role::Input => RoleWritten::Input,
            Role::Output => RoleWritten::Output,
            Role::Inout => RoleWritten::Inout,
            Role::Scratch => continue,
        };
        let shape = interface.shape(index).into_iter().map(expression).collect();
        let mut written = tensor(&own.name, own.dtype, shape, role);
        if own.role != Role::Input {
            written.compare = Some(if own.dtype.is_float() {
                let terms = match sums {
                    Sums::None => "1".to_owned(),
                    Sums::Possible => interface.terms(index),
                };
                report.confirm_terms(&own.name, &terms);
                ComparatorWritten::Elementwise { terms: expression(terms), factor: 4.0, rms: true }
            } else {
                ComparatorWritten::IntegerExact
            });
        }
        manifest.tensors.push(written);
    }
    manifest.arguments = interface.arguments();
    let outputs = manifest.tensors.iter().filter(|tensor| tensor.role != RoleWritten::Input);
    let Some(output) = outputs.max_by_key(|tensor| tensor.shape.len()) else {
        return Err(ImportError::new(
            Path::new(&manifest.name),
            "",
            "no output: the function returns nothing, and no kernel writes to its tensors",
            "a returned tensor, or a pointer that a kernel writes to",
        ));
    };
    let contracted = contracted(&manifest.tensors, output).filter(|_| sums == Sums::Possible);
    let (work, text) = match contracted {
        Some(size) => (
            operation(
                OperationKind::Contraction,
                format!("2 * {} * {}", elements(output), factor(&size)),
            ),
            format!(
                "two operations for each of the `{size}` products in an element of `{}`",
                output.name
            ),
        ),
        None => {
            let is_float = output.dtype.is_float();
            let kind = if is_float { OperationKind::Arithmetic } else { OperationKind::Integer };
            let text = format!("one operation for each element of `{}`", output.name);
            (operation(kind, elements(output)), text)
        }
    };
    manifest.work.operations = vec![work];
    report.confirm(
        "work",
        Place::Work,
        format!("{text}; write the operations that every kernel needs"),
    );
    Ok(())
}

/// The size over which an output of floats sums products: two inputs have it, and the output has not.
fn contracted(tensors: &[TensorWritten], output: &TensorWritten) -> Option<String> {
    let has = |tensor: &TensorWritten, size: &str| tensor.shape.iter().any(|own| own.0 == size);
    let inputs = || tensors.iter().filter(|tensor| tensor.role == RoleWritten::Input);
    let mut sizes = inputs().flat_map(|tensor| &tensor.shape).map(|size| size.0.as_str());
    let found = sizes
        .find(|size| !has(output, size) && inputs().filter(|tensor| has(tensor, size)).count() > 1);
    found.filter(|_| output.dtype.is_float()).map(str::to_owned)
}

/// What was carried over and what was left out.
pub(crate) fn tell(
    draft: &Draft,
    wrapper: &Wrapper,
    dropped: &[String],
    interface: &Interface<'_>,
    report: &mut Report,
) {
    let manifest = &draft.manifest;
    let counts = [
        (manifest.axes.len(), "axes"),
        (manifest.tensors.len(), "tensors"),
        (manifest.scalars.len(), "scalars"),
        (interface.launches(), "launches"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    report.carried.insert(0, counts.join(", "));
    report.confirm(
        "workloads",
        Place::Workloads,
        "the file states no sizes; these are chosen, and fit its checks and its launches",
    );
    if !wrapper.other_dtypes.is_empty() {
        let names: Vec<&str> = wrapper.other_dtypes.iter().map(|dtype| dtype.name()).collect();
        report.leave_out(
            format!("the cases {} of the dispatch", names.join(", ")),
            "a project has one dtype for each tensor; import again with `--dtype` for another",
        );
    }
    for condition in dropped {
        report.leave_out(
            format!("the check `{condition}`"),
            "no chosen workload satisfies it; write sizes that do",
        );
    }
    for note in &wrapper.notes {
        let text = format!("`{}`", note.found);
        if !report.left_out.iter().any(|part| part.what == text) {
            report.leave_out(text, note.kind.words());
        }
    }
}
