//! Single elements: bounds, NaN and infinity, saturation, poison, counts and maps.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::definition::Subnormals;

use super::*;
use crate::element::{nearest, store_reals};
use crate::fixture::{elementwise, output, strided};

/// What one element of a dtype is, judged with one term, factor 4 and the magnitude of the reference.
fn one(dtype: Dtype, found: f64, expected: f64) -> Option<WrongKind> {
    let mut bytes = vec![0; dtype.address_bytes() as usize];
    store_reals(dtype, &[found], &mut bytes);
    let tensor = output(dtype, &[1], elementwise(1));
    kind(&judge(&tensor, &bytes, &[expected], &[expected.abs()]))
}

#[test]
fn an_element_may_be_off_by_the_bound_and_no_more() {
    let by_element = Comparator::Elementwise { terms: 16, factor: 4.0, rms: false };
    let tensor = output(Dtype::F32, &[1], by_element);
    let unit = 2.0_f64.powi(-24);
    // 4 · √16 · u · 8 and half an ulp of 1.
    let bound = 16.0 * unit * 8.0 + unit;
    for (error, wrong) in
        [(0.0, None), (bound, None), (bound + 2.0 * unit, Some(WrongKind::Imprecise))]
    {
        let error = (error / unit).floor() * unit;
        let found = f32s(&[(1.0 + error) as f32]);
        assert_eq!(kind(&judge(&tensor, &found, &[1.0], &[8.0])), wrong, "{error:e}");
    }
}

#[test]
fn the_smallest_numbers_may_be_off_by_what_underflow_costs() {
    let by_element = Comparator::Elementwise { terms: 256, factor: 4.0, rms: true };
    let tensor = output(Dtype::F32, &[1], by_element);
    let check = |subnormals, expected: f64, error: f64, wrong| {
        let case = Case { subnormals, ..case(Accuracy::F32, vec![tensor.clone()]) };
        let found = f32s(&[(expected + error) as f32]);
        let expected = [expected];
        let judged = judge_case(&case, &found, (&expected, &expected), Strictness::Tolerance);
        assert_eq!(kind(&judged), wrong, "{subnormals:?} {error:e}");
    };
    // 4 · √256 times half of the smallest f32 above zero, which is 32 steps.
    let step = 2.0_f64.powi(-149);
    let kept = 170.0 * step;
    check(Subnormals::Keep, kept, 0.0, None);
    check(Subnormals::Keep, kept, 32.0 * step, None);
    check(Subnormals::Keep, kept, 33.0 * step, Some(WrongKind::Numeric));
    // 4 · √256 times the smallest normal f32.
    let limit = 64.0 * 2.0_f64.powi(-126);
    check(Subnormals::MayFlush, kept, -kept, None);
    check(Subnormals::MayFlush, 2.0 * limit, limit, None);
    check(Subnormals::MayFlush, 2.0 * limit, 1.01 * limit, Some(WrongKind::Numeric));
}

#[test]
fn rounding_the_reference_to_the_output_is_right_in_every_dtype() {
    for dtype in [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::Bf16, Dtype::F8E4M3, Dtype::F8E5M2] {
        for step in 0..2000 {
            let value = 1e-6 * 1.012_f64.powi(step);
            assert_eq!(one(dtype, value, value), None, "{} {value:e}", dtype.name());
            let off =
                value * (1.0 + 1.0001 * 2.0_f64.powi(1 - digits(dtype)) + 1e-5) + least(dtype);
            if off < dtype.largest_finite().unwrap() {
                let found = one(dtype, off, value);
                assert!(found.is_some(), "{} {value:e}", dtype.name());
            }
        }
    }
}

fn digits(dtype: Dtype) -> i32 {
    crate::element::digits(dtype) as i32 - 1
}

fn least(dtype: Dtype) -> f64 {
    crate::element::smallest_positive(dtype)
}

#[test]
fn nan_and_infinity_are_right_where_the_reference_has_them() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let check = |dtype, found, expected, wrong| {
        assert_eq!(one(dtype, found, expected), wrong, "{dtype:?} {found} for {expected}");
    };
    let (special, numeric) = (Some(WrongKind::Nan), Some(WrongKind::Numeric));
    for dtype in [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::Bf16] {
        check(dtype, nan, nan, None);
        check(dtype, inf, inf, None);
        check(dtype, -inf, -inf, None);
        check(dtype, inf, -inf, special);
        check(dtype, nan, 1.0, special);
        check(dtype, nan, inf, special);
        check(dtype, inf, 1.0, special);
        check(dtype, inf, nan, special);
        check(dtype, 1.0, nan, numeric);
        check(dtype, 1.0, inf, numeric);
    }
    // Beyond the largest number the reference rounds to infinity; just below it either is right.
    check(Dtype::F16, inf, 70000.0, None);
    check(Dtype::F16, -inf, -70000.0, None);
    check(Dtype::F16, 65504.0, 70000.0, numeric);
    check(Dtype::F16, inf, 65520.0, None);
    check(Dtype::F16, 65504.0, 65520.0, None);
    check(Dtype::F16, inf, 65519.999, None);
    check(Dtype::F16, inf, 65504.0, special);
    check(Dtype::F16, 65504.0, 65504.0, None);
    check(Dtype::F32, inf, 1e39, None);
    check(Dtype::F32, inf, 3e38, special);
}

#[test]
fn narrow_formats_saturate() {
    assert_eq!(one(Dtype::F8E4M3, 448.0, 1e9), None);
    assert_eq!(one(Dtype::F8E4M3, -448.0, f64::NEG_INFINITY), None);
    assert!(one(Dtype::F8E4M3, 416.0, 1e9).is_some());
    assert_eq!(one(Dtype::F8E4M3, f64::NAN, 1.0), Some(WrongKind::Nan));
    assert_eq!(one(Dtype::F8E5M2, 57344.0, 1e9), None);
    let tensor = output(Dtype::F8E5M2, &[1], elementwise(1));
    let infinity = judge(&tensor, &[0x7c], &[1e9], &[1e9]);
    assert_eq!(kind(&infinity), Some(WrongKind::Nan), "cvt.satfinite never makes an infinity");
}

#[test]
fn exact_means_the_rounded_reference() {
    let tensor = output(Dtype::Bf16, &[1], elementwise(4096));
    let judge = |found: f64, expected: f64| {
        let bits = nearest(Dtype::Bf16, found) as u16;
        let pair: (&[f64], &[f64]) = (&[expected], &[1e6]);
        kind(&judge_strictly(&tensor, &bits.to_le_bytes(), pair, Strictness::Exact))
    };
    assert_eq!(judge(4097.0, 4097.0), None);
    assert_eq!(judge(-0.0, 0.0), None);
    assert_eq!(judge(4128.0, 4097.0), Some(WrongKind::Imprecise));
    assert_eq!(judge(f64::INFINITY, 4097.0), Some(WrongKind::Nan));
}

#[test]
fn an_error_of_a_few_percent_looks_like_a_lower_precision() {
    for (found, wrong) in
        [(1.0001, WrongKind::Imprecise), (1.03, WrongKind::Imprecise), (1.2, WrongKind::Numeric)]
    {
        assert_eq!(one(Dtype::F32, found, 1.0), Some(wrong), "{found}");
    }
}

#[test]
fn poison_and_gaps_are_unwritten() {
    let tensor = output(Dtype::F32, &[600], elementwise(1));
    let case = case(Accuracy::F32, vec![tensor]);
    let values = le(&vec![2.0; 600]);
    let judge = |bytes: &[u8], unwritten: &[Range<usize>]| {
        let expected = Expected { values: &values, magnitudes: Some(&values) };
        let found = Found { bytes, unwritten };
        compare(&case, 0, found, expected, &[], Strictness::Tolerance).unwrap()
    };
    let right = f32s(&[2.0; 600]);
    assert_eq!(kind(&judge(&right, &[])), None);
    // What was not written is wrong although it has the right value.
    let missing = judge(&right, &[3..4, 2396..2400]);
    let wrong = missing.wrong.unwrap();
    assert_eq!((wrong.kind, wrong.count), (WrongKind::Unwritten, 2));
    assert_eq!((wrong.first.unwrap().index, wrong.worst.unwrap().index), (vec![0], vec![0]));
    // One unwritten element outranks others that are wrong.
    let mut mixed = right.clone();
    mixed[0..4].copy_from_slice(&7_f32.to_le_bytes());
    mixed[400..404].fill(0xff);
    mixed[800..804].copy_from_slice(&f32::NAN.to_le_bytes());
    let wrong = judge(&mixed, &[]).wrong.unwrap();
    assert_eq!((wrong.kind, wrong.count), (WrongKind::Unwritten, 3));
    assert_eq!(wrong.first.unwrap().index, [0]);
    mixed[400..404].copy_from_slice(&2_f32.to_le_bytes());
    assert_eq!(judge(&mixed, &[]).wrong.unwrap().kind, WrongKind::Nan);
}

#[test]
fn the_worst_is_the_largest_multiple_of_its_bound() {
    let tensor = output(Dtype::F32, &[2, 3], elementwise(1));
    let expected = [1.0, 1000.0, 1e-3, 4.0, 5.0, 6.0];
    let found = f32s(&[1.0, 1001.0, 2e-3, 4.0, 5.0, 6.0]);
    let comparison = judge(&tensor, &found, &expected, &expected);
    let wrong = comparison.wrong.unwrap();
    let (first, worst) = (wrong.first.unwrap(), wrong.worst.unwrap());
    assert_eq!((wrong.count, first.index, worst.index), (2, vec![0, 1], vec![0, 2]));
    assert_eq!(
        (first.found, first.expected),
        (ScalarValue::Real(1001.0), ScalarValue::Real(1000.0))
    );
    assert_eq!(first.ulps, Some(16384.0));
    assert!(worst.ulps.unwrap() > 8e6 && comparison.worst_fraction > 1e6);
    assert_eq!(
        wrong.map,
        ErrorMap { columns: 3, counts: vec![0, 1, 1, 0, 0, 0], sizes: vec![1; 6] }
    );
}

#[test]
fn gaps_between_elements_are_not_looked_at() {
    let tensor = strided(output(Dtype::F32, &[300, 3], elementwise(1)), &[5, 1]);
    let turned = strided(output(Dtype::F32, &[300, 3], elementwise(1)), &[2, 700]);
    for tensor in [tensor, turned] {
        let mut expected = vec![f64::NAN; tensor.span as usize];
        let mut found = vec![f32::NAN; tensor.span as usize];
        for row in 0..300 {
            for col in 0..3 {
                let place = row * tensor.strides[0] as usize + col * tensor.strides[1] as usize;
                (expected[place], found[place]) = ((row * 3 + col) as f64, (row * 3 + col) as f32);
            }
        }
        let right = judge(&tensor, &f32s(&found), &expected, &expected);
        assert_eq!((right.wrong, right.compared), (None, 900));
        let place = 299 * tensor.strides[0] as usize + 2 * tensor.strides[1] as usize;
        found[place] = 0.0;
        let wrong = judge(&tensor, &f32s(&found), &expected, &expected).wrong.unwrap();
        assert_eq!((wrong.count, wrong.first.unwrap().index), (1, vec![299, 2]));
        assert_eq!(wrong.map.sizes.iter().sum::<u64>(), 900);
        assert_eq!((wrong.map.counts.len(), wrong.map.counts[16 * 3 - 1]), (48, 1));
    }
}

#[test]
fn packed_floats_are_compared() {
    let tensor = output(Dtype::E2M1, &[4], elementwise(1));
    // 0.5, 1, 6, -6.
    let right = judge(&tensor, &[0x21, 0xf7], &[0.5, 1.1, 100.0, -6.0], &[1.0; 4]);
    assert_eq!(right.wrong, None);
    let wrong = judge(&tensor, &[0x21, 0xf6], &[0.5, 1.1, 100.0, -6.0], &[1.0; 4]).wrong.unwrap();
    assert_eq!((wrong.count, wrong.first.unwrap().index), (1, vec![2]));
}

#[test]
fn integers_must_be_equal() {
    let exact = |dtype, dims: &[u64]| output(dtype, dims, Comparator::IntegerExact);
    let judge = |tensor: &TensorCase, found: &[u8], expected: &[u8]| {
        let case = case(Accuracy::Exact, vec![tensor.clone()]);
        let expected = Expected { values: expected, magnitudes: None };
        let found = Found { bytes: found, unwritten: &[] };
        compare(&case, 0, found, expected, &[], Strictness::Tolerance).unwrap()
    };
    let bytes: Vec<u8> = (0..=199).collect();
    for dtype in [Dtype::I64, Dtype::U32, Dtype::I16, Dtype::U8, Dtype::I4, Dtype::U4] {
        let count = bytes.len() as u64 * 8 / dtype.bits();
        let tensor = exact(dtype, &[count]);
        assert_eq!(kind(&judge(&tensor, &bytes, &bytes)), None);
        let mut other = bytes.clone();
        other[199] ^= 0x10;
        let wrong = judge(&tensor, &other, &bytes).wrong.unwrap();
        assert_eq!((wrong.kind, wrong.count), (WrongKind::Numeric, 1));
        assert_eq!(wrong.first.unwrap().index, [count - 1]);
    }
    let words =
        |values: &[i32]| -> Vec<u8> { values.iter().flat_map(|one| one.to_le_bytes()).collect() };
    let tensor = exact(Dtype::I32, &[3]);
    // -1 is poison where it is wrong, and right where it is right.
    assert_eq!(kind(&judge(&tensor, &words(&[-1, 2, 3]), &words(&[-1, 2, 3]))), None);
    let wrong = judge(&tensor, &words(&[1, -1, 9]), &words(&[1, 2, 3])).wrong.unwrap();
    assert_eq!((wrong.kind, wrong.count), (WrongKind::Unwritten, 2));
    let wrong = judge(&tensor, &words(&[5, 2, 90]), &words(&[1, 2, 3])).wrong.unwrap();
    assert_eq!((wrong.first.unwrap().index, wrong.worst.unwrap().index), (vec![0], vec![2]));
}

#[test]
fn calls_that_do_not_fit_are_errors() {
    let tensor = output(Dtype::F32, &[4], elementwise(1));
    let case = case(Accuracy::F32, vec![tensor]);
    let (found, values) = (f32s(&[0.0; 4]), le(&[0.0; 4]));
    let call = |tensor, bytes: &[u8], values: &[u8], magnitudes: Option<&[u8]>| {
        let expected = Expected { values, magnitudes };
        let found = Found { bytes, unwritten: &[] };
        compare(&case, tensor, found, expected, &[], Strictness::Tolerance)
    };
    assert!(call(0, &found, &values, Some(&values)).is_ok());
    assert!(matches!(
        call(1, &found, &values, Some(&values)),
        Err(CompareError::NotAnOutput { .. })
    ));
    assert!(matches!(call(0, &found[1..], &values, Some(&values)), Err(CompareError::Size { .. })));
    assert!(matches!(call(0, &found, &values[8..], Some(&values)), Err(CompareError::Size { .. })));
    assert!(matches!(call(0, &found, &values, None), Err(CompareError::NoMagnitudes { .. })));
    for magnitude in [f64::NAN, -1.0, f64::INFINITY] {
        let magnitudes = le(&[0.0, 0.0, magnitude, 0.0]);
        let error = call(0, &found, &values, Some(&magnitudes)).unwrap_err();
        assert!(matches!(error, CompareError::Magnitude { element: 2, .. }));
    }
}
