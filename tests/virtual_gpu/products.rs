//! Matrix products, attention, sparse products.

use super::case::{Case, Tolerance, Variant};
use super::number::{F16, F32, F64, below, doubles, floats, halves, widened, worth};

#[test]
fn products_and_attention() {
    super::execution::check(&[
        gemm_tiled(),
        gemm_register(),
        dgemm_naive(),
        sgemm_double_buffer(),
        hgemm_half2(),
        attention(),
        flash_attention(),
        spmv(),
    ]);
}

/// Sums of up to 64 products of magnitude one, in f32 in any order.
pub(super) const SINGLE_SUM: Tolerance = Tolerance::Absolute(64.0 * 1.2e-7 * 4.0);

/// `a` (m × k) times `b` (k × n).
pub(super) fn product(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> Vec<f64> {
    (0..m * n).map(|at| (0..k).map(|i| a[at / n * k + i] * b[i * n + at % n]).sum()).collect()
}

fn gemm(file: &'static str, [m, n, k]: [usize; 3], block: (u32, u32), tile: usize) -> Case {
    let (a, b) = (floats(m * k, 1), floats(k * n, 2));
    let grid = (n.div_ceil(tile) as u32, m.div_ceil(tile) as u32);
    let c = product(&widened(&a), &widened(&b), [m, n, k]);
    Case::new(file, grid, block)
        .input(&a)
        .input(&b)
        .near(F32, c, SINGLE_SUM)
        .value(m as i32)
        .value(n as i32)
        .value(k as i32)
}

fn gemm_tiled() -> Case {
    gemm("gemm_tiled", [33, 20, 40], (16, 16), 16).also(&[Variant::AsWritten, Variant::FastMath])
}

fn gemm_register() -> Case {
    gemm("gemm_register", [64, 128, 32], (256, 1), 64).also(&[Variant::AsWritten])
}

/// Softmax(q kᵀ · scale) v for each query over the first `visible(query)` keys.
pub(super) fn attended(
    [q, k, v]: [&[f64]; 3],
    width: usize,
    scale: f64,
    visible: impl Fn(usize) -> usize,
) -> Vec<f64> {
    let row = |x: &[f64], index: usize| x[index * width..(index + 1) * width].to_vec();
    let mut out = Vec::new();
    for query in 0..q.len() / width {
        let weights: Vec<f64> = (0..visible(query))
            .map(|key| {
                let dot: f64 = row(q, query).iter().zip(row(k, key)).map(|(a, b)| a * b).sum();
                (dot * scale).exp()
            })
            .collect();
        let total: f64 = weights.iter().sum();
        out.extend((0..width).map(|d| {
            let sum: f64 = weights.iter().enumerate().map(|(j, w)| w * v[j * width + d]).sum();
            sum / total
        }));
    }
    out
}

fn attention() -> Case {
    let (length, width) = (11, 64);
    let [q, k, v] = [1, 2, 3].map(|seed| floats(length * width, seed));
    let wide = [&q, &k, &v].map(|x| widened(x));
    let expected = attended([&wide[0], &wide[1], &wide[2]], width, 0.125, |query| query + 1);
    // `__expf` is within a few units in the last place at these arguments.
    Case::new("attention", 3, 128)
        .also(&[Variant::AsWritten, Variant::FastMath])
        .input(&q)
        .input(&k)
        .input(&v)
        .near(F32, expected, Tolerance::Absolute(2e-6))
        .value(length as i32)
        .value(0.125_f32)
        .value(1)
}

fn spmv() -> Case {
    let rows = 13;
    // Empty rows, short ones, and one longer than a warp.
    let lengths = [0, 3, 40, 1, 0, 5, 32, 33, 2, 2, 0, 7, 1];
    let begin: Vec<i32> = (0..=rows).map(|row| lengths[..row].iter().sum::<i32>()).collect();
    let count = *begin.last().unwrap() as usize;
    let column = below(50, count, 1);
    let (values, x) = (doubles(count, 2), doubles(50, 3));
    let row_sum = |row: usize| {
        (begin[row] as usize..begin[row + 1] as usize)
            .map(|i| values[i] * x[column[i] as usize])
            .sum()
    };
    Case::new("spmv", 4, 128)
        .also(&[Variant::AsWritten])
        .input(&begin)
        .input(&column)
        .input(&values)
        .input(&x)
        .near(F64, (0..rows).map(row_sum).collect(), Tolerance::Absolute(1e-14))
        .value(rows as i32)
}

fn dgemm_naive() -> Case {
    let [m, n, k] = [19_usize, 23, 31];
    let (a, b, c) = (doubles(m * k, 4), doubles(k * n, 5), doubles(m * n, 6));
    let sums = product(&a, &b, [m, n, k]);
    let after = sums.iter().zip(&c).map(|(sum, c)| 1.5 * sum - 0.25 * c).collect();
    Case::new("gemm_styles", (2, 2), (16, 16))
        .kernel("dgemm_naive")
        .also(&[Variant::AsWritten])
        .value(m as i32)
        .value(n as i32)
        .value(k as i32)
        .value(1.5)
        .input(&a)
        .input(&b)
        .value(-0.25)
        .updated_near(&c, F64, after, Tolerance::Absolute(1e-14))
}

fn sgemm_double_buffer() -> Case {
    let [m, n, k] = [64_usize, 96, 40];
    let (a, b) = (floats(m * k, 7), floats(k * n, 8));
    Case::new("gemm_styles", (3, 2), 64)
        .kernel("sgemm_double_buffer")
        .also(&[Variant::AsWritten])
        .value(n as i32)
        .value(k as i32)
        .input(&a)
        .input(&b)
        .near(F32, product(&widened(&a), &widened(&b), [m, n, k]), SINGLE_SUM)
}

/// Sums in f16 are rounded at each step, in the order of the kernel: exact.
fn hgemm_half2() -> Case {
    let [m, n, k] = [5_usize, 70, 24];
    let (a, b) = (halves(F16, &floats(m * k, 9)), halves(F16, &floats(k * n, 10)));
    let (x, y) = (worth(F16, &a), worth(F16, &b));
    let sum = |at: usize| {
        let products = (0..k).map(|i| x[at / n * k + i] * y[i * n + at % n]);
        products.fold(0.0, |sum, product| F16.round(sum + product))
    };
    Case::new("gemm_styles", (2, 5), 32)
        .kernel("hgemm_half2")
        .also(&[Variant::AsWritten])
        .input(&a)
        .input(&b)
        .near(F16, (0..m * n).map(sum).collect(), Tolerance::Ulps(0.0))
        .value(n as i32 / 2)
        .value(k as i32)
}

fn flash_attention() -> Case {
    let (heads, length, width) = (2, 37, 32);
    let size = length * width;
    let [q, k, v] = [11, 12, 13].map(|seed| floats(heads * size, seed));
    let (mut out, mut logarithms) = (Vec::new(), Vec::new());
    for head in 0..heads {
        let [q, k, v] = [&q, &k, &v].map(|x| widened(&x[head * size..(head + 1) * size]));
        out.extend(attended([&q, &k, &v], width, 0.25, |_| length));
        for query in q.chunks(width) {
            let dots =
                k.chunks(width).map(|k| k.iter().zip(query).map(|(a, b)| a * b).sum::<f64>());
            logarithms.push(dots.map(|dot| (0.25 * dot).exp()).sum::<f64>().ln());
        }
    }
    let near = Tolerance::Absolute(4e-6);
    Case::new("flash_attention", (3, 2), 16)
        .also(&[Variant::AsWritten, Variant::FastMath])
        .shared(3 * 16 * 32 * 4 + 16 * 16 * 4)
        .input(&q)
        .input(&k)
        .input(&v)
        .near(F32, out, near)
        .near(F32, logarithms, near)
        .value(length as i32)
        .value(width as i32)
        .value(0.25_f32)
}
