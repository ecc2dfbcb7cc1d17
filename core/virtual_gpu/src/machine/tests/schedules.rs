//! Schedules: defects that another order reveals, and results that no order may change.

use std::num::NonZeroUsize;

use super::harness::{launch_by, module, other_schedules};
use crate::machine::{
    Access, Argument, Checks, DeviceShape, FaultKind, InitialContent, LaunchConfig, LaunchError,
    Machine, Races, Report, Schedule,
};

const HEAD: &str = ".version 8.6
.target sm_100
.address_size 64
";

/// A kernel over `out`, with registers and the thread's number in `%r0` and its byte in `%d1`.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<32>;\n.reg .b64 %d<16>;\n\
         .reg .pred %p<8>;\n.shared .align 4 .b8 tile[1024];\nld.param.u64 %d0, [out];\n\
         mov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\nadd.s64 %d2, %d0, %d1;\n\
         mov.u32 %r1, tile;\nshl.b32 %r2, %r0, 2;\nadd.s32 %r2, %r1, %r2;\nmov.u32 %r3, %ctaid.x;\n\
         {body}\nret;\n}}\n"
    )
}

fn run(body: &str, grid: u32, block: u32, schedule: Schedule) -> (Report, Vec<u32>) {
    let mut machine = Machine::new(DeviceShape::default());
    let zeros = InitialContent::Bytes(vec![0; 4096]);
    let out = machine.buffer("out", 4096, Access::ReadWrite, zeros).unwrap();
    let arguments = vec![Argument::Buffer(out)];
    let mut config = LaunchConfig::new([grid, 1, 1], [block, 1, 1], arguments);
    config.schedule = schedule;
    // On a busy machine, threads of the host spin while another one waits for a processor.
    config.max_steps = 1 << 28;
    let report = machine.launch(&module(&kernel(body)), "k", &config).unwrap();
    let bytes = machine.read(out);
    (report, bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect())
}

/// Each thread stores its number, then reads that of a neighbour.
fn exchange(between: &str, distance: u32) -> String {
    format!(
        "st.volatile.shared.u32 [%r2], %r0;\n{between}\nxor.b32 %r4, %r0, {distance};\n\
         shl.b32 %r4, %r4, 2;\nadd.s32 %r4, %r1, %r4;\nld.volatile.shared.u32 %r5, [%r4];\n\
         add.s32 %r5, %r5, 1;\nst.global.u32 [%d2], %r5;"
    )
}

fn results(body: &str, block: u32) -> Vec<Vec<u32>> {
    let seeds = (0..20).map(|seed| Schedule::Adversarial { seed });
    seeds.map(|schedule| run(body, 1, block, schedule).1).collect()
}

#[test]
fn a_missing_warp_barrier_shows_under_some_seed() {
    let (body, block) = (exchange("", 1), 32);
    let (_, usual) = run(&body, 1, block, Schedule::Deterministic);
    assert!(results(&body, block).iter().any(|found| *found != usual));
}

#[test]
fn a_missing_block_barrier_shows_under_some_seed() {
    let (body, block) = (exchange("", 32), 64);
    let (_, usual) = run(&exchange("bar.sync 0;", 32), 1, block, Schedule::Deterministic);
    assert!(results(&body, block).iter().any(|found| *found != usual));
}

#[test]
fn barriers_make_every_seed_the_same() {
    for (between, distance, block) in
        [("bar.warp.sync -1;", 1, 32), ("bar.sync 0;", 32, 64), ("barrier.sync 1, 64;", 33, 64)]
    {
        let body = exchange(between, distance);
        let (_, usual) = run(&body, 1, block, Schedule::Deterministic);
        assert!(results(&body, block).iter().all(|found| *found == usual), "{between}");
    }
}

#[test]
fn a_seed_always_gives_the_same() {
    let body = exchange("", 32);
    for seed in 0..5 {
        let schedule = Schedule::Adversarial { seed };
        assert_eq!(run(&body, 3, 64, schedule), run(&body, 3, 64, schedule));
    }
}

/// Kernels whose threads wait for each other, and what `out` holds in the end.
fn waiting() -> Vec<(&'static str, String, u32, u32, Vec<u32>)> {
    // Block n waits until the word of block n - 1 is set, then sets its own to one more.
    let chain = "setp.ne.s32 %p1, %r0, 0;\n@%p1 bra done;\nmul.wide.u32 %d3, %r3, 4;\n\
         add.s64 %d3, %d0, %d3;\nmov.u32 %r6, 0;\nsetp.eq.s32 %p2, %r3, 0;\n@%p2 bra first;\n\
         again:\nld.acquire.gpu.global.u32 %r6, [%d3+-4];\nsetp.eq.s32 %p3, %r6, 0;\n@%p3 bra again;\n\
         first:\nadd.s32 %r6, %r6, 1;\nst.release.gpu.global.u32 [%d3], %r6;\ndone:\n";
    // A ticket lock: word 0 gives tickets, word 1 is the ticket whose turn it is, word 2 is guarded.
    let ticket = "atom.global.add.u32 %r6, [%d0], 1;\nagain:\nld.acquire.gpu.global.u32 %r7, [%d0+4];\n\
         setp.ne.s32 %p1, %r6, %r7;\n@%p1 bra again;\nld.volatile.global.u32 %r8, [%d0+8];\n\
         add.s32 %r8, %r8, 2;\nst.volatile.global.u32 [%d0+8], %r8;\nadd.s32 %r7, %r7, 1;\n\
         st.release.gpu.global.u32 [%d0+4], %r7;\n";
    // The second warp waits for a flag that the first one sets.
    let flag = "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra wait;\nmov.u32 %r6, 77;\n\
         st.global.u32 [%d2], %r6;\nmembar.gl;\nmov.u32 %r7, 1;\n\
         setp.ne.s32 %p2, %r0, 31;\n@%p2 bra done;\nbar.warp.sync 0x80000000;\n\
         st.volatile.global.u32 [%d0+1024], %r7;\nbra done;\nwait:\n\
         ld.volatile.global.u32 %r8, [%d0+1024];\nsetp.eq.s32 %p3, %r8, 0;\n@%p3 bra wait;\n\
         membar.gl;\nst.global.u32 [%d2], %r8;\ndone:\n";
    // Every lane takes a spin lock of its warp in divergent code.
    let spin = "again:\natom.global.cas.b32 %r6, [%d0], 0, 1;\nsetp.ne.s32 %p1, %r6, 0;\n\
         @%p1 bra again;\nmembar.gl;\nld.volatile.global.u32 %r7, [%d0+4];\nadd.s32 %r7, %r7, 3;\n\
         st.volatile.global.u32 [%d0+4], %r7;\nmembar.gl;\natom.global.exch.b32 %r8, [%d0], 0;\n";
    let mut flags = vec![77; 32];
    flags.extend([1; 32]);
    vec![
        ("look-back over 200 blocks", chain.to_owned(), 200, 32, (1..=200).collect()),
        ("ticket lock", ticket.to_owned(), 5, 64, vec![320, 320, 640]),
        ("flag between warps", flag.to_owned(), 1, 64, flags),
        ("spin lock in a warp", spin.to_owned(), 2, 40, vec![0, 240]),
    ]
}

#[test]
fn threads_that_wait_for_each_other_get_on_by_every_schedule() {
    for (name, body, grid, block, expected) in waiting() {
        for schedule in [Schedule::Deterministic].into_iter().chain(other_schedules()) {
            let (report, found) = run(&body, grid, block, schedule);
            assert!(report.faults.is_empty(), "{name} by {schedule:?}: {}", report.faults[0]);
            let found = &found[..expected.len()];
            if name == "flag between warps" {
                // Lane 31 sets the flag when it has stored; the others may still be on their way.
                assert_eq!(found[31..], expected[31..], "{name} by {schedule:?}");
            } else {
                assert_eq!(found, expected, "{name} by {schedule:?}");
            }
        }
    }
}

#[test]
fn more_blocks_than_the_device_holds_wait_for_lower_ones() {
    let (_, body, ..) = waiting().remove(0);
    let shape =
        DeviceShape { multiprocessors: 1, blocks_per_multiprocessor: 3, ..DeviceShape::default() };
    for schedule in [Schedule::Deterministic].into_iter().chain(other_schedules()) {
        let mut machine = Machine::new(shape);
        let zeros = InitialContent::Bytes(vec![0; 4096]);
        let out = machine.buffer("out", 4096, Access::ReadWrite, zeros).unwrap();
        let mut config = LaunchConfig::new([100, 1, 1], [32, 1, 1], vec![Argument::Buffer(out)]);
        config.schedule = schedule;
        let report = machine.launch(&module(&kernel(&body)), "k", &config).unwrap();
        assert!(report.faults.is_empty(), "{schedule:?}: {}", report.faults[0]);
        assert_eq!(machine.read(out)[99 * 4], 100, "{schedule:?}");
    }
}

#[test]
fn counters_and_faults_of_several_threads_are_those_of_one() {
    // Every block of 40 reads behind the buffer in its last thread, at an address of its own.
    let body = "mul.wide.u32 %d3, %r3, 4096;\nadd.s64 %d3, %d3, %d2;\nadd.s64 %d3, %d3, 4;\n\
         setp.eq.s32 %p1, %r3, 0;\n@%p1 bra done;\nld.global.u32 %r5, [%d3];\nadd.s32 %r5, %r5, 1;\n\
         st.global.u32 [%d2], %r5;\ndone:\n";
    let (one, expected) = run(body, 40, 64, Schedule::Deterministic);
    assert_eq!(one.faults.len(), 1);
    for threads in [2, 3] {
        let threads = NonZeroUsize::new(threads).unwrap();
        let (several, found) = run(body, 40, 64, Schedule::Parallel { threads });
        assert_eq!(several.faults, one.faults);
        assert_eq!(several.counters, one.counters);
        assert_eq!((several.steps, found), (one.steps, expected.clone()));
        assert_eq!(several.schedule, Schedule::Parallel { threads });
    }
}

#[test]
fn blocks_that_meet_nowhere_run_on_several_threads_and_others_in_their_order() {
    let check = |body: &str, runs_at_once: bool| {
        let threads = NonZeroUsize::new(3).unwrap();
        let (one, expected) = run(body, 40, 64, Schedule::Deterministic);
        let (several, found) = run(body, 40, 64, Schedule::Independent { threads });
        assert_eq!((several.faults, several.counters, found), (one.faults, one.counters, expected));
        assert_eq!(several.schedule_note.is_none(), runs_at_once, "{:?}", several.schedule_note);
    };
    check("setp.eq.u32 %p1, %r3, 7;\n@%p1 st.global.u32 [%d2], %r3;\n", true);
    check("bar.sync 0;\nfence.acq_rel.cta;\n", true);
    check("red.global.add.u32 [%d2], 1;\n", false);
    check("ld.volatile.global.u32 %r5, [%d2];\n", false);
    check("fence.acq_rel.gpu;\n", false);
    check("mov.u32 %r5, %clock;\n", false);
}

#[test]
fn a_fault_that_ends_the_launch_ends_it_at_its_block() {
    let body = "setp.lt.u32 %p1, %r3, 17;\n@!%p1 trap;\n";
    for threads in [2, 4] {
        let threads = NonZeroUsize::new(threads).unwrap();
        let (report, _) = run(body, 60, 32, Schedule::Parallel { threads });
        assert!(report.stopped);
        assert_eq!(report.faults.len(), 1);
        assert_eq!((report.faults[0].kind, report.faults[0].block), (FaultKind::Trap, [17, 0, 0]));
    }
}

#[test]
fn a_kernel_that_prints_runs_on_one_thread_and_the_report_says_so() {
    let text = std::fs::read_to_string(
        super::harness::folder("modules").join("print_assert_malloc-100-G.ptx"),
    )
    .unwrap();
    let mut machine = Machine::new(DeviceShape::default());
    let x =
        machine.buffer("x", 4, Access::ReadOnly, InitialContent::Bytes(vec![1, 0, 0, 0])).unwrap();
    let sum = machine.buffer("sum", 8, Access::ReadWrite, InitialContent::Uninitialised).unwrap();
    let arguments = vec![
        Argument::Buffer(x),
        Argument::Buffer(sum),
        Argument::Bytes(1_i32.to_le_bytes().to_vec()),
    ];
    let mut config = LaunchConfig::new([1; 3], [2, 1, 1], arguments);
    config.schedule = Schedule::Parallel { threads: NonZeroUsize::new(4).unwrap() };
    let report = machine.launch(&module(&text), "print_assert_malloc", &config).unwrap();
    assert_eq!(report.schedule, Schedule::Deterministic);
    assert!(report.schedule_note.is_some() && !report.printed.is_empty());
}

#[test]
fn races_are_not_looked_for_on_several_threads() {
    let mut machine = Machine::new(DeviceShape::default());
    let out = machine.buffer("out", 128, Access::ReadWrite, InitialContent::Uninitialised).unwrap();
    let mut config = LaunchConfig::new([1; 3], [32, 1, 1], vec![Argument::Buffer(out)]);
    config.schedule = Schedule::Parallel { threads: NonZeroUsize::MIN };
    config.checks = Checks { uninitialized: true, races: Races::Strict };
    let refused = machine.launch(&module(&kernel("")), "k", &config);
    assert!(matches!(refused, Err(LaunchError::Unavailable(_))), "{refused:?}");
}

#[test]
fn a_barrier_with_a_number_counts_a_last_warp_that_is_not_full_as_a_whole_one() {
    let body = exchange("bar.sync 1, 64;", 1);
    for schedule in [Schedule::Deterministic].into_iter().chain(other_schedules()) {
        let (report, _) = run(&body, 1, 48, schedule);
        assert!(report.faults.is_empty(), "{schedule:?}: {}", report.faults[0]);
    }
    let file = std::fs::read_to_string(super::harness::folder("pass").join("add.ptx")).unwrap();
    assert!(
        launch_by(&file, Schedule::Adversarial { seed: 1 }, Races::Ignored)
            .report
            .faults
            .is_empty()
    );
}
