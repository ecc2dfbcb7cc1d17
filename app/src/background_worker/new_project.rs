//! Creates a project for the dialog of the window.

use std::path::{Path, PathBuf};

use lightbench_core::import::{self, Input, Options};
use lightbench_core::project::scaffold::{self, KernelSource};

use super::TaskRunner;
use crate::args::New;
use crate::commands::{import as import_command, new};
use crate::workbench::background_task::TaskResult;
use crate::workbench::new_project::{CreatedProject, ProjectPlan, ProjectSource};

impl TaskRunner {
    pub(super) fn create_project(&self, plan: &ProjectPlan) {
        self.results.send(TaskResult::ProjectCreated(self.created(plan)));
    }

    fn created(&self, plan: &ProjectPlan) -> Result<CreatedProject, String> {
        let folder = self.meant(plan.folder.trim());
        let named = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let kernel = named(&plan.kernel);
        let written = match plan.source {
            ProjectSource::Example => {
                scaffold::write_default(&folder).map_err(|error| error.to_string())?
            }
            ProjectSource::Pasted => {
                let source = KernelSource {
                    display_name: "kernel.cu",
                    text: &plan.pasted,
                    kernel: kernel.as_deref(),
                    headers: &[],
                };
                scaffold::write_from(&folder, &source)
                    .map_err(|error| format!("the pasted source: {error}"))?
            }
            ProjectSource::Path => {
                let path = self.meant(plan.path.trim());
                let reference = named(&plan.reference).map(|text| self.meant(&text));
                return from_path(&path, reference, (folder, kernel));
            }
        };
        let report = new::report(&written);
        Ok(CreatedProject { folder: written.folder, report })
    }
}

/// A task of a public suite or a program is imported; every other file is a kernel.
fn from_path(
    path: &Path,
    reference: Option<PathBuf>,
    (folder, kernel): (PathBuf, Option<String>),
) -> Result<CreatedProject, String> {
    let is_kernel = path.extension().is_some_and(|extension| {
        ["cu", "cuh", "ptx"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    });
    let input = Input::read(path).map_err(|error| error.to_string())?;
    if is_kernel && import::detect(&input).is_err() {
        let arguments =
            New { folder, from: Some(path.to_owned()), kernel, include_folders: Vec::new() };
        let written = new::from_kernel(&arguments, path).map_err(|error| error.to_string())?;
        let report = new::report(&written);
        return Ok(CreatedProject { folder: written.folder, report });
    }
    let options = Options { reference, dtype: None, kernel, answer: None };
    let imported = import::import_with(path, &options);
    let written = imported.and_then(|imported| import::write(&folder, imported));
    let written = written.map_err(|error| error.to_string())?;
    let report = import_command::as_text(&written);
    Ok(CreatedProject { folder: written.folder, report })
}
