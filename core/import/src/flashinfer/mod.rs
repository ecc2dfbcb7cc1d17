//! FlashInfer-Bench and SOL-ExecBench: definitions with their workloads and solutions, which have nearly one format.

mod definition;
mod domains;
mod interface;
mod reference;
mod sizes;
mod solution;
mod values;
mod workloads;

use std::path::PathBuf;

use lightbench_project::manifest::{OperationKind, RoleWritten};

use self::definition::Definition;
use self::interface::Interface;
use self::sizes::{ProjectAxis, Sizes};
use self::values::Values;
use crate::Imported;
use crate::draft::{Draft, ReferenceFile, axis, operation};
use crate::error::ImportError;
use crate::format::Format;
use crate::input::{Input, InputFile, InputKind, read_file};
use crate::json::Json;
use crate::names::NameGiver;
use crate::report::{Place, Report};
use crate::starter::{elements, starter};
use crate::undefined::ask_for_definitions;

/// A definition with what lies beside it.
#[derive(Debug)]
pub struct Task {
    definition: Definition,
    format: Format,
    workloads: Option<InputFile>,
    solutions: Vec<(InputFile, Json)>,
}

impl Task {
    /// Checks a definition, and finds its workloads: in the folder, or beside the file.
    pub(crate) fn new(
        input: &Input,
        file: &InputFile,
        value: &Json,
        solutions: Vec<(InputFile, Json)>,
    ) -> Result<Self, ImportError> {
        let definition = Definition::read(&file.path, value)?;
        let has = |key: &str| value.get(key).is_some();
        let lists_languages = |(_, solution): &(InputFile, Json)| {
            solution.get("spec").is_some_and(|spec| spec.get("languages").is_some())
        };
        let uses_expressions =
            definition.axes.iter().any(|axis| matches!(axis.size, definition::Size::Expression(_)));
        let is_sol = has("custom_inputs_entrypoint")
            || uses_expressions
            || solutions.iter().any(lists_languages);
        let format = if is_sol { Format::SolExecBench } else { Format::FlashInferBench };
        let workloads = match input.kind {
            InputKind::Folder => input
                .files
                .iter()
                .find(|file| file.name.ends_with("l") && file.name.contains(".json"))
                .cloned(),
            InputKind::File => beside(file)?,
        };
        Ok(Self { definition, format, workloads, solutions })
    }
}

/// The workloads beside a definition: `NAME.jsonl`, or `workload.jsonl` beside `definition.json`.
fn beside(file: &InputFile) -> Result<Option<InputFile>, ImportError> {
    let own = file.path.with_extension("jsonl");
    let shared: PathBuf = file.path.with_file_name("workload.jsonl");
    let is_definition = file.name == "definition.json";
    let candidates = [Some(own), is_definition.then_some(shared)];
    let found = candidates.into_iter().flatten().find(|path| path.is_file());
    found.map(|path| read_file(&path)).transpose()
}

/// Computes the project.
pub(crate) fn import(task: &Task) -> Result<Imported, ImportError> {
    let definition = &task.definition;
    let mut report = Report::new(task.format);
    let interface = Interface::new(definition, &mut report)?;
    ask_for_definitions(&interface.module, &mut report);
    let mut names = NameGiver::default();
    for name in reference::OWN_NAMES {
        names.give(name);
    }
    let sizes = Sizes::new(definition, &mut names, &mut report);
    let mut values = Values::new(definition, &interface, &sizes);
    values.inputs(&mut names, &mut report)?;
    values.outputs(&mut names, &mut report)?;
    if values.tensors.iter().all(|tensor| tensor.role == RoleWritten::Input) {
        let expected = "a function that computes at least one of the outputs";
        return Err(ImportError::new(
            &definition.file,
            "reference",
            "no computed output",
            expected,
        ));
    }
    let text = reference::text(definition, &values);
    let mut draft = Draft::new(&definition.name, &definition.name, ReferenceFile::Python(text));
    draft.manifest.summary = definition.description.clone();
    let axes = used_axes(&values);
    draft.manifest.axes = axes
        .iter()
        .map(|each| {
            let mut written = axis(&each.name);
            written.note = each.note.clone();
            if let Some(value) = each.fixed {
                (written.min, written.max) = (value, value);
            }
            written
        })
        .collect();
    let tensors = values.tensors.iter().map(|tensor| tensor.name.clone());
    let sizes_passed = axes.iter().filter(|axis| axis.fixed.is_none());
    let sizes_passed = sizes_passed.map(|axis| format!("{}: i64", axis.name));
    let passed =
        values.scalars.iter().map(|scalar| format!("{}: {}", scalar.name, scalar.dtype.name()));
    draft.manifest.arguments = tensors.chain(sizes_passed).chain(passed).collect();
    draft.manifest.workloads = read_workloads(task, &values, &axes, &mut report)?;
    draft.manifest.tensors = values.tensors.clone();
    draft.manifest.scalars = values.scalars.clone();
    draft.manifest.accuracy = values::accuracy(definition, &draft.manifest);
    propose_work(&mut draft, &mut report);
    draft.kernels.extend(starter(&draft.manifest));
    tell(task, &draft, &mut report);
    for (file, solution) in &task.solutions {
        solution::carry_over(file, solution, &values, &mut draft, &mut report)?;
    }
    Ok(Imported { draft, report })
}

/// The axes that shapes and sizes passed to the reference use; at least one, as a project needs.
fn used_axes<'v>(values: &'v Values<'_>) -> Vec<&'v ProjectAxis> {
    let shapes = values.tensors.iter().flat_map(|tensor| tensor.shape.iter());
    let mut used: Vec<String> = shapes.map(|size| size.0.clone()).collect();
    for binding in &values.interface.bindings {
        let named = match &binding.takes {
            interface::Takes::Input(name) | interface::Takes::Size(name) => values.sizes.axis(name),
            interface::Takes::Tuple(_) | interface::Takes::Nothing => None,
        };
        used.extend(named.map(|axis| axis.name.clone()));
    }
    for tensor in &values.tensors {
        used.extend(domains::expressions(tensor));
    }
    values.sizes.used(&used)
}

fn read_workloads(
    task: &Task,
    values: &Values<'_>,
    axes: &[&ProjectAxis],
    report: &mut Report,
) -> Result<Vec<lightbench_project::manifest::WorkloadWritten>, ImportError> {
    let Some(file) = &task.workloads else {
        report.confirm(
            "workloads",
            Place::Workloads,
            "the definition has no sizes; these are chosen from the names of its axes",
        );
        return Ok(workloads::chosen(axes));
    };
    let largest = values.tensors.iter().max_by_key(|tensor| tensor.shape.len());
    let largest: Vec<String> = largest
        .into_iter()
        .flat_map(|tensor| tensor.shape.iter())
        .map(|size| size.0.clone())
        .collect();
    let target = workloads::Target {
        definition: values.definition,
        sizes: values.sizes,
        axes,
        scalars: &values.scalars,
        names: &values.names,
        largest: &largest,
    };
    target.read(file, report)
}

/// One operation for each output element is the least that any kernel does.
fn propose_work(draft: &mut Draft, report: &mut Report) {
    let outputs = draft.manifest.tensors.iter().filter(|tensor| tensor.role != RoleWritten::Input);
    let Some(output) = outputs.max_by_key(|tensor| tensor.shape.len()) else { return };
    let kind =
        if output.dtype.is_float() { OperationKind::Arithmetic } else { OperationKind::Integer };
    let text = format!(
        "one operation for each element of `{}`; write the operations that every kernel needs",
        output.name
    );
    draft.manifest.work.operations = vec![operation(kind, elements(output))];
    report.confirm("work", Place::Work, text);
}

/// What was carried over, and what the first run executes.
fn tell(task: &Task, draft: &Draft, report: &mut Report) {
    let manifest = &draft.manifest;
    let counts = [
        (manifest.axes.len(), "axes"),
        (manifest.tensors.len(), "tensors"),
        (manifest.scalars.len(), "scalars"),
        (manifest.workloads.len(), "workloads"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    report.carried.insert(0, counts.join(", "));
    report.carried.push("the reference as reference.py".to_owned());
    report
        .carried
        .push("kernels/naive.cu: signature and launch; its body is to be written".to_owned());
    let unused = &task.definition.constraints;
    for constraint in unused.iter().filter(|text| !text.contains("==") || text.contains(" or ")) {
        report.leave_out(
            format!("constraint `{constraint}`"),
            "not checked; axes have their own limits in project.ron",
        );
    }
    if let Some(generator) = &task.definition.generator {
        report.leave_out(
            format!("`{generator}`, which generates inputs"),
            "every run draws its own inputs, as `fill` and `domain` in project.ron state",
        );
    }
    report.first_run.push("reference.py runs in a confined Python process at the first run; the import executed no Python".to_owned());
}
