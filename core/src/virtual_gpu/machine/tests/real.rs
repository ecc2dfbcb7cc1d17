//! What NVRTC makes of real kernels computes what the host computes, without a fault.

use std::fmt::Write as _;

use super::harness::{folder, module};
use crate::virtual_gpu::machine::{Access, Argument, BufferId, DeviceShape, Initial, LaunchConfig, Machine, Report};
use crate::virtual_gpu::module::Module;

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
        let id = self.machine.buffer(name, length, Access::ReadOnly, Initial::Bytes(bytes)).unwrap();
        self.arguments.push(Argument::Buffer(id));
        self
    }
    pub(super) fn output(mut self, name: &str, bytes: u64) -> (Self, BufferId) {
        let id = self.machine.buffer(name, bytes, Access::ReadWrite, Initial::Unwritten).unwrap();
        self.arguments.push(Argument::Buffer(id));
        (self, id)
    }
    pub(super) fn zeros(mut self, name: &str, bytes: u64) -> (Self, BufferId) {
        let initial = Initial::Bytes(vec![0; bytes as usize]);
        let id = self.machine.buffer(name, bytes, Access::ReadWrite, initial).unwrap();
        self.arguments.push(Argument::Buffer(id));
        (self, id)
    }
    pub(super) fn value(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.arguments.push(Argument::Bytes(bytes.as_ref().to_vec()));
        self
    }
    pub(super) fn run(&mut self, file: &str, kernel: &str, grid: [u32; 3], block: [u32; 3], shared: u32) -> Report {
        let mut config = LaunchConfig::new(grid, block, self.arguments.clone());
        config.dynamic_shared = shared;
        config.max_steps = 1 << 26;
        let report = self.machine.launch(&load(file), kernel, &config).unwrap();
        let mut text = String::new();
        for fault in &report.faults {
            writeln!(text, "{fault}").unwrap();
        }
        assert!(report.faults.is_empty(), "{text}");
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
    let sums: Vec<u32> = x.iter().scan(0, |sum, x| { *sum += x; Some(*sum) }).collect();
    assert_eq!(bench.words(y), sums);
}
