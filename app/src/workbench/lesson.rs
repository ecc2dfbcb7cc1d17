//! The lesson of the open project: which step, what was guessed, what came of it, which goals were reached.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::evaluate::Run;
use lightbench_core::lesson::goal::Source;
use lightbench_core::lesson::{Judged, Lesson, Prediction, Step, judge};
use lightbench_core::speed_of_light::minimal_work::MinimalWork;
use serde::{Deserialize, Serialize};

use super::command::Command;
use super::errand::Errand;
use super::problem::{self, Problem};
use super::settings::Mode;
use super::{Wish, Workbench};

/// What the open project teaches.
#[derive(Clone, Debug, Default)]
pub enum Teaching {
    /// It is no lesson, as far as anybody knows.
    #[default]
    Nothing,
    /// It is one, and something is wrong with it.
    Broken(Vec<Problem>),
    /// It is one.
    Lesson(Box<Taught>),
}

/// A lesson, and how far somebody came.
#[derive(Clone, Debug)]
pub struct Taught {
    /// What it says.
    pub lesson: Arc<Lesson>,
    /// How far somebody came.
    pub progress: Progress,
    /// Which panels there are.
    pub panels: Panels,
    /// Whether the solution stands beside the student's text.
    pub solution: Solution,
}

/// Which panels there are in a lesson.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panels {
    /// Those that it names.
    #[default]
    OfLesson,
    /// All of them, and all roofs.
    Everything,
}

/// Whether the solution is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solution {
    /// It is not.
    #[default]
    Hidden,
    /// It is.
    Shown,
}

/// How far somebody came: kept in our state folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The step that is looked at, from 0.
    pub step: usize,
    /// What happened in each step.
    pub steps: Vec<StepProgress>,
}

/// What happened in a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepProgress {
    /// Hints that were shown.
    pub hints: usize,
    /// What somebody committed to, in the unit of the question.
    pub guess: Option<f64>,
    /// What it is, and who says so.
    pub answer: Option<(f64, Told)>,
    /// Whether all goals were reached once.
    pub done: bool,
}

/// Who says what an answer is, as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// A clock of a device.
    Measured,
    /// A model of a device.
    Modelled,
    /// The virtual GPU counted it.
    Counted,
    /// It is read from the code.
    Read,
}

impl Told {
    const fn by(source: Source) -> Self {
        match source {
            Source::Measured => Self::Measured,
            Source::Modelled => Self::Modelled,
            Source::Counted | Source::Verified => Self::Counted,
            Source::Read => Self::Read,
        }
    }

    /// In a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => Source::Measured.word(),
            Self::Modelled => Source::Modelled.word(),
            Self::Counted => Source::Counted.word(),
            Self::Read => Source::Read.word(),
        }
    }
}

/// All that a person can do in a lesson.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LessonCommand {
    /// To the next step.
    Next,
    /// To the step before.
    Previous,
    /// Commit to a number.
    Guess(f64),
    /// Run what the step is about.
    Measure,
    /// Show another hint.
    Hint,
    /// Show the solution beside the own text, or no longer.
    Solution,
    /// Show all panels and roofs, or only those of the lesson.
    Everything,
}

/// What was read of a lesson.
#[derive(Clone, Debug)]
pub struct LessonRead {
    /// The lesson, or what is wrong with it.
    pub lesson: Result<Lesson, Vec<lightbench_core::project::Problem>>,
    /// How far somebody came, where that is known.
    pub progress: Option<Progress>,
}

impl Taught {
    /// The step that is looked at.
    #[must_use]
    pub fn step(&self) -> Option<&Step> {
        self.lesson.steps.get(self.progress.step)
    }

    /// What happened in it.
    #[must_use]
    pub fn here(&self) -> StepProgress {
        self.progress.steps.get(self.progress.step).cloned().unwrap_or_default()
    }

    fn here_mut(&mut self) -> &mut StepProgress {
        let at = self.progress.step;
        if self.progress.steps.len() <= at {
            self.progress.steps.resize_with(at + 1, StepProgress::default);
        }
        &mut self.progress.steps[at]
    }

    /// Whether a guess is asked for and nobody committed to one.
    #[must_use]
    pub fn waits_for_guess(&self) -> bool {
        self.step().is_some_and(|step| step.prediction.is_some()) && self.here().guess.is_none()
    }

    /// The kernel that the step measures.
    #[must_use]
    pub fn measured(&self) -> &str {
        let here = self.here();
        match self.step().and_then(|step| step.prediction.as_ref()) {
            // A question about another kernel is answered first.
            Some(prediction) if here.answer.is_none() => &prediction.kernel,
            Some(_) | None => &self.lesson.kernel,
        }
    }

    /// The guess of this step with its question, once somebody committed to it.
    #[must_use]
    pub fn guess(&self) -> Option<(&Prediction, f64)> {
        Some((self.step()?.prediction.as_ref()?, self.here().guess?))
    }

    fn go(&mut self, step: usize) {
        self.progress.step = step.min(self.lesson.steps.len().saturating_sub(1));
        self.solution = Solution::Hidden;
    }

    /// Takes in a verdict on one of its kernels.
    fn learn(&mut self, kernel: &str, run: &Run, work: impl Fn(&str) -> Option<MinimalWork>) {
        let Some(step) = self.step().cloned() else { return };
        let here = self.here();
        if let Some(prediction) = &step.prediction
            && here.guess.is_some()
            && here.answer.is_none()
            && prediction.kernel == kernel
            && let Some(work) = work(&prediction.workload)
        {
            let answer = prediction.answer(run, &work);
            self.here_mut().answer = answer.map(|answer| (answer.value, Told::by(answer.source)));
        }
        let reached = |goal: &lightbench_core::lesson::Goal| {
            judge(goal, Some(run), &self.lesson.workload).is_met()
        };
        if kernel == self.lesson.kernel && !step.goals.is_empty() && step.goals.iter().all(reached)
        {
            self.here_mut().done = true;
        }
    }
}

impl Workbench {
    /// The lesson that is open.
    #[must_use]
    pub fn taught(&self) -> Option<&Taught> {
        match &self.opened.as_ref()?.teaching {
            Teaching::Lesson(taught) => Some(taught),
            Teaching::Nothing | Teaching::Broken(_) => None,
        }
    }

    fn taught_mut(&mut self) -> Option<&mut Taught> {
        match &mut self.opened.as_mut()?.teaching {
            Teaching::Lesson(taught) => Some(taught),
            Teaching::Nothing | Teaching::Broken(_) => None,
        }
    }

    /// The goals of the step with what they are now.
    #[must_use]
    pub fn judged(&self) -> Vec<Judged> {
        let Some(taught) = self.taught() else { return Vec::new() };
        let known = self.evaluations.of(&taught.lesson.kernel);
        let run = known.and_then(|known| known.evaluated.as_ref()).map(|each| &*each.run);
        let goals = taught.step().map(|step| step.goals.as_slice()).unwrap_or_default();
        goals.iter().map(|goal| judge(goal, run, &taught.lesson.workload)).collect()
    }

    /// Takes in what was read of the open project's lesson.
    pub(super) fn read_lesson(&mut self, folder: &Path, read: LessonRead, now: Duration) {
        let Some(opened) = self.opened.as_mut().filter(|opened| opened.project.root == folder)
        else {
            return;
        };
        let lesson = match read.lesson {
            Ok(lesson) => lesson,
            Err(problems) => {
                let problems: Vec<Problem> = problems.iter().map(problem::of_reader).collect();
                opened.teaching = Teaching::Broken(problems);
                return;
            }
        };
        if let Teaching::Lesson(taught) = &mut opened.teaching {
            taught.lesson = Arc::new(lesson);
            let step = taught.progress.step;
            taught.go(step);
            return;
        }
        let mut taught = Taught {
            lesson: Arc::new(lesson),
            progress: read.progress.unwrap_or_default(),
            panels: Panels::default(),
            solution: Solution::default(),
        };
        let step = taught.progress.step;
        taught.go(step);
        opened.workload.clone_from(&taught.lesson.workload);
        let kernel = taught.lesson.kernel.clone();
        opened.teaching = Teaching::Lesson(Box::new(taught));
        self.wishes.push(Wish::Teach);
        let chosen = self.opened.as_ref().map(|opened| opened.kernel.clone());
        if chosen.is_some_and(|chosen| chosen != kernel) {
            // The text that was opened first is no part of the lesson.
            if let Some(front) = self.documents.front().map(|front| front.file.clone()) {
                self.carry_out(Command::CloseText(front), now);
            }
            self.carry_out(Command::ChooseKernel(kernel), now);
        }
        self.begin_at_open_lines();
    }

    /// Puts the cursor where there is something to do.
    fn begin_at_open_lines(&mut self) {
        let Some(taught) = self.taught() else { return };
        let end = taught.lesson.locked.first().map(|locked| locked.lines.end);
        let lines = self.documents.front().map_or(0, |front| front.text.lines().count());
        if let Some(line) = end.filter(|line| *line <= lines).and_then(|end| end.try_into().ok()) {
            self.wishes.push(Wish::GoTo(line, 1));
        }
    }

    /// Takes in a verdict.
    pub(super) fn learn(&mut self, kernel: &str, run: &Run) {
        let Some(opened) = &mut self.opened else { return };
        let Teaching::Lesson(taught) = &mut opened.teaching else { return };
        let project = &opened.project;
        let work = |workload: &str| {
            let workload = project.workload(workload).ok()?;
            Some(MinimalWork::of(&project.definition, workload))
        };
        let before = taught.progress.clone();
        taught.learn(kernel, run, work);
        if taught.progress != before {
            self.keep_progress();
        }
    }

    /// Does what a person wants in a lesson.
    pub(super) fn teach(&mut self, command: LessonCommand, now: Duration) {
        let Some(taught) = self.taught_mut() else { return };
        let before = taught.progress.clone();
        match command {
            LessonCommand::Next => taught.go(taught.progress.step.saturating_add(1)),
            LessonCommand::Previous => taught.go(taught.progress.step.saturating_sub(1)),
            LessonCommand::Guess(guess) => {
                let range = taught.step().and_then(|step| step.prediction.as_ref());
                let range = range.map(|prediction| prediction.range);
                // Who committed to something stays with it.
                if let Some((from, to)) = range.filter(|_| taught.waits_for_guess()) {
                    taught.here_mut().guess = Some(guess.clamp(from, to));
                }
            }
            LessonCommand::Hint => {
                let most = taught.step().map_or(0, |step| step.hints.len());
                let here = taught.here_mut();
                here.hints = (here.hints + 1).min(most);
            }
            LessonCommand::Solution if taught.here().done => {
                taught.solution = match taught.solution {
                    Solution::Hidden => Solution::Shown,
                    Solution::Shown => Solution::Hidden,
                };
            }
            LessonCommand::Solution => {}
            LessonCommand::Everything => {
                taught.panels = match taught.panels {
                    Panels::OfLesson => Panels::Everything,
                    Panels::Everything => Panels::OfLesson,
                };
            }
            LessonCommand::Measure if taught.waits_for_guess() => {}
            LessonCommand::Measure => {
                let kernel = taught.measured().to_owned();
                self.measure(&kernel, now);
                return;
            }
        }
        if self.taught().is_some_and(|taught| taught.progress != before) {
            self.keep_progress();
        }
    }

    /// Saves what was changed, which has it measured, or measures what stands on disk.
    fn measure(&mut self, kernel: &str, now: Duration) {
        let front = self.documents.front();
        let is_changed = front.is_some_and(super::documents::Document::is_changed);
        let is_front = self.opened.as_ref().is_some_and(|opened| opened.kernel == kernel);
        if is_changed && is_front {
            if self.settings.mode != Mode::Full {
                self.settings.mode = Mode::Full;
            }
            self.carry_out(Command::Save, now);
        } else {
            self.ask(kernel, Mode::Full, now);
        }
    }

    fn keep_progress(&self) {
        let (Some(opened), Some(taught)) = (&self.opened, self.taught()) else { return };
        let progress = taught.progress.clone();
        self.hand(Errand::KeepProgress(opened.project.root.clone(), progress));
    }
}
