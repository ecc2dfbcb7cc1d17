//! Panel of a lesson: text of the step, question, goals, hints and recorded measurements.

use egui::{
    Align, Color32, CornerRadius, Frame, Grid, Layout, Margin, Rect, RichText, Role, ScrollArea,
    Sense, Slider, Stroke, Ui, WidgetInfo, vec2,
};
use egui_commonmark::{CommonMarkCache, CommonMarkViewer};
use lightbench_core::lesson::goal::GoalState;
use lightbench_core::lesson::recorded::RecordedKind;
use lightbench_core::lesson::{GoalProgress, Lesson, Nearness, Prediction, Step};

use super::placeholder;
use crate::theme::{self, GAP, Tokens};
use crate::widgets::code::diff::{Diff, DiffView};
use crate::widgets::code::syntax::Language;
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::lesson::{
    LessonCommand, LessonState, OpenLesson, PanelSet, Skipping, Solution,
};
use crate::workbench::problem::Problem;

/// View state of the lesson.
#[derive(Default)]
pub(super) struct LessonView {
    markdown: CommonMarkCache,
    /// The step and the guess being entered.
    guess: Option<(usize, f64)>,
    solution: Option<SolutionDiff>,
}

/// The student's text beside the solution.
struct SolutionDiff {
    own: String,
    name: String,
    diff: Diff,
    view: DiffView,
}

impl std::fmt::Debug for LessonView {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LessonView").field("guess", &self.guess).finish_non_exhaustive()
    }
}

/// Maximum text width, in points.
const READABLE: f32 = 620.0;

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut LessonView,
    commands: &mut Vec<Command>,
) {
    match bench.opened.as_ref().map(|opened| &opened.lesson) {
        None | Some(LessonState::Nothing) => placeholder::show(
            ui,
            "No lesson is open",
            "Lessons are projects with steps: select one on the start page, or open its folder",
        ),
        Some(LessonState::Broken(problems)) => broken(ui, problems, commands),
        Some(LessonState::Lesson(taught)) => {
            head(ui, taught, commands);
            if taught.solution == Solution::Shown {
                if ui.button("Back to the lesson").clicked() {
                    commands.push(Command::Lesson(LessonCommand::Solution));
                }
                ui.add_space(GAP);
                solution(ui, bench, taught, view);
                return;
            }
            let Some(step) = taught.step() else { return };
            let room = ui.available_height();
            egui::Panel::bottom("actions of the lesson")
                .frame(Frame::new().inner_margin(Margin { top: 8, ..Margin::ZERO }))
                .show_separator_line(false)
                .show(ui, |ui| {
                    task(ui, bench, (taught, step), (view, room), commands);
                    actions(ui, bench, taught, step, commands);
                });
            let salt = ("lesson", taught.progress.step);
            ScrollArea::vertical().id_salt(salt).auto_shrink(false).show(ui, |ui| {
                ui.set_max_width(ui.available_width().min(READABLE));
                body(ui, bench, taught, step, view);
            });
        }
    }
}

fn strong(text: impl Into<String>) -> RichText {
    RichText::new(text).family(egui::FontFamily::Name(theme::STRONG.into()))
}

fn broken(ui: &mut Ui, problems: &[Problem], commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    ui.label(strong("This lesson cannot be used"));
    ui.add_space(GAP);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for problem in problems {
            let at = problem.place.as_ref();
            let at = at.map(|place| format!("{}:{}  ", place.file.display(), place.line));
            ui.horizontal_wrapped(|ui| {
                Icon::Cross.show(ui, tokens.status.bad.0);
                let text = format!("{}{}", at.unwrap_or_default(), problem.message);
                let response = ui.add(egui::Label::new(text).wrap().sense(Sense::click()));
                if let Some(place) = problem.place.as_ref().filter(|_| response.clicked()) {
                    commands.push(Command::GoTo(place.file.clone(), place.line, place.column));
                }
            });
        }
    });
}

/// The title, the progress, and the buttons to other steps.
fn head(ui: &mut Ui, taught: &OpenLesson, commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    let Lesson { title, order, steps, .. } = &*taught.lesson;
    ui.horizontal(|ui| {
        ui.label(RichText::new(format!("Lesson {order}")).color(tokens.text.weak.0));
        ui.label(strong(title).color(tokens.text.strong.0));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (at, last) = (taught.progress.step, steps.len().saturating_sub(1));
            let mut go = |ui: &mut Ui, name: &str, command, possible: bool| {
                if ui.add_enabled(possible, egui::Button::new(name)).clicked() {
                    commands.push(Command::Lesson(command));
                }
            };
            let next = match taught.skipping {
                Skipping::No => "Next step",
                Skipping::Asked => "Skip step",
            };
            go(ui, next, LessonCommand::Next, at < last);
            go(ui, "Previous step", LessonCommand::Previous, at > 0);
            ui.label(
                RichText::new(format!("{} of {}", at + 1, steps.len())).color(tokens.text.weak.0),
            );
        });
    });
    ui.add_space(GAP);
    dashes(ui, &tokens, taught);
    ui.add_space(3.0 * GAP);
}

/// A dash per step: done, current or open.
fn dashes(ui: &mut Ui, tokens: &Tokens, taught: &OpenLesson) {
    let count = taught.lesson.steps.len().max(1);
    let (place, _) = ui.allocate_exact_size(vec2(ui.available_width(), 3.0), Sense::hover());
    let each = place.width() / count as f32;
    for step in 0..count {
        let left = place.left() + each * step as f32;
        let rect = Rect::from_min_size(
            egui::pos2(left, place.top()),
            vec2(each - if step + 1 < count { 3.0 } else { 0.0 }, 3.0),
        );
        let color = match step.cmp(&taught.progress.step) {
            std::cmp::Ordering::Less => tokens.accent.faded(0.45),
            std::cmp::Ordering::Equal => tokens.accent.0,
            std::cmp::Ordering::Greater => tokens.line.normal.0,
        };
        ui.painter().rect_filled(rect, CornerRadius::same(1), color);
    }
}

fn body(ui: &mut Ui, bench: &Workbench, taught: &OpenLesson, step: &Step, view: &mut LessonView) {
    ui.heading(&step.title);
    ui.add_space(2.0 * GAP);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 5.0;
        CommonMarkViewer::new().show(ui, &mut view.markdown, &step.text);
    });
    ui.add_space(2.0 * GAP);
    hints(ui, taught, step);
    recorded(ui, bench, taught);
}

/// The question and the goals of the step, always visible below its text, in a part of the panel's height.
fn task(
    ui: &mut Ui,
    bench: &Workbench,
    (taught, step): (&OpenLesson, &Step),
    (view, room): (&mut LessonView, f32),
    commands: &mut Vec<Command>,
) {
    let most = 0.6 * room;
    let area = ScrollArea::vertical().id_salt("task").max_height(most).min_scrolled_height(most);
    area.show(ui, |ui| {
        ui.set_max_width(ui.available_width().min(READABLE));
        if let Some(prediction) = &step.prediction {
            card(ui, |ui| predict(ui, taught, prediction, view, commands));
        }
        if !step.goals.is_empty() {
            card(ui, |ui| goals(ui, bench, taught, step));
        }
    });
    if taught.skipping == Skipping::Asked {
        ui.label("This step is incomplete; press Skip step to go on without it");
        ui.add_space(GAP);
    }
}

fn card(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    let tokens = theme::tokens(ui);
    Frame::new()
        .fill(tokens.surface.window.0)
        .stroke(Stroke::new(1.0, tokens.line.normal.0))
        .corner_radius(6)
        .inner_margin(Margin::symmetric(12, 10))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            content(ui);
        });
    ui.add_space(2.0 * GAP);
}

fn small_head(ui: &mut Ui, text: &str) {
    let tokens = theme::tokens(ui);
    ui.label(RichText::new(text).small().color(tokens.text.weak.0));
}

fn amount(value: f64, unit: &str) -> String {
    let number = if value.abs() >= 100.0 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    };
    format!("{number} {unit}")
}

/// The question, the guess and the answer.
fn predict(
    ui: &mut Ui,
    taught: &OpenLesson,
    prediction: &Prediction,
    view: &mut LessonView,
    commands: &mut Vec<Command>,
) {
    let tokens = theme::tokens(ui);
    small_head(ui, "Predict");
    let question = ui.label(strong(&prediction.question));
    ui.add_space(GAP);
    let here = taught.step_progress();
    let at = taught.progress.step;
    let Some(guess) = here.guess else {
        let (from, to) = prediction.range;
        // Without a guess the field is empty: an initial number would be a hint.
        let guessed = view.guess.filter(|(step, _)| *step == at).map(|(_, value)| value);
        let mut value = guessed.unwrap_or(from);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().slider_width = (ui.available_width() - 220.0).clamp(120.0, 300.0);
            let slider = Slider::new(&mut value, from..=to).max_decimals(1);
            let slider = slider.suffix(format!(" {}", prediction.unit));
            let slider = slider.custom_formatter(|value, digits| match guessed {
                Some(_) => egui::emath::format_with_decimals_in_range(value, digits),
                None => "?".to_owned(),
            });
            let response = ui.add(slider).labelled_by(question.id);
            if response.changed() || response.is_pointer_button_down_on() {
                view.guess = Some((at, value));
            }
            let commit = ui.add_enabled(guessed.is_some(), egui::Button::new("Commit"));
            let commit = commit
                .on_hover_text("Answer this before the measurement")
                .on_disabled_hover_text("Move the slider, or type a number, to what you expect");
            if commit.clicked() {
                commands.push(Command::Lesson(LessonCommand::Guess(value)));
            }
        });
        return;
    };
    Grid::new("guess").num_columns(3).spacing(vec2(4.0 * GAP, GAP)).show(ui, |ui| {
        let row = |ui: &mut Ui, name: &str, (icon, color): (Icon, Color32), text: String| {
            ui.label(RichText::new(name).color(tokens.text.weak.0));
            ui.horizontal(|ui| {
                icon.show(ui, color);
                ui.label(strong(text));
            });
        };
        row(
            ui,
            "your guess",
            (Icon::Diamond, tokens.origin.predicted.0),
            amount(guess, &prediction.unit),
        );
        ui.label(RichText::new("predicted").color(tokens.origin.predicted.0));
        ui.end_row();
        match here.answer {
            Some((value, told)) => {
                let look = match told.word() {
                    "measured" => (Icon::Dot, tokens.origin.measured.0),
                    _modelled => (Icon::Ring, tokens.origin.modelled.0),
                };
                row(ui, "result", look, amount(value, &prediction.unit));
                ui.label(RichText::new(told.word()).color(look.1));
                ui.end_row();
            }
            None => {
                ui.label(RichText::new("result").color(tokens.text.weak.0));
                ui.label(RichText::new("press Measure").color(tokens.text.weak.0));
                ui.end_row();
            }
        }
    });
    if let Some((value, _)) = here.answer {
        ui.add_space(GAP);
        ui.label(strong(sentence(Nearness::from_guess(guess, value))));
    }
}

fn sentence(nearness: Nearness) -> String {
    match nearness {
        Nearness::Close => "Close".to_owned(),
        Nearness::RightSize => "Close: the right order of magnitude".to_owned(),
        Nearness::TooMuch(_) | Nearness::TooLittle(_) => {
            let words = nearness.words();
            format!("You guessed {words}: what did you miss?")
        }
    }
}

fn goals(ui: &mut Ui, bench: &Workbench, taught: &OpenLesson, step: &Step) {
    let tokens = theme::tokens(ui);
    let judged = bench.judged();
    small_head(ui, if taught.step_progress().done { "Goals, reached" } else { "Goals" });
    for (goal, judged) in step.goals.iter().zip(&judged) {
        goal_row(ui, &tokens, &goal.words(), judged);
    }
}

fn goal_row(ui: &mut Ui, tokens: &Tokens, words: &str, judged: &GoalProgress) {
    let (icon, color, state) = match judged.state {
        GoalState::Met => (Icon::Check, tokens.status.good.0, "reached"),
        GoalState::Missed => (Icon::Cross, tokens.status.bad.0, "not reached"),
        GoalState::Unknown => (Icon::Ring, tokens.text.weak.0, "not known yet"),
    };
    ui.horizontal_top(|ui| {
        icon.show(ui, color);
        ui.horizontal_wrapped(|ui| {
            let mut letters = words.chars();
            let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
            let words = format!("{}{}", first.unwrap_or_default(), letters.as_str());
            let response = ui.label(&words);
            response.widget_info(|| {
                WidgetInfo::labeled(Role::Label, true, format!("{words}, {state}"))
            });
            let now = match judged.source {
                Some(source) => format!("now {}, {}", judged.current, source.word()),
                None => state.to_owned(),
            };
            ui.label(RichText::new(now).small().color(tokens.text.weak.0));
        });
    });
    ui.add_space(GAP);
}

fn actions(
    ui: &mut Ui,
    bench: &Workbench,
    taught: &OpenLesson,
    step: &Step,
    commands: &mut Vec<Command>,
) {
    let tokens = theme::tokens(ui);
    let mut push = |command| commands.push(Command::Lesson(command));
    let known = bench.evaluations.kernel(taught.measured());
    let is_running = known.is_some_and(|known| known.running.is_some());
    ui.horizontal_wrapped(|ui| {
        let can_measure = !taught.waits_for_guess() && !is_running;
        let button = match can_measure {
            true => egui::Button::new(RichText::new("Measure").color(tokens.text.on_accent.0))
                .fill(tokens.accent.0),
            false => egui::Button::new("Measure"),
        };
        let response = ui.add_enabled(can_measure, button).on_disabled_hover_text(if is_running {
            "Measuring"
        } else {
            "Commit to a guess first"
        });
        if response.clicked() {
            push(LessonCommand::Measure);
        }
        let hints = step.hints.len();
        let shown = taught.step_progress().hints;
        if shown < hints && ui.button(format!("Hint {} of {hints}", shown + 1)).clicked() {
            push(LessonCommand::Hint);
        }
        if step.solution.is_some() {
            let done = taught.step_progress().done;
            let button = egui::Button::new("Compare with the solution");
            let response = ui.add_enabled(done, button);
            if response.on_disabled_hover_text("Available once every goal was reached").clicked() {
                push(LessonCommand::Solution);
            }
        }
        let everything = taught.panels == PanelSet::Everything;
        if ui.selectable_label(everything, "Show everything").clicked() {
            push(LessonCommand::Everything);
        }
    });
}

fn hints(ui: &mut Ui, taught: &OpenLesson, step: &Step) {
    let tokens = theme::tokens(ui);
    for (hint, number) in step.hints.iter().take(taught.step_progress().hints).zip(1..) {
        ui.horizontal_top(|ui| {
            ui.label(RichText::new(format!("Hint {number}")).color(tokens.accent.0));
            ui.add(egui::Label::new(coded(hint, &tokens)).wrap());
        });
        ui.add_space(GAP);
    }
}

/// A text with code between backticks in the code font.
fn coded(text: &str, tokens: &Tokens) -> egui::text::LayoutJob {
    let mut job = egui::text::LayoutJob::default();
    for (index, part) in text.split('`').enumerate() {
        let is_code = index % 2 == 1;
        let format = egui::TextFormat {
            font_id: if is_code {
                egui::FontId::monospace(12.5)
            } else {
                egui::FontId::proportional(13.0)
            },
            color: if is_code { tokens.text.strong.0 } else { tokens.text.normal.0 },
            ..egui::TextFormat::default()
        };
        job.append(part, 0.0, format);
    }
    job
}

/// Measurements recorded with the lesson.
fn recorded(ui: &mut Ui, bench: &Workbench, taught: &OpenLesson) {
    if taught.lesson.recorded.is_empty() {
        return;
    }
    let tokens = theme::tokens(ui);
    ui.add_space(2.0 * GAP);
    small_head(ui, "Runs that come with the lesson");
    let workload = bench.opened.as_ref().map(|opened| opened.workload.as_str());
    Grid::new("recorded").num_columns(4).spacing(vec2(4.0 * GAP, 2.0)).show(ui, |ui| {
        for run in &taught.lesson.recorded {
            let (icon, color) = match run.kind {
                RecordedKind::Device => (Icon::Square, tokens.origin.recorded.0),
                RecordedKind::Model => (Icon::Ring, tokens.origin.modelled.0),
            };
            icon.show(ui, color);
            ui.label(&run.kernel);
            let text = RichText::new(run.time.to_string());
            ui.label(if workload == Some(run.workload.as_str()) { text.strong() } else { text });
            ui.label(
                RichText::new(format!("{}, {}", run.workload, run.label()))
                    .color(tokens.text.weak.0),
            );
            ui.end_row();
        }
    });
}

/// The student's text beside the solution of the step.
fn solution(ui: &mut Ui, bench: &Workbench, taught: &OpenLesson, view: &mut LessonView) {
    let Some(opened) = &bench.opened else { return };
    let name = taught.step().and_then(|step| step.solution.clone()).unwrap_or_default();
    let (Ok(own), Ok(other)) =
        (opened.project.kernel(&taught.lesson.kernel), opened.project.kernel(&name))
    else {
        return;
    };
    let text = bench.documents.get(&own.file).map_or(&own.source, |document| &document.text);
    let is_shown = |known: &SolutionDiff| known.own == *text && known.name == name;
    if !view.solution.as_ref().is_some_and(is_shown) {
        view.solution = Some(SolutionDiff {
            own: text.clone(),
            name: name.clone(),
            diff: Diff::from_texts(text, &other.source),
            view: DiffView::new("Your kernel beside the solution", Language::Cuda),
        });
    }
    let Some(SolutionDiff { diff, view, .. }) = &mut view.solution else { return };
    view.show(ui, diff, ["Yours", &name]);
}
