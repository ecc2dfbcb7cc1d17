//! The model of the window: what is open, what is known, what goes on. It knows no toolkit, does no I/O and starts no
//! threads; what takes long goes to a [`errand::Clerk`] and an [`errand::Evaluator`], and is heard of later.
//!
//! Panels draw from `&Workbench` and give back [`command::Command`]s; [`Workbench::carry_out`] is where they happen.

pub mod absence;
pub mod access;
pub mod browsing;
pub mod catches;
pub mod command;
pub mod comparison;
pub mod documents;
pub mod errand;
pub mod evaluations;
pub mod families;
mod findings;
pub mod groups;
pub mod lesson;
pub mod matrix;
pub mod measurements;
pub mod notices;
pub mod opened;
pub mod panel;
pub mod pinned;
pub mod problem;
pub mod profiling;
pub mod progress;
pub mod runs;
pub mod samples;
pub mod search;
pub mod settings;
#[cfg(test)]
pub(crate) mod tests;
mod unsaved;
pub mod verdict;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::history::record::Origin;
use lightbench_core::history::{RunNumber, StoredRun};
use lightbench_core::project::{BrokenFile, NoKernel, Part};
use lightbench_core::toolchain::doctor::Report;

use self::browsing::Browsing;
use self::command::Command;
use self::comparison::Compared;
use self::documents::{Documents, JournalEntry};
use self::errand::{Clerk, DeviceChoice, Errand};
use self::evaluations::{Evaluations, Heard, Machine, Question};
use self::notices::{Notices, Weight};
use self::opened::Opened;
use self::pinned::Pinned;
use self::runs::Runs;
use self::search::Searches;
use self::settings::{Mode, Settings};

/// Everything that the window shows.
pub struct Workbench {
    /// What a person prefers.
    pub settings: Settings,
    /// The project.
    pub opened: Option<Opened>,
    /// Open texts.
    pub documents: Documents,
    /// What is being found out.
    pub evaluations: Evaluations,
    /// Every run of the project.
    pub runs: Runs,
    /// Searches of the project.
    pub searches: Searches,
    /// What is looked at.
    pub selection: Selection,
    /// What a person should hear of.
    pub notices: Notices,
    /// What the machine has, where somebody asked.
    pub examined: Option<Report>,
    /// Projects to begin with.
    pub samples: samples::Samples,
    /// What only the window itself can do.
    wishes: Vec<Wish>,
    clerk: Box<dyn Clerk>,
}

/// What is looked at.
#[derive(Debug, Default)]
pub struct Selection {
    /// The run that panels show; the newest of the kernel where none is chosen.
    pub run: Option<RunNumber>,
    /// The run that panels show with everything that is kept of it, once it was read.
    pub read: Option<Arc<StoredRun>>,
    /// The run that was last asked for, so that it is read.
    pub asked: Option<RunNumber>,
    /// The run that everything is compared with.
    pub pinned: Option<Pinned>,
    /// The sides of the comparison, as far as they were read.
    pub sides: [Option<Compared>; 2],
    /// More runs beside them.
    pub others: Vec<Compared>,
    /// A text that was changed here and on disk, both of which are shown.
    pub contrasted: Option<PathBuf>,
    /// Folders on the way to a project, while somebody types its path.
    pub browsing: Option<Browsing>,
    /// Texts that were not saved when the program ended.
    pub lost: Vec<(PathBuf, String)>,
}

/// What only the window itself can do.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// Put a text where other programs find it.
    Copy(String),
    /// Show a place in the text in front.
    GoTo(u32, u32),
    /// Replace the text in front, so that it can be undone.
    Replace(String),
    /// Arrange panels for a lesson.
    Teach,
    /// Arrange panels as they were before a lesson.
    LeaveLesson,
    /// Leave.
    Quit,
    /// Ask whether to leave although something was not saved.
    AskBeforeQuitting,
}

impl std::fmt::Debug for Workbench {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Workbench").field("opened", &self.opened).finish_non_exhaustive()
    }
}

impl Workbench {
    /// Nothing is open; what the machine has is being looked at.
    #[must_use]
    pub fn new(settings: Settings, clerk: Box<dyn Clerk>) -> Self {
        clerk.hand(Errand::FindMachine);
        Self {
            settings,
            opened: None,
            documents: Documents::default(),
            evaluations: Evaluations::default(),
            runs: Runs::default(),
            searches: Searches::default(),
            selection: Selection::default(),
            notices: Notices::default(),
            examined: None,
            samples: samples::Samples::default(),
            wishes: Vec::new(),
            clerk,
        }
    }

    /// Has something done elsewhere.
    pub fn hand(&self, errand: Errand) {
        self.clerk.hand(errand);
    }

    /// What only the window itself can do, since the last time.
    pub fn take_wishes(&mut self) -> Vec<Wish> {
        std::mem::take(&mut self.wishes)
    }

    /// Hears of everything that happened elsewhere.
    pub fn hear(&mut self, now: Duration) {
        while let Some(finding) = self.clerk.next() {
            self.found(finding, now);
        }
        for heard in self.evaluations.hear(now) {
            self.heard(heard, now);
        }
        self.hear_search(now);
        self.read_shown();
        let Some(opened) = &self.opened else { return };
        for entry in self.documents.journal(now) {
            self.clerk.hand(match entry {
                JournalEntry::Keep(file, text) => {
                    Errand::KeepJournal(opened.project.root.clone(), file, text)
                }
                JournalEntry::Forget(file) => {
                    Errand::ForgetJournal(opened.project.root.clone(), file)
                }
            });
        }
    }

    fn heard(&mut self, heard: Heard, now: Duration) {
        match heard {
            Heard::Facts(kernel) => self.mark_problems(&kernel),
            Heard::Verdict(kernel, evaluated) => {
                self.mark_problems(&kernel);
                self.learn(&kernel, &evaluated.run);
                let compiler = self.evaluations.compiler().to_owned();
                self.clerk.hand(Errand::Record(Box::new(errand::Recording {
                    project: evaluated.project,
                    kernel: evaluated.kernel,
                    run: evaluated.run,
                    device: evaluated.device,
                    compiler,
                    workload: None,
                    origin: Origin::Person,
                    parent: None,
                })));
            }
            Heard::Profiled(text) => self.notices.say(Weight::Good, text, now),
            Heard::Notice(text) => self.notices.say(Weight::Warning, text, now),
            Heard::Defect(text) => self.notices.say(Weight::Error, text, now),
        }
    }

    /// Problems of a kernel go to the text that they speak of.
    fn mark_problems(&mut self, kernel: &str) {
        let Some(opened) = &self.opened else { return };
        let Some(known) = self.evaluations.of(kernel) else { return };
        let Ok(of) = opened.project.kernel(kernel) else { return };
        if let Some(document) = self.documents.get_mut(&of.file) {
            let here = |problem: &problem::Problem| {
                problem.place.as_ref().is_some_and(|place| place.file == of.file)
            };
            document.problems = known.problems().into_iter().filter(here).collect();
            document.checked.clone_from(&of.source);
        }
    }

    /// Does what a person wants.
    pub fn carry_out(&mut self, command: Command, now: Duration) {
        match command {
            Command::OpenFolder => self.clerk.hand(Errand::AskForFolder),
            Command::AskForPath => self.selection.browsing = Some(Browsing::default()),
            Command::ListFolders(folder) => self.clerk.hand(Errand::ListFolders(folder)),
            Command::OpenTyped(typed) => self.clerk.hand(Errand::OpenTyped(typed)),
            Command::LeavePath => self.selection.browsing = None,
            Command::Open(path) | Command::OpenLesson(path) => self.open(path),
            Command::Lesson(command) => self.teach(command, now),
            Command::Search(command) => self.search(command, now),
            Command::Trace(wanted) => self.trace(wanted, now),
            Command::CloseProject => self.close(now),
            Command::Save => self.save_front(now),
            Command::SaveAll => self.save_all(),
            Command::Quit if self.documents.any_changed() => {
                self.wishes.push(Wish::AskBeforeQuitting);
            }
            Command::Quit | Command::QuitAnyway => self.wishes.push(Wish::Quit),
            Command::Run => self.run_current(now),
            Command::RunAll => self.run_all(now),
            Command::Measure(command) => self.measure_besides(command, now),
            Command::TryChecker => self.try_checker(now),
            Command::StopTrying => self.stop_trying(),
            Command::Stop => self.evaluations.stop_all(),
            Command::SetMode(mode) => self.prefer(|settings| settings.mode = mode),
            Command::ChooseDevice(name) => self.prefer(|settings| settings.device = Some(name)),
            Command::ChooseWorkload(name) => {
                if let Some(opened) = &mut self.opened {
                    opened.workload = name;
                }
            }
            Command::ChooseKernel(name) => self.choose_kernel(&name),
            Command::GoTo(file, line, column) => self.go_to(&file, line, column),
            Command::Front(file) => {
                self.documents.bring_to_front(&file);
                self.follow_front();
            }
            Command::CloseText(file) => self.close_text(&file, now),
            Command::NextProblem => self.step_problem(1),
            Command::PreviousProblem => self.step_problem(-1),
            Command::Resolve(file, resolution) => self.resolve(&file, resolution),
            Command::Recover(file, recovery) => self.recover(&file, recovery),
            Command::SelectRun(number) => self.selection.run = Some(number),
            Command::Pin(number) => self.pin(number),
            Command::Label(number, words) => self.label(number, &words, now),
            Command::Compare(side, number) => self.compare(side, number),
            Command::CompareSelected => self.compare_selected(now),
            Command::CompareToo(number) => self.compare_too(number, now),
            Command::DisassembleRun(number) => self.disassemble_run(number),
            Command::SwapSides => self.selection.sides.swap(0, 1),
            Command::TakeSource(number) => self.take_source(number),
            Command::CopyVerdict => self.wishes.push(Wish::Copy(self.verdict_line().text)),
            Command::CopyComparison => self.copy_comparison(now),
            Command::Theme(theme) => self.prefer(|settings| settings.theme = theme),
            Command::ZoomIn => self.zoom(1.1),
            Command::ZoomOut => self.zoom(1.0 / 1.1),
            Command::ZoomReset => self.prefer(|settings| settings.zoom = 1.0),
            Command::DismissNotices => self.notices.dismiss(),
            Command::Examine => self.clerk.hand(Errand::Examine),
            Command::FetchCompiler => {
                self.evaluations.machine = Machine::Looking;
                self.clerk.hand(Errand::FetchCompiler);
            }
            Command::Disassemble(kernel) => self.disassemble(&kernel),
            Command::Copy(text) => self.wishes.push(Wish::Copy(text)),
            Command::ExportPicture(name, figure) => {
                let theme = self.settings.theme;
                self.clerk.hand(Errand::ExportPicture { name, figure, theme });
            }
            Command::Export(name, bytes) => self.clerk.hand(Errand::Export { name, bytes }),
            Command::SetHeat(heat) => self.choose_heat(heat, now),
            // What the window itself does before it comes here.
            Command::Edit(_)
            | Command::Show(_)
            | Command::AskForLabel(_)
            | Command::GroupRuns
            | Command::Layout(_)
            | Command::ResetLayout
            | Command::UndoLayout
            | Command::Palette
            | Command::QuickOpen => {}
        }
    }

    fn zoom(&mut self, factor: f32) {
        self.prefer(|settings| settings.set_zoom(settings.zoom * factor));
    }

    /// Changes what a person prefers, for the next time too.
    fn prefer(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        self.clerk.hand(Errand::KeepSettings(Box::new(self.settings.clone())));
    }

    fn open(&mut self, mut path: PathBuf) {
        // A kernel file stands two folders below its project.
        if path.extension().is_some() {
            let above =
                path.ancestors().skip(1).take(2).find(|folder| !folder.ends_with("kernels"));
            path = above.unwrap_or(&path).to_owned();
        }
        self.clerk.hand(Errand::Open(path));
    }

    fn close(&mut self, now: Duration) {
        self.leave(now);
        self.opened = None;
    }

    fn save_front(&mut self, now: Duration) {
        let Some(document) = self.documents.front() else { return };
        if document.is_changed() {
            let file = document.file.clone();
            self.save(&file);
        } else {
            // Nothing to write: what is known may still be of another mode.
            self.run_as(self.settings.mode, now);
        }
    }

    fn save_all(&mut self) {
        let changed = self.documents.all().filter(|document| document.is_changed());
        for file in changed.map(|document| document.file.clone()).collect::<Vec<_>>() {
            self.save(&file);
        }
    }

    fn save(&self, file: &std::path::Path) {
        let (Some(opened), Some(document)) = (&self.opened, self.documents.get(file)) else {
            return;
        };
        self.clerk.hand(Errand::Save {
            folder: opened.project.root.clone(),
            file: file.to_owned(),
            text: document.text.clone(),
        });
    }

    /// The device in force.
    #[must_use]
    pub fn device(&self) -> Option<&DeviceChoice> {
        let Machine::Known(found) = &self.evaluations.machine else { return None };
        let wanted = self.settings.device.as_deref();
        let chosen = found.devices.iter().find(|device| Some(&*device.name.to_string()) == wanted);
        chosen.or_else(|| found.devices.first())
    }

    fn run_current(&mut self, now: Duration) {
        let mode = if self.settings.mode == Mode::Off { Mode::Full } else { self.settings.mode };
        self.run_as(mode, now);
    }

    fn run_all(&mut self, now: Duration) {
        let Some(opened) = &self.opened else { return };
        let kernels: Vec<String> =
            opened.project.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        for kernel in kernels {
            self.ask(&kernel, Mode::Full, now);
        }
    }

    fn run_as(&mut self, mode: Mode, now: Duration) {
        let Some(opened) = &self.opened else { return };
        let kernel = opened.kernel.clone();
        self.ask(&kernel, mode, now);
    }

    /// Asks about a kernel as it stands on disk.
    pub(crate) fn ask(&mut self, kernel: &str, mode: Mode, now: Duration) {
        let Some(opened) = &self.opened else { return };
        let Some(device) = self.device().cloned() else {
            if let Machine::Unable(why) = &self.evaluations.machine {
                self.notices.say(Weight::Error, why.clone(), now);
            }
            return;
        };
        let kernel = match opened.project.kernel(kernel) {
            Ok(kernel) => kernel,
            Err(error @ NoKernel::Broken(_)) => {
                self.notices.say(Weight::Error, error.to_string(), now);
                return;
            }
            Err(NoKernel::Unknown(_)) => return,
        };
        let seed = match getrandom::u64() {
            Ok(seed) => seed,
            Err(error) => {
                self.notices.say(Weight::Error, format!("no random numbers: {error}"), now);
                return;
            }
        };
        let question = Question {
            project: Arc::clone(&opened.project),
            kernel: Arc::new(kernel.clone()),
            device,
            workload: opened.workload.clone(),
            mode,
            protocol: self.settings.measuring.protocol(),
            seed,
        };
        if let Err(refused) = self.evaluations.ask(&question) {
            self.notices.say(Weight::Error, refused, now);
        }
    }

    fn choose_kernel(&mut self, name: &str) {
        let Some(opened) = &mut self.opened else { return };
        let (file, source) = match opened.project.kernel(name) {
            Ok(kernel) => (kernel.file.clone(), Some(kernel.source.clone())),
            Err(NoKernel::Broken(broken)) => (broken.file, broken.source),
            Err(NoKernel::Unknown(_)) => return,
        };
        name.clone_into(&mut opened.kernel);
        self.selection.run = None;
        // What is no text has nothing to edit; the list of kernels says what is wrong with it.
        let Some(source) = source else { return };
        self.documents.open(&file, &source);
        let name = name.to_owned();
        self.mark_problems(&name);
        self.mark_broken();
    }

    /// The kernel that is worked on is the one whose text is in front.
    fn follow_front(&mut self) {
        let (Some(opened), Some(front)) = (&mut self.opened, self.documents.front()) else {
            return;
        };
        let project = &opened.project;
        let kernel = project.kernels.iter().find(|kernel| kernel.file == front.file);
        let broken = project.broken.iter().find(|broken| broken.file == front.file);
        let broken = broken.filter(|broken| broken.part == Part::Kernel);
        let name = kernel.map(|kernel| kernel.name.clone()).or(broken.map(BrokenFile::name));
        if let Some(name) = name.filter(|name| *name != opened.kernel) {
            opened.kernel = name;
            self.selection.run = None;
        }
    }

    fn close_text(&mut self, file: &std::path::Path, now: Duration) {
        if self.documents.get(file).is_some_and(documents::Document::is_changed) {
            let text = format!("{} was not saved; save it first, or undo", file.display());
            self.notices.say(Weight::Warning, text, now);
            return;
        }
        self.documents.close(file);
        self.follow_front();
    }

    fn go_to(&mut self, file: &std::path::Path, line: u32, column: u32) {
        let Some(opened) = &mut self.opened else { return };
        let Some((kernel, text)) = opened.text_of(file) else { return };
        if let Some(kernel) = kernel {
            opened.kernel = kernel;
        }
        self.documents.open(file, &text);
        self.mark_broken();
        self.wishes.push(Wish::GoTo(line, column));
    }

    fn step_problem(&mut self, by: i32) {
        let Some(document) = self.documents.front() else { return };
        let mut lines: Vec<(u32, u32)> = document
            .problems
            .iter()
            .filter_map(|problem| problem.place.as_ref().map(|place| (place.line, place.column)))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        if lines.is_empty() {
            return;
        }
        let count = i64::try_from(lines.len()).unwrap_or(i64::MAX);
        let opened = self.opened.as_mut();
        let Some(at) = opened.map(|opened| &mut opened.problem) else { return };
        *at = (*at + i64::from(by)).rem_euclid(count);
        let found = usize::try_from(*at).ok().and_then(|at| lines.get(at));
        if let Some((line, column)) = found {
            self.wishes.push(Wish::GoTo(*line, *column));
        }
    }

    /// The run that panels show.
    #[must_use]
    pub fn shown_run(&self) -> Option<&runs::Row> {
        if let Some(number) = self.selection.run {
            return self.runs.get(number);
        }
        let opened = self.opened.as_ref()?;
        let evaluated =
            self.evaluations.of(&opened.kernel).and_then(|known| known.evaluated.as_ref());
        if let Some(number) = evaluated.and_then(|evaluated| evaluated.number) {
            return self.runs.get(number);
        }
        self.runs.newest_of(&opened.kernel)
    }
}
