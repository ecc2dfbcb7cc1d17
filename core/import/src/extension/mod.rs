//! PyTorch extensions: a `.cu` file with a host wrapper, or a Python file that passes one to `load_inline`.
//!
//! ```text
//!  sources (the CUDA text, the exported functions) ──► torch_wrapper ──► interface (roles, names) ──► project, kernel file
//! ```

pub(crate) mod interface;
pub(crate) mod kernel_file;
pub(crate) mod reference;
pub(crate) mod sizes;
mod sources;

use std::collections::BTreeMap;
use std::path::Path;

use lightbench_cuda_source::torch_wrapper::{Known, Refusal, Wrapper, read_wrapper, wrappers};
use lightbench_cuda_source::{Source, normalised, syntax};
use lightbench_primitives::dtype::Dtype;
use lightbench_project::manifest::{
    ComparatorWritten, OperationKind, RoleWritten, ScalarDomainWritten,
};

use self::interface::{Interface, Role};
pub(crate) use self::sources::{ExtensionSource, is_extension};
use crate::Imported;
use crate::draft::{Draft, axis, expression, operation, scalar, tensor};
use crate::error::ImportError;
use crate::format::Format;
use crate::input::InputFile;
use crate::report::{Place, Report};
use crate::starter::elements;

/// Computes the project of an extension. `reference` is the file that the user names as reference.
pub(crate) fn import(
    file: &InputFile,
    reference: Option<&InputFile>,
    dtype: Option<Dtype>,
) -> Result<Imported, ImportError> {
    let sources = sources::read(file)?;
    let chosen = sources.iter().map(|source| choose(&file.path, source, dtype));
    let (source, wrapper, others) = first_readable(chosen)?;
    let mut report = Report::new(Format::TorchExtension);
    let mut interface = Interface::new(&wrapper, &BTreeMap::new(), &mut report);
    sizes::pin(&mut interface, &mut report);
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let reference = reference::text(reference, &interface, &mut report)?;
    let mut draft = Draft::new(&stem, &wrapper.name, reference);
    draft.manifest.summary = format!("The function {} of a PyTorch extension.", wrapper.name);
    define(&mut draft, &interface, Sums::of(&source.cuda), &mut report)?;
    let workloads = sizes::workloads(&file.path, &interface)?;
    draft.manifest.workloads = workloads.list;
    draft.kernels.push(kernel_file::kernel(
        &file.path,
        &source,
        &interface,
        &workloads.required,
        &mut report,
    )?);
    tell(&draft, &wrapper, &workloads.dropped, &interface, &mut report);
    for refusal in others {
        report.leave_out(refusal.0, refusal.1);
    }
    Ok(Imported { draft, report })
}

/// A wrapper that was read, and the functions that were not, with the reasons.
type Choice = (ExtensionSource, Wrapper, Vec<(String, String)>);

fn first_readable(
    choices: impl Iterator<Item = Result<Choice, ImportError>>,
) -> Result<Choice, ImportError> {
    let mut first = None;
    for choice in choices {
        match choice {
            Ok(choice) => return Ok(choice),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first
        .unwrap_or_else(|| ImportError::new(Path::new(""), "", "no CUDA text", sources::EXPECTED)))
}

/// The first exported function that is a launch block, else the first function that launches a kernel.
fn choose(
    path: &Path,
    source: &ExtensionSource,
    dtype: Option<Dtype>,
) -> Result<Choice, ImportError> {
    let text = normalised(&source.cuda);
    let parsed = Source::parse(&text)
        .map_err(|error| ImportError::new(path, "", error.to_string(), "CUDA C++"))?;
    let found = wrappers(&parsed);
    let all: Vec<&String> = found.launching.iter().chain(&found.others).collect();
    let exported = all.iter().copied().filter(|name| source.functions.contains(name));
    let mut names: Vec<&String> = exported.collect();
    if names.is_empty() {
        names = found.launching.iter().collect();
    }
    let mut refused: Vec<(String, Refusal)> = Vec::new();
    let mut chosen = None;
    for name in &names {
        let inputs = source.passed.get(*name).cloned().unwrap_or_default();
        match read_wrapper(&parsed, Some(name), &Known { dtype, inputs }) {
            Ok(wrapper) if chosen.is_none() => chosen = Some(wrapper),
            Ok(_) => {}
            Err(refusal) => refused.push(((*name).clone(), refusal)),
        }
    }
    let Some(wrapper) = chosen else {
        return Err(refusal_error(path, source, refused.into_iter().next()));
    };
    let mut others: Vec<(String, String)> = refused
        .into_iter()
        .map(|(name, refusal)| (format!("the function `{name}`"), located(source, &refusal)))
        .collect();
    let unread = names.iter().filter(|name| ***name != wrapper.name);
    for name in unread {
        let what = format!("the function `{name}`");
        if !others.iter().any(|(other, _)| *other == what) {
            others.push((
                what,
                "a project has one computation; import the file again with this function only"
                    .to_owned(),
            ));
        }
    }
    let source = ExtensionSource { cuda: text.clone(), ..source.clone() };
    Ok((source, wrapper, others))
}

fn refusal_error(
    path: &Path,
    source: &ExtensionSource,
    refused: Option<(String, Refusal)>,
) -> ImportError {
    let expected = "a function of tensors that checks, allocates and launches, in a straight line";
    match refused {
        Some((name, refusal)) => ImportError::new(
            path,
            format!("line {}", refusal.place.line + source.line_offset),
            format!("in `{name}`: {}: `{}`", refusal.why, refusal.found),
            expected,
        ),
        None => ImportError::new(
            path,
            "",
            "no function that takes tensors and launches a kernel",
            expected,
        ),
    }
}

/// A refusal with its line in the imported file.
fn located(source: &ExtensionSource, refusal: &Refusal) -> String {
    format!(
        "line {}: {}: `{}`",
        refusal.place.line + source.line_offset,
        refusal.why,
        refusal.found
    )
}

/// Whether an element of a result can be a sum of several numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sums {
    /// No code has a loop or exchanges values between threads.
    None,
    Possible,
}

impl Sums {
    fn of(cuda: &str) -> Self {
        let Ok(source) = Source::parse(cuda) else { return Self::Possible };
        let loops = ["for_statement", "while_statement", "do_statement"];
        let exchanges = ["__shfl", "__reduce", "atomic"];
        let names = syntax::all(source.root(), &["identifier"]);
        let mut names = names.into_iter().map(|name| source.node_text(name));
        let has_exchange =
            names.any(|name| exchanges.iter().any(|prefix| name.starts_with(prefix)));
        match has_exchange || !syntax::all(source.root(), &loops).is_empty() {
            true => Self::Possible,
            false => Self::None,
        }
    }
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
    let kind =
        if output.dtype.is_float() { OperationKind::Arithmetic } else { OperationKind::Integer };
    let text = format!(
        "one operation for each element of `{}`; write the operations that every kernel needs",
        output.name
    );
    manifest.work.operations = vec![operation(kind, elements(output))];
    report.confirm("work", Place::Work, text);
    Ok(())
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
