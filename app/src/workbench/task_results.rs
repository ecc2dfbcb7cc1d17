//! Handling of background task results.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::compile::facts::Facts;
use lightbench_core::compile::sass::SassFunction;
use lightbench_core::history::label::Label;
use lightbench_core::history::{RunNumber, StoredRun};
use lightbench_core::project::{Project, ProjectError};

use super::background_task::{
    BackgroundTask, FolderContent, HistoryPart, RunComparisons, TaskResult,
};
use super::command::Command;
use super::comparison::{ComparedRun, MachineCode};
use super::evaluations::{Evaluated, MachineState, Sass};
use super::notices::NoticeLevel;
use super::open_project::{HistoryState, OpenProject};
use super::path_browser::PathBrowser;
use super::problem::{ProblemSource, Severity};
use super::run_details::ReadRun;
use super::settings::Mode;
use super::{UiEffect, Workbench, problem};

impl Workbench {
    /// Handles the result of a background task.
    pub(super) fn handle_result(&mut self, finding: TaskResult, now: Duration) {
        if finding.project().is_some_and(|folder| self.root() != Some(folder)) {
            return;
        }
        match finding {
            TaskResult::Machine(Ok(found)) => {
                self.evaluations.machine = MachineState::Known(found);
            }
            TaskResult::Machine(Err(why)) => self.evaluations.machine = MachineState::Unusable(why),
            TaskResult::Project(folder, read) => self.read(&folder, *read, now),
            TaskResult::Broken(broken) => self.open_broken(*broken, now),
            TaskResult::TextsChecked(_, problems) => self.texts_checked(&problems),
            TaskResult::Lesson(folder, read) => self.read_lesson(&folder, *read, now),
            TaskResult::AccessesTraced(_, wanted, seen) => {
                if let Some(opened) = &mut self.opened {
                    opened.accesses.finish(&wanted, seen);
                }
            }
            TaskResult::TimelineModelled(_, wanted, found) => {
                if let Some(opened) = &mut self.opened {
                    opened.timelines.finish(&wanted, found);
                }
            }
            TaskResult::CheckerAudited(_, matrix) => self.handle_audit(matrix),
            TaskResult::History(folder, runs, part) => self.read_history(&folder, &runs, part),
            TaskResult::Changed(folder) => {
                self.background.submit(BackgroundTask::ReloadProject(folder));
            }
            TaskResult::Saved(file, text, Ok(())) => {
                self.documents.saved(&file, &text);
                if let Some(root) = self.root().map(Path::to_owned) {
                    self.background.submit(BackgroundTask::ReloadProject(root));
                }
            }
            TaskResult::Saved(file, _, Err(why)) => {
                let text = format!("{} was not saved: {why}", file.display());
                self.notices.add(NoticeLevel::Error, text, now);
            }
            TaskResult::Recorded(_, run, compared) => self.handle_recorded(&run, compared, now),
            TaskResult::Labelled(_, number, label) => self.handle_label(number, label.as_ref()),
            TaskResult::Run(_, read) => self.read_run(read),
            TaskResult::RunCode(_, number, code) => self.handle_disassembly(number, &code),
            TaskResult::SearchStarted(folder, started) => {
                self.search_started(&folder, started, now);
            }
            TaskResult::SearchesListed(_, listed) => self.searches_listed(listed),
            TaskResult::Search(_, read) => self.search_read(read, now),
            TaskResult::Sass(facts, sass) => self.read_sass(&facts, sass),
            TaskResult::Journal(folder, file, text) => self.journalled(&folder, &file, text),
            TaskResult::Folder(path) => {
                self.selection.browsing = None;
                self.carry_out(Command::Open(path), now);
            }
            TaskResult::ProjectCreated(created) => self.project_created(created, now),
            TaskResult::SourceFile(path) => {
                self.effects.push(UiEffect::TakeSourceFile(path.display().to_string()));
            }
            TaskResult::Recent(folder, history) => {
                if let Some(recent) = &mut self.samples.recent {
                    recent.insert(folder, history);
                }
            }
            TaskResult::NoProject(folder, content) => {
                let folder = match content {
                    FolderContent::Empty => folder,
                    FolderContent::Files => folder.join("lightbench"),
                };
                self.ask_for_new_project(Some(&folder));
            }
            TaskResult::NoDialog => self.ask_for_path(now),
            TaskResult::Folders(listed) => {
                self.update_browsing(|browsing| browsing.listed = Some(listed));
            }
            TaskResult::PathRefused(refused) => {
                self.update_browsing(|path| path.refused = Some(refused));
            }
            TaskResult::DoctorReport(report) => self.examined = Some(*report),
            TaskResult::Notice(weight, text) => self.notices.add(weight, text, now),
        }
    }

    fn read_sass(&mut self, facts: &Arc<Facts>, sass: Result<Vec<SassFunction>, String>) {
        if let Some(known) = self.evaluations.kernel_with_facts(facts) {
            known.sass = match sass {
                Ok(functions) => Sass::Read(Arc::new(functions)),
                Err(why) => Sass::Unreadable(why),
            };
        }
    }

    fn read_history(&mut self, folder: &Path, runs: &[StoredRun], part: HistoryPart) {
        let opened = self.opened.as_mut().filter(|opened| opened.project.root == folder);
        let Some(opened) = opened else { return };
        self.runs.add(runs);
        match part {
            HistoryPart::More(before) => {
                self.background.submit(BackgroundTask::ReadHistory(folder.to_owned(), before));
            }
            HistoryPart::Last => opened.history = HistoryState::Whole,
        }
    }

    fn handle_label(&mut self, number: RunNumber, label: Option<&Label>) {
        self.runs.label(number, label);
        let is_meant = |side: &&mut ComparedRun| side.number == number;
        for run in self.selection.all_compared().filter(is_meant) {
            if let Some(run) = &mut run.run {
                Arc::make_mut(run).label = label.cloned();
            }
        }
    }

    fn handle_disassembly(&mut self, number: RunNumber, code: &Result<String, String>) {
        let is_meant = |side: &&mut ComparedRun| side.number == number;
        for side in self.selection.all_compared().filter(is_meant) {
            side.code = match code {
                Ok(text) => MachineCode::Read(text.as_str().into()),
                Err(why) => MachineCode::Unreadable(why.clone()),
            };
        }
    }

    fn ask_for_path(&mut self, now: Duration) {
        let text = "there is no file dialog on this desktop: type the path instead";
        self.notices.add(NoticeLevel::Note, text, now);
        self.carry_out(Command::AskForPath, now);
    }

    /// Updates the path browser, if it is still open.
    fn update_browsing(&mut self, tell: impl FnOnce(&mut PathBrowser)) {
        if let Some(browsing) = &mut self.selection.browsing {
            tell(browsing);
        }
    }

    fn is_open(&self, folder: &Path) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.project.root == folder)
    }

    fn read(&mut self, folder: &Path, read: Result<Project, ProjectError>, now: Duration) {
        match read {
            Ok(project) if self.is_open(folder) => self.update(project, now),
            // Its texts were repaired: open it with its history.
            Ok(_) if self.root() == Some(folder) => {
                self.close(now);
                self.background.submit(BackgroundTask::Open(folder.to_owned()));
            }
            Ok(project) => {
                let wanted = self.selection.kernel_file.take();
                self.leave(now);
                let opened = OpenProject::new(project);
                let kernel = opened.kernel.clone();
                self.broken = None;
                let named = wanted.and_then(|path| opened.kernel_of(&path));
                self.opened = Some(opened);
                self.restore_view(now);
                match named {
                    Some(named) => self.carry_out(Command::ChooseKernel(named), now),
                    None if self.documents.front().is_none() => {
                        self.carry_out(Command::ChooseKernel(kernel), now);
                    }
                    None => {}
                }
                let folder = folder.to_owned();
                self.change_settings(|settings| settings.remember(&folder));
            }
            Err(error) if self.is_open(folder) => {
                if let Some(opened) = &mut self.opened {
                    opened.problems = problem::from_project_error(&error);
                }
            }
            Err(error) => self.notices.add(NoticeLevel::Error, error.to_string(), now),
        }
    }

    fn update(&mut self, project: Project, now: Duration) {
        let Some(opened) = &mut self.opened else { return };
        let changed = opened.update(project);
        // A new text may have become a kernel.
        self.follow_front();
        let Some(opened) = &mut self.opened else { return };
        let project = Arc::clone(&opened.project);
        let kernel = opened.kernel.clone();
        let kernels =
            project.kernels.iter().chain(&project.wrong).chain(project.reference.kernel());
        for known in kernels {
            self.documents.update_from_disk(&known.file, &known.source);
        }
        self.documents.update_from_disk(Path::new("project.ron"), &project.manifest);
        for include in &project.includes {
            self.documents.update_from_disk(&include.file, &include.source);
        }
        for broken in &project.broken {
            if let Some(source) = &broken.source {
                self.documents.update_from_disk(&broken.file, source);
            }
        }
        self.mark_broken();
        for name in &changed {
            self.retrace(name, now);
            self.repeat_timeline(name, now);
        }
        if self.settings.mode == Mode::Off {
            return;
        }
        // The current kernel comes last: the engine serves the newest interactive request first.
        let mode = self.settings.mode;
        for name in changed.iter().filter(|name| **name != kernel) {
            if self.evaluations.kernel(name).is_some() {
                self.ask(name, mode, now);
            }
        }
        if changed.contains(&kernel) {
            self.selection.run = None;
            self.ask(&kernel, mode, now);
        }
    }

    /// Copies the problems of unreadable files, and the guesses, to their open texts.
    pub(super) fn mark_broken(&mut self) {
        let Some(opened) = &self.opened else { return };
        for document in self.documents.all_mut() {
            document.problems.retain(|problem| problem.source != ProblemSource::Project);
            let is_here = |problem: &&problem::Problem| {
                problem.severity == Severity::Note
                    && problem.place.as_ref().is_some_and(|place| place.file == document.file)
            };
            let guesses = opened.problems.iter().filter(is_here).cloned().collect::<Vec<_>>();
            if !guesses.is_empty() && document.problems.is_empty() {
                document.checked.clone_from(&document.on_disk);
            }
            document.problems.extend(guesses);
            let mut broken = opened.project.broken.iter();
            let Some(broken) = broken.find(|broken| broken.file == document.file) else { continue };
            if let Some(source) = &broken.source {
                document.problems =
                    broken.problems.iter().map(problem::from_project_problem).collect();
                document.checked.clone_from(source);
            }
        }
    }

    fn handle_recorded(&mut self, run: &StoredRun, compared: RunComparisons, now: Duration) {
        self.runs.add(std::slice::from_ref(run));
        let known = self.evaluations.kernel_mut(&run.record.kernel);
        let is_meant = |evaluated: &&mut Evaluated| Some(evaluated.run.seed) == run.record.seed;
        if let Some(evaluated) = known.evaluated.as_mut().filter(is_meant) {
            evaluated.number = Some(run.number);
            evaluated.lines = compared.lines;
            Arc::make_mut(&mut evaluated.details).comparisons = compared.times;
        }
        let Some(row) = self.runs.get(run.number) else { return };
        let others = self.runs.rows().iter().any(|other| {
            other.number != row.number
                && other.score.map(|score| score.1) == row.score.map(|score| score.1)
        });
        if self.runs.is_best(row) && others {
            let text = format!("{} is the fastest run so far", row.kernel);
            self.notices.add(NoticeLevel::Good, text, now);
        }
    }

    fn read_run(&mut self, read: ReadRun) {
        let number = read.run.number;
        if let Some(pinned) = self.selection.pinned.as_mut().filter(|each| each.number == number) {
            pinned.read = Some(read.clone());
        }
        let is_meant = |side: &&mut ComparedRun| side.number == number;
        for side in self.selection.all_compared().filter(is_meant) {
            side.run = Some(Arc::clone(&read.run));
            side.source.clone_from(&read.source);
        }
        if self.selection.asked == Some(number) {
            self.selection.read = Some(read);
            self.mark_recorded_problems();
        }
    }

    /// Requests the disassembly of a kernel, once.
    pub(super) fn disassemble(&mut self, kernel: &str) {
        let known = self.evaluations.kernel_mut(kernel);
        if let (Some(facts), Sass::Unread) = (&known.facts, &known.sass) {
            self.background.submit(BackgroundTask::Disassemble(Arc::clone(facts)));
            known.sass = Sass::Reading;
        }
    }
}
