//! f32 and f64 arithmetic against APFloat.

use proptest::prelude::*;
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float as _, Round};

use super::super::{Clamp, Rounding, Subnormals};
use super::*;

const MODES: [(Rounding, Round); 4] = [
    (Rounding::NearestEven, Round::NearestTiesToEven),
    (Rounding::TowardZero, Round::TowardZero),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Up, Round::TowardPositive),
];

/// Anything, or numbers whose exponents are near each other, or the edges of the format.
fn singles() -> impl Strategy<Value = u32> {
    let edges = vec![
        0,
        1,
        0x007f_ffff,
        0x0080_0000,
        0x00ff_ffff,
        0x3f7f_ffff,
        0x3f80_0000,
        0x3f80_0001,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7f80_0001,
        0x7fc0_0000,
        0x3380_0000,
        0x4b7f_ffff,
    ];
    let edge = (prop::sample::select(edges), any::<bool>())
        .prop_map(|(bits, negative)| bits | u32::from(negative) << 31);
    let close =
        (any::<bool>(), 110_u32..145, any::<u32>()).prop_map(|(sign, exponent, fraction)| {
            u32::from(sign) << 31 | exponent << 23 | fraction >> 9
        });
    let subnormal = any::<u32>().prop_map(|bits| bits & 0x80ff_ffff);
    prop_oneof![any::<u32>(), edge, close, subnormal]
}

fn doubles() -> impl Strategy<Value = u64> {
    let edges = vec![
        0,
        1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x3fef_ffff_ffff_ffff,
        0x3ff0_0000_0000_0000,
        0x3ff0_0000_0000_0001,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0x7ff0_0000_0000_0001,
        0x3ca0_0000_0000_0000,
    ];
    let edge = (prop::sample::select(edges), any::<bool>())
        .prop_map(|(bits, negative)| bits | u64::from(negative) << 63);
    let close =
        (any::<bool>(), 960_u64..1090, any::<u64>()).prop_map(|(sign, exponent, fraction)| {
            u64::from(sign) << 63 | exponent << 52 | fraction >> 12
        });
    prop_oneof![any::<u64>(), edge, close]
}

fn single(bits: u32) -> Single {
    Single::from_bits(u128::from(bits))
}

fn double(bits: u64) -> Double {
    Double::from_bits(u128::from(bits))
}

fn same_f32(ours: u32, theirs: Single) -> bool {
    if theirs.is_nan() { ours == CANONICAL_NAN_F32 } else { u128::from(ours) == theirs.to_bits() }
}

fn same_f64(ours: u64, theirs: Double) -> bool {
    if theirs.is_nan() {
        f64::from_bits(ours).is_nan()
    } else {
        u128::from(ours) == theirs.to_bits()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn f32_arithmetic_agrees_with_apfloat(a in singles(), b in singles(), c in singles()) {
        for (rounding, oracle) in MODES {
            let mode = SingleMode { rounding, ..SingleMode::DEFAULT };
            let (x, y, z) = (single(a), single(b), single(c));
            prop_assert!(same_f32(add_f32(a, b, mode), x.add_r(y, oracle).value));
            prop_assert!(same_f32(subtract_f32(a, b, mode), x.sub_r(y, oracle).value));
            prop_assert!(same_f32(multiply_f32(a, b, mode), x.mul_r(y, oracle).value));
            prop_assert!(same_f32(divide_f32(a, b, mode), x.div_r(y, oracle).value));
            let fused = x.mul_add_r(y, z, oracle).value;
            prop_assert!(same_f32(multiply_add_f32(a, b, c, mode), fused), "{a:x} {b:x} {c:x}");
            if rounding == Rounding::NearestEven {
                prop_assert_eq!(fused_multiply_add_f32(a, b, c), multiply_add_f32(a, b, c, mode));
            }
        }
    }

    #[test]
    fn f64_arithmetic_agrees_with_apfloat(a in doubles(), b in doubles(), c in doubles()) {
        for (rounding, oracle) in MODES {
            let (x, y, z) = (double(a), double(b), double(c));
            prop_assert!(same_f64(add_f64(a, b, rounding), x.add_r(y, oracle).value));
            prop_assert!(same_f64(subtract_f64(a, b, rounding), x.sub_r(y, oracle).value));
            prop_assert!(same_f64(multiply_f64(a, b, rounding), x.mul_r(y, oracle).value));
            prop_assert!(same_f64(divide_f64(a, b, rounding), x.div_r(y, oracle).value));
            let fused = x.mul_add_r(y, z, oracle).value;
            prop_assert!(same_f64(multiply_add_f64(a, b, c, rounding), fused), "{a:x} {b:x} {c:x}");
        }
    }

    /// The product is the sum's last bit away: the fast path of the fused multiply-add must not round twice.
    #[test]
    fn fused_multiply_add_rounds_once(a in doubles(), b in doubles(), near in -3_i64..4) {
        let product = f64::from_bits(a) * f64::from_bits(b);
        let c = (-product).to_bits().wrapping_add_signed(near);
        let fused = double(a).mul_add_r(double(b), double(c), Round::NearestTiesToEven).value;
        prop_assert!(same_f64(multiply_add_f64(a, b, c, Rounding::NearestEven), fused));
    }

    #[test]
    fn flushed_results_are_never_subnormal(a in singles(), b in singles(), c in singles()) {
        for (rounding, _) in MODES {
            let mode = SingleMode { rounding, subnormals: Subnormals::Flush, clamp: Clamp::None };
            let results = [
                add_f32(a, b, mode), multiply_f32(a, b, mode), divide_f32(a, b, mode),
                multiply_add_f32(a, b, c, mode), square_root_f32(a, mode),
            ];
            for bits in results {
                prop_assert!(!test_f32(bits, FloatProperty::Subnormal));
            }
        }
    }
}

#[test]
fn saturation_makes_nan_and_negative_zero_plus_zero() {
    let mode = SingleMode { clamp: Clamp::Unit, ..SingleMode::DEFAULT };
    let check = |a: u32, b: u32, expected: u32| assert_eq!(add_f32(a, b, mode), expected);
    check(0x7fc0_0000, 0, 0);
    check(0x8000_0000, 0x8000_0000, 0);
    check(2_f32.to_bits(), 0, 1_f32.to_bits());
    check(0xff80_0000, 0, 0);
    check(0.5_f32.to_bits(), 0, 0.5_f32.to_bits());
}

#[test]
fn a_result_just_below_the_normal_range_is_flushed_before_rounding() {
    let mode = SingleMode { subnormals: Subnormals::Flush, ..SingleMode::DEFAULT };
    // 0x1.fffffep-126 / 2 would round up to 2^-126.
    assert_eq!(multiply_f32(0x00ff_ffff, 0x3f00_0000, mode), 0);
    assert_eq!(multiply_f32(0x00ff_ffff, 0xbf00_0000, mode), 0x8000_0000);
    assert_eq!(multiply_f32(0x0080_0000, 0x3f80_0000, mode), 0x0080_0000);
}

#[test]
fn pairs_are_computed_apart() {
    let [a, b] = [1.5_f32, -2.0].map(|number| u64::from(number.to_bits()));
    let sum = pair_f32([b << 32 | a, a << 32 | b], |[x, y]| add_f32(x, y, SingleMode::DEFAULT));
    let expected = u64::from((-0.5_f32).to_bits());
    assert_eq!(sum, expected << 32 | expected);
}
