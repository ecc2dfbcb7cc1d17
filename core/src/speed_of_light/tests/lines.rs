//! The sentence about a run: inputs and exactly what is said of them.

use super::*;
use crate::speed_of_light::advice::Advice;
use crate::speed_of_light::bound;
use crate::speed_of_light::limiter::{Bottleneck, Cause, Limiter};
use crate::speed_of_light::standing::{Bounds, NoStanding, Standing, standing};
use crate::speed_of_light::verdict_line::{
    Comparison, Performance, Source, Summary, Time, VerdictLine,
};
use crate::units::Fraction;
use crate::virtual_gpu::cost::time::Limit;

const CUPTI: Source<'static> = Source::Measured("CUPTI");

fn taken(median: f64, low: f64, high: f64, source: Source<'_>) -> Time<'_> {
    Time::Taken(Summary { median: Seconds(median), low: Seconds(low), high: Seconds(high), source })
}

fn only(time: Time<'_>) -> Performance<'_> {
    Performance { time, previous: None, best: None, standing: None, limiter: None, advice: None }
}

fn stands(time: f64) -> Result<Standing, NoStanding> {
    let physical = bound(&work(1 << 30, 0, &[]));
    standing(Seconds(time), &[Bounds { physical: &physical, method: None }])
}

fn limited(bottleneck: Bottleneck, busy: Option<f64>) -> Limiter {
    Limiter { bottleneck, busy: busy.map(Fraction), evidence: Vec::new() }
}

#[track_caller]
fn check(line: VerdictLine<'_>, expected: &str) {
    assert_eq!(line.sentence(), expected);
}

#[track_caller]
fn check_correct(performance: Performance<'_>, expected: &str) {
    check(VerdictLine::Correct(performance), expected);
}

#[test]
fn what_failed_has_no_time() {
    check(
        VerdictLine::Failed("wrong (numeric) in `odd`"),
        "Not correct: wrong (numeric) in `odd`.",
    );
    check(VerdictLine::Failed("a sentence already."), "Not correct: a sentence already.");
}

#[test]
fn no_two_kinds_of_time_read_alike() {
    let time = |source| only(taken(131e-6, 130.8e-6, 131.4e-6, source));
    check_correct(time(CUPTI), "Correct: 131 µs ± 400 ns measured (CUPTI).");
    check_correct(
        time(Source::Modelled),
        "Correct: at least 131 µs ± 400 ns as modelled, not measured.",
    );
    check_correct(
        time(Source::Predicted),
        "Correct: perhaps 131 µs ± 400 ns as predicted, not measured.",
    );
    check_correct(
        time(Source::Recorded("PyTorch 2.11, do_bench")),
        "Correct: 131 µs ± 400 ns recorded elsewhere (PyTorch 2.11, do_bench).",
    );
    let point = only(taken(131e-6, 131e-6, 131e-6, Source::Modelled));
    check_correct(point, "Correct: at least 131 µs as modelled, not measured.");
}

#[test]
fn a_quick_look_is_no_verdict() {
    check(
        VerdictLine::Screened(only(taken(2e-3, 1.9e-3, 2.2e-3, CUPTI))),
        "Screened only, not verified: 2.00 ms ± 200 µs measured (CUPTI).",
    );
}

#[test]
fn what_was_not_timed_says_why() {
    check_correct(
        only(Time::None("its work is too large for a virtual device")),
        "Correct: not timed, its work is too large for a virtual device.",
    );
    check_correct(
        only(Time::AtFloor(Seconds(1.5e-6))),
        "Correct: at the launch floor of 1.50 µs, and not resolvable.",
    );
}

#[test]
fn what_is_no_time_is_not_shown_as_one() {
    for (median, low, high) in [
        (f64::NAN, 1.0, 2.0),
        (1.0, f64::NAN, 2.0),
        (1.0, 0.5, f64::NAN),
        (1.0, 0.5, f64::INFINITY),
        (1.0, 1.5, 2.0),
        (0.0, 0.0, 0.0),
        (-1.0, -2.0, 1.0),
    ] {
        let stands = stands(300e-6);
        let performance = Performance {
            standing: Some(&stands),
            best: Some(Comparison::NoMeasurableDifference),
            ..only(taken(median, low, high, CUPTI))
        };
        check_correct(performance, "Correct: what was taken for a time is none.");
    }
}

#[test]
fn a_run_is_held_against_the_previous_and_the_best() {
    let time = taken(300e-6, 299e-6, 301e-6, CUPTI);
    let against = |previous, best| Performance { previous, best, ..only(time) };
    check_correct(
        against(
            Some(Comparison::Faster(Fraction(0.018))),
            Some(Comparison::NoMeasurableDifference),
        ),
        "Correct: 300 µs ± 1.00 µs measured (CUPTI), 1.80 % faster than the previous run, no measurable difference from the best.",
    );
    check_correct(
        against(Some(Comparison::NotComparable), Some(Comparison::Slower(Fraction(0.25)))),
        "Correct: 300 µs ± 1.00 µs measured (CUPTI), not comparable with the previous run, 25.0 % slower than the best.",
    );
}

#[test]
fn the_whole_sentence() {
    let (stands, nothing) = (stands(300e-6), Advice::Nothing);
    let limiter = limited(Bottleneck::Unit(Limit::Dram), Some(0.82));
    let performance = Performance {
        standing: Some(&stands),
        limiter: Some(&limiter),
        advice: Some(&nothing),
        ..only(taken(300e-6, 299e-6, 301e-6, CUPTI))
    };
    check_correct(
        performance,
        "Correct: 300 µs ± 1.00 µs measured (CUPTI), 74.3 % of the speed of light (DRAM, sheet); limited by DRAM (82.0 % busy); nothing of the playbook applies.",
    );
    let near = Advice::NearEnough { fraction: 0.93 };
    let waiting = limited(Bottleneck::Waiting(Cause::FewBlocks), None);
    let performance = Performance { limiter: Some(&waiting), advice: Some(&near), ..performance };
    check_correct(
        performance,
        "Correct: 300 µs ± 1.00 µs measured (CUPTI), 74.3 % of the speed of light (DRAM, sheet); limited by waiting: too few blocks; at 93.0 % of the speed of light there is little left to gain.",
    );
}

#[test]
fn a_time_below_the_bound_is_said_and_nothing_else() {
    let (below, nothing) = (stands(100e-6), Advice::Nothing);
    let performance = Performance {
        standing: Some(&below),
        best: Some(Comparison::Faster(Fraction(0.5))),
        advice: Some(&nothing),
        ..only(taken(100e-6, 99e-6, 101e-6, CUPTI))
    };
    check_correct(
        performance,
        "Correct: 100 µs is below the 223 µs that DRAM alone takes (sheet): a finding, not a time; most likely the kernel does not do all of the work.",
    );
}

#[test]
fn limits_of_the_bound_read_like_those_of_the_model() {
    let words = |bottleneck| limited(bottleneck, None).words();
    assert_eq!(words(Bottleneck::Bound(bound::Limit::Dram)), words(Bottleneck::Unit(Limit::Dram)));
    assert_eq!(words(Bottleneck::Unknown), "what is not known");
}
