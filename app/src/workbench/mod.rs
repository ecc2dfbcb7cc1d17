//! The model of the window: the open project, its results and running work. It has no toolkit, does no I/O and starts
//! no threads; long work goes to a [`background_task::BackgroundWorker`] and an [`background_task::Evaluator`], whose
//! results [`Workbench::poll`] handles.
//!
//! Panels draw from `&Workbench` and return [`command::Command`]s; [`Workbench::carry_out`] executes them.

pub mod absence;
pub mod access;
pub mod audit;
pub mod background_task;
pub mod broken_project;
pub mod command;
pub mod comparison;
mod creating;
pub mod documents;
pub mod evaluations;
pub mod families;
pub mod groups;
pub mod last_session;
pub mod lesson;
pub mod matrix;
pub mod measurements;
pub mod new_project;
pub mod notices;
pub mod on_demand;
pub mod open_project;
pub mod panel;
pub mod path_browser;
pub mod pinned;
pub mod problem;
pub mod profiling;
pub mod progress;
pub mod recent_history;
mod repairing;
mod restoring;
pub mod run_details;
pub mod runs;
pub mod samples;
pub mod search;
pub mod settings;
mod shown;
mod task_results;
#[cfg(test)]
pub(crate) mod tests;
pub mod timeline;
mod unsaved;
pub mod verdict;
pub mod verdict_fields;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::history::RunNumber;
use lightbench_core::history::record::Origin;
use lightbench_core::project::{BrokenFile, KernelUnavailable, Part};
use lightbench_core::toolchain::doctor::Report;

use self::background_task::{BackgroundTask, BackgroundWorker, DeviceChoice};
use self::broken_project::BrokenProject;
use self::command::Command;
use self::comparison::ComparedRun;
use self::documents::{Documents, JournalEntry};
use self::evaluations::{EvaluationEvent, EvaluationRequest, Evaluations, MachineState};
use self::last_session::LastSession;
use self::new_project::NewProject;
use self::notices::{NoticeLevel, Notices};
use self::open_project::OpenProject;
use self::path_browser::PathBrowser;
use self::pinned::Pinned;
use self::run_details::ReadRun;
use self::runs::Runs;
use self::search::Searches;
use self::settings::{Mode, Settings};

/// The state of the window.
pub struct Workbench {
    pub settings: Settings,
    /// The state that the next start restores.
    pub last_session: LastSession,
    pub opened: Option<OpenProject>,
    /// The open folder, if its project cannot be read.
    pub broken: Option<BrokenProject>,
    pub documents: Documents,
    pub evaluations: Evaluations,
    pub runs: Runs,
    pub searches: Searches,
    pub selection: Selection,
    pub notices: Notices,
    /// The doctor's report, if it was requested.
    pub examined: Option<Report>,
    /// Sample projects and lessons.
    pub samples: samples::Samples,
    /// Effects that only the window can carry out.
    effects: Vec<UiEffect>,
    background: Box<dyn BackgroundWorker>,
}

#[derive(Debug, Default)]
pub struct Selection {
    /// The selected run; `None` shows the newest run of the kernel.
    pub run: Option<RunNumber>,
    /// The shown run, once it is read from the history.
    pub read: Option<ReadRun>,
    /// The run whose record was requested last.
    pub asked: Option<RunNumber>,
    /// The pinned run.
    pub pinned: Option<Pinned>,
    /// The sides of the comparison.
    pub sides: [Option<ComparedRun>; 2],
    /// Further compared runs.
    pub others: Vec<ComparedRun>,
    /// A text with a conflict whose two versions are shown side by side.
    pub contrasted: Option<PathBuf>,
    /// The path field, while it is open.
    pub browsing: Option<PathBrowser>,
    /// The dialog that creates a project, while it is open.
    pub new_project: Option<NewProject>,
    /// Texts that were unsaved when the program ended.
    pub lost: Vec<(PathBuf, String)>,
    /// The kernel file whose path was opened, until its project is read.
    pub kernel_file: Option<PathBuf>,
}

/// Effects that only the window can carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum UiEffect {
    /// Copy a text to the clipboard.
    Copy(String),
    /// Move the cursor of the text in front to this line and column.
    GoTo(u32, u32),
    /// Replace the text in front; undo restores it.
    Replace(String),
    /// Take the source of a new project.
    TakeSourceFile(String),
    /// Apply the layout of a lesson.
    EnterLessonLayout,
    /// Restore the layout from before the lesson.
    RestoreLayout,
    /// Close the window; asks first if texts are unsaved.
    Quit,
    /// Ask whether to close although texts are unsaved.
    ConfirmQuit,
}

impl std::fmt::Debug for Workbench {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Workbench").field("opened", &self.opened).finish_non_exhaustive()
    }
}

impl Workbench {
    /// A workbench without a project; it starts detecting the machine.
    #[must_use]
    pub fn new(settings: Settings, worker: Box<dyn BackgroundWorker>) -> Self {
        worker.submit(BackgroundTask::DetectMachine);
        Self {
            settings,
            last_session: LastSession::default(),
            opened: None,
            broken: None,
            documents: Documents::default(),
            evaluations: Evaluations::default(),
            runs: Runs::default(),
            searches: Searches::default(),
            selection: Selection::default(),
            notices: Notices::default(),
            examined: None,
            samples: samples::Samples::default(),
            effects: Vec::new(),
            background: worker,
        }
    }

    /// Submits a background task.
    pub fn submit(&self, task: BackgroundTask) {
        self.background.submit(task);
    }

    /// Takes the pending effects.
    pub fn take_effects(&mut self) -> Vec<UiEffect> {
        std::mem::take(&mut self.effects)
    }

    /// Handles all pending results and events.
    pub fn poll(&mut self, now: Duration) {
        while let Some(finding) = self.background.next_result() {
            self.handle_result(finding, now);
        }
        for heard in self.evaluations.poll(now) {
            self.handle_evaluation(heard, now);
        }
        self.poll_search(now);
        self.read_shown();
        self.keep_session();
        self.read_recent();
        self.check_typed(now);
        let Some(root) = self.root().map(Path::to_owned) else { return };
        for entry in self.documents.journal(now) {
            self.background.submit(match entry {
                JournalEntry::Keep(file, text) => {
                    BackgroundTask::SaveJournal(root.clone(), file, text)
                }
                JournalEntry::Forget(file) => BackgroundTask::DeleteJournal(root.clone(), file),
            });
        }
    }

    fn handle_evaluation(&mut self, heard: EvaluationEvent, now: Duration) {
        match heard {
            EvaluationEvent::Facts(kernel) => self.mark_problems(&kernel),
            EvaluationEvent::Verdict(kernel, evaluated) => {
                self.mark_problems(&kernel);
                self.learn(&kernel, &evaluated.run);
                let compiler = self.evaluations.compiler().to_owned();
                self.background.submit(BackgroundTask::Record(Box::new(
                    background_task::Recording {
                        project: evaluated.project,
                        kernel: evaluated.kernel,
                        run: evaluated.run,
                        device: evaluated.device,
                        compiler,
                        workload: None,
                        origin: Origin::Person,
                        parent: None,
                    },
                )));
            }
            EvaluationEvent::Profiled(text) => self.notices.add(NoticeLevel::Good, text, now),
            EvaluationEvent::Notice(text) => self.notices.add(NoticeLevel::Warning, text, now),
            EvaluationEvent::Defect(text) => self.notices.add(NoticeLevel::Error, text, now),
        }
    }

    /// Copies a kernel's problems to its open text.
    fn mark_problems(&mut self, kernel: &str) {
        let Some(opened) = &self.opened else { return };
        let Some(known) = self.evaluations.kernel(kernel) else { return };
        let Ok(of) = opened.project.kernel(kernel) else { return };
        if let Some(document) = self.documents.get_mut(&of.file) {
            let here = |problem: &problem::Problem| {
                problem.place.as_ref().is_some_and(|place| place.file == of.file)
            };
            document.problems = known.problems().into_iter().filter(here).collect();
            document.checked.clone_from(&of.source);
        }
    }

    /// Carries out a command.
    pub fn carry_out(&mut self, command: Command, now: Duration) {
        match command {
            Command::OpenFolder => self.background.submit(BackgroundTask::ShowFolderDialog),
            Command::AskForPath => self.selection.browsing = Some(PathBrowser::default()),
            Command::ListFolders(folder) => {
                self.background.submit(BackgroundTask::ListFolders(folder));
            }
            Command::OpenPath(typed) => self.background.submit(BackgroundTask::OpenPath(typed)),
            Command::LeavePath => self.selection.browsing = None,
            Command::NewProject(command) => self.carry_out_new_project(command),
            Command::Open(path) | Command::OpenLesson(path) => self.open(path),
            Command::Lesson(command) => self.carry_out_lesson(command, now),
            Command::Search(command) => self.search(command, now),
            Command::Trace(wanted) => self.trace(wanted, now),
            Command::Timeline => self.model_timeline(now),
            Command::CloseProject => self.close(now),
            Command::Save => self.save_front(now),
            Command::SaveAll => self.save_all(),
            Command::Quit => self.quit(),
            Command::QuitAnyway => self.effects.push(UiEffect::Quit),
            Command::Run => self.run_current(now),
            Command::RunAll => self.run_all(now),
            Command::Measure(command) => self.carry_out_measuring(command, now),
            Command::AuditChecker => self.audit_checker(now),
            Command::StopAudit => self.stop_audit(),
            Command::Stop => self.evaluations.stop_all(),
            Command::SetMode(mode) => self.change_settings(|settings| settings.mode = mode),
            Command::ChooseDevice(name) => {
                self.change_settings(|settings| settings.device = Some(name));
            }
            Command::ChooseWorkload(name) => self.choose_workload(name),
            Command::ChooseKernel(name) => self.choose_kernel(&name),
            Command::GoTo(file, line, column) => self.go_to(&file, line, column),
            Command::Front(file) => self.bring_to_front(&file),
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
            Command::CompareWith(other) => self.compare_with(other),
            Command::AddToComparison(number) => self.add_compared(number, now),
            Command::DisassembleRun(number) => self.disassemble_run(number),
            Command::SwapSides => self.selection.sides.swap(0, 1),
            Command::TakeSource(number) => self.take_source(number),
            Command::CopyVerdict => self.copy_verdict(),
            Command::CopyComparison => self.copy_comparison(now),
            Command::Theme(theme) => self.change_settings(|settings| settings.theme = theme),
            Command::ZoomIn => self.zoom(1.1),
            Command::ZoomOut => self.zoom(1.0 / 1.1),
            Command::ZoomReset => self.change_settings(|settings| settings.zoom = 1.0),
            Command::ChangeSettings(new) => self.change_settings(|settings| *settings = *new),
            Command::DismissNotices => self.notices.dismiss(),
            Command::RunDoctor => self.background.submit(BackgroundTask::RunDoctor),
            Command::FetchCompiler => self.fetch_compiler(),
            Command::Disassemble(kernel) => self.disassemble(&kernel),
            Command::Copy(text) => self.effects.push(UiEffect::Copy(text)),
            Command::ExportPicture(name, figure) => {
                let theme = self.settings.theme;
                self.background.submit(BackgroundTask::ExportPicture { name, figure, theme });
            }
            Command::Export(name, bytes) => {
                self.background.submit(BackgroundTask::Export { name, bytes });
            }
            Command::SetHeat(heat) => self.choose_heat(heat, now),
            // The window handles these before they get here.
            Command::Edit(_)
            | Command::Show(_)
            | Command::AskForLabel(_)
            | Command::GroupRuns
            | Command::Layout(_)
            | Command::ResetLayout
            | Command::UndoLayout
            | Command::ShowSettings(_)
            | Command::Palette
            | Command::QuickOpen => {}
        }
    }

    /// Asks before texts that are not saved are lost.
    fn quit(&mut self) {
        let is_changed = self.documents.any_changed();
        self.effects.push(if is_changed { UiEffect::ConfirmQuit } else { UiEffect::Quit });
    }

    fn choose_workload(&mut self, name: String) {
        if let Some(opened) = &mut self.opened {
            opened.workload = name;
        }
    }

    fn bring_to_front(&mut self, file: &Path) {
        self.documents.bring_to_front(file);
        self.follow_front();
    }

    fn fetch_compiler(&mut self) {
        self.evaluations.machine = MachineState::Detecting;
        self.background.submit(BackgroundTask::FetchCompiler);
    }

    fn zoom(&mut self, factor: f32) {
        self.change_settings(|settings| settings.set_zoom(settings.zoom * factor));
    }

    /// Changes the settings and stores them.
    fn change_settings(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        self.background.submit(BackgroundTask::SaveSettings(Box::new(self.settings.clone())));
    }

    fn open(&mut self, mut path: PathBuf) {
        // A kernel file lies two folders below its project.
        if path.extension().is_some() {
            self.selection.kernel_file = Some(path.clone());
            let above =
                path.ancestors().skip(1).take(2).find(|folder| !folder.ends_with("kernels"));
            path = above.unwrap_or(&path).to_owned();
        }
        self.background.submit(BackgroundTask::Open(path));
    }

    fn close(&mut self, now: Duration) {
        self.leave(now);
        self.opened = None;
        self.broken = None;
    }

    fn save_front(&mut self, now: Duration) {
        let Some(document) = self.documents.front() else { return };
        if document.is_changed() {
            let file = document.file.clone();
            self.save(&file);
        } else {
            // The text is unchanged, but the mode may have changed since its evaluation.
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
        let (Some(root), Some(document)) = (self.root(), self.documents.get(file)) else {
            return;
        };
        self.background.submit(BackgroundTask::Save {
            folder: root.to_owned(),
            file: file.to_owned(),
            text: document.text.clone(),
        });
    }

    /// The selected device; the best one if none is selected.
    #[must_use]
    pub fn device(&self) -> Option<&DeviceChoice> {
        let MachineState::Known(found) = &self.evaluations.machine else { return None };
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

    /// Submits an evaluation of a kernel as it is on disk.
    pub(crate) fn ask(&mut self, kernel: &str, mode: Mode, now: Duration) {
        let Some(opened) = &self.opened else { return };
        let Some(device) = self.device().cloned() else {
            if let MachineState::Unusable(why) = &self.evaluations.machine {
                self.notices.add(NoticeLevel::Error, why.clone(), now);
            }
            return;
        };
        let kernel = match opened.project.kernel(kernel) {
            Ok(kernel) => kernel,
            Err(error @ KernelUnavailable::Broken(_)) => {
                self.notices.add(NoticeLevel::Error, error.to_string(), now);
                return;
            }
            Err(KernelUnavailable::Unknown(_)) => return,
        };
        let seed = match getrandom::u64() {
            Ok(seed) => seed,
            Err(error) => {
                self.notices.add(NoticeLevel::Error, format!("no random numbers: {error}"), now);
                return;
            }
        };
        let question = EvaluationRequest {
            project: Arc::clone(&opened.project),
            kernel: Arc::new(kernel.clone()),
            device,
            workload: opened.workload.clone(),
            mode,
            protocol: self.settings.measuring.protocol(),
            seed,
        };
        if let Err(refused) = self.evaluations.ask(&question) {
            self.notices.add(NoticeLevel::Error, refused, now);
        }
    }

    fn choose_kernel(&mut self, name: &str) {
        let Some(opened) = &mut self.opened else { return };
        let (file, source) = match opened.project.kernel(name) {
            Ok(kernel) => (kernel.file.clone(), Some(kernel.source.clone())),
            Err(KernelUnavailable::Broken(broken)) => (broken.file, broken.source),
            Err(KernelUnavailable::Unknown(_)) => return,
        };
        name.clone_into(&mut opened.kernel);
        self.selection.run = None;
        // A file that is not text cannot be edited; the list of kernels shows its problem.
        let Some(source) = source else { return };
        self.documents.open(&file, &source);
        let name = name.to_owned();
        self.mark_problems(&name);
        self.mark_broken();
    }

    /// Selects the kernel whose text is in front.
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
            let text =
                format!("{} has unsaved changes; save it first, or undo them", file.display());
            self.notices.add(NoticeLevel::Warning, text, now);
            return;
        }
        self.documents.close(file);
        self.follow_front();
    }

    fn go_to(&mut self, file: &std::path::Path, line: u32, column: u32) {
        let Some(opened) = &mut self.opened else {
            self.documents.bring_to_front(file);
            self.effects.push(UiEffect::GoTo(line, column));
            return;
        };
        let Some((kernel, text)) = opened.text_of(file) else { return };
        if let Some(kernel) = kernel {
            opened.kernel = kernel;
        }
        self.documents.open(file, &text);
        self.mark_broken();
        self.effects.push(UiEffect::GoTo(line, column));
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
            self.effects.push(UiEffect::GoTo(*line, *column));
        }
    }

    /// The run that panels show.
    #[must_use]
    pub fn shown_run(&self) -> Option<&runs::RunRow> {
        if let Some(number) = self.selection.run {
            return self.runs.get(number);
        }
        let opened = self.opened.as_ref()?;
        let evaluated =
            self.evaluations.kernel(&opened.kernel).and_then(|known| known.evaluated.as_ref());
        if let Some(number) = evaluated.and_then(|evaluated| evaluated.number) {
            return self.runs.get(number);
        }
        self.runs.newest_of(&opened.kernel)
    }
}
