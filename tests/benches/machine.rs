//! How fast the virtual GPU steps kernels: thread instructions in a second, one bench for each goal of
//! `docs/performance.md`.
//!
//! `cargo bench --bench machine` runs all of it; no compiler is needed. The goals are printed beside the results, not
//! enforced, because a busy machine is no defect.
#![expect(clippy::unwrap_used, reason = "a bench that fails to run has nothing to report")]

use std::fmt::Write as _;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use lightbench_core::virtual_gpu::machine::{
    Access, Argument, Checks, DeviceShape, InitialContent, LaunchConfig, Machine, Races, Schedule,
};
use lightbench_core::virtual_gpu::module::Module;

/// Sides of the matrices.
const SIDE: usize = 256;
/// Instructions of the long module.
const LINES: usize = 5_000;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    multiply_matrices(&mut criterion);
    arithmetic(&mut criterion);
    tensor_products(&mut criterion);
    launch_often(&mut criterion);
    load_a_module(&mut criterion);
    criterion.final_summary();
}

fn no_checks() -> Checks {
    Checks { uninitialized: false, races: Races::Ignored }
}

fn every_check() -> Checks {
    Checks { uninitialized: true, races: Races::CudaIdiom }
}

fn multiply_matrices(criterion: &mut Criterion) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/ptx/modules");
    let text = fs::read_to_string(path.join("gemm_tiled-120-o.ptx")).unwrap();
    let module = Module::load(&text).unwrap();
    let mut group = criterion.benchmark_group("tiled SGEMM 256x256x256");
    let written = Checks { uninitialized: true, races: Races::Ignored };
    for (name, checks, counters) in [
        ("bounds (goal 1.5 G)", no_checks(), false),
        ("bounds and counters (goal 1.0 G)", no_checks(), true),
        ("bounds, never written, counters", written, true),
        ("every check (goal 0.5 G)", every_check(), false),
        ("every check, counters", every_check(), true),
    ] {
        let (mut machine, mut config) = gemm();
        config.checks = checks;
        config.counters = counters;
        let report = machine.launch(&module, "gemm_tiled", &config).unwrap();
        group.throughput(Throughput::Elements(report.steps * 32));
        group.bench_function(name, |bencher| {
            bencher.iter(|| machine.launch(&module, "gemm_tiled", &config).unwrap());
        });
    }
    // Two threads do twice as much where the host has two processors to itself.
    for threads in [1, 2] {
        let (mut machine, mut config) = gemm();
        config.checks = no_checks();
        config.counters = false;
        config.schedule = Schedule::Parallel { threads: NonZeroUsize::new(threads).unwrap() };
        let report = machine.launch(&module, "gemm_tiled", &config).unwrap();
        group.throughput(Throughput::Elements(report.steps * 32));
        group.bench_function(
            format!("bounds, threads: {threads} (goal of two 1.8 times one)"),
            |bencher| {
                bencher.iter(|| machine.launch(&module, "gemm_tiled", &config).unwrap());
            },
        );
    }
    group.finish();
}

/// Matrices whose products are all the same, and the launch.
fn gemm() -> (Machine, LaunchConfig) {
    let mut machine = Machine::new(DeviceShape::default());
    let bytes = SIDE * SIDE * 4;
    let ones = 1.5_f32.to_le_bytes().repeat(SIDE * SIDE);
    let mut arguments = Vec::new();
    for name in ["a", "b"] {
        let initial = InitialContent::Bytes(ones.clone());
        let id = machine.buffer(name, bytes as u64, Access::ReadOnly, initial).unwrap();
        arguments.push(Argument::Buffer(id));
    }
    let c = machine
        .buffer("c", bytes as u64, Access::ReadWrite, InitialContent::Uninitialised)
        .unwrap();
    arguments.push(Argument::Buffer(c));
    for _ in 0..3 {
        arguments.push(Argument::Bytes((SIDE as u32).to_le_bytes().to_vec()));
    }
    let mut config = LaunchConfig::new([16, 16, 1], [16, 16, 1], arguments);
    config.schedule = Schedule::Deterministic;
    (machine, config)
}

/// A loop of eight multiply-adds and eight additions: what the study calls program A.
fn arithmetic(criterion: &mut Criterion) {
    let mut text = String::from(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry arithmetic(.param .u64 out, .param .u32 rounds) {\n\
         .reg .f32 %f<12>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\n\
         ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [rounds];\nmov.u32 %r2, %tid.x;\n\
         cvt.rn.f32.u32 %f1, %r2;\nmov.f32 %f9, 0f3F000000;\nmov.u32 %r3, 0;\n",
    );
    for sum in 2..=8 {
        writeln!(text, "add.f32 %f{sum}, %f{}, %f9;", sum - 1).unwrap();
    }
    text.push_str("again:\n");
    // Eight sums that do not wait for each other.
    for sum in 1..=8 {
        writeln!(text, "fma.rn.f32 %f{sum}, %f{sum}, %f9, %f9;").unwrap();
    }
    for sum in 1..=8 {
        writeln!(text, "add.f32 %f{sum}, %f{sum}, %f9;").unwrap();
    }
    text.push_str(
        "add.s32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra again;\n\
         mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.f32 [%rd3], %f1;\nret;\n}\n",
    );
    let module = Module::load(&text).unwrap();
    let mut machine = Machine::new(DeviceShape::default());
    let out = machine.buffer("out", 128, Access::ReadWrite, InitialContent::Uninitialised).unwrap();
    let rounds = Argument::Bytes(100_000_u32.to_le_bytes().to_vec());
    let mut config = LaunchConfig::new([1; 3], [32, 1, 1], vec![Argument::Buffer(out), rounds]);
    let mut group = criterion.benchmark_group("straight arithmetic");
    for (name, counters) in [("no counters (goal 6 G)", false), ("counters", true)] {
        config.counters = counters;
        config.checks = no_checks();
        let report = machine.launch(&module, "arithmetic", &config).unwrap();
        group.throughput(Throughput::Elements(report.steps * 32));
        group.bench_function(name, |bencher| {
            bencher.iter(|| machine.launch(&module, "arithmetic", &config).unwrap());
        });
    }
    group.finish();
}

/// Products of tensor cores, each bit as the hardware gives it: the time of one is a second divided by the rate.
fn tensor_products(criterion: &mut Criterion) {
    const PRODUCTS: u64 = 1_000;
    let mut group = criterion.benchmark_group("mma.m16n8k16 (goal 1 us)");
    for (name, types, sums) in [
        ("f32 from f16", "f32.f16.f16.f32", 4),
        ("f32 from bf16", "f32.bf16.bf16.f32", 4),
        ("f16 from f16", "f16.f16.f16.f16", 2),
    ] {
        let module = Module::load(&products(types, sums, PRODUCTS)).unwrap();
        let mut machine = Machine::new(DeviceShape::default());
        let out =
            machine.buffer("out", 128, Access::ReadWrite, InitialContent::Uninitialised).unwrap();
        let mut config = LaunchConfig::new([1; 3], [32, 1, 1], vec![Argument::Buffer(out)]);
        config.counters = false;
        config.checks = no_checks();
        machine.launch(&module, "products", &config).unwrap();
        group.throughput(Throughput::Elements(PRODUCTS));
        group.bench_function(name, |bencher| {
            bencher.iter(|| machine.launch(&module, "products", &config).unwrap());
        });
    }
    group.finish();
}

/// A loop of products whose elements lie between 1 and 2 and differ from lane to lane; the sums grow.
fn products(types: &str, sums: usize, products: u64) -> String {
    let list = |first: usize, count: usize| {
        let registers = (first..first + count).map(|register| format!("%r{register}"));
        registers.collect::<Vec<_>>().join(", ")
    };
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry products(.param .u64 out) {\n\
         .reg .b32 %r<20>;\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\n\
         ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n",
    );
    for register in 2..8 {
        let (factor, start) = (0x0003_0005 * register, 0x3c00_3c00 + register);
        writeln!(text, "mad.lo.u32 %r{register}, %r1, {factor}, {start};").unwrap();
    }
    for register in 8..8 + sums {
        writeln!(text, "mov.u32 %r{register}, 0;").unwrap();
    }
    let d = list(8, sums);
    write!(
        text,
        "mov.u32 %r16, 0;\nagain:\n\
         mma.sync.aligned.m16n8k16.row.col.{types} {{{d}}}, {{{}}}, {{{}}}, {{{d}}};\n\
         add.u32 %r16, %r16, 1;\nsetp.lt.u32 %p1, %r16, {products};\n@%p1 bra again;\n\
         mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r8;\n\
         ret;\n}}\n",
        list(2, 4),
        list(6, 2),
    )
    .unwrap();
    text
}

/// What a launch costs beside its instructions: one that is over at once, of a real kernel, with every check.
fn launch_often(criterion: &mut Criterion) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/ptx/modules");
    let text = fs::read_to_string(path.join("gemm_tiled-120-o.ptx")).unwrap();
    let module = Module::load(&text).unwrap();
    let mut group = criterion.benchmark_group("one launch");
    let (mut machine, mut config) = gemm();
    config.grid = [1; 3];
    config.checks = every_check();
    for size in config.arguments.iter_mut().skip(3) {
        *size = Argument::Bytes(0_u32.to_le_bytes().to_vec());
    }
    group.bench_function("one block of 256 threads that end at once, every check", |bencher| {
        bencher.iter(|| machine.launch(&module, "gemm_tiled", &config).unwrap());
    });
    group.finish();
}

/// A kernel of very many instructions, read and checked; then also lowered, which the first launch does.
fn load_a_module(criterion: &mut Criterion) {
    let mut text = String::from(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry long(.param .u64 out) {\n\
         .reg .f32 %f<401>;\n.reg .b32 %r<401>;\n.reg .b64 %rd<401>;\n",
    );
    for line in 0..LINES {
        let (d, a) = (line % 400 + 1, line * 7 % 400 + 1);
        match line % 4 {
            0 => writeln!(text, "add.s32 %r{d}, %r{a}, {line};"),
            1 => writeln!(text, "fma.rn.f32 %f{d}, %f{a}, %f{a}, 0f3F800000;"),
            2 => writeln!(text, "mul.wide.s32 %rd{d}, %r{a}, 4;"),
            _ => writeln!(text, "ld.global.f32 %f{d}, [%rd{a}+16];"),
        }
        .unwrap();
    }
    text.push_str("ret;\n}\n");
    let mut group = criterion.benchmark_group("a module of 5,000 lines");
    group.bench_function("loading (goal 10 ms)", |bencher| {
        bencher.iter(|| Module::load(&text).unwrap());
    });
    group.finish();
}
