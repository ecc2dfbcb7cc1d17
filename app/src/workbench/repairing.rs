//! Edits the texts of a folder whose project cannot be read.

use std::path::Path;
use std::time::Duration;

use lightbench_core::project::Problem as ProjectProblem;

use super::Workbench;
use super::background_task::BackgroundTask;
use super::broken_project::{BrokenProject, BrokenTexts, LiveCheck};
use super::problem::{self, Problem};

/// The pause in typing after which texts are checked.
const CHECK_AFTER: Duration = Duration::from_millis(300);

impl Workbench {
    /// The folder of the open project, readable or not.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        let broken = self.broken.as_ref().map(|broken| broken.root.as_path());
        self.opened.as_ref().map(|opened| opened.project.root.as_path()).or(broken)
    }

    /// Opens the texts of a folder whose project cannot be read, or updates them after a change on disk.
    pub(super) fn open_broken(&mut self, broken: BrokenTexts, now: Duration) {
        let BrokenTexts { root, texts, problems } = broken;
        // The last version that could be read stays open.
        if let Some(opened) = self.opened.as_mut().filter(|opened| opened.project.root == root) {
            opened.problems = problems.iter().map(problem::from_project_problem).collect();
            return;
        }
        if self.root() == Some(root.as_path()) {
            for (file, text) in &texts {
                self.documents.update_from_disk(file, text);
            }
        } else {
            self.leave(now);
            self.opened = None;
            for (file, text) in &texts {
                self.documents.open(file, text);
            }
            if let Some(first) = problems.first() {
                self.documents.bring_to_front(&first.file);
            }
            self.change_settings(|settings| settings.remember(&root));
        }
        let check = LiveCheck { versions: self.versions(), due: None };
        self.broken = Some(BrokenProject { root, problems: Vec::new(), check });
        self.mark_broken_texts(&problems);
    }

    /// Submits the texts for a check when the user pauses.
    pub(super) fn check_typed(&mut self, now: Duration) {
        let versions = self.versions();
        let Some(broken) = &mut self.broken else { return };
        if broken.check.versions != versions {
            broken.check = LiveCheck { versions, due: Some(now + CHECK_AFTER) };
        }
        if broken.check.due.is_some_and(|due| due <= now) {
            broken.check.due = None;
            let texts = self.documents.all();
            let texts = texts.map(|document| (document.file.clone(), document.text.clone()));
            let task = BackgroundTask::CheckTexts(broken.root.clone(), texts.collect());
            self.background.submit(task);
        }
    }

    /// How long until typed texts are checked.
    #[must_use]
    pub fn check_due(&self, now: Duration) -> Option<Duration> {
        Some(self.broken.as_ref()?.check.due?.saturating_sub(now))
    }

    /// Takes the result of a check of typed texts; the user may have typed more since.
    pub(super) fn texts_checked(&mut self, problems: &[ProjectProblem]) {
        let is_current = self.broken.as_ref().is_some_and(|broken| {
            broken.check.due.is_none() && broken.check.versions == self.versions()
        });
        if is_current {
            self.mark_broken_texts(problems);
        }
    }

    /// Distributes problems to the list and to the texts.
    fn mark_broken_texts(&mut self, problems: &[ProjectProblem]) {
        let Some(broken) = &mut self.broken else { return };
        broken.problems = problems.iter().map(problem::from_project_problem).collect();
        for document in self.documents.all_mut() {
            let is_here = |problem: &&Problem| {
                problem.place.as_ref().is_some_and(|place| place.file == document.file)
            };
            document.problems = broken.problems.iter().filter(is_here).cloned().collect();
            document.checked.clone_from(&document.text);
        }
    }

    fn versions(&self) -> u64 {
        self.documents.all().map(|document| document.version).sum()
    }
}
