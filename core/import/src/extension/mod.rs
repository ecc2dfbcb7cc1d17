//! PyTorch extensions: a `.cu` file with a host wrapper, or a Python file that passes one to `load_inline`.
//!
//! ```text
//!  sources (the CUDA text, the exported functions) ──► torch_wrapper ──► interface (roles, names) ──► project, kernel file
//! ```

pub(crate) mod kernel_file;
pub(crate) mod sources;

use std::collections::BTreeMap;
use std::path::Path;

use lightbench_cuda_source::torch_wrapper::{Known, Refusal, Wrapper, read_wrapper, wrappers};
use lightbench_cuda_source::{Source, normalised, syntax};
use lightbench_primitives::dtype::Dtype;

pub(crate) use self::sources::{ExtensionSource, is_extension};
use crate::Imported;
use crate::draft::Draft;
use crate::error::ImportError;
use crate::format::Format;
use crate::input::InputFile;
use crate::report::Report;
use crate::wrapper::interface::Interface;
use crate::wrapper::{Sums, define, reference, sizes, tell};

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
    define(&mut draft, &interface, sums(&source.cuda), &mut report)?;
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

pub(crate) fn refusal_error(
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

/// Whether an element of a result of this device code can be a sum of several numbers.
fn sums(cuda: &str) -> Sums {
    let Ok(source) = Source::parse(cuda) else { return Sums::Possible };
    let loops = ["for_statement", "while_statement", "do_statement"];
    let exchanges = ["__shfl", "__reduce", "atomic"];
    let names = syntax::all(source.root(), &["identifier"]);
    let mut names = names.into_iter().map(|name| source.node_text(name));
    let has_exchange = names.any(|name| exchanges.iter().any(|prefix| name.starts_with(prefix)));
    match has_exchange || !syntax::all(source.root(), &loops).is_empty() {
        true => Sums::Possible,
        false => Sums::None,
    }
}
