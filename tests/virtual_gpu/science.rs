//! Simulations, finance, signals.

use super::case::{Case, Tolerance, Variant};
use super::functions::{normal, sin_pi};
use super::number::{F32, F64, doubles, floats, widened};

#[test]
fn simulations_and_finance() {
    super::execution::check(&[
        nbody(),
        black_scholes(),
        black_scholes_double(),
        fft(),
        dft_power(),
        heat3d(),
    ]);
}

fn nbody() -> Case {
    let n = 45;
    let mut bodies = floats(4 * n, 1);
    bodies.chunks_mut(4).for_each(|body| body[3] = body[3].abs());
    let velocities = floats(4 * n, 2);
    let (mut moved, mut faster) = (Vec::new(), Vec::new());
    let wide = widened(&bodies);
    for (body, velocity) in wide.chunks(4).zip(widened(&velocities).chunks(4)) {
        for axis in 0..3 {
            let pull = |other: &[f64]| {
                let square: f64 = (0..3).map(|a| (other[a] - body[a]).powi(2)).sum();
                other[3] * (other[axis] - body[axis]) / (square + 0.1).powf(1.5)
            };
            let speed = velocity[axis] + 0.01 * wide.chunks(4).map(pull).sum::<f64>();
            faster.push(speed);
            moved.push(body[axis] + speed * 0.01);
        }
        faster.push(velocity[3]);
        moved.push(body[3]);
    }
    let near = Tolerance::Absolute(4e-6);
    Case::new("nbody", 2, 32)
        .kernel("integrate_bodies")
        .also(&[Variant::AsWritten, Variant::FastMath])
        .shared(32 * 16)
        .near(F32, moved, near)
        .input(&bodies)
        .updated_near(&velocities, F32, faster, near)
        .value(n as i32)
        .value(0.01_f32)
        .value(0.1_f32)
}

/// Calls and puts.
fn prices(price: &[f64], strike: &[f64], years: &[f64], r: f64, v: f64) -> (Vec<f64>, Vec<f64>) {
    let one = |i: usize| {
        let (s, x, t) = (price[i], strike[i], years[i]);
        let d1 = ((s / x).ln() + (r + 0.5 * v * v) * t) / (v * t.sqrt());
        let d2 = d1 - v * t.sqrt();
        let call = s * normal(d1) - x * (-r * t).exp() * normal(d2);
        // Parity of calls and puts, rather than the formula once more.
        (call, call - s + x * (-r * t).exp())
    };
    (0..price.len()).map(one).unzip()
}

fn options(n: usize) -> [Vec<f32>; 3] {
    let between = |low: f32, high: f32, seed| {
        floats(n, seed).into_iter().map(|x| low + (high - low) * (x + 1.0) / 2.0).collect()
    };
    [between(5.0, 30.0, 3), between(1.0, 100.0, 4), between(0.25, 10.0, 5)]
}

fn black_scholes() -> Case {
    let [price, strike, years] = options(100);
    let (r, v) = (f64::from(0.02_f32), f64::from(0.3_f32));
    let (calls, puts) = prices(&widened(&price), &widened(&strike), &widened(&years), r, v);
    // The polynomial is within 7.5e-8 (Abramowitz and Stegun 26.2.17), and prices are up to 100.
    let near = Tolerance::Absolute(1e-4);
    Case::new("black_scholes", 1, 64)
        .also(&[Variant::AsWritten, Variant::FastMath])
        .near(F32, calls, near)
        .near(F32, puts, near)
        .input(&price)
        .input(&strike)
        .input(&years)
        .value(0.02_f32)
        .value(0.3_f32)
        .value(100)
}

fn black_scholes_double() -> Case {
    let [price, strike, years] = options(50).map(|x| widened(&x));
    let (calls, puts) = prices(&price, &strike, &years, 0.02, 0.3);
    let near = Tolerance::Absolute(1e-12);
    Case::new("black_scholes", 1, 64)
        .kernel("black_scholes_double")
        .near(F64, calls, near)
        .near(F64, puts, near)
        .input(&price)
        .input(&strike)
        .input(&years)
        .value(0.02)
        .value(0.3)
        .value(50)
}

/// The discrete Fourier transform by its definition.
fn transformed(x: &[(f64, f64)], frequency: usize, sign: f64) -> (f64, f64) {
    x.iter().enumerate().fold((0.0, 0.0), |(re, im), (i, (a, b))| {
        let angle = sign * 2.0 * (frequency * i % x.len()) as f64 / x.len() as f64;
        let (sin, cos) = (sin_pi(angle), sin_pi(angle + 0.5));
        (re + a * cos - b * sin, im + a * sin + b * cos)
    })
}

fn fft() -> Case {
    let x = floats(2 * 2 * 256, 6);
    let mut expected = Vec::new();
    for block in x.chunks(512) {
        let points: Vec<(f64, f64)> =
            block.chunks(2).map(|p| (f64::from(p[0]), f64::from(p[1]))).collect();
        expected.extend((0..256).flat_map(|k| <[f64; 2]>::from(transformed(&points, k, -1.0))));
    }
    Case::new("fourier", 2, 64)
        .kernel("fft256")
        .also(&[Variant::AsWritten])
        .input(&x)
        // Eight stages of values below 40.
        .near(F32, expected, Tolerance::Absolute(4e-5))
        .value(0)
}

fn dft_power() -> Case {
    let x = doubles(100, 7);
    let points: Vec<(f64, f64)> = x.iter().map(|x| (*x, 0.0)).collect();
    let power = |k: usize| {
        let (re, im) = transformed(&points, k, -1.0);
        re.hypot(im)
    };
    Case::new("fourier", 12, 32)
        .kernel("dft_power")
        .input(&x)
        .near(F64, (0..12).map(power).collect(), Tolerance::Absolute(1e-12))
        .value(100)
}

fn heat3d() -> Case {
    let [nx, ny, nz] = [13_usize, 9, 7];
    let u = floats(nx * ny * nz, 8);
    let at = |i: usize, j: usize, k: usize| f64::from(u[(k * ny + j) * nx + i]);
    let mut after = vec![0.5; nx * ny * nz];
    for (index, value) in after.iter_mut().enumerate() {
        let (i, j, k) = (index % nx, index / nx % ny, index / nx / ny);
        let is_inner = |at: usize, n: usize| (1..n - 1).contains(&at);
        if is_inner(i, nx) && is_inner(j, ny) && is_inner(k, nz) {
            let around = at(i - 1, j, k) + at(i + 1, j, k) + at(i, j - 1, k) + at(i, j + 1, k);
            let sum = around + at(i, j, k - 1) + at(i, j, k + 1) - 6.0 * at(i, j, k);
            *value = at(i, j, k) + 0.125 * sum;
        }
    }
    Case::new("grids", (2, 2), (8, 8))
        .kernel("heat3d")
        .also(&[Variant::AsWritten])
        .input(&u)
        .updated_near(&vec![0.5_f32; nx * ny * nz], F32, after, Tolerance::Absolute(1e-6))
        .value(nx as i32)
        .value(ny as i32)
        .value(nz as i32)
        .value(0.125_f32)
}
