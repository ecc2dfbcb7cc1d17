//! Tasks that may take long and run outside the window's thread: files, the history, device detection, dialogs.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::access;
use lightbench_core::audit::Matrix;
use lightbench_core::coalescing_queue::QueuedEvent;
use lightbench_core::compile::facts::Facts;
use lightbench_core::compile::sass::SassFunction;
use lightbench_core::device::{DeviceName, DeviceSheet};
use lightbench_core::engine::{
    Engine, Event, Request, RequestId, RequestRefused, SearchThread, SearchThreadEvent,
};
use lightbench_core::evaluate::Run;
use lightbench_core::figure::Figure;
use lightbench_core::history::comparison_runs::WorkloadComparison;
use lightbench_core::history::label::Label;
use lightbench_core::history::record::Origin;
use lightbench_core::history::{RunNumber, StoredRun};
use lightbench_core::nsight::Profiler;
use lightbench_core::project::{Kernel, Problem, Project, ProjectError};
use lightbench_core::search::{Header, SearchState};
use lightbench_core::speed_of_light::calibration::Calibration;
use lightbench_core::suggest::knowledge::Knowledge;
use lightbench_core::toolchain::doctor::Report;
use lightbench_core::verify::device_session::timelines::LaunchTimeline;

use super::audit::AuditRequest;
use super::broken_project::BrokenTexts;
use super::last_session::LastSession;
use super::lesson::{LessonProgress, LoadedLesson};
use super::new_project::{CreatedProject, ProjectPlan};
use super::on_demand::{TimelineRequest, TimelineSelection, TraceRequest, WarpSelection};
use super::path_browser::{FolderListing, RefusedPath};
use super::recent_history::RecentHistory;
use super::run_details::ReadRun;
use super::search::{LoadedSearch, SearchControl, SearchRequest};
use super::settings::Settings;
use crate::theme::ThemeName;

/// The content of a folder without a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderContent {
    Empty,
    Files,
}

/// The comparison of a new run with earlier ones, by workload.
#[derive(Clone, Debug, Default)]
pub struct RunComparisons {
    pub times: BTreeMap<String, WorkloadComparison>,
    /// The verdict sentences with these comparisons.
    pub lines: BTreeMap<String, String>,
}

/// A task for the background worker.
#[derive(Clone, Debug)]
pub enum BackgroundTask {
    /// Detect devices and the compiler.
    DetectMachine,
    /// Fetch the compiler, then detect the machine again.
    FetchCompiler,
    /// Read a project, the newest runs of its history and its journal entries, and watch its files.
    Open(PathBuf),
    /// Create a project.
    CreateProject(ProjectPlan),
    /// Check unsaved texts of a project that cannot be read.
    CheckTexts(PathBuf, BTreeMap<PathBuf, String>),
    /// Show the dialog that selects the source of a new project.
    ShowSourceDialog,
    /// Read the runs before this one.
    ReadHistory(PathBuf, RunNumber),
    /// Read the newest runs of these projects, for their pictures.
    ReadRecent(Vec<PathBuf>),
    /// Read the project again.
    ReloadProject(PathBuf),
    /// Write a text to a file.
    Save {
        folder: PathBuf,
        /// Relative to the project's folder.
        file: PathBuf,
        text: String,
    },
    /// Write a new file; an existing file is unchanged.
    Create {
        folder: PathBuf,
        /// Relative to the project's folder.
        file: PathBuf,
        text: String,
    },
    Record(Box<Recording>),
    /// Set the label of a run; `None` removes it.
    Label(PathBuf, RunNumber, Option<Label>),
    /// Read one run with its texts.
    ReadRun(PathBuf, RunNumber),
    /// Disassemble machine code.
    Disassemble(Arc<Facts>),
    /// Disassemble the machine code of a recorded run; it is compiled again unless it is cached.
    DisassembleRun {
        project: Arc<Project>,
        run: Arc<StoredRun>,
        workload: String,
    },
    /// Store an unsaved text in the journal.
    SaveJournal(PathBuf, PathBuf, String),
    /// Delete a journal entry.
    DeleteJournal(PathBuf, PathBuf),
    SaveSettings(Box<Settings>),
    SaveLayouts(String),
    SaveSession(LastSession),
    ShowFolderDialog,
    /// List the subfolders of a folder, as typed.
    ListFolders(String),
    /// Open the project at a typed path.
    OpenPath(String),
    /// Save bytes to a file that the user selects.
    Export {
        /// The proposed file name.
        name: String,
        bytes: Vec<u8>,
    },
    /// Save a figure as a picture to a file that the user selects.
    ExportPicture {
        /// The proposed file name.
        name: String,
        figure: Box<Figure>,
        theme: ThemeName,
    },
    /// Run the doctor.
    RunDoctor,
    /// Store the progress in the lesson of a folder.
    SaveProgress(PathBuf, LessonProgress),
    /// Record the accesses of a warp.
    Trace(Box<TraceRequest>),
    /// Model the launches of a kernel.
    Timeline(Box<TimelineRequest>),
    /// Audit the checker on a project.
    AuditChecker(Box<AuditRequest>),
    /// Start or resume a search.
    Search(Box<SearchRequest>),
    /// List the search journals of a project.
    ListSearches(PathBuf),
    ReadSearch(PathBuf, String),
    /// Record the rejection of a variant in the journal of an ended search.
    RejectVariant {
        folder: PathBuf,
        search: String,
        variant: usize,
        /// The user's reason.
        why: String,
    },
    /// Store what a search learnt about techniques.
    SaveKnowledge(Box<Knowledge>),
}

/// A run to append to the history, with the project and kernel as evaluated.
#[derive(Clone, Debug)]
pub struct Recording {
    pub project: Arc<Project>,
    pub kernel: Arc<Kernel>,
    pub run: Arc<Run>,
    pub device: DeviceChoice,
    pub compiler: String,
    /// The only workload that was evaluated, if it was restricted to one.
    pub workload: Option<String>,
    /// The origin of the candidate.
    pub origin: Origin,
    /// The candidate that this one was derived from.
    pub parent: Option<String>,
}

/// A device that the user can select.
#[derive(Clone, Debug)]
pub struct DeviceChoice {
    /// The name on the command line.
    pub name: DeviceName,
    /// State of the audit.
    pub sheet: &'static DeviceSheet,
    /// The name shown to the user.
    pub title: String,
    /// The calibration of this device, if there is one.
    pub calibration: Option<Arc<Calibration>>,
    /// Sentences about properties of the device and contradictions to its description.
    pub remarks: Vec<String>,
}

/// The result of a background task, or an event that the background worker noticed.
#[derive(Debug)]
pub enum TaskResult {
    /// The newest runs of a recent project.
    Recent(PathBuf, RecentHistory),
    /// The detected machine, or why detection failed.
    Machine(Result<DetectedMachine, String>),
    Project(PathBuf, Box<Result<Project, ProjectError>>),
    Lesson(PathBuf, Box<LoadedLesson>),
    /// The accesses of a warp, or why they could not be recorded.
    AccessesTraced(PathBuf, WarpSelection, Result<access::Recording, String>),
    /// The timelines of a kernel's launches, or why they could not be modelled.
    TimelineModelled(PathBuf, TimelineSelection, Result<Vec<LaunchTimeline>, String>),
    /// The catch matrix of the checker, or why the audit failed.
    CheckerAudited(PathBuf, Result<Matrix, String>),
    /// Runs of a project's history, the newest first.
    History(PathBuf, Vec<StoredRun>, HistoryPart),
    Changed(PathBuf),
    /// A text was written, or could not be written for this reason.
    Saved(PathBuf, String, Result<(), String>),
    /// A run was appended; for each measured workload one sentence that compares it with earlier runs.
    Recorded(PathBuf, Box<StoredRun>, RunComparisons),
    Labelled(PathBuf, RunNumber, Option<Label>),
    /// A folder that is not open and whose project cannot be read.
    Broken(Box<BrokenTexts>),
    /// The problems of unsaved texts.
    TextsChecked(PathBuf, Vec<Problem>),
    /// A project was created, or the reason why not.
    ProjectCreated(Result<CreatedProject, String>),
    /// The source of a new project, selected in a dialog.
    SourceFile(PathBuf),
    /// An opened folder has no project; whether it is empty.
    NoProject(PathBuf, FolderContent),
    /// A stored run with its texts.
    Run(PathBuf, ReadRun),
    /// The machine code of a run as text, or why it is unavailable.
    RunCode(PathBuf, RunNumber, Result<String, String>),
    /// Disassemble machine code.
    Sass(Arc<Facts>, Result<Vec<SassFunction>, String>),
    /// A text that was unsaved when the program ended.
    Journal(PathBuf, PathBuf, String),
    /// The desktop offers no file dialog.
    NoDialog,
    /// Subfolders of a typed folder.
    Folders(FolderListing),
    PathRefused(RefusedPath),
    /// The folder that the user selected.
    Folder(PathBuf),
    DoctorReport(Box<Report>),
    /// A search was started, or could not start for this reason.
    SearchStarted(PathBuf, Result<StartedSearch, String>),
    /// Search journals of a project, the newest first.
    SearchesListed(PathBuf, Vec<Header>),
    Search(PathBuf, Result<LoadedSearch, String>),
    /// A notice for the user.
    Notice(super::notices::NoticeLevel, String),
}

impl TaskResult {
    /// The project whose state the result changes: it is dropped where that project is no longer open.
    pub(super) fn project(&self) -> Option<&Path> {
        match self {
            Self::AccessesTraced(folder, ..)
            | Self::TimelineModelled(folder, ..)
            | Self::CheckerAudited(folder, _)
            | Self::Changed(folder)
            | Self::Recorded(folder, ..)
            | Self::Labelled(folder, ..)
            | Self::Run(folder, ..)
            | Self::TextsChecked(folder, _)
            | Self::RunCode(folder, ..)
            | Self::Journal(folder, ..)
            | Self::SearchesListed(folder, _)
            | Self::Search(folder, _) => Some(folder),
            Self::Machine(_)
            | Self::Recent(..)
            | Self::Project(..)
            | Self::Broken(_)
            | Self::Lesson(..)
            | Self::History(..)
            | Self::Saved(..)
            | Self::Sass(..)
            | Self::NoDialog
            | Self::ProjectCreated(_)
            | Self::SourceFile(_)
            | Self::NoProject(..)
            | Self::Folders(_)
            | Self::PathRefused(_)
            | Self::Folder(_)
            | Self::DoctorReport(_)
            | Self::SearchStarted(..)
            | Self::Notice(..) => None,
        }
    }
}

/// The state that a result reports, if a newer report makes it superfluous.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportedState {
    /// Files of this project have changed. The window reads the project again, so that the last report suffices.
    FilesChanged(PathBuf),
    /// The text of a notice.
    Notice(String),
}

impl QueuedEvent for TaskResult {
    type Key = ReportedState;

    fn coalescing_key(&self) -> Option<ReportedState> {
        match self {
            Self::Changed(folder) => Some(ReportedState::FilesChanged(folder.clone())),
            Self::Notice(_, text) => Some(ReportedState::Notice(text.clone())),
            Self::Machine(_)
            | Self::Recent(..)
            | Self::Project(..)
            | Self::Broken(_)
            | Self::Lesson(..)
            | Self::AccessesTraced(..)
            | Self::TimelineModelled(..)
            | Self::CheckerAudited(..)
            | Self::History(..)
            | Self::Saved(..)
            | Self::Recorded(..)
            | Self::Labelled(..)
            | Self::Run(..)
            | Self::TextsChecked(..)
            | Self::RunCode(..)
            | Self::Sass(..)
            | Self::Journal(..)
            | Self::NoDialog
            | Self::ProjectCreated(_)
            | Self::SourceFile(_)
            | Self::NoProject(..)
            | Self::Folders(_)
            | Self::PathRefused(_)
            | Self::Folder(_)
            | Self::DoctorReport(_)
            | Self::SearchStarted(..)
            | Self::SearchesListed(..)
            | Self::Search(..) => None,
        }
    }
}

#[derive(Debug)]
pub struct StartedSearch {
    /// The story so far; `None` for a new search.
    pub story: Option<Box<SearchState>>,
    pub searcher: Box<dyn Searcher>,
}

/// Whether more runs follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryPart {
    /// Older runs than this one exist. They are read on request, so that a long history delays neither other tasks nor
    /// the window.
    More(RunNumber),
    /// The history is complete.
    Last,
}

pub struct DetectedMachine {
    pub evaluator: Box<dyn Evaluator>,
    /// Devices, the best first.
    pub devices: Vec<DeviceChoice>,
    pub compiler: String,
    /// Why no GPU is among the devices.
    pub without_gpu: Option<String>,
    /// The hardware profiler, or why it is unavailable.
    pub profiler: Result<Profiler, String>,
}

impl fmt::Debug for DetectedMachine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Found").field("devices", &self.devices).finish_non_exhaustive()
    }
}

/// Runs tasks on another thread. No method blocks.
pub trait BackgroundWorker {
    /// Submits a task.
    fn submit(&self, task: BackgroundTask);
    /// The oldest result that was not returned yet.
    fn next_result(&self) -> Option<TaskResult>;
}

/// Evaluates on other threads. No method blocks.
pub trait Evaluator: Send {
    /// Submits a request and returns its number.
    ///
    /// # Errors
    /// The request was not accepted and produces no events.
    fn ask(&self, request: Request) -> Result<RequestId, RequestRefused>;
    /// The oldest event that was not returned yet.
    fn next_event(&self) -> Option<Event>;
}

impl Evaluator for Arc<Engine> {
    fn ask(&self, request: Request) -> Result<RequestId, RequestRefused> {
        Engine::ask(self, request)
    }

    fn next_event(&self) -> Option<Event> {
        Engine::next_event(self, Duration::ZERO)
    }
}

/// A running search; dropping it stops the search. No method blocks.
pub trait Searcher: Send + fmt::Debug {
    /// The oldest event that was not returned yet.
    fn next_event(&self) -> Option<SearchThreadEvent>;
    /// Pauses, resumes, stops or paces the search.
    fn control(&self, hold: SearchControl);
    /// Rejects a variant for this reason; an event follows once the journal holds the rejection.
    fn reject(&self, variant: usize, why: String);
}

impl Searcher for SearchThread {
    fn next_event(&self) -> Option<SearchThreadEvent> {
        Self::next_event(self)
    }

    fn control(&self, hold: SearchControl) {
        let control = self.control();
        match hold {
            SearchControl::Pause => control.pause(),
            SearchControl::GoOn => control.resume(),
            SearchControl::Stop => control.stop(),
            SearchControl::Pace(pace) => control.set_pace(pace),
        }
    }

    fn reject(&self, variant: usize, why: String) {
        self.control().turn_down(variant, why);
    }
}
