//! What comes of errands.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::compile::facts::Facts;
use lightbench_core::compile::sass::SassFunction;
use lightbench_core::history::label::Label;
use lightbench_core::history::{RunNumber, StoredRun};
use lightbench_core::project::{Project, ProjectError};

use super::browsing::Browsing;
use super::command::Command;
use super::comparison::{Code, Compared};
use super::errand::{Errand, Finding, Part};
use super::evaluations::{Evaluated, Machine, Sass};
use super::notices::Weight;
use super::opened::{HistoryRead, Opened};
use super::problem::Source;
use super::settings::Mode;
use super::{Workbench, problem};

impl Workbench {
    /// Takes in what came of an errand.
    pub(super) fn found(&mut self, finding: Finding, now: Duration) {
        match finding {
            Finding::Machine(Ok(found)) => {
                self.evaluations.machine = Machine::Known(found);
            }
            Finding::Machine(Err(why)) => self.evaluations.machine = Machine::Unable(why),
            Finding::Project(folder, read) => self.read(&folder, *read, now),
            Finding::Lesson(folder, read) => self.read_lesson(&folder, *read, now),
            Finding::Traced(folder, wanted, seen) => {
                if self.is_open(&folder) {
                    self.traced(&wanted, seen);
                }
            }
            Finding::Tried(folder, matrix) => {
                if self.is_open(&folder) {
                    self.tried(matrix);
                }
            }
            Finding::History(folder, runs, part) => self.read_history(&folder, &runs, part),
            Finding::Changed(folder) => {
                if self.is_open(&folder) {
                    self.clerk.hand(Errand::Reread(folder));
                }
            }
            Finding::Saved(file, text, Ok(())) => {
                self.documents.saved(&file, &text);
                if let Some(opened) = &self.opened {
                    self.clerk.hand(Errand::Reread(opened.project.root.clone()));
                }
            }
            Finding::Saved(file, _, Err(why)) => {
                let text = format!("{} was not saved: {why}", file.display());
                self.notices.say(Weight::Error, text, now);
            }
            Finding::Recorded(folder, run, lines) => {
                if self.is_open(&folder) {
                    self.recorded(&run, lines, now);
                }
            }
            Finding::Labelled(folder, number, label) => {
                if self.is_open(&folder) {
                    self.labelled(number, label.as_ref());
                }
            }
            Finding::Run(folder, run, source) => {
                if self.is_open(&folder) {
                    self.read_run(&Arc::from(run), source);
                }
            }
            Finding::RunCode(folder, number, code) => {
                if self.is_open(&folder) {
                    self.disassembled(number, &code);
                }
            }
            Finding::Searching(folder, started) => self.search_started(&folder, started, now),
            Finding::Searches(folder, listed) => {
                if self.is_open(&folder) {
                    self.searches_listed(listed);
                }
            }
            Finding::Search(folder, read) => {
                if self.is_open(&folder) {
                    self.search_read(read, now);
                }
            }
            Finding::Sass(facts, sass) => self.read_sass(&facts, sass),
            Finding::Journal(folder, file, text) => {
                if self.is_open(&folder) {
                    self.journalled(&folder, &file, text);
                }
            }
            Finding::Folder(path) => {
                self.selection.browsing = None;
                self.carry_out(Command::Open(path), now);
            }
            Finding::NoDialog => self.type_a_path(now),
            Finding::Folders(listed) => self.browse(|browsing| browsing.listed = Some(listed)),
            Finding::PathRefused(refused) => self.browse(|path| path.refused = Some(refused)),
            Finding::Examined(report) => self.examined = Some(*report),
            Finding::Said(weight, text) => self.notices.say(weight, text, now),
        }
    }

    fn read_sass(&mut self, facts: &Arc<Facts>, sass: Result<Vec<SassFunction>, String>) {
        if let Some(known) = self.evaluations.of_facts(facts) {
            known.sass = match sass {
                Ok(functions) => Sass::Read(Arc::new(functions)),
                Err(why) => Sass::Unreadable(why),
            };
        }
    }

    fn read_history(&mut self, folder: &Path, runs: &[StoredRun], part: Part) {
        let opened = self.opened.as_mut().filter(|opened| opened.project.root == folder);
        let Some(opened) = opened else { return };
        self.runs.add(runs);
        match part {
            Part::More(before) => {
                self.clerk.hand(Errand::ReadHistory(folder.to_owned(), before));
            }
            Part::Last => opened.history = HistoryRead::Whole,
        }
    }

    fn labelled(&mut self, number: RunNumber, label: Option<&Label>) {
        self.runs.label(number, label);
        let is_meant = |side: &&mut Compared| side.number == number;
        for run in self.selection.all_compared().filter(is_meant) {
            if let Some(run) = &mut run.run {
                Arc::make_mut(run).label = label.cloned();
            }
        }
    }

    fn disassembled(&mut self, number: RunNumber, code: &Result<String, String>) {
        let is_meant = |side: &&mut Compared| side.number == number;
        for side in self.selection.all_compared().filter(is_meant) {
            side.code = match code {
                Ok(text) => Code::Read(text.as_str().into()),
                Err(why) => Code::Unreadable(why.clone()),
            };
        }
    }

    fn type_a_path(&mut self, now: Duration) {
        let text = "there is no file dialog on this desktop: type the path instead";
        self.notices.say(Weight::Note, text, now);
        self.carry_out(Command::AskForPath, now);
    }

    /// Tells whoever types a path, where somebody still does.
    fn browse(&mut self, tell: impl FnOnce(&mut Browsing)) {
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
            Ok(project) => {
                self.leave(now);
                let opened = Opened::new(project);
                let kernel = opened.kernel.clone();
                self.opened = Some(opened);
                self.carry_out(Command::ChooseKernel(kernel), now);
                let folder = folder.to_owned();
                self.prefer(|settings| settings.remember(&folder));
            }
            Err(error) if self.is_open(folder) => {
                if let Some(opened) = &mut self.opened {
                    opened.problems = problem::of_project(&error);
                }
            }
            Err(error) => self.notices.say(Weight::Error, error.to_string(), now),
        }
    }

    fn update(&mut self, project: Project, now: Duration) {
        let Some(opened) = &mut self.opened else { return };
        let changed = opened.update(project);
        // A text that was new may be a kernel now.
        self.follow_front();
        let Some(opened) = &mut self.opened else { return };
        let project = Arc::clone(&opened.project);
        let kernel = opened.kernel.clone();
        let kernels = project.kernels.iter().chain(&project.wrong).chain([&project.reference]);
        for known in kernels {
            self.documents.heard_of_disk(&known.file, &known.source);
        }
        self.documents.heard_of_disk(Path::new("project.ron"), &project.manifest);
        for include in &project.includes {
            self.documents.heard_of_disk(&include.file, &include.source);
        }
        for broken in &project.broken {
            if let Some(source) = &broken.source {
                self.documents.heard_of_disk(&broken.file, source);
            }
        }
        self.mark_broken();
        for name in &changed {
            self.trace_again(name, now);
        }
        if self.settings.mode == Mode::Off {
            return;
        }
        // The one that is worked on last: it is the newest request, and a person's.
        let mode = self.settings.mode;
        for name in changed.iter().filter(|name| **name != kernel) {
            if self.evaluations.of(name).is_some() {
                self.ask(name, mode, now);
            }
        }
        if changed.contains(&kernel) {
            self.selection.run = None;
            self.ask(&kernel, mode, now);
        }
    }

    /// What is wrong with files that are not understood goes to their texts.
    pub(super) fn mark_broken(&mut self) {
        let Some(opened) = &self.opened else { return };
        for document in self.documents.all_mut() {
            document.problems.retain(|problem| problem.source != Source::Project);
            let mut broken = opened.project.broken.iter();
            let Some(broken) = broken.find(|broken| broken.file == document.file) else { continue };
            if let Some(source) = &broken.source {
                document.problems = broken.problems.iter().map(problem::of_reader).collect();
                document.checked.clone_from(source);
            }
        }
    }

    fn recorded(&mut self, run: &StoredRun, lines: Vec<(String, String)>, now: Duration) {
        self.runs.add(std::slice::from_ref(run));
        let known = self.evaluations.of_mut(&run.record.kernel);
        let is_meant = |evaluated: &&mut Evaluated| Some(evaluated.run.seed) == run.record.seed;
        if let Some(evaluated) = known.evaluated.as_mut().filter(is_meant) {
            evaluated.number = Some(run.number);
            evaluated.lines = lines;
        }
        let Some(row) = self.runs.get(run.number) else { return };
        let others = self.runs.rows().iter().any(|other| {
            other.number != row.number
                && other.score.map(|score| score.1) == row.score.map(|score| score.1)
        });
        if self.runs.is_best(row) && others {
            let text = format!("{} is the best so far", row.kernel);
            self.notices.say(Weight::Good, text, now);
        }
    }

    fn read_run(&mut self, run: &Arc<StoredRun>, source: Option<String>) {
        if self.selection.asked == Some(run.number) {
            self.selection.read = Some(Arc::clone(run));
        }
        if let Some(pinned) =
            self.selection.pinned.as_mut().filter(|each| each.number == run.number)
        {
            pinned.run = Some(Arc::clone(run));
        }
        let source: Option<Arc<str>> = source.map(Into::into);
        let is_meant = |side: &&mut Compared| side.number == run.number;
        for side in self.selection.all_compared().filter(is_meant) {
            side.run = Some(Arc::clone(run));
            side.source.clone_from(&source);
        }
    }

    /// Has a kernel's machine code made into text, once.
    pub(super) fn disassemble(&mut self, kernel: &str) {
        let known = self.evaluations.of_mut(kernel);
        if let (Some(facts), Sass::Unread) = (&known.facts, &known.sass) {
            self.clerk.hand(Errand::Disassemble(Arc::clone(facts)));
            known.sass = Sass::Reading;
        }
    }
}
