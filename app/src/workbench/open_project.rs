//! The open project and its state.

use std::path::Path;
use std::sync::Arc;

use lightbench_core::project::{BrokenFile, Part, Project, Purpose};

use super::audit::AuditState;
use super::lesson::LessonState;
use super::on_demand::{KernelTimelines, WarpAccesses};
use super::problem::{self, Problem};

/// The open project and its state.
#[derive(Clone, Debug)]
pub struct OpenProject {
    /// The latest version that could be read.
    pub project: Arc<Project>,
    /// Problems of the latest read.
    pub problems: Vec<Problem>,
    /// The current kernel.
    pub kernel: String,
    /// The selected workload.
    pub workload: String,
    /// Index of the problem that the cursor was moved to last.
    pub problem: i64,
    pub history: HistoryState,
    pub lesson: LessonState,
    /// Memory accesses of a warp.
    pub accesses: WarpAccesses,
    pub timelines: KernelTimelines,
    /// The audit of the checker.
    pub audit: AuditState,
}

/// Whether the history is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryState {
    Reading,
    Whole,
}

impl OpenProject {
    /// A project that was read for the first time.
    #[must_use]
    pub fn new(project: Project) -> Self {
        let project = Arc::new(project);
        Self {
            problems: problems_of(&project),
            kernel: first_kernel(&project),
            workload: first_workload(&project),
            project,
            problem: -1,
            history: HistoryState::Reading,
            lesson: LessonState::default(),
            accesses: WarpAccesses::default(),
            timelines: KernelTimelines::default(),
            audit: AuditState::default(),
        }
    }

    /// Replaces the project by a newer version. Returns the kernels whose text changed.
    pub fn update(&mut self, project: Project) -> Vec<String> {
        let new = Arc::new(project);
        self.problems = problems_of(&new);
        let shared = new.definition != self.project.definition
            || new.includes != self.project.includes
            || new.workloads != self.project.workloads
            || new.reference != self.project.reference;
        let is_other = |name: &str| match (new.kernel(name), self.project.kernel(name)) {
            (Ok(new), Ok(old)) => new.source != old.source || shared,
            (Ok(_), Err(_)) => true,
            (Err(_), _) => false,
        };
        let changed: Vec<String> = new
            .kernels
            .iter()
            .map(|kernel| kernel.name.clone())
            .filter(|name| is_other(name))
            .collect();
        // A kernel that cannot be read for the moment remains the current one.
        if new.kernel(&self.kernel).is_err() && new.broken_kernel(&self.kernel).is_none() {
            self.kernel = first_kernel(&new);
        }
        if new.workload(&self.workload).is_err() {
            self.workload = first_workload(&new);
        }
        self.project = new;
        changed
    }

    /// The name of the kernel in a file, by the path of the file.
    #[must_use]
    pub fn kernel_of(&self, path: &Path) -> Option<String> {
        let kernels = self.project.kernels.iter().chain(&self.project.wrong);
        let sound = kernels.map(|kernel| (&kernel.file, kernel.name.clone()));
        let broken = self.project.broken.iter().filter(|broken| broken.part == Part::Kernel);
        let broken = broken.map(|broken| (&broken.file, broken.name()));
        sound.chain(broken).find(|(file, _)| path.ends_with(file)).map(|(_, name)| name)
    }

    /// The text of a file on disk, and its kernel if it is one.
    #[must_use]
    pub fn text_of(&self, file: &Path) -> Option<(Option<String>, String)> {
        let project = &self.project;
        let kernel =
            project.kernels.iter().chain(&project.wrong).find(|kernel| kernel.file == file);
        if let Some(kernel) = kernel {
            return Some((Some(kernel.name.clone()), kernel.source.clone()));
        }
        if let Some(broken) = project.broken.iter().find(|broken| broken.file == file) {
            let kernel = (broken.part != Part::Include).then(|| broken.name());
            return Some((kernel, broken.source.clone()?));
        }
        if project.reference.file() == file {
            return Some((None, project.reference.source().to_owned()));
        }
        if file == Path::new("project.ron") {
            return Some((None, project.manifest.clone()));
        }
        let include = project.includes.iter().find(|include| include.file == file)?;
        Some((None, include.source.clone()))
    }
}

fn problems_of(project: &Project) -> Vec<Problem> {
    let broken = project.broken.iter().flat_map(|broken| &broken.problems);
    let guesses = project.guesses();
    let guesses = guesses.iter().map(problem::from_guess);
    broken.map(problem::from_project_problem).chain(guesses).collect()
}

/// The first readable kernel, else the first unreadable one.
fn first_kernel(project: &Project) -> String {
    let sound = project.kernels.first().map(|kernel| kernel.name.clone());
    let broken = || {
        let mut kernels = project.broken.iter().filter(|broken| broken.part == Part::Kernel);
        kernels.next().map(BrokenFile::name)
    };
    sound.or_else(broken).unwrap_or_default()
}

/// The first timed workload, else the first that is not held out.
fn first_workload(project: &Project) -> String {
    let mut open = project.workloads.iter().filter(|each| each.purpose != Purpose::HeldOut);
    let measured = open.clone().find(|each| each.purpose == Purpose::Measure);
    measured.or_else(|| open.next()).map(|each| each.name.clone()).unwrap_or_default()
}
