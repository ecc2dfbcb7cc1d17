//! What tells the time: events, or the driver's time stamps where they are asked for and fit what was launched.

use super::*;
use crate::device::pretended::STAMPED;
use crate::measure::{Basis, Clock, ClockUse, Mode, NoStamps};

const TIME: Seconds = Seconds(1e-6);

/// Checks what tells the cold time of a device that has time stamps for so many timings.
fn check(clock: ClockUse, stamps: Option<usize>, expected: Result<(), Option<NoStamps>>) {
    let readings = Readings { stamps, ..Readings::of(TIME, Seconds(1e-9)) };
    let longest = Duration::from_secs(60);
    let protocol = Protocol { clock, longest, ..Protocol::QUICK };
    let timed = timed_by(&SPECIMENS[0], readings, None, protocol);
    let cold = timed.cold().unwrap();
    let told = match cold.clock {
        Clock::Cupti { .. } => Ok(()),
        Clock::Events { without, .. } => Err(without),
        Clock::Modelled => panic!("it is measured"),
    };
    assert_eq!(told, expected, "{clock:?} {stamps:?}");
    let each = if told.is_ok() { TIME * STAMPED } else { TIME };
    let Basis::Samples { rounds, .. } = &cold.basis else { panic!("it is measured") };
    assert!(rounds.iter().flatten().all(|time| *time == each), "{clock:?} {stamps:?}: {rounds:?}");
    let warm = timed.timings.iter().find(|timing| timing.mode == Mode::Warm).unwrap();
    let by_events = matches!(warm.clock, Clock::Events { without: None, .. });
    assert!(by_events, "many in a row are told by events: {:?}", warm.clock);
}

#[test]
fn time_stamps_tell_the_time_only_where_they_are_asked_for_and_there() {
    check(ClockUse::Events, Some(usize::MAX), Err(None));
    check(ClockUse::Cupti, Some(usize::MAX), Ok(()));
    check(ClockUse::Cupti, None, Err(Some(NoStamps::NotFound)));
}

#[test]
fn samples_of_two_clocks_are_never_mixed() {
    check(ClockUse::Cupti, Some(0), Err(Some(NoStamps::Unlike)));
    check(ClockUse::Cupti, Some(4), Err(Some(NoStamps::Unlike)));
}
