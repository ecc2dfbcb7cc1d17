//! `lightbench accept`: adds an agent's candidate to a project, if it passes on all workloads.

mod attempts;
pub(super) mod stored;

use std::path::PathBuf;

use lightbench_core::display_text::visible;
use lightbench_core::history::definition_hash::definition_hash;
use lightbench_core::history::record::Origin;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::whole_file;
use serde_json::{Value, json};

use self::attempts::Attempts;
use super::check::target;
use super::kernel_name::may_be_called;
use super::run;
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;

/// What needs a state folder.
const NO_STATE: &str =
    "this machine has no folder for candidates and the number of attempts; `--state DIR` names one";

/// Evaluates the candidate and writes it.
pub fn run(session: &Session, arguments: &args::Accept) -> Outcome {
    accepted(session, arguments).unwrap_or_else(|outcome| outcome)
}

fn accepted(session: &Session, arguments: &args::Accept) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let (project, _) = target::project(&arguments.project, "no folder for kernels", as_json)?;
    let state = session.state.as_deref();
    let state = state.ok_or_else(|| report::environment(&NO_STATE, as_json))?;
    let stored = stored::read(state, &arguments.candidate)
        .map_err(|error| report::request(&error, as_json))?;
    let name = arguments.name.as_ref().unwrap_or(&arguments.candidate);
    let kernel = named(&project, name, stored.source)
        .map_err(|message| report::request(&message, as_json))?;
    let acceptance = Acceptance {
        project: *project,
        kernel,
        device: arguments.device.clone(),
        origin: Origin::Agent { name: stored.agent },
    };
    acceptance.run(session, as_json)
}

/// The candidate as a kernel of the project with a name of its own.
pub(super) fn named(project: &Project, name: &str, source: String) -> Result<Kernel, String> {
    may_be_called(project, name)?;
    project.draft(name, source).map_err(|problems| {
        let first = problems.first().map_or_else(String::new, ToString::to_string);
        format!("the candidate is no valid kernel of this project: {first}")
    })
}

/// A candidate that becomes a kernel of the project if it passes.
#[derive(Debug)]
pub(super) struct Acceptance {
    /// The project with its own held-out workloads.
    pub(super) project: Project,
    pub(super) kernel: Kernel,
    pub(super) device: Option<String>,
    pub(super) origin: Origin,
}

impl Acceptance {
    /// Evaluates the kernel on all workloads and writes its file.
    pub(super) fn run(self, session: &Session, as_json: bool) -> Result<Outcome, Outcome> {
        let Self { mut project, kernel, device, origin } = self;
        let state = session.state.as_deref();
        let state = state.ok_or_else(|| report::environment(&NO_STATE, as_json))?;
        let attempts = Attempts::in_state_folder(state, &definition_hash(&project));
        attempts.take(jiff::Timestamp::now()).map_err(|refused| match refused {
            attempts::AttemptError::TooMany => report::request(&refused, as_json),
            attempts::AttemptError::File { .. } => report::environment(&refused, as_json),
        })?;
        let path = project.root.join(&kernel.file);
        let (name, source) = (kernel.name.clone(), kernel.source.clone());
        project.kernels.push(kernel);
        let arguments = run_arguments(project.root.clone(), device, as_json);
        let evaluated = run::evaluated(session, &arguments, &project, Some(&name), origin)?;
        let written = match evaluated.status {
            Status::Passed => {
                whole_file::create(&path, source.as_bytes())
                    .map_err(|error| report::unwritten(&path, &error, as_json))?;
                Some(path)
            }
            Status::KernelFailed
            | Status::BadRequest
            | Status::Environment
            | Status::Interrupted => None,
        };
        Ok(reported(evaluated, written, as_json))
    }
}

fn reported(evaluated: Outcome, written: Option<PathBuf>, as_json: bool) -> Outcome {
    let shown = written.map(|path| visible(&path.display().to_string()).into_owned());
    let output = if as_json {
        let run: Value = serde_json::from_str(&evaluated.output).unwrap_or(Value::Null);
        document(&json!({ "schema": "lightbench.accept/1", "written": shown, "run": run }))
    } else {
        let end = shown
            .map_or_else(|| "nothing was written\n".to_owned(), |path| format!("wrote {path}\n"));
        evaluated.output + "\n" + &end
    };
    Outcome { output, ..evaluated }
}

/// A whole evaluation of one kernel.
pub(super) fn run_arguments(target: PathBuf, device: Option<String>, json: bool) -> args::Run {
    args::Run {
        target,
        kernel: None,
        all: false,
        device,
        workload: None,
        screen: false,
        parameters: Vec::new(),
        seed: None,
        no_times: false,
        no_history: false,
        json,
        measuring: args::Measuring { clock: None, mode: None, energy: false, lock_clocks: None },
    }
}
