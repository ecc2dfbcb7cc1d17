//! The lesson of the open project: current step, guesses, answers and reached goals.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::evaluate::Run;
use lightbench_core::lesson::goal::Source;
use lightbench_core::lesson::{GoalProgress, Lesson, Prediction, Step, judge};
use lightbench_core::speed_of_light::minimal_work::MinimalWork;
use serde::{Deserialize, Serialize};

use super::background_task::BackgroundTask;
use super::command::Command;
use super::problem::{self, Problem};
use super::settings::Mode;
use super::{UiEffect, Workbench};

/// The lesson of the open project, if it has one.
#[derive(Clone, Debug, Default)]
pub enum LessonState {
    /// The project is not known to be a lesson.
    #[default]
    Nothing,
    /// The lesson has errors.
    Broken(Vec<Problem>),
    Lesson(Box<OpenLesson>),
}

/// A lesson with the user's progress.
#[derive(Clone, Debug)]
pub struct OpenLesson {
    pub lesson: Arc<Lesson>,
    /// The user's progress.
    pub progress: LessonProgress,
    pub panels: PanelSet,
    pub solution: Solution,
    pub skipping: Skipping,
}

/// Whether the user was asked before the step is left incomplete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skipping {
    #[default]
    No,
    Asked,
}

/// Panels that a lesson shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PanelSet {
    /// The panels that the lesson names.
    #[default]
    OfLesson,
    /// All panels and all roofs.
    Everything,
}

/// Whether the solution is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solution {
    #[default]
    Hidden,
    Shown,
}

/// Progress in a lesson, stored in the state folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonProgress {
    /// The current step, from 0.
    pub step: usize,
    /// Progress in each step.
    pub steps: Vec<StepProgress>,
}

/// Progress in one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepProgress {
    /// Number of hints shown.
    pub hints: usize,
    /// The user's guess, in the unit of the question.
    pub guess: Option<f64>,
    /// The answer and its source.
    pub answer: Option<(f64, AnswerSource)>,
    /// Whether all goals were reached at least once.
    pub done: bool,
}

/// Source of an answer, in its stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerSource {
    /// Measured by a clock of a device.
    Measured,
    /// Computed by a performance model.
    Modelled,
    /// Counted by the virtual GPU.
    Counted,
    /// Read from the compiled code.
    Read,
}

impl AnswerSource {
    const fn by(source: Source) -> Self {
        match source {
            Source::Measured => Self::Measured,
            Source::Modelled => Self::Modelled,
            Source::Counted | Source::Verified => Self::Counted,
            Source::Read => Self::Read,
        }
    }

    /// The source as one word.
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

/// A command of a lesson.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LessonCommand {
    Next,
    Previous,
    /// Commit to a guess.
    Guess(f64),
    /// Measure the kernel of the step.
    Measure,
    Hint,
    Solution,
    Everything,
}

/// A lesson as read from its folder.
#[derive(Clone, Debug)]
pub struct LoadedLesson {
    /// The lesson, or its errors.
    pub lesson: Result<Lesson, Vec<lightbench_core::project::Problem>>,
    /// The stored progress, if there is one.
    pub progress: Option<LessonProgress>,
}

impl OpenLesson {
    /// The current step.
    #[must_use]
    pub fn step(&self) -> Option<&Step> {
        self.lesson.steps.get(self.progress.step)
    }

    /// Progress in the current step.
    #[must_use]
    pub fn step_progress(&self) -> StepProgress {
        self.progress.steps.get(self.progress.step).cloned().unwrap_or_default()
    }

    fn step_progress_mut(&mut self) -> &mut StepProgress {
        let at = self.progress.step;
        if self.progress.steps.len() <= at {
            self.progress.steps.resize_with(at + 1, StepProgress::default);
        }
        &mut self.progress.steps[at]
    }

    /// Whether the step asks for a guess and has none.
    #[must_use]
    pub fn waits_for_guess(&self) -> bool {
        self.step().is_some_and(|step| step.prediction.is_some())
            && self.step_progress().guess.is_none()
    }

    /// The kernel that the step measures.
    #[must_use]
    pub fn measured(&self) -> &str {
        let here = self.step_progress();
        match self.step().and_then(|step| step.prediction.as_ref()) {
            // An unanswered question about another kernel comes first.
            Some(prediction) if here.answer.is_none() => &prediction.kernel,
            Some(_) | None => &self.lesson.kernel,
        }
    }

    /// The question of this step with the user's guess, once there is one.
    #[must_use]
    pub fn guess(&self) -> Option<(&Prediction, f64)> {
        Some((self.step()?.prediction.as_ref()?, self.step_progress().guess?))
    }

    /// Whether the question of the step is answered and its goals were reached.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let here = self.step_progress();
        self.step().is_none_or(|step| {
            (step.prediction.is_none() || here.answer.is_some())
                && (step.goals.is_empty() || here.done)
        })
    }

    fn go(&mut self, step: usize) {
        self.progress.step = step.min(self.lesson.steps.len().saturating_sub(1));
        self.solution = Solution::Hidden;
        self.skipping = Skipping::No;
    }

    /// Goes to the next step; asks once if the present one is incomplete.
    fn go_on(&mut self) {
        if self.is_complete() || self.skipping == Skipping::Asked {
            self.go(self.progress.step.saturating_add(1));
        } else {
            self.skipping = Skipping::Asked;
        }
    }

    /// Updates answers and goals from a verdict on one of the lesson's kernels.
    fn learn(&mut self, kernel: &str, run: &Run, work: impl Fn(&str) -> Option<MinimalWork>) {
        let Some(step) = self.step().cloned() else { return };
        let here = self.step_progress();
        if let Some(prediction) = &step.prediction
            && here.guess.is_some()
            && here.answer.is_none()
            && prediction.kernel == kernel
            && let Some(work) = work(&prediction.workload)
        {
            let answer = prediction.answer(run, &work);
            self.step_progress_mut().answer =
                answer.map(|answer| (answer.value, AnswerSource::by(answer.source)));
        }
        let reached = |goal: &lightbench_core::lesson::Goal| {
            judge(goal, Some(run), &self.lesson.workload).is_met()
        };
        if kernel == self.lesson.kernel && !step.goals.is_empty() && step.goals.iter().all(reached)
        {
            self.step_progress_mut().done = true;
        }
    }
}

impl Workbench {
    #[must_use]
    pub fn open_lesson(&self) -> Option<&OpenLesson> {
        match &self.opened.as_ref()?.lesson {
            LessonState::Lesson(taught) => Some(taught),
            LessonState::Nothing | LessonState::Broken(_) => None,
        }
    }

    fn open_lesson_mut(&mut self) -> Option<&mut OpenLesson> {
        match &mut self.opened.as_mut()?.lesson {
            LessonState::Lesson(taught) => Some(taught),
            LessonState::Nothing | LessonState::Broken(_) => None,
        }
    }

    /// The goals of the step, with their current state.
    #[must_use]
    pub fn judged(&self) -> Vec<GoalProgress> {
        let Some(taught) = self.open_lesson() else { return Vec::new() };
        let known = self.evaluations.kernel(&taught.lesson.kernel);
        let run = known.and_then(|known| known.evaluated.as_ref()).map(|each| &*each.run);
        let goals = taught.step().map(|step| step.goals.as_slice()).unwrap_or_default();
        goals.iter().map(|goal| judge(goal, run, &taught.lesson.workload)).collect()
    }

    /// Stores the lesson of the open project.
    pub(super) fn read_lesson(&mut self, folder: &Path, read: LoadedLesson, now: Duration) {
        let Some(opened) = self.opened.as_mut().filter(|opened| opened.project.root == folder)
        else {
            return;
        };
        let lesson = match read.lesson {
            Ok(lesson) => lesson,
            Err(problems) => {
                let problems: Vec<Problem> =
                    problems.iter().map(problem::from_project_problem).collect();
                opened.lesson = LessonState::Broken(problems);
                return;
            }
        };
        if let LessonState::Lesson(taught) = &mut opened.lesson {
            taught.lesson = Arc::new(lesson);
            let step = taught.progress.step;
            taught.go(step);
            return;
        }
        let mut taught = OpenLesson {
            lesson: Arc::new(lesson),
            progress: read.progress.unwrap_or_default(),
            panels: PanelSet::default(),
            solution: Solution::default(),
            skipping: Skipping::default(),
        };
        let step = taught.progress.step;
        taught.go(step);
        opened.workload.clone_from(&taught.lesson.workload);
        let kernel = taught.lesson.kernel.clone();
        opened.lesson = LessonState::Lesson(Box::new(taught));
        self.effects.push(UiEffect::EnterLessonLayout);
        let chosen = self.opened.as_ref().map(|opened| opened.kernel.clone());
        if chosen.is_some_and(|chosen| chosen != kernel) {
            // The text opened first does not belong to the lesson.
            if let Some(front) = self.documents.front().map(|front| front.file.clone()) {
                self.carry_out(Command::CloseText(front), now);
            }
            self.carry_out(Command::ChooseKernel(kernel), now);
        }
        self.go_to_open_lines();
    }

    /// Moves the cursor to the first editable line.
    fn go_to_open_lines(&mut self) {
        let Some(taught) = self.open_lesson() else { return };
        let end = taught.lesson.locked.first().map(|locked| locked.lines.end);
        let lines = self.documents.front().map_or(0, |front| front.text.lines().count());
        if let Some(line) = end.filter(|line| *line <= lines).and_then(|end| end.try_into().ok()) {
            self.effects.push(UiEffect::GoTo(line, 1));
        }
    }

    /// Updates the lesson from a verdict.
    pub(super) fn learn(&mut self, kernel: &str, run: &Run) {
        let Some(opened) = &mut self.opened else { return };
        let LessonState::Lesson(taught) = &mut opened.lesson else { return };
        let project = &opened.project;
        let work = |workload: &str| {
            let workload = project.workload(workload).ok()?;
            Some(MinimalWork::new(&project.definition, workload))
        };
        let before = taught.progress.clone();
        taught.learn(kernel, run, work);
        if taught.progress != before {
            self.keep_progress();
        }
    }

    /// Carries out a command of a lesson.
    pub(super) fn carry_out_lesson(&mut self, command: LessonCommand, now: Duration) {
        let Some(taught) = self.open_lesson_mut() else { return };
        let before = taught.progress.clone();
        match command {
            LessonCommand::Next => taught.go_on(),
            LessonCommand::Previous => taught.go(taught.progress.step.saturating_sub(1)),
            LessonCommand::Guess(guess) => {
                let range = taught.step().and_then(|step| step.prediction.as_ref());
                let range = range.map(|prediction| prediction.range);
                // A committed guess is kept.
                if let Some((from, to)) = range.filter(|_| taught.waits_for_guess()) {
                    taught.step_progress_mut().guess = Some(guess.clamp(from, to));
                }
            }
            LessonCommand::Hint => {
                let most = taught.step().map_or(0, |step| step.hints.len());
                let here = taught.step_progress_mut();
                here.hints = (here.hints + 1).min(most);
            }
            LessonCommand::Solution if taught.step_progress().done => {
                taught.solution = match taught.solution {
                    Solution::Hidden => Solution::Shown,
                    Solution::Shown => Solution::Hidden,
                };
            }
            LessonCommand::Solution => {}
            LessonCommand::Everything => {
                taught.panels = match taught.panels {
                    PanelSet::OfLesson => PanelSet::Everything,
                    PanelSet::Everything => PanelSet::OfLesson,
                };
            }
            LessonCommand::Measure if taught.waits_for_guess() => {}
            LessonCommand::Measure => {
                let kernel = taught.measured().to_owned();
                self.measure(&kernel, now);
                return;
            }
        }
        if self.open_lesson().is_some_and(|taught| taught.progress != before) {
            self.keep_progress();
        }
    }

    /// Saves a changed kernel, which starts its measurement, or measures the text on disk.
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
        let (Some(opened), Some(taught)) = (&self.opened, self.open_lesson()) else { return };
        let progress = taught.progress.clone();
        self.submit(BackgroundTask::SaveProgress(opened.project.root.clone(), progress));
    }
}
