//! The kernel, workload and device sheet of a command that runs a kernel on the virtual GPU of this process.

use std::fmt::Display;
use std::path::Path;

use lightbench_core::device::DeviceSheet;
use lightbench_core::project::{Kernel, Project, Workload};
use lightbench_core::virtual_program::{ProgramRequest, VirtualProgramError};

use super::check::target;
use crate::outcome::Outcome;
use crate::report;

/// What the arguments of a command mean.
pub(super) struct VirtualTarget {
    project: Box<Project>,
    pub(super) kernel: Kernel,
    pub(super) workload: Workload,
    pub(super) sheet: &'static DeviceSheet,
    seed: u64,
}

/// The arguments that select it.
pub(super) struct Selection<'a> {
    pub(super) path: &'a Path,
    pub(super) kernel: Option<String>,
    pub(super) workload: Option<&'a str>,
    pub(super) device: &'a str,
    pub(super) seed: u64,
    pub(super) as_json: bool,
}

impl VirtualTarget {
    /// Resolves the arguments; `usual` selects the workload if none is named.
    pub(super) fn resolve(
        selection: Selection<'_>,
        usual: impl Fn(&Project) -> Option<&Workload>,
    ) -> Result<Self, Outcome> {
        let Selection { path, kernel, workload, device, seed, as_json } = selection;
        let refuse = |error: &dyn Display| report::request(&error, as_json);
        let lacks = "no inputs; `lightbench launch` takes some";
        let (project, of_path) = target::project(path, lacks, as_json)?;
        let kernel = target::kernel(&project, kernel.or(of_path)).map_err(|why| refuse(&why))?;
        let named = workload.or_else(|| usual(&project).map(|workload| workload.name.as_str()));
        let workload = target::workload(&project, named).map_err(|why| refuse(&why))?;
        let sheet = DeviceSheet::named(device).map_err(|error| refuse(&error))?;
        Ok(Self { project, kernel, workload, sheet, seed })
    }

    pub(super) fn request(&self) -> ProgramRequest<'_> {
        let Self { project, kernel, workload, sheet, seed } = self;
        ProgramRequest { project, kernel, workload, sheet, seed: *seed }
    }
}

/// The outcome of a program that does not run.
pub(super) fn not_run(error: &VirtualProgramError, as_json: bool) -> Outcome {
    match error {
        VirtualProgramError::Facts(_) => report::request(error, as_json),
        VirtualProgramError::Plan(_)
        | VirtualProgramError::Program(_)
        | VirtualProgramError::Session(_) => report::environment(error, as_json),
    }
}
