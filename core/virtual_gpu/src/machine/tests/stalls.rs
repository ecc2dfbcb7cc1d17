//! Launches without progress end long before their limit; launches that make progress, however slowly, do not.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use super::harness::module;
use crate::machine::{
    Access, Argument, BlockOrder, DeviceShape, InitialContent, LaunchConfig, Machine, Races,
    Report, Schedule,
};

/// Steps that none of these launches may need.
const LIMIT: u64 = 1 << 34;
/// The limit of steps until a stalled launch is detected.
const SOON: u64 = 1 << 22;

fn launch(body: &str, grid: u32, block: u32, schedule: Schedule) -> Report {
    launch_with(body, grid, block, |config| config.schedule = schedule)
}

fn launch_with(
    body: &str,
    grid: u32,
    block: u32,
    change: impl FnOnce(&mut LaunchConfig),
) -> Report {
    let text = format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b32 %r<8>;\n.reg .b64 %d<8>;\n.reg .pred %q<4>;\n\
         ld.param.u64 %d0, [p];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n\
         {body}\nret;\n}}\n"
    );
    // Two blocks at once.
    let shape =
        DeviceShape { multiprocessors: 1, blocks_per_multiprocessor: 2, ..DeviceShape::default() };
    let mut machine = Machine::new(shape);
    let bytes = InitialContent::Bytes(vec![0; 256]);
    let buffer = machine.buffer("p", 256, Access::ReadWrite, bytes).unwrap();
    let arguments = vec![Argument::Buffer(buffer)];
    let mut config = LaunchConfig::new([grid, 1, 1], [block, 1, 1], arguments);
    config.checks.races = Races::Ignored;
    config.max_steps = LIMIT;
    change(&mut config);
    machine.launch(&module(&text), "k", &config).unwrap()
}

#[track_caller]
fn ends(body: &str, (grid, block): (u32, u32), kind: &str, words: &str) {
    let report = launch(body, grid, block, Schedule::Deterministic);
    let [fault] = &report.faults[..] else { panic!("{:?}", report.faults) };
    assert_eq!(fault.kind.word(), kind, "{fault}");
    assert!(fault.details.contains(words), "{fault}");
    assert!(report.steps < SOON, "{} steps", report.steps);
}

#[track_caller]
fn ends_in_random_orders(body: &str, (grid, block): (u32, u32), kind: &str) {
    for seed in 0..3 {
        let report = launch(body, grid, block, Schedule::Adversarial { seed });
        let [fault] = &report.faults[..] else { panic!("{:?}", report.faults) };
        assert_eq!(fault.kind.word(), kind, "{fault}");
        assert!(report.steps < SOON, "{} steps", report.steps);
    }
}

#[track_caller]
fn goes_on(body: &str, (grid, block): (u32, u32)) {
    let seeds = (0..3).map(|seed| Schedule::Adversarial { seed });
    for schedule in seeds.chain([Schedule::Deterministic]) {
        let report = launch(body, grid, block, schedule);
        assert!(report.faults.is_empty(), "{schedule:?}: {:?}", report.faults);
    }
}

/// Waits for a flag.
const SPIN: &str = "W: ld.volatile.global.u32 %r2, [%d0];\nsetp.eq.u32 %q0, %r2, 0;\n@%q0 bra W;\n";

#[test]
fn who_waits_for_what_nobody_writes_waits_for_ever() {
    ends(SPIN, (1, 32), "livelock", "poll a value that no thread writes");
    ends(SPIN, (2, 64), "livelock", "no value in memory changes");
    let nap = SPIN.replace("setp", "nanosleep.u32 100;\nsetp");
    ends(&nap, (1, 32), "livelock", "poll a value that no thread writes");
    let lock =
        "W: atom.global.cas.b32 %r2, [%d0+4], 1, 1;\nsetp.ne.u32 %q0, %r2, 7;\n@%q0 bra W;\n";
    ends(lock, (1, 32), "livelock", "poll a value that no thread writes");
}

#[test]
fn who_waits_for_ever_is_found_in_random_orders_of_lanes() {
    ends_in_random_orders(SPIN, (1, 32), "livelock");
    ends_in_random_orders(SPIN, (2, 64), "livelock");
    let one_waits = format!("setp.ne.u32 %q1, %r0, 5;\n@%q1 bra B;\n{SPIN}B: bar.sync 0;\n");
    ends_in_random_orders(&one_waits, (1, 64), "livelock");
}

#[test]
fn a_wait_for_a_phase_names_the_barrier_object_and_its_missing_arrivals() {
    let wait = |before: &str, parity: u32| {
        format!(
            ".shared .align 8 .b64 bar;\nmbarrier.init.shared.b64 [bar], 1;\n{before}\
             W: mbarrier.try_wait.parity.shared.b64 %q0, [bar], {parity};\n@!%q0 bra W;\n"
        )
    };
    let idle = "waits for 1 of 1 arrivals and 0 bytes, and warp 0 waits for the end of this phase: no thread has arrived";
    ends(&wait("", 0), (1, 1), "livelock", idle);
    // The phase of parity 0 is over; a wait for parity 1 waits for the next one.
    let arrival = "mbarrier.arrive.shared.b64 %d1, [bar];\n";
    ends(
        &wait(arrival, 1),
        (1, 1),
        "livelock",
        "in a phase of parity 1, waits for 1 of 1 arrivals",
    );
    let bytes = "mbarrier.arrive.expect_tx.shared.b64 %d1, [bar], 64;\n";
    ends(
        &wait(bytes, 0),
        (1, 1),
        "livelock",
        "waits for 0 of 1 arrivals and 64 bytes, and warp 0 waits",
    );
}

#[test]
fn who_waits_at_a_barrier_for_such_a_thread_is_named_too() {
    let body = format!("setp.ge.u32 %q1, %r0, 32;\n@%q1 bra B;\n{SPIN}B: bar.sync 0;\n");
    ends(&body, (1, 64), "livelock", "waiting at barrier 0: warp 1 of block (0, 0, 0)");
}

#[test]
fn blocks_that_find_no_room_change_nothing() {
    let body = format!(
        "setp.eq.u32 %q1, %r1, 2;\n@%q1 bra S;\n{SPIN}ret;\nS: st.volatile.global.u32 [%d0], 1;\n"
    );
    ends(&body, (3, 1), "residency", "2 blocks of this kernel are resident at once");
    ends(&body, (3, 1), "residency", "1 of 3 blocks have not started");
    goes_on(&body.replace("%r1, 2", "%r1, 1"), (2, 1));
}

#[test]
fn blocks_that_have_not_started_are_blamed_only_if_they_would_help() {
    // No thread sets the flag: blocks that have not started are not the cause.
    ends(SPIN, (3, 1), "livelock", "poll a value that no thread writes");
    // Each block counts itself and waits for all three: a barrier of the grid among more blocks than fit.
    let barrier = "atom.global.add.u32 %r2, [%d0], 1;\n\
                   W: ld.volatile.global.u32 %r2, [%d0];\nsetp.lt.u32 %q0, %r2, 3;\n@%q0 bra W;\n";
    ends(barrier, (3, 1), "residency", "warp positions: PTX");
    goes_on(&barrier.replace("%r2, 3", "%r2, 2"), (2, 1));
}

#[test]
fn a_block_order_shows_who_waits_for_lower_blocks() {
    // Block n waits until n blocks have counted themselves, as a look-back does.
    let look_back = "W: ld.volatile.global.u32 %r2, [%d0];\nsetp.lt.u32 %q0, %r2, %r1;\n@%q0 bra W;\n\
                     red.global.add.u32 [%d0], 1;\n";
    // The same by a ticket, which does not depend on the order.
    let ticket = look_back.replace("W: ld", "atom.global.add.u32 %r1, [%d0+4], 1;\nW: ld");
    let orders = [BlockOrder::Descending, BlockOrder::Random { seed: 1 }];
    for (body, is_ordered) in [(look_back, true), (ticket.as_str(), false)] {
        for order in orders {
            let report = launch_with(body, 16, 1, |config| {
                config.block_order = order;
                config.most_resident = NonZeroU32::new(1);
            });
            let kinds: Vec<&str> = report.faults.iter().map(|fault| fault.kind.word()).collect();
            let expected: &[&str] = if is_ordered { &["residency"] } else { &[] };
            assert_eq!(kinds, expected, "{order:?}: {body}");
        }
        let one = launch_with(body, 16, 1, |config| config.most_resident = NonZeroU32::new(1));
        assert!(one.faults.is_empty(), "{:?}", one.faults);
    }
}

#[test]
fn a_lane_that_spins_while_others_of_its_warp_wait_is_found() {
    let lane =
        |operation: &str| format!("setp.ne.u32 %q1, %r0, 0;\n@%q1 bra B;\n{SPIN}B: {operation}\n");
    for operation in ["bar.sync 0;", "barrier.sync 0;", "bar.warp.sync -1;"] {
        ends(&lane(operation), (1, 64), "livelock", "poll a value that no thread writes");
    }
    ends(&lane("barrier.sync 0;"), (1, 32), "livelock", "waiting at barrier 0: warp 0 of block");
    goes_on(
        &lane("bar.warp.sync -1;").replace("setp.eq.u32 %q0, %r2, 0", "setp.ne.u32 %q0, %r2, 0"),
        (1, 32),
    );
}

#[test]
fn a_limit_of_time_ends_a_launch_that_changes_values_for_ever() {
    let counts = "L: red.global.add.u32 [%d0], 1;\nbra L;\n";
    let report =
        launch_with(counts, 1, 32, |config| config.time_limit = Some(Duration::from_millis(50)));
    let [fault] = &report.faults[..] else { panic!("{:?}", report.faults) };
    assert_eq!(fault.kind.word(), "time_limit", "{fault}");
    assert!(fault.details.contains("its limit of 0.05 s; warp positions: PTX"), "{fault}");
}

#[test]
fn a_loop_that_looks_at_nothing_takes_any_number_of_steps() {
    ends("L: bra L;\n", (1, 32), "step_limit", "repeat the same steps indefinitely");
    ends("L: xor.b32 %r0, %r0, 1;\nbra L;\n", (1, 32), "step_limit", "indefinitely");
}

#[test]
fn slow_progress_is_progress() {
    // A limit of tries, a clock, and another block that takes its time.
    let tries = "mov.u32 %r3, 0;\nW: ld.volatile.global.u32 %r2, [%d0];\nadd.u32 %r3, %r3, 1;\n\
                 setp.lt.u32 %q0, %r3, 30000;\n@%q0 bra W;\n";
    goes_on(tries, (1, 1));
    let clock = "W: ld.volatile.global.u32 %r2, [%d0];\nmov.u64 %d1, %clock64;\n\
                 setp.lt.u64 %q0, %d1, 200000;\n@%q0 bra W;\n";
    goes_on(clock, (1, 1));
    let late = format!(
        "setp.eq.u32 %q1, %r1, 0;\n@%q1 bra W;\nmov.u32 %r3, 0;\n\
         C: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %q2, %r3, 300000;\n@%q2 bra C;\n\
         st.volatile.global.u32 [%d0], 1;\nret;\n{SPIN}"
    );
    goes_on(&late, (2, 1));
    // A limit in the meantime is no livelock.
    let late = late.replace("eq.u32 %q1, %r1, 0", "lt.u32 %q1, %r0, 32");
    let mut ran_last = BTreeSet::new();
    for limit in (300_000..320_000).step_by(100) {
        let report = launch_with(&late, 1, 64, |config| config.max_steps = limit);
        let [fault] = &report.faults[..] else { panic!("{:?}", report.faults) };
        assert_eq!(fault.kind.word(), "step_limit", "{fault}");
        ran_last.insert(fault.thread);
    }
    assert_eq!(ran_last.len(), 2, "{ran_last:?}");
}

#[test]
fn a_phase_that_never_completes_names_its_arrivals_and_bytes() {
    let files = super::files::texts("fault");
    let (_, text) = files.iter().find(|(name, _)| name == "bulk_copy_bytes.ptx").unwrap();
    let report = super::harness::launch(text, crate::machine::Races::Strict).report;
    let details = &report.faults[0].details;
    let outstanding = "offset 2048 of shared memory, in a phase of parity 0, waits for 0 of 1 arrivals and 16 bytes";
    assert!(details.contains(outstanding), "{details}");
}
