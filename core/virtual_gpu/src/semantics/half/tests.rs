//! f16 and bf16 arithmetic against APFloat.

use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Half};
use rustc_apfloat::{Float, Round};

use super::*;

const PLAIN: [HalfMode; 2] = [mode(HalfFormat::F16), mode(HalfFormat::Bf16)];

const fn mode(format: HalfFormat) -> HalfMode {
    HalfMode { format, subnormals: Subnormals::Keep, clamp: HalfClamp::None }
}

fn check<T: Float>(a: u16, b: u16, c: u16, mode: HalfMode) {
    let [x, y, z] = [a, b, c].map(|bits| T::from_bits(u128::from(bits)));
    let same = |ours: u16, theirs: T| {
        let expected = if theirs.is_nan() { u128::from(CANONICAL_NAN) } else { theirs.to_bits() };
        assert_eq!(u128::from(ours), expected, "{a:x} {b:x} {c:x} {mode:?}");
    };
    let nearest = Round::NearestTiesToEven;
    same(add(a, b, mode), x.add_r(y, nearest).value);
    same(subtract(a, b, mode), x.sub_r(y, nearest).value);
    same(multiply(a, b, mode), x.mul_r(y, nearest).value);
    same(multiply_add(a, b, c, mode), x.mul_add_r(y, z, nearest).value);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn half_arithmetic_agrees_with_apfloat(a: u16, b: u16, c: u16) {
        check::<Half>(a, b, c, PLAIN[0]);
        check::<BFloat>(a, b, c, PLAIN[1]);
    }

    #[test]
    fn minimum_and_maximum_follow_the_order_of_numbers(a: u16, b: u16) {
        for HalfMode { format, .. } in PLAIN {
            let choice = |extreme| Choice { extreme, nan: NanRule::Number, sign: SignRule::Winner };
            let low = extreme(a, b, choice(Extreme::Minimum), format, Subnormals::Keep);
            let high = extreme(a, b, choice(Extreme::Maximum), format, Subnormals::Keep);
            let (x, y) = (format.to_f32(a), format.to_f32(b));
            if x.is_nan() || y.is_nan() {
                prop_assert_eq!(low, high);
            } else {
                prop_assert_eq!(format.to_f32(low), x.min(y));
                prop_assert_eq!(format.to_f32(high), x.max(y));
            }
        }
    }
}

#[test]
fn every_f16_becomes_the_same_f32() {
    for bits in 0..=u16::MAX {
        let number = HalfFormat::F16.to_f32(bits);
        if HalfFormat::F16.is_nan(bits) {
            assert!(number.is_nan());
        } else {
            assert_eq!(HalfFormat::F16.nearest(f64::from(number)), bits);
        }
    }
}

#[test]
fn clamps_limit_results() {
    let check = |clamp, a, expected| {
        let mode = HalfMode { clamp, ..mode(HalfFormat::F16) };
        assert_eq!(add(a, 0x8000, mode), expected);
    };
    check(HalfClamp::Unit, 0x4000, 0x3c00);
    check(HalfClamp::Unit, 0x8000, 0);
    check(HalfClamp::Unit, 0x7e00, 0);
    check(HalfClamp::Negative, 0xc000, 0);
    check(HalfClamp::Negative, 0x8000, 0);
    check(HalfClamp::Negative, 0x7e00, CANONICAL_NAN);
    check(HalfClamp::None, 0xc000, 0xc000);
}
