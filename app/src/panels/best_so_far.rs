//! Panel of a search's progress: every variant as a point over evaluations, the best time as steps, failures below the
//! axis.

use egui::Ui;
use lightbench_core::figure::{
    CandidateOutcome, Emphasis, Figure, Origin, SearchedCandidate, Undrawable, best_so_far,
};
use lightbench_core::search::entry::Basis;
use lightbench_core::search::{Decision, SearchState};

use super::{figures, placeholder};
use crate::widgets::figure::{FigureView, show as show_figure};
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::search::{SearchCommand, failed};

/// View state of the panel.
#[derive(Debug, Default)]
pub(super) struct BestSoFarView {
    figure: FigureView,
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut BestSoFarView,
    commands: &mut Vec<Command>,
) {
    let Some(story) = bench.searches.story().filter(|story| !story.variants.is_empty()) else {
        placeholder::show(
            ui,
            "No search yet",
            "F9 searches from the kernel in the editor; every variant appears here",
        );
        return;
    };
    let chosen = bench.searches.shown().map(|(number, _)| number);
    let figure = match drawn(story, chosen) {
        Ok(figure) => figure,
        Err(error) => {
            placeholder::show(ui, "These variants cannot be drawn", &error.to_string());
            return;
        }
    };
    let height = ui.available_height() - ui.spacing().interact_size.y - 16.0;
    let shown = show_figure(ui, &figure, &mut view.figure, height, |_| {});
    if let Some(number) = shown.chosen.and_then(|id| usize::try_from(id.of).ok()) {
        commands.push(Command::Search(SearchCommand::Select(number)));
    }
    commands.extend(shown.export.map(|what| figures::export("best-so-far", what)));
}

/// The origin of a search's times, for figures.
pub(super) const fn origin(basis: Option<Basis>) -> Origin {
    match basis {
        Some(Basis::Measured) => Origin::Measured,
        Some(Basis::Modelled) | None => Origin::Modelled,
    }
}

fn drawn(story: &SearchState, chosen: Option<usize>) -> Result<Figure, Undrawable> {
    // Failures have no time; they take the first variant's basis.
    let usual = origin(story.basis(0));
    let mut evaluations = 0;
    let mut found = Vec::new();
    for (number, variant) in story.variants.iter().enumerate() {
        evaluations = (variant.after + 1).max(evaluations + 1);
        let was_best = matches!(variant.decision, Some(Decision::Accepted { .. }));
        let came = match (failed(variant), story.speedup(number)) {
            (Some(_), _) => CandidateOutcome::Failure,
            (None, Some(factor)) if was_best => CandidateOutcome::Best(factor),
            (None, Some(factor)) => CandidateOutcome::Time(factor),
            // No result yet.
            (None, None) => continue,
        };
        let why = failed(variant).map(|failed| ("Failed".to_owned(), failed.sentence.clone()));
        let what = ("What".to_owned(), variant.proposal.what.clone());
        found.push(SearchedCandidate {
            variant: i64::try_from(number).unwrap_or(i64::MAX),
            name: format!("variant {number}"),
            evaluations,
            outcome: came,
            origin: if came == CandidateOutcome::Failure {
                usual
            } else {
                origin(story.basis(number))
            },
            emphasis: match (chosen == Some(number), came) {
                (true, _) => Emphasis::Chosen,
                (false, CandidateOutcome::Best(_)) => Emphasis::Normal,
                (false, CandidateOutcome::Time(_) | CandidateOutcome::Failure) => Emphasis::Faint,
            },
            details: [what].into_iter().chain(why).collect(),
        });
    }
    best_so_far(&found)
}
