//! Counters of small kernels whose counts can be computed by hand.

use std::num::NonZeroU64;

use super::harness::module;
use crate::cost::{BlockSelection, BlocksRun, CacheSizes, Counters, Counts, metrics};
use crate::machine::{
    Access, Argument, DeviceShape, InitialContent, LaunchConfig, LaunchError, Machine, Report,
};
use lightbench_units::Bytes;

/// A kernel whose `%r0` is the index of the thread and whose `%d0` is the address of its buffer.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .const .align 4 .b8 table[4096];\n\
         .visible .entry k(.param .u64 buffer)\n{{\n\
         .reg .b32 %r<32>; .reg .b64 %d<16>; .reg .f32 %f<32>; .reg .f64 %g<8>; .reg .b16 %h<8>; .reg .pred %p<4>;\n\
         .shared .align 16 .b8 tile[8192];\n.local .align 16 .b8 own[64];\n\
         ld.param.u64 %d0, [buffer];\nmov.u32 %r0, %tid.x;\n{body}\nret;\n}}\n"
    )
}

fn launch_with(body: &str, config: impl FnOnce(&mut LaunchConfig)) -> Result<Report, LaunchError> {
    let mut machine = Machine::new(DeviceShape::default());
    let initial = InitialContent::Bytes(vec![0; 1 << 21]);
    let buffer = machine.buffer("buffer", 1 << 21, Access::ReadWrite, initial).unwrap();
    let mut launch = LaunchConfig::new([1; 3], [32, 1, 1], vec![Argument::Buffer(buffer)]);
    config(&mut launch);
    machine.launch(&module(&kernel(body)), "k", &launch)
}

pub(super) fn counters_with(body: &str, config: impl FnOnce(&mut LaunchConfig)) -> Counters {
    let report = launch_with(body, config).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.faults, [], "{body}");
    report.counters.unwrap()
}

fn count(body: &str) -> Counts {
    counters_with(body, |_| {}).total
}

/// An access of the buffer at so many bytes from lane to lane.
fn strided(instruction: &str, stride: u32, start: u32) -> String {
    format!(
        "mul.wide.u32 %d1, %r0, {stride};\nadd.u64 %d0, %d0, %d1;\n{instruction} [%d0+{start}], "
    )
}

#[test]
fn efficiency_is_that_of_different_bytes() {
    let check = |rule: &str, stride, start, efficiency: f64, sectors: u64| {
        let load = format!(
            "mul.wide.u32 %d1, %r0, {stride};\nadd.u64 %d0, %d0, %d1;\nld.global.u32 %r1, [%d0+{start}];"
        );
        let counts = count(&load);
        assert_eq!(counts.load_efficiency(), Some(efficiency), "{rule}");
        assert_eq!(counts.global_load_sectors, sectors, "{rule}");
        assert_eq!(counts.store_efficiency(), None, "{rule}");
        let store = format!("{}%r0;", strided("st.global.u32", stride, start));
        let counts = count(&store);
        assert_eq!(counts.store_efficiency(), Some(efficiency), "{rule}");
        assert_eq!(counts.global_store_sectors, sectors, "{rule}");
    };
    check("side by side", 4, 0, 1.0, 4);
    check("not aligned", 4, 4, 0.8, 5);
    check("every other word", 8, 0, 0.5, 8);
    check("a line each", 128, 0, 0.125, 32);
    check("one word", 0, 0, 0.125, 1);
}

#[test]
fn counters_name_what_happened() {
    let check = |rule: &str, body: &str, value: fn(&Counts) -> u64, expected: u64| {
        assert_eq!(value(&count(body)), expected, "{rule}");
    };
    let odd = "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p0, %r1, 1;\n";
    let branch = format!("{odd}@%p0 bra L;\nadd.u32 %r2, %r0, 1;\nL:\nadd.u32 %r3, %r0, 1;");
    check("a branch that parts lanes", &branch, |c| c.divergent_branches, 1);
    let uniform = branch.replace("%r1, 1;\n@", "%r1, 5;\n@");
    check("a branch that does not", &uniform, |c| c.divergent_branches, 0);
    let guarded = format!("{odd}@%p0 add.u32 %r2, %r0, 1;");
    let all = count(&guarded);
    assert_eq!(all.active_threads - all.thread_instructions, 16, "lanes without the predicate");
    let atomic = |bins: u32| {
        format!(
            "rem.u32 %r1, %r0, {bins};\nmul.wide.u32 %d1, %r1, 4;\nadd.u64 %d0, %d0, %d1;\nred.global.add.u32 [%d0], 1;"
        )
    };
    check("atomics are those of threads", &atomic(32), |c| c.atomics, 32);
    check("one pass for each its own", &atomic(32), |c| c.atomic_passes, 1);
    check("eight lanes wait for each other", &atomic(4), |c| c.atomic_passes, 8);
    check("all wait for each other", &atomic(1), |c| c.atomic_most_lanes, 32);
    check("one sector", &atomic(4), |c| c.atomic_sectors, 1);
    let both = format!("{}\nadd.u64 %d0, %d0, 4096;\nred.global.add.u32 [%d0], 1;", atomic(1));
    check("requests are added", &both, |c| c.atomic_requests, 2);
    let own = "mov.u64 %d1, own;\nst.local.u32 [%d1], %r0;\nld.local.u32 %r2, [%d1];";
    check("own memory is written", own, |c| c.local_store_sectors, 4);
    check("own memory is read", own, |c| c.local_load_requests, 1);
    let constant = |stride: u32| {
        format!(
            "mul.wide.u32 %d1, %r0, {stride};\nmov.u64 %d2, table;\nadd.u64 %d1, %d1, %d2;\nld.const.u32 %r3, [%d1];"
        )
    };
    check("one constant", &constant(0), |c| c.constant_passes, 1);
    check("32 constants", &constant(4), |c| c.constant_passes, 32);
    check("constants are not global", &constant(4), |c| c.global_load_requests, 0);
    check("barriers", "bar.sync 0;\nbar.sync 0;", |c| c.barriers, 2);
    let shared = "mov.u32 %r1, tile;\nmad.lo.u32 %r1, %r0, 128, %r1;\nst.shared.u32 [%r1], %r0;";
    check("one bank", shared, |c| c.shared_bank_conflicts, 31);
}

#[test]
fn operations_by_type() {
    let check = |rule: &str, body: &str, value: fn(&Counts) -> u64, expected: u64| {
        assert_eq!(value(&count(body)), expected, "{rule}");
    };
    let single = "mov.f32 %f0, 0f3f800000;\n";
    let body = |text: &str| format!("{single}{text}");
    check("f32 sum", &body("add.f32 %f1, %f0, %f0;"), |c| c.single_adds, 32);
    check("f32 product", &body("mul.f32 %f1, %f0, %f0;"), |c| c.single_multiplies, 32);
    let fused = body("fma.rn.f32 %f1, %f0, %f0, %f0;");
    check("f32 multiply-add", &fused, |c| c.single_multiply_adds, 32);
    check("two FLOP each", &fused, |c| c.flops().single, 64);
    check("division", &body("div.rn.f32 %f1, %f0, %f0;"), |c| c.single_divisions, 32);
    check("function", &body("sin.approx.f32 %f1, %f0;"), |c| c.special_operations, 32);
    let double = "mov.f64 %g0, 0d3ff0000000000000;\nfma.rn.f64 %g1, %g0, %g0, %g0;";
    check("f64 multiply-add", double, |c| c.flops().double, 64);
    let half = "mov.b16 %h0, 0x3c00;\nfma.rn.f16 %h1, %h0, %h0, %h0;";
    check("f16 multiply-add", half, |c| c.half_multiply_adds, 32);
    let pair = "mov.b32 %r1, 0x3c003c00;\nfma.rn.f16x2 %r2, %r1, %r1, %r1;";
    check("a pair counts twice", pair, |c| c.flops().half, 128);
    let bfloat = "mov.b32 %r1, 0x3f803f80;\nfma.rn.bf16x2 %r2, %r1, %r1, %r1;";
    check("bf16 apart", bfloat, |c| c.bfloat_multiply_adds, 64);
    check("whole numbers", "add.u32 %r1, %r0, 1;", |c| c.integer_operations, 32);
}

#[test]
fn every_metric_is_explained() {
    let mut names = std::collections::BTreeSet::new();
    for metric in metrics() {
        assert!(names.insert(metric.name), "{} twice", metric.name);
        assert!(metric.meaning.ends_with('.') && metric.meaning.len() > 20, "{}", metric.name);
        assert!(!metric.unit.is_empty(), "{}", metric.name);
    }
    let ones = count("ld.global.u32 %r1, [%d0];");
    let value = |name| crate::cost::metric(name).and_then(|m| (m.value)(&ones));
    assert_eq!(value("global_load_requests"), Some(1.0));
    let efficiency = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct";
    assert_eq!(value(efficiency), Some(0.125));
    assert_eq!(value("nothing"), None);
}

/// Reads a word, writes it one MiB further.
pub(super) const COPY: &str = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmad.lo.u32 %r0, %r1, %r2, %r0;\n\
    mul.wide.u32 %d1, %r0, 4;\nadd.u64 %d0, %d0, %d1;\nld.global.u32 %r3, [%d0];\n\
    st.global.u32 [%d0+1048576], %r3;";

#[test]
fn caches_of_a_copy_move_every_byte_once() {
    let sizes = CacheSizes { l1: Bytes(16 << 10), l2: Bytes(64 << 10), multiprocessors: 4 };
    let counters = counters_with(COPY, |launch| {
        (launch.grid, launch.block) = ([1024, 1, 1], [256, 1, 1]);
        launch.caches = Some(sizes);
    });
    let caches = counters.caches.unwrap();
    let mib = Bytes(1 << 20);
    assert_eq!((caches.dram_read, caches.l2_written), (mib, mib));
    assert_eq!(caches.dram_written + caches.left_dirty, mib);
    assert_eq!((counters.dram_read().least, counters.dram_read().most), (mib, mib));
}

#[test]
fn a_sample_says_what_it_is() {
    let sample = BlockSelection::Sampled { most: NonZeroU64::new(5).unwrap() };
    let report = launch_with(COPY, |launch| {
        (launch.grid, launch.block) = ([1024, 1, 1], [256, 1, 1]);
        launch.blocks = sample;
    });
    let report = report.unwrap();
    assert_eq!(report.blocks, BlocksRun { run: 5, all: 1024 });
    let counters = report.counters.unwrap();
    assert_eq!(counters.blocks, report.blocks);
    assert_eq!(counters.total.global_load_requests, 5 * 8);
    assert_eq!(report.blocks.scaled(&counters.total).global_load_requests, 1024 * 8);
}

#[test]
fn blocks_that_may_wait_for_each_other_are_not_sampled() {
    let check = |body: &str, refused: bool| {
        let report = launch_with(body, |launch| {
            launch.grid = [4, 1, 1];
            launch.blocks = BlockSelection::Sampled { most: NonZeroU64::new(2).unwrap() };
        });
        assert_eq!(matches!(report, Err(LaunchError::Sample(_))), refused, "{body}");
    };
    check("ld.acquire.gpu.global.u32 %r1, [%d0];", true);
    check("ld.volatile.global.u32 %r1, [%d0];", true);
    check("ld.global.u32 %r1, [%d0];", false);
    check("red.global.add.u32 [%d0], 1;", false);
}
