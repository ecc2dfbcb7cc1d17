//! Inputs from the whole domain: every class for every tensor, inside the domain, with the structure that it names.

use lightbench_project::definition::Subnormals;

use super::*;
use crate::fixture::{input, within};

const NORMAL: Fill<u64> = Fill::Normal { mean: 0.0, std: 1.0 };

fn round_of(class: Class) -> u8 {
    Class::ALL.iter().position(|other| *other == class).unwrap() as u8
}

fn classed(class: Class, along: Along) -> InputSpec {
    let draw = DomainInput { round: round_of(class), alone: None, along };
    InputSpec { seed: 11, draw: InputMode::Domain(draw) }
}

#[test]
fn over_all_rounds_every_tensor_has_every_class() {
    let tensors: Vec<TensorCase> =
        (0..3).map(|_| input("x", Dtype::F32, &[4, 4], NORMAL)).collect();
    let case = case(Accuracy::F32, tensors);
    for tensor in 0..3 {
        let mut classes: Vec<Class> = (0..Class::ALL.len() as u8)
            .filter_map(|round| {
                DomainInput { round, alone: None, along: Along::Last }.class(&case, tensor)
            })
            .collect();
        classes.sort_unstable();
        let mut all = Class::ALL.to_vec();
        all.sort_unstable();
        assert_eq!(classes, all, "tensor {tensor}");
    }
}

#[test]
fn alone_a_tensor_has_its_class_and_the_others_are_as_declared() {
    let case = case(
        Accuracy::F32,
        vec![input("x", Dtype::F32, &[64], NORMAL), input("w", Dtype::F32, &[64], NORMAL)],
    );
    let draw = DomainInput { round: 5, alone: Some(1), along: Along::Last };
    let made = generate(&case, InputSpec { seed: 3, draw: InputMode::Domain(draw) }).unwrap();
    let plain = generate(&case, declared(3)).unwrap();
    assert_eq!(made[0], plain[0]);
    assert_ne!(made[1], plain[1]);
}

#[test]
fn every_class_stays_inside_every_domain() {
    let domains = [
        Domain::Any,
        Domain::Finite,
        Domain::NonZero,
        Domain::Positive,
        Domain::NonNegative,
        Domain::UnitInterval,
        Domain::Between { low: -0.75, high: 0.5 },
    ];
    let dtypes = [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::Bf16, Dtype::F8E4M3, Dtype::F8E5M2];
    for (domain, dtype) in domains.iter().flat_map(|domain| dtypes.map(|dtype| (domain, dtype))) {
        let fill = Fill::Uniform { low: 0.25, high: 1.0 };
        for class in Class::ALL {
            let tensor = within(input("x", dtype, &[6, 70], fill.clone()), domain.clone());
            for value in reals(&tensor, classed(class, Along::Last)) {
                let inside = match domain {
                    Domain::Any | Domain::Finite => true,
                    Domain::NonZero => value != 0.0,
                    Domain::Positive => value > 0.0,
                    Domain::NonNegative => value >= 0.0,
                    Domain::UnitInterval => (0.0..=1.0).contains(&value),
                    Domain::Between { low, high } => (*low..=*high).contains(&value),
                    Domain::Probability | Domain::IndexBelow(_) => false,
                };
                let what = format!("{value} of {} in {domain:?}, {class:?}", dtype.name());
                assert!(inside && value.is_finite(), "{what}");
                let normal = !matches!(dtype, Dtype::F32 | Dtype::Bf16)
                    || value == 0.0
                    || value.abs() >= f64::from(f32::MIN_POSITIVE);
                assert!(normal, "subnormal: {what}");
            }
        }
    }
}

#[test]
fn integers_stay_below_their_limit_and_reach_both_ends() {
    let whole = |dtype: Dtype, domain, class| {
        let fill = Fill::Integers { low: 1, high: 5 };
        let tensor = within(input("x", dtype, &[8, 100], fill), domain);
        elements(&tensor, &bytes(&tensor, classed(class, Along::Last)))
    };
    for class in Class::ALL {
        let labels = whole(Dtype::I32, Domain::IndexBelow(16), class);
        assert!(labels.iter().all(|label| *label < 16), "{class:?}: {labels:?}");
    }
    let far = whole(Dtype::U8, Domain::Any, Class::FarAbove);
    assert!(far.contains(&255) && far.iter().all(|value| *value >= 252), "{far:?}");
    let low = whole(Dtype::I32, Domain::Any, Class::FarBelow);
    assert!(low.contains(&0x8000_0000), "{low:?}");
    let equal = whole(Dtype::I32, Domain::IndexBelow(16), Class::Equal);
    assert!(equal.iter().all(|value| *value == equal[0]), "{equal:?}");
    let sorted = whole(Dtype::I32, Domain::IndexBelow(1000), Class::Sorted);
    let ascends = |row: &[u64]| row.is_sorted() || row.iter().rev().is_sorted();
    assert!(sorted.chunks(100).all(ascends), "{sorted:?}");
}

#[test]
fn classes_have_the_structure_that_they_name() {
    let x = input("x", Dtype::F32, &[6, 100], NORMAL);
    let made = |class| reals(&x, classed(class, Along::Last));
    let rows =
        |values: &[f64]| -> Vec<Vec<f64>> { values.chunks(100).map(<[f64]>::to_vec).collect() };

    let plain = reals(&x, declared(11));
    let signs = made(Class::Signs);
    let magnitudes = |values: &[f64]| values.iter().map(|value| value.abs()).collect::<Vec<_>>();
    assert_eq!(magnitudes(&signs), magnitudes(&plain));
    assert_ne!(signs, plain);

    assert!(made(Class::Zeros).chunks(100).nth(3).unwrap().iter().all(|value| *value == 0.0));
    assert!(made(Class::Large).iter().any(|value| value.abs() > 2.0_f64.powi(22)));
    assert!(made(Class::Small).iter().all(|value| value.abs() < 2.0_f64.powi(-95)));
    assert!(made(Class::FarBelow).iter().all(|value| *value < -1.0e9));
    assert!(made(Class::FarAbove).iter().all(|value| *value > 1.0e9));
    for row in rows(&made(Class::OneMaximum)) {
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let below = row.iter().filter(|value| (11.9..14.1).contains(&(most - **value))).count();
        assert_eq!(below, 99, "{row:?}");
    }
    for row in rows(&made(Class::Alternating)) {
        assert!(row.iter().sum::<f64>().abs() < 1e-4, "{row:?}");
    }
    for (row, position) in rows(&made(Class::Outlier)).iter().zip([0, 50, 99].into_iter().cycle()) {
        let size = row[position].abs();
        assert!(row.iter().filter(|value| value.abs() >= size).count() <= 2, "{row:?}");
    }
    let mut few = made(Class::Duplicates);
    few.sort_by(f64::total_cmp);
    few.dedup();
    assert!(few.len() <= 4, "{few:?}");
}

#[test]
fn lines_run_along_either_axis() {
    let x = input("x", Dtype::F32, &[100, 6], NORMAL);
    let made = reals(&x, classed(Class::OneMaximum, Along::First));
    for column in 0..6 {
        let line: Vec<f64> = made.iter().skip(column).step_by(6).copied().collect();
        let most = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(line.iter().filter(|value| **value == most).count(), 1, "{line:?}");
    }
}

#[test]
fn one_row_of_a_sparse_matrix_has_what_fits_into_it() {
    let fill = Fill::SortedOffsets { total: 5000 };
    let offsets = input("offsets", Dtype::I32, &[101], fill);
    let below = 2000;
    let indices = input("indices", Dtype::I32, &[5000], Fill::SortedIndices { offsets: 0, below });
    let case = case(Accuracy::F32, vec![offsets.clone(), indices]);
    let made = generate(&case, classed(Class::Outlier, Along::Last)).unwrap();
    let ends = elements(&offsets, made[0].as_ref().unwrap());
    let lengths: Vec<u64> = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!((ends[0], ends[100]), (0, 5000));
    assert!(lengths.iter().all(|length| *length <= below), "{lengths:?}");
    assert!(lengths.contains(&below) && lengths.iter().filter(|one| **one == 0).count() > 90);
}

#[test]
fn limits_of_integers_are_reached_and_never_left() {
    let fill = Fill::Integers { low: 1, high: 5 };
    let limits = Domain::Between { low: -3.5, high: 9.0 };
    let tensor = within(input("x", Dtype::I16, &[8, 100], fill), limits);
    for class in Class::ALL {
        let made = elements(&tensor, &bytes(&tensor, classed(class, Along::Last)));
        let inside = made.iter().all(|value| (-3..=9).contains(&(*value as i16)));
        assert!(inside, "{class:?}: {made:?}");
    }
    let far = elements(&tensor, &bytes(&tensor, classed(Class::FarAbove, Along::Last)));
    assert!(far.contains(&9), "{far:?}");
}

#[test]
fn subnormal_numbers_come_where_the_definition_keeps_them() {
    let check = |dtype, subnormals, expected: bool| {
        let x = input("x", dtype, &[40], NORMAL);
        let case = Case { subnormals, ..case(Accuracy::F32, vec![x.clone()]) };
        let draw = DomainInput::alone(&case, 0, Class::Subnormal);
        assert_eq!(draw.is_some(), expected, "{dtype:?}, {subnormals:?}");
        let Some(draw) = draw else { return };
        let made = generate(&case, InputSpec { seed: 5, draw: InputMode::Domain(draw) }).unwrap();
        let mut values = vec![0.0; 40];
        load_reals(dtype, made[0].as_ref().unwrap(), &mut values);
        let subnormal = |value: &f64| *value != 0.0 && value.abs() < 2.0_f64.powi(-126);
        assert!(values.iter().all(subnormal), "{values:?}");
    };
    check(Dtype::F32, Subnormals::Keep, true);
    check(Dtype::Bf16, Subnormals::Keep, true);
    check(Dtype::F32, Subnormals::MayFlush, false);
    check(Dtype::F16, Subnormals::Keep, false);
    check(Dtype::I32, Subnormals::Keep, false);
}
