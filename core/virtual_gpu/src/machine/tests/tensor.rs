//! Kernels with tensor cores, asynchronous copies and barrier objects compute what the host computes.

use super::real::{Bench, float_bytes, load};
use crate::machine::{Argument, BufferId, LaunchConfig, LaunchError};
use crate::semantics::half::HalfFormat;

/// A small whole number as f16.
fn half(value: f32) -> u16 {
    let bits = value.abs().to_bits() >> 13;
    let magnitude = if bits == 0 { 0 } else { bits - (112 << 10) };
    magnitude as u16 | if value < 0.0 { 0x8000 } else { 0 }
}

fn half_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| half(*value).to_le_bytes()).collect()
}

fn halves(bench: &Bench, id: BufferId) -> Vec<f32> {
    let bytes = bench.machine.read(id);
    let bits = bytes.chunks_exact(2);
    bits.map(|b| HalfFormat::F16.to_f32(u16::from_le_bytes([b[0], b[1]]))).collect()
}

/// Small whole numbers, whose products every format holds.
fn small(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7 + seed * 3 + i / 5) % 9) as f32 - 4.0).collect()
}

/// Sums of products; `a` by rows, `b` by columns.
fn product(a: &[f32], b: &[f32], (m, n, k): (usize, usize, usize)) -> Vec<f32> {
    let sum =
        |row: usize, column: usize| (0..k).map(|i| a[row * k + i] * b[column * k + i]).sum::<f32>();
    (0..m * n).map(|at| sum(at / n, at % n)).collect()
}

#[test]
fn wmma_of_halves_is_the_product() {
    let (a, b) = (small(16 * 48, 1), small(16 * 48, 2));
    let bench = Bench::new().input("a", half_bytes(&a)).input("b", half_bytes(&b));
    let (bench, c) = bench.output("c", 1024);
    let mut bench = bench.value(48_i32.to_le_bytes());
    let report = bench.run("wmma_half-90-f.ptx", "wmma_half", [1; 3], [32, 1, 1], 0);
    assert_eq!(bench.floats(c), product(&a, &b, (16, 16, 48)));
    assert_eq!(report.counters.unwrap().total.tensor_f16_multiply_adds, 16 * 16 * 48);
}

/// The tall and the wide shape: A by columns, B by rows, the result by columns over what was C by rows.
#[track_caller]
fn check_shape(kernel: &str, m: usize, n: usize) {
    let (a, b, c) = (small(m * 16, 1), small(16 * n, 2), small(m * n, 3));
    let mut bench = Bench::new().input("a", half_bytes(&a)).input("b", half_bytes(&b));
    let id = {
        use crate::machine::{Access, InitialContent};
        let initial = InitialContent::Bytes(half_bytes(&c));
        bench.machine.buffer("c", (2 * m * n) as u64, Access::ReadWrite, initial).unwrap()
    };
    bench.arguments.push(Argument::Buffer(id));
    bench.run("wmma_half-90-f.ptx", kernel, [1; 3], [32, 1, 1], 0);
    let found = halves(&bench, id);
    for row in 0..m {
        for column in 0..n {
            let sum: f32 = (0..16).map(|i| a[i * m + row] * b[i * n + column]).sum();
            assert_eq!(found[column * m + row], sum + c[row * n + column], "{row} {column}");
        }
    }
}

#[test]
fn wmma_takes_any_layout_and_shape() {
    check_shape("wmma_tall", 32, 8);
    check_shape("wmma_wide", 8, 32);
}

#[test]
fn wmma_of_every_other_type_is_the_product() {
    let run = |kernel: &str, a: Vec<u8>, b: Vec<u8>, bytes: u64| {
        let (mut bench, c) = Bench::new().input("a", a).input("b", b).output("c", bytes);
        bench.run("wmma_types-100-f.ptx", kernel, [1; 3], [32, 1, 1], 0);
        (bench, c)
    };
    let bytes = |values: &[f32]| values.iter().map(|v| *v as i8 as u8).collect::<Vec<_>>();
    let integers = |values: Vec<f32>| values.iter().map(|v| *v as i32 as u32).collect::<Vec<_>>();
    let (a, b) = (small(512, 1), small(512, 2));
    let (bench, c) = run("wmma_s8", bytes(&a), bytes(&b), 2048);
    let both = [product(&a, &b, (16, 16, 16)), product(&a, &b, (32, 8, 16))].concat();
    assert_eq!(bench.words(c), integers(both));
    let positive = |values: &[f32]| values.iter().map(|v| v.abs()).collect::<Vec<_>>();
    let (a8, b8) = (positive(&a), positive(&b));
    let (bench, c) = run("wmma_u8", bytes(&a8), bytes(&b8), 1024);
    assert_eq!(bench.words(c), integers(product(&a8, &b8, (8, 32, 16))));
    let bf16 = |values: &[f32]| {
        values.iter().flat_map(|v| ((v.to_bits() >> 16) as u16).to_le_bytes()).collect()
    };
    let (bench, c) = run("wmma_bf16", bf16(&a), bf16(&b), 1024);
    assert_eq!(bench.floats(c), product(&a, &b, (16, 16, 16)));
    let (bench, c) = run("wmma_tf32", float_bytes(&a), float_bytes(&b), 1024);
    assert_eq!(bench.floats(c), product(&a, &b, (16, 16, 8)));
    let f64s = |values: &[f32]| values.iter().flat_map(|v| f64::from(*v).to_le_bytes()).collect();
    let (bench, c) = run("wmma_f64", f64s(&a), f64s(&b), 512);
    let found: Vec<f32> = bench
        .machine
        .read(c)
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().unwrap()) as f32)
        .collect();
    assert_eq!(found, product(&a, &b, (8, 8, 4)));
}

/// Registers of six groups of 32 lanes, as the kernels read them.
struct Words(Vec<u32>);

impl Words {
    /// Element (row, along) of A in 16 rows, or of B where there are eight: `bits` wide, two or four registers.
    fn element(
        &self,
        first: usize,
        across: usize,
        along: usize,
        (bits, tall): (usize, bool),
    ) -> u32 {
        let per = 32 / bits;
        let (tile, rest) = (along / (4 * per), along % (4 * per));
        let lane = across % 8 * 4 + rest / per;
        let register = if tall { across / 8 + 2 * tile } else { tile };
        self.0[first + 32 * register + lane] >> (bits * (rest % per)) & (u32::MAX >> (32 - bits))
    }
}

fn signed(value: u32, bits: usize) -> i32 {
    (value << (32 - bits)) as i32 >> (32 - bits)
}

#[test]
fn mma_of_integers_and_bits_adds_up() {
    // Small bytes: as floating-point numbers they are so small that their products vanish.
    let x = Words((0..192_u32).map(|i| i.wrapping_mul(0x9e37_79b1) >> 3 & 0x0201_0201).collect());
    let d: Vec<f64> = (0..64).map(|i| f64::from(i % 7) - 3.0).collect();
    let input = x.0.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (bench, out) = Bench::new().input("in", input).output("out", 288 * 4);
    let doubles = d.iter().flat_map(|value| value.to_le_bytes()).collect();
    let (mut bench, dout) = bench.input("din", doubles).output("dout", 512);
    bench.run("mma_types-100-o.ptx", "mma_types", [1; 3], [32, 1, 1], 0);
    let found = bench.words(out);
    let sum = |row: usize, column: usize| {
        let a = |along, bits, tall| x.element(0, row, along, (bits, tall));
        let b = |along, bits| x.element(128, column, along, (bits, false));
        let mut sum = 0;
        let upper = row >= 8;
        sum += (0..32).map(|k| signed(a(k, 8, true), 8) * b(k, 8) as i32).sum::<i32>();
        sum += (0..16).map(|k| signed(a(k, 8, true), 8) * signed(b(k, 8), 8)).sum::<i32>();
        sum += (0..64).map(|k| signed(a(k, 4, true), 4) * b(k, 4) as i32).sum::<i32>();
        sum += (0..32).map(|k| signed(a(k, 4, true), 4) * signed(b(k, 4), 4)).sum::<i32>();
        sum += (0..256).map(|k| (a(k, 1, true) & b(k, 1)) as i32).sum::<i32>();
        if !upper {
            sum += (0..16).map(|k| (a(k, 8, false) * b(k, 8)) as i32).sum::<i32>();
            sum += (0..128).map(|k| (a(k, 1, false) ^ b(k, 1)) as i32).sum::<i32>();
        }
        sum
    };
    for lane in 0..32 {
        for register in 0..4 {
            let (row, column) = (lane / 4 + 8 * (register / 2), lane % 4 * 2 + register % 2);
            let found = found[32 * register + lane] as i32;
            assert_eq!(found, sum(row, column), "lane {lane}, register {register}");
        }
        assert_eq!(&found[128 + lane], &0);
        let (row, column) = (lane / 4, lane % 4 * 2);
        let element =
            |row: usize, column: usize| x.0[row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff;
        assert_eq!(found[256 + lane], element(column, row) | element(column + 1, row) << 16);
    }
    let doubles: Vec<f64> = bench
        .machine
        .read(dout)
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
        .collect();
    for lane in 0..32 {
        for register in 0..2 {
            let (row, column) = (lane / 4, lane % 4 * 2 + register);
            let sum: f64 = (0..4).map(|k| d[row * 4 + k] * d[32 + column * 4 + k]).sum();
            assert_eq!(doubles[32 * register + lane], sum);
        }
    }
}

#[test]
fn mma_of_eight_bits_mixes_formats_and_stmatrix_places_rows() {
    // Powers of two and zero, with signs, in e4m3 and in e5m2.
    let bytes = [0x38_u32, 0x40, 0xb8, 0x00, 0x30, 0xc0, 0x48];
    let byte = |i: u32| bytes[(i as usize * 5 + i as usize / 7) % 7];
    let word = |i: u32| (0..4).fold(0, |word, at| word | byte(4 * i + at) << (8 * at));
    let x = Words((0..192).map(word).collect());
    let input = x.0.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (bench, out) = Bench::new().input("in", input).output("out", 512);
    let (mut bench, tile) = bench.output("tile", 512);
    bench.run("mma_fp8-100-f.ptx", "mma_fp8", [1; 3], [32, 1, 1], 0);
    let value = |bits: u32, (exponent, bias): (u32, i32)| {
        let fraction = 7 - exponent;
        let magnitude = (bits & 0x7f) >> fraction;
        let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
        if magnitude == 0 { 0.0 } else { sign * 2.0_f32.powi(magnitude as i32 - bias) }
    };
    let (e4m3, e5m2) = ((4, 7), (5, 15));
    let found = bench.floats(out);
    for lane in 0..32 {
        for register in 0..4 {
            let (row, column) = (lane / 4 + 8 * (register / 2), lane % 4 * 2 + register % 2);
            let sum: f32 = (0..32)
                .map(|k| {
                    let a = x.element(0, row, k, (8, true));
                    let b = value(x.element(128, column, k, (8, false)), e4m3);
                    value(a, e4m3) * b + value(a, e5m2) * b
                })
                .sum();
            assert_eq!(found[32 * register + lane], sum, "lane {lane}, register {register}");
        }
    }
    let tile = bench.words(tile);
    assert_eq!(tile[32..], x.0[32..128]);
    let element =
        |row: usize, column: usize| x.0[128 + row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff;
    for (lane, found) in tile[..32].iter().enumerate() {
        let (row, column) = (lane / 4, lane % 4 * 2);
        assert_eq!(*found, element(column, row) | element(column + 1, row) << 16);
    }
}

#[test]
fn copies_ldmatrix_and_mma_in_a_pipeline_are_the_product() {
    let k = 64;
    let (a, b) = (small(16 * k, 1), small(8 * k, 2));
    let bench = Bench::new().input("a", half_bytes(&a)).input("b", half_bytes(&b));
    let (bench, c) = bench.output("c", 512);
    let mut bench = bench.value((k as i32).to_le_bytes());
    let report = bench.run("mma_pipeline-80-o.ptx", "mma_pipeline", [1; 3], [32, 1, 1], 0);
    let found = bench.floats(c);
    for row in 0..16 {
        for column in 0..8 {
            let sum: f32 = (0..k).map(|i| a[row * k + i] * b[i * 8 + column]).sum();
            assert_eq!(found[row * 8 + column], sum, "{row} {column}");
        }
    }
    assert_eq!(report.counters.unwrap().total.tensor_f16_multiply_adds, 16 * 8 * k as u64);
}

#[test]
fn copied_stages_hold_what_was_copied() {
    let x: Vec<f32> = (0..224).map(|i| i as f32).collect();
    let (bench, y) = Bench::new().input("x", float_bytes(&x)).output("y", 256);
    let mut bench = bench.value(224_i32.to_le_bytes());
    bench.run("pipeline_copy-90-f.ptx", "pipeline_copy", [1; 3], [32, 1, 1], 0);
    let found = bench.floats(y);
    for t in 0..32 {
        assert_eq!(found[t], x[127 - 4 * t]);
        // Odd threads fill with zeros.
        let filled = if t % 2 == 0 { x[192 + t] } else { 0.0 };
        assert_eq!(found[32 + t], x[128 + 63 - 2 * t] + filled);
    }
}

#[test]
fn copies_arrive_at_a_barrier_in_memory() {
    let x: Vec<u8> = (0..32_u32).flat_map(|i| (i * 3).to_le_bytes()).collect();
    let (mut bench, y) = Bench::new().input("x", x).output("y", 128);
    bench.run("mbarrier_basics-80-G.ptx", "mbarrier_basics", [1; 3], [32, 1, 1], 0);
    assert_eq!(bench.words(y), (0..32).map(|i| (31 - i) * 3).collect::<Vec<u32>>());
}

#[test]
fn block_barriers_hand_over_every_round() {
    let rounds = 3_u32;
    let x: Vec<u8> = (0..rounds * 64).flat_map(|i| (i * 5).to_le_bytes()).collect();
    let (bench, y) = Bench::new().input("x", x).output("y", 768);
    let mut bench = bench.value(rounds.to_le_bytes());
    bench.run("block_barrier-100-f.ptx", "block_barrier", [1; 3], [128, 1, 1], 0);
    let expected: Vec<u32> = (0..rounds * 64).map(|i| (i / 64 * 64 + 63 - i % 64) * 5).collect();
    assert_eq!(bench.words(y), expected);
}

#[test]
fn a_pipeline_of_two_stages_copies_every_tile() {
    let tiles = 5_u32;
    let x: Vec<u8> = (0..tiles * 64).flat_map(|i| (i * 3 + 1).to_le_bytes()).collect();
    let (bench, y) = Bench::new().input("x", x).output("y", u64::from(tiles) * 256);
    let mut bench = bench.value(tiles.to_le_bytes());
    bench.run("pipeline_cuda-90-o.ptx", "pipeline_cuda", [1; 3], [64, 1, 1], 0);
    let expected: Vec<u32> = (0..tiles * 64).map(|i| (i / 64 * 64 + 63 - i % 64) * 3 + 1).collect();
    assert_eq!(bench.words(y), expected);
}

#[test]
fn float_atomics_add_up() {
    let (bench, f) = Bench::new().zeros("f", 16);
    let (bench, d) = bench.zeros("d", 24);
    let (bench, h) = bench.zeros("h", 4);
    let (bench, h2) = bench.zeros("h2", 4);
    let (mut bench, b2) = bench.zeros("b2", 4);
    bench.run("atomics_float-100-o.ptx", "atomics_float", [2, 1, 1], [64, 1, 1], 0);
    assert_eq!(bench.floats(f), [128.0, 3.0, 0.0, 128.0]);
    let doubles: Vec<f64> = bench
        .machine
        .read(d)
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
        .collect();
    assert_eq!(doubles, [256.0, 128.0, 128.0]);
    assert_eq!(halves(&bench, h)[0], 128.0);
    assert_eq!(halves(&bench, h2), [128.0, 256.0]);
    assert_eq!(bench.words(b2), [0x4300]);
}

fn grouped(
    blocks: u32,
    change: impl FnOnce(&mut LaunchConfig),
) -> (Bench, [BufferId; 3], Result<Vec<String>, LaunchError>) {
    let n = 64 * blocks;
    let x: Vec<u8> = (0..n).flat_map(|i| (i % 5).to_le_bytes()).collect();
    let (bench, tiles) = Bench::new().input("x", x).output("tiles", u64::from(n) / 2);
    let (bench, odd) = bench.zeros("odd", 4);
    let (bench, total) = bench.output("total", 4);
    let mut bench = bench.value(n.to_le_bytes());
    let mut config = LaunchConfig::new([blocks, 1, 1], [64, 1, 1], bench.arguments.clone());
    config.max_steps = 1 << 24;
    change(&mut config);
    let module = load("groups-90-o.ptx");
    let report = bench.machine.launch(&module, "groups", &config);
    let faults = report.map(|report| report.faults.iter().map(ToString::to_string).collect());
    (bench, [tiles, odd, total], faults)
}

#[test]
fn blocks_of_a_cooperative_launch_meet_in_the_grid() {
    let (bench, [_, odd, total], faults) = grouped(4, |config| config.cooperative = true);
    assert_eq!(faults.unwrap(), Vec::<String>::new());
    let x = |i: u32| i % 5;
    assert_eq!(bench.words(odd), [(0..256).filter(|i| x(*i) % 2 == 1).count() as u32]);
    assert_eq!(bench.words(total), [(0..256).map(x).sum::<u32>()]);
}

#[test]
fn without_a_cooperative_launch_the_grid_has_no_workspace() {
    let (_, _, faults) = grouped(4, |_| {});
    let faults = faults.unwrap();
    assert!(faults.iter().any(|fault| fault.starts_with("trap")), "{faults:?}");
}

#[test]
fn a_cooperative_launch_must_fit_on_the_device() {
    let (_, _, faults) = grouped(132 * 32 + 1, |config| config.cooperative = true);
    let message = faults.unwrap_err().to_string();
    assert!(message.contains("at most 4224 blocks"), "{message}");
}
