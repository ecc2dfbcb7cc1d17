//! The profile request, validated against the project before the machine is examined.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use lightbench_core::device::LocalDevice;
use lightbench_core::nsight::metric::{MetricSet, set};
use lightbench_core::project::{Kernel, Project, Workload};

use crate::args;
use crate::commands::check::{target, unknown_parameter};
use crate::outcome::Outcome;
use crate::report;

/// File extension of a report.
const EXTENSION: &str = "ncu-rep";

/// One kernel, one workload, and the metrics.
pub(super) struct ProfileRequest {
    pub(super) project: Box<Project>,
    kernel: Kernel,
    workload: Workload,
    pub(super) parameters: BTreeMap<String, i64>,
    pub(super) set: MetricSet,
}

impl ProfileRequest {
    pub(super) fn from_arguments(arguments: &args::Profile) -> Result<Self, Outcome> {
        let as_json = arguments.json;
        let refuse = |error: &dyn Display| report::request(&error, as_json);
        let device = LocalDevice::parse(&arguments.device).map_err(|error| refuse(&error))?;
        if let LocalDevice::Virtual(_) = device {
            let message = format!(
                "{device} has no hardware counters: `lightbench run` and `lightbench launch --counters` count on a virtual \
                 device, without Nsight Compute"
            );
            return Err(refuse(&message));
        }
        let set = set(&arguments.set).map_err(|error| refuse(&error))?;
        if let Some(file) = &arguments.report {
            writable(file).map_err(|message| refuse(&message))?;
        }
        let lacks = "no inputs; `lightbench launch` takes some";
        let (project, of_file) = target::project(&arguments.target, lacks, as_json)?;
        let kernel = target::kernel(&project, arguments.kernel.clone().or(of_file))
            .map_err(|message| refuse(&message))?;
        let workload = target::workload(&project, arguments.workload.as_deref())
            .map_err(|message| refuse(&message))?;
        let parameters: BTreeMap<String, i64> = arguments.parameters.iter().cloned().collect();
        if let Some(name) = unknown_parameter(&[&kernel], &parameters) {
            return Err(refuse(&format!("`{}` has no parameter `{name}`", kernel.name)));
        }
        Ok(Self { project, kernel, workload, parameters, set })
    }

    pub(super) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    pub(super) fn workload(&self) -> &Workload {
        &self.workload
    }
}

/// Whether the report file can be written, as far as that can be checked in advance.
fn writable(file: &Path) -> Result<(), String> {
    let shown = file.display();
    if file.extension().is_none_or(|extension| extension != EXTENSION) {
        return Err(format!(
            "the file name of an Nsight Compute report must end in .{EXTENSION}; found {shown}"
        ));
    }
    if file.exists() {
        return Err(format!("{shown} exists and is not overwritten"));
    }
    match file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => Err(format!("there is no folder {}", folder.display())),
        None => Ok(()),
    }
}
