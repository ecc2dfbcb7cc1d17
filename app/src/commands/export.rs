//! `lightbench export --as`: writes a kernel in the form that another program calls.

use std::path::{Path, PathBuf};

use lightbench_core::launcher::PythonCaller;

use super::history;
use super::launcher::{ChosenKernel, KernelChoice, LatestRun, create};
use crate::args::{self, ExportForm};
use crate::outcome::{Outcome, Status};
use crate::report;
use crate::session::Session;

/// Exports a kernel, or the runs of a project as traces.
pub fn run(session: &Session, arguments: &args::Export) -> Outcome {
    match arguments.form {
        None => history::export::run(session, arguments),
        Some(form) => exported(session, arguments, form).unwrap_or_else(|refused| refused),
    }
}

fn exported(
    session: &Session,
    arguments: &args::Export,
    form: ExportForm,
) -> Result<Outcome, Outcome> {
    let choice = KernelChoice {
        target: &arguments.project,
        kernel: arguments.selection.kernel.as_deref(),
        workload: arguments.workload.as_deref(),
        parameters: &arguments.parameters,
        device: &arguments.sheet,
    };
    let chosen = ChosenKernel::find(session, &choice)?;
    let name = &chosen.kernel.name;
    let (caller, file) = match form {
        ExportForm::Torch => (PythonCaller::Torch, format!("{name}.py")),
        ExportForm::GpuMode => (PythonCaller::GpuMode, "submission.py".to_owned()),
        ExportForm::Kernelbench => (PythonCaller::KernelBench, format!("{name}.py")),
        ExportForm::Flashinfer => (PythonCaller::FlashInfer, "solution.json".to_owned()),
    };
    let text = chosen.request().python(caller).map_err(|error| report::request(&error, false))?;
    let warnings = match chosen.latest {
        LatestRun::Passed => Vec::new(),
        LatestRun::Failed | LatestRun::None => {
            let said = chosen.provenance.first().map(String::as_str).unwrap_or_default();
            vec![format!("`{name}` is exported although its latest run did not pass: {said}")]
        }
    };
    let errors = report::notices(&warnings);
    let Some(into) = &arguments.into else {
        return Ok(Outcome { output: text, errors, status: Status::Passed });
    };
    let path = within(into, &file);
    create(&path, &text)?;
    let output = format!("{}: `{name}`\n", path.display());
    Ok(Outcome { output, errors, status: Status::Passed })
}

/// The file itself, or the file in a folder.
fn within(into: &Path, file: &str) -> PathBuf {
    if into.is_dir() { into.join(file) } else { into.to_owned() }
}
