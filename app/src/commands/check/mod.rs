//! `lightbench check`: compile facts of a project's kernels or of one file, without a GPU.

pub(super) mod failure;
mod json;
pub(super) mod kernel_file;
mod listing;
mod project;
pub(super) mod target;
pub(super) mod text;

use lightbench_core::compile::{Build, Compiler};
use lightbench_core::device::DeviceSheet;

use crate::args::Check;
use crate::commands::python_setup;
use crate::outcome::{Outcome, Status};
use crate::report;
use crate::session::Session;
use target::Target;

pub(super) use project::{sources, unknown_parameter};

/// Compiles and reports.
pub fn run(session: &Session, arguments: &Check) -> Outcome {
    if let Err(message) = super::new::check_folders(&arguments.include_folders) {
        return report::request(&message, arguments.json);
    }
    let target = match target::find_with(&arguments.target, &arguments.include_folders) {
        Ok(target) => target,
        Err(error) => return report::project_error(&error, &arguments.target, arguments.json),
    };
    checked(session, arguments, &target)
}

/// Compiles what a resolved path names, and reports.
pub(super) fn checked(session: &Session, arguments: &Check, target: &Target) -> Outcome {
    let sheet = match DeviceSheet::named(&arguments.device) {
        Ok(sheet) => sheet,
        Err(error) => return report::request(&error, arguments.json),
    };
    let mut compiler = match python_setup::compiler(session) {
        Ok(compiler) => compiler,
        Err(failure) => return failure.outcome(arguments.json),
    };
    let checker = Checker { session, arguments, sheet };
    let outcome = match target {
        Target::Project { project, kernel } => {
            project::check(&checker, &mut compiler, project, kernel.as_deref())
        }
        Target::File(kernel) => kernel_file::check(&checker, &mut compiler, kernel),
    };
    let notices: Vec<String> = compiler.take_notices().iter().map(ToString::to_string).collect();
    Outcome { errors: report::notices(&notices) + &outcome.errors, ..outcome }
}

/// The inputs that both kinds of target need.
struct Checker<'a> {
    session: &'a Session,
    arguments: &'a Check,
    sheet: &'static DeviceSheet,
}

impl Checker<'_> {
    fn build(&self) -> Build {
        if self.arguments.as_written { Build::AsWritten } else { Build::Optimised }
    }

    /// `NVIDIA H200 SXM 141 GB (sm_90) · NVRTC 13.5.37`
    fn line(&self, compiler: &Compiler) -> String {
        let Self { sheet, .. } = self;
        let build = match self.build() {
            Build::Optimised => "",
            Build::AsWritten => " · as written (-G)",
        };
        format!("{} ({}) · {}{build}", sheet.title, sheet.architecture(), compiler.name())
    }
}

/// The worst status, as the exit status.
fn worst(statuses: impl IntoIterator<Item = Status>) -> Status {
    statuses.into_iter().max().unwrap_or(Status::Passed)
}
