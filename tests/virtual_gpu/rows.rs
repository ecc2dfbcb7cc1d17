//! Softmax, norms and what else works on rows.

use super::case::{Case, Tolerance, Variant};
use super::number::{BF16, F16, F32, floats, halves, widened, worth};

#[test]
fn softmax_and_norms() {
    super::execution::check(&[
        softmax(),
        softmax_online(),
        rmsnorm_bf16(),
        layernorm_f16(),
        layernorm_welford(),
    ]);
}

pub(super) fn shares(x: &[f64]) -> Vec<f64> {
    let highest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = x.iter().map(|x| (x - highest).exp()).sum();
    x.iter().map(|x| (x - highest).exp() / total).collect()
}

fn softmax() -> Case {
    let x: Vec<f32> = floats(3 * 100, 1).into_iter().map(|x| x * 10.0).collect();
    let expected = widened(&x).chunks(100).flat_map(shares).collect();
    // The exponent of -20 is rounded before the approximate exponential.
    Case::new("softmax", 3, 64)
        .also(&[Variant::AsWritten, Variant::FastMath])
        .input(&x)
        .near(F32, expected, Tolerance::Relative(4e-6))
        .value(100)
}

fn rmsnorm_bf16() -> Case {
    let columns = 520;
    let (x, w) = (halves(BF16, &floats(2 * columns, 2)), halves(BF16, &floats(columns, 3)));
    let weights = worth(BF16, &w);
    let normed = |row: &[f64]| {
        let mean = row.iter().map(|x| x * x).sum::<f64>() / columns as f64;
        let scale = 1.0 / (mean + 1e-5).sqrt();
        row.iter().zip(&weights).map(|(x, w)| x * scale * w).collect::<Vec<f64>>()
    };
    let expected = worth(BF16, &x).chunks(columns).flat_map(normed).collect();
    // Rounded once, from a value that is within 2⁻²⁰.
    Case::new("rmsnorm_bf16", 2, 256)
        .also(&[Variant::FastMath])
        .input(&x)
        .input(&w)
        .near(BF16, expected, Tolerance::Ulps(0.51))
        .value(columns as i32)
        .value(1e-5_f32)
}

fn softmax_online() -> Case {
    let x: Vec<f32> = floats(2 * 172, 4).into_iter().map(|x| x * 10.0).collect();
    let expected = widened(&x).chunks(172).flat_map(shares).collect();
    Case::new("softmax_online", 2, 96)
        .also(&[Variant::AsWritten, Variant::FastMath])
        .shared(3 * 8)
        .input(&x)
        .near(F32, expected, Tolerance::Relative(4e-6))
        .value(172)
}

/// Rows less their mean, over their deviation; with mean and reciprocal deviation of each.
fn normed(x: &[f64], columns: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut y, mut means, mut scales) = (Vec::new(), Vec::new(), Vec::new());
    for row in x.chunks(columns) {
        let mean = row.iter().sum::<f64>() / columns as f64;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / columns as f64;
        let scale = 1.0 / (variance + 1e-5).sqrt();
        y.extend(row.iter().map(|x| (x - mean) * scale));
        means.push(mean);
        scales.push(scale);
    }
    (y, means, scales)
}

fn layernorm_f16() -> Case {
    let columns = 600;
    let [x, gamma, beta] = [(2 * columns, 5), (columns, 6), (columns, 7)]
        .map(|(n, seed)| halves(F16, &floats(n, seed)));
    let (weight, bias) = (worth(F16, &gamma), worth(F16, &beta));
    let (y, _, _) = normed(&worth(F16, &x), columns);
    let y = y.iter().enumerate().map(|(i, y)| y * weight[i % columns] + bias[i % columns]);
    Case::new("layernorm_f16", 2, 128)
        .also(&[Variant::AsWritten])
        .input(&x)
        .input(&gamma)
        .input(&beta)
        // Up to 2.8 in f16, rounded once from f32.
        .near(F16, y.collect(), Tolerance::Absolute(1.01 / 1024.0))
        .value(columns as i32 / 2)
        .value(1e-5_f32)
}

fn layernorm_welford() -> Case {
    let (rows, columns) = (5, 77);
    let [x, weight, bias] =
        [(rows * columns, 8), (columns, 9), (columns, 10)].map(|(n, seed)| floats(n, seed));
    let (y, means, scales) = normed(&widened(&x), columns);
    let scaled =
        |(i, y): (usize, &f64)| y * f64::from(weight[i % columns]) + f64::from(bias[i % columns]);
    let near = Tolerance::Absolute(2e-6);
    Case::new("layernorm_welford", 2, (32, 4))
        .also(&[Variant::AsWritten])
        .input(&x)
        .input(&weight)
        .input(&bias)
        .near(F32, y.iter().enumerate().map(scaled).collect(), near)
        .near(F32, means, near)
        .near(F32, scales, near)
        .value(rows as i32)
        .value(columns as i32)
        .value(1e-5_f32)
}
