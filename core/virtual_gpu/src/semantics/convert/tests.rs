//! Conversions against Rust and the rules of the ISA.

use proptest::prelude::*;

use super::super::half::HalfFormat;
use super::super::{Clamp, Negative, Overflow, Rounding, Subnormals};
use super::*;

proptest! {
    #[test]
    fn f32_to_integers_agrees_with_rust_after_rounding(a: u32) {
        let number = f32::from_bits(a);
        let check = |rounding, rounded: f32| {
            let to = |ty| real_to_whole(u64::from(a), FloatFormat::F32, ty, rounding, Subnormals::Keep);
            assert_eq!(to(WholeType::S32), i64::from(rounded as i32) as u64);
            assert_eq!(to(WholeType::U32), u64::from(rounded as u32));
            assert_eq!(to(WholeType::S8), i64::from(rounded as i8) as u64);
            assert_eq!(to(WholeType::U16), u64::from(rounded as u16));
            if !number.is_nan() {
                assert_eq!(to(WholeType::S64), rounded as i64 as u64);
                assert_eq!(to(WholeType::U64), rounded as u64);
            }
        };
        check(WholeRounding::TowardZero, number.trunc());
        check(WholeRounding::Down, number.floor());
        check(WholeRounding::Up, number.ceil());
        check(WholeRounding::NearestEven, number.round_ties_even());
        prop_assert_eq!(u64::from(f32_to_s32_toward_zero(a)), real_to_whole(
            u64::from(a), FloatFormat::F32, WholeType::S32, WholeRounding::TowardZero, Subnormals::Keep,
        ) & 0xffff_ffff);
    }

    #[test]
    fn conversions_by_the_host_agree_with_exact_ones(a: u32, b: u64) {
        let exact = |bits, from, to| real_to_real(bits, from, to, RealMode::NEAREST);
        let wide = f32_to_f64(a);
        prop_assert_eq!(wide, exact(u64::from(a), FloatFormat::F32, FloatFormat::F64));
        // The second one lies between numbers that f32 represents.
        for double in [b, wide ^ (b & 0x3fff_ffff)] {
            let single = exact(double, FloatFormat::F64, FloatFormat::F32);
            prop_assert_eq!(u64::from(f64_to_f32_nearest(double)), single);
        }
        for (half, format) in [(HalfFormat::F16, FloatFormat::F16), (HalfFormat::Bf16, FloatFormat::Bf16)] {
            let nearest = f32_to_half(a, half, RealMode::NEAREST);
            prop_assert_eq!(u64::from(nearest), exact(u64::from(a), FloatFormat::F32, format));
        }
    }

    #[test]
    fn integers_to_floats_bracket_the_integer(a: u64, shift in 0_u32..64) {
        let a = a >> shift;
        let to = |rounding| f64::from(f32::from_bits(
            whole_to_real(a, WholeType::U64, FloatFormat::F32, rounding, Clamp::None) as u32,
        ));
        prop_assert_eq!(to(Rounding::NearestEven) as f32, a as f32);
        let (low, high) = (to(Rounding::Down), to(Rounding::Up));
        prop_assert!(low as u128 <= u128::from(a) && u128::from(a) <= high as u128);
        prop_assert_eq!(to(Rounding::TowardZero), low);
        let double = whole_to_real(a, WholeType::S64, FloatFormat::F64, Rounding::NearestEven, Clamp::None);
        prop_assert_eq!(double, (a as i64 as f64).to_bits());
    }

    #[test]
    fn integers_are_cut_or_limited(a: i64) {
        let check = |to, wrapped: u64, limited: u64| {
            assert_eq!(whole_to_whole(a as u64, WholeType::S64, to, Overflow::Wrap), wrapped);
            assert_eq!(whole_to_whole(a as u64, WholeType::S64, to, Overflow::Saturate), limited);
        };
        check(WholeType::S8, a as i8 as u64, a.clamp(-128, 127) as u64);
        check(WholeType::U8, u64::from(a as u8), a.clamp(0, 255) as u64);
        check(WholeType::S32, a as i32 as u64, a.clamp(i32::MIN.into(), i32::MAX.into()) as u64);
        check(WholeType::U64, a as u64, a.max(0) as u64);
    }

    #[test]
    fn fast_conversions_equal_the_general_one(a: u32) {
        let general = |to| real_to_real(u64::from(a), FloatFormat::F32, to, RealMode::NEAREST) as u16;
        prop_assert_eq!(f32_to_f16_nearest(a), general(FloatFormat::F16));
        prop_assert_eq!(f32_to_half(a, HalfFormat::Bf16, RealMode::NEAREST), general(FloatFormat::Bf16));
        let half = a as u16;
        let wide = real_to_real(u64::from(half), FloatFormat::F16, FloatFormat::F32, RealMode::NEAREST);
        prop_assert_eq!(u64::from(f16_to_f32(half)), wide);
        let wide = real_to_real(u64::from(half), FloatFormat::Bf16, FloatFormat::F32, RealMode::NEAREST);
        prop_assert_eq!(u64::from(bf16_to_f32(half)), wide);
    }
}

#[test]
fn nan_becomes_the_integer_that_the_isa_names() {
    let check = |from: FloatFormat, to: WholeType, expected: u64| {
        let nan = from.format().canonical_nan();
        let mask = u64::MAX >> (64 - to.bits());
        let result = real_to_whole(nan, from, to, WholeRounding::TowardZero, Subnormals::Keep);
        assert_eq!(result & mask, expected);
    };
    check(FloatFormat::F32, WholeType::S32, 0);
    check(FloatFormat::F16, WholeType::U8, 0);
    check(FloatFormat::F32, WholeType::U64, 1 << 63);
    check(FloatFormat::F64, WholeType::S32, 1 << 31);
    check(FloatFormat::F64, WholeType::U8, 0x80);
}

#[test]
fn tf32_rounds_halfway_cases_away_or_to_even() {
    let check = |a, rounding, expected| {
        assert_eq!(f32_to_tf32(a, rounding, Negative::Keep, Beyond::Infinity), expected);
    };
    check(0x3f80_1000, Tf32Rounding::NearestAway, 0x3f80_2000);
    check(0x3f80_1000, Tf32Rounding::NearestEven, 0x3f80_0000);
    check(0x3f80_3000, Tf32Rounding::NearestEven, 0x3f80_4000);
    check(0x3f80_1fff, Tf32Rounding::TowardZero, 0x3f80_0000);
    check(0x7f7f_ffff, Tf32Rounding::NearestAway, 0x7f80_0000);
    let finite =
        f32_to_tf32(0x7f7f_ffff, Tf32Rounding::NearestAway, Negative::Keep, Beyond::LargestFinite);
    assert_eq!(finite, 0x7f7f_e000);
    assert_eq!(
        f32_to_tf32(0xbf80_0000, Tf32Rounding::NearestEven, Negative::Zero, Beyond::Infinity),
        0
    );
}

#[test]
fn narrow_numbers_saturate() {
    let check = |format, number: f32, expected| {
        let mode = NarrowMode { format, negative: Negative::Keep };
        assert_eq!(narrow_from_f32(0, number.to_bits(), mode), expected);
    };
    check(NarrowFormat::E4m3, 1.0, 0x38);
    check(NarrowFormat::E4m3, 1000.0, 0x7e);
    check(NarrowFormat::E4m3, -f32::INFINITY, 0xfe);
    check(NarrowFormat::E4m3, f32::NAN, 0x7f);
    check(NarrowFormat::E5m2, 1e9, 0x7b);
    check(NarrowFormat::E2m1, 5.0, 0x6);
    check(NarrowFormat::E2m1, f32::NAN, 0x7);
    check(NarrowFormat::E2m3, 7.5, 0x1f);
    check(NarrowFormat::E3m2, 0.0625, 0x01);
}

#[test]
fn scales_are_powers_of_two() {
    let scale = |number: f32, rounding, beyond| {
        scale_from_real(
            super::super::exact::Format::F32.decode(u64::from(number.to_bits())),
            rounding,
            beyond,
        )
    };
    assert_eq!(scale(1.0, Rounding::Up, Beyond::LargestFinite), 127);
    assert_eq!(scale(1.5, Rounding::Up, Beyond::LargestFinite), 128);
    assert_eq!(scale(1.5, Rounding::TowardZero, Beyond::LargestFinite), 127);
    assert_eq!(scale(f32::NAN, Rounding::Up, Beyond::LargestFinite), 255);
    assert_eq!(scale(f32::MAX, Rounding::Up, Beyond::LargestFinite), 254);
    assert_eq!(scale(0.0, Rounding::Up, Beyond::LargestFinite), 0);
    assert_eq!(scale_to_bf16(127), 0x3f80);
    assert_eq!(scale_to_bf16(0), 0x0040);
}
