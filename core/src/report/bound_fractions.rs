//! A run has the same fraction of its bound wherever it is shown.

use lightbench_measure::timing::{Clock, Mode, Stopped, Timing};
use proptest::prelude::*;

use crate::figure::{Emphasis, Origin, WorkloadTime, share_of_bound};
use crate::history::fixture::passed;
use crate::history::text::Texts;
use crate::history::timing::RecordedTiming;
use crate::speed_of_light::bound_comparison::{
    BoundComparison, Bounds, NoBoundComparison, compare_with_bounds,
};
use crate::speed_of_light::bound_fraction::BoundFraction;
use crate::speed_of_light::fixture::{bound, work};
use crate::speed_of_light::verdict_line::{Performance, Time, VerdictLine};
use crate::units::Seconds;

fn sentence(timing: &Timing, stands: &Result<BoundComparison, NoBoundComparison>) -> String {
    let performance = Performance {
        achieved: None,
        time: Time::Taken(timing),
        previous: None,
        best: None,
        baseline: None,
        standing: Some(stands),
        limiter: None,
        advice: None,
    };
    VerdictLine::Correct(performance).sentence()
}

/// What the history keeps of a time that stands somewhere.
fn kept(timing: &Timing, stands: &Result<BoundComparison, NoBoundComparison>) -> RecordedTiming {
    let workload = passed("naive", "a", Some(1e-5)).0.timings()[0].workload.clone();
    let mut recorded =
        RecordedTiming::from_timing(workload, timing, &mut Texts::default()).unwrap();
    recorded.stand(stands).unwrap();
    recorded
}

/// The share that plots show of a time that the history keeps.
fn drawn(recorded: &RecordedTiming, origin: Origin) -> (f64, f64) {
    let (time, share) = (recorded.median.seconds(), recorded.share().unwrap());
    let bound = recorded.standing.as_ref().unwrap().bound.seconds();
    let workload = WorkloadTime {
        id: 0,
        name: String::new(),
        time,
        interval: None,
        origin,
        bound: Some(bound),
        other_run: None,
        emphasis: Emphasis::Normal,
    };
    let busy = share_of_bound(&share, (bound, time), None, origin);
    (busy.share.0, workload.bound_fraction().unwrap().middle.0)
}

fn measured(seconds: f64) -> Timing {
    let clock = Clock::Events { offset: Seconds(1e-6), floor: Seconds(1e-9), without: None };
    let round = [0.99, 1.0, 1.02].map(|part| Seconds(seconds * part));
    Timing::measured(clock, Mode::Cold, vec![round.to_vec(); 8], (1, Stopped::Budget), &[]).unwrap()
}

fn modelled(seconds: f64, band: (f64, f64)) -> Timing {
    Timing::modelled(Seconds(seconds), band, "DRAM".to_owned(), Vec::new())
}

proptest! {
    #[test]
    fn all_surfaces_show_one_share(
        bytes in 1_u64 << 24..1 << 34, slower in 1.0..100.0, low in 1.0..2.0, wide in 1.0..3.0,
    ) {
        let physical = bound(&work(bytes, 0, &[]));
        let least = physical.bound().time;
        let bounds = [Bounds { physical: &physical, method: None }];
        let time = least.0 * slower * 1.02;
        for (timing, origin) in [
            (measured(time), Origin::Measured),
            (modelled(time, (low, low * wide)), Origin::Modelled),
        ] {
            let stands = compare_with_bounds(&timing, &bounds);
            let BoundFraction { middle, interval } = stands.as_ref().unwrap().best().unwrap().bound_fraction;
            prop_assert_eq!(middle, least / timing.summary.median);
            prop_assert!(interval.0 <= middle && middle <= interval.1);
            let recorded = kept(&timing, &stands);
            prop_assert_eq!(recorded.share().unwrap(), BoundFraction { middle, interval });
            prop_assert_eq!(recorded.standing.as_ref().unwrap().fraction, middle);
            prop_assert_eq!(drawn(&recorded, origin), (middle.0, middle.0));
            let said = format!("{middle} of the speed of light");
            prop_assert!(sentence(&timing, &stands).contains(&said));
        }
    }
}

#[test]
fn a_modelled_share_has_the_range_of_its_time() {
    let physical = bound(&work(1 << 30, 0, &[]));
    let timing = modelled(250e-6, (1.2, 2.5));
    let stands = compare_with_bounds(&timing, &[Bounds { physical: &physical, method: None }]);
    assert_eq!(
        sentence(&timing, &stands),
        "Correct: 300 µs to 625 µs as modelled, not measured, about 51.5 % of the speed of light (35.7 % to 74.3 %; DRAM, sheet)."
    );
}

#[test]
fn a_model_below_the_bound_is_a_finding_though_its_band_is_above() {
    let physical = bound(&work(1 << 30, 0, &[]));
    let bounds = [Bounds { physical: &physical, method: None }];
    let stands = compare_with_bounds(&modelled(200e-6, (1.2, 2.5)), &bounds);
    assert!(matches!(stands, Err(NoBoundComparison::BelowBound(_))), "{stands:?}");
}

#[test]
fn a_share_that_was_written_otherwise_is_shown_by_the_numbers_beside_it() {
    let physical = bound(&work(1 << 30, 0, &[]));
    let timing = modelled(250e-6, (1.2, 2.5));
    let mut recorded = kept(
        &timing,
        &compare_with_bounds(&timing, &[Bounds { physical: &physical, method: None }]),
    );
    recorded.standing.as_mut().unwrap().fraction = lightbench_units::Fraction(0.87);
    assert_eq!(recorded.share().unwrap().middle.to_string(), "51.5 %");
}
