//! KernelBench: a class `Model` of PyTorch with the functions `get_inputs` and `get_init_inputs`.
//!
//! The file becomes `reference.py` as it is. Its shapes, weights and work come from `torch_model`, which executes nothing.

mod answer;
mod forward;
mod tensors;
mod workloads;

use std::collections::BTreeSet;
use std::path::PathBuf;

use lightbench_primitives::dtype::Dtype;
use lightbench_project::manifest::{AxisWritten, OperationKind};
use lightbench_project::names::RESERVED;
use lightbench_project::written::NumberWritten;
use lightbench_python_source::{ExpressionKind, Module, StatementKind};
use lightbench_torch_model::{ScalarInput, Task, Work, sizes};

use crate::Imported;
use crate::draft::{Draft, ReferenceFile, axis, operation, scalar};
use crate::error::ImportError;
use crate::format::Format;
use crate::input::InputFile;
use crate::python::read;
use crate::report::{Place, Report};
use crate::starter::starter;

/// A task of KernelBench.
#[derive(Debug)]
pub struct KernelBench {
    path: PathBuf,
    text: String,
    module: Module,
}

impl KernelBench {
    /// A file that has the form of a task; none if it has not.
    ///
    /// # Errors
    ///
    /// The file is no Python that can be read.
    pub(crate) fn new(file: &InputFile) -> Result<Option<Self>, ImportError> {
        let module = read(&file.path, "", &file.text)?;
        let is_task = lightbench_torch_model::is_task(&module);
        let (path, text) = (file.path.clone(), file.text.clone());
        Ok(is_task.then_some(Self { path, text, module }))
    }
}

/// Computes the project, with the kernel of an answer if the user names one.
pub(crate) fn import(
    file: &KernelBench,
    answer: Option<&InputFile>,
) -> Result<Imported, ImportError> {
    let refused = |line: usize, reason: String| {
        let expected = "a model that the importer can follow without executing it (docs/import.md)";
        ImportError::new(&file.path, format!("line {line}"), reason, expected)
    };
    let task = lightbench_torch_model::read(&file.module);
    let task = task.map_err(|refusal| refused(refusal.line, refusal.reason))?;
    check_names(&task).map_err(|reason| refused(task.line, reason))?;
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
    let mut draft =
        Draft::new(stem.trim_matches('_'), &title(&stem), ReferenceFile::Python(file.text.clone()));
    let mut report = Report::new(Format::KernelBench);
    draft.manifest.summary = summary(&file.module);
    draft.manifest.axes = axes(&task);
    draft.manifest.scalars =
        task.scalars.iter().map(|(name, value)| scalar_of(name, *value)).collect();
    draft.manifest.tensors = tensors::written(&task, &mut report);
    draft.manifest.arguments = arguments(&draft);
    let workloads = workloads::written(&task, &draft.manifest.axes);
    draft.manifest.workloads = workloads.map_err(|reason| refused(task.line, reason))?;
    draft.manifest.limits.device_bytes = workloads::device_bytes(&task);
    work(&task, &mut draft, &mut report);
    draft.kernels.extend(starter(&draft.manifest));
    tell(&task, &draft, &mut report);
    if let Some(answer) = answer {
        draft.kernels.push(answer::kernel(answer, file, &draft.manifest, &mut report)?);
    }
    Ok(Imported { draft, report })
}

/// The worker finds tensors and sizes by their names in the file, so that no name can be replaced by another.
fn check_names(task: &Task) -> Result<(), String> {
    let tensors = task.tensors.iter().map(|tensor| tensor.name.as_str());
    let scalars = task.scalars.iter().map(|(name, _)| name.as_str());
    let names = task.axes.keys().map(String::as_str).chain(tensors).chain(scalars);
    let mut taken = BTreeSet::new();
    for name in names {
        if RESERVED.contains(&name) || !name.is_ascii() || name.len() > 64 {
            return Err(format!(
                "the name `{name}` is reserved, or has more than 64 characters of ASCII"
            ));
        }
        if !taken.insert(name) {
            return Err(format!("two sizes, inputs or weights have the name `{name}`"));
        }
    }
    Ok(())
}

/// `12_Gemm_Multiply` as words, without the number.
fn title(stem: &str) -> String {
    let words = stem.trim_start_matches(|letter: char| letter.is_ascii_digit()).replace('_', " ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() { stem.to_owned() } else { words }
}

/// The first line of the docstring of the class.
fn summary(module: &Module) -> String {
    let class = module.classes().find(|class| class.name == "Model");
    let first = class.and_then(|class| class.body.first()).map(|statement| &statement.kind);
    let Some(StatementKind::Expression(expression)) = first else { return String::new() };
    let ExpressionKind::Text { text, .. } = &expression.kind else { return String::new() };
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

fn axes(task: &Task) -> Vec<AxisWritten> {
    let limits = sizes::limits(task);
    let mut axes = Vec::new();
    for name in task.axes.keys() {
        let mut written = axis(name);
        if let Some(limits) = limits.get(name) {
            written.min = i64::try_from(limits.min).unwrap_or(1);
            written.multiple_of = i64::try_from(limits.multiple_of).unwrap_or(1);
        }
        axes.push(written);
    }
    if axes.is_empty() {
        let mut only = axis("one");
        (only.max, only.note) = (1, "the model has no size that may vary".to_owned());
        axes.push(only);
    }
    axes
}

fn scalar_of(name: &str, value: ScalarInput) -> lightbench_project::manifest::ScalarWritten {
    match value {
        ScalarInput::Real(value) => scalar(name, Dtype::F32, NumberWritten::Real(value)),
        ScalarInput::Integer(value) => scalar(name, Dtype::I64, NumberWritten::Integer(value)),
    }
}

/// Tensors, then sizes, then numbers.
fn arguments(draft: &Draft) -> Vec<String> {
    let manifest = &draft.manifest;
    let tensors = manifest.tensors.iter().map(|tensor| tensor.name.clone());
    let axes = manifest.axes.iter().map(|axis| format!("{}: i64", axis.name));
    let scalars =
        manifest.scalars.iter().map(|each| format!("{}: {}", each.name, each.dtype.name()));
    tensors.chain(axes).chain(scalars).collect()
}

fn work(task: &Task, draft: &mut Draft, report: &mut Report) {
    let kinds = [
        (Work::Contraction, OperationKind::Contraction),
        (Work::Arithmetic, OperationKind::Arithmetic),
        (Work::Special, OperationKind::Special),
        (Work::Compare, OperationKind::Compare),
    ];
    let counted = kinds.iter().filter_map(|(kind, written)| {
        let count = task.work.get(kind).filter(|count| count.constant() != Some(0))?;
        Some(operation(*written, count.to_string()))
    });
    draft.manifest.work.operations = counted.collect();
    report.confirm(
        "work",
        Place::Work,
        "counted from the operations of `forward`, as each is usually computed; a kernel that needs fewer operations makes \
         the bound too high",
    );
}

fn tell(task: &Task, draft: &Draft, report: &mut Report) {
    let manifest = &draft.manifest;
    let weights = task
        .tensors
        .iter()
        .filter(|tensor| tensor.role == lightbench_torch_model::InputRole::Weight)
        .count();
    report.carried.push(format!(
        "{} axes, {} tensors ({weights} of them weights of the model), {} workloads",
        manifest.axes.len(),
        manifest.tensors.len(),
        manifest.workloads.len(),
    ));
    report.carried.push("the file as reference.py".to_owned());
    report
        .carried
        .push("kernels/naive.cu: signature and launch; its body is to be written".to_owned());
    report.confirm(
        "accuracy",
        Place::Accuracy,
        "the task computes in f32 and states its tolerance outside the file; `tf32` permits tensor cores",
    );
    report.confirm(
        "workloads",
        Place::Workloads,
        "`task` has the sizes of the file; the others are small sizes that the operations permit",
    );
    for (line, note) in &task.notes {
        report.confirm("model", Place::Reference, format!("line {line} of the task: {note}"));
    }
    report.first_run.push(
        "reference.py runs in a confined Python process at the first run; the import executed no Python".to_owned(),
    );
}
