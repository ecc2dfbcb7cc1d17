//! Searches that forecast: what they skip is neither lost nor looked at, and a kill changes nothing of what they foresee.

use super::*;
use crate::search::forecaster::{calibration, history, summary};
use crate::search::trajectory;
use crate::strategies::forecast::Trial;

/// The longer its text, the slower a kernel: a feature says so, see `Scripted::examine`.
fn sloped(kernel: &Kernel, workload: &str) -> Option<f64> {
    if kernel.source.contains("UNROLL") {
        return None;
    }
    let length = kernel.source.len() as f64 / 1000.0;
    let block = chosen(kernel, "BLOCK").unwrap_or(256) as f64;
    let base = if workload == "llama-8b-attention" { 1e-4 } else { 1e-3 };
    Some(base * length * length * (1.0 + 0.1 * (block / 128.0).log2().abs()))
}

const FORECASTING: Setting = Setting {
    project: "softmax",
    script: sloped,
    evaluations: 30,
    forecast: ForecastPolicy::On,
    batch: 1,
    ..USUAL
};

fn foreseen(story: &SearchState) -> Vec<&VariantForecast> {
    story.variants.iter().map(|variant| variant.foreseen.as_ref().unwrap()).collect()
}

fn skipped(story: &SearchState) -> Vec<usize> {
    let is_skipped =
        |number: &usize| matches!(story.variants[*number].decision, Some(Decision::Skipped { .. }));
    (0..story.variants.len()).filter(is_skipped).collect()
}

#[test]
fn what_is_skipped_is_not_looked_at_and_not_lost() {
    let project = project(FORECASTING.project);
    let laboratory = FORECASTING.laboratory(&project, usize::MAX);
    let seen = Arc::clone(&laboratory.seen);
    let order = FORECASTING.order(&project);
    let story = Explorer::begin(order, laboratory, None, no_listeners()).unwrap().run().0;
    let all = skipped(&story);
    assert!(all.len() >= 3, "{:#?}", gist(&story));
    for number in all {
        let variant = &story.variants[number];
        let name = format!("naive-{number}");
        assert!(!seen.lock().unwrap().contains(&name), "{name} was looked at");
        assert!(variant.look.is_none() && variant.verdict.is_none() && variant.tried.is_empty());
        assert_eq!(story.cost(number), None, "it has no time");
        let best = story.speedup(story.best.unwrap()).unwrap();
        assert!(variant.predicted().is_some_and(|factor| factor < best), "{variant:?}");
        assert!(!variant.proposal.source.is_empty() && variant.proposal.parent.is_some());
        let why = variant.decision.as_ref().unwrap().why();
        assert!(why.starts_with("It is forecast to be"), "{why}");
        let children = story.variants.iter().filter(|other| other.proposal.parent == Some(number));
        assert_eq!(children.count(), 0, "nothing is made of it");
    }
    let checks = foreseen(&story).into_iter();
    let checks =
        checks.filter(|foresight| matches!(foresight.course, ForecastDecision::Check { .. }));
    let doubts = foreseen(&story).into_iter().filter(|foresight| foresight.advises_skip()).count();
    assert_eq!(checks.count(), doubts / 5, "one in five is looked at all the same");
}

#[test]
fn off_is_as_it_always_was() {
    let setting = Setting { forecast: ForecastPolicy::Off, ..FORECASTING };
    let kept = Kept::new();
    let story = kept.begin(&setting, usize::MAX);
    assert!(story.variants.iter().all(|variant| variant.foreseen.is_none()));
    assert!(skipped(&story).is_empty() && summary(&story).is_none());
    let text = std::fs::read_to_string(kept.path()).unwrap();
    assert!(!text.contains("forecast") && !text.contains("foreseen"));
    // A journal from before there were forecasts is one of a search that does not.
    assert_eq!(Journal::read(&kept.path(), &kept.machine).unwrap().story.header, story.header);
}

#[test]
fn few_variants_forecast_nothing() {
    let story = Setting { evaluations: 7, ..FORECASTING }.run();
    assert!(skipped(&story).is_empty());
    assert!(foreseen(&story).iter().all(|foresight| foresight.expected.is_none()));
}

#[test]
fn a_kill_changes_nothing_of_what_is_foreseen() {
    let foresight = |story: &SearchState| foreseen(story).into_iter().cloned().collect::<Vec<_>>();
    let whole = FORECASTING.run();
    let kept = Kept::new();
    kept.begin(&FORECASTING, usize::MAX);
    let text = std::fs::read_to_string(kept.path()).unwrap();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    // From the first forecasts on; a search is resumed for each.
    for (number, end) in ends.iter().enumerate().skip(20).step_by(7) {
        std::fs::write(kept.path(), &text[..*end]).unwrap();
        let resumed = kept.resume(&FORECASTING);
        assert_eq!(gist(&resumed), gist(&whole), "killed at line {number}");
        assert_eq!(foresight(&resumed), foresight(&whole), "killed at line {number}");
    }
    let read = Journal::read(&kept.path(), &kept.machine).unwrap();
    assert!(read.is_own && foresight(&read.story) == foresight(&whole));
}

#[test]
fn a_search_that_forecasts_and_was_stopped_comes_to_the_same_end() {
    let setting = Setting { batch: 4, ..FORECASTING };
    let whole = gist(&setting.run());
    for patience in (0..60).step_by(7) {
        let kept = Kept::new();
        let stopped = kept.begin(&setting, patience);
        if stopped.ended != Some(End::Stopped) {
            break;
        }
        assert_eq!(gist(&kept.resume(&setting)), whole, "stopped after {patience}");
    }
}

#[test]
fn what_was_made_together_knows_nothing_of_each_other() {
    let story = Setting { batch: 4, ..FORECASTING }.run();
    for (number, variant) in story.variants.iter().enumerate() {
        let Some(expected) = foreseen(&story)[number].expected else { continue };
        let before = story.variants.iter().filter(|other| {
            other.after < variant.after && matches!(other.look, Some(ScreeningResult::Right { .. }))
        });
        assert_eq!(expected.known, before.count(), "variant {number}");
    }
}

#[test]
fn a_search_says_how_its_forecasts_did() {
    let story = FORECASTING.run();
    let told = summary(&story).unwrap();
    let count = skipped(&story).len();
    assert!(told.starts_with(&format!("skipped as predicted slow: {count} of ")), "{told}");
    assert!(told.contains("% contained the time in their 80 % interval"), "{told}");
    assert!(told.contains("rank correlation is"), "{told}");
    assert!(calibration(&story).is_some_and(|calibration| calibration.forecasts > 5));
    let few = summary(&Setting { evaluations: 7, ..FORECASTING }.run()).unwrap();
    assert!(few.contains("no variant with a prediction was evaluated"), "{few}");
}

#[test]
fn a_recorded_search_is_tried_with_a_forecast() {
    let story = FORECASTING.run();
    let features: Vec<_> =
        foreseen(&story).into_iter().map(|foresight| foresight.features.clone()).collect();
    let history = history(&story, &features);
    assert_eq!(history.len(), story.variants.len() - skipped(&story).len());
    let trial = Trial::from_history(&history).unwrap();
    assert!(trial.all_with <= trial.all && trial.calibration.is_some(), "{trial:?}");
    // What failed has no time, and what is not known forecasts nothing.
    let failed = story
        .variants
        .iter()
        .position(|variant| matches!(variant.look, Some(ScreeningResult::Failed(_))));
    assert!(failed.is_some() && history.iter().any(|one| one.log_time.is_infinite()));
    assert_eq!(super::super::forecaster::history(&story, &vec![None; 100]).len(), history.len());
}

#[test]
fn trajectories_have_what_was_predicted() {
    let kept = Kept::new();
    let story = kept.begin(&FORECASTING, usize::MAX);
    let read = Journal::read(&kept.path(), &kept.machine).unwrap();
    let entries: Vec<Entry> = read.entries.into_iter().map(|(_, entry)| entry).collect();
    let mut written = Vec::new();
    trajectory::export(&entries, &mut written).unwrap();
    let text = String::from_utf8(written).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let is_skipped = |line: &serde_json::Value| {
        let outcome = &line["outcome"];
        outcome["decision"]["skipped"]["why"].is_string()
            && outcome["look"].is_null()
            && outcome["foreseen"]["expected"]["mean"].is_f64()
            && !outcome["source"].as_str().unwrap_or_default().is_empty()
    };
    assert_eq!(lines.filter(is_skipped).count(), skipped(&story).len());
}

#[test]
fn an_entry_is_written_and_read_again() {
    let story = FORECASTING.run();
    for (variant, foresight) in foreseen(&story).into_iter().enumerate() {
        let entry = Entry::Foreseen { variant, foresight: Box::new(foresight.clone()) };
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry, "{text}");
    }
}
