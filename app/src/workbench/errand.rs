//! What the window has done for it elsewhere, because it may take long: files, the history, finding devices, dialogs.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::access;
use lightbench_core::audit::Matrix;
use lightbench_core::compile::facts::Facts;
use lightbench_core::compile::sass::SassFunction;
use lightbench_core::device::{DeviceName, DeviceSheet};
use lightbench_core::engine::{Engine, Event, Heard, NotTaken, Request, RequestId, Searching};
use lightbench_core::evaluate::Run;
use lightbench_core::figure::Figure;
use lightbench_core::history::label::Label;
use lightbench_core::history::record::Origin;
use lightbench_core::history::{RunNumber, StoredRun};
use lightbench_core::nsight::Profiler;
use lightbench_core::project::{Kernel, Project, ProjectError};
use lightbench_core::search::{Header, Story};
use lightbench_core::speed_of_light::calibration::Calibration;
use lightbench_core::suggest::knowledge::Knowledge;
use lightbench_core::toolchain::doctor::Report;

use super::access::{Tracing, Wanted};
use super::browsing::{Listed, Refused};
use super::catches::Trial;
use super::lesson::{LessonRead, Progress};
use super::search::{Hold, ReadSearch, SearchOrder};
use super::settings::Settings;
use crate::theme::ThemeName;

/// Something to be done.
#[derive(Clone, Debug)]
pub enum Errand {
    /// Which devices and which compiler there are.
    FindMachine,
    /// Fetch the compiler, then look at the machine again.
    FetchCompiler,
    /// Read a project, then the newest runs of its history and what was not saved the last time; watch it from now on.
    Open(PathBuf),
    /// Read on in the history of a project: runs before this one.
    ReadHistory(PathBuf, RunNumber),
    /// Read it again.
    Reread(PathBuf),
    /// Write a text to a file below a folder.
    Save {
        /// The project's folder.
        folder: PathBuf,
        /// Below it.
        file: PathBuf,
        /// What to write.
        text: String,
    },
    /// Write a new file below a folder; one that is there stays as it is.
    Create {
        /// The project's folder.
        folder: PathBuf,
        /// Below it.
        file: PathBuf,
        /// What to write.
        text: String,
    },
    /// Append a run to the history.
    Record(Box<Recording>),
    /// What a person calls a run from now on; none takes a label away.
    Label(PathBuf, RunNumber, Option<Label>),
    /// One run of the history with its texts.
    ReadRun(PathBuf, RunNumber),
    /// Machine code as text.
    Disassemble(Arc<Facts>),
    /// The machine code of a run as text, compiled again where nobody remembers it.
    DisassembleRun {
        /// The project as it is now.
        project: Arc<Project>,
        /// The run.
        run: Arc<StoredRun>,
        /// The workload that it is compiled for.
        workload: String,
    },
    /// Something that would be lost if the program ended now.
    KeepJournal(PathBuf, PathBuf, String),
    /// Nothing would be lost any more.
    ForgetJournal(PathBuf, PathBuf),
    /// What a person prefers.
    KeepSettings(Box<Settings>),
    /// How panels are arranged.
    KeepLayouts(String),
    /// Ask for a folder.
    AskForFolder,
    /// The folders in a folder, as it was typed.
    ListFolders(String),
    /// Open the project at a path that was typed.
    OpenTyped(String),
    /// Write something that a person asked for where they say.
    Export {
        /// What the file is called at first.
        name: String,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// Write a figure as a picture where a person says.
    ExportPicture {
        /// What the file is called at first.
        name: String,
        /// The figure.
        figure: Box<Figure>,
        /// Its colours.
        theme: ThemeName,
    },
    /// Examine the machine.
    Examine,
    /// How far somebody came in the lesson of a folder.
    KeepProgress(PathBuf, Progress),
    /// Look at what a warp accesses.
    Trace(Box<Tracing>),
    /// Examine the checker on a project.
    Try(Box<Trial>),
    /// Start a search, or go on with one.
    Search(Box<SearchOrder>),
    /// Which searches of a project are on disk.
    ListSearches(PathBuf),
    /// Read the journal of a search.
    ReadSearch(PathBuf, String),
    /// Write down that a variant of a search that is over is not wanted.
    TurnDown {
        /// The project's folder.
        folder: PathBuf,
        /// The search.
        search: String,
        /// Which of its variants.
        variant: usize,
        /// Why, in the person's words.
        why: String,
    },
    /// Keep what was learnt of techniques.
    Learn(Box<Knowledge>),
}

/// A run to be kept.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The project as it was.
    pub project: Arc<Project>,
    /// The kernel as it was.
    pub kernel: Arc<Kernel>,
    /// What came of it.
    pub run: Arc<Run>,
    /// What it ran on.
    pub device: DeviceChoice,
    /// The compiler's name and version.
    pub compiler: String,
    /// The workload that was asked for, where it was one.
    pub workload: Option<String>,
    /// Who made the candidate.
    pub origin: Origin,
    /// The candidate that it was made of, where that ran.
    pub parent: Option<String>,
}

/// A device that can be chosen.
#[derive(Clone, Debug)]
pub struct DeviceChoice {
    /// What people type.
    pub name: DeviceName,
    /// What is known of it.
    pub sheet: &'static DeviceSheet,
    /// What people call it.
    pub title: String,
    /// What was measured on it, where somebody calibrated it.
    pub calibration: Option<Arc<Calibration>>,
    /// What is particular of it, and what contradicts its description: one sentence each.
    pub remarks: Vec<String>,
}

/// What came of an errand, or was noticed meanwhile.
#[derive(Debug)]
pub enum Finding {
    /// The machine.
    Machine(Result<Found, String>),
    /// A project was read.
    Project(PathBuf, Box<Result<Project, ProjectError>>),
    /// The lesson of a project was read.
    Lesson(PathBuf, Box<LessonRead>),
    /// What a warp of the project's kernel accesses, or why that cannot be seen.
    Traced(PathBuf, Wanted, Result<access::Recording, String>),
    /// What the checker catches in a project, or why that could not be found out.
    Tried(PathBuf, Result<Matrix, String>),
    /// A part of a project's history was read, the newest runs first.
    History(PathBuf, Vec<StoredRun>, Part),
    /// Files of the open project changed on disk.
    Changed(PathBuf),
    /// A text was written, or why not.
    Saved(PathBuf, String, Result<(), String>),
    /// A run was appended; the sentence of each workload that was measured, held against the runs before.
    Recorded(PathBuf, Box<StoredRun>, Vec<(String, String)>),
    /// A run has another label now, or none.
    Labelled(PathBuf, RunNumber, Option<Label>),
    /// A run was read, with the text of its kernel.
    Run(PathBuf, Box<StoredRun>, Option<String>),
    /// The machine code of a run as text, or why there is none.
    RunCode(PathBuf, RunNumber, Result<String, String>),
    /// Machine code as text.
    Sass(Arc<Facts>, Result<Vec<SassFunction>, String>),
    /// A text that was not saved when the program ended.
    Journal(PathBuf, PathBuf, String),
    /// No dialog could be shown.
    NoDialog,
    /// What is in a folder that was typed.
    Folders(Listed),
    /// A path that was typed is not opened.
    PathRefused(Refused),
    /// A folder that a person chose.
    Folder(PathBuf),
    /// What the machine has.
    Examined(Box<Report>),
    /// A search of a project was started, or why not.
    Searching(PathBuf, Result<StartedSearch, String>),
    /// The searches of a project that are on disk, the newest first.
    Searches(PathBuf, Vec<Header>),
    /// A journal was read.
    Search(PathBuf, Result<ReadSearch, String>),
    /// Something to be said.
    Said(super::notices::Weight, String),
}

/// A search that was started.
#[derive(Debug)]
pub struct StartedSearch {
    /// What it came to before; none of a new one.
    pub story: Option<Box<Story>>,
    /// Itself.
    pub searcher: Box<dyn Searcher>,
}

/// Whether more follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Runs before this one are there, and are read when somebody asks for them: so nothing waits behind a long
    /// history, neither another errand nor the window.
    More(RunNumber),
    /// That was all.
    Last,
}

/// What the machine has.
pub struct Found {
    /// What evaluates.
    pub evaluator: Box<dyn Evaluator>,
    /// Where, the best first.
    pub devices: Vec<DeviceChoice>,
    /// The compiler's name and version.
    pub compiler: String,
    /// Why there is no GPU among them.
    pub without_gpu: Option<String>,
    /// What reads hardware counters, or why nothing does.
    pub profiler: Result<Profiler, String>,
}

impl fmt::Debug for Found {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Found").field("devices", &self.devices).finish_non_exhaustive()
    }
}

/// Carries out errands elsewhere. Neither function waits.
pub trait Clerk {
    /// Hands over an errand.
    fn hand(&self, errand: Errand);
    /// The oldest finding that nobody has heard.
    fn next(&self) -> Option<Finding>;
}

/// Evaluates elsewhere. Neither function waits.
pub trait Evaluator: Send {
    /// Takes a request, and gives its number.
    ///
    /// # Errors
    /// It is not taken, and nothing comes of it.
    fn ask(&self, request: Request) -> Result<RequestId, NotTaken>;
    /// The oldest event that nobody has heard.
    fn next_event(&self) -> Option<Event>;
}

impl Evaluator for Arc<Engine> {
    fn ask(&self, request: Request) -> Result<RequestId, NotTaken> {
        Engine::ask(self, request)
    }

    fn next_event(&self) -> Option<Event> {
        Engine::next_event(self, Duration::ZERO)
    }
}

/// A search that goes on elsewhere; dropping it stops it. No function waits.
pub trait Searcher: Send + fmt::Debug {
    /// The oldest thing that it said and nobody has heard.
    fn heard(&self) -> Option<Heard>;
    /// Holds it back, or lets it go.
    fn hold(&self, hold: Hold);
    /// A variant is not wanted, for this reason; it says so itself once that is written down.
    fn turn_down(&self, variant: usize, why: String);
}

impl Searcher for Searching {
    fn heard(&self) -> Option<Heard> {
        Self::heard(self)
    }

    fn hold(&self, hold: Hold) {
        let control = self.control();
        match hold {
            Hold::Pause => control.pause(),
            Hold::GoOn => control.resume(),
            Hold::Stop => control.stop(),
            Hold::Pace(pace) => control.set_pace(pace),
        }
    }

    fn turn_down(&self, variant: usize, why: String) {
        self.control().turn_down(variant, why);
    }
}
