//! Nearest results, intervals, and special values.

use proptest::prelude::*;

use super::super::Subnormals;
use super::super::float::ordered_key;
use super::super::half::{CANONICAL_NAN, HalfFormat};
use super::*;

type Function = fn(u32, Subnormals, Approximation) -> u32;

type HostFunction = fn(f64) -> f64;

/// A function, and the host's version of it in f64.
const FUNCTIONS: [(Function, HostFunction); 7] = [
    (reciprocal, f64::recip),
    (square_root, f64::sqrt),
    (reciprocal_square_root, |x| 1.0 / x.sqrt()),
    (sine, f64::sin),
    (cosine, f64::cos),
    (binary_logarithm, f64::log2),
    (binary_exponential, f64::exp2),
];

fn arguments() -> impl Strategy<Value = u32> {
    let moderate =
        (any::<bool>(), 90_u32..140, any::<u32>()).prop_map(|(sign, exponent, fraction)| {
            u32::from(sign) << 31 | exponent << 23 | fraction >> 9
        });
    prop_oneof![any::<u32>(), moderate]
}

fn key(bits: u32) -> i64 {
    ordered_key(u64::from(bits), 32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn nearest_results_are_within_half_an_ulp(a in arguments()) {
        for (function, host) in FUNCTIONS {
            let result = function(a, Subnormals::Keep, Approximation::Nearest);
            let exact = host(f64::from(f32::from_bits(a)));
            if exact.is_nan() {
                prop_assert_eq!(result, 0x7fff_ffff);
                continue;
            }
            // The host's function may be an ulp of f64 off: 2^-29 of an ulp of f32.
            let near = |exact: f64| (exact as f32).to_bits();
            let (low, high) = (near(exact * (1.0 - 1e-15)), near(exact * (1.0 + 1e-15)));
            prop_assert!(result == low || result == high, "{a:x}: {result:x}, not {low:x} or {high:x}");
        }
    }

    #[test]
    fn intervals_hold_the_nearest_result(a in arguments(), b in arguments()) {
        let check = |at: &dyn Fn(Approximation) -> u32| {
            let [low, near, high] =
                [Approximation::Lowest, Approximation::Nearest, Approximation::Highest].map(at);
            assert!(key(low) <= key(near) && key(near) <= key(high), "{low:x} {near:x} {high:x}");
        };
        for subnormals in [Subnormals::Keep, Subnormals::Flush] {
            for (function, _) in FUNCTIONS {
                check(&|end| function(a, subnormals, end));
            }
            check(&|end| divide(a, b, subnormals, end));
            check(&|end| divide_full(a, b, subnormals, end));
        }
        check(&|end| hyperbolic_tangent(a, end));
    }

    #[test]
    fn reciprocal_square_roots_of_f64_are_within_an_ulp(a: u64) {
        let a = a & !(1 << 63);
        let number = f64::from_bits(a);
        let result = reciprocal_square_root_f64(a, Subnormals::Keep, Approximation::Nearest);
        if number.is_finite() && number > 0.0 {
            // The host's quotient is within an ulp and a half.
            prop_assert!(result.abs_diff((1.0 / number.sqrt()).to_bits()) <= 1);
        }
    }
}

#[test]
fn special_values_follow_the_tables_of_the_isa() {
    let check = |function: Function, a: u32, expected: u32| {
        for end in [Approximation::Lowest, Approximation::Nearest, Approximation::Highest] {
            assert_eq!(function(a, Subnormals::Keep, end), expected, "{a:x}");
        }
    };
    let (zero, minus, infinity, nan) = (0, 0x8000_0000, 0x7f80_0000, 0x7fff_ffff);
    check(reciprocal, minus, minus | infinity);
    check(reciprocal, minus | infinity, minus);
    check(square_root, minus, minus);
    check(square_root, 0xbf80_0000, nan);
    check(reciprocal_square_root, zero, infinity);
    check(reciprocal_square_root, minus, minus | infinity);
    check(reciprocal_square_root, infinity, zero);
    check(reciprocal_square_root, 0xbf80_0000, nan);
    check(sine, minus, minus);
    check(sine, infinity, nan);
    check(cosine, infinity, nan);
    check(binary_logarithm, zero, minus | infinity);
    check(binary_logarithm, 0xbf80_0000, nan);
    check(binary_logarithm, infinity, infinity);
    check(binary_exponential, minus | infinity, zero);
    check(binary_exponential, infinity, infinity);
    check(binary_exponential, 0x7fc0_0000, nan);
}

#[test]
fn division_by_huge_numbers_gives_zero_or_nan() {
    let check = |a, b, expected| {
        assert_eq!(divide(a, b, Subnormals::Keep, Approximation::Nearest), expected);
    };
    check(0x3f80_0000, 0x7e80_0001, 0);
    check(0xbf80_0000, 0x7e80_0001, 0x8000_0000);
    check(0x7f80_0000, 0x7e80_0001, 0x7fff_ffff);
    check(0x3f80_0000, 0x7e80_0000, 0x0080_0000);
}

#[test]
fn approximate_doubles_have_an_empty_lower_half() {
    let check = |a: u64, expected: u64| {
        assert_eq!(reciprocal_f64(a, Approximation::Nearest), expected);
    };
    check(0, 0x7ff0_0000_0000_0000);
    check(1 << 63, 0xfff0_0000_0000_0000);
    check(1, 0x7ff0_0000_0000_0000);
    check(0x7ff8_0000_0000_0000, 0x7fff_ffff_0000_0000);
    check(0x4000_0000_ffff_ffff, 0x3fe0_0000_0000_0000);
    check(0x7fef_ffff_ffff_ffff, 0);
    let root = |a| reciprocal_square_root_ftz_f64(a, Approximation::Nearest);
    assert_eq!(root(4_f64.to_bits()), 0.5_f64.to_bits());
    assert_eq!(root((-4_f64).to_bits()), 0x7fff_ffff_0000_0000);
}

#[test]
fn functions_of_halves_keep_their_special_values() {
    let check = |function, a, format, expected| {
        let result = half_function(function, a, format, Subnormals::Keep, Approximation::Nearest);
        assert_eq!(result, expected);
    };
    check(HalfFunction::BinaryExponential, 0x3c00, HalfFormat::F16, 0x4000);
    check(HalfFunction::BinaryExponential, 0xfc00, HalfFormat::F16, 0);
    check(HalfFunction::BinaryExponential, 0x4c00, HalfFormat::F16, 0x7c00);
    check(HalfFunction::HyperbolicTangent, 0x7f80, HalfFormat::Bf16, 0x3f80);
    check(HalfFunction::HyperbolicTangent, 0x8000, HalfFormat::F16, 0x8000);
    check(HalfFunction::HyperbolicTangent, 0x7e01, HalfFormat::F16, CANONICAL_NAN);
}
