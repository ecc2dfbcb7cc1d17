//! Kernels compiled by NVRTC compute what the host computes, without a fault.

use std::fmt::Write as _;

use super::harness::{folder, module, other_schedules};
use crate::machine::{
    Access, Argument, BufferId, DeviceShape, InitialContent, LaunchConfig, Machine, Races, Report,
    Schedule,
};
use crate::module::Module;

pub(super) fn load(name: &str) -> Module {
    module(&std::fs::read_to_string(folder("modules").join(name)).unwrap())
}

pub(super) struct Bench {
    pub(super) machine: Machine,
    pub(super) arguments: Vec<Argument>,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self { machine: Machine::new(DeviceShape::default()), arguments: Vec::new() }
    }
    pub(super) fn input(mut self, name: &str, bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        let id = self
            .machine
            .buffer(name, length, Access::ReadOnly, InitialContent::Bytes(bytes))
            .unwrap();
        self.arguments.push(Argument::Buffer(id));
        self
    }
    pub(super) fn output(mut self, name: &str, bytes: u64) -> (Self, BufferId) {
        let id = self
            .machine
            .buffer(name, bytes, Access::ReadWrite, InitialContent::Uninitialised)
            .unwrap();
        self.arguments.push(Argument::Buffer(id));
        (self, id)
    }
    pub(super) fn zeros(mut self, name: &str, bytes: u64) -> (Self, BufferId) {
        let initial = InitialContent::Bytes(vec![0; bytes as usize]);
        let id = self.machine.buffer(name, bytes, Access::ReadWrite, initial).unwrap();
        self.arguments.push(Argument::Buffer(id));
        (self, id)
    }
    pub(super) fn value(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.arguments.push(Argument::Bytes(bytes.as_ref().to_vec()));
        self
    }
    pub(super) fn run(
        &mut self,
        file: &str,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
    ) -> Report {
        let mut config = LaunchConfig::new(grid, block, self.arguments.clone());
        config.dynamic_shared = shared;
        config.max_steps = 1 << 26;
        let before = self.machine.clone();
        let module = load(file);
        config.checks.races = Races::CudaIdiom;
        let idiom = before.clone().launch(&module, kernel, &config).unwrap();
        expect_no_fault(&idiom, Schedule::Deterministic);
        config.checks.races = Races::Strict;
        let report = self.machine.launch(&module, kernel, &config).unwrap();
        expect_no_fault(&report, Schedule::Deterministic);
        // Short turns and parted lanes take more steps.
        config.max_steps <<= 6;
        for schedule in other_schedules() {
            let mut other = before.clone();
            config.schedule = schedule;
            if let Schedule::Parallel { .. } = schedule {
                config.checks.races = Races::Ignored;
            }
            let report = other.launch(&module, kernel, &config).unwrap();
            expect_no_fault(&report, schedule);
            for region in 0..before.memory.regions.len() {
                let (found, expected) =
                    (other.read(BufferId(region)), self.machine.read(BufferId(region)));
                assert_eq!(found, expected, "buffer {region} by {schedule:?}");
            }
        }
        report
    }
    pub(super) fn floats(&self, id: BufferId) -> Vec<f32> {
        let bytes = self.machine.read(id);
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }
    pub(super) fn words(&self, id: BufferId) -> Vec<u32> {
        let bytes = self.machine.read(id);
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

fn expect_no_fault(report: &Report, schedule: Schedule) {
    let mut text = String::new();
    for fault in &report.faults {
        writeln!(text, "{fault}").unwrap();
    }
    assert!(report.faults.is_empty(), "{schedule:?}: {text}");
}

pub(super) fn float_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

#[test]
fn tiled_gemm_is_the_sum_of_products() {
    let (m, n, k) = (33_usize, 20, 40);
    let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
    let bench = Bench::new().input("a", float_bytes(&a)).input("b", float_bytes(&b));
    let (bench, c) = bench.output("c", (m * n * 4) as u64);
    let mut bench = bench
        .value((m as i32).to_le_bytes())
        .value((n as i32).to_le_bytes())
        .value((k as i32).to_le_bytes());
    bench.run("gemm_tiled-120-o.ptx", "gemm_tiled", [2, 3, 1], [16, 16, 1], 0);
    let found = bench.floats(c);
    for row in 0..m {
        for column in 0..n {
            let sum = (0..k).fold(0.0_f32, |sum, i| a[row * k + i].mul_add(b[i * n + column], sum));
            // Products beyond k are zeros, which change nothing.
            assert_eq!(found[row * n + column], sum, "{row} {column}");
        }
    }
}

#[test]
fn look_back_scan_waits_for_other_blocks() {
    let n = 1000_usize;
    let x: Vec<u32> = (0..n as u32).map(|i| i * 7 % 13).collect();
    let bytes = x.iter().flat_map(|x| x.to_le_bytes()).collect();
    let (bench, y) = Bench::new().input("x", bytes).output("y", (n * 4) as u64);
    let (bench, _) = bench.zeros("state", 8 * 4);
    let mut bench = bench.value((n as i32).to_le_bytes());
    bench.run("scan_lookback-90-o.ptx", "scan_lookback", [4, 1, 1], [256, 1, 1], 0);
    let sums: Vec<u32> = x
        .iter()
        .scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
        .collect();
    assert_eq!(bench.words(y), sums);
}

#[test]
fn counters_of_tiled_gemm_are_those_of_its_tiles() {
    let size = 64_usize;
    let bench = Bench::new()
        .input("a", float_bytes(&numbers(size * size, 1)))
        .input("b", float_bytes(&numbers(size * size, 2)));
    let (bench, _) = bench.output("c", (size * size * 4) as u64);
    let mut bench =
        bench.value(64_i32.to_le_bytes()).value(64_i32.to_le_bytes()).value(64_i32.to_le_bytes());
    let report = bench.run("gemm_tiled-120-o.ptx", "gemm_tiled", [4, 4, 1], [16, 16, 1], 0);
    let counters = report.counters.unwrap();
    assert_eq!(counters.flops.single, 2 * 64 * 64 * 64);
    // Each of 64 blocks-times-tiles loads two tiles of 16 rows of two sectors.
    assert_eq!(counters.total.global_load_sectors, 4 * 4 * 4 * 2 * 16 * 2);
    assert_eq!(counters.compulsory_read_bytes, 2 * 64 * 64 * 4);
    assert_eq!(counters.compulsory_written_bytes, 64 * 64 * 4);
    assert_eq!(counters.total.shared_bank_conflicts, 0);
    // Eight warps at two barriers of each of four tiles of each of 16 blocks.
    assert_eq!(counters.total.barriers, 8 * 2 * 4 * 16);
    assert_eq!(counters.total.load_efficiency(), Some(1.0));
}

/// Prints how fast the machine is: `cargo test … speed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn speed_of_tiled_gemm() {
    use Races::{CudaIdiom, Ignored};
    let all = [
        (false, false, Ignored),
        (false, true, Ignored),
        (true, true, Ignored),
        (false, true, CudaIdiom),
        (true, true, CudaIdiom),
    ];
    for (counters, checks, races) in all {
        let size = 256_usize;
        let bench = Bench::new()
            .input("a", float_bytes(&numbers(size * size, 1)))
            .input("b", float_bytes(&numbers(size * size, 2)));
        let (bench, _) = bench.output("c", (size * size * 4) as u64);
        let side = 256_i32.to_le_bytes();
        let mut bench = bench.value(side).value(side).value(side);
        let module = load("gemm_tiled-120-o.ptx");
        let mut config = LaunchConfig::new([16, 16, 1], [16, 16, 1], bench.arguments.clone());
        config.counters = counters;
        config.checks.uninitialized = checks;
        config.checks.races = races;
        let start = std::time::Instant::now();
        let report = bench.machine.launch(&module, "gemm_tiled", &config).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let rate = report.steps as f64 * 32.0 / seconds / 1e9;
        println!(
            "counters {counters}, checks {checks}, races {races:?}: {} steps, {seconds:.3} s, {rate:.3} G/s",
            report.steps
        );
    }
}

#[test]
fn vector_add_leaves_what_is_behind_the_end() {
    let n = 1000_usize;
    let (x, y) = (numbers(n, 3), numbers(n, 4));
    let bench = Bench::new().input("x", float_bytes(&x)).input("y", float_bytes(&y));
    let (bench, z) = bench.output("z", (n * 4) as u64);
    let mut bench = bench.value((n as i32).to_le_bytes());
    bench.run("vector_add-100-o.ptx", "vector_add", [4, 1, 1], [256, 1, 1], 0);
    let sums: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    assert_eq!(bench.floats(z), sums);
}

#[test]
fn softmax_rows_are_shares_of_one() {
    let (rows, columns) = (3_usize, 100);
    let x = numbers(rows * columns, 5);
    let (bench, y) =
        Bench::new().input("x", float_bytes(&x)).output("y", (rows * columns * 4) as u64);
    let mut bench = bench.value((columns as i32).to_le_bytes());
    bench.run("softmax-100-G.ptx", "softmax", [3, 1, 1], [64, 1, 1], 0);
    let found = bench.floats(y);
    for (row, result) in x.chunks(columns).zip(found.chunks(columns)) {
        let sum: f64 = row.iter().map(|x| f64::from(*x).exp()).sum();
        for (x, y) in row.iter().zip(result) {
            let share = f64::from(*x).exp() / sum;
            assert!((f64::from(*y) - share).abs() <= 1e-6 * share, "{y} {share}");
        }
    }
}

#[test]
fn recursion_and_quicksort_in_place() {
    let x: Vec<u32> = (0..50_u32).map(|i| i * 37 % 101).collect();
    let (bench, f) = Bench::new().output("f", 32 * 4);
    let (mut bench, a) = bench.output("a", 4);
    let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
    let sorted =
        bench.machine.buffer("x", 200, Access::ReadWrite, InitialContent::Bytes(bytes)).unwrap();
    bench.arguments.push(Argument::Buffer(sorted));
    let mut bench = bench.value(50_i32.to_le_bytes());
    bench.run("recursion-80-G.ptx", "recursion", [1; 3], [32, 1, 1], 0);
    assert_eq!(bench.words(f)[..12], [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]);
    assert_eq!(bench.words(a), [9]);
    let mut expected = x;
    expected.sort_unstable();
    assert_eq!(bench.words(sorted), expected);
}

#[test]
fn printing_and_allocating() {
    let x: Vec<u8> = [3_i32, 4, 5].iter().flat_map(|x| x.to_le_bytes()).collect();
    let (bench, sum) = Bench::new().input("x", x).output("sum", 8);
    let mut bench = bench.value(3_i32.to_le_bytes());
    let report =
        bench.run("print_assert_malloc-100-G.ptx", "print_assert_malloc", [1; 3], [2, 1, 1], 0);
    assert_eq!(bench.words(sum), [15, 15]);
    assert_eq!(
        report.printed,
        "thread 0 of block 0: 12 (6.000000, half)\nthread 1 of block 0: 12 (6.000000, half)\n"
    );
}

#[test]
fn functions_by_address_and_virtual_functions() {
    let x = float_bytes(&[1.0, 2.0, 5.0]);
    let which = [0_u32, 1, 2].iter().flat_map(|w| w.to_le_bytes()).collect();
    let (bench, y) = Bench::new().input("x", x).input("which", which).output("y", 12);
    let (mut bench, areas) = bench.output("areas", 12);
    bench.run("function_pointers-90-f.ptx", "function_pointers", [1; 3], [3, 1, 1], 0);
    assert_eq!(bench.floats(y), [6.0, 10.0, 13.0]);
    assert_eq!(bench.floats(areas), [3.0, 16.0, 15.0]);
}

#[test]
fn blelloch_scan_of_two_blocks() {
    let x: Vec<u32> = (0..1024_u32).map(|i| i * 5 % 11).collect();
    let bytes = x.iter().flat_map(|x| x.to_le_bytes()).collect();
    let (bench, y) = Bench::new().input("x", bytes).output("y", 4096);
    let (mut bench, totals) = bench.output("totals", 8);
    bench.run("scan_blelloch-100-o.ptx", "scan_blelloch", [2, 1, 1], [256, 1, 1], 0);
    let mut expected = Vec::new();
    for block in x.chunks(512) {
        expected.extend(block.iter().scan(0, |sum, x| {
            *sum += x;
            Some(*sum - x)
        }));
    }
    assert_eq!(bench.words(y), expected);
    let sums: Vec<u32> = x.chunks(512).map(|block| block.iter().sum()).collect();
    assert_eq!(bench.words(totals), sums);
}

#[test]
fn a_lock_is_taken_by_every_lane() {
    let (bench, _) = Bench::new().zeros("lock", 4);
    let (mut bench, counter) = bench.zeros("counter", 4);
    bench.run("spin_lock-80-G.ptx", "spin_lock", [3, 1, 1], [64, 1, 1], 0);
    assert_eq!(bench.words(counter), [192]);
}

#[test]
fn what_is_repeated_fills_a_buffer_to_its_end() {
    let check = |start: u64, part: u8, bytes: u64| {
        let part: Vec<u8> = (1..=part).collect();
        let expected: Vec<u8> = part.iter().copied().cycle().take(bytes as usize).collect();
        let mut machine = Machine::new(DeviceShape::default());
        let initial = InitialContent::Repeated(part);
        let buffer = machine.buffer_behind(start, "x", bytes, Access::ReadOnly, initial).unwrap();
        assert_eq!(machine.read(buffer), expected, "{start} {bytes}");
        assert!(machine.uninitialised(buffer).is_empty());
    };
    check(0, 8, 20);
    check(0, 8, 3);
    check(0, 6, 20);
    check(4, 8, 20);
}
