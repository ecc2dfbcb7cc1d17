//! The functions of CUDA's maths libraries, each within its bound.
//!
//! Bounds are those of the CUDA C++ Programming Guide, "Mathematical Functions" (largest errors in ulp against the
//! correctly rounded result, so half an ulp is added against the exact one).

use std::f64::consts::PI;

use super::case::{Case, Part, Tolerance};
use super::functions::{erf, erfc, gamma, ln_gamma, sin_pi};
use super::number::{F32, F64, doubles, floats, widened};

#[test]
fn functions_are_within_their_bounds() {
    super::execution::check(&[
        single("single_any", &floats(64, 1), 8.0, &ANY),
        single("single_positive", &positive(), 1.0, &POSITIVE),
        double("double_any", &doubles(64, 2), 8.0, &ANY),
        double("double_positive", &widened(&positive()), 1.0, &POSITIVE),
        two_arguments(),
    ]);
}

/// A function, and its bounds in f32 and f64.
type Bound = (fn(f64) -> f64, f64, f64);

/// Where the host's own function is no better than a few units of f64, it is allowed for.
const HOST: f64 = 100.0;

const ANY: [Bound; 18] = [
    (f64::exp, 1.0, 1.0),
    (f64::exp2, 2.0, 1.0),
    (|x| 10_f64.powf(x), 2.0, 1.0),
    (f64::exp_m1, 1.0, 1.0),
    (f64::sin, 2.0, 2.0),
    (f64::cos, 2.0, 2.0),
    (f64::tan, 4.0, 2.0),
    (sin_pi, 1.0, 2.0),
    (|x| sin_pi(x + 0.5), 1.0, 2.0),
    (f64::atan, 2.0, 2.0),
    (f64::sinh, 3.0, 2.0),
    (f64::cosh, 2.0, 1.0),
    (f64::tanh, 2.0, 1.0),
    (|x| (x.abs() + x.hypot(1.0)).ln().copysign(x), 3.0, HOST),
    (f64::cbrt, 1.0, 1.0),
    (erf, 2.0, HOST),
    (erfc, 4.0, 10.0 * HOST),
    (gamma, 5.0, HOST),
];

const POSITIVE: [Bound; 8] = [
    (f64::ln, 1.0, 1.0),
    (f64::log2, 1.0, 1.0),
    (f64::log10, 2.0, 1.0),
    (f64::ln_1p, 1.0, 1.0),
    (f64::sqrt, 0.0, 0.0),
    (|x| 1.0 / x.sqrt(), 2.0, 1.0),
    (|x| 1.0 / x.cbrt(), 1.0, 1.0),
    (ln_gamma, 6.0, 10.0 * HOST),
];

fn positive() -> Vec<f32> {
    floats(64, 3).into_iter().map(|x| (x + 1.0) * 8.0 + 0.001).collect()
}

fn single(kernel: &'static str, x: &[f32], scale: f32, bounds: &[Bound]) -> Case {
    let x: Vec<f32> = x.iter().map(|x| x * scale).collect();
    let wide = widened(&x);
    let part = |(f, bound, _): &Bound| -> Part {
        (wide.iter().map(|x| f(*x)).collect(), Tolerance::Ulps(bound + 0.5))
    };
    let parts = bounds.iter().map(part).collect();
    Case::new("math_bounds", 2, 32).kernel(kernel).input(&x).parts(F32, parts).value(64)
}

fn double(kernel: &'static str, x: &[f64], scale: f64, bounds: &[Bound]) -> Case {
    let x: Vec<f64> = x.iter().map(|x| x * scale).collect();
    let part = |(f, _, bound): &Bound| -> Part {
        // The host's functions are within one or two units themselves.
        let within = if *bound == 0.0 { 0.0 } else { bound + 2.0 };
        (x.iter().map(|x| f(*x)).collect(), Tolerance::Ulps(within))
    };
    let parts = bounds.iter().map(part).collect();
    Case::new("math_bounds", 2, 32).kernel(kernel).input(&x).parts(F64, parts).value(64)
}

fn two_arguments() -> Case {
    let a: Vec<f32> = floats(32, 4).into_iter().map(|x| (x + 1.1) * 2.0).collect();
    let b = floats(32, 5);
    let each = |f: &dyn Fn(f32, f32) -> f64| a.iter().zip(&b).map(|(a, b)| f(*a, *b)).collect();
    let wide = |x: f32| f64::from(x);
    let exponent = |b: f32| wide(b).abs().log2().floor();
    let exact = Tolerance::Ulps(0.0);
    let parts = vec![
        (each(&|a, b| wide(a).powf(wide(b))), Tolerance::Ulps(4.5)),
        (each(&|a, b| wide(b).atan2(wide(a))), Tolerance::Ulps(3.5)),
        (each(&|a, b| wide(a).hypot(wide(b))), Tolerance::Ulps(3.5)),
        (each(&|a, b| wide(b * 100.0) % wide(a)), exact),
        (each(&|_, b| wide(b * 1e8).sin()), Tolerance::Ulps(2.5)),
        (each(&|_, b| wide(b * 1e30).cos()), Tolerance::Ulps(2.5)),
        (
            each(&|a, b| wide(b) * 2_f64.powi((a * 10.0) as i32) + wide(b) / 8.0),
            Tolerance::Ulps(0.5),
        ),
        (each(&|_, b| wide(b) / (exponent(b) + 1.0).exp2()), exact),
        (each(&|_, b| 3.0 * exponent(b) + 1.0), exact),
        (each(&|_, b| wide(b * 10.0).fract()), exact),
        (each(&|_, b| wide(b * 10.0).trunc() + 2.0 * wide(b * 10.0).round_ties_even()), exact),
    ];
    Case::new("math_bounds", 1, 32)
        .kernel("two_arguments")
        .input(&a)
        .input(&b)
        .parts(F32, parts)
        .value(32)
}

#[test]
fn references_know_their_zeros() {
    assert!(sin_pi(3.0).abs() < 1e-300);
    assert!((sin_pi(0.5) - 1.0).abs() < 1e-16);
    assert!((sin_pi(-2.25) + (PI / 4.0).sin()).abs() < 1e-15);
    assert!((erfc(3.0) / 2.209_049_699_858_544e-5 - 1.0).abs() < 1e-12);
}
