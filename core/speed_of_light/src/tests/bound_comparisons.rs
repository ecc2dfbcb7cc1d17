//! Comparisons of times with bounds, and times that are reported as findings.

use super::*;
use crate::bound::{Limit, MethodBound};
use crate::bound_comparison::{Bounds, NoBoundComparison, Reason, compare_with_bounds};

/// 1 GiB takes 223 microseconds on the sheet's peaks.
fn gigabyte() -> MinimalWork {
    work(1 << 30, 0, &[(OperationKind::Arithmetic, 1e6)])
}

#[test]
fn a_time_stands_on_every_basis() {
    let own = calibration();
    let measured = Ceilings::new(h200(), Some(&own), Basis::Measured);
    let (work, sheet) = (gigabyte(), sheet_ceilings());
    let physical = [&sheet, &measured]
        .map(|ceilings| PhysicalBound::new(&work, ceilings, CacheState::Cold).unwrap());
    let method = MethodBound::new(&work, &sheet, CacheState::Cold).unwrap();
    let bounds = [
        Bounds { physical: &physical[0], method: Some(&method) },
        Bounds { physical: &physical[1], method: None },
    ];
    let stands = compare_with_bounds(Seconds(300e-6), &bounds).unwrap();
    let fractions: Vec<String> =
        stands.physical.iter().map(|against| against.bound_fraction.middle.to_string()).collect();
    assert_eq!(fractions, ["74.3 %", "81.3 %"]);
    assert_eq!(stands.best().unwrap().basis, Basis::Measured);
    assert_eq!(stands.method.len(), 1);
    assert_eq!(stands.exceeded_method(), None);
}

#[test]
fn beating_measured_ceilings_is_no_finding() {
    let own = calibration();
    let bounds = [Basis::Sheet, Basis::Measured].map(|basis| {
        let ceilings = Ceilings::new(h200(), Some(&own), basis);
        PhysicalBound::new(&gigabyte(), &ceilings, CacheState::Cold).unwrap()
    });
    let both = [0, 1].map(|each| Bounds { physical: &bounds[each], method: None });
    // Between 223 µs by the sheet and 244 µs by the calibration.
    let stands = compare_with_bounds(Seconds(230e-6), &both).unwrap();
    assert_eq!(stands.best().unwrap().basis, Basis::Sheet);
    assert_eq!(stands.on_sheet_peaks(), None);
    let beaten = stands.exceeded_ceiling().unwrap();
    assert_eq!((beaten.basis, beaten.limit), (Basis::Measured, Limit::Dram));
    assert!(matches!(
        compare_with_bounds(Seconds(200e-6), &both),
        Err(NoBoundComparison::BelowBound(_))
    ));
    let stands = compare_with_bounds(Seconds(300e-6), &both).unwrap();
    assert_eq!(stands.exceeded_ceiling(), None);
    assert_eq!(stands.on_sheet_peaks().unwrap().bound_fraction.middle.to_string(), "74.3 %");
}

#[test]
fn beating_the_named_method_is_news() {
    let flops = 2.0 * 4096_f64.powi(3);
    let work = work(128 << 20, 64 << 20, &[(OperationKind::Contraction, flops)]);
    let method = MethodBound::new(&work, &sheet_ceilings(), CacheState::Cold).unwrap();
    let physical = bound(&work);
    let bounds = [Bounds { physical: &physical, method: Some(&method) }];
    // Faster than f32 lanes, slower than three products of halves.
    let stands = compare_with_bounds(Seconds(1e-3), &bounds).unwrap();
    let news = stands.exceeded_method().unwrap();
    assert_eq!(news.limit, Limit::Pipe(Pipe::Fp32));
    assert!(news.bound_fraction.middle.0 > 2.0);
}

#[test]
fn a_time_below_the_bound_is_a_finding() {
    let physical = bound(&gigabyte());
    let bounds = [Bounds { physical: &physical, method: None }];
    let Err(NoBoundComparison::BelowBound(below)) = compare_with_bounds(Seconds(100e-6), &bounds)
    else {
        panic!("a time that no memory allows")
    };
    // Never clamped.
    assert_eq!(below.compared.bound_fraction.middle.to_string(), "223 %");
    assert_eq!(
        below.reasons,
        [
            Reason::WorkSkipped,
            Reason::NotCold,
            Reason::ClockMissed,
            Reason::FasterClock,
            Reason::WorkOverstated
        ]
    );
    assert_eq!(
        below.sentence(),
        "100 µs is below the 223 µs that DRAM alone takes (sheet): not a valid time; most likely the kernel does not do all of the work"
    );
}

#[test]
fn a_time_at_the_bound_stands() {
    let physical = bound(&gigabyte());
    let bounds = [Bounds { physical: &physical, method: None }];
    let stands = compare_with_bounds(physical.bound().time, &bounds).unwrap();
    assert_eq!(stands.best().unwrap().bound_fraction.middle.0, 1.0);
}

#[test]
fn what_is_no_time_has_no_standing() {
    let physical = bound(&gigabyte());
    let bounds = [Bounds { physical: &physical, method: None }];
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        assert_eq!(compare_with_bounds(Seconds(bad), &bounds), Err(NoBoundComparison::NotATime));
    }
    assert_eq!(compare_with_bounds(Seconds(1.0), &[]), Err(NoBoundComparison::NoBound));
}
