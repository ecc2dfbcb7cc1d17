//! Forecasts of made-up candidates: calibrated where features say something, harmless where not.

use super::{Calibration, Decision, Forecast, Forecasted, Measured, Outlook, Scope, Trial, decide};
use crate::gauss::Prediction;
use crate::generator::Generator;

/// Candidates with three features, of which the first two decide the time, up to some noise.
fn history(seed: u64, count: usize, noise: f64) -> Vec<Measured> {
    let mut generator = Generator::new(seed, 9);
    let made = |place: usize| {
        let features: Vec<f64> = (0..3).map(|_| 100.0 * generator.fraction()).collect();
        let luck: f64 = (0..12).map(|_| generator.fraction()).sum::<f64>() - 6.0;
        let log_time = 0.03 * features[0] + (features[1] / 25.0).sin() + noise * luck;
        Measured { features, log_time, parent: None, known: place, scope: Scope::Forecast }
    };
    (0..count).map(made).collect()
}

fn outlook(mean: f64, deviation: f64, spread: f64) -> Outlook {
    Outlook { prediction: Prediction { mean, deviation }, spread }
}

fn check(name: &str, mean: f64, deviation: f64, measured: bool) {
    let decision = decide(0.0, outlook(mean, deviation, 3.0));
    assert_eq!(decision == Decision::Measure, measured, "{name}: {decision:?}");
}

#[test]
fn only_what_is_promising_or_uncertain_is_measured() {
    check("faster", -0.1, 0.01, true);
    check("slower, but who knows", 1.0, 1.0, true);
    check("surely slower", 1.0, 0.1, false);
    check("just likely enough", 1.64, 1.0, true);
    check("just too unlikely", 1.65, 1.0, false);
    check("no doubt at all", 0.1, 0.0, false);
    check("unlikely, but nobody knows", 9.0, 1.6, true);
    check("no number", f64::NAN, 1.0, true);
}

#[test]
fn a_skip_says_why() {
    let Decision::Skip { why } = decide(0.0, outlook(1.0, 0.5, 3.0)) else {
        panic!("it is worth nothing");
    };
    assert_eq!(
        why,
        "It is forecast to be 172 % slower than the best, and has a chance of 2.3 % to be faster"
    );
}

#[test]
fn intervals_and_ranks_are_as_counted_by_hand() {
    let one = |mean: f64, measured: f64| Forecasted {
        outlook: outlook(mean, 1.0, 3.0),
        measured,
        best_before: 0.0,
    };
    // Off by 0.5, 1, 1.5 and 3 deviations; the third is skipped, the fourth wrongly so.
    let all = [one(1.0, 1.5), one(0.0, 1.0), one(2.0, 3.5), one(2.5, -0.5)];
    let calibration = Calibration::from_forecasts(&all).unwrap();
    let Calibration { inside_50, inside_80, inside_95, .. } = calibration;
    assert_eq!([inside_50, inside_80, inside_95], [0.25, 0.5, 0.75]);
    assert_eq!((calibration.skipped, calibration.skipped_wrongly), (2, 1));
    // Ranks 1, 0, 2, 3 against 2, 1, 3, 0: 1 − 6 · (1 + 1 + 1 + 9) / (4 · 15) = −0.2.
    let correlation = calibration.rank_correlation.unwrap();
    assert!((correlation + 0.2).abs() < 1e-12, "{correlation}");
    assert_eq!(Calibration::from_forecasts(&[]), None);
    assert_eq!(Calibration::from_forecasts(&[one(1.0, 1.0)]).unwrap().rank_correlation, None);
}

#[test]
fn forecasts_are_calibrated_where_features_decide() {
    let trial = Trial::from_history(&history(3, 150, 0.1)).unwrap();
    let calibration = trial.calibration.unwrap();
    assert!((0.35..0.65).contains(&calibration.inside_50), "{calibration:?}");
    assert!((0.65..0.92).contains(&calibration.inside_80), "{calibration:?}");
    assert!((0.85..=1.0).contains(&calibration.inside_95), "{calibration:?}");
    assert!(calibration.rank_correlation.is_some_and(|rank| rank > 0.9), "{calibration:?}");
    assert!(calibration.skipped > 75 && calibration.skipped_wrongly <= 1, "{calibration:?}");
}

#[test]
fn a_forecast_helps_where_features_decide_and_not_where_they_say_nothing() {
    let mut telling = history(5, 120, 0.02);
    // The best comes last, so that there is something to save.
    telling.sort_by(|left, right| {
        let off = |one: &Measured| (one.features[2] * 1000.0) as u64 % 97;
        off(left).cmp(&off(right))
    });
    let best = |history: &[Measured]| {
        let times = history.iter().map(|one| one.log_time);
        times.enumerate().min_by(|left, right| left.1.total_cmp(&right.1)).unwrap().0
    };
    let place = best(&telling);
    let fastest = telling.remove(place);
    telling.retain(|one| one.log_time > fastest.log_time + 0.2);
    telling.push(fastest);
    one_by_one(&mut telling);
    let trial = Trial::from_history(&telling).unwrap();
    assert!(trial.is_better_than_none(), "{trial:?}");
    assert!(trial.with.is_some_and(|with| 2 * with < trial.without), "{trial:?}");

    let mut mute = telling.clone();
    mute.iter_mut().for_each(|one| one.features = vec![1.0]);
    let trial = Trial::from_history(&mute).unwrap();
    assert_eq!((trial.with, trial.without), (Some(mute.len()), mute.len()), "all is uncertain");
    assert_eq!((trial.all, trial.all_with, trial.lost), (mute.len(), mute.len(), 0.0));
    assert!(!trial.is_better_than_none());
}

/// Each is measured before the next one is made.
fn one_by_one(history: &mut [Measured]) {
    history.iter_mut().enumerate().for_each(|(place, one)| one.known = place);
}

#[test]
fn what_is_skipped_has_no_descendants_and_some_of_it_is_checked() {
    let mut history = history(5, 50, 0.02);
    // The fastest ones come first, and the fastest of all is made of one of the others.
    history.sort_by(|left, right| left.log_time.total_cmp(&right.log_time));
    let best = history.remove(0);
    one_by_one(&mut history);
    let whole = Trial::from_history(&history).unwrap();
    assert!(whole.lost == 0.0 && whole.all_with < 30, "{whole:?}");
    let is_lost = |parent: &usize| {
        let mut with_child = history.clone();
        with_child.push(Measured { parent: Some(*parent), known: history.len(), ..best.clone() });
        Trial::from_history(&with_child).unwrap().lost > 0.0
    };
    let lost: Vec<usize> = (0..history.len()).filter(is_lost).collect();
    assert_eq!(lost.len(), whole.all - whole.all_with, "what is skipped is not gone on from");
    let mut exempt = history.clone();
    exempt.iter_mut().for_each(|one| one.scope = Scope::Exempt);
    let trial = Trial::from_history(&exempt).unwrap();
    assert_eq!((trial.all_with, trial.calibration), (exempt.len(), None));
    let last = lost.iter().rev().zip((0..history.len()).rev()).take(10);
    assert!(last.into_iter().any(|(lost, place)| *lost != place), "some is checked: {lost:?}");
}

#[test]
fn what_was_made_together_knows_nothing_of_each_other() {
    let mut history = history(5, 60, 0.02);
    history.iter_mut().for_each(|one| one.known = 0);
    let trial = Trial::from_history(&history).unwrap();
    assert_eq!((trial.all_with, trial.calibration), (60, None));
}

#[test]
fn what_cannot_be_learnt_from_forecasts_nothing() {
    let few = vec![vec![1.0]; 7];
    assert!(Forecast::fit(&few, &[0.0; 7]).is_none());
    assert!(Forecast::fit(&vec![vec![f64::NAN]; 9], &[0.0; 9]).is_none());
    assert!(Forecast::fit(&vec![vec![1.0]; 9], &[f64::INFINITY; 9]).is_none());
    assert!(Trial::from_history(&[]).is_none());
    let failed = Measured { log_time: f64::INFINITY, ..history(3, 1, 0.0).remove(0) };
    assert!(Trial::from_history(&vec![failed; 20]).is_none());
}

#[test]
fn features_that_are_missing_count_as_nothing() {
    let features: Vec<Vec<f64>> = (0..10).map(|place| vec![f64::from(place), 0.0]).collect();
    let log_times: Vec<f64> = (0..10).map(f64::from).collect();
    let forecast = Forecast::fit(&features, &log_times).unwrap();
    assert_eq!(forecast.predict(&[4.0]), forecast.predict(&[4.0, 0.0]));
    assert!((forecast.predict(&[4.5]).prediction.mean - 4.5).abs() < 0.3);
}
