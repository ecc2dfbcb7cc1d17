//! The verdict sentence: inputs and the exact text.

use lightbench_measure::comparison::{Comparison, Conclusion};
use lightbench_measure::statistics::Summary;
use lightbench_measure::timing::{
    Basis as From, Clock, Conditions, Mode, Stopped, Timing, TimingDefect,
};
use lightbench_units::Fraction;
use lightbench_virtual_gpu::cost::time::LimitingResource;

use super::*;
use crate::advice::Advice;
use crate::bound;
use crate::bound_comparison::{BoundComparison, Bounds, NoBoundComparison, compare_with_bounds};
use crate::limiter::{Bottleneck, Cause, Limiter};
use crate::time_comparison::{Incomparable, TimeComparison};
use crate::verdict_line::{Performance, Time, VerdictLine};

/// Measured cold by events, with this interval.
fn events(median: f64, low: f64, high: f64) -> Timing {
    Timing {
        clock: Clock::Events { offset: Seconds(1.2e-6), floor: Seconds(1.5e-6), without: None },
        mode: Mode::Cold,
        summary: Summary {
            median: Seconds(median),
            interval: (Seconds(low), Seconds(high)),
            quartiles: (Seconds(low), Seconds(high)),
            minimum: Seconds(low),
            samples: 30,
        },
        basis: From::Samples { rounds: Vec::new(), batch: 1, stopped: Stopped::Precise },
        conditions: Conditions::default(),
        taint: Vec::new(),
        launch_floor: None,
    }
}

fn compared(ratio: f64, conclusion: Conclusion) -> TimeComparison {
    let interval = (Fraction(ratio), Fraction(ratio));
    TimeComparison::from(&Comparison { ratio: Fraction(ratio), interval, conclusion, rounds: 20 })
}

fn only(time: Time<'_>) -> Performance<'_> {
    Performance {
        achieved: None,
        time,
        previous: None,
        best: None,
        baseline: None,
        standing: None,
        limiter: None,
        advice: None,
    }
}

fn stands(time: f64) -> Result<BoundComparison, NoBoundComparison> {
    let physical = bound(&work(1 << 30, 0, &[]));
    compare_with_bounds(Seconds(time), &[Bounds { physical: &physical, method: None }])
}

fn limited(bottleneck: Bottleneck, busy: Option<f64>) -> Limiter {
    Limiter { bottleneck, busy: busy.map(Fraction), counted_at: None, evidence: Vec::new() }
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
    let measured = events(131e-6, 130.8e-6, 131.4e-6);
    check_correct(
        only(Time::Taken(&measured)),
        "Correct: 131 µs ± 400 ns cold, measured by CUDA events.",
    );
    let warm = Timing { mode: Mode::Warm, ..measured };
    check_correct(
        only(Time::Taken(&warm)),
        "Correct: 131 µs ± 400 ns warm, measured by CUDA events.",
    );
    let modelled = Timing::modelled(Seconds(1e-4), (1.2, 2.5), "DRAM".to_owned(), Vec::new());
    check_correct(
        only(Time::Taken(&modelled)),
        "Correct: 120 µs to 250 µs as modelled, not measured.",
    );
    check_correct(
        only(Time::Predicted(Seconds(1e-4), Seconds(2e-4))),
        "Correct: predicted 100 µs to 200 µs, not measured.",
    );
    check_correct(
        only(Time::Recorded { time: Seconds(131e-6), source: "PyTorch 2.11, do_bench" }),
        "Correct: 131 µs recorded elsewhere (PyTorch 2.11, do_bench).",
    );
}

#[test]
fn a_device_that_others_use_or_that_is_held_down_is_said() {
    let measured = events(131e-6, 130.8e-6, 131.4e-6);
    let check = |other_processes, taint: &[TimingDefect], expected: &str| {
        let conditions = Conditions { other_processes, ..Conditions::default() };
        let timing = Timing { conditions, taint: taint.to_vec(), ..measured.clone() };
        check_correct(
            only(Time::Taken(&timing)),
            &format!("Correct: 131 µs ± 400 ns cold, measured by CUDA events{expected}."),
        );
    };
    check(0, &[], "");
    check(1, &[], ", while another process used the device");
    check(
        3,
        &[TimingDefect::UnsteadyClock],
        ", while 3 other processes used the device, although the clock changed while samples were taken",
    );
}

#[test]
fn a_quick_look_is_no_verdict() {
    check(
        VerdictLine::Screened(only(Time::Taken(&events(2e-3, 1.9e-3, 2.2e-3)))),
        "Screened only, not verified: 2.00 ms ± 200 µs cold, measured by CUDA events.",
    );
}

#[test]
fn what_was_not_timed_says_why() {
    check_correct(
        only(Time::None("its work is too large for a virtual device")),
        "Correct: not timed, its work is too large for a virtual device.",
    );
    check_correct(
        only(Time::Taken(&events(1.6e-6, 1.4e-6, 1.7e-6))),
        "Correct: at the launch floor of 1.50 µs, not resolvable.",
    );
}

#[test]
fn a_taint_is_said_with_the_time() {
    let taint = vec![TimingDefect::Thermal, TimingDefect::UnsteadyClock];
    let tainted = Timing { taint, ..events(300e-6, 299e-6, 301e-6) };
    check_correct(
        only(Time::Taken(&tainted)),
        "Correct: 300 µs ± 1.00 µs cold, measured by CUDA events, although the device slowed down because it was hot, although the clock changed while samples were taken.",
    );
}

#[test]
fn what_is_no_time_is_not_shown_as_one() {
    let (stands, same) = (stands(300e-6), compared(1.0, Conclusion::NoMeasurableDifference));
    let (standing, best) = (Some(&stands), Some(same));
    for (median, low, high) in [
        (f64::NAN, 1.0, 2.0),
        (1.0, f64::NAN, 2.0),
        (1.0, 0.5, f64::NAN),
        (1.0, 0.5, f64::INFINITY),
        (1.0, 1.5, 2.0),
        (0.0, 0.0, 0.0),
        (-1.0, -2.0, 1.0),
    ] {
        let timing = events(median, low, high);
        check_correct(
            Performance { standing, best, ..only(Time::Taken(&timing)) },
            "Correct: the measured value is not a valid time.",
        );
    }
    let recorded = Time::Recorded { time: Seconds(f64::NAN), source: "a table" };
    check_correct(
        Performance { standing, best, ..only(recorded) },
        "Correct: the measured value is not a valid time.",
    );
    let predicted = Time::Predicted(Seconds(2.0), Seconds(1.0));
    check_correct(
        Performance { standing, best, ..only(predicted) },
        "Correct: the measured value is not a valid time.",
    );
}

#[test]
fn a_run_is_held_against_the_previous_and_the_best() {
    let timing = events(300e-6, 299e-6, 301e-6);
    let against = |previous, best| Performance { previous, best, ..only(Time::Taken(&timing)) };
    let (faster, same) =
        (compared(0.982, Conclusion::Faster), compared(1.001, Conclusion::NoMeasurableDifference));
    check_correct(
        against(Some(faster), Some(same)),
        "Correct: 300 µs ± 1.00 µs cold, measured by CUDA events, 1.80 % faster than the previous run, no measurable difference from the best.",
    );
    let slower = compared(1.25, Conclusion::Slower);
    check_correct(
        against(Some(TimeComparison::NotComparable(Incomparable::Clock)), Some(slower)),
        "Correct: 300 µs ± 1.00 µs cold, measured by CUDA events, not comparable with the previous run (measured by another clock), 25.0 % slower than the best.",
    );
}

#[test]
fn the_whole_sentence() {
    let (stands, nothing) = (stands(300e-6), Advice::Nothing);
    let limiter = limited(Bottleneck::Unit(LimitingResource::Dram), Some(0.82));
    let timing = events(300e-6, 299e-6, 301e-6);
    let performance = Performance {
        standing: Some(&stands),
        limiter: Some(&limiter),
        advice: Some(&nothing),
        ..only(Time::Taken(&timing))
    };
    check_correct(
        performance,
        "Correct: 300 µs ± 1.00 µs cold, measured by CUDA events, 74.3 % of the speed of light (DRAM, sheet); limited by DRAM (82.0 % busy); no further advice.",
    );
    let near = Advice::NearEnough { fraction: 0.93 };
    let waiting = limited(Bottleneck::Waiting(Cause::FewBlocks), None);
    let performance = Performance { limiter: Some(&waiting), advice: Some(&near), ..performance };
    check_correct(
        performance,
        "Correct: 300 µs ± 1.00 µs cold, measured by CUDA events, 74.3 % of the speed of light (DRAM, sheet); limited by waiting: too few blocks; at 93.0 % of the speed of light there is little left to gain.",
    );
}

#[test]
fn a_time_stands_on_measured_ceilings_and_beside_it_on_the_sheet() {
    let own = calibration();
    let work = work(1 << 30, 0, &[]);
    let bounds = [Basis::Sheet, Basis::Measured].map(|basis| {
        PhysicalBound::new(&work, &Ceilings::new(h200(), Some(&own), basis), CacheState::Cold)
            .unwrap()
    });
    let bounds = [0, 1].map(|each| Bounds { physical: &bounds[each], method: None });
    let check = |time: f64, expected: &str| {
        let stands = compare_with_bounds(Seconds(time), &bounds);
        let timing = events(time, time - 1e-6, time + 1e-6);
        let performance = Performance { standing: Some(&stands), ..only(Time::Taken(&timing)) };
        check_correct(performance, expected);
    };
    check(
        300e-6,
        "Correct: 300 µs ± 1.00 µs cold, measured by CUDA events, 81.3 % of the speed of light (DRAM, measured ceilings; 74.3 % by the sheet).",
    );
    // The calibration's own kernels were not the fastest of their kind.
    check(
        240e-6,
        "Correct: 240 µs ± 1.00 µs cold, measured by CUDA events, 92.9 % of the speed of light (DRAM, sheet; above the measured ceiling of DRAM).",
    );
}

#[test]
fn a_time_below_the_bound_is_said_and_nothing_else() {
    let (below, nothing) = (stands(100e-6), Advice::Nothing);
    let timing = events(100e-6, 99e-6, 101e-6);
    let performance = Performance {
        standing: Some(&below),
        best: Some(TimeComparison::NotComparable(Incomparable::Clock)),
        advice: Some(&nothing),
        ..only(Time::Taken(&timing))
    };
    check_correct(
        performance,
        "Correct where it was verified: 100 µs is below the 223 µs that DRAM alone takes (sheet): not a valid time; most likely the kernel does not do all of the work.",
    );
}

#[test]
fn limits_of_the_bound_read_like_those_of_the_model() {
    let words = |bottleneck| limited(bottleneck, None).words();
    assert_eq!(
        words(Bottleneck::Bound(bound::Limit::Dram)),
        words(Bottleneck::Unit(LimitingResource::Dram))
    );
    assert_eq!(words(Bottleneck::Unknown), "unknown");
}
