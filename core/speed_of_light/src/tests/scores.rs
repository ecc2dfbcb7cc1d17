//! The score's values and the cases without one.

use lightbench_units::Seconds;

use crate::score::{NoAggregate, NoScore, aggregate, score};

#[track_caller]
fn check(time: f64, baseline: f64, bound: f64, expected: Result<f64, NoScore>) {
    let scored = score(Seconds(time), Seconds(baseline), Seconds(bound));
    match (scored, expected) {
        (Ok(scored), Ok(expected)) => {
            assert!((scored.value() - expected).abs() < 1e-12, "{scored:?} for {expected}");
        }
        (scored, expected) => assert_eq!(scored.err(), expected.err()),
    }
}

#[test]
fn a_score_is_a_share_of_the_way() {
    check(100.0, 100.0, 40.0, Ok(0.5));
    check(40.0, 100.0, 40.0, Ok(1.0));
    check(70.0, 100.0, 40.0, Ok(2.0 / 3.0));
    check(55.0, 100.0, 40.0, Ok(0.8));
    check(160.0, 100.0, 40.0, Ok(1.0 / 3.0));
}

#[test]
fn there_is_no_score_where_the_formula_means_nothing() {
    check(50.0, 40.0, 40.0, Err(NoScore::BaselineAtBound));
    check(50.0, 30.0, 40.0, Err(NoScore::BaselineAtBound));
    check(39.9, 100.0, 40.0, Err(NoScore::BelowBound));
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        check(bad, 100.0, 40.0, Err(NoScore::NotANumber));
        check(50.0, bad, 40.0, Err(NoScore::NotANumber));
        check(50.0, 100.0, bad, Err(NoScore::NotANumber));
    }
}

#[test]
fn one_failure_leaves_no_aggregate() {
    assert!((aggregate(&[Some(0.25), Some(1.0)]).unwrap() - 0.5).abs() < 1e-12);
    assert_eq!(aggregate(&[Some(0.9), None]), Err(NoAggregate::Incomplete { without: 1, all: 2 }));
    assert_eq!(aggregate(&[]), Err(NoAggregate::Empty));
    for bad in [f64::NAN, f64::INFINITY, 0.0, -0.5] {
        assert_eq!(aggregate(&[Some(0.9), Some(bad)]), Err(NoAggregate::NotANumber));
    }
}
