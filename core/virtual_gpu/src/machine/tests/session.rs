//! Stepping through real kernels: the state at each pause, and that inspection does not change the result.

use super::real::{Bench, load};
use crate::machine::{
    BufferId, LaneState, LaunchConfig, LaunchError, Machine, PausePoint, Paused, Schedule, Session,
    SessionState, ThreadId, Value,
};

fn bytes(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Numbers that are larger in the second half.
fn number(index: u32) -> u32 {
    index * 37 % 128 + index
}

fn reduce_tree() -> (Machine, LaunchConfig, BufferId) {
    let bench = Bench::new().input("x", bytes((0..512).map(number)));
    let (bench, lowest) = bench.output("lowest", 8);
    let (bench, _) = bench.output("highest", 8);
    let (bench, _) = bench.output("sum", 16);
    let bench = bench.value(512_i32.to_le_bytes());
    (bench.machine, LaunchConfig::new([2, 1, 1], [256, 1, 1], bench.arguments), lowest)
}

fn paused<'s>(session: &'s mut Session<'_>, until: &PausePoint) -> &'s Paused {
    match session.run(until).unwrap() {
        SessionState::Paused(paused) => paused,
        SessionState::Ended(_) => panic!("it ended before {until:?}"),
    }
}

const FIFTH: ThreadId = ThreadId { block: [1, 0, 0], thread: [37, 0, 0] };

#[test]
fn registers_and_memory_are_those_of_the_thread_at_that_line() {
    let (machine, config, _) = reduce_tree();
    let module = load("reduce_tree-100-f.ptx");
    let mut session = Session::new(&machine, &module, "reduce_tree", &config).unwrap();
    // Line 79 takes the smaller one of %r15 and %r16, which lines 77 and 78 load.
    let at = paused(&mut session, &PausePoint::PtxLine { line: 79, thread: Some(FIFTH) });
    assert_eq!((at.place().line, at.block(), at.warp()), (79, [1, 0, 0], 1));
    let (own, other) = (number(256 + 37), number(256 + 37 + 128));
    assert_eq!(at.register(5, "%r1"), Some(Value::Bits(37)));
    assert_eq!(at.register(5, "%r15"), Some(Value::Bits(u64::from(own))));
    assert_eq!(at.register(5, "%r16"), Some(Value::Bits(u64::from(other))));
    assert_eq!(at.register(5, "%r17"), Some(Value::NotLive), "the instruction sets it");
    assert_eq!(at.register(5, "%p1"), Some(Value::NotLive), "nothing needs it any more");
    assert_eq!(at.register(5, "%r999"), None);
    let low: Vec<Option<u8>> = at.shared()[4 * 37..][..4].to_vec();
    assert_eq!(low, own.to_le_bytes().map(Some));
    assert_eq!(at.buffer(BufferId(0))[..4], number(0).to_le_bytes());
    let next = paused(&mut session, &PausePoint::Instruction(FIFTH));
    assert_eq!(next.place().line, 80);
    assert_eq!(next.register(5, "%r17"), Some(Value::Bits(u64::from(own.min(other)))));
    assert_eq!(next.register(5, "%r16"), Some(Value::NotLive));
}

#[test]
fn lanes_of_a_divided_warp_are_where_the_branch_left_them() {
    let (machine, config, _) = reduce_tree();
    let module = load("reduce_tree-100-f.ptx");
    let mut session = Session::new(&machine, &module, "reduce_tree", &config).unwrap();
    // After `t < 16` only half of the first warp is left; the others are at the barrier behind.
    let first = ThreadId { block: [0; 3], thread: [0; 3] };
    let line = 127;
    let at = paused(&mut session, &PausePoint::PtxLine { line, thread: Some(first) });
    let lanes = at.lanes();
    assert_eq!(at.active(), 0xffff, "{}", at.place());
    assert_eq!(lanes[0].state, LaneState::Active);
    assert_ne!(lanes[16].state, LaneState::Active);
    assert!(lanes[16].place.unwrap().line > line);
}

#[test]
fn calls_of_a_recursion_are_listed_from_the_inside() {
    let bench = Bench::new();
    let (bench, _) = bench.output("f", 32 * 4);
    let (mut bench, _) = bench.output("a", 4);
    let input = crate::InitialContent::Bytes(bytes((0..50).map(number)));
    let access = crate::Access::ReadWrite;
    let x = bench.machine.buffer("x", 200, access, input).unwrap();
    bench.arguments.push(crate::Argument::Buffer(x));
    let bench = bench.value(50_i32.to_le_bytes());
    let module = load("recursion-80-G.ptx");
    let config = LaunchConfig::new([1; 3], [32, 1, 1], bench.arguments);
    let mut session = Session::new(&bench.machine, &module, "recursion", &config).unwrap();
    let thread = ThreadId { block: [0; 3], thread: [7, 0, 0] };
    let mut deepest = 0;
    for _ in 0..400 {
        let at = paused(&mut session, &PausePoint::Instruction(thread));
        let calls = at.calls(7);
        assert_eq!(calls.last().unwrap().function, "recursion");
        assert_eq!(calls[0].place, at.place());
        deepest = deepest.max(calls.len());
    }
    assert!(deepest > 3, "{deepest}");
}

#[test]
fn a_source_line_stops_where_its_first_instruction_is() {
    let bench = Bench::new().input("x", super::real::float_bytes(&[1.0; 200]));
    let (bench, _) = bench.output("y", 800);
    let bench = bench.value(100_i32.to_le_bytes());
    let module = load("softmax-100-G.ptx");
    let config = LaunchConfig::new([2, 1, 1], [64, 1, 1], bench.arguments);
    let mut session = Session::new(&bench.machine, &module, "softmax", &config).unwrap();
    let until = PausePoint::SourceLine { file: "softmax.cu".to_owned(), line: 10, thread: None };
    let at = paused(&mut session, &until);
    assert_eq!(at.source_line().map(|line| line.line), Some(10));
    let first = at.step();
    let again = paused(&mut session, &until);
    assert_eq!(again.source_line().map(|line| line.line), Some(10));
    assert!(again.step() > first, "another warp comes there");
}

/// A kernel stopped at many places, and gone back in, ends as it does without.
#[track_caller]
fn check_undisturbed(file: &str, kernel: &str, machine: &Machine, config: &LaunchConfig) {
    let module = load(file);
    let mut straight = machine.clone();
    let report = straight.launch(&module, kernel, config).unwrap();
    let mut session = Session::new(machine, &module, kernel, config).unwrap();
    let mut seen = Vec::new();
    for part in [1, 5, 2, 7, 3, 8] {
        let step = report.steps * part / 9;
        let at = paused(&mut session, &PausePoint::Step(step));
        assert_eq!(at.step(), step);
        seen.push((step, at.place(), at.block(), at.warp(), at.registers(3), at.shared()));
    }
    for (step, place, block, warp, registers, shared) in seen {
        session.restart().unwrap();
        let at = paused(&mut session, &PausePoint::Step(step));
        assert_eq!((at.place(), at.block(), at.warp()), (place, block, warp));
        assert_eq!((at.registers(3), at.shared()), (registers, shared));
    }
    let SessionState::Ended(ended) = session.run(&PausePoint::End).unwrap() else {
        panic!("it ends")
    };
    assert_eq!(ended.report, report);
    for index in 0..config.arguments.len() {
        assert_eq!(ended.machine.read(BufferId(index)), straight.read(BufferId(index)));
    }
}

#[test]
fn looking_at_a_launch_does_not_change_it() {
    let (machine, config, _) = reduce_tree();
    check_undisturbed("reduce_tree-100-f.ptx", "reduce_tree", &machine, &config);
    let bench = Bench::new().zeros("lock", 4).0.zeros("counter", 4).0;
    let config = LaunchConfig::new([3, 1, 1], [64, 1, 1], bench.arguments);
    check_undisturbed("spin_lock-80-G.ptx", "spin_lock", &bench.machine, &config);
    let bench = Bench::new().input("x", bytes(0..1000)).output("y", 4000).0.zeros("state", 32).0;
    let bench = bench.value(1000_i32.to_le_bytes());
    let config = LaunchConfig::new([4, 1, 1], [256, 1, 1], bench.arguments);
    check_undisturbed("scan_lookback-90-o.ptx", "scan_lookback", &bench.machine, &config);
}

#[test]
fn another_schedule_than_the_deterministic_one_is_refused() {
    let (machine, mut config, _) = reduce_tree();
    config.schedule = Schedule::Adversarial { seed: 1 };
    let module = load("reduce_tree-100-f.ptx");
    let refused = Session::new(&machine, &module, "reduce_tree", &config);
    assert!(matches!(refused, Err(LaunchError::Unavailable(_))));
}
