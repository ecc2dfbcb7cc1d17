//! Tensor cores, asynchronous copies, barriers in shared memory, grid-wide barriers.

use super::case::{Case, Tolerance, Variant};
use super::number::{
    BF16, E4M3, E5M2, F16, F32, F64, Format, below, doubles, floats, halves, ints, widened, words,
    worth,
};
use super::products::{attended, product};

#[test]
fn tensor_products() {
    super::execution::check(&[
        wmma_half(),
        wmma_shape("wmma_tall", 32, 8),
        wmma_shape("wmma_wide", 8, 32),
        wmma_s8(),
        wmma_u8(),
        wmma_bf16(),
        wmma_f64(),
        wmma_tf32(),
        wmma_gemm(),
        mma_pipeline(),
        mma_gemm_bf16(),
        mma_attention(),
    ]);
}

#[test]
fn copies_and_barriers() {
    super::execution::check(&[
        block_barrier(),
        mbarrier_basics(),
        pipeline_copy(),
        pipeline_stages(),
        barrier_copy(),
        groups(),
        grid_steps(),
        embedding_backward(),
        pairs_backward(),
        pair_exchange(),
    ]);
}

/// Products of halves are exact; up to 64 of them below one are added with at least 24 bits.
const SUM: Tolerance = Tolerance::Absolute(2e-5);

/// Halves and what they are worth.
fn inputs(format: Format, count: usize, seed: u64) -> (Vec<u16>, Vec<f64>) {
    let bits = halves(format, &floats(count, seed));
    let values = worth(format, &bits);
    (bits, values)
}

/// Columns become rows.
fn turned<T: Copy>(x: &[T], columns: usize) -> Vec<T> {
    super::fields::transposed(x, columns)
}

fn wmma_half() -> Case {
    let ((a, x), (b, y)) = (inputs(F16, 16 * 48, 1), inputs(F16, 16 * 48, 2));
    Case::new("wmma_half", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&a)
        .input(&b)
        .near(F32, product(&x, &turned(&y, 48), [16, 16, 48]), SUM)
        .value(48)
}

/// A is stored by columns, C is read by rows and stored by columns; sums in f16.
fn wmma_shape(kernel: &'static str, m: usize, n: usize) -> Case {
    let ((a, x), (b, y)) = (inputs(F16, m * 16, 3), inputs(F16, 16 * n, 4));
    let (c, before) = inputs(F16, m * n, 5);
    let sums = product(&turned(&x, m), &y, [m, n, 16]);
    let after: Vec<f64> = sums.iter().zip(&before).map(|(sum, c)| sum + c).collect();
    // Up to 8 in f16, rounded once or a few times.
    Case::new("wmma_half", 1, 32).kernel(kernel).input(&a).input(&b).updated_near(
        &c,
        F16,
        turned(&after, n),
        Tolerance::Absolute(0.016),
    )
}

fn whole_products(a: &[i64], b_columns: &[i64], [m, n, k]: [usize; 3]) -> Vec<i32> {
    let dot = |at: usize| {
        let (row, column) = (&a[at / n * k..][..k], &b_columns[at % n * k..][..k]);
        row.iter().zip(column).map(|(a, b)| a * b).sum::<i64>() as i32
    };
    (0..m * n).map(dot).collect()
}

fn wmma_s8() -> Case {
    let bytes = |seed| words(32 * 16, seed).into_iter().map(|x| x as i8).collect::<Vec<i8>>();
    let (a, b) = (bytes(6), bytes(7));
    let wide = |x: &[i8]| x.iter().map(|x| i64::from(*x)).collect::<Vec<i64>>();
    let mut c = whole_products(&wide(&a), &wide(&b), [16, 16, 16]);
    c.extend(whole_products(&wide(&a), &wide(&b), [32, 8, 16]));
    Case::new("wmma_types", 1, 32).kernel("wmma_s8").input(&a).input(&b).output(&c)
}

fn wmma_u8() -> Case {
    let bytes = |seed| words(32 * 16, seed).into_iter().map(|x| x as u8).collect::<Vec<u8>>();
    let (a, b) = (bytes(8), bytes(9));
    let wide = |x: &[u8]| x.iter().map(|x| i64::from(*x)).collect::<Vec<i64>>();
    let c = whole_products(&wide(&a), &wide(&b), [8, 32, 16]);
    Case::new("wmma_types", 1, 32).kernel("wmma_u8").input(&a).input(&b).output(&c)
}

fn wmma_bf16() -> Case {
    let ((a, x), (b, y)) = (inputs(BF16, 256, 10), inputs(BF16, 256, 11));
    let c = product(&x, &turned(&y, 16), [16, 16, 16]);
    Case::new("wmma_types", 1, 32).kernel("wmma_bf16").input(&a).input(&b).near(F32, c, SUM)
}

fn wmma_f64() -> Case {
    let (a, b) = (doubles(32, 12), doubles(32, 13));
    let c = product(&a, &turned(&b, 4), [8, 8, 4]);
    Case::new("wmma_types", 1, 32).kernel("wmma_f64").input(&a).input(&b).near(
        F64,
        c,
        Tolerance::Absolute(1e-15),
    )
}

/// Each operand loses 13 bits, by rounding to nearest: eight products are within 2⁻¹¹ each.
fn wmma_tf32() -> Case {
    let (a, b) = (floats(128, 14), floats(128, 15));
    let c = product(&widened(&a), &turned(&widened(&b), 8), [16, 16, 8]);
    Case::new("wmma_types", 1, 32).kernel("wmma_tf32").input(&a).input(&b).near(
        F32,
        c,
        Tolerance::Absolute(8.0 / 2048.0),
    )
}

fn wmma_gemm() -> Case {
    let [m, n, k] = [64_usize, 32, 48];
    let ((a, x), (b, y)) = (inputs(F16, m * k, 16), inputs(F16, k * n, 17));
    Case::new("wmma_gemm", (1, 2), 128)
        .also(&[Variant::AsWritten])
        .input(&a)
        .input(&b)
        .near(F32, product(&x, &y, [m, n, k]), SUM)
        .value(m as i32)
        .value(n as i32)
        .value(k as i32)
}

fn mma_pipeline() -> Case {
    let ((a, x), (b, y)) = (inputs(F16, 16 * 64, 18), inputs(F16, 64 * 8, 19));
    Case::new("mma_pipeline", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&a)
        .input(&b)
        .near(F32, product(&x, &y, [16, 8, 64]), SUM)
        .value(64)
}

fn mma_gemm_bf16() -> Case {
    let [m, n, k] = [64_usize, 128, 128];
    let ((a, x), (b, y)) = (inputs(BF16, m * k, 20), inputs(BF16, n * k, 21));
    Case::new("mma_gemm_bf16", (2, 1), 128)
        .also(&[Variant::AsWritten])
        .shared(3 * 2 * 64 * 32 * 2)
        .input(&a)
        .input(&b)
        .near(F32, product(&x, &turned(&y, k), [m, n, k]), Tolerance::Absolute(4e-5))
        .value(n as i32)
        .value(k as i32)
}

fn mma_attention() -> Case {
    let (length, width) = (48, 32);
    let [(q, x), (k, y), (v, z)] = [22, 23, 24].map(|seed| inputs(F16, length * width, seed));
    // The weights are rounded to f16 before they are multiplied.
    Case::new("mma_attention", 3, 32)
        .also(&[Variant::AsWritten])
        .input(&q)
        .input(&k)
        .input(&v)
        .near(F32, attended([&x, &y, &z], width, 0.25, |_| length), Tolerance::Absolute(5e-4))
        .value(length as i32)
        .value(0.25_f32)
}

fn block_barrier() -> Case {
    let x = ints(1000, 5 * 64, 25);
    let y: Vec<i32> = x.chunks(64).flat_map(|round| round.iter().rev().copied()).collect();
    Case::new("block_barrier", 1, 128).also(&[Variant::AsWritten]).input(&x).output(&y).value(5)
}

fn mbarrier_basics() -> Case {
    let x = ints(1000, 32, 26);
    let y: Vec<i32> = x.iter().rev().copied().collect();
    Case::new("mbarrier_basics", 1, 32).also(&[Variant::AsWritten]).input(&x).output(&y)
}

fn pipeline_copy() -> Case {
    let x: Vec<f32> = ints(1000, 256, 27).into_iter().map(|x| x as f32).collect();
    let first = (0..32).map(|t| x[127 - 4 * t]);
    // Odd lanes fill their four bytes with zero.
    let second = (0..32).map(|t| x[128 + 63 - 2 * t] + if t % 2 == 1 { 0.0 } else { x[192 + t] });
    let y: Vec<f32> = first.chain(second).collect();
    Case::new("pipeline_copy", 1, 32).also(&[Variant::AsWritten]).input(&x).output(&y).value(256)
}

fn pipeline_stages() -> Case {
    let x: Vec<f32> = ints(100, 5 * 256, 28).into_iter().map(|x| x as f32).collect();
    let sum = |t: usize| {
        let of_batch = |batch: &[f32]| batch[4 * (63 - t)..4 * (64 - t)].iter().sum::<f32>();
        x.chunks(256).map(of_batch).sum::<f32>()
    };
    let out: Vec<f32> = (0..64).map(sum).collect();
    Case::new("pipeline_stages", 1, 64).input(&x).output(&out).value(5)
}

fn barrier_copy() -> Case {
    let x = ints(1000, 2 * 100, 29);
    let y: Vec<i32> = x.chunks(100).flat_map(|part| part.iter().rev().copied()).collect();
    Case::new("pipeline_stages", 2, 64)
        .kernel("barrier_copy")
        .shared(400)
        .input(&x)
        .output(&y)
        .value(100)
}

fn groups() -> Case {
    let x = ints(100, 256, 30);
    let tiles: Vec<i32> = x.chunks(8).map(|tile| tile.iter().sum()).collect();
    let odd = x.iter().filter(|x| *x % 2 == 1).count() as i32;
    Case::new("groups", 4, 64)
        .cooperative()
        .input(&x)
        .output(&tiles)
        .updated(&[0], &[odd])
        .output(&[x.iter().sum::<i32>()])
        .value(256)
}

fn grid_steps() -> Case {
    let a = floats(200, 31);
    let mut sweeps = vec![a.clone()];
    for step in 0..6 {
        let last = &sweeps[step];
        let at = |i: usize| last.get(i).copied().unwrap_or(0.0);
        sweeps.push((0..200).map(|i: usize| 0.5 * (at(i.wrapping_sub(1)) + at(i + 1))).collect());
    }
    Case::new("grid_steps", 3, 64)
        .cooperative()
        .also(&[Variant::AsWritten])
        .updated(&a, &sweeps[6])
        .output(&sweeps[5])
        .value(200)
        .value(6)
}

/// Whole numbers, so that every order of additions gives the same sum.
fn scattered(case: Case, width: usize) -> Case {
    let token = ints(5, 20, 32);
    let gradient: Vec<f32> = below(50, 20 * width, 33).into_iter().map(|x| x as f32).collect();
    let mut table = vec![0.0_f32; 5 * width];
    for (token, row) in token.iter().zip(gradient.chunks(width)) {
        for (i, value) in row.iter().enumerate() {
            table[*token as usize * width + i] += value;
        }
    }
    case.input(&gradient).input(&token).updated(&vec![0.0_f32; 5 * width], &table)
}

fn embedding_backward() -> Case {
    let case = Case::new("vector_atomics", 20, 32).kernel("embedding_backward");
    scattered(case, 160).value(40)
}

fn pairs_backward() -> Case {
    let case = Case::new("vector_atomics", 20, 32).kernel("pairs_backward");
    scattered(case, 80).value(40)
}

fn pair_exchange() -> Case {
    Case::new("vector_atomics", 2, 64)
        .kernel("pair_exchange")
        .updated(&[0_u64, 0], &[100, 99 * 50])
        .value(100)
}

#[test]
fn fp8_is_read_as_it_is_written() {
    for format in [E4M3, E5M2] {
        assert_eq!(format.bits(format.value(0x3a)), 0x3a);
    }
}
