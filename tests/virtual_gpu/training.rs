//! Layers of networks: activations, positions, losses, an optimiser.

use super::case::{Case, Tolerance, Variant, bytes_of};
use super::functions::erf;
use super::number::{BF16, F32, floats, ints, widened};

#[test]
fn layers_losses_and_optimisers() {
    super::execution::check(&[
        activation("gelu_tanh", |x| {
            0.5 * x * (1.0 + (0.797_884_560_802_865_4 * (x + 0.044715 * x * x * x)).tanh())
        }),
        activation("gelu_erf", |x| 0.5 * x * (1.0 + erf(x / 2_f64.sqrt()))),
        activation("silu", silu),
        activation("softplus", |x| x.exp().ln_1p()),
        activation("mish", |x| x * x.exp().ln_1p().tanh()),
        swiglu(),
        rope(),
        cross_entropy(),
        adamw(),
    ]);
}

/// A few units in the last place of values around 4, and cancellation of `1 + tanh` far below zero.
const ACTIVATION: Tolerance = Tolerance::Absolute(2e-6);

fn silu(x: f64) -> f64 {
    x / (1.0 + (-x).exp())
}

fn activation(kernel: &'static str, f: impl Fn(f64) -> f64) -> Case {
    let x: Vec<f32> = floats(250, 1).into_iter().map(|x| x * 6.0).collect();
    let expected = widened(&x).into_iter().map(f).collect();
    Case::new("activations", 1, 64)
        .kernel(kernel)
        .also(&[Variant::AsWritten])
        .input(&x)
        .near(F32, expected, ACTIVATION)
        .value(250)
}

fn swiglu() -> Case {
    let (rows, width) = (3, 70);
    let x = floats(rows * width * 2, 2);
    let y = widened(&x).chunks(2 * width).flat_map(gated).collect();
    fn gated(row: &[f64]) -> Vec<f64> {
        let (gate, up) = row.split_at(row.len() / 2);
        gate.iter().zip(up).map(|(gate, up)| silu(*gate) * up).collect()
    }
    Case::new("activations", 2, 64)
        .kernel("swiglu")
        .also(&[Variant::FastMath])
        .input(&x)
        .near(F32, y, ACTIVATION)
        .value(rows as i32)
        .value(width as i32)
}

fn rotated(x: &[f32], positions: &[i32], heads: usize, width: usize) -> Vec<f64> {
    let mut out = Vec::new();
    for (index, head) in x.chunks(width).enumerate() {
        let position = f64::from(positions[index / heads]);
        for (d, pair) in head.chunks(2).enumerate() {
            let angle = position * 10_000_f64.powf(-2.0 * d as f64 / width as f64);
            let (x, y) = (f64::from(pair[0]), f64::from(pair[1]));
            out.push(x * angle.cos() - y * angle.sin());
            out.push(x * angle.sin() + y * angle.cos());
        }
    }
    out
}

fn rope() -> Case {
    let positions = [0, 1, 7, 100, 1023];
    let (q, k) = (floats(5 * 4 * 16, 3), floats(5 * 2 * 16, 4));
    // The angle is rounded: half a unit in the last place of 1023 is 3e-5, and the frequency has its own error.
    let near = Tolerance::Absolute(4e-4);
    let (q_after, k_after) = (rotated(&q, &positions, 4, 16), rotated(&k, &positions, 2, 16));
    Case::new("rope", 5, 32)
        .also(&[Variant::AsWritten])
        .updated_near(&q, F32, q_after, near)
        .updated_near(&k, F32, k_after, near)
        .input(&positions)
        .value(4)
        .value(2)
        .value(16)
        .value(10_000_f32)
}

fn cross_entropy() -> Case {
    let (rows, classes) = (6, 50);
    let logits: Vec<f32> = floats(rows * classes, 5).into_iter().map(|x| x * 5.0).collect();
    let mut targets = ints(classes as u32, rows, 6);
    targets[2] = -100;
    let (mut losses, mut gradient) = (Vec::new(), Vec::new());
    for (row, target) in widened(&logits).chunks(classes).zip(&targets) {
        let Ok(target) = usize::try_from(*target) else {
            losses.push(0.0);
            gradient.extend(vec![0.0; classes]);
            continue;
        };
        let shares = super::rows::shares(row);
        losses.push(-shares[target].ln());
        let is_target = |class: usize| f64::from(u8::from(class == target));
        gradient.extend(
            shares.iter().enumerate().map(|(class, p)| (p - is_target(class)) / rows as f64),
        );
    }
    let mean = losses.iter().sum::<f64>() / rows as f64;
    let near = Tolerance::Absolute(2e-6);
    Case::new("cross_entropy", 1, 64)
        .also(&[Variant::AsWritten, Variant::FastMath])
        .updated_near(&logits, F32, gradient, near)
        .input(&targets)
        .near(F32, losses, near)
        .updated_near(&[0.0_f32], F32, vec![mean], near)
        .value(rows as i32)
        .value(classes as i32)
}

fn adamw() -> Case {
    let n = 150;
    let [p, m, g] = [7, 8, 9].map(|seed| floats(n, seed));
    let v: Vec<f32> = floats(n, 10).into_iter().map(f32::abs).collect();
    let step = |i: usize| {
        let [p, m, v, g] = [p[i], m[i], v[i], g[i]].map(f64::from);
        let [m, v] = [0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g];
        let (m_hat, v_hat) = (m / (1.0 - 0.9_f64.powi(3)), v / (1.0 - 0.999_f64.powi(3)));
        (p - 0.01 * (m_hat / (v_hat.sqrt() + 1e-8) + 0.1 * p), m, v)
    };
    let (mut ps, mut ms, mut vs) = (Vec::new(), Vec::new(), Vec::new());
    for (p, m, v) in (0..n).map(step) {
        ps.push(p);
        ms.push(m);
        vs.push(v);
    }
    // The bias correction 1 - 0.999³ has lost three digits of f32.
    let near = Tolerance::Absolute(2e-5);
    let mut config = bytes_of(&[0.01_f32, 0.9, 0.999, 1e-8, 0.1]);
    config.extend(bytes_of(&[3]));
    Case::new("adam", 2, 32)
        .kernel("adamw")
        .also(&[Variant::AsWritten])
        .record(|record| {
            record
                .updated_near(&p, F32, ps.clone(), near)
                .updated_near(&m, F32, ms, near)
                .updated_near(&v, F32, vs, near)
                .near(BF16, ps, Tolerance::Ulps(0.6))
        })
        .input(&g)
        .structure(&config)
        .value(n as u64)
}
