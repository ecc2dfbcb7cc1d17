//! The time modelled from the counters of small kernels, on a device that small launches fill.

use super::counting::{COPY, counters_with};
use crate::cost::time::BAND;
use crate::cost::time::{
    Assumption, Bound, Latencies, LaunchShape, LaunchStart, LimitingResource, ModelError, Modelled,
    Rates, StallReason, TensorRates, modelled,
};
use crate::cost::trace::{Role, TracedPhase, TracedWarp};
use crate::cost::{Counters, TraceUse};
use crate::machine::LaunchConfig;
use lightbench_units::{Bytes, BytesPerSecond, FlopsPerSecond, Hertz, Seconds};

/// A small device, so that small launches fill it.
fn small() -> Rates {
    Rates {
        multiprocessors: 4,
        issue_per_cycle: Some(4.0),
        clock: Hertz(1e9),
        single: Some(FlopsPerSecond(4.0 * 128.0 * 2.0 * 1e9)),
        double: None,
        half: None,
        integer_lanes: Some(64.0),
        special_lanes: Some(16.0),
        tensor: TensorRates::default(),
        atomics_per_cycle: Some(2.0),
        float_atomics_per_cycle: Some(0.5),
        l2: None,
        dram: Some(BytesPerSecond(50e9)),
        launch: Seconds(2e-6),
        first_launch: Seconds(3e-6),
        latencies: Latencies::default(),
    }
}

fn shape(blocks: u64) -> LaunchShape {
    LaunchShape {
        blocks,
        warps_per_block: 8,
        resident_blocks: 8,
        dram: None,
        begins: LaunchStart::First,
    }
}

fn bound(counters: &Counters, blocks: u64) -> Bound {
    match modelled(counters, &shape(blocks), &small(), None) {
        Modelled::Bound(bound) => bound,
        Modelled::Withheld(reason) => panic!("{reason}"),
    }
}

/// So many independent multiply-adds, eight at a time.
fn multiply_adds(rounds: u32) -> String {
    let start: String = (0..8).map(|i| format!("mov.f32 %f{i}, 0f3f800000;\n")).collect::<String>();
    let round: String =
        (0..8).map(|i| format!("fma.rn.f32 %f{i}, %f{i}, %f{i}, %f{i};\n")).collect();
    start + &round.repeat(rounds as usize)
}

fn wide(launch: &mut LaunchConfig, blocks: u32) {
    (launch.grid, launch.block) = ([blocks, 1, 1], [256, 1, 1]);
}

#[test]
fn a_copy_is_limited_by_memory() {
    let counters = counters_with(COPY, |launch| wide(launch, 1024));
    let bound = bound(&counters, 1024);
    assert_eq!(bound.limit, LimitingResource::Dram);
    let expected = 2e-6 + (2 << 20) as f64 / 50e9;
    assert!((bound.time.0 - expected).abs() < 1e-9, "{:?}", bound.time);
    assert!(bound.assumptions.contains(&Assumption::CompulsoryTraffic));
    assert!(bound.assumptions.contains(&Assumption::UnknownRate(LimitingResource::L2)));
}

#[test]
fn multiply_adds_are_limited_by_their_pipe() {
    let counters = counters_with(&multiply_adds(100), |launch| wide(launch, 64));
    let bound = bound(&counters, 64);
    // As many as are issued, but for what is around them; the pipe does four a cycle, and so does the scheduler.
    assert!(
        matches!(bound.limit, LimitingResource::Single | LimitingResource::Issue),
        "{:?}",
        bound.limit
    );
    let cycles = 64.0 / 4.0 * 8.0 * 800.0 / 4.0;
    let single =
        bound.parts.iter().find(|(limit, _)| *limit == LimitingResource::Single).unwrap().1;
    assert!((single.0 - cycles / 1e9).abs() < 1e-9, "{single:?}");
    assert!((bound.waves - 2.0).abs() < 1e-9);
}

#[test]
fn changes_of_one_place_go_one_after_the_other() {
    let count = |rule: &str, stride: u32, change: &str, most: u64| {
        let body = format!(
            "mul.wide.u32 %d1, %r0, {stride};\nadd.u64 %d0, %d0, %d1;\nred.global.add.{change};"
        );
        let counters = counters_with(&body, |launch| wide(launch, 1024));
        assert_eq!(counters.total.atomic_place_passes, most, "{rule}");
        counters
    };
    let (blocks, lanes) = (1024, 1024 * 256);
    count("whole numbers of a warp may be joined", 0, "u32 [%d0], 1", lanes / 32);
    count("the sectors of neighbours queue", 4, "u32 [%d0], 1", lanes / 8);
    count("each thread of a block has its place", 1024, "u32 [%d0], 1", blocks);
    let all = count("all have one", 0, "f32 [%d0], 0f3f800000", lanes);
    let bound = bound(&all, blocks);
    assert_eq!(bound.limit, LimitingResource::Atomics);
    // A sum needs the one before: one in two cycles.
    let expected = 2e-6 + lanes as f64 / 0.5 / 1e9;
    assert!((bound.time.0 - expected).abs() < 1e-9, "{:?}", bound.time);
}

#[test]
fn a_tiny_launch_is_limited_by_launching() {
    let counters = counters_with("add.u32 %r1, %r0, 1;", |_| {});
    let shape = LaunchShape {
        blocks: 1,
        warps_per_block: 1,
        resident_blocks: 8,
        dram: None,
        begins: LaunchStart::First,
    };
    let Modelled::Bound(bound) = modelled(&counters, &shape, &small(), None) else { panic!() };
    assert_eq!(bound.limit, LimitingResource::Launch);
}

/// A launch of which some blocks were recorded.
fn traced(body: &str, configure: impl Fn(&mut LaunchConfig)) -> Counters {
    counters_with(body, |launch| {
        configure(launch);
        launch.trace = Some(TraceUse { blocks: 2, l1: Bytes(1 << 16), l2: Bytes(1 << 20) });
    })
}

#[test]
fn where_waiting_decides_the_time_is_that_of_the_chain() {
    let chase = "ld.global.u64 %d1, [%d0];\nadd.u64 %d0, %d0, %d1;\n".repeat(100);
    let counters = traced(&chase, |_| {});
    let shape = LaunchShape { blocks: 1, warps_per_block: 1, ..shape(1) };
    let Modelled::Bound(bound) = modelled(&counters, &shape, &small(), None) else { panic!() };
    assert_eq!(bound.waits, Some(StallReason::GlobalMemory));
    // The first load is served by memory, all others by L1.
    let l1 = Latencies::default().l1;
    let chain = 3e-6 + 100.0 * l1 / 1e9;
    let middle = bound.time.0 * (bound.band.0 * bound.band.1).sqrt();
    assert!(middle > chain && middle < 1.5 * chain, "{middle} {chain}");
    assert!(bound.assumptions.contains(&Assumption::Replayed));
}

#[test]
fn without_a_trace_there_is_a_bound_and_that_is_said() {
    let counters = counters_with("add.u32 %r1, %r0, 1;", |launch| wide(launch, 64));
    let bound = bound(&counters, 64);
    assert_eq!((bound.waits, bound.band), (None, BAND));
    assert!(bound.assumptions.contains(&Assumption::NotReplayed));
}

#[test]
fn a_recording_changes_no_counter_and_is_the_same_each_time() {
    let body = multiply_adds(40) + "ld.global.u32 %r1, [%d0];";
    let plain = counters_with(&body, |launch| wide(launch, 16));
    let [one, two] = [0, 1].map(|_| traced(&body, |launch| wide(launch, 16)));
    assert_eq!(one, two);
    assert_eq!(Counters { trace: None, ..one }, plain);
}

#[test]
fn of_a_long_loop_some_rounds_stand_for_all() {
    let body = |rounds: u32| {
        format!(
            "mov.u32 %r1, 0;\nLOOP:\nld.global.u32 %r2, [%d0];\nadd.u32 %r1, %r1, 1;\n\
             setp.lt.u32 %p1, %r1, {rounds};\n@%p1 bra LOOP;"
        )
    };
    let time = |rounds| {
        let counters = traced(&body(rounds), |_| {});
        let shape = LaunchShape { blocks: 1, warps_per_block: 1, ..shape(1) };
        let Modelled::Bound(bound) = modelled(&counters, &shape, &small(), None) else { panic!() };
        bound.time.0 * (bound.band.0 * bound.band.1).sqrt() - 3e-6
    };
    let ratio = time(40_000) / time(4_000);
    assert!((9.0..11.0).contains(&ratio), "{ratio}");
}

#[test]
fn of_a_wait_only_the_attempt_that_passes_is_recorded() {
    let body = "
        .shared .align 8 .b64 bar;
        mov.u32 %r5, %tid.x;
        setp.ne.u32 %p0, %r5, 0;
        @%p0 bra READY;
        mbarrier.init.shared.b64 [bar], 32;
        READY:
        bar.sync 0;
        setp.ge.u32 %p0, %r5, 32;
        @%p0 bra WAIT;
        nanosleep.u32 100;
        nanosleep.u32 100;
        nanosleep.u32 100;
        mbarrier.arrive.shared.b64 %d1, [bar];
        bra END;
        WAIT:
        mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
        @!%p1 bra WAIT;
        END:";
    let counters = traced(body, |launch| launch.block = [64, 1, 1]);
    let trace = counters.trace.unwrap();
    let wait = trace.ops.iter().position(|op| op.role == Role::WaitPhase).unwrap();
    let branch = &trace.ops[wait + 1];
    assert_eq!((trace.ops[wait].executed, branch.executed), (1.0, 1.0));
    assert!(trace.blocks[0].retried[&(wait as u32)] > 0);
    let [first, second] = &trace.blocks[0].warps[..] else { panic!() };
    let phase = |warp: &TracedWarp, pc: usize| {
        let steps = warp.steps.iter().filter(|step| step.pc as usize == pc);
        steps.map(|step| warp.access(step.access).phase).collect::<Vec<_>>()
    };
    let end = Some(TracedPhase { object: 0, number: 0 });
    assert_eq!(phase(second, wait), [end]);
    let arrive = trace.ops.iter().position(|op| op.role == Role::Arrive { after_copies: false });
    assert_eq!(phase(first, arrive.unwrap()), [end]);
}

#[test]
fn more_work_never_takes_less_time() {
    let time = |rounds, blocks: u32| {
        let counters = counters_with(&multiply_adds(rounds), |launch| wide(launch, blocks));
        bound(&counters, u64::from(blocks)).time
    };
    for pair in [1, 2, 3, 5, 8, 13].windows(2) {
        assert!(time(pair[0] * 10, 32) < time(pair[1] * 10, 32), "{pair:?} rounds");
        assert!(time(20, 4 * pair[0]) < time(20, 4 * pair[1]), "{pair:?} times four blocks");
    }
    // One block beyond a full turn costs as much as a full turn.
    let (full, one_more) = (time(100, 32), time(100, 33));
    assert!(one_more.0 > 1.1 * full.0, "{full:?} {one_more:?}");
}

#[test]
fn nothing_comes_of_nothing() {
    let shape = shape(0);
    let counters = counters_with("add.u32 %r1, %r0, 1;", |_| {});
    let found = modelled(&counters, &shape, &small(), None);
    assert!(matches!(found, Modelled::Withheld(ModelError::Nothing(_))), "{found:?}");
    let found = modelled(&Counters::default(), &shape, &small(), None);
    assert_eq!(found, Modelled::Withheld(ModelError::NotCounted));
}
