//! Points and roofs.

use lightbench_units::Intensity;

use super::*;
use crate::roofline::{Level, NoPoint, Roof, Traffic, attainable, point, ridge, roofs};

#[test]
fn a_point_lies_where_work_meets_time() {
    let work =
        work(1000, 1000, &[(OperationKind::Arithmetic, 3000.0), (OperationKind::Special, 1000.0)]);
    let at = (Bytes(2000), Traffic::Compulsory);
    let point = point(&work, Seconds(2.0), Level::Dram, at).unwrap();
    assert_eq!(point.intensity, Intensity(2.0));
    assert_eq!(point.rate, FlopsPerSecond(2000.0));
    assert_eq!(point.bandwidth, BytesPerSecond(1000.0));
}

#[test]
fn a_point_below_its_roof_is_what_a_bound_says() {
    let work = work(1 << 30, 0, &[(OperationKind::Arithmetic, 1e9)]);
    let at = (work.moved(), Traffic::Compulsory);
    let point = point(&work, bound(&work).bound().time, Level::Dram, at).unwrap();
    let ceilings = sheet_ceilings();
    let (pipe, dram) = (ceilings.pipe(Pipe::Fp32).unwrap().value, ceilings.dram.unwrap().value);
    let roof = attainable(point.intensity, pipe, dram);
    assert!((point.rate.0 / roof.0 - 1.0).abs() < 1e-9);
}

#[track_caller]
fn check_none(work: &MinimalWork, time: f64, bytes: u64, expected: NoPoint) {
    let at = (Bytes(bytes), Traffic::Counted);
    assert_eq!(point(work, Seconds(time), Level::L2, at), Err(expected));
}

#[test]
fn what_cannot_be_placed_is_not() {
    let sum = work(8, 8, &[(OperationKind::Arithmetic, 1.0)]);
    check_none(&work(8, 8, &[(OperationKind::Integer, 5.0)]), 1.0, 16, NoPoint::NoOperations);
    check_none(
        &work(8, 8, &[(OperationKind::Arithmetic, f64::NAN)]),
        1.0,
        16,
        NoPoint::NoOperations,
    );
    check_none(&sum, 1.0, 0, NoPoint::NoBytes);
    check_none(&sum, f64::NAN, 16, NoPoint::NotATime);
    check_none(&sum, 0.0, 16, NoPoint::NotATime);
}

#[test]
fn roofs_meet_at_the_ridge() {
    let (pipe, memory) = (FlopsPerSecond(1000.0), BytesPerSecond(10.0));
    let ridge = ridge(pipe, memory);
    assert_eq!(ridge, Intensity(100.0));
    assert_eq!(attainable(Intensity(50.0), pipe, memory), FlopsPerSecond(500.0));
    assert_eq!(attainable(Intensity(200.0), pipe, memory), pipe);
    assert!(attainable(Intensity(f64::NAN), pipe, memory).0.is_nan());
}

#[test]
fn an_uncalibrated_device_has_no_roof_for_l2() {
    let levels = |ceilings: &Ceilings| -> Vec<Level> {
        let level = |roof: &Roof| match roof {
            Roof::Memory { level, .. } => Some(*level),
            Roof::Compute { .. } => None,
        };
        roofs(ceilings).iter().filter_map(level).collect()
    };
    assert_eq!(levels(&sheet_ceilings()), [Level::Dram]);
    let own = calibration();
    let measured = Ceilings::new(h200(), Some(&own), Basis::Measured);
    assert_eq!(levels(&measured), [Level::Dram, Level::L2]);
    // Hopper has every pipe but FP4.
    assert_eq!(roofs(&measured).len(), 2 + Pipe::ALL.len() - 1);
}
