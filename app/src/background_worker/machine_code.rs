//! The machine code of a recorded run, compiled from its stored texts; the compile cache usually holds the result.

use std::sync::Arc;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::facts::{Prepared, Setting};
use lightbench_core::compile::job::Build;
use lightbench_core::compile::sass::SassFunction;
use lightbench_core::device::{DeviceName, DeviceSheet, LocalDevice};
use lightbench_core::history::record::RunRecord;
use lightbench_core::history::restore::RestoreError;
use lightbench_core::history::{OpenedHistory, StoredRun};
use lightbench_core::project::{Kernel, Project, Workload};

use super::TaskRunner;
use crate::commands::history::existing;
use crate::workbench::background_task::TaskResult;

/// The remedy if the stored texts are not sufficient to compile a run again.
const RUN_AGAIN: &str = "run the kernel again: the machine code of a new run is available while the project's definition is unchanged";

impl TaskRunner {
    pub(super) fn disassemble_run(&self, project: &Arc<Project>, run: &StoredRun, workload: &str) {
        let code = self.run_code(project, run, workload);
        self.results.send(TaskResult::RunCode(project.root.clone(), run.number, code));
    }

    fn run_code(
        &self,
        project: &Project,
        run: &StoredRun,
        workload: &str,
    ) -> Result<String, String> {
        let record = &run.record;
        let (project, kernel) = self.as_it_was(project, record)?;
        let sheet = self.sheet_of(record)?;
        let prepared = |workload: &Workload| {
            let (chosen, build) = (&record.parameters, Build::Optimised);
            let setting = Setting {
                project: &project,
                workload,
                chosen,
                sheet,
                multiprocessors: None,
                build,
            };
            let facts = Prepared::new(&kernel, &setting).map_err(|error| error.to_string())?;
            Ok::<_, String>((
                facts.job().clone(),
                format!("{:#}", facts.candidate().hash),
                facts.limit(),
            ))
        };
        let own = |workload: &&Workload| {
            record.workloads.iter().any(|own| own.name.as_str() == workload.name)
        };
        let mut workloads: Vec<&Workload> = project.workloads.iter().filter(own).collect();
        let is_same = workloads.iter().any(|workload| {
            prepared(workload).is_ok_and(|(_, hash, _)| Some(hash) == record.candidate)
        });
        if !is_same {
            return Err(format!(
                "the stored texts compile to a different candidate today; {RUN_AGAIN}"
            ));
        }
        workloads.sort_by_key(|each| each.name != workload);
        let workload = workloads.first().ok_or("the project no longer has any of its workloads")?;
        let (job, _, limit) = prepared(workload)?;
        let mut compiler = self.compiler()?;
        let cancellation = Cancellation::new();
        let compiled =
            compiler.compile(&job, limit, &cancellation).map_err(|error| error.to_string())?;
        let code = compiler.disassemble(&compiled.artifact, &cancellation);
        Ok(listing(&code.map_err(|error| error.to_string())?))
    }

    /// The project and the kernel with the texts of the run.
    fn as_it_was(
        &self,
        project: &Project,
        record: &RunRecord,
    ) -> Result<(Project, Kernel), String> {
        let opened = existing(&self.session, &project.root).map_err(|error| error.to_string())?;
        let Some(OpenedHistory { store, .. }) = opened else {
            return Err(format!("the project has no history; {RUN_AGAIN}"));
        };
        store.restore(project, record).map_err(|lost| match lost {
            RestoreError::Text { .. } | RestoreError::NoText => format!("{lost}; {RUN_AGAIN}"),
            RestoreError::History(_) | RestoreError::NotAKernel { .. } => lost.to_string(),
        })
    }

    /// The device sheet of a run: of a present device, else the sheet with this name or title.
    fn sheet_of(&self, record: &RunRecord) -> Result<&'static DeviceSheet, String> {
        let device = &record.device;
        let here = self.devices.iter().find(|chosen| {
            let uuid = chosen.gpu.as_ref().map(|gpu| &gpu.identity.uuid);
            uuid.is_some() && uuid == device.uuid.as_ref()
        });
        if let Some(here) = here {
            return Ok(here.sheet);
        }
        let named = DeviceName::parse(&device.name).map(|name| name.local);
        if let Ok(LocalDevice::Virtual(sheet)) = named {
            return Ok(sheet);
        }
        let sheets = DeviceSheet::all().map_err(|error| error.to_string())?;
        let named = sheets.into_iter().find(|sheet| sheet.title.starts_with(&device.title));
        named.ok_or_else(|| format!("no device sheet describes {}, on which it ran", device.title))
    }
}

fn listing(functions: &[SassFunction]) -> String {
    let mut text = String::new();
    for function in functions {
        text += &format!("{}:\n", function.name);
        for instruction in &function.instructions {
            let labels = function.labels.iter();
            for (label, _) in
                labels.filter(|(label, at)| *at == instruction.address && *label != function.name)
            {
                text += &format!("{label}:\n");
            }
            let predicate =
                instruction.predicate.as_ref().map(|name| format!("@{name} ")).unwrap_or_default();
            let operands = instruction.operands.join(", ");
            text += &format!("    {predicate}{} {operands}\n", instruction.opcode);
        }
    }
    text
}
