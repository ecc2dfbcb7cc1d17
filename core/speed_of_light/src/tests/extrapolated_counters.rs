//! Estimates for a large workload from the counters of small ones, and cases without an estimate.

use lightbench_virtual_gpu::cost::time::LimitingResource;
use lightbench_virtual_gpu::cost::{Counts, InstructionClass};

use super::*;
use crate::extrapolated_counters::{
    Estimate, ExtrapolatedCounters, LaunchCounts, Sample, Target, TargetLaunch, profile,
};
use crate::limiter::{Bottleneck, Cause, Waste, limiter};
use crate::performance_data::{
    CounterLocation, DeviceLimits, KernelCounters, PerformanceData, Profile,
};

/// Passes over shared memory that a block of 256 threads takes: some at once, and some for each unit of work of a thread.
const ONCE: u64 = 100;
const EACH: u64 = 50;

/// A launch of so many blocks whose threads have so much work each.
fn launch(blocks: u32, each: u64) -> LaunchCounts {
    let mut counted = KernelCounters::default();
    counted.total.warp_instructions = u64::from(blocks);
    counted.total.thread_instructions = 32 * u64::from(blocks);
    counted.total.shared_wavefronts = u64::from(blocks) * (ONCE + EACH * each);
    LaunchCounts {
        kernel: "k".to_owned(),
        grid: [blocks, 1, 1],
        block: [256, 1, 1],
        executions: 1,
        counted,
        lines: Vec::new(),
    }
}

/// The profile of a large workload whose threads have so much work each, from small ones with these.
fn carried(small: &[(&'static str, u64, f64)], each: u64) -> Profile {
    let launches: Vec<[LaunchCounts; 1]> =
        small.iter().map(|(_, each, _)| [launch(2, *each)]).collect();
    let samples: Vec<Sample<'_>> = small
        .iter()
        .zip(&launches)
        .map(|((workload, each, data), launches)| Sample {
            workload,
            work: (2 * 256 * each) as f64,
            launches,
            data: *data,
        })
        .collect();
    let blocks = 132_000;
    let large =
        [TargetLaunch { grid: [blocks, 1, 1], block: [256, 1, 1], resident: None, executions: 3 }];
    let work = f64::from(blocks) * 3.0 * (256 * each) as f64;
    profile("virtual:h200", &samples, &Target { work, launches: &large, sheet: h200() }).unwrap()
}

/// Which workload stands for it, how, and the passes over shared memory that a block then takes.
#[track_caller]
fn check(small: &[(&'static str, u64, f64)], each: u64, expected: &(&str, Estimate, Option<f64>)) {
    let profile = carried(small, each);
    let CounterLocation::Extrapolated(beside) = &profile.at else { panic!("{:?}", profile.at) };
    let shared = profile.units.iter().find(|(unit, _)| *unit == LimitingResource::Shared);
    // 1000 blocks for each multiprocessor, three times.
    let passes = shared.map(|(_, time)| (time.0 * 1.98e9 / 3000.0).round());
    assert_eq!((beside.workload.as_str(), beside.estimate.clone(), passes), *expected);
}

#[test]
fn totals_follow_the_work_of_a_thread_and_never_the_number_of_threads() {
    let alike = 0.0;
    let both = [("short", 2, alike), ("long", 8, alike)];
    check(&both, 8, &("long", Estimate::Alike, Some(500.0)));
    check(&both, 10, &("long", Estimate::Alike, Some(625.0)));
    // 100 + 50 * 32: what a thread does once is not multiplied.
    let line = || Estimate::Line { other: "short".to_owned() };
    check(&both, 32, &("long", line(), Some(1700.0)));
    check(&[("short", 2, alike), ("long", 64, alike)], 16, &("long", line(), Some(900.0)));
    // Alone, or too far away, it only says what cannot be exceeded.
    check(&[("long", 8, alike)], 32, &("long", Estimate::AtMost, Some(2000.0)));
    check(&both, 800, &("long", Estimate::AtMost, Some(50_000.0)));
    check(&[("long", 800, alike)], 2, &("long", Estimate::None, None));
}

#[test]
fn whole_numbers_that_are_drawn_alike_come_before_likeness_of_size() {
    let small = [("like-data", 2, 0.0), ("like-size", 32, 1.0)];
    let CounterLocation::Extrapolated(beside) = carried(&small, 32).at else {
        panic!("it was counted beside")
    };
    assert_eq!((beside.workload.as_str(), beside.data_differs), ("like-data", false));
    let CounterLocation::Extrapolated(beside) = carried(&small[1..], 32).at else {
        panic!("it was")
    };
    assert!(beside.sentence().contains("another distribution"), "{}", beside.sentence());
}

fn beside(estimate: Estimate, heaviest: LimitingResource) -> CounterLocation {
    CounterLocation::Extrapolated(ExtrapolatedCounters {
        device: "virtual:h200".to_owned(),
        workload: "small".to_owned(),
        scale: 1.0,
        data_differs: false,
        whole_warps: false,
        weights: vec![(heaviest, Seconds(1.0)), (LimitingResource::Single, Seconds(0.1))],
        estimate,
    })
}

/// A unit that is busy for so many of 10 microseconds, and conflicts in shared memory by a factor.
#[track_caller]
fn check_limit(estimate: Estimate, busy: f64, conflicts: u64, expected: Bottleneck) {
    let work = work(1 << 20, 1 << 20, &[]);
    let mut counted = KernelCounters::default();
    counted.total.shared_wavefronts = 1000 * conflicts;
    counted.total.shared_bank_conflicts = 1000 * conflicts - 1000;
    let at = beside(estimate, LimitingResource::Shared);
    let situation = PerformanceData {
        device: DeviceLimits::from_sheet(h200()),
        work: &work,
        launches: &[],
        launches_run: None,
        code: None,
        counted: Some(counted),
        units: vec![(LimitingResource::Shared, Seconds(busy * 1e-6))],
        waits: false,
        time: Some(Seconds(10e-6)),
        earliest: None,
        bound: None,
        method: None,
        floor: None,
        at: &at,
        no_counters_reason: None,
    };
    let found = limiter(&situation);
    assert_eq!(found.bottleneck, expected, "{:?}", found.evidence);
    assert_eq!(found.counted_at.unwrap().workload, "small");
}

#[test]
fn only_what_the_counts_permit_is_concluded() {
    let waits = Bottleneck::Waiting(Cause::Dependencies);
    check_limit(Estimate::Alike, 8.0, 1, Bottleneck::Unit(LimitingResource::Shared));
    check_limit(Estimate::Alike, 4.0, 1, waits);
    // More than all of the time: the counts do not carry over.
    check_limit(Estimate::Alike, 20.0, 1, Bottleneck::Unknown);
    check_limit(Estimate::AtMost, 4.0, 1, waits);
    // No other unit can be.
    check_limit(Estimate::AtMost, 8.0, 1, Bottleneck::Unit(LimitingResource::Shared));
    check_limit(Estimate::AtMost, 20.0, 1, Bottleneck::Unknown);
    check_limit(Estimate::None, 0.0, 1, Bottleneck::Unknown);
    // A ratio carries over, whatever the totals do.
    for estimate in [Estimate::Alike, Estimate::AtMost, Estimate::None] {
        check_limit(estimate, 4.0, 8, Bottleneck::Waste(Waste::Banks));
    }
    check_limit(Estimate::Alike, f64::NAN, 1, Bottleneck::Unknown);
}

/// A row for each thread, and three rows.
#[test]
fn three_lanes_with_sectors_of_their_own_are_a_scattered_warp() {
    let mut few = launch(1, 10);
    let total = &mut few.counted.total;
    (total.warp_instructions, total.thread_instructions) = (1000, 3000);
    (total.global_load_requests, total.global_load_sectors, total.global_load_lines) =
        (90, 270, 270);
    (total.global_load_bytes, total.global_load_distinct_bytes) = (1080, 1080);
    (total.global_store_requests, total.global_store_sectors, total.global_store_lines) =
        (90, 90, 90);
    total.global_wavefronts = 180;
    let lanes = Counts { warp_instructions: 90, thread_instructions: 270, ..Counts::default() };
    few.counted.classes.insert(InstructionClass::GlobalLoad, lanes);
    few.counted.classes.insert(InstructionClass::GlobalStore, lanes);
    let whole = few.counted.as_full_warps().total;
    assert_eq!(whole.active_lanes(), Some(3000.0 / 94.0));
    // 32 sectors for each load, and what lay side by side stays so.
    assert_eq!((whole.global_load_requests, whole.global_store_requests), (9, 9));
    assert_eq!(whole.global_wavefronts, 68 + 9);
}
