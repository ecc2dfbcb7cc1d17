//! Panel of one search variant with its provenance and results, or of one suggested change of the current kernel.

use egui::{CollapsingHeader, Frame, Margin, RichText, ScrollArea, Stroke, TextEdit, Ui, vec2};
use lightbench_core::search::entry::{Basis, FailureRecord, ModelExchange};
use lightbench_core::search::state::{ActionOutcome, Variant};
use lightbench_core::search::{Decision, ScreeningResult, SearchState, Verdict, WorkloadTime};

use super::{placeholder, sentence};
use crate::theme::{self, GAP, Tokens};
use crate::widgets::code::diff::{Diff, DiffView};
use crate::widgets::code::syntax::Language;
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::search::{SearchCommand, ShownSuggestion, Suggestion};

/// Width of the labels of stages, in points.
const HEADS: f32 = 84.0;

/// View state of the panel.
#[derive(Default)]
pub(super) struct VariantView {
    /// The variant and the rejection reason being entered.
    reason: Option<(usize, String)>,
    shown: Option<ShownDiff>,
}

struct ShownDiff {
    old: String,
    new: String,
    diff: Diff,
    view: DiffView,
}

impl std::fmt::Debug for VariantView {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("VariantView").field("reason", &self.reason).finish_non_exhaustive()
    }
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut VariantView,
    commands: &mut Vec<Command>,
) {
    let mut said = Vec::new();
    let searches = &bench.searches;
    match (&searches.suggestion, searches.story(), searches.shown()) {
        (Suggestion::Shown(suggested), ..) => suggestion(ui, suggested, view, &mut said),
        (Suggestion::Nothing(why), ..) => {
            placeholder::show(ui, "Nothing to suggest", why);
            ui.vertical_centered(|ui| {
                if ui.button("Dismiss").clicked() {
                    said.push(SearchCommand::DismissSuggestion);
                }
            });
        }
        (Suggestion::None, Some(story), Some(shown)) => {
            variant(ui, story, shown, view, &mut said);
        }
        (Suggestion::None, ..) => {
            placeholder::show(
                ui,
                "No variant selected",
                "Search with F9 and select a variant, or press Ctrl+Shift+G for one change of the current kernel",
            );
        }
    }
    commands.extend(said.into_iter().map(Command::Search));
}

fn strong(text: impl Into<String>) -> RichText {
    RichText::new(text).family(egui::FontFamily::Name(theme::STRONG.into()))
}

/// A suggested change of the current kernel, its reason, and its buttons.
fn suggestion(
    ui: &mut Ui,
    suggested: &ShownSuggestion,
    view: &mut VariantView,
    said: &mut Vec<SearchCommand>,
) {
    let (at, count) = (suggested.at + 1, suggested.count());
    ui.label(RichText::new(format!("Suggestion {at} of {count}, not evaluated")).small().weak());
    ui.label(strong(sentence(&suggested.draft.what)));
    ui.add(egui::Label::new(sentence(&suggested.reason)).wrap());
    let gain = format!("{:.2} × expected, a prediction", suggested.gain);
    ui.horizontal(|ui| {
        let tokens = theme::tokens(ui);
        Icon::Diamond.show(ui, tokens.origin.predicted.0);
        ui.label(gain);
    });
    ui.add_space(GAP);
    ui.horizontal_wrapped(|ui| {
        let accept = ui.button(strong("Accept suggestion"));
        let what = "Opens as a new, unsaved kernel in the editor; your text is unchanged";
        if accept.on_hover_text(what).clicked() {
            said.push(SearchCommand::AcceptSuggestion);
        }
        if ui.button("Next suggestion").clicked() {
            said.push(SearchCommand::NextSuggestion);
        }
        if ui.button("Dismiss").clicked() {
            said.push(SearchCommand::DismissSuggestion);
        }
    });
    ui.add_space(2.0 * GAP);
    let titles = [suggested.kernel.name.as_str(), "suggested"];
    texts(ui, view, (&suggested.kernel.source, &suggested.draft.source), titles);
}

fn variant(
    ui: &mut Ui,
    story: &SearchState,
    (number, variant): (usize, &Variant),
    view: &mut VariantView,
    said: &mut Vec<SearchCommand>,
) {
    let tokens = theme::tokens(ui);
    head(ui, &tokens, story, (number, variant));
    ui.add_space(GAP);
    orders(ui, number, variant, view, said);
    ui.add_space(GAP);
    let parent =
        variant.proposal.parent.and_then(|parent| Some((parent, story.variants.get(parent)?)));
    let most = if parent.is_some() { ui.available_height() * 0.5 } else { f32::INFINITY };
    let facts = ScrollArea::vertical().id_salt(("variant", number)).max_height(most);
    facts.auto_shrink([false, true]).show(ui, |ui| {
        row(ui, (Icon::Right, tokens.text.weak.0), "Why now", &variant.proposal.why);
        stages(ui, &tokens, variant);
        if let Some(why) = &variant.turned_down {
            row(ui, (Icon::Cross, tokens.status.warning.0), "You rejected it", why);
        }
        if let Some(talked) = &variant.proposal.talk {
            talk(ui, talked);
        }
        in_vain(ui, &tokens, story, number);
    });
    ui.add_space(2.0 * GAP);
    if let Some((before, parent)) = parent {
        let titles = [format!("#{before}"), format!("#{number}")];
        let both = (parent.proposal.source.as_str(), variant.proposal.source.as_str());
        texts(ui, view, both, [&titles[0], &titles[1]]);
    }
}

/// The title, the operator and parent, the reason for its selection, and its speedup.
fn head(ui: &mut Ui, tokens: &Tokens, story: &SearchState, (number, variant): (usize, &Variant)) {
    let proposal = &variant.proposal;
    ui.add(egui::Label::new(strong(sentence(&proposal.what)).color(tokens.text.strong.0)).wrap());
    ui.horizontal_wrapped(|ui| {
        let from = proposal.parent.map(|parent| format!(" of #{parent}")).unwrap_or_default();
        ui.label(format!("Variant {number}{from}, by {}", proposal.origin));
        if let Some(factor) = story.speedup(number) {
            let (icon, color, word) = match story.basis(number) {
                Some(Basis::Measured) => (Icon::Dot, tokens.origin.measured.0, "measured"),
                Some(Basis::Modelled) | None => (Icon::Ring, tokens.origin.modelled.0, "modelled"),
            };
            icon.show(ui, color);
            ui.label(format!("{factor:.2} × the first, {word}"));
        }
        if story.best == Some(number) {
            Icon::Star.show(ui, tokens.status.good.0);
            ui.colored_label(tokens.status.good.0, "best");
        }
    });
}

fn orders(
    ui: &mut Ui,
    number: usize,
    variant: &Variant,
    view: &mut VariantView,
    said: &mut Vec<SearchCommand>,
) {
    let has_passed = matches!(variant.verdict, Some(Verdict::Passed { .. }));
    ui.horizontal_wrapped(|ui| {
        let accept = ui.add_enabled(has_passed, egui::Button::new(strong("Accept")));
        let what = "Opens as a new, unsaved kernel in the editor; your text is unchanged";
        let accept = accept.on_hover_text(what);
        let accept = accept.on_disabled_hover_text("It did not pass every check");
        if accept.clicked() {
            said.push(SearchCommand::Accept);
        }
        let keep = ui.button("Keep as branch").on_hover_text("A new file beside the other kernels");
        if keep.clicked() {
            said.push(SearchCommand::KeepAsBranch);
        }
        let is_writing = matches!(&view.reason, Some((of, _)) if *of == number);
        // The first variant is the base of comparison.
        if number > 0 && ui.selectable_label(is_writing, "Reject…").clicked() {
            view.reason = if is_writing { None } else { Some((number, String::new())) };
        }
    });
    let Some((_, reason)) = view.reason.as_mut().filter(|(of, _)| *of == number) else { return };
    let mut is_done = false;
    ui.horizontal(|ui| {
        let field = TextEdit::singleline(reason).hint_text("Reason for the rejection");
        let field = ui.add(field.desired_width((ui.available_width() - 80.0).max(80.0)));
        field.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Reason for the rejection")
        });
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let has_reason = !reason.trim().is_empty();
        let clicked = ui.add_enabled(has_reason, egui::Button::new("Reject")).clicked();
        is_done = has_reason && (entered || clicked);
    });
    if is_done && let Some((_, reason)) = view.reason.take() {
        said.push(SearchCommand::Reject(reason));
    }
}

/// Each stage with its result.
fn stages(ui: &mut Ui, tokens: &Tokens, variant: &Variant) {
    let good = (Icon::Check, tokens.status.good.0);
    let bad = (Icon::Cross, tokens.status.bad.0);
    let warning = (Icon::Warning, tokens.status.warning.0);
    match &variant.look {
        None => row(ui, (Icon::Ring, tokens.text.weak.0), "Quick look", "not yet"),
        Some(ScreeningResult::Right { times }) => row(ui, good, "Quick look", &told(times)),
        Some(ScreeningResult::Slow { times }) => {
            let text = format!("slow, not timed on every workload: {}", told(times));
            row(ui, (Icon::Down, tokens.text.weak.0), "Quick look", &text);
        }
        Some(ScreeningResult::Failed(FailureRecord { sentence, .. })) => {
            row(ui, bad, "Quick look", sentence);
        }
        Some(ScreeningResult::NotJudged(FailureRecord { sentence, .. })) => {
            row(ui, warning, "Quick look", sentence);
        }
    }
    if !variant.tried.is_empty() {
        let text = format!("{} configurations were tried", variant.tried.len());
        row(ui, good, "Tuning", &text);
    }
    match &variant.verdict {
        None => {}
        Some(Verdict::Passed { lines, .. }) => {
            row(ui, good, "Every check", &lines.join("\n"));
        }
        Some(Verdict::Failed(FailureRecord { sentence, .. })) => {
            row(ui, bad, "Every check", sentence);
        }
        Some(Verdict::NotJudged(FailureRecord { sentence, .. })) => {
            row(ui, warning, "Every check", sentence);
        }
    }
    match &variant.decision {
        None => {}
        Some(Decision::Accepted { why }) => {
            row(ui, (Icon::Star, tokens.status.good.0), "Accepted", why);
        }
        Some(Decision::Kept { why }) => row(ui, good, "Kept", why),
        Some(Decision::Rejected { why }) => row(ui, bad, "Not used", why),
        Some(Decision::NotJudged { why }) => row(ui, warning, "Not judged", why),
    }
}

fn row(ui: &mut Ui, (icon, color): (Icon, egui::Color32), head: &str, text: &str) {
    ui.horizontal_top(|ui| {
        icon.show(ui, color);
        let size = vec2(HEADS, ui.text_style_height(&egui::TextStyle::Body));
        let layout = egui::Layout::left_to_right(egui::Align::Min);
        ui.allocate_ui_with_layout(size, layout, |ui| {
            ui.set_min_width(HEADS);
            ui.weak(head);
        });
        ui.add(egui::Label::new(text).wrap());
    });
}

fn told(times: &[WorkloadTime]) -> String {
    let each = times.iter().map(|time| match time.basis {
        Basis::Measured => format!("{} about {}", time.workload, time.seconds),
        Basis::Modelled => format!("{} modelled {}", time.workload, time.seconds),
    });
    let told = each.collect::<Vec<_>>().join(", ");
    if told.is_empty() { "passed, not timed".to_owned() } else { told }
}

/// Failed attempts from this variant.
fn in_vain(ui: &mut Ui, tokens: &Tokens, story: &SearchState, number: usize) {
    for (index, attempt) in story.attempts.iter().enumerate() {
        let ActionOutcome::Nothing { why, talk: talked } = &attempt.came else { continue };
        if attempt.parent != number {
            continue;
        }
        let text = format!("{}: {why}", attempt.action);
        row(ui, (Icon::Down, tokens.text.weak.0), "Failed attempts", &text);
        if let Some(talked) = talked {
            ui.push_id(("in vain", index), |ui| talk(ui, talked));
        }
    }
}

/// A model's prompt and answer.
fn talk(ui: &mut Ui, talk: &ModelExchange) {
    for (title, text) in [
        (format!("Prompt to {}", talk.model), &talk.prompt),
        (format!("Reply of {}", talk.model), &talk.reply),
    ] {
        CollapsingHeader::new(title).show(ui, |ui| {
            let tokens = theme::tokens(ui);
            Frame::new()
                .fill(tokens.surface.sunken.0)
                .stroke(Stroke::new(1.0, tokens.line.faint.0))
                .inner_margin(Margin::same(6))
                .show(ui, |ui| {
                    let text = RichText::new(text).monospace().size(11.5);
                    ui.add(egui::Label::new(text).wrap().selectable(true));
                });
        });
    }
}

/// A diff of both texts, recomputed only when they change.
fn texts(ui: &mut Ui, view: &mut VariantView, (old, new): (&str, &str), titles: [&str; 2]) {
    if view.shown.as_ref().is_none_or(|shown| shown.old != old || shown.new != new) {
        view.shown = Some(ShownDiff {
            old: old.to_owned(),
            new: new.to_owned(),
            diff: Diff::from_texts(old, new),
            view: DiffView::new("Variant against its parent", Language::Cuda),
        });
    }
    if let Some(ShownDiff { diff, view, .. }) = &mut view.shown {
        view.show(ui, diff, titles);
    }
}
