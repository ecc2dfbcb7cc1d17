//! Starts Nsight Compute around one run of a kernel, and reads its results.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::owned_folder::OwnedFolder;

use super::command::{Task, arguments, source_page};
use super::launch_request::{ProfiledLaunchRequest, done};
use super::metric::{Metric, MetricSet};
use super::profiler_message::{ProfilerMessage, profiler_message};
use super::quantity::Quantity;
use super::stalls::{self, Stalls, StallsError};
use super::table::{self, Row, TableError};
use crate::toolchain::ProgramError;
use crate::toolchain::program::{self, Limits};
use crate::worker::command::WorkerCommand;
use crate::worker::frame::FrameError;

/// The prefix of the names of temporary folders.
const SCRATCH_PREFIX: &str = "lightbench-profile-";

/// Every metric set takes a few passes over each launch.
const MEASURE_LIMIT: Duration = Duration::from_mins(10);

/// Everything takes some forty passes.
const REPORT_LIMIT: Duration = Duration::from_mins(30);

/// A report is read without the kernel.
const READ_LIMIT: Duration = Duration::from_mins(2);

/// The number of lines of other output that an error includes.
const TAIL_LINES: usize = 12;

/// Nsight Compute, and the process to profile.
#[derive(Clone, Debug)]
pub struct Profiler {
    /// The path of the profiler.
    pub ncu: PathBuf,
    /// The command that executes a launch request; the request file is appended as the last argument.
    pub command: WorkerCommand,
    /// The folders of `PATH`: the profiler may be a script.
    pub path: Vec<PathBuf>,
}

/// The measured metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The launches, in their order.
    pub launches: Vec<ProfiledLaunch>,
    /// The number of launches of the run; launches beyond [`super::MOST_LAUNCHES`] are not profiled.
    pub in_all: u64,
    /// Metrics that the profiler does not have for this GPU.
    pub unknown: Vec<String>,
}

/// One launch.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfiledLaunch {
    /// The kernel, by its readable name.
    pub kernel: String,
    /// Blocks, as the profiler writes it.
    pub grid: String,
    /// Threads of a block, as the profiler writes it.
    pub block: String,
    /// One for each metric of the set, in its order.
    pub measured: Vec<Measured>,
}

/// One number.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The metric.
    pub metric: &'static Metric,
    /// The value; `None` if the profiler could not measure it.
    pub quantity: Option<Quantity>,
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The profiler's message.
    #[error(transparent)]
    Complaint(#[from] ProfilerMessage),
    /// The profiler wrote something else than a table.
    #[error("{error}{}", after(status, tail))]
    Table {
        /// The error.
        error: TableError,
        /// The exit status of the profiler.
        status: ExitStatus,
        /// The last lines of output of the profiler and the profiled process.
        tail: Vec<String>,
    },
    /// The metrics are from a launch that did not finish.
    #[error(
        "the launch did not finish under Nsight Compute, so its counters are discarded{}",
        after(status, tail)
    )]
    Unfinished {
        /// The exit status of the profiler.
        status: ExitStatus,
        /// The last lines of output of the profiler and the profiled process.
        tail: Vec<String>,
    },
    /// The profiler could not be started, or was stopped.
    #[error("Nsight Compute: {0}")]
    Program(#[from] ProgramError),
    /// The file for the profiled process.
    #[error("the launch request cannot be written: {0}")]
    Order(#[from] FrameError),
    /// The file exists already.
    #[error("{} exists and is not overwritten", .0.display())]
    Exists(PathBuf),
    /// The profiler wrote no report.
    #[error("Nsight Compute wrote no report{}", after(status, tail))]
    NoReport {
        /// The exit status of the profiler.
        status: ExitStatus,
        /// The last lines of output of the profiler and the profiled process.
        tail: Vec<String>,
    },
    /// The report has no source lines.
    #[error("{error}{}", after(status, tail))]
    Lines {
        /// The error.
        error: StallsError,
        /// The exit status of the profiler.
        status: ExitStatus,
        /// The last lines of output.
        tail: Vec<String>,
    },
    /// The file system.
    #[error("cannot write {}: {source}", path.display())]
    Storage {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

fn after(status: &ExitStatus, tail: &[String]) -> String {
    let mut text = format!(" ({status})");
    for line in tail {
        text.push_str("\n    ");
        text.push_str(line);
    }
    text
}

/// Measures the metrics of a set with the profiler. If some metrics are unknown for this GPU, it measures the others.
///
/// # Errors
/// The profiler lacks permission or fails.
pub fn profile(
    profiler: &Profiler,
    order: &ProfiledLaunchRequest,
    set: &MetricSet,
    cancellation: &Cancellation,
) -> Result<Profile, ProfileError> {
    let mut metrics = set.metrics.clone();
    let mut unknown = Vec::new();
    let rows = match measured(profiler, order, &metrics, cancellation) {
        Err(ProfileError::Complaint(ProfilerMessage::UnknownMetrics(names)))
            if names.len() < metrics.len() =>
        {
            metrics.retain(|metric| !names.contains(&metric.name));
            unknown = names;
            measured(profiler, order, &metrics, cancellation)?
        }
        other => other?,
    };
    let launches = rows.iter().map(|row| launch(row, &metrics)).collect();
    Ok(Profile { launches, in_all: order.launches(), unknown })
}

fn launch(row: &Row, metrics: &[&'static Metric]) -> ProfiledLaunch {
    let measured = metrics.iter().map(|metric| {
        let cell = row.cells.get(&metric.name);
        Measured { metric, quantity: cell.map(|cell| Quantity::from_cell(cell, metric.unit)) }
    });
    ProfiledLaunch {
        kernel: row.kernel.clone(),
        grid: row.grid.clone(),
        block: row.block.clone(),
        measured: measured.collect(),
    }
}

fn measured(
    profiler: &Profiler,
    order: &ProfiledLaunchRequest,
    metrics: &[&Metric],
    cancellation: &Cancellation,
) -> Result<Vec<Row>, ProfileError> {
    let scratch = Scratch::new(order)?;
    let task = Task::Measure(metrics);
    let said = scratch.run(profiler, order, task, (MEASURE_LIMIT, cancellation))?;
    match table::read(&said.log) {
        Ok(rows) if done(&scratch.order()).is_file() => Ok(rows),
        Ok(_) => Err(ProfileError::Unfinished { status: said.status, tail: said.tail.into() }),
        Err(error) => Err(match profiler_message(&said.all(), metrics) {
            Some(complaint) => complaint.into(),
            None => ProfileError::Table { error, status: said.status, tail: said.tail.into() },
        }),
    }
}

/// Has the profiler write everything that it can measure into a new file, which `ncu-ui` opens.
///
/// # Errors
/// The file exists or cannot be written, or the profiler may not or cannot.
pub fn write_report(
    profiler: &Profiler,
    order: &ProfiledLaunchRequest,
    file: &Path,
    cancellation: &Cancellation,
) -> Result<(), ProfileError> {
    if file.exists() {
        return Err(ProfileError::Exists(file.to_owned()));
    }
    let scratch = Scratch::new(order)?;
    let limits = (REPORT_LIMIT, cancellation);
    let report = scratch.report(profiler, order, |file| Task::Report(file), limits)?;
    keep(&report, file)
}

/// Has the profiler look where warps wait, line by line.
///
/// # Errors
/// The profiler may not, or cannot, or saw nothing.
pub fn sampled(
    profiler: &Profiler,
    order: &ProfiledLaunchRequest,
    cancellation: &Cancellation,
) -> Result<Stalls, ProfileError> {
    let scratch = Scratch::new(order)?;
    let limits = (MEASURE_LIMIT, cancellation);
    let report = scratch.report(profiler, order, |file| Task::Sample(file), limits)?;
    let mut page = String::new();
    let (status, tail) =
        scratch.start(profiler, source_page(&report), (READ_LIMIT, cancellation), &mut |line| {
            page.push_str(line);
            page.push('\n');
        })?;
    // Rows of the table are left out.
    let words = tail.into_iter().filter(|line| !line.starts_with('"'));
    stalls::read(&page).map_err(|error| ProfileError::Lines {
        error,
        status,
        tail: words.collect(),
    })
}

/// Copies a file to a new path atomically.
fn keep(from: &Path, to: &Path) -> Result<(), ProfileError> {
    let failed = |source: io::Error| match source.kind() == io::ErrorKind::AlreadyExists {
        true => ProfileError::Exists(to.to_owned()),
        false => ProfileError::Storage { path: to.to_owned(), source },
    };
    let mut source = File::open(from).map_err(failed)?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
    let mut beside = beside.map_err(failed)?;
    io::copy(&mut source, &mut beside).map_err(failed)?;
    beside.persist_noclobber(to).map(drop).map_err(|error| failed(error.error))
}

/// A temporary folder for one start of the profiler: the launch request, the log, and the profiler's temporary files.
struct Scratch {
    folder: OwnedFolder,
}

/// The exit status and the output of the profiler.
struct ProfilerOutput {
    status: ExitStatus,
    /// The log of the profiler.
    log: String,
    /// The last lines of other output of the profiler and the profiled process.
    tail: VecDeque<String>,
}

impl ProfilerOutput {
    /// The log, followed by the other output.
    fn all(&self) -> String {
        let tail: Vec<&str> = self.tail.iter().map(String::as_str).collect();
        format!("{}\n{}", self.log, tail.join("\n"))
    }
}

impl Scratch {
    fn new(order: &ProfiledLaunchRequest) -> Result<Self, ProfileError> {
        let folder = OwnedFolder::within(&std::env::temp_dir(), SCRATCH_PREFIX);
        let folder = folder
            .map_err(|source| ProfileError::Storage { path: std::env::temp_dir(), source })?;
        let scratch = Self { folder };
        order.write(&scratch.order())?;
        Ok(scratch)
    }

    fn order(&self) -> PathBuf {
        self.folder.path().join("order")
    }

    /// Runs the profiler in its own process group, which is killed at the time limit.
    fn run(
        &self,
        profiler: &Profiler,
        order: &ProfiledLaunchRequest,
        task: Task<'_>,
        limits: (Duration, &Cancellation),
    ) -> Result<ProfilerOutput, ProfileError> {
        let log = self.folder.path().join("log");
        let mut profiled = profiler.command.clone();
        profiled.arguments.push(self.order().into());
        let arguments = arguments(task, &order.symbols(), &log, &profiled);
        let (status, tail) = self.start(profiler, arguments, limits, &mut |_| {})?;
        // A profiler that wrote nothing has no such file.
        let log = fs::read(&log).unwrap_or_default();
        Ok(ProfilerOutput { status, log: String::from_utf8_lossy(&log).into_owned(), tail })
    }

    /// Makes the profiler write a report of a launch, which must finish.
    fn report(
        &self,
        profiler: &Profiler,
        order: &ProfiledLaunchRequest,
        task: impl FnOnce(&Path) -> Task<'_>,
        limits: (Duration, &Cancellation),
    ) -> Result<PathBuf, ProfileError> {
        let report = self.folder.path().join("report.ncu-rep");
        let said = self.run(profiler, order, task(&report), limits)?;
        if !report.is_file() {
            return Err(match profiler_message(&said.all(), &[]) {
                Some(complaint) => complaint.into(),
                None => ProfileError::NoReport { status: said.status, tail: said.tail.into() },
            });
        }
        if !done(&self.order()).is_file() {
            return Err(ProfileError::Unfinished { status: said.status, tail: said.tail.into() });
        }
        Ok(report)
    }

    /// Starts the profiler and waits for its end; `hear` receives each line of output.
    fn start(
        &self,
        profiler: &Profiler,
        arguments: Vec<OsString>,
        (limit, cancellation): (Duration, &Cancellation),
        hear: &mut dyn FnMut(&str),
    ) -> Result<(ExitStatus, VecDeque<String>), ProfileError> {
        let mut command = self.command(profiler);
        command.args(arguments);
        let mut tail = VecDeque::new();
        let cancelled = || cancellation.is_cancelled();
        let limits = Limits { begin: Instant::now(), limit, cancelled: &cancelled };
        let status = program::run(&mut command, self.folder.path(), &limits, &mut |line| {
            if tail.len() == TAIL_LINES {
                tail.pop_front();
            }
            tail.push_back(line.to_owned());
            hear(line);
        })?;
        Ok((status, tail))
    }

    /// The command of the profiler, with an environment of only a temporary folder and `PATH`.
    fn command(&self, profiler: &Profiler) -> Command {
        let mut command = Command::new(&profiler.ncu);
        let variables = &profiler.command.environment;
        command
            .env_clear()
            .env("LANG", "C")
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        if let Ok(path) = std::env::join_paths(&profiler.path) {
            command.env("PATH", path);
        }
        for name in ["HOME", "TMPDIR", "TMP", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            command.env(name, self.folder.path());
        }
        command
    }
}
