//! Floating point: conversions, halves, fp8, the maths libraries.

use super::case::{Case, Tolerance, Variant};
use super::functions::{erf, ln_gamma};
use super::number::{
    BF16, E4M3, E5M2, F16, F32, F64, Format, doubles, floats, halves, wide, worth,
};

#[test]
fn conversions_and_mathematics() {
    super::execution::check(&[
        conversions(),
        half_arithmetic(),
        bfloat_arithmetic(),
        fp8_convert(),
        math_single(),
        math_double(),
    ]);
}

#[derive(Clone, Copy)]
enum Rounding {
    Zero,
    Up,
    Down,
}

/// Corrects a nearest number to a directed one: `compare` says where it lies from the exact value.
fn directed(nearest: f32, order: std::cmp::Ordering, value_is_negative: bool, to: Rounding) -> f32 {
    let is_down = match to {
        Rounding::Zero => !value_is_negative,
        Rounding::Up => false,
        Rounding::Down => true,
    };
    match (order, is_down) {
        (std::cmp::Ordering::Greater, true) => nearest.next_down(),
        (std::cmp::Ordering::Less, false) => nearest.next_up(),
        (std::cmp::Ordering::Less | std::cmp::Ordering::Equal, true)
        | (std::cmp::Ordering::Greater | std::cmp::Ordering::Equal, false) => nearest,
    }
}

fn single_of_whole(value: i128, to: Rounding) -> f32 {
    let nearest = value as f32;
    directed(nearest, (nearest as i128).cmp(&value), value < 0, to)
}

fn single_of_double(value: f64, to: Rounding) -> f32 {
    let nearest = value as f32;
    directed(nearest, f64::from(nearest).total_cmp(&value), value < 0.0, to)
}

/// The double towards zero from a positive whole number.
fn double_toward_zero(value: u64) -> f64 {
    let nearest = value as f64;
    if nearest as u128 > u128::from(value) { nearest.next_down() } else { nearest }
}

fn conversions() -> Case {
    let mut f: Vec<f32> = floats(32, 1).into_iter().map(|x| x * 1000.0).collect();
    f[..8].copy_from_slice(&[0.5, 1.5, 2.5, -0.5, -1.5, -2.5, -0.0, 0.4]);
    let mut d: Vec<f64> = doubles(32, 2).into_iter().map(|x| x * 1e5 + 1e-7).collect();
    d[..4].copy_from_slice(&[0.5, -2.5, 3.5, -0.75]);
    let l: Vec<i64> = wide(32, 3).into_iter().enumerate().map(|(t, w)| w as i64 >> t).collect();
    let i: [Vec<i32>; 8] = [
        f.iter().map(|x| x.round_ties_even() as i32).collect(),
        f.iter().map(|x| x.trunc() as i32).collect(),
        f.iter().map(|x| x.ceil() as i32).collect(),
        f.iter().map(|x| x.floor() as i32).collect(),
        d.iter().map(|x| x.round_ties_even() as i32).collect(),
        d.iter().map(|x| x.floor() as i32).collect(),
        d.iter().map(|x| x.trunc() as i32).collect(),
        f.iter().zip(&l).map(|(x, l)| i32::from(*x as i32 as i8) * i32::from(*l as u16)).collect(),
    ];
    let u: [Vec<u32>; 3] = [
        f.iter().map(|x| x.trunc() as u32).collect(),
        d.iter().map(|x| x.ceil() as u32).collect(),
        l.iter().map(|l| *l as u32).collect(),
    ];
    let ll: [Vec<i64>; 2] = [
        f.iter().map(|x| x.round_ties_even() as i64).collect(),
        d.iter().map(|x| x.floor() as i64).collect(),
    ];
    let ull: [Vec<u64>; 2] =
        [f.iter().map(|x| x.ceil() as u64).collect(), d.iter().map(|x| x.trunc() as u64).collect()];
    let rounded = |x: &f32| x.round_ties_even() + x.trunc() + x.ceil() + x.floor();
    let fo: [Vec<f32>; 9] = [
        l.iter().map(|l| *l as f32).collect(),
        l.iter().map(|l| single_of_whole(i128::from(*l), Rounding::Zero)).collect(),
        l.iter().map(|l| single_of_whole(i128::from(*l as u64), Rounding::Up)).collect(),
        l.iter().map(|l| single_of_whole(i128::from(*l as i32), Rounding::Down)).collect(),
        d.iter().map(|d| *d as f32).collect(),
        d.iter().map(|d| single_of_double(*d, Rounding::Zero)).collect(),
        d.iter().map(|d| single_of_double(*d, Rounding::Up)).collect(),
        // The sign of a zero is lost: saturation gives +0.
        f.iter().map(|x| if *x > 0.0 { x.min(1.0) } else { 0.0 }).collect(),
        f.iter().map(rounded).collect(),
    ];
    let dout: [Vec<f64>; 5] = [
        l.iter().map(|l| *l as f64).collect(),
        l.iter().map(|l| double_toward_zero(*l as u64)).collect(),
        f.iter().map(|x| f64::from(*x)).collect(),
        l.iter().map(|l| f64::from(*l as i32)).collect(),
        d.iter().map(|x| x.round_ties_even() + x.trunc() + x.ceil() + x.floor()).collect(),
    ];
    let c: [Vec<i8>; 2] =
        [f.iter().map(|x| *x as i32 as i8).collect(), l.iter().map(|l| *l as i8).collect()];
    let us: Vec<u16> = l.iter().map(|l| *l as u16).collect();
    Case::new("conversions", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&f)
        .input(&d)
        .input(&l)
        .output(&i.concat())
        .output(&u.concat())
        .output(&ll.concat())
        .output(&ull.concat())
        .output(&fo.concat())
        .output(&dout.concat())
        .output(&c.concat())
        .output(&us)
        .value(32)
}

/// A function of the lanes of two vectors, rounded to a format.
fn pairs(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| f(*x, *y)).collect()
}

/// Products and sums of halves are exact in f64 at these magnitudes: each result is rounded once.
const ONCE: Tolerance = Tolerance::Ulps(0.5);

fn half_inputs(format: Format, count: usize, seed: u64) -> (Vec<u16>, Vec<f64>) {
    let bits = halves(format, &floats(count, seed));
    let values = worth(format, &bits);
    (bits, values)
}

fn half_arithmetic() -> Case {
    let ((x, a), (y, b)) = (half_inputs(F16, 32, 4), half_inputs(F16, 32, 5));
    let ((x2, p), (y2, q)) = (half_inputs(F16, 64, 6), half_inputs(F16, 64, 7));
    let out = vec![
        (pairs(&a, &b, |a, b| a * b + F16.round(a + b)), ONCE),
        (pairs(&a, &b, |a, b| if a < b { b - a } else { a * b }), ONCE),
        (pairs(&a, &b, |a, b| a.abs().min(-b)), ONCE),
        (pairs(&a, &b, |a, b| a / b), ONCE),
        (pairs(&a, &b, |a, _| a.abs().sqrt()), ONCE),
        // Two roundings to f16 near 8 and a truncation.
        (pairs(&a, &b, |a, b| a.exp2() + b.abs().ln()), Tolerance::Absolute(0.02)),
    ];
    let out2 = vec![
        (pairs(&p, &q, |p, q| p * q + p.max(q)), ONCE),
        (pairs(&p, &q, |p, q| (p + F16.round(q * q)).clamp(0.0, 1.0)), ONCE),
        (pairs(&p, &q, |p, q| f64::from(u8::from(p <= q))), ONCE),
        // Approximate in f32 before it is rounded.
        (pairs(&p, &q, |p, q| p.min(q).exp2()), Tolerance::Ulps(0.6)),
        (pairs(&p, &q, |p, q| (p * q - p).max(0.0)), ONCE),
    ];
    Case::new("half_arithmetic", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&x)
        .input(&y)
        .parts(F16, out)
        .input(&x2)
        .input(&y2)
        .parts(F16, out2)
        .value(32)
}

fn bfloat_arithmetic() -> Case {
    let ((x, a), (y, b)) = (half_inputs(BF16, 32, 8), half_inputs(BF16, 32, 9));
    let (x2, p) = half_inputs(BF16, 64, 10);
    let out = vec![
        (pairs(&a, &b, |a, b| a * b + BF16.round(a + b)), ONCE),
        (pairs(&a, &b, |a, b| if a > b { a } else { -a }), ONCE),
        (pairs(&a, &b, |a, b| a.abs() - BF16.round(a * b)), ONCE),
        (pairs(&a, &b, |a, _| a / 3.0), ONCE),
    ];
    let out2 =
        vec![(pairs(&p, &p, |p, _| p * p + p.min(0.5)), ONCE), (pairs(&p, &p, |p, _| p * p), ONCE)];
    Case::new("half_arithmetic", 1, 32)
        .kernel("bfloat_arithmetic")
        .input(&x)
        .input(&y)
        .parts(BF16, out)
        .input(&x2)
        .parts(BF16, out2)
        .value(32)
}

fn fp8_convert() -> Case {
    let x: Vec<f32> = (0..32).map(|i| floats(32, 11)[i] * 2_f32.powi(i as i32 - 14)).collect();
    // Values beyond the largest number become it (`__NV_SATFINITE`, the default of the classes).
    let bits = |format: Format, x: f32| {
        let largest = if format == E4M3 { 448.0 } else { 57344.0 };
        format.bits(f64::from(x).clamp(-largest, largest)) as u8
    };
    let four: Vec<u8> = x.iter().map(|x| bits(E4M3, *x)).collect();
    let five: Vec<u8> = x.iter().map(|x| bits(E5M2, *x)).collect();
    let value = |format: Format, bits: &u8| format.value(u64::from(*bits)) as f32;
    let back_of = |format, all: &[u8]| all.iter().map(|bits| value(format, bits)).collect();
    let a: Vec<f32> = back_of(E4M3, &four);
    let back: [Vec<f32>; 4] =
        [a.clone(), back_of(E5M2, &five), a.iter().map(|a| 2.0 * a).collect(), a.clone()];
    let pairs: Vec<u16> = four.iter().map(|b| u16::from(*b) | u16::from(b ^ 0x80) << 8).collect();
    Case::new("fp8_convert", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&x)
        .output(&four)
        .output(&five)
        .output(&back.concat())
        .output(&pairs)
        .value(32)
}

fn math_inputs() -> (Vec<f64>, Vec<f64>) {
    let scaled = |seed| doubles(32, seed).iter().map(|x| F32.round(x * 4.0 + 0.001)).collect();
    (scaled(12), scaled(13))
}

/// Sums of a few functions of values below 30, each within a few units in the last place of f32.
const SINGLE: Tolerance = Tolerance::Absolute(2e-5);

fn math_single() -> Case {
    let (a, b) = math_inputs();
    let singles = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<f32>>();
    let log = |b: f64| b.abs().ln();
    let parts = vec![
        // The tangent grows without bound.
        (pairs(&a, &b, |a, b| a.sin() + b.cos() + a.tan()), Tolerance::Absolute(1e-3)),
        (pairs(&a, &b, |a, b| a.exp() + (b.abs() + 1.0).ln() + (a.abs() + 1.0).log2()), SINGLE),
        (pairs(&a, &b, |a, b| a.abs().powf(b)), Tolerance::Ulps(8.0)),
        (pairs(&a, &b, |a, b| a / b), Tolerance::Ulps(0.5)),
        (
            pairs(&a, &b, |a, b| {
                a.sin() + a.cos() + b.exp() + log(b) + a / b + a.abs().sqrt() + a.exp2()
            }),
            Tolerance::Absolute(1e-3),
        ),
        (
            pairs(&a, &b, |a, b| 2.0 * a.abs().sqrt() + 2.0 / (b.abs() + 1.0).sqrt() + 1.0 / b),
            Tolerance::Absolute(1e-4),
        ),
        (
            pairs(&a, &b, |a, b| a + b + a * b + a * b + 1.0 + a / b + a / b + 1.0 / b),
            Tolerance::Absolute(1e-3),
        ),
        (
            pairs(&a, &b, |a, b| a % b + a.tanh() + erf(b) + a.atan2(b) + a.hypot(b) + a.cbrt()),
            SINGLE,
        ),
        (
            pairs(&a, &b, |a, b| {
                a.min(b) + a.max(b) + a.copysign(b) + a.round() + (a - b).max(0.0)
            }),
            SINGLE,
        ),
        (pairs(&a, &b, |a, b| if a < b { 1.0 } else { 5.0 }), Tolerance::Ulps(0.0)),
        (pairs(&a, &b, |a, _| a.tanh()), Tolerance::Relative(1.0 / 1024.0)),
    ];
    let (x, y) = (singles(&a), singles(&b));
    Case::new("math_single", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&x)
        .input(&y)
        .parts(F32, parts)
        .value(32)
}

fn math_double() -> Case {
    let (a, b) = math_inputs();
    let near = Tolerance::Absolute(1e-13);
    let remainder = |a: f64, b: f64| a - b * (a / b).round_ties_even();
    let parts = vec![
        (pairs(&a, &b, |a, b| a.sin() + b.cos()), near),
        (pairs(&a, &b, |a, b| a.exp() - (b.abs() + 1.0).ln()), near),
        (pairs(&a, &b, |a, b| a.abs().powf(b)), Tolerance::Relative(1e-14)),
        (pairs(&a, &b, |a, b| a / b), Tolerance::Ulps(0.0)),
        (pairs(&a, &b, |a, b| a.abs().sqrt() + 1.0 / (b.abs() + 1.0).sqrt() + a.cbrt()), near),
        (pairs(&a, &b, |a, b| a % b + remainder(a, b)), near),
        (pairs(&a, &b, |a, b| a.tanh() + erf(b) + ln_gamma(a.abs() + 1.0)), near),
        (pairs(&a, &b, |a, b| a.atan2(b) + (a / (a.abs() + 1.0)).asin()), near),
        (
            pairs(&a, &b, |a, b| a * b + 1.0 + a + b + a * b + a / b + a.abs().sqrt()),
            Tolerance::Relative(1e-12),
        ),
        (pairs(&a, &b, |a, b| a.min(b) + a.max(b) + a.copysign(b) + 8.0 * a + a), near),
        (pairs(&a, &b, |a, _| f64::from(u8::from(a < 0.0))), near),
    ];
    Case::new("math_double", 1, 32).input(&a).input(&b).parts(F64, parts).value(32)
}
