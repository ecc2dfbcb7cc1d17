//! The calibration file: it is read back as written, damaged files are refused, and missing numbers come from the device
//! sheet.

use super::*;
use crate::calibration::CalibrationError;
use crate::ceilings::{Origin, Quantity};

#[test]
fn a_calibration_survives_the_round_trip() {
    let own = calibration();
    assert_eq!(Calibration::from_json(&own.to_json().unwrap()), Ok(own));
}

#[track_caller]
fn check_refused(change: impl FnOnce(&mut Calibration), expected: &str) {
    let mut own = calibration();
    change(&mut own);
    let text = serde_json::to_string(&own).unwrap();
    let error = Calibration::from_json(&text).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    assert!(matches!(own.to_json(), Err(CalibrationError::Unsound(_))) || own.schema != SCHEMA);
}

#[test]
fn a_number_that_no_measurement_gives_is_refused() {
    check_refused(|own| own.schema = 2, "schema 2; this program reads schema 1");
    check_refused(|own| own.date.clear(), "no date");
    check_refused(|own| own.clocks.memory = Some(Hertz(0.0)), "a clock that does not run");
    check_refused(|own| own.launch_floor.as_mut().unwrap().low = Seconds(1.0), "launch floor");
    check_refused(|own| own.special.as_mut().unwrap().samples = 0, "no sample");
    check_refused(|own| own.pipes.get_mut(&Pipe::Fp32).unwrap().low = FlopsPerSecond(-1.0), "FP32");
}

#[test]
fn what_is_no_number_is_not_written() {
    let mut own = calibration();
    own.memory.get_mut(&MemoryPath::DramRead).unwrap().median = BytesPerSecond(f64::NAN);
    assert!(matches!(own.to_json(), Err(CalibrationError::Unsound(_))));
}

#[test]
fn text_that_is_no_calibration_has_a_place() {
    for text in
        ["", "{", "[]", "{\"schema\": \"one\"}", "{\"schema\": 1}", "{\"schema\": 1, \"more\": 0}"]
    {
        let error = Calibration::from_json(text).unwrap_err();
        assert!(matches!(error, CalibrationError::Syntax { .. }), "{text}: {error}");
    }
}

#[test]
fn a_calibration_is_of_one_device() {
    assert!(calibration().is_of("00112233445566778899AABBCCDDEEFF"));
    assert!(!calibration().is_of("00112233445566778899aabbccddee00"));
}

#[test]
fn what_was_not_measured_comes_from_the_sheet_and_says_so() {
    let own = calibration();
    let ceilings = Ceilings::new(h200(), Some(&own), Basis::Measured);
    let dram = ceilings.dram.as_ref().unwrap();
    // The fastest of the three ways.
    assert_eq!(dram.value, BytesPerSecond(4.4e12));
    assert_eq!(dram.origin.to_string(), "measured 2026-11-21T19:00:00Z (float4)");
    assert_eq!(ceilings.pipe(Pipe::Fp32).unwrap().value, FlopsPerSecond(60e12));
    let half = ceilings.pipe(Pipe::Fp16).unwrap();
    assert_eq!(half.origin.to_string(), "sheet (gh100-rates, at 1.98 GHz)");
    let missing = ceilings.not_measured();
    assert!(missing.contains(&Quantity::Pipe(Pipe::Fp16)) && missing.contains(&Quantity::Shared));
    assert!(!missing.contains(&Quantity::Dram) && !missing.contains(&Quantity::Pipe(Pipe::Fp32)));
}

#[test]
fn the_sheet_keeps_its_own_peaks_beside_a_calibration() {
    let own = calibration();
    let ceilings = Ceilings::new(h200(), Some(&own), Basis::Sheet);
    assert_eq!(ceilings.dram.as_ref().unwrap().value, BytesPerSecond(4.814e12));
    assert!(matches!(ceilings.pipe(Pipe::Fp32).unwrap().origin, Origin::Sheet { .. }));
    // No sheet has these.
    assert!(ceilings.launch_floor.is_some() && ceilings.retained_writes.is_some());
    // Absent on Hopper.
    assert!(ceilings.pipe(Pipe::TensorFp4).is_none());
}
