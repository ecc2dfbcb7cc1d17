//! The panels, one file each: a panel draws from the workbench and returns commands.

mod access;
mod archive;
mod assembly;
mod best_so_far;
mod catches;
mod code_links;
mod compare;
mod compare_matrix;
mod conflict;
mod counters;
mod device;
mod doctor;
pub mod editor;
mod figures;
mod hardware;
mod heat;
mod history;
mod history_head;
mod history_row;
mod lesson;
mod log;
mod measurements;
mod pinned_column;
mod placeholder;
mod problems;
mod project;
mod resources;
mod result;
pub mod roofline;
mod search;
pub mod speed_of_light;
#[cfg(test)]
mod tests;
mod timeline;
pub mod timing;
mod variant;
mod variant_rows;
pub mod workloads;

use std::time::Duration;

use egui::Ui;

use crate::theme::Tokens;
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::panel::Panel;
use crate::workbench::runs::{RunRow, TimeSource};

/// View state of all panels.
#[derive(Debug, Default)]
pub struct Views {
    pub editor: editor::EditorView,
    history: history::HistoryView,
    assembly: assembly::AssemblyView,
    counters: counters::CountersView,
    resources: resources::ResourcesView,
    log: log::LogView,
    compare: compare::CompareView,
    figures: figures::FiguresView,
    lesson: lesson::LessonView,
    access: access::AccessView,
    timeline: timeline::TimelineView,
    search: search::SearchView,
    variant: variant::VariantView,
    best_so_far: best_so_far::BestSoFarView,
}

impl Views {
    /// Toggles the grouping of runs.
    pub(crate) fn group_runs(&mut self) {
        self.history.group();
    }

    /// Opens the label field for a run.
    pub(crate) fn ask_for_label(&mut self, row: &RunRow) {
        self.history.ask_for_label(row);
    }
}

/// The present title of a panel's tab.
#[must_use]
pub fn title(panel: Panel, bench: &Workbench) -> String {
    let plain = panel.title().to_owned();
    match panel {
        Panel::Problems => match problems::count(bench) {
            0 => plain,
            count => format!("{plain} {count}"),
        },
        Panel::Editor => match bench.documents.front() {
            Some(document) if document.is_changed() => {
                format!("{} (not saved)", document.file.display())
            }
            Some(document) => document.file.display().to_string(),
            None => plain,
        },
        Panel::Project
        | Panel::History
        | Panel::Result
        | Panel::Roofline
        | Panel::SpeedOfLight
        | Panel::Timing
        | Panel::Workloads
        | Panel::Counters
        | Panel::Assembly
        | Panel::Compare
        | Panel::Resources
        | Panel::Device
        | Panel::Log
        | Panel::Doctor
        | Panel::Lesson
        | Panel::Access
        | Panel::Timeline
        | Panel::Search
        | Panel::BestSoFar
        | Panel::Archive => plain,
        Panel::Variant => match bench.searches.shown() {
            Some((number, _)) => format!("{plain} {number}"),
            None => plain,
        },
    }
}

/// The margin around a panel's content, in points; text panels have none.
#[must_use]
pub const fn inset(panel: Panel) -> i8 {
    match panel {
        Panel::Editor | Panel::Assembly | Panel::History => 0,
        Panel::Project
        | Panel::Problems
        | Panel::Result
        | Panel::Roofline
        | Panel::SpeedOfLight
        | Panel::Timing
        | Panel::Workloads
        | Panel::Counters
        | Panel::Compare
        | Panel::Resources
        | Panel::Device
        | Panel::Log
        | Panel::Doctor
        | Panel::Lesson
        | Panel::Access
        | Panel::Timeline
        | Panel::Search
        | Panel::Variant
        | Panel::BestSoFar
        | Panel::Archive => 10,
    }
}

/// Draws a panel. Only the editor changes the workbench directly: the text.
pub fn show(
    panel: Panel,
    ui: &mut Ui,
    bench: &mut Workbench,
    views: &mut Views,
    now: Duration,
    commands: &mut Vec<Command>,
) {
    match panel {
        Panel::Editor => {
            views.editor.links = views.assembly.links(ui);
            editor::show(ui, bench, &mut views.editor, now, commands);
        }
        Panel::Project => project::show(ui, bench, commands),
        Panel::Problems => problems::show(ui, bench, commands),
        Panel::History => history::show(ui, bench, &mut views.history, commands),
        Panel::Result => result::show(ui, bench, commands),
        Panel::Roofline => figures::roofline(ui, bench, &mut views.figures, commands),
        Panel::SpeedOfLight => figures::speed_of_light(ui, bench, &mut views.figures, commands),
        Panel::Timing => figures::timing(ui, bench, &mut views.figures, commands),
        Panel::Workloads => figures::workloads(ui, bench, &mut views.figures, commands),
        Panel::Counters => counters::show(ui, bench, &mut views.counters, commands),
        Panel::Assembly => {
            let cursor = cursor(bench, views);
            let pointed = views.editor.pointed();
            assembly::show(ui, bench, &mut views.assembly, (cursor, pointed), commands);
        }
        Panel::Compare => compare::show(ui, bench, &mut views.compare, commands),
        Panel::Resources => resources::show(ui, bench, &mut views.resources),
        Panel::Device => device::show(ui, bench),
        Panel::Log => log::show(ui, bench, &mut views.log, now, commands),
        Panel::Doctor => doctor::show(ui, bench, commands),
        Panel::Lesson => lesson::show(ui, bench, &mut views.lesson, commands),
        Panel::Access => {
            let cursor = cursor(bench, views);
            access::show(ui, bench, &mut views.access, cursor, commands);
        }
        Panel::Timeline => timeline::show(ui, bench, &mut views.timeline, commands),
        Panel::Search => search::show(ui, bench, &mut views.search, now, commands),
        Panel::Variant => variant::show(ui, bench, &mut views.variant, commands),
        Panel::BestSoFar => best_so_far::show(ui, bench, &mut views.best_so_far, commands),
        Panel::Archive => archive::show(ui, bench, commands),
    }
}

/// The mark of a time's source.
pub(crate) const fn source_icon(tokens: &Tokens, source: TimeSource) -> (Icon, egui::Color32) {
    match source {
        TimeSource::Measured => (Icon::Dot, tokens.origin.measured.0),
        TimeSource::Modelled => (Icon::Ring, tokens.origin.modelled.0),
        TimeSource::Recorded => (Icon::Square, tokens.origin.recorded.0),
    }
}

/// A text with a capital first letter, unless it begins with a sign.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    first.unwrap_or_default() + letters.as_str()
}

/// The line of the cursor in the current kernel's text.
fn cursor(bench: &Workbench, views: &Views) -> Option<usize> {
    let opened = bench.opened.as_ref()?;
    let kernel = opened.project.kernel(&opened.kernel).ok()?;
    views.editor.cursor(&kernel.file, &bench.documents).map(|(line, _)| line)
}
