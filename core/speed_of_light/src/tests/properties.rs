//! Properties for all numbers: more work never lowers a bound, and more time never raises a fraction of the bound or a
//! score.

use proptest::prelude::*;

use super::*;
use crate::bound::{Limit, MethodBound};
use crate::bound_comparison::{Bounds, compare_with_bounds};
use crate::score::score;

fn kinds() -> impl Strategy<Value = OperationKind> {
    prop::sample::select(vec![
        OperationKind::Arithmetic,
        OperationKind::Contraction,
        OperationKind::Special,
        OperationKind::Integer,
        OperationKind::Compare,
    ])
}

fn accuracies() -> impl Strategy<Value = Accuracy> {
    prop::sample::select(vec![
        Accuracy::F64,
        Accuracy::F32,
        Accuracy::Tf32,
        Accuracy::F16,
        Accuracy::Bf16,
        Accuracy::F8,
        Accuracy::Exact,
    ])
}

fn operands() -> impl Strategy<Value = Operands> {
    let bits = prop::sample::select(vec![2_u32, 3, 4, 8, 11, 24, 53]);
    let floats = (bits.clone(), bits)
        .prop_map(|(a, b)| Operands::Floats { widest: a.max(b), narrowest: a.min(b) });
    let integers = prop::sample::select(vec![4_u64, 8, 16, 32, 64])
        .prop_map(|bits| Operands::Integers { bits });
    prop_oneof![floats, integers]
}

prop_compose! {
    fn works()(
        read in 1_u64..1 << 40,
        written in 0_u64..1 << 40,
        operations in prop::collection::vec((kinds(), 0.0..1e18), 0..5),
        accuracy in accuracies(),
        operands in operands(),
    ) -> MinimalWork {
        MinimalWork { accuracy, operands, ..work(read, written, &operations) }
    }
}

fn devices() -> impl Strategy<Value = Ceilings> {
    let names: Vec<&'static str> = DeviceSheet::names().collect();
    let bases = prop::sample::select(vec![Basis::Sheet, Basis::Measured]);
    (prop::sample::select(names), bases, any::<bool>()).prop_map(|(name, basis, is_calibrated)| {
        let own = is_calibrated.then(calibration);
        Ceilings::new(DeviceSheet::named(name).unwrap(), own.as_ref(), basis)
    })
}

proptest! {
    #[test]
    fn more_work_never_lowers_a_bound(
        less in works(), read in 0_u64..1 << 40, written in 0_u64..1 << 40,
        factor in 1.0..1e3, ceilings in devices(), is_warm in any::<bool>(),
    ) {
        let cache = if is_warm { CacheState::Warm } else { CacheState::Cold };
        let more = MinimalWork {
            read: less.read + Bytes(read),
            written: less.written + Bytes(written),
            operations: less.operations.iter().map(|(kind, count)| (*kind, *count * factor)).collect(),
            ..less.clone()
        };
        let time = |work: &MinimalWork| {
            PhysicalBound::new(work, &ceilings, cache).map_or(0.0, |bound| bound.bound().time.0)
        };
        prop_assert!(time(&more) >= time(&less));
        let time = |work: &MinimalWork| {
            MethodBound::new(work, &ceilings, cache).map_or(0.0, |bound| bound.bound().time.0)
        };
        prop_assert!(time(&more) >= time(&less));
    }

    #[test]
    fn a_faster_memory_never_raises_a_bound(work in works(), factor in 1.0..100.0) {
        let mut ceilings = sheet_ceilings();
        let slow = PhysicalBound::new(&work, &ceilings, CacheState::Cold);
        if let Some(dram) = &mut ceilings.dram {
            dram.value = dram.value * factor;
        }
        let fast = PhysicalBound::new(&work, &ceilings, CacheState::Cold);
        let time = |bound: &PhysicalBound| bound.bound().time.0;
        prop_assert!(fast.map_or(0.0, |bound| time(&bound)) <= slow.map_or(0.0, |bound| time(&bound)));
    }

    #[test]
    fn a_bound_is_its_longest_part(work in works(), ceilings in devices()) {
        if let Ok(physical) = PhysicalBound::new(&work, &ceilings, CacheState::Cold) {
            let bound = physical.bound();
            prop_assert!(bound.parts.iter().all(|part| part.time <= bound.time));
            prop_assert!(bound.parts.iter().any(|part| part.time == bound.time && part.limit == bound.limit));
            let dram = bound.parts.iter().find(|part| part.limit == Limit::Dram);
            prop_assert!(dram.is_none_or(|part| part.time.0 > 0.0));
        }
    }

    #[test]
    fn more_time_never_raises_a_standing(work in works(), slower in 1.0..1e6, more in 1.0..1e6) {
        if let Ok(physical) = PhysicalBound::new(&work, &sheet_ceilings(), CacheState::Cold) {
            let bounds = [Bounds { physical: &physical, method: None }];
            let fraction = |time: Seconds| compare_with_bounds(time, &bounds).unwrap().best().unwrap().bound_fraction.middle.0;
            let time = physical.bound().time * slower;
            prop_assert!(fraction(time) <= 1.0);
            prop_assert!(fraction(time * more) <= fraction(time));
        }
    }

    #[test]
    fn a_score_lies_between_nothing_and_one(
        bound in 1e-9..1.0, baseline in 1e-9..1.0, time in 1e-9..1.0, more in 1.0..1e3,
    ) {
        let scored = |time: f64| score(Seconds(time), Seconds(baseline), Seconds(bound));
        if let Ok(first) = scored(time) {
            prop_assert!(first.value() > 0.0 && first.value() <= 1.0);
            prop_assert!(scored(time * more).unwrap() <= first);
        }
    }

    #[test]
    fn no_score_is_made_of_what_is_no_number(
        time in prop::num::f64::ANY, baseline in prop::num::f64::ANY, bound in prop::num::f64::ANY,
    ) {
        if let Ok(scored) = score(Seconds(time), Seconds(baseline), Seconds(bound)) {
            prop_assert!(scored.value() > 0.0 && scored.value() <= 1.0);
            prop_assert!(bound > 0.0 && time >= bound && baseline > bound);
        }
    }
}
