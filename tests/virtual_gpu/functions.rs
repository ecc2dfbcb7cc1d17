//! Functions that Rust's library lacks, by series that have nothing in common with CUDA's polynomials.

use std::f64::consts::PI;

/// The error function: the series of positive terms exp(-x²) Σ 2ⁿ x²ⁿ⁺¹ / (2n+1)!!
pub(super) fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    2.0 / PI.sqrt() * (-x * x).exp() * sum
}

/// What the error function lacks to one: by a continued fraction where the difference would cancel.
pub(super) fn erfc(x: f64) -> f64 {
    if x < 2.0 {
        return 1.0 - erf(x);
    }
    let fraction = (1..200).rev().fold(x, |below, k| x + f64::from(k) / 2.0 / below);
    (-x * x).exp() / PI.sqrt() / fraction
}

/// sin πx, reduced before it is multiplied.
pub(super) fn sin_pi(x: f64) -> f64 {
    let whole = x.round();
    let sign = if whole % 2.0 == 0.0 { 1.0 } else { -1.0 };
    sign * (PI * (x - whole)).sin()
}

/// The logarithm of the gamma function of a positive number: Stirling's series at x + 20, and back by products.
pub(super) fn ln_gamma(x: f64) -> f64 {
    let (far, product) = (0..20).fold((x, 1.0), |(x, product), _| (x + 1.0, product * x));
    let square = far * far;
    let series = (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square)
        / far;
    (far - 0.5) * far.ln() - far + 0.5 * (2.0 * PI).ln() + series - product.ln()
}

pub(super) fn gamma(x: f64) -> f64 {
    if x < 0.5 { PI / (sin_pi(x) * gamma(1.0 - x)) } else { ln_gamma(x).exp() }
}

/// The integral of the normal distribution.
pub(super) fn normal(x: f64) -> f64 {
    0.5 * (1.0 + erf(x / 2_f64.sqrt()))
}

#[test]
fn known_values() {
    assert!((erf(1.0) - 0.842_700_792_949_714_9).abs() < 1e-15);
    assert!((gamma(5.0) - 24.0).abs() < 1e-12);
    assert!((gamma(0.5) - PI.sqrt()).abs() < 1e-13);
    assert!((normal(0.0) - 0.5).abs() < 1e-16);
}
