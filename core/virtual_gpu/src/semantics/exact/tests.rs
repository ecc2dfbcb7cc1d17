//! Rounding and arithmetic against APFloat, and the limits of formats.

use std::cmp::Ordering;

use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::*;

const MODES: [(Rounding, Round); 4] = [
    (Rounding::NearestEven, Round::NearestTiesToEven),
    (Rounding::TowardZero, Round::TowardZero),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Up, Round::TowardPositive),
];

fn finite(format: Format, bits: u64) -> Option<Exact> {
    match format.decode(bits) {
        Value::Finite(number) => Some(number),
        Value::Infinity { .. } | Value::Nan => None,
    }
}

/// Bits of f64 that are often special, often near powers of two, often anything.
fn doubles() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (any::<bool>(), 900_u64..1150, any::<u64>()).prop_map(|(sign, exponent, fraction)| {
            u64::from(sign) << 63 | exponent << 52 | fraction >> 12
        }),
        (any::<bool>(), 0_u64..2047, 0_u64..64, -2_i64..3).prop_map(
            |(sign, exponent, cut, near)| {
                let fraction = (1_u64 << 51 >> (cut % 52)).wrapping_add_signed(near);
                u64::from(sign) << 63 | exponent << 52 | (fraction & 0x000f_ffff_ffff_ffff)
            }
        ),
    ]
}

fn check_narrowing<T: Float>(bits: u64, format: Format)
where
    Double: FloatConvert<T>,
{
    let Some(number) = finite(Format::F64, bits) else { return };
    for (rounding, oracle) in MODES {
        let converted: T = Double::from_bits(u128::from(bits)).convert_r(oracle, &mut false).value;
        // Formats without infinity stay at their largest number here; the oracle gives NaN.
        if converted.is_nan() {
            continue;
        }
        let ours = format.round(number, rounding, Beyond::Infinity);
        assert_eq!(u128::from(ours), converted.to_bits(), "{bits:x} {rounding:?}");
    }
}

proptest! {
    #[test]
    fn rounding_to_every_format_agrees_with_apfloat(bits in doubles()) {
        check_narrowing::<Half>(bits, Format::F16);
        check_narrowing::<BFloat>(bits, Format::BF16);
        check_narrowing::<Single>(bits, Format::F32);
        check_narrowing::<Float8E5M2>(bits, Format::E5M2);
        check_narrowing::<Float8E4M3FN>(bits, Format::E4M3);
    }

    #[test]
    fn arithmetic_in_every_mode_agrees_with_apfloat(a in doubles(), b in doubles(), c in doubles()) {
        let (Some(x), Some(y), Some(z)) =
            (finite(Format::F64, a), finite(Format::F64, b), finite(Format::F64, c))
        else {
            return Ok(());
        };
        let double = |bits: u64| Double::from_bits(u128::from(bits));
        for (rounding, oracle) in MODES {
            let check = |ours: Exact, theirs: Double| {
                let ours = Format::F64.round(ours, rounding, Beyond::Infinity);
                assert_eq!(u128::from(ours), theirs.to_bits(), "{a:x} {b:x} {c:x} {rounding:?}");
            };
            check(x.add(y, rounding), double(a).add_r(double(b), oracle).value);
            check(x.multiply(y), double(a).mul_r(double(b), oracle).value);
            let fused = double(a).mul_add_r(double(b), double(c), oracle).value;
            check(x.multiply(y).add(z, rounding), fused);
            if y.significand != 0 {
                check(x.divide(y), double(a).div_r(double(b), oracle).value);
            }
        }
    }

    #[test]
    fn square_roots_bracket_their_square(a in doubles()) {
        let Some(x) = finite(Format::F64, a & !(1 << 63)) else { return Ok(()) };
        let nearest = f64::from_bits(a & !(1 << 63)).sqrt();
        let round = |mode| Format::F64.round(x.square_root(), mode, Beyond::Infinity);
        prop_assert_eq!(round(Rounding::NearestEven), nearest.to_bits());
        let (low, high) = (round(Rounding::Down), round(Rounding::Up));
        prop_assert!(high - low <= 1);
        prop_assert_eq!(round(Rounding::TowardZero), low);
        // low² <= x <= high², exactly.
        let square = |bits| finite(Format::F64, bits).map(|root| root.multiply(root));
        let compare = |a: Exact, b: Exact| {
            let difference = a.add(Exact { negative: true, ..b }, Rounding::NearestEven);
            if difference.significand == 0 { Ordering::Equal }
            else if difference.negative { Ordering::Less } else { Ordering::Greater }
        };
        prop_assert_ne!(square(low).map(|square| compare(square, x)), Some(Ordering::Greater));
        prop_assert_ne!(square(high).map(|square| compare(square, x)), Some(Ordering::Less));
    }
}

#[test]
fn every_narrow_pattern_survives_a_round_trip() {
    let formats = [
        Format::F16,
        Format::BF16,
        Format::E5M2,
        Format::E4M3,
        Format::E2M1,
        Format::E2M3,
        Format::E3M2,
    ];
    for format in formats {
        for bits in 0..format.sign_bit() * 2 {
            if let Some(number) = finite(format, bits) {
                for (rounding, _) in MODES {
                    assert_eq!(format.round(number, rounding, Beyond::Infinity), bits);
                }
            }
        }
    }
}

#[test]
fn overflow_follows_the_rounding_mode() {
    let huge = |negative| Exact { negative, exponent: 2000, significand: 1, inexact: false };
    let check = |negative, rounding, beyond, expected| {
        assert_eq!(Format::F16.round(huge(negative), rounding, beyond), expected);
    };
    check(false, Rounding::NearestEven, Beyond::Infinity, 0x7c00);
    check(false, Rounding::TowardZero, Beyond::Infinity, 0x7bff);
    check(false, Rounding::Down, Beyond::Infinity, 0x7bff);
    check(true, Rounding::Down, Beyond::Infinity, 0xfc00);
    check(true, Rounding::Up, Beyond::Infinity, 0xfbff);
    check(true, Rounding::NearestEven, Beyond::LargestFinite, 0xfbff);
}
