//! Grades: which goals of a lesson each submitted kernel reaches, on the definition and the workloads of the teacher.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::goal::{Goal, GoalProgress, judge};
use super::{Lesson, Step, locked};
use crate::evaluate::Run;
use crate::project::{Kernel, Project};

/// A submitted kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The name of the file or folder, without the extension.
    pub name: String,
    /// The text, or the reason why it cannot be read.
    pub text: Result<String, String>,
}

/// A step with goals, and their states for one submission.
#[derive(Clone, Debug, PartialEq)]
pub struct GradedStep {
    /// The step, from 1.
    pub step: usize,
    /// Each goal with its state.
    pub goals: Vec<(Goal, GoalProgress)>,
}

impl GradedStep {
    /// Whether all of its goals are reached.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.goals.iter().all(|(_, state)| state.is_met())
    }
}

/// The last step of a lesson that has goals, from 1; 0 if none has.
#[must_use]
pub fn last_step(lesson: &Lesson) -> usize {
    lesson.steps.iter().rposition(|step| !step.goals.is_empty()).map_or(0, |index| index + 1)
}

/// The submissions in a folder by name: a file like that of the lesson's kernel, or a folder with such a file, which may
/// be a copy of the lesson. Hidden files and those of other types are ignored.
///
/// # Errors
/// The folder cannot be read.
pub fn submissions(folder: &Path, kernel: &Kernel) -> io::Result<Vec<Submission>> {
    let mut found = Vec::new();
    for path in visible_entries(folder)? {
        let file = match is_folder(&path) {
            true => submitted_file(&path, kernel),
            false if path.extension() == kernel.file.extension() => Ok(path.clone()),
            false => continue,
        };
        let text = file.and_then(|file| {
            fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))
        });
        let name = if is_folder(&path) { path.file_name() } else { path.file_stem() };
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        found.push(Submission { name, text });
    }
    Ok(found)
}

/// Sorted by name.
fn visible_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Whether this is a folder itself: links are not followed out of the submissions.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// The kernel of a copy of the lesson, or the only file of its type.
fn submitted_file(folder: &Path, kernel: &Kernel) -> Result<PathBuf, String> {
    let copy = folder.join(&kernel.file);
    if copy.is_file() {
        return Ok(copy);
    }
    let entries = visible_entries(folder).map_err(|error| error.to_string())?;
    let mut files = entries.into_iter().filter(|path| path.extension() == kernel.file.extension());
    match (files.next(), files.next()) {
        (Some(file), None) => Ok(file),
        (None, _) | (Some(_), Some(_)) => {
            let extension = kernel.file.extension().unwrap_or_default().to_string_lossy();
            Err(format!("neither {} nor exactly one .{extension} file", kernel.file.display()))
        }
    }
}

/// The kernel of a submission.
///
/// # Errors
/// Its locked lines differ from those of the lesson, or its launch block has problems.
pub fn submitted(project: &Project, begun: &Kernel, text: String) -> Result<Kernel, String> {
    if locked::locked_texts(&text) != locked::locked_texts(&begun.source) {
        return Err(format!("its locked lines differ from those of {}", begun.file.display()));
    }
    project.draft(&begun.name, text).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        lines.join("; ")
    })
}

/// The goals of each step that has some.
#[must_use]
pub fn grade(lesson: &Lesson, run: &Run) -> Vec<GradedStep> {
    let graded = |(step, number): (&Step, usize)| {
        let state = |goal: &Goal| (*goal, judge(goal, Some(run), &lesson.workload));
        let goals: Vec<_> = step.goals.iter().map(state).collect();
        (!goals.is_empty()).then_some(GradedStep { step: number, goals })
    };
    lesson.steps.iter().zip(1..).filter_map(graded).collect()
}
