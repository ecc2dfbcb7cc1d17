//! Panel of a search: the plan of the next one, the state of the running one, and its variants as a tree.

use std::time::Duration;

use egui::{
    Align, Button, Checkbox, ComboBox, DragValue, Layout, Rect, RichText, ScrollArea, Sense, Ui,
    vec2,
};
use lightbench_core::search::roles::Roles;
use lightbench_core::search::{Pace, SearchState};
use lightbench_core::strategies::{StrategyKind, TunerKind};

use super::{placeholder, sentence, variant_rows};
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::search::{
    ActiveSearch, FailureVisibility, JournalOrigin, Participation, SearchCommand, SearchPlan,
    SearchStage, ended, failed, tree,
};

/// View state of the search.
#[derive(Debug, Default)]
pub(super) struct SearchView {
    /// The variant that the list was last scrolled to.
    seen: Option<usize>,
    /// The plan while one of its numbers is dragged.
    dragged: Option<SearchPlan>,
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut SearchView,
    now: Duration,
    commands: &mut Vec<Command>,
) {
    let Some(opened) = &bench.opened else {
        placeholder::show(
            ui,
            "No project is open",
            "A search proposes variants of one of its kernels",
        );
        return;
    };
    let tokens = theme::tokens(ui);
    let searches = &bench.searches;
    let mut said = Vec::new();
    match searches.running() {
        Some(current) => running(ui, &tokens, bench, (current, now), &mut said),
        None => next(ui, bench, &opened.kernel, view, &mut said),
    }
    if let Some(story) = searches.story() {
        if searches.running().is_none() || searches.read.is_some() {
            about(ui, &tokens, bench, (story, now), &mut said);
        }
        ui.add_space(GAP);
        list_head(ui, bench, story, &mut said);
        list(ui, bench, story, view, &mut said);
    } else if searches.running().is_some() {
        placeholder::show(ui, "The search starts", "Its first variant is the unchanged kernel");
    } else {
        let names = "F9 starts one: rewrite rules and tuning propose variants, verification decides, and your text is unchanged";
        placeholder::show(ui, "No search yet", names);
    }
    commands.extend(said.into_iter().map(Command::Search));
}

fn strong(text: impl Into<String>) -> RichText {
    RichText::new(text).family(egui::FontFamily::Name(theme::STRONG.into()))
}

/// Seconds as minutes and seconds.
fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// State, time and budget of the running search, and what it waits for.
fn running(
    ui: &mut Ui,
    tokens: &Tokens,
    bench: &Workbench,
    (current, now): (&ActiveSearch, Duration),
    said: &mut Vec<SearchCommand>,
) {
    let (word, icon, color) = match current.stage {
        SearchStage::Starting => ("Starting", Icon::Ring, tokens.status.running.0),
        SearchStage::Running => ("Running", Icon::Play, tokens.status.running.0),
        SearchStage::Paused => ("Paused", Icon::Equal, tokens.status.warning.0),
        SearchStage::Stopping => ("Stopping", Icon::Stop, tokens.status.warning.0),
        SearchStage::Ended => ("Ended", Icon::Stop, tokens.text.weak.0),
    };
    ui.horizontal(|ui| {
        icon.show(ui, color);
        ui.label(strong(word).color(color));
        ui.label(clock(current.seconds(now)));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            pace(ui, bench.settings.search.pace, said);
            let can_stop = current.stage != SearchStage::Stopping;
            if ui.add_enabled(can_stop, Button::new("Stop")).clicked() {
                said.push(SearchCommand::Stop);
            }
            match current.stage {
                SearchStage::Paused => {
                    if ui.button("Go on").clicked() {
                        said.push(SearchCommand::Resume);
                    }
                }
                SearchStage::Starting
                | SearchStage::Running
                | SearchStage::Stopping
                | SearchStage::Ended => {
                    let can_pause = current.stage == SearchStage::Running;
                    if ui.add_enabled(can_pause, Button::new("Pause")).clicked() {
                        said.push(SearchCommand::Pause);
                    }
                }
            }
        });
    });
    let Some(story) = &current.story else { return };
    subject(ui, story);
    budget(ui, current, story, now);
    if let Some(waiting) = &current.waiting {
        let text = RichText::new(waiting.to_string()).weak();
        ui.add(egui::Label::new(text).truncate());
    }
    if bench.searches.read.is_some() && ui.button("Show the running search").clicked() {
        said.push(SearchCommand::ShowCurrent);
    }
}

/// The searched kernel and the method.
fn subject(ui: &mut Ui, story: &SearchState) {
    let header = &story.header;
    let operators = header.operators.join(" and ");
    let text = format!(
        "{} on {}, strategy {}, tuner {}, {operators} propose",
        header.kernel, header.device_title, header.strategy, header.tuner
    );
    ui.add(egui::Label::new(RichText::new(text).weak()).truncate());
}

/// The used and the remaining budget.
fn budget(ui: &mut Ui, current: &ActiveSearch, story: &SearchState, now: Duration) {
    let used = story.spent.evaluations;
    let (part, text) = match current.budget.evaluations {
        Some(most) => {
            let evaluations = if most == 1 { "evaluation" } else { "evaluations" };
            let text =
                format!("{used} of {most} {evaluations}, {} left", most.saturating_sub(used));
            (used as f32 / most.max(1) as f32, text)
        }
        None => (0.0, format!("{}, no limit", story.spent.evaluation_count())),
    };
    let seconds = current.seconds(now);
    let left = current.budget.seconds.map(|most| format!("{} left", clock(most - seconds)));
    let time = current.budget.seconds.map_or(0.0, |most| (seconds / most.max(1e-9)) as f32);
    let text = [Some(text), left].into_iter().flatten().collect::<Vec<_>>().join(", ");
    ui.horizontal(|ui| {
        bar(ui, part.max(time).clamp(0.0, 1.0));
        ui.label(RichText::new(text).small());
    });
}

/// A bar of the used fraction; the text beside it has the same content.
fn bar(ui: &mut Ui, part: f32) {
    let tokens = theme::tokens(ui);
    let width = (ui.available_width() * 0.4).min(220.0);
    let (place, _) = ui.allocate_exact_size(vec2(width, 4.0), Sense::hover());
    ui.painter().rect_filled(place, 2.0, tokens.line.normal.0);
    let used = Rect::from_min_size(place.min, vec2(width * part, place.height()));
    ui.painter().rect_filled(used, 2.0, tokens.accent.0);
}

fn pace(ui: &mut Ui, pace: Pace, said: &mut Vec<SearchCommand>) {
    let word = |pace| match pace {
        Pace::Full => "full pace",
        Pace::Gentle => "gentle pace",
    };
    let chosen = ComboBox::from_id_salt("pace").selected_text(word(pace)).width(96.0);
    let shown = chosen.show_ui(ui, |ui| {
        for each in [Pace::Full, Pace::Gentle] {
            if ui.selectable_label(each == pace, word(each)).clicked() {
                said.push(SearchCommand::Pace(each));
            }
        }
    });
    let name = format!("Pace: {}", word(pace));
    shown
        .response
        .on_hover_text("At a gentle pace the search idles half of the time")
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, &name));
}

/// The plan of the next search.
fn next(
    ui: &mut Ui,
    bench: &Workbench,
    kernel: &str,
    view: &mut SearchView,
    said: &mut Vec<SearchCommand>,
) {
    let kept = &bench.settings.search;
    let mut plan = view.dragged.take().unwrap_or_else(|| kept.clone());
    ui.horizontal_wrapped(|ui| {
        let start = Button::new(strong(format!("Search from {kernel}")));
        if ui.add(start).on_hover_text("F9").clicked() {
            said.push(SearchCommand::Start);
        }
        if ui.button("Suggest a change").on_hover_text("One change; nothing runs").clicked() {
            said.push(SearchCommand::Suggest);
        }
        earlier(ui, bench, said);
    });
    ui.horizontal_wrapped(|ui| {
        strategy(ui, &mut plan);
        tuner(ui, &mut plan);
        taking(ui, "Rules", &mut plan.rules);
        taking(ui, "Tuning", &mut plan.tuning);
    });
    models(ui, bench, &mut plan);
    ui.horizontal_wrapped(|ui| {
        row_name(ui, "Budget");
        limits(ui, &mut plan);
        pace(ui, plan.pace, said);
    });
    if plan == *kept {
        return;
    }
    // Changes are stored in the settings; a number is stored when the drag ends.
    if ui.input(|input| input.pointer.any_down()) {
        view.dragged = Some(plan);
    } else {
        said.push(SearchCommand::Plan(plan));
    }
}

/// The label of a row of the plan, with the same width in every row.
fn row_name(ui: &mut Ui, name: &str) {
    let size =
        vec2(ui.text_style_height(&egui::TextStyle::Body) * 3.4, ui.spacing().interact_size.y);
    let left = egui::Layout::left_to_right(egui::Align::Center);
    ui.allocate_ui_with_layout(size, left, |ui| {
        ui.set_min_width(size.x);
        ui.label(name);
    });
}

fn strategy(ui: &mut Ui, plan: &mut SearchPlan) {
    row_name(ui, "Strategy");
    let chosen = plan.strategy.to_string();
    let shown = ComboBox::from_id_salt("strategy").selected_text(&chosen).show_ui(ui, |ui| {
        for each in StrategyKind::ALL {
            ui.selectable_value(&mut plan.strategy, *each, each.to_string())
                .on_hover_text(each.description());
        }
    });
    shown.response.on_hover_text(plan.strategy.description()).widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::ComboBox, true, format!("Strategy: {chosen}"))
    });
}

fn tuner(ui: &mut Ui, plan: &mut SearchPlan) {
    ui.label("Tuner");
    let chosen = plan.tuner.to_string();
    let shown = ComboBox::from_id_salt("tuner").selected_text(&chosen).show_ui(ui, |ui| {
        for each in TunerKind::ALL {
            ui.selectable_value(&mut plan.tuner, *each, each.to_string())
                .on_hover_text(each.description());
        }
    });
    shown.response.on_hover_text(plan.tuner.description()).widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::ComboBox, true, format!("Tuner: {chosen}"))
    });
}

fn taking(ui: &mut Ui, name: &str, taking: &mut Participation) {
    let mut takes_part = *taking == Participation::Included;
    if ui.add(Checkbox::new(&mut takes_part, name)).changed() {
        *taking = if takes_part { Participation::Included } else { Participation::Excluded };
    }
}

/// The proposing models, their roles and their budget.
fn models(ui: &mut Ui, bench: &Workbench, plan: &mut SearchPlan) {
    let settings = &bench.settings.models;
    let known: Vec<&String> = settings.servers.keys().chain(settings.agents.keys()).collect();
    if known.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        row_name(ui, "Models");
        for name in known {
            let mut takes_part = plan.models.contains(name);
            if ui.add(Checkbox::new(&mut takes_part, name)).changed() {
                match takes_part {
                    true => plan.models.insert(name.clone()),
                    false => plan.models.remove(name),
                };
            }
        }
        if plan.models.is_empty() {
            return;
        }
        roles(ui, plan);
        let shown = DragValue::new(&mut plan.contrast).range(0..=16).suffix(" other variants");
        ui.add(shown).on_hover_text("Number of other variants, with their numbers, in a model's prompt");
        let mut tokens = plan.budget.tokens.unwrap_or_default();
        let field = DragValue::new(&mut tokens).speed(1000).custom_formatter(|value, _| {
            if value == 0.0 { "no token limit".to_owned() } else { format!("{value} tokens") }
        });
        let field = field.custom_parser(leading_number);
        if ui.add(field).on_hover_text("Token budget of models; 0 for no limit").changed() {
            plan.budget.tokens = (tokens > 0).then_some(tokens);
        }
        let mut money = plan.budget.money.unwrap_or_default();
        let field = DragValue::new(&mut money).range(0.0..=1e6).speed(0.01).max_decimals(2);
        let field = field.custom_formatter(|value, _| {
            if value == 0.0 { "no cost limit".to_owned() } else { format!("{value:.2} of cost") }
        });
        let what =
            "Money budget of models, in the currency of the prices in your settings; 0 for no limit";
        if ui.add(field.custom_parser(leading_number)).on_hover_text(what).changed() {
            plan.budget.money = (money > 0.0).then_some(money);
        }
    });
}

fn roles(ui: &mut Ui, plan: &mut SearchPlan) {
    let chosen = plan.roles.to_string();
    let shown = ComboBox::from_id_salt("roles").selected_text(&chosen).show_ui(ui, |ui| {
        for each in Roles::ALL {
            ui.selectable_value(&mut plan.roles, each, each.to_string());
        }
    });
    shown.response.on_hover_text("Roles of models").widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::ComboBox, true, format!("Roles: {chosen}"))
    });
}

/// The number before a unit in typed text.
fn leading_number(text: &str) -> Option<f64> {
    text.trim_end_matches(|letter: char| letter.is_alphabetic() || letter == ' ').parse().ok()
}

fn limits(ui: &mut Ui, plan: &mut SearchPlan) {
    let mut evaluations = plan.budget.evaluations.unwrap_or_default();
    let field = DragValue::new(&mut evaluations).range(1..=100_000).suffix(" evaluations");
    let field =
        ui.add(field).on_hover_text("Maximum number of evaluated candidates and configurations");
    if field.changed() {
        plan.budget.evaluations = Some(evaluations);
    }
    let mut minutes = plan.budget.seconds.map_or(0.0, |seconds| seconds / 60.0);
    let field = DragValue::new(&mut minutes).range(0.0..=10_000.0).max_decimals(1);
    let field = field.custom_formatter(|value, _| match value {
        0.0 => "no time limit".to_owned(),
        value => format!("{value} min"),
    });
    let field = field.custom_parser(leading_number);
    if ui.add(field).on_hover_text("Time limit in minutes; 0 for no limit").changed() {
        plan.budget.seconds = (minutes > 0.0).then_some(minutes * 60.0);
    }
}

/// The search journals on disk.
fn earlier(ui: &mut Ui, bench: &Workbench, said: &mut Vec<SearchCommand>) {
    let listed = &bench.searches.listed;
    if listed.is_empty() {
        return;
    }
    ui.menu_button(format!("Earlier searches {}", listed.len()), |ui| {
        ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
            for header in listed {
                let began = header.began_at.to_string();
                let day = began.get(..16).unwrap_or_default().replace('T', " ");
                let name = format!(
                    "{day}  {}  {} on {}",
                    header.kernel, header.strategy, header.device_title
                );
                if ui.button(name).clicked() {
                    said.push(SearchCommand::OpenJournal(header.id.clone()));
                    ui.close();
                }
            }
        });
    });
}

/// A search that does not run: its subject, why it ended, and whether it can be resumed.
fn about(
    ui: &mut Ui,
    tokens: &Tokens,
    bench: &Workbench,
    (story, now): (&SearchState, Duration),
    said: &mut Vec<SearchCommand>,
) {
    ui.separator();
    let searches = &bench.searches;
    let writer = searches.read.as_ref().map_or(JournalOrigin::Own, |read| read.writer);
    ui.horizontal_wrapped(|ui| {
        let why = match &story.ended {
            Some(why) => sentence(&ended(why)),
            None => "Not finished".to_owned(),
        };
        ui.label(strong(why));
        let seconds = match (&searches.read, &searches.current) {
            (None, Some(current)) => current.seconds(now),
            (Some(_), _) | (None, None) => story.spent.seconds,
        };
        let spent = format!("{} in {}", story.spent.evaluation_count(), clock(seconds));
        ui.label(RichText::new(spent).weak());
        match writer {
            JournalOrigin::Own if searches.running().is_none() => {
                let again = ui.button("Resume it");
                let what =
                    "Resumes from its journal; an exhausted budget is extended by the plan's";
                if again.on_hover_text(what).clicked() {
                    said.push(SearchCommand::Resume);
                }
            }
            JournalOrigin::Own => {}
            JournalOrigin::Foreign => {
                Icon::Square.show(ui, tokens.origin.recorded.0);
                ui.label("Written by another machine; read-only");
            }
        }
    });
    subject(ui, story);
}

fn list_head(ui: &mut Ui, bench: &Workbench, story: &SearchState, said: &mut Vec<SearchCommand>) {
    let failures = story.variants.iter().filter(|variant| failed(variant).is_some()).count();
    ui.horizontal(|ui| {
        ui.label(strong(format!("{} variants", story.variants.len())));
        let mut is_shown = bench.searches.failures == FailureVisibility::Shown;
        let name = format!("Show {failures} failed");
        if ui.add_enabled(failures > 0, Checkbox::new(&mut is_shown, name)).changed() {
            said.push(SearchCommand::ToggleFailures);
        }
    });
}

/// The variants, one row each; arrow keys move between rows.
fn list(
    ui: &mut Ui,
    bench: &Workbench,
    story: &SearchState,
    view: &mut SearchView,
    said: &mut Vec<SearchCommand>,
) {
    let rows = tree(story, bench.searches.failures);
    let chosen = bench.searches.shown().map(|(number, _)| number);
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut area = ScrollArea::vertical().id_salt("variants").auto_shrink(false);
    let at = rows.iter().position(|row| Some(row.variant) == chosen);
    if let Some(at) = at.filter(|_| view.seen != chosen) {
        let (top, room) = (theme::ROW * at as f32, ui.available_height());
        area = area.vertical_scroll_offset((top - room / 2.0).max(0.0));
    }
    view.seen = chosen;
    area.show_rows(ui, theme::ROW, rows.len(), |ui, range| {
        for place in range {
            let Some(row) = rows.get(place) else { continue };
            let rejection = story.variants[row.variant].turned_down.as_deref();
            let near = variant_rows::Neighbours {
                before: place.checked_sub(1).and_then(|before| Some(rows.get(before)?.variant)),
                after: rows.get(place + 1).map(|row| row.variant),
            };
            let marked =
                variant_rows::RowState { is_chosen: chosen == Some(row.variant), rejection };
            said.extend(variant_rows::line(ui, story, row, (marked, near)));
        }
    });
}
