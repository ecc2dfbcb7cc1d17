//! Answers the calls of an agent: at once, or with a run.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::select;
use lightbench_core::cancellation::Cancellation;
use lightbench_core::display_text::visible;
use lightbench_core::history::record::Origin;
use lightbench_core::project::{Kernel, Project, Purpose};
use lightbench_core::report::document::ErrorReport;
use lightbench_core::report::document::error::{ErrorDetails, ErrorKind};
use lightbench_mcp::{Answer, Call, ServerThread, State};
use serde_json::{Map, Value, json};

use super::arguments::{self, parsed};
use super::budget::Budget;
use super::candidates::{Candidates, Refused};
use super::reading::{self, Part};
use super::run_thread::{Ended, Job, Listing, RunThread, Task, Times};
use super::runs::{LONGEST_WAIT, RunId, Runs};
use crate::args;
use crate::commands::accept::stored::{StoredCandidate, keep};
use crate::commands::accept::{self, Acceptance};
use crate::commands::{evaluation_setup, explain, suggest};
use crate::outcome::{Outcome, Status};
use crate::report;
use crate::session::Session;
use crate::workbench::settings::{AcceptPermission, AgentSettings};

/// Interval at which Ctrl-C is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Runs that `history` lists if the agent names no number.
const LISTED_RUNS: u32 = 20;

/// Maximum characters of a client's label.
const MAX_LABEL: usize = 60;

const UNFIT: &str = "the arguments do not fit the schema of the tool";
const UNKNOWN: &str = "call `project` for the names of kernels and candidates";
const REPAIR: &str = "correct the text and propose it again";
const NO_RUN: &str = "no recorded run of this kernel; call `verify` or `time` first";
const NOT_A_RUN: &str = "this is not the name of a run: expected run- and a number";
const ASK_USER: &str =
    "the user decides: ask them to run `lightbench` with these arguments in a terminal";
const NEVER: &str =
    "the user's settings do not let agents add kernels: `agents: (accept: never)` in settings.ron";
const CHECK_NEXT: &str = "call `check` and then `verify` with this name";

/// The server of one project.
pub(super) struct AgentServer<'a> {
    session: &'a Session,
    root: PathBuf,
    settings: AgentSettings,
    device: Option<String>,
    budget: Budget,
    candidates: Candidates,
    runs: Runs,
    thread: RunThread,
}

/// What follows a call.
enum Next {
    Answer(Answer),
    /// The answer is the result of a run.
    Wait {
        run: RunId,
        at_most: Duration,
        page: Option<u32>,
    },
}

impl<'a> AgentServer<'a> {
    pub(super) fn new(
        session: &'a Session,
        root: PathBuf,
        device: Option<String>,
        settings: AgentSettings,
    ) -> std::io::Result<Self> {
        let thread = RunThread::start(session, device.clone())?;
        let budget = Budget::new(settings, Instant::now());
        let (candidates, runs) = (Candidates::default(), Runs::default());
        Ok(Self { session, root, settings, device, budget, candidates, runs, thread })
    }

    /// Serves until the client closes the connection, or Ctrl-C.
    pub(super) fn serve(&mut self, protocol: &ServerThread) {
        while !self.session.cancellation.is_cancelled() {
            let now = Instant::now();
            self.runs.answer_due(now);
            let due = self.runs.next_due().map(|due| due.saturating_duration_since(now));
            let patience = due.unwrap_or(POLL_INTERVAL).min(POLL_INTERVAL);
            select! {
                recv(protocol.calls()) -> call => match call {
                    Ok(call) => self.handle(call),
                    Err(_closed) => break,
                },
                recv(self.thread.ended()) -> ended => {
                    if let Ok(ended) = ended {
                        self.ended(ended);
                    }
                },
                default(patience) => {}
            }
        }
        self.runs.cancel_all();
    }

    fn ended(&mut self, ended: Ended) {
        let Ended { run, outcome, elapsed } = ended;
        self.budget.used(elapsed);
        let state = match outcome.status {
            Status::Interrupted => State::Cancelled,
            Status::BadRequest => State::Refused,
            Status::Passed | Status::KernelFailed | Status::Environment => State::Finished,
        };
        self.runs.end(run, state, reading::document(&outcome));
    }

    fn handle(&mut self, call: Call) {
        let Call { tool, arguments, client, reply } = call;
        match self.next(tool, arguments, client).unwrap_or_else(Next::Answer) {
            Next::Answer(answer) => reply.send(answer),
            Next::Wait { run, at_most, page } => {
                self.runs.wait(run, Instant::now() + at_most, page, reply);
            }
        }
    }

    fn next(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
        client: Option<String>,
    ) -> Result<Next, Answer> {
        let label = label(client);
        match tool {
            "project" => self.project(&fit(arguments)?),
            "propose" => self.propose(fit(arguments)?),
            "explain" => explained(fit(arguments)?),
            "history" => self.history(fit(arguments)?),
            "counters" => self.recorded(fit(arguments)?, Part::Counters),
            "faults" => self.recorded(fit(arguments)?, Part::Faults),
            "speed_of_light" => self.recorded(fit(arguments)?, Part::SpeedOfLight),
            "diff" => self.difference(&fit(arguments)?),
            "suggest" => self.suggest(&fit(arguments)?),
            "check" => self.check(fit(arguments)?, label),
            "sass" => self.sass(fit(arguments)?, label),
            "verify" => self.evaluate(fit(arguments)?, Times::Skip, label),
            "time" => self.evaluate(fit(arguments)?, Times::Measure, label),
            "compare" => self.compare(fit(arguments)?, label),
            "accept" => self.accept(fit(arguments)?, label),
            "wait" => wait(&fit(arguments)?),
            "cancel" => self.cancel(&fit(arguments)?),
            _ => Err(Answer::refused("this tool is not implemented")),
        }
    }

    /// The project as it is now, with drawn workloads instead of its held-out ones and with the named candidates.
    fn load(&self, names: &[&str]) -> Result<Project, Answer> {
        let loaded = Project::load(&self.root);
        let mut project =
            loaded.map_err(|error| refused(&report::project_error(&error, &self.root, true)))?;
        for name in names {
            self.candidates.add_to(&mut project, name);
            if *name != "reference" {
                let found = project.kernel(name).map(drop);
                found.map_err(|error| request(error.to_string(), UNKNOWN))?;
            }
        }
        let seed = evaluation_setup::fresh_seed()
            .map_err(|error| refused(&report::environment(&error, true)))?;
        Ok(project.with_drawn_workloads(seed))
    }

    fn project(&self, asked: &arguments::OptionalKernel) -> Result<Next, Answer> {
        let names: Vec<&str> = asked.kernel.as_deref().into_iter().collect();
        let project = self.load(&names)?;
        let document = match names.first() {
            Some(name) => {
                let text = reading::text_of(&project, name);
                reading::source(name, text.map_err(|error| request(error, UNKNOWN))?)
            }
            None => reading::project(&project, &self.candidates, &self.budget),
        };
        Ok(finished(document, asked.page))
    }

    fn propose(&mut self, asked: arguments::Proposal) -> Result<Next, Answer> {
        let project = self.load(&[])?;
        match self.candidates.propose(&project, asked.source) {
            Ok(kernel) => {
                let Kernel { name, launch, language, .. } = &kernel;
                let document = json!({
                    "schema": "lightbench.candidate/1",
                    "kernel": name,
                    "title": launch.title,
                    "extension": language.extension(),
                });
                let answer = Answer { next: Some(CHECK_NEXT), ..Answer::finished(document) };
                Ok(Next::Answer(answer))
            }
            Err(Refused::TooLarge) => Err(Answer::refused("the text has more than 1 MiB")),
            Err(Refused::Problems(problems)) => {
                let message = "the text is no valid kernel of this project".to_owned();
                Err(error(ErrorDetails::from_problems(message, &problems), REPAIR))
            }
        }
    }

    fn history(&self, asked: arguments::Listed) -> Result<Next, Answer> {
        let limit = asked.limit.unwrap_or(LISTED_RUNS).clamp(1, 200) as usize;
        let outcome = reading::history(self.session, &self.root, asked.kernel, limit);
        finished_outcome(&outcome, asked.page)
    }

    fn recorded(&self, asked: arguments::RecordedRun, part: Part) -> Result<Next, Answer> {
        let outcome = reading::history(self.session, &self.root, Some(asked.kernel), 1);
        let document = reading::part(&outcome, part).ok_or(Answer::refused(NO_RUN))?;
        Ok(finished(document, asked.page))
    }

    fn difference(&self, asked: &arguments::TwoKernels) -> Result<Next, Answer> {
        let project = self.load(&[&asked.a, &asked.b])?;
        let document = reading::difference(&project, &asked.a, &asked.b);
        Ok(finished(document.map_err(|error| request(error, UNKNOWN))?, asked.page))
    }

    fn suggest(&self, asked: &arguments::OneKernel) -> Result<Next, Answer> {
        let project = self.load(&[&asked.kernel])?;
        let arguments = args::Suggest {
            project: self.root.clone(),
            kernel: None,
            rule: None,
            diff: true,
            print_prompt: false,
            model: None,
            technique: None,
            roles: lightbench_core::search::roles::Roles::default(),
            device: String::new(),
            write: None,
            place: 1,
            json: true,
        };
        let tried = suggest::rules_tried(&arguments, &project, Some(&asked.kernel));
        finished_outcome(&tried.unwrap_or_else(|outcome| outcome), asked.page)
    }

    fn check(&mut self, asked: arguments::OptionalKernel, label: String) -> Result<Next, Answer> {
        let names: Vec<&str> = asked.kernel.as_deref().into_iter().collect();
        let project = Box::new(self.load(&names)?);
        let task = Task::Check { project, kernel: asked.kernel, listing: Listing::None };
        self.start(task, None, asked.page, label)
    }

    fn sass(&mut self, asked: arguments::OneKernel, label: String) -> Result<Next, Answer> {
        let project = Box::new(self.load(&[&asked.kernel])?);
        let kernel = Some(asked.kernel);
        let task = Task::Check { project, kernel, listing: Listing::Sass };
        self.start(task, None, asked.page, label)
    }

    fn evaluate(
        &mut self,
        asked: arguments::OneKernel,
        times: Times,
        label: String,
    ) -> Result<Next, Answer> {
        let project = Box::new(self.load(&[&asked.kernel])?);
        let drawn = drawn(&project);
        let task = Task::Evaluate { project, kernel: asked.kernel, times };
        self.start(task, Some(drawn), asked.page, label)
    }

    fn compare(&mut self, asked: arguments::TwoKernels, label: String) -> Result<Next, Answer> {
        let project = Box::new(self.load(&[&asked.a, &asked.b])?);
        let drawn = drawn(&project);
        let task = Task::Compare { project, a: asked.a, b: asked.b };
        self.start(task, Some(drawn), asked.page, label)
    }

    fn accept(&mut self, asked: arguments::Acceptance, label: String) -> Result<Next, Answer> {
        let arguments::Acceptance { candidate, name } = asked;
        let source = self.candidates.source(&candidate).map(str::to_owned);
        let source = source.ok_or(Answer::refused(UNKNOWN))?;
        let project = Project::load(&self.root)
            .map_err(|error| refused(&report::project_error(&error, &self.root, true)))?;
        let kernel = accept::named(&project, &name, source.clone())
            .map_err(|message| request(message, "choose another name"))?;
        match self.settings.accept {
            AcceptPermission::Never => Err(Answer::refused(NEVER)),
            AcceptPermission::Ask => {
                self.ask_user(&StoredCandidate { agent: label, source }, &name)
            }
            AcceptPermission::Allow => {
                let origin = Origin::Agent { name: label.clone() };
                let device = self.device.clone();
                let acceptance = Box::new(Acceptance { project, kernel, device, origin });
                self.start(Task::Accept(acceptance), None, None, label)
            }
        }
    }

    /// Keeps the candidate for `lightbench accept` and names the command.
    fn ask_user(&self, candidate: &StoredCandidate, name: &str) -> Result<Next, Answer> {
        let no_state =
            "this machine has no folder for candidates; the user can name one with `--state DIR`";
        let state = self.session.state.as_deref().ok_or(Answer::refused(no_state))?;
        let kept = keep(state, candidate).map_err(|error| {
            let message = format!("the candidate cannot be kept: {error}");
            refused(&report::environment(&message, true))
        })?;
        let document = json!({
            "schema": "lightbench.accept/1",
            "written": null,
            "run": null,
            "arguments": ["accept", self.root, kept, "--name", name],
        });
        Ok(Next::Answer(Answer { next: Some(ASK_USER), ..Answer::finished(document) }))
    }

    /// Starts a run and waits for it as long as a client does.
    fn start(
        &mut self,
        task: Task,
        drawn: Option<Value>,
        page: Option<u32>,
        label: String,
    ) -> Result<Next, Answer> {
        self.budget.take(task.evaluations(), Instant::now()).map_err(Answer::refused)?;
        let cancellation = Cancellation::new();
        let run = self.runs.begin(cancellation.clone(), drawn);
        let job = Job { run, task, cancellation, origin: Origin::Agent { name: label } };
        if let Err(reason) = self.thread.queue(job) {
            self.runs.withdraw(run);
            return Err(Answer::refused(reason));
        }
        Ok(Next::Wait { run, at_most: LONGEST_WAIT, page })
    }

    fn cancel(&mut self, asked: &arguments::Cancel) -> Result<Next, Answer> {
        let run = RunId::parse(&asked.run).ok_or(Answer::refused(NOT_A_RUN))?;
        if self.runs.cancel(run) {
            // A cancelled run ends soon; its end is the answer.
            Ok(Next::Wait { run, at_most: LONGEST_WAIT, page: None })
        } else {
            Err(Answer::refused("there is no such run, or its result was dropped"))
        }
    }
}

fn wait(asked: &arguments::Wait) -> Result<Next, Answer> {
    let run = RunId::parse(&asked.run).ok_or(Answer::refused(NOT_A_RUN))?;
    let at_most = asked
        .seconds
        .map_or(LONGEST_WAIT, |seconds| Duration::from_secs(u64::from(seconds)).min(LONGEST_WAIT));
    Ok(Next::Wait { run, at_most, page: asked.page })
}

fn explained(asked: arguments::Explained) -> Result<Next, Answer> {
    let outcome = explain::run(&args::Explain { metric: asked.number, json: true });
    finished_outcome(&outcome, asked.page)
}

/// The name that a client declares, as the history shows it.
fn label(client: Option<String>) -> String {
    let name = client.filter(|name| !name.trim().is_empty());
    let shown = visible(name.as_deref().unwrap_or("unnamed")).into_owned();
    shown.chars().take(MAX_LABEL).collect()
}

/// The drawn workloads of a run, which the agent may read with its result.
fn drawn(project: &Project) -> Value {
    let drawn = project.workloads.iter().filter(|each| each.purpose == Purpose::HeldOut);
    drawn.map(|each| Value::Object(reading::axes(project, each))).collect()
}

fn fit<T: serde::de::DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Answer> {
    parsed(arguments).map_err(|message| request(message, UNFIT))
}

fn finished(document: Value, page: Option<u32>) -> Next {
    Next::Answer(Answer::finished(document).at_page(page))
}

fn finished_outcome(outcome: &Outcome, page: Option<u32>) -> Result<Next, Answer> {
    match outcome.status {
        Status::Passed | Status::KernelFailed => Ok(finished(reading::document(outcome), page)),
        Status::BadRequest | Status::Environment | Status::Interrupted => Err(refused(outcome)),
    }
}

fn request(message: String, next: &'static str) -> Answer {
    error(ErrorDetails::new(ErrorKind::Request, message), next)
}

fn error(details: ErrorDetails, next: &'static str) -> Answer {
    let document = serde_json::to_value(ErrorReport::new(details)).ok();
    Answer { document, ..Answer::refused(next) }
}

/// A command that failed before it had a result.
fn refused(outcome: &Outcome) -> Answer {
    let document = Some(reading::document(outcome));
    Answer { state: State::Refused, next: None, document, run: None, page: 1 }
}
