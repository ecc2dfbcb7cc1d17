//! Launches in which nothing changes any more end long before their limit; those that make progress, however slowly, do
//! not.

use super::harness::module;
use crate::machine::{
    Access, Argument, DeviceShape, Initial, LaunchConfig, Machine, Races, Report, Schedule,
};

/// Steps that none of these launches may need.
const LIMIT: u64 = 1 << 34;
/// Steps until a launch that cannot go on is known to.
const SOON: u64 = 1 << 22;

fn launch(body: &str, grid: u32, block: u32, schedule: Schedule) -> Report {
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
    let bytes = Initial::Bytes(vec![0; 256]);
    let buffer = machine.buffer("p", 256, Access::ReadWrite, bytes).unwrap();
    let arguments = vec![Argument::Buffer(buffer)];
    let mut config = LaunchConfig::new([grid, 1, 1], [block, 1, 1], arguments);
    config.checks.races = Races::Ignored;
    (config.max_steps, config.schedule) = (LIMIT, schedule);
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
    ends(SPIN, (1, 32), "livelock", "wait for what nobody writes");
    ends(SPIN, (2, 64), "livelock", "no value changes any more");
    let nap = SPIN.replace("setp", "nanosleep.u32 100;\nsetp");
    ends(&nap, (1, 32), "livelock", "wait for what nobody writes");
    let lock =
        "W: atom.global.cas.b32 %r2, [%d0+4], 1, 1;\nsetp.ne.u32 %q0, %r2, 7;\n@%q0 bra W;\n";
    ends(lock, (1, 32), "livelock", "wait for what nobody writes");
}

#[test]
fn who_waits_at_a_barrier_for_such_a_thread_is_named_too() {
    let body = format!("setp.ge.u32 %q1, %r0, 32;\n@%q1 bra B;\n{SPIN}B: bar.sync 0;\n");
    ends(&body, (1, 64), "livelock", "at PTX 1");
}

#[test]
fn blocks_that_find_no_room_change_nothing() {
    let body = format!(
        "setp.eq.u32 %q1, %r1, 2;\n@%q1 bra S;\n{SPIN}ret;\nS: st.volatile.global.u32 [%d0], 1;\n"
    );
    ends(&body, (3, 1), "livelock", "wait for what nobody writes");
    goes_on(&body.replace("%r1, 2", "%r1, 1"), (2, 1));
}

#[test]
fn a_loop_that_looks_at_nothing_takes_any_number_of_steps() {
    ends("L: bra L;\n", (1, 32), "step_limit", "repeat the same steps for ever");
    ends("L: xor.b32 %r0, %r0, 1;\nbra L;\n", (1, 32), "step_limit", "for ever");
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
}
