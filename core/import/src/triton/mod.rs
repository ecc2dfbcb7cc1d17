//! Triton files: kernels with `@triton.jit`, and a host function that launches them.
//!
//! ```text
//!  module ──► kernels (parameters, accesses, autotune) ──► host function on formulas ──► Wrapper ──► project, kernel file
//! ```
//!
//! The host function is executed on formulas for the sizes, as the wrapper of a PyTorch extension is, and has the same
//! description ([`Wrapper`](lightbench_cuda_source::torch_wrapper::Wrapper)). Nothing of the file runs.

mod autotune;
mod calls;
mod expressions;
mod file;
mod host;
mod kernel;
pub(crate) mod kernel_file;
mod kernel_text;
mod launch;
mod parameters;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use lightbench_cuda_source::torch_wrapper::{Refusal, TensorOrigin};
use lightbench_primitives::dtype::Dtype;
use lightbench_python_source::{Constants, ExpressionKind, Function, Module};

use self::file::HostFile;
use self::host::read_host;
pub(crate) use self::host::{HostReading, KnownInputs};
use self::kernel::{is_jit, kernels, launched, may_sum};
pub(crate) use self::kernel_text::KernelText;
use crate::Imported;
use crate::draft::Draft;
use crate::error::ImportError;
use crate::format::Format;
use crate::input::InputFile;
use crate::report::{Place, Report};
use crate::wrapper::interface::Interface;
use crate::wrapper::{Sums, define, reference, sizes, tell};

/// What a file of this format has.
const EXPECTED: &str = "a Python file with a function that takes tensors, allocates, and launches kernels with `@triton.jit`, in a straight line";

/// Whether a file holds Triton kernels.
pub(crate) fn is_triton(file: &InputFile) -> bool {
    let mentions = file.name.ends_with(".py") && file.text.contains("triton");
    mentions
        && Module::parse(&file.text)
            .is_ok_and(|module| module.functions().into_iter().any(|each| is_jit(&module, each)))
}

/// A host function, and how many of its first parameters Python passes itself (`ctx`).
struct HostFunction<'a> {
    function: &'a Function,
    skipped: usize,
    /// As users call it.
    name: String,
}

/// Computes the project of a Triton file. `reference` is the file that the user names as reference.
pub(crate) fn import(
    file: &InputFile,
    reference: Option<&InputFile>,
    dtype: Option<Dtype>,
) -> Result<Imported, ImportError> {
    if file.text.contains("\"\"\"@ lightbench(") {
        let found = "a kernel file of a project, with its launch block";
        return Err(ImportError::new(&file.path, "", found, "copy it into `kernels/`"));
    }
    let module = crate::python::read(&file.path, "", &file.text)?;
    let constants = Constants::new(&module);
    let kernels = kernels(&module);
    let source =
        HostFile { text: &file.text, module: &module, constants: &constants, kernels: &kernels };
    let mut report = Report::new(Format::Triton);
    let mut reading = choose(file, source, dtype, &mut report)?;
    name_tensors(&mut reading);
    guess_dtypes(&mut reading, &mut report);
    let mut interface = Interface::new(&reading.wrapper, &BTreeMap::new(), &mut report);
    sizes::pin(&mut interface, &mut report);
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let reference = reference::text(reference, &interface, &mut report)?;
    let mut draft = Draft::new(&stem, &reading.wrapper.name, reference);
    draft.manifest.summary = format!("The function {} of a Triton file.", reading.wrapper.name);
    let sums = if may_sum(&module, &kernels) { Sums::Possible } else { Sums::None };
    define(&mut draft, &interface, sums, &mut report)?;
    let workloads = sizes::workloads(&file.path, &interface)?;
    draft.manifest.workloads = workloads.list;
    let kernel = kernel_file::kernel(file, &reading, &interface, &workloads.required)?;
    report.carried.push(format!(
        "kernels/{}: the file, after the launches of `{}`",
        kernel.name, reading.wrapper.name
    ));
    explain(&kernel.name, &reading, &mut report);
    draft.kernels.push(kernel);
    tell(&draft, &reading.wrapper, &workloads.dropped, &interface, &mut report);
    report.first_run.push(
        "Triton compiles the kernels in a confined Python process at the first run; nothing else of the file runs".to_owned(),
    );
    Ok(Imported { draft, report })
}

/// Reads one function of a Triton file as host function.
///
/// # Errors
///
/// In words, why the text has no such function, or a launch block cannot express it.
pub(crate) fn read_function(
    text: &str,
    name: &str,
    known: &KnownInputs,
) -> Result<HostReading, String> {
    let module = Module::parse(text).map_err(|error| error.to_string())?;
    let constants = Constants::new(&module);
    let kernels = kernels(&module);
    let source = HostFile { text, module: &module, constants: &constants, kernels: &kernels };
    let function = module.function(name);
    let function = function.ok_or_else(|| format!("no function `{name}`"))?;
    let mut reading = read_host(source, function, 0, known).map_err(|refusal| {
        format!("line {}: {}: `{}`", refusal.place.line, refusal.why, refusal.found)
    })?;
    name_tensors(&mut reading);
    Ok(reading)
}

/// The first host function that can be read; the others are listed.
fn choose(
    file: &InputFile,
    source: HostFile<'_>,
    dtype: Option<Dtype>,
    report: &mut Report,
) -> Result<HostReading, ImportError> {
    let known = KnownInputs { dtype, ..KnownInputs::default() };
    let candidates = host_functions(source);
    let mut chosen: Option<HostReading> = None;
    let mut refused: Vec<(String, Refusal)> = Vec::new();
    for candidate in &candidates {
        if chosen.is_some() {
            report.leave_out(
                format!("the function `{}`", candidate.name),
                "a project has one computation; import the file again with this function only",
            );
            continue;
        }
        match read_host(source, candidate.function, candidate.skipped, &known) {
            Ok(mut reading) => {
                reading.wrapper.name.clone_from(&candidate.name);
                chosen = Some(reading);
            }
            Err(refusal) => refused.push((candidate.name.clone(), refusal)),
        }
    }
    if let Some(chosen) = chosen {
        for (name, refusal) in refused {
            let reason =
                format!("line {}: {}: `{}`", refusal.place.line, refusal.why, refusal.found);
            report.leave_out(format!("the function `{name}`"), reason);
        }
        return Ok(chosen);
    }
    Err(match refused.into_iter().next() {
        Some((name, refusal)) => ImportError::new(
            &file.path,
            format!("line {}", refusal.place.line),
            format!("in `{name}`: {}: `{}`", refusal.why, refusal.found),
            EXPECTED,
        ),
        None => ImportError::new(&file.path, "", "no function that launches a kernel", EXPECTED),
    })
}

/// Functions and `forward` methods that launch kernels, in the order of the text; functions of tensors come first.
fn host_functions(source: HostFile<'_>) -> Vec<HostFunction<'_>> {
    let module = source.module;
    let launches = |function: &Function| {
        let statements = function.all_statements().into_iter();
        let mut expressions = statements.flat_map(|statement| statement.all_expressions());
        expressions.any(|expression| {
            let ExpressionKind::Call(call) = &expression.kind else { return false };
            let compiled = matches!(&call.function.kind, ExpressionKind::Subscript { .. });
            launched(source.kernels, call).is_some()
                || compiled && function.body.iter().any(|each| mentions_warmup(source, each))
        })
    };
    let plain =
        module.functions().into_iter().filter(|each| !source.kernels.contains_key(&each.name));
    let plain = plain.filter(|each| launches(each)).map(|function| HostFunction {
        function,
        skipped: 0,
        name: function.name.clone(),
    });
    let methods = module.classes().filter_map(|class| {
        let function = class.method("forward").filter(|each| launches(each))?;
        Some(HostFunction { function, skipped: 1, name: class.name.trim_matches('_').to_owned() })
    });
    plain.chain(methods).collect()
}

/// Whether a statement compiles a kernel for its resources.
fn mentions_warmup(source: HostFile<'_>, statement: &lightbench_python_source::Statement) -> bool {
    statement.all_expressions().into_iter().any(|expression| {
        let ExpressionKind::Attribute { value, name } = &expression.kind else { return false };
        let owner = value.dotted_name();
        name == "warmup" && owner.is_some_and(|owner| source.kernels.contains_key(&owner))
    })
}

/// Allocations that no variable received get a name.
fn name_tensors(reading: &mut HostReading) {
    for tensor in &mut reading.wrapper.tensors {
        if tensor.name.is_empty() {
            "out".clone_into(&mut tensor.name);
        }
    }
}

/// Inputs whose dtype nothing states have that of a result which states one.
fn guess_dtypes(reading: &mut HostReading, report: &mut Report) {
    let returned = reading.wrapper.returned.iter();
    let mut returned = returned.filter_map(|tensor| reading.wrapper.tensors.get(*tensor));
    let stated = returned.find_map(|tensor| match tensor.origin {
        TensorOrigin::Allocated(_) => tensor.dtype.filter(|dtype| dtype.is_float()),
        TensorOrigin::Parameter(_) => None,
    });
    let Some(stated) = stated else { return };
    let mut guessed = BTreeSet::new();
    for tensor in &mut reading.wrapper.tensors {
        if tensor.dtype.is_none() {
            tensor.dtype = Some(stated);
            guessed.insert(tensor.name.clone());
        }
    }
    for name in guessed {
        let text = format!(
            "nothing in the file states the dtype of `{name}`; {} is that of the result",
            stated.name()
        );
        report.confirm(format!("{name}.dtype"), Place::Tensor(name.clone()), text);
    }
}

/// What was assumed while the host function was read.
fn explain(kernel: &str, reading: &HostReading, report: &mut Report) {
    let place = || Place::Kernel(kernel.to_owned());
    for (name, values) in &reading.tuned {
        if let Some(first) = values.first() {
            let text = format!(
                "`{name}` has the {} values of the configurations, {first} by default; all combinations with other parameters are permitted",
                values.len()
            );
            report.confirm(format!("{name}.values"), place(), text);
        }
    }
    for line in &reading.device_choices {
        let text = format!(
            "line {line} decides by a property of the device; the first alternative is taken"
        );
        report.confirm(format!("line-{line}"), place(), text);
    }
    for name in &reading.equal_by_name {
        let text = format!("`{name}` receives two sizes, which are taken to be equal");
        report.confirm(format!("{name}.sizes"), place(), text);
    }
    for name in &reading.defaults {
        report.leave_out(
            format!("the parameter `{name}`"),
            "it has its default; write another value into the launch block",
        );
    }
}
