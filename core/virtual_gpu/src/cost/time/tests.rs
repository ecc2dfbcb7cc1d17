//! The replay of synthetic warps: which step waits for which, and how long.

use std::collections::BTreeMap;
use std::sync::Arc;

use lightbench_units::{Bytes, Hertz};
use proptest::prelude::*;

use super::super::trace::{
    Place, Role, Step, Trace, TracedAccess, TracedBlock, TracedOp, TracedPhase, TracedWarp,
};
use super::super::{Counts, Kind};
use super::pipes::Pipe;
use super::replay::{Load, Multiprocessor, recorded, replay};
use super::{Activity, Latencies, Span, StallReason};

/// An instruction that reads and writes registers.
fn op(kind: Kind, role: Role, reads: &[u32], writes: &[u32]) -> TracedOp {
    let (reads, writes) = (reads.to_vec(), writes.to_vec());
    TracedOp { kind, role, reads, writes, begins: false, ends: false, executed: 1.0 }
}

fn load(reads: &[u32], writes: &[u32]) -> TracedOp {
    op(Kind::Global, Role::Load { place: Place::Global, read_only: true }, reads, writes)
}

fn add(reads: &[u32], writes: &[u32]) -> TracedOp {
    op(Kind::Single, Role::Plain, reads, writes)
}

fn barrier() -> TracedOp {
    let barrier = op(Kind::Barrier, Role::Barrier { waits: true }, &[], &[]);
    TracedOp { begins: true, ends: true, ..barrier }
}

/// So many sectors that nobody has yet.
fn far(sectors: u32) -> TracedAccess {
    TracedAccess { wavefronts: 1, lines: sectors.div_ceil(4), far: sectors, ..Default::default() }
}

/// A block of recorded warps.
fn block(warps: Vec<TracedWarp>) -> TracedBlock {
    TracedBlock { warps, distinct_sectors: 1, retried: BTreeMap::new() }
}

/// Warps that go through all instructions, with an access for each load.
fn trace(ops: Vec<TracedOp>, warps: usize, access: TracedAccess) -> Trace {
    let mut warp = TracedWarp::default();
    for (pc, op) in ops.iter().enumerate() {
        let is_access = matches!(op.role, Role::Load { .. } | Role::Store(_));
        if is_access {
            warp.accesses.push(access);
        }
        let access = if is_access { warp.accesses.len() as u32 } else { 0 };
        warp.steps.push(Step { pc: pc as u32, access, is_behind_gap: false });
    }
    let times = |op: TracedOp| TracedOp { executed: op.executed * warps as f64, ..op };
    Trace { ops: ops.into_iter().map(times).collect(), blocks: vec![block(vec![warp; warps])] }
}

/// A multiprocessor of four schedulers with so many bytes of memory in a cycle.
fn on(dram: f64) -> Multiprocessor {
    let mut pipes = [1.0; Pipe::COUNT];
    pipes[Pipe::None as usize] = 0.0;
    let (latencies, tensor) = (Latencies { block: 0.0, ..Latencies::default() }, Vec::new());
    Multiprocessor { schedulers: 4, pipes, tensor, l2: 1e6, dram, from_memory: 1.0, latencies }
}

fn cycles(trace: &Trace, on: &Multiprocessor, at_once: usize, blocks: u64) -> (f64, StallReason) {
    let replayed = replay(trace, on, Load { at_once, blocks }).unwrap();
    (replayed.cycles, replayed.waits)
}

#[track_caller]
fn check(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.05 * expected + 12.0, "{found}, not {expected}");
}

#[test]
fn dependent_loads_take_their_latency_each() {
    let chain = (0..10).map(|n| load(&[n], &[n + 1])).collect();
    let (found, waits) = cycles(&trace(chain, 1, far(4)), &on(1e6), 1, 1);
    check(found, 10.0 * Latencies::default().dram);
    assert_eq!(waits, StallReason::GlobalMemory);
}

#[test]
fn independent_loads_wait_together_though_each_stands_before_its_use() {
    let pair = |n: u32| [load(&[0], &[10 + n]), add(&[10 + n, 1], &[1])];
    let (found, _) = cycles(&trace((0..10).flat_map(pair).collect(), 1, far(4)), &on(1e6), 1, 1);
    check(found, Latencies::default().dram + 10.0 * Latencies::default().arithmetic);
}

#[test]
fn nothing_moves_over_the_beginning_of_a_loop() {
    let round = |n: u32| {
        let load = load(&[0], &[10 + n]);
        [TracedOp { begins: true, ..load }, add(&[10 + n, 1], &[1])]
    };
    let (found, _) = cycles(&trace((0..10).flat_map(round).collect(), 1, far(4)), &on(1e6), 1, 1);
    check(found, 10.0 * Latencies::default().dram);
}

#[test]
fn warps_wait_at_the_same_time() {
    let chain: Vec<_> = (0..10).map(|n| load(&[n], &[n + 1])).collect();
    let (one, _) = cycles(&trace(chain.clone(), 1, far(4)), &on(1e6), 1, 1);
    let (eight, _) = cycles(&trace(chain, 8, far(4)), &on(1e6), 1, 1);
    check(eight, one);
}

#[test]
fn memory_is_not_faster_than_its_bandwidth() {
    let loads: Vec<_> = (0..16).map(|n| load(&[0], &[n + 1])).collect();
    let (found, _) = cycles(&trace(loads, 32, far(4)), &on(2.0), 1, 1);
    check(found, 32.0 * 16.0 * 128.0 / 2.0 + Latencies::default().dram);
}

/// An arrival at a phase of a barrier.
fn at_barrier(index: u32, number: u32) -> TracedAccess {
    let phase = Some(TracedPhase { object: TracedPhase::BARRIERS + index, number });
    TracedAccess { phase, ..Default::default() }
}

#[test]
fn a_barrier_waits_for_the_slowest() {
    let (slow, fast) = (vec![load(&[0], &[1]), add(&[1], &[2])], vec![add(&[0], &[2])]);
    let both = [barrier(), add(&[0], &[3])].map(|op| TracedOp { executed: 2.0, ..op });
    let ops = [slow, fast, both.to_vec()].concat();
    let step = |pc, access| Step { pc, access, is_behind_gap: false };
    let slow = TracedWarp {
        steps: vec![step(0, 1), step(1, 0), step(3, 2), step(4, 0)],
        accesses: vec![far(4), at_barrier(0, 0)],
    };
    let fast = TracedWarp { steps: vec![step(2, 0), step(3, 2), step(4, 0)], ..slow.clone() };
    let trace = Trace { ops: Arc::from(ops), blocks: vec![block(vec![slow, fast])] };
    let (found, waits) = cycles(&trace, &on(1e6), 1, 1);
    assert!(found > Latencies::default().dram, "{found}");
    assert!(matches!(waits, StallReason::GlobalMemory | StallReason::Barriers), "{waits}");
}

#[test]
fn a_barrier_of_some_warps_does_not_wait_for_others() {
    let time = |index_of_slow, waits| {
        let arrival = |waits| TracedOp { role: Role::Barrier { waits }, ..barrier() };
        let after = [load(&[0], &[3]), add(&[3], &[4])];
        let slow = [load(&[0], &[1]), add(&[1], &[2]), arrival(waits)];
        let ops: Vec<TracedOp> = slow.into_iter().chain([arrival(true)]).chain(after).collect();
        let step = |pc, access| Step { pc, access, is_behind_gap: false };
        let slow = TracedWarp {
            steps: vec![step(0, 1), step(1, 0), step(2, 2)],
            accesses: vec![far(4), at_barrier(index_of_slow, 0)],
        };
        let fast = TracedWarp {
            steps: vec![step(3, 2), step(4, 1), step(5, 0)],
            accesses: vec![far(4), at_barrier(1, 0)],
        };
        let trace = Trace { ops: Arc::from(ops), blocks: vec![block(vec![slow, fast])] };
        cycles(&trace, &on(1e6), 1, 1).0
    };
    let dram = Latencies::default().dram;
    check(time(1, false), 2.0 * dram);
    check(time(1, true), 2.0 * dram);
    check(time(2, true), dram);
}

#[test]
fn what_was_left_out_takes_as_long_as_what_was_kept() {
    let chain: Vec<_> = (0..10).map(|n| load(&[n], &[n + 1])).collect();
    let (once, _) = cycles(&trace(chain.clone(), 1, far(4)), &on(1e6), 1, 1);
    let often = chain.into_iter().map(|op| TracedOp { executed: 100.0, ..op }).collect();
    let (found, _) = cycles(&trace(often, 1, far(4)), &on(1e6), 1, 1);
    check(found, 100.0 * once);
}

#[test]
fn many_rounds_take_as_long_as_the_first_ones_suggest() {
    let chain = (0..10).map(|n| load(&[n], &[n + 1])).chain([add(&[10], &[11])]);
    let trace = trace(chain.collect(), 4, far(4));
    let (one, _) = cycles(&trace, &on(1e6), 2, 2);
    let (found, _) = cycles(&trace, &on(1e6), 2, 2_000_000);
    check(found, 1e6 * one);
}

/// A producer that copies into a ring of slots, and two consumers that wait for each copy, work and release the slot:
/// so many rounds.
fn pipeline(slots: u32, rounds: u32, work: f64) -> (Trace, Multiprocessor) {
    let ends = |op: TracedOp, warps: u32| TracedOp {
        ends: true,
        executed: f64::from(warps * rounds),
        ..op
    };
    let once = |op| ends(op, 1);
    let twice = |op| ends(op, 2);
    let counts = Counts { tensor_f16_multiply_adds: 1, ..Counts::default() };
    let product = Role::Product { counts: Box::new(counts), is_async: true };
    let ops = [
        once(op(Kind::Atomic, Role::WaitPhase, &[], &[])),
        once(op(Kind::Global, Role::Copy { is_bulk: false }, &[], &[])),
        twice(op(Kind::Atomic, Role::WaitPhase, &[], &[])),
        twice(op(Kind::Other, product, &[], &[])),
        twice(op(Kind::Other, Role::CommitProducts, &[], &[])),
        twice(op(Kind::Other, Role::WaitProducts(0), &[], &[])),
        twice(op(Kind::Atomic, Role::Arrive { after_copies: false }, &[], &[])),
    ];
    let (mut producer, mut consumer) = (TracedWarp::default(), TracedWarp::default());
    let step = |warp: &mut TracedWarp, pc: u32, phase: Option<(u32, u32)>| {
        let phase = phase.map(|(object, number)| TracedPhase { object, number });
        if phase.is_some() {
            let far = if pc == 1 { 4 } else { 0 };
            warp.accesses.push(TracedAccess { phase, far, ..TracedAccess::default() });
        }
        let access = if phase.is_some() { warp.accesses.len() as u32 } else { 0 };
        warp.steps.push(Step { pc, access, is_behind_gap: false });
    };
    for round in 0..rounds {
        let (full, empty) = (round % slots, slots + round % slots);
        let number = round / slots;
        step(&mut producer, 0, number.checked_sub(1).map(|before| (empty, before)));
        step(&mut producer, 1, Some((full, number)));
        step(&mut consumer, 2, Some((full, number)));
        for pc in 3..6 {
            step(&mut consumer, pc, None);
        }
        step(&mut consumer, 6, Some((empty, number)));
    }
    let tensor = (0..7).map(|pc| if pc == 3 { work } else { 0.0 }).collect();
    let trace = Trace {
        ops: Arc::from(ops),
        blocks: vec![block(vec![producer, consumer.clone(), consumer])],
    };
    (trace, Multiprocessor { tensor, ..on(1e6) })
}

#[test]
fn a_ring_of_slots_hides_the_latency_of_copies() {
    let latency = Latencies::default().dram;
    let (trace, on) = pipeline(1, 40, latency / 4.0);
    let (one, waits) = cycles(&trace, &on, 1, 1);
    assert!(one >= 40.0 * (latency + latency / 4.0), "{one}");
    assert_eq!(waits, StallReason::GlobalMemory);
    let (trace, on) = pipeline(8, 40, latency / 4.0);
    let (eight, waits) = cycles(&trace, &on, 1, 1);
    assert!(eight < 0.4 * one, "{eight} of {one}");
    assert!(eight >= 40.0 * latency / 4.0, "{eight}");
    assert_eq!(waits, StallReason::Arithmetic);
}

#[test]
fn the_timeline_of_a_ring_has_its_roles_and_what_they_wait_for() {
    let latency = Latencies::default().dram;
    let (trace, on) = pipeline(1, 4, latency / 4.0);
    let load = Load { at_once: 2, blocks: 2 };
    let timeline = recorded(&trace, &on, load).unwrap().finish(Hertz(1e9));
    let counts = timeline.warps.iter().map(|warp| (warp.warp, warp.copies, warp.products));
    assert_eq!(counts.collect::<Vec<_>>(), [(0, 4, 0), (1, 0, 4), (2, 0, 4)]);
    assert_eq!((timeline.copies.len(), timeline.products.len()), (4, 8));
    for copy in &timeline.copies {
        assert!(copy.end - copy.start >= latency && copy.bytes == Bytes(128), "{copy:?}");
    }
    for warp in &timeline.warps {
        let waited = |reason| -> f64 {
            let spans = warp.spans.iter().filter(|span| span.activity == Activity::Waits(reason));
            spans.map(|span| span.end - span.start).sum()
        };
        let is_producer = warp.warp == 0;
        assert_eq!(waited(StallReason::Barriers) > 3.0 * latency, is_producer, "{warp:?}");
        assert_eq!(waited(StallReason::GlobalMemory) > 3.0 * latency, !is_producer, "{warp:?}");
    }
}

#[test]
fn phases_whose_contributions_come_after_the_wait_end() {
    let (mut trace, on) = pipeline(1, 4, 10.0);
    let block = &mut trace.blocks[0];
    // The producer and the consumer each wait for the other one.
    for access in block.warps.iter_mut().flat_map(|warp| &mut warp.accesses) {
        access.phase = access.phase.map(|phase| TracedPhase { number: 3 - phase.number, ..phase });
    }
    let (found, _) = cycles(&trace, &on, 2, 4);
    assert!(found > 0.0 && found.is_finite(), "{found}");
}

#[test]
fn asynchronous_products_take_their_pipe_and_wait_in_groups() {
    let product = |is_async| {
        let counts = Counts { tensor_f16_multiply_adds: 1, ..Counts::default() };
        let role = Role::Product { counts: Box::new(counts), is_async };
        op(Kind::Other, role, &[1], &[1])
    };
    let ends = |op: TracedOp| TracedOp { ends: true, ..op };
    let wait = [Role::CommitProducts, Role::WaitProducts(0)];
    let wait = wait.map(|role| ends(op(Kind::Other, role, &[], &[])));
    let time = |is_async| {
        let ops: Vec<_> = (0..10).map(|_| product(is_async)).chain(wait.clone()).collect();
        let on = Multiprocessor { tensor: vec![100.0; ops.len()], ..on(1e6) };
        cycles(&trace(ops, 1, far(0)), &on, 1, 1).0
    };
    check(time(true), 10.0 * 100.0);
    check(time(false), 10.0 * (100.0 + Latencies::default().tensor));
}

/// Any instruction.
fn any_op() -> impl Strategy<Value = TracedOp> {
    let place =
        prop::sample::select(vec![Place::Global, Place::Shared, Place::Local, Place::Constant]);
    let role = (place, 0_u8..14, any::<bool>()).prop_map(|(place, which, some)| match which {
        0 => Role::Load { place, read_only: some },
        1 => Role::Store(place),
        2 => Role::Atomic { place, returns: some },
        3 => Role::Copy { is_bulk: false },
        4 => Role::CommitCopies,
        5 => Role::WaitCopies(u32::from(some)),
        6 => Role::Barrier { waits: some },
        7 => Role::Branch,
        8 => Role::Arrive { after_copies: some },
        9 => Role::WaitPhase,
        10 => Role::Product { counts: Box::default(), is_async: some },
        11 => Role::CommitProducts,
        12 => Role::WaitProducts(u32::from(some)),
        _ => Role::Plain,
    });
    let registers = || prop::collection::vec(0_u32..8, 0..3);
    let kind = prop::sample::select(Kind::ALL.to_vec());
    let rest = (registers(), registers(), any::<bool>(), any::<bool>(), 0.0..1e6_f64);
    (kind, role, rest).prop_map(|(kind, role, (reads, writes, begins, ends, executed))| TracedOp {
        kind,
        role,
        reads,
        writes,
        begins,
        ends,
        executed,
    })
}

/// Any block of those instructions, whether or not a machine could have recorded it.
fn any_warp() -> impl Strategy<Value = TracedWarp> {
    let step = (0_u32..12, 0_u32..5, any::<bool>());
    let step = step.prop_map(|(pc, access, is_behind_gap)| Step { pc, access, is_behind_gap });
    let phase = (0_u32..2, 0_u32..3).prop_map(|(object, number)| TracedPhase { object, number });
    let sectors = (0_u32..40, 0_u32..40, 0_u32..40);
    let access = (sectors, 0_u32..40, prop::option::of(phase)).prop_map(|(sectors, by, phase)| {
        let ((near, l2, far), lines, filled_by) = (sectors, sectors.2, by);
        TracedAccess { near, l2, far, lines, filled_by, phase, ..TracedAccess::default() }
    });
    let steps = prop::collection::vec(step, 0..40);
    (steps, prop::collection::vec(access, 0..5))
        .prop_map(|(steps, accesses)| TracedWarp { steps, accesses })
}

proptest! {
    #[test]
    fn any_trace_ends_and_gives_the_same_time_each_time(
        ops in prop::collection::vec(any_op(), 12),
        warps in prop::collection::vec(any_warp(), 0..6),
        at_once in 0_usize..4,
        blocks in 0_u64..9,
    ) {
        let block = block(warps);
        let trace = Trace { ops: Arc::from(ops), blocks: vec![block.clone(), block] };
        let [one, two] = [0, 1].map(|_| replay(&trace, &on(20.0), Load { at_once, blocks }));
        prop_assert_eq!(&one, &two);
        let cycles = one.map_or(0.0, |one| one.cycles);
        prop_assert!(cycles.is_finite() && cycles >= 0.0);
    }

    #[test]
    fn spans_of_any_timeline_follow_each_other_without_gaps(
        ops in prop::collection::vec(any_op(), 12),
        warps in prop::collection::vec(any_warp(), 1..6),
        at_once in 1_usize..4,
    ) {
        let trace = Trace { ops: Arc::from(ops), blocks: vec![block(warps)] };
        let load = Load { at_once, blocks: at_once as u64 };
        let Some(recorder) = recorded(&trace, &on(20.0), load) else { return Ok(()) };
        let timeline = recorder.finish(Hertz(1e9));
        for warp in &timeline.warps {
            for pair in warp.spans.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].start);
                prop_assert_ne!(pair[0].activity, pair[1].activity);
            }
            let is_within = |span: &Span| span.start < span.end && span.end <= timeline.cycles;
            prop_assert!(warp.spans.iter().all(is_within));
        }
        for copy in &timeline.copies {
            prop_assert!(copy.start <= copy.end);
        }
    }

    #[test]
    fn blocks_beside_each_other_take_no_longer_than_one_after_the_other(
        loads in 1_u32..12,
        adds in 0_u32..12,
        warps in 1_usize..5,
        at_once in 2_usize..8,
    ) {
        let load = |n: u32| load(&[n], &[n + 1]);
        let more = (0..adds).map(|n| add(&[n + 1], &[n + 100]));
        let ops = (0..loads).map(load).chain(more).collect();
        let trace = trace(ops, warps, far(4));
        let (alone, _) = cycles(&trace, &on(20.0), 1, 1);
        let (together, _) = cycles(&trace, &on(20.0), at_once, at_once as u64);
        prop_assert!(together <= alone * at_once as f64 + 1.0);
        prop_assert!(together >= alone - 1.0);
    }
}
