//! `--replay … --forecast`: whether predictions would have improved a recorded search.

use std::sync::Arc;

use lightbench_core::device::{DeviceName, LocalDevice};
use lightbench_core::engine::EngineRunner;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::search::features::Features;
use lightbench_core::search::forecaster::{calibration_text, history, trial_text, with_parent};
use lightbench_core::search::{CandidateRunner as _, Control, SearchState};
use lightbench_core::strategies::forecast::Trial;
use serde_json::{Value, json};

use super::prepared::conditions;
use crate::args;
use crate::commands::evaluation_setup;
use crate::outcome::Outcome;
use crate::report;
use crate::session::Session;

/// Compiles every variant to compute its features, and replays the search. `None` if no variant has a time.
pub(super) fn evaluate_forecast(
    session: &Session,
    arguments: &args::Searching,
    (project, story): (&Arc<Project>, &SearchState),
) -> Result<Option<Trial>, Outcome> {
    let features = match recorded(story) {
        Some(features) => features,
        None => built(session, arguments, (project, story))?,
    };
    Ok(Trial::from_history(&history(story, &features)))
}

/// The features in the journal; `None` if some are missing, as in searches without predictions.
fn recorded(story: &SearchState) -> Option<Vec<Option<Features>>> {
    let foreseen = story.variants.iter().map(|variant| variant.foreseen.as_ref());
    foreseen.map(|foresight| Some(foresight?.features.clone())).collect()
}

fn built(
    session: &Session,
    arguments: &args::Searching,
    (project, story): (&Arc<Project>, &SearchState),
) -> Result<Vec<Option<Features>>, Outcome> {
    let as_json = arguments.json;
    // Compilation needs only the device sheet: the named device, that of the search, or the default one.
    let of_search = DeviceName::parse(&story.header.device).ok();
    let of_search = of_search.filter(|device| matches!(device.local, LocalDevice::Virtual(_)));
    let device = arguments.device.clone().or(of_search.map(|device| device.to_string()));
    let (engine, _, chosen) = evaluation_setup::engine(session, device.as_deref(), as_json)?;
    let control = Control::from_cancellation(&session.cancellation);
    let (client, conditions) = (engine.client(), conditions(&chosen, None, story.header.seed));
    let mut laboratory = EngineRunner::new(client, Arc::clone(project), conditions, control, 1);
    let mut kernels: Vec<(usize, Arc<Kernel>)> = Vec::new();
    for (number, variant) in story.variants.iter().enumerate() {
        let name = format!("{}-{number}", story.header.kernel);
        let drafted = project.draft(&name, variant.proposal.source.clone());
        kernels.extend(drafted.ok().map(|kernel| (number, Arc::new(kernel))));
    }
    let drafted: Vec<_> = kernels.iter().map(|(_, kernel)| Arc::clone(kernel)).collect();
    let examined = laboratory.examine(&drafted);
    let examined = examined.map_err(|error| report::environment(&error, as_json))?;
    let mut features = vec![None; story.variants.len()];
    for ((number, _), examined) in kernels.iter().zip(examined) {
        features[*number] = examined.map(|examined| {
            with_parent(Features::from_examined(&examined, &story.header.workloads), story, *number)
        });
    }
    Ok(features)
}

/// The trial as text.
pub(super) fn text(trial: Option<&Trial>) -> String {
    let Some(trial) = trial else {
        return "\npredictions cannot be evaluated: no variant of this search has a time\n"
            .to_owned();
    };
    let calibrated = match &trial.calibration {
        Some(calibration) => calibration_text(calibration),
        None => "there was never enough data for a prediction".to_owned(),
    };
    format!("\nwith predictions: {}\n{calibrated}\n", trial_text(trial))
}

pub(super) fn json(trial: Option<&Trial>) -> Value {
    let Some(trial) = trial else { return Value::Null };
    let calibration = trial.calibration.map(|calibration| {
        json!({
            "forecasts": calibration.forecasts,
            "inside_50": calibration.inside_50,
            "inside_80": calibration.inside_80,
            "inside_95": calibration.inside_95,
            "rank_correlation": calibration.rank_correlation,
            "called_slow": calibration.skipped,
            "called_slow_wrongly": calibration.skipped_wrongly,
        })
    });
    json!({
        "looks_until_near_best": trial.without,
        "looks_until_near_best_with": trial.with,
        "looks": trial.all,
        "looks_with": trial.all_with,
        "lost": trial.lost.exp_m1(),
        "better_than_none": trial.is_better_than_none(),
        "calibration": calibration,
    })
}
