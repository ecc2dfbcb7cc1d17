//! Where times stand, and which of them are findings.

use super::*;
use crate::speed_of_light::bound::{Limit, MethodBound};
use crate::speed_of_light::standing::{Bounds, NoStanding, Reason, standing};

/// 1 GiB takes 223 microseconds on the sheet's peaks.
fn gigabyte() -> MinimalWork {
    work(1 << 30, 0, &[(OperationKind::Arithmetic, 1e6)])
}

#[test]
fn a_time_stands_on_every_basis() {
    let own = calibration();
    let measured = Ceilings::of(h200(), Some(&own), Basis::Measured);
    let (work, sheet) = (gigabyte(), sheet_ceilings());
    let physical = [&sheet, &measured]
        .map(|ceilings| PhysicalBound::of(&work, ceilings, CacheState::Cold).unwrap());
    let method = MethodBound::of(&work, &sheet, CacheState::Cold).unwrap();
    let bounds = [
        Bounds { physical: &physical[0], method: Some(&method) },
        Bounds { physical: &physical[1], method: None },
    ];
    let stands = standing(Seconds(300e-6), &bounds).unwrap();
    let fractions: Vec<String> =
        stands.physical.iter().map(|against| against.share.middle.to_string()).collect();
    assert_eq!(fractions, ["74.3 %", "81.3 %"]);
    assert_eq!(stands.best().unwrap().basis, Basis::Measured);
    assert_eq!(stands.method.len(), 1);
    assert_eq!(stands.another_method(), None);
}

#[test]
fn beating_measured_ceilings_is_no_finding() {
    let own = calibration();
    let bounds = [Basis::Sheet, Basis::Measured].map(|basis| {
        let ceilings = Ceilings::of(h200(), Some(&own), basis);
        PhysicalBound::of(&gigabyte(), &ceilings, CacheState::Cold).unwrap()
    });
    let both = [0, 1].map(|each| Bounds { physical: &bounds[each], method: None });
    // Between 223 µs by the sheet and 244 µs by the calibration.
    let stands = standing(Seconds(230e-6), &both).unwrap();
    assert_eq!(stands.best().unwrap().basis, Basis::Sheet);
    assert_eq!(stands.by_the_sheet(), None);
    let beaten = stands.beaten().unwrap();
    assert_eq!((beaten.basis, beaten.limit), (Basis::Measured, Limit::Dram));
    assert!(matches!(standing(Seconds(200e-6), &both), Err(NoStanding::BelowBound(_))));
    let stands = standing(Seconds(300e-6), &both).unwrap();
    assert_eq!(stands.beaten(), None);
    assert_eq!(stands.by_the_sheet().unwrap().share.middle.to_string(), "74.3 %");
}

#[test]
fn beating_the_named_method_is_news() {
    let flops = 2.0 * 4096_f64.powi(3);
    let work = work(128 << 20, 64 << 20, &[(OperationKind::Contraction, flops)]);
    let method = MethodBound::of(&work, &sheet_ceilings(), CacheState::Cold).unwrap();
    let physical = bound(&work);
    let bounds = [Bounds { physical: &physical, method: Some(&method) }];
    // Faster than f32 lanes, slower than three products of halves.
    let stands = standing(Seconds(1e-3), &bounds).unwrap();
    let news = stands.another_method().unwrap();
    assert_eq!(news.limit, Limit::Pipe(Pipe::Fp32));
    assert!(news.share.middle.0 > 2.0);
}

#[test]
fn a_time_below_the_bound_is_a_finding() {
    let physical = bound(&gigabyte());
    let bounds = [Bounds { physical: &physical, method: None }];
    let Err(NoStanding::BelowBound(below)) = standing(Seconds(100e-6), &bounds) else {
        panic!("a time that no memory allows")
    };
    // Never clamped.
    assert_eq!(below.against.share.middle.to_string(), "223 %");
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
        "100 µs is below the 223 µs that DRAM alone takes (sheet): a finding, not a time; most likely the kernel does not do all of the work"
    );
}

#[test]
fn a_time_at_the_bound_stands() {
    let physical = bound(&gigabyte());
    let bounds = [Bounds { physical: &physical, method: None }];
    let stands = standing(physical.bound().time, &bounds).unwrap();
    assert_eq!(stands.best().unwrap().share.middle.0, 1.0);
}

#[test]
fn what_is_no_time_has_no_standing() {
    let physical = bound(&gigabyte());
    let bounds = [Bounds { physical: &physical, method: None }];
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        assert_eq!(standing(Seconds(bad), &bounds), Err(NoStanding::NotATime));
    }
    assert_eq!(standing(Seconds(1.0), &[]), Err(NoStanding::NoBound));
}
