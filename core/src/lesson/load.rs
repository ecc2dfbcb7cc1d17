//! Loads a [`Lesson`] from a project's folder: reads `lesson.ron` and the files that it names, checks all of them, and
//! reports all problems at once.

use std::path::{Path, PathBuf};

use super::goal::Goal;
use super::locked::{self, Locked};
use super::prediction::Prediction;
use super::recorded::{self, Recorded};
use super::written::{GoalWritten, LessonFile, PredictionFile, RoofName, StepFile};
use super::{Lesson, Roofs, Step};
use crate::project::locate::Located;
use crate::project::problem::{self, Findings, Problem, Source, SourceLocation};
use crate::project::read::{list, read_project_file};
use crate::project::{Kernel, Project, Purpose, ReadError, ron_text};
use crate::speed_of_light::playbook::Condition;
use crate::speed_of_light::roofline::Level;

/// The file that makes a project a lesson.
pub const FILE: &str = "lesson.ron";

/// The schema that is read.
const SCHEMA: u32 = 1;

/// The folder with runs of real devices.
const RECORDED: &str = "recorded";

/// The heading of a lesson, read without its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The title.
    pub title: String,
    /// The position among lessons.
    pub order: u32,
    /// The learning goal.
    pub summary: String,
}

/// The heading of the lesson in a folder; `None` if it has no readable lesson.
#[must_use]
pub fn heading(folder: &Path) -> Option<Heading> {
    let text = read_project_file(folder, Path::new(FILE)).ok()?;
    let (written, _) = ron_text::read::<LessonFile>(Path::new(FILE), &text, 0..text.len()).ok()?;
    let LessonFile { title, order, summary, .. } = written;
    Some(Heading { title, order, summary })
}

impl Lesson {
    /// The lesson of a project; `None` if the project has no lesson.
    ///
    /// # Errors
    /// All problems of the lesson.
    pub fn read(project: &Project) -> Option<Result<Self, Vec<Problem>>> {
        let text = match read_project_file(&project.root, Path::new(FILE)) {
            Ok(text) => text,
            Err(ReadError::Missing) => return None,
            Err(error) => {
                return Some(Err(vec![file_problem(Path::new(FILE), &error.to_string())]));
            }
        };
        Some(Self::from_text(project, &text))
    }

    /// The lesson of a project, from a text.
    ///
    /// # Errors
    /// All problems of the lesson.
    pub fn from_text(project: &Project, text: &str) -> Result<Self, Vec<Problem>> {
        let read = ron_text::read::<LessonFile>(Path::new(FILE), text, 0..text.len());
        let (written, source) = read.map_err(|problem| vec![*problem])?;
        let mut reader = Reader {
            project,
            findings: Findings::new(&source),
            elsewhere: Vec::new(),
            lesson: &written,
        };
        let lesson = reader.lesson(&source);
        let mut problems = reader.findings.into_problems();
        problems.extend(reader.elsewhere);
        problem::sort(&mut problems);
        if problems.is_empty() { Ok(lesson) } else { Err(problems) }
    }
}

/// Something about a file as a whole.
fn file_problem(file: &Path, found: &str) -> Problem {
    let place = SourceLocation { file, text: "", span: 0..0, field: String::new() };
    problem::problem(place, found, "a file that can be read", None)
}

struct Reader<'a> {
    project: &'a Project,
    findings: Findings<'a>,
    /// Problems of other files.
    elsewhere: Vec<Problem>,
    lesson: &'a LessonFile,
}

impl Reader<'_> {
    /// The lesson as far as it is valid; it is used only if there are no problems.
    fn lesson(&mut self, source: &Source<'_>) -> Lesson {
        let (written, tree) = (self.lesson, &source.tree);
        if written.schema != SCHEMA {
            let found = format!("schema {}", written.schema);
            self.findings.add(tree.field("schema"), found, format!("schema {SCHEMA}"));
        }
        if written.order == 0 {
            self.findings.add(tree.field("order"), "0", "a number of at least 1");
        }
        for (name, text) in [("title", &written.title), ("summary", &written.summary)] {
            self.has_words(tree.field(name), text);
        }
        self.kernel(tree.field("kernel"), &written.kernel);
        self.workload(tree.field("workload"), &written.workload);
        if written.steps.is_empty() {
            self.findings.add(tree.field("steps"), "no step", "at least one");
        }
        let steps = tree.field("steps");
        let step = |(index, step): (usize, &StepFile)| self.step(steps.item(index), step, tree);
        let steps = written.steps.iter().enumerate().map(step).collect();
        Lesson {
            title: written.title.clone(),
            order: written.order,
            summary: written.summary.clone(),
            kernel: written.kernel.clone(),
            workload: written.workload.clone(),
            panels: written.panels.clone(),
            roofs: roofs(&written.roofs),
            locked: self.locked(),
            steps,
            recorded: self.recorded(),
        }
    }

    fn step(&mut self, at: &Located, step: &StepFile, tree: &Located) -> Step {
        self.has_words(at.field("title"), &step.title);
        let prediction = step.predict.as_ref();
        let prediction =
            prediction.and_then(|predict| self.prediction(at.field("predict"), predict));
        let own = step.solution.as_ref();
        let solution = own.or(self.lesson.solution.as_ref()).filter(|_| !step.goals.is_empty());
        if let Some(name) = solution {
            let at = if own.is_some() { at.field("solution") } else { tree.field("solution") };
            self.solution(at, name);
        } else if own.is_some() {
            let expected = "goals that it reaches, or no solution";
            self.findings.add(at.field("solution"), "a solution without goals", expected);
        } else if !step.goals.is_empty() {
            let expected =
                "a `solution`, here or for all steps, which shows that they can be reached";
            self.findings.add(at.field("goals"), "goals without a solution", expected);
        }
        Step {
            title: step.title.clone(),
            text: self.text(at.field("text"), &step.text),
            prediction,
            goals: step.goals.iter().map(goal).collect(),
            hints: step.hints.clone(),
            solution: solution.cloned(),
        }
    }

    fn has_words(&mut self, at: &Located, text: &str) {
        if text.trim().is_empty() {
            self.findings.add(at, "no text", "text for the student");
        }
    }

    fn text(&mut self, at: &Located, file: &str) -> String {
        match read_project_file(&self.project.root, Path::new(file)) {
            Ok(text) => text,
            Err(error) => {
                let found = format!("`{file}`: {error}");
                self.findings.add(at, found, "a Markdown file below the lesson's folder");
                String::new()
            }
        }
    }

    fn kernel(&mut self, at: &Located, name: &str) -> Option<&Kernel> {
        let found = self.project.kernels.iter().find(|kernel| kernel.name == name);
        if found.is_none() {
            let known: Vec<&str> =
                self.project.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
            self.findings.unknown(at, "kernel", name, &known);
        }
        found
    }

    fn workload(&mut self, at: &Located, name: &str) {
        let measured = self.project.workloads.iter();
        let measured = measured.filter(|workload| workload.purpose == Purpose::Measure);
        let known: Vec<&str> = measured.map(|workload| workload.name.as_str()).collect();
        if !known.contains(&name) {
            self.findings.unknown(at, "workload for measuring", name, &known);
        }
    }

    /// A solution is another kernel with the same task.
    fn solution(&mut self, at: &Located, name: &str) {
        if name == self.lesson.kernel {
            let expected = "a kernel other than the one that the step edits";
            self.findings.add(at, format!("the kernel `{name}` itself"), expected);
            return;
        }
        let Some(solution) = self.kernel(at, name).map(|kernel| kernel.source.clone()) else {
            return;
        };
        let Ok(begun) = self.project.kernel(&self.lesson.kernel) else { return };
        if locked::locked_texts(&solution) != locked::locked_texts(&begun.source) {
            let expected = format!("the same locked lines as in `{}`", self.lesson.kernel);
            self.findings.add(at, format!("`{name}` has other locked lines"), expected);
        }
    }

    fn prediction(&mut self, at: &Located, written: &PredictionFile) -> Option<Prediction> {
        self.has_words(at.field("question"), &written.question);
        let quantity = written.quantity;
        if Prediction::scale(quantity, &written.unit).is_none() {
            let found = format!("the unit `{}`", written.unit);
            self.findings.add(at.field("unit"), found, Prediction::units(quantity));
        }
        let (from, to) = (written.from, written.to);
        let makes_sense = from.is_finite() && to.is_finite() && from >= 0.0 && from < to;
        if !makes_sense {
            let found = format!("from {from} to {to}");
            self.findings.add(at.field("to"), found, "numbers from 0, the first below the second");
        }
        if let Some(kernel) = &written.kernel {
            self.kernel(at.field("kernel"), kernel);
        }
        if let Some(workload) = &written.workload {
            self.workload(at.field("workload"), workload);
        }
        let or =
            |own: &Option<String>, other: &String| own.clone().unwrap_or_else(|| other.clone());
        Some(Prediction {
            question: written.question.clone(),
            quantity,
            unit: written.unit.clone(),
            range: (from, to),
            kernel: or(&written.kernel, &self.lesson.kernel),
            workload: or(&written.workload, &self.lesson.workload),
        })
    }

    /// The locked lines of the kernel; reports misplaced markers.
    fn locked(&mut self) -> Vec<Locked> {
        let Ok(kernel) = self.project.kernel(&self.lesson.kernel) else { return Vec::new() };
        let (locked, misplaced) = locked::locked(&kernel.source);
        for wrong in misplaced {
            let start: usize =
                kernel.source.split_inclusive('\n').take(wrong.line - 1).map(str::len).sum();
            let end = start + kernel.source[start..].lines().next().unwrap_or_default().len();
            let (file, text) = (kernel.file.as_path(), kernel.source.as_str());
            let place = SourceLocation { file, text, span: start..end, field: String::new() };
            self.elsewhere.push(problem::problem(place, &wrong.found, wrong.expected, None));
        }
        locked
    }

    fn recorded(&mut self) -> Vec<Recorded> {
        let root = &self.project.root;
        let files: Vec<PathBuf> = match list(root, RECORDED, &["json", "jsonl"]) {
            Ok(files) => files,
            Err(error) => {
                self.elsewhere.push(file_problem(Path::new(RECORDED), &error.to_string()));
                return Vec::new();
            }
        };
        let mut all = Vec::new();
        for file in files {
            let text = match read_project_file(root, &file) {
                Ok(text) => text,
                Err(error) => {
                    self.elsewhere.push(file_problem(&file, &error.to_string()));
                    continue;
                }
            };
            match recorded::read(&text) {
                Ok(runs) => all.extend(runs),
                Err(error) => {
                    self.elsewhere.extend(
                        error.problems.iter().map(|wrong| line_problem(&file, &text, wrong)),
                    );
                }
            }
        }
        all
    }
}

fn line_problem(file: &Path, text: &str, wrong: &crate::history::trace::LineProblem) -> Problem {
    let start: usize =
        text.split_inclusive('\n').take(wrong.line.saturating_sub(1)).map(str::len).sum();
    let place = SourceLocation { file, text, span: start..start, field: String::new() };
    let expected = "a trace, as `lightbench export` writes it";
    problem::problem(place, &wrong.reason, expected, None)
}

const fn goal(written: &GoalWritten) -> Goal {
    match *written {
        GoalWritten::Passed => Goal::Passed,
        GoalWritten::AtLeast(fact, number) => Goal::Fact(Condition::AtLeast(fact, number)),
        GoalWritten::AtMost(fact, number) => Goal::Fact(Condition::AtMost(fact, number)),
    }
}

fn roofs(names: &[RoofName]) -> Roofs {
    let (mut levels, mut pipes) = (Vec::new(), Vec::new());
    for name in names {
        match name {
            RoofName::Dram => levels.push(Level::Dram),
            RoofName::L2 => levels.push(Level::L2),
            RoofName::Pipe(pipe) => pipes.push(*pipe),
        }
    }
    Roofs { levels, pipes }
}
