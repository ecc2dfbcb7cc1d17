//! Values of single elements: domains, bounds, moments, distributions.

use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::tensor::Role;
use proptest::prelude::*;

use super::*;
use crate::fixture::{ALL_DISTRIBUTIONS, input, strided, within};

const FLOATS: [Dtype; 6] =
    [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::Bf16, Dtype::F8E4M3, Dtype::F8E5M2];

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

fn check_moments(fill: &Fill<u64>, mean: f64, deviation: f64) {
    for dtype in FLOATS {
        let values = reals(&input("x", dtype, &[40, 1000], fill.clone()), declared(3));
        let (found, spread) = mean_and_deviation(&values);
        // 40,000 values, and the bias of rounding to few bits.
        assert!((found - mean).abs() < 0.03 * deviation, "{}: mean {found}", dtype.name());
        assert!((spread / deviation - 1.0).abs() < 0.03, "{}: deviation {spread}", dtype.name());
    }
}

#[test]
fn fills_have_the_moments_that_they_declare() {
    check_moments(&Fill::Normal { mean: 0.0, std: 1.0 }, 0.0, 1.0);
    check_moments(&Fill::Normal { mean: -3.0, std: 2.0 }, -3.0, 2.0);
    check_moments(&Fill::Uniform { low: -1.0, high: 1.0 }, 0.0, 3.0_f64.sqrt().recip());
    check_moments(&Fill::Integers { low: -2, high: 2 }, 0.0, 2.0_f64.sqrt());
    check_moments(&Fill::Mask { density: 0.25 }, 0.25, 0.1875_f64.sqrt());
}

#[test]
fn tensors_and_seeds_have_numbers_of_their_own() {
    let normal = || input("x", Dtype::F32, &[1000], Fill::Normal { mean: 0.0, std: 1.0 });
    let case = case(Accuracy::F32, vec![normal(), normal()]);
    let first = generate(&case, declared(1)).unwrap();
    assert_ne!(first[0], first[1]);
    assert_ne!(first, generate(&case, declared(2)).unwrap());
    assert_eq!(first, generate(&case, declared(1)).unwrap());
}

#[test]
fn layout_changes_places_and_no_value() {
    for dtype in [Dtype::F32, Dtype::F8E4M3, Dtype::I64, Dtype::Bool] {
        let fill = Fill::Mask { density: 0.5 };
        let plain = input("x", dtype, &[7, 30, 11], fill);
        let padded = strided(plain.clone(), &[400, 13, 1]);
        let turned = strided(plain.clone(), &[1, 7, 300]);
        let expected = elements(&plain, &bytes(&plain, declared(8)));
        for tensor in [padded, turned] {
            let made = bytes(&tensor, declared(8));
            assert_eq!(elements(&tensor, &made), expected);
            let size = dtype.address_bytes() as usize;
            let poisoned = made.chunks(size).filter(|one| one.iter().all(|byte| *byte == 0xff));
            assert_eq!(poisoned.count() as u64, tensor.span - tensor.elements);
        }
    }
}

#[test]
fn elements_that_share_memory_count_once() {
    let row = input("x", Dtype::F32, &[64], Fill::Normal { mean: 0.0, std: 1.0 });
    let repeated =
        strided(TensorCase { dims: vec![1 << 20, 64], elements: 64 << 20, ..row.clone() }, &[0, 1]);
    assert_eq!(bytes(&repeated, declared(1)), bytes(&row, declared(1)));
    // A sliding window over 2^20 + 63 elements.
    let windows =
        strided(TensorCase { dims: vec![1 << 20, 64], elements: 64 << 20, ..row.clone() }, &[1, 1]);
    assert_eq!(bytes(&windows, declared(1)).len(), ((1 << 20) + 63) * 4);
    let mask = TensorCase { role: Role::Input { fill: Fill::CausalMask }, ..windows };
    let refused = generate(&case(Accuracy::F32, vec![mask]), declared(1));
    assert!(matches!(refused, Err(InputError::SharedMemory { .. })));
}

#[test]
fn uniform_numbers_stay_below_their_end_in_every_dtype() {
    for dtype in FLOATS {
        for (low, high) in [(0.0, 1.0), (0.5, 1.5), (-1.0, -0.1), (1e-30, 1e-20), (0.1, 0.101)] {
            let values =
                reals(&input("x", dtype, &[5000], Fill::Uniform { low, high }), declared(2));
            let (first, rest) = (values[0], &values[1..]);
            let inside = values.iter().all(|value| (low..high).contains(value));
            // Where the dtype has nothing in between, all are the same.
            assert!(inside || rest.iter().all(|value| *value == first), "{} {low}", dtype.name());
        }
    }
}

#[test]
fn written_constants_are_meant() {
    for value in [f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.5] {
        let fill = Fill::Constant(ScalarValue::Real(value));
        let values = reals(&input("x", Dtype::F16, &[10], fill), declared(2));
        assert!(values.iter().all(|found| *found == value));
    }
}

fn distribution() -> impl Strategy<Value = Distribution> {
    prop::sample::select(ALL_DISTRIBUTIONS.to_vec())
}

fn real_fill() -> impl Strategy<Value = Fill<u64>> {
    let number = || prop_oneof![-2.0..2.0, -1e5..1e5, Just(0.0)];
    prop_oneof![
        (number(), 1e-9..1e4).prop_map(|(mean, std)| Fill::Normal { mean, std }),
        (number(), 1e-9..1e4).prop_map(|(low, width)| Fill::Uniform { low, high: low + width }),
        (1e-9..1e6).prop_map(|scale| Fill::HeavyTail { scale }),
        (0.0..=1.0).prop_map(|density| Fill::Mask { density }),
        Just(Fill::Zeros),
        Just(Fill::Ones),
        Just(Fill::CausalMask),
        (-100_i64..100, 0_i64..100)
            .prop_map(|(low, width)| Fill::Integers { low, high: low + width }),
    ]
}

fn domain() -> impl Strategy<Value = Domain<u64>> {
    prop::sample::select(vec![
        Domain::Any,
        Domain::Finite,
        Domain::NonZero,
        Domain::Positive,
        Domain::NonNegative,
        Domain::UnitInterval,
        Domain::Probability,
        Domain::Between { low: -0.75, high: 0.5 },
    ])
}

fn inside(domain: &Domain<u64>, value: f64) -> bool {
    value.is_finite()
        && match domain {
            Domain::Any | Domain::Finite | Domain::IndexBelow(_) => true,
            Domain::NonZero => value != 0.0,
            Domain::Positive => value > 0.0,
            Domain::NonNegative => value >= 0.0,
            Domain::UnitInterval | Domain::Probability => (0.0..=1.0).contains(&value),
            Domain::Between { low, high } => (*low..=*high).contains(&value),
        }
}

proptest! {
    #[test]
    fn no_distribution_leaves_the_domain(
        seed: u64,
        dtype in prop::sample::select(FLOATS.to_vec()),
        fill in real_fill(),
        domain in domain(),
        draw in prop_oneof![distribution().prop_map(InputMode::Distribution), Just(InputMode::PrecisionProbe)],
    ) {
        // Fills outside their domain do not pass the project's check, but NonZero allows fills that round to 0.
        let tensor = within(input("x", dtype, &[30, 17], fill.clone()), domain.clone());
        for value in reals(&tensor, InputSpec { seed, draw }) {
            prop_assert!(inside(&domain, value), "{fill:?} {domain:?} {draw:?}: {value}");
        }
    }

    #[test]
    fn integers_stay_between_their_ends(seed: u64, low: i64, high: i64) {
        prop_assume!(low <= high);
        let tensor = input("x", Dtype::I64, &[500], Fill::Integers { low, high });
        for bits in elements(&tensor, &bytes(&tensor, declared(seed))) {
            prop_assert!((low..=high).contains(&(bits as i64)));
        }
    }
}

#[test]
fn distributions_change_what_they_say() {
    let fill = Fill::Normal { mean: 1.0, std: 2.0 };
    for seed in 0..50 {
        for dtype in FLOATS {
            let tensor = input("x", dtype, &[4000], fill.clone());
            let plain = reals(&tensor, declared(seed));
            let scaled = reals(&tensor, drawn(seed, Distribution::Scaled));
            let factor = scaled[0] / plain[0];
            if dtype == Dtype::F32 {
                assert!(factor.log2().fract() == 0.0 && factor != 1.0, "{factor}");
                assert!(plain.iter().zip(&scaled).all(|(plain, scaled)| plain * factor == *scaled));
            }
            let (mean, deviation) =
                mean_and_deviation(&reals(&tensor, drawn(seed, Distribution::Shifted)));
            let distance = (mean - 1.0).abs() / 2.0;
            assert!((2.9..8.1).contains(&distance), "{}: {distance}", dtype.name());
            assert!((deviation - 2.0).abs() < 0.5, "{}: {deviation}", dtype.name());
            let tail = reals(&tensor, drawn(seed, Distribution::HeavyTail));
            let moved = plain.iter().zip(&tail).filter(|(plain, tail)| plain != tail).count();
            assert!((20..130).contains(&moved), "{moved} of 4000");
            let exact = reals(&tensor, drawn(seed, Distribution::Exact));
            assert!(exact.iter().all(|value| value.fract() == 0.0 && value.abs() <= 8.0));
        }
    }
}

#[test]
fn scaled_squares_can_be_added_up() {
    let limits = [
        (Dtype::F16, Accuracy::F16, 65504.0),
        (Dtype::F16, Accuracy::F32, f64::from(f32::MAX)),
        (Dtype::F8E5M2, Accuracy::F32, f64::from(f32::MAX)),
        (Dtype::Bf16, Accuracy::F32, f64::from(f32::MAX)),
        (Dtype::F32, Accuracy::F32, f64::from(f32::MAX)),
    ];
    for (dtype, accuracy, largest) in limits {
        for seed in 0..200 {
            let tensor = input("x", dtype, &[4096], Fill::Normal { mean: 0.0, std: 1.0 });
            let case = case(accuracy, vec![tensor.clone()]);
            let made =
                generate(&case, drawn(seed, Distribution::Scaled)).unwrap().remove(0).unwrap();
            let values = elements(&tensor, &made).into_iter().map(|bits| real(dtype, bits));
            let sum: f64 = values.map(|value| value * value).sum();
            assert!(sum < largest && sum > 0.0, "{}: {sum:e}", dtype.name());
        }
    }
}

#[test]
fn tensors_that_do_not_allow_a_distribution_are_as_declared() {
    let fill = Fill::Normal { mean: 0.0, std: 1.0 };
    let mut tensor = input("x", Dtype::F32, &[100], fill);
    tensor.distributions = vec![Distribution::AsDeclared, Distribution::Exact];
    let plain = bytes(&tensor, declared(1));
    assert_eq!(bytes(&tensor, drawn(1, Distribution::Scaled)), plain);
    assert_eq!(bytes(&tensor, drawn(1, Distribution::Shifted)), plain);
    assert_ne!(bytes(&tensor, drawn(1, Distribution::Exact)), plain);
}

#[test]
fn probabilities_of_a_row_sum_to_one() {
    let fills = [
        Fill::Uniform { low: 0.0, high: 1.0 },
        Fill::Mask { density: 0.1 },
        Fill::Zeros,
        Fill::Ones,
        Fill::Mask { density: 0.0 },
    ];
    for fill in fills {
        for dtype in [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::Bf16] {
            for cols in [1, 2, 7, 1500] {
                let tensor =
                    within(input("p", dtype, &[9, cols], fill.clone()), Domain::Probability);
                let padded = strided(tensor.clone(), &[cols + 3, 1]);
                let values = reals(&tensor, declared(6));
                assert_eq!(values, reals(&padded, declared(6)));
                for row in values.chunks(cols as usize) {
                    let sum: f64 = row.iter().sum();
                    // Each is rounded by at most half an ulp of a number up to 1.
                    let digits = super::super::super::element::digits(dtype);
                    let error = 2.0_f64.powi(-(digits as i32)) + cols as f64 * 2.0_f64.powi(-25);
                    assert!((sum - 1.0).abs() <= error, "{} {cols}: {sum}", dtype.name());
                }
            }
        }
    }
}

#[test]
fn impossible_tensors_are_errors() {
    let check = |tensor: TensorCase| {
        assert!(generate(&case(Accuracy::F32, vec![tensor]), declared(1)).is_err());
    };
    check(input("x", Dtype::I32, &[4], Fill::Labels { below: 0 }));
    check(input("x", Dtype::I32, &[4], Fill::Normal { mean: 0.0, std: 1.0 }));
    check(input("x", Dtype::F32, &[4], Fill::Permutation));
    check(input("x", Dtype::I32, &[4], Fill::SortedIndices { offsets: 7, below: 3 }));
    check(input("x", Dtype::I32, &[1], Fill::SortedOffsets { total: 1 }));
    let mut contradiction = input("x", Dtype::I32, &[4], Fill::Zeros);
    contradiction.bytes = 1 << 60;
    check(contradiction);
    check(input("x", Dtype::F32, &[1 << 40, 1 << 10], Fill::Zeros));
}

#[test]
fn what_repeats_its_beginning_need_not_be_made_whole() {
    let check = |dtype: Dtype, fill: Fill<u64>, count: u64, expected: bool| {
        let tensor = input("x", dtype, &[count], fill);
        let case = case(Accuracy::F32, vec![tensor]);
        let recipe = InputSpec { seed: 5, draw: InputMode::Repeating };
        let beginning = repeated(&case, 0, recipe).unwrap();
        assert_eq!(beginning.is_some(), expected, "{} {count}", dtype.name());
        let whole = generate_tensor(&case, 0, recipe).unwrap().unwrap();
        if let Some(beginning) = beginning {
            let again = beginning.iter().cycle().take(whole.len());
            assert!(whole.iter().eq(again), "{} {count}", dtype.name());
        }
    };
    let normal = Fill::Normal { mean: 0.0, std: 1.0 };
    let integers = Fill::Integers { low: 0, high: 100 };
    check(Dtype::F32, normal.clone(), 300_001, true);
    check(Dtype::Bf16, normal.clone(), 600_003, true);
    check(Dtype::F32, normal, 1000, false);
    check(Dtype::I32, integers.clone(), 300_001, true);
    check(Dtype::U8, integers.clone(), 1_000_000, true);
    check(Dtype::U8, integers, 1000, false);
    check(Dtype::I32, Fill::Permutation, 300_001, false);
}
