//! The thread that carries out runs, one after another: a device serves one evaluation at a time.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use lightbench_core::cancellation::Cancellation;
use lightbench_core::history::record::Origin;
use lightbench_core::project::Project;

use super::runs::RunId;
use crate::args;
use crate::commands::accept::{Acceptance, run_arguments};
use crate::commands::check::target::Target;
use crate::commands::{check, compare, run};
use crate::outcome::{Outcome, Status};
use crate::session::Session;

/// Runs that wait.
const MAX_WAITING: usize = 16;

/// Device sheet of compile facts where the device is a GPU.
const DEFAULT_SHEET: &str = "h200";

/// A run to carry out.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) run: RunId,
    pub(super) task: Task,
    pub(super) cancellation: Cancellation,
    /// Stands at the runs in the history.
    pub(super) origin: Origin,
}

/// What a run does. The project of all but an acceptance has drawn workloads instead of its held-out ones.
#[derive(Debug)]
pub(super) enum Task {
    /// Compiles a kernel, or all.
    Check { project: Box<Project>, kernel: Option<String>, listing: Listing },
    /// Verifies a kernel.
    Evaluate { project: Box<Project>, kernel: String, times: Times },
    /// Verifies two kernels and compares their times.
    Compare { project: Box<Project>, a: String, b: String },
    /// Adds a kernel to the project if it passes.
    Accept(Box<Acceptance>),
}

/// Whether machine code is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    None,
    Sass,
}

/// Whether a kernel is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    Skip,
    Measure,
}

/// A run that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) run: RunId,
    pub(super) outcome: Outcome,
    /// How long it used the device and the compiler.
    pub(super) elapsed: Duration,
}

/// The thread. Dropping it waits for the run in progress, which its owner cancels before.
#[derive(Debug)]
pub(super) struct RunThread {
    jobs: Option<Sender<Job>>,
    ended: Receiver<Ended>,
    thread: Option<JoinHandle<()>>,
}

impl RunThread {
    /// Starts the thread; `device` is the one that the user chose.
    pub(super) fn start(session: &Session, device: Option<String>) -> io::Result<Self> {
        let (jobs, inbox) = bounded::<Job>(MAX_WAITING);
        // Room for every job that can be on its way, so that the thread never waits for the reader.
        let (outbox, ended) = bounded(MAX_WAITING + 1);
        let session = session.with_cancellation(Cancellation::new());
        let thread = thread::Builder::new().name("agent-runs".to_owned()).spawn(move || {
            for job in inbox {
                if outbox.send(carried_out(&session, device.as_ref(), job)).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { jobs: Some(jobs), ended, thread: Some(thread) })
    }

    /// Queues a job.
    ///
    /// # Errors
    /// The queue is full.
    pub(super) fn queue(&self, job: Job) -> Result<(), &'static str> {
        let full = "too many runs wait; call `wait` for one of them first";
        let jobs = self.jobs.as_ref().ok_or(full)?;
        jobs.try_send(job).map_err(|_full| full)
    }

    /// The runs that have ended.
    pub(super) const fn ended(&self) -> &Receiver<Ended> {
        &self.ended
    }
}

impl Drop for RunThread {
    fn drop(&mut self) {
        self.jobs = None;
        // Room for what the thread still sends.
        while self.ended.try_recv().is_ok() {}
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn carried_out(session: &Session, device: Option<&String>, job: Job) -> Ended {
    let Job { run, task, cancellation, origin } = job;
    let started = Instant::now();
    if cancellation.is_cancelled() {
        let outcome = Outcome::failed(Status::Interrupted, "cancelled before it began");
        return Ended { run, outcome, elapsed: Duration::ZERO };
    }
    let session = session.with_cancellation(cancellation);
    let work = AssertUnwindSafe(|| task.carry_out(&session, device, origin));
    let outcome = catch_unwind(work).unwrap_or_else(|_panic| {
        Outcome::failed(Status::Environment, "a defect of Lightbench: the run panicked")
    });
    Ended { run, outcome, elapsed: started.elapsed() }
}

impl Task {
    fn carry_out(self, session: &Session, device: Option<&String>, origin: Origin) -> Outcome {
        let result = match self {
            Self::Check { project, kernel, listing } => {
                let arguments = check_arguments(project.root.clone(), device, listing);
                let target = Target::Project { project, kernel };
                Ok(check::checked(session, &arguments, &target))
            }
            Self::Evaluate { project, kernel, times } => {
                let whole = run_arguments(project.root.clone(), device.cloned(), true);
                let arguments = args::Run { no_times: times == Times::Skip, ..whole };
                run::evaluated(session, &arguments, &project, Some(&kernel), origin)
            }
            Self::Compare { project, a, b } => {
                let arguments = compare_arguments(project.root.clone(), device.cloned(), a, b);
                compare::compared_in(session, &arguments, &project)
            }
            Self::Accept(acceptance) => acceptance.run(session, true),
        };
        result.unwrap_or_else(|outcome| outcome)
    }

    /// How many verdicts it needs.
    pub(super) const fn evaluations(&self) -> u32 {
        match self {
            Self::Check { .. } => 0,
            Self::Evaluate { .. } | Self::Accept(_) => 1,
            Self::Compare { .. } => 2,
        }
    }
}

fn check_arguments(target: PathBuf, device: Option<&String>, listing: Listing) -> args::Check {
    let sheet = device.and_then(|device| device.strip_prefix("virtual:")).unwrap_or(DEFAULT_SHEET);
    args::Check {
        target,
        device: sheet.to_owned(),
        kernel: None,
        parameters: Vec::new(),
        workload: None,
        include_folders: Vec::new(),
        as_written: false,
        json: true,
        listings: args::Listings {
            sass: listing == Listing::Sass,
            ptx: false,
            show_prelude: false,
        },
    }
}

const fn compare_arguments(
    project: PathBuf,
    device: Option<String>,
    a: String,
    b: String,
) -> args::Compare {
    args::Compare {
        project,
        a,
        b,
        device,
        workload: None,
        seed: None,
        clock: None,
        mode: None,
        json: true,
    }
}
