//! The project that is open.

use std::path::Path;
use std::sync::Arc;

use lightbench_core::project::{BrokenFile, Part, Project, Purpose};

use super::access::Accesses;
use super::catches::Catches;
use super::lesson::Teaching;
use super::problem::{self, Problem};

/// The project that is open.
#[derive(Clone, Debug)]
pub struct Opened {
    /// As it was read the last time without a mistake in what all kernels share.
    pub project: Arc<Project>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// The kernel that is worked on.
    pub kernel: String,
    /// The workload that numbers are shown for.
    pub workload: String,
    /// Which problem of the text was last gone to.
    pub problem: i64,
    /// Whether its history was read.
    pub history: HistoryRead,
    /// What it teaches.
    pub teaching: Teaching,
    /// What a warp of a kernel accesses.
    pub accesses: Accesses,
    /// What the checker catches.
    pub catches: Catches,
}

/// Whether a history was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryRead {
    /// It is being read.
    Reading,
    /// All of it is there.
    Whole,
}

impl Opened {
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
            history: HistoryRead::Reading,
            teaching: Teaching::default(),
            accesses: Accesses::default(),
            catches: Catches::default(),
        }
    }

    /// It was read again. Gives the kernels whose text is another now.
    pub fn update(&mut self, project: Project) -> Vec<String> {
        let new = Arc::new(project);
        self.problems = problems_of(&new);
        let shared = new.definition != self.project.definition
            || new.includes != self.project.includes
            || new.workloads != self.project.workloads
            || new.reference.source != self.project.reference.source;
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
        // One that is not understood for the moment is still the one that is worked on.
        if new.kernel(&self.kernel).is_err() && new.broken_kernel(&self.kernel).is_none() {
            self.kernel = first_kernel(&new);
        }
        if new.workload(&self.workload).is_err() {
            self.workload = first_workload(&new);
        }
        self.project = new;
        changed
    }

    /// The text of a file as it is on disk, and the kernel that it is, if it is one.
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
        if project.reference.file == file {
            return Some((None, project.reference.source.clone()));
        }
        if file == Path::new("project.ron") {
            return Some((None, project.manifest.clone()));
        }
        let include = project.includes.iter().find(|include| include.file == file)?;
        Some((None, include.source.clone()))
    }
}

fn problems_of(project: &Project) -> Vec<Problem> {
    project.broken.iter().flat_map(|broken| &broken.problems).map(problem::of_reader).collect()
}

/// The first that is understood; where none is, the first that is not.
fn first_kernel(project: &Project) -> String {
    let sound = project.kernels.first().map(|kernel| kernel.name.clone());
    let broken = || {
        let mut kernels = project.broken.iter().filter(|broken| broken.part == Part::Kernel);
        kernels.next().map(BrokenFile::name)
    };
    sound.or_else(broken).unwrap_or_default()
}

/// The first that is for measuring; where there is none, the first that is not held out.
fn first_workload(project: &Project) -> String {
    let mut open = project.workloads.iter().filter(|each| each.purpose != Purpose::HeldOut);
    let measured = open.clone().find(|each| each.purpose == Purpose::Measure);
    measured.or_else(|| open.next()).map(|each| each.name.clone()).unwrap_or_default()
}
