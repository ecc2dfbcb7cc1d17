//! The choice of the clock: CUDA events, or the driver's time stamps if they exist and match the launches.

use super::*;
use crate::device::fake_gpu::STAMPED;
use crate::measure::energy::Joules;
use crate::measure::{Basis, Clock, ClockUse, EnergyError, EnergyUse, ExtraModes, Mode, NoStamps};

const TIME: Seconds = Seconds(1e-6);

/// Checks what tells the cold time of a device that has time stamps for so many timings.
fn check(clock: ClockUse, stamps: Option<usize>, expected: Result<(), Option<NoStamps>>) {
    let readings = Readings { stamps, ..Readings::new(TIME, Seconds(1e-9)) };
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
fn time_stamps_tell_the_time_where_there_are_any_unless_events_are_asked_for() {
    check(ClockUse::Events, Some(usize::MAX), Err(None));
    for clock in [ClockUse::Best, ClockUse::Cupti] {
        check(clock, Some(usize::MAX), Ok(()));
    }
    // Nobody is told of a library that is not there, unless it was asked for.
    check(ClockUse::Best, None, Err(None));
    check(ClockUse::Cupti, None, Err(Some(NoStamps::NotFound)));
}

#[test]
fn samples_of_two_clocks_are_never_mixed() {
    for clock in [ClockUse::Best, ClockUse::Cupti] {
        check(clock, Some(0), Err(Some(NoStamps::Unlike)));
        check(clock, Some(4), Err(Some(NoStamps::Unlike)));
    }
}

#[test]
fn what_is_asked_for_besides_is_a_condition_of_its_own() {
    let check = |besides, words: &[&str]| {
        let protocol = Protocol { besides, ..Protocol::QUICK };
        let readings = Readings::new(TIME, Seconds(1e-9));
        let timed = timed_by(&SPECIMENS[0], readings, None, protocol);
        let modes: Vec<&str> = timed.timings.iter().map(|timing| timing.mode.word()).collect();
        assert_eq!(modes, words, "{besides:?}");
        let floors = timed.timings.iter().map(|timing| timing.launch_floor.is_some());
        assert!(floors.zip(&modes).all(|(has, mode)| has == (*mode == "cold")), "{modes:?}");
        assert_eq!(timed.energy, None, "nobody asked");
    };
    check(ExtraModes::Nothing, &["cold", "warm"]);
    check(ExtraModes::Graph, &["cold", "warm", "graph"]);
    check(ExtraModes::Server, &["cold", "warm", "server"]);
}

#[test]
fn energy_is_told_where_it_is_asked_for_and_there() {
    let check = |watts, expected: Result<Joules, EnergyError>| {
        let readings = Readings { watts, ..Readings::new(TIME, Seconds(1e-9)) };
        let protocol = Protocol { energy: EnergyUse::Measure, ..Protocol::QUICK };
        let timed = timed_by(&SPECIMENS[0], readings, None, protocol);
        assert_eq!(timed.energy.unwrap().map(|energy| energy.each), expected, "{watts:?}");
    };
    check(Some(160.0), Ok(Joules(1.0)));
    check(Some(40.0), Err(EnergyError::Unsound));
    check(None, Err(EnergyError::NoCounter));
}

#[test]
fn a_time_near_the_launch_floor_says_so() {
    let check = |nanoseconds: f64, says: bool| {
        let readings = Readings::new(Seconds(nanoseconds * 1e-9), Seconds(25e-9));
        let line = said(&SPECIMENS[0], readings, None).standing.unwrap().line;
        let has = line.contains("of which an empty launch of this shape takes 50.0 ns");
        assert_eq!(has, says, "{nanoseconds} ns: {line}");
    };
    check(120.0, true);
    check(500.0, false);
}
