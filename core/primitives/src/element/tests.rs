//! Conversions against LLVM's APFloat and against the virtual GPU's `cvt`.

use lightbench_virtual_gpu::semantics::Rounding;
use lightbench_virtual_gpu::semantics::exact::{Beyond, Format, Value};
use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use super::*;

const FLOATS: [Dtype; 7] =
    [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::Bf16, Dtype::F8E4M3, Dtype::F8E5M2, Dtype::E2M1];

/// The nearest element as APFloat rounds, NaN aside.
fn oracle<F: Float>(value: f64) -> u128
where
    Double: FloatConvert<F>,
{
    let mut lost = false;
    Double::from_bits(u128::from(value.to_bits())).convert(&mut lost).value.to_bits()
}

fn saturated(value: f64, format: Format) -> u128 {
    let bits = match Format::F64.decode(value.to_bits()) {
        Value::Nan => format.canonical_nan(),
        Value::Infinity { negative } => {
            format.largest_finite() | if negative { format.sign_bit() } else { 0 }
        }
        Value::Finite(number) => format.round(number, Rounding::NearestEven, Beyond::LargestFinite),
    };
    u128::from(bits)
}

fn check_nearest(value: f64) {
    for dtype in FLOATS {
        let expected = match dtype {
            Dtype::F64 => u128::from(value.to_bits()),
            Dtype::F32 => oracle::<Single>(value),
            Dtype::F16 => oracle::<Half>(value),
            Dtype::Bf16 => oracle::<BFloat>(value),
            Dtype::F8E4M3 => saturated(value, Format::E4M3),
            Dtype::F8E5M2 => saturated(value, Format::E5M2),
            Dtype::E2M1 => saturated(value, Format::E2M1),
            Dtype::I64
            | Dtype::I32
            | Dtype::I16
            | Dtype::I8
            | Dtype::U64
            | Dtype::U32
            | Dtype::U16
            | Dtype::U8
            | Dtype::Bool
            | Dtype::I4
            | Dtype::U4 => continue,
        };
        assert_eq!(u128::from(nearest(dtype, value)), expected, "{value:e} as {}", dtype.name());
    }
}

#[test]
fn numbers_become_the_nearest_element() {
    let edges = [
        0.0,
        -0.0,
        1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        65504.0,
        65519.99,
        65520.0,
        448.0,
        464.0,
        464.1,
        480.0,
        57344.0,
        61440.0,
        6.0,
        5.0,
        2.5,
        0.25,
        0.75,
        0.2500001,
        3.4028235677973366e38,
        3.5e38,
        5e-324,
        f64::MIN_POSITIVE,
    ];
    for value in edges {
        check_nearest(value);
        check_nearest(-value);
    }
    for exponent in -1074..=1023 {
        for factor in [1.0, 1.0625, 1.125, 1.5, 1.9375, 1.999999] {
            check_nearest(power_of_two(exponent) * factor);
        }
    }
    for dtype in FLOATS {
        let written = real(dtype, nearest(dtype, f64::NAN));
        assert!(written.is_nan() || dtype == Dtype::E2M1, "{}", dtype.name());
    }
}

proptest! {
    #[test]
    fn any_number_becomes_the_nearest_element(bits: u64, small in -70000.0..70000.0) {
        let value = f64::from_bits(bits);
        if !value.is_nan() {
            check_nearest(value);
        }
        check_nearest(small);
    }

    #[test]
    fn stored_elements_are_read_back(bits in prop::collection::vec(any::<u64>(), 1..40)) {
        for dtype in FLOATS {
            // An infinity of 8 bits would saturate.
            let finite = |bits: &u64| Some(real(dtype, masked(dtype, *bits))).filter(|one| one.is_finite());
            let values: Vec<f64> = bits.iter().map(|bits| finite(bits).unwrap_or(1.5)).collect();
            let mut bytes = vec![0; (bits.len() * dtype.bits() as usize).div_ceil(8)];
            store_reals(dtype, &values, &mut bytes);
            let mut read = vec![1.0; bits.len()];
            load_reals(dtype, &bytes, &mut read);
            for (index, (value, read)) in values.iter().zip(&read).enumerate() {
                prop_assert_eq!(value.to_bits(), read.to_bits());
                let element = element_at(dtype, &bytes, index).unwrap();
                prop_assert_eq!(real(dtype, element).to_bits(), read.to_bits());
            }
        }
    }
}

#[test]
fn every_narrow_element_stands_for_what_the_format_says() {
    let formats =
        [(Dtype::F8E4M3, Format::E4M3), (Dtype::F8E5M2, Format::E5M2), (Dtype::E2M1, Format::E2M1)];
    for (dtype, format) in formats {
        for bits in 0..1_u64 << dtype.bits() {
            let expected = match format.decode(bits) {
                Value::Nan => f64::NAN,
                Value::Infinity { negative } => {
                    if negative {
                        f64::NEG_INFINITY
                    } else {
                        f64::INFINITY
                    }
                }
                Value::Finite(number) => f64::from_bits(Format::F64.round(
                    number,
                    Rounding::NearestEven,
                    Beyond::Infinity,
                )),
            };
            let found = real(dtype, bits);
            let same =
                found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
            assert!(same, "{} {bits:#x}: {found}", dtype.name());
        }
    }
}

#[test]
fn half_an_ulp_is_half_the_distance_to_the_next_element() {
    let mut lost = false;
    for exponent in -160..=127 {
        let value = power_of_two(exponent) * 1.37;
        let rounded: Single =
            Double::from_bits(u128::from(value.to_bits())).convert(&mut lost).value;
        let low = f32::from_bits(rounded.to_bits() as u32);
        let distance = f64::from(low.next_up()) - f64::from(low);
        assert_eq!(HalfUlp::from_dtype(Dtype::F32).at(value), distance / 2.0, "{value:e}");
    }
    assert_eq!(HalfUlp::from_dtype(Dtype::Bf16).at(1.0), power_of_two(-8));
    assert_eq!(HalfUlp::from_dtype(Dtype::F16).at(0.0), power_of_two(-25));
    assert_eq!(HalfUlp::from_dtype(Dtype::F8E4M3).at(448.0), 16.0);
    assert_eq!(oracle::<Float8E4M3FN>(1.0), 0x38);
    assert_eq!(oracle::<Float8E5M2>(1.0), 0x3c);
}

#[test]
fn integers_have_the_sign_of_their_width() {
    let check = |dtype, bits, expected| {
        assert_eq!(element_value(dtype, bits), ScalarValue::Integer(expected));
    };
    check(Dtype::I4, 0xf, -1);
    check(Dtype::U4, 0xf, 15);
    check(Dtype::I8, 0x80, -128);
    check(Dtype::I64, u64::MAX, -1);
    check(Dtype::U64, u64::MAX, i128::from(u64::MAX));
    check(Dtype::Bool, 0xff, 255);
    assert_eq!(element_value(Dtype::Bool, 1), ScalarValue::Boolean(true));
    assert_eq!(element_bits(Dtype::I16, ScalarValue::Integer(-2)), 0xfffe);
}

#[test]
fn a_pattern_is_one_element_or_two_in_a_byte() {
    let check = |dtype, value, expected: &[u8]| {
        assert_eq!(pattern(dtype, value), expected, "{dtype:?} {value:?}");
    };
    check(Dtype::F32, ScalarValue::Real(1.0), &[0, 0, 0x80, 0x3f]);
    check(Dtype::F8E4M3, ScalarValue::Real(1.0), &[0x38]);
    check(Dtype::F8E5M2, ScalarValue::Real(-2.0), &[0xc0]);
    check(Dtype::F8E4M3, ScalarValue::Real(1e9), &[0x7e]);
    check(Dtype::E2M1, ScalarValue::Real(-1.5), &[0xbb]);
    check(Dtype::I4, ScalarValue::Integer(-1), &[0xff]);
    check(Dtype::U4, ScalarValue::Integer(5), &[0x55]);
    check(Dtype::I16, ScalarValue::Integer(-2), &[0xfe, 0xff]);
    check(Dtype::Bool, ScalarValue::Boolean(true), &[1]);
}
