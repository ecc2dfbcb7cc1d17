//! The blocks of a cluster are resident together, in every order and with every limit of resident blocks.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use super::harness::{self, folder, module};
use crate::cost::{BlockSelection, BlocksRun};
use crate::machine::{
    Access, Argument, BlockOrder, DeviceShape, FaultKind, InitialContent, LaunchConfig, Machine,
    Races, Report, Schedule,
};

/// Each block counts itself in the word of its cluster, and waits until all four blocks of the cluster have done so.
const WAITS: &str = ".version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .b32 %r<8>;
.reg .b64 %d<8>;
.reg .pred %q<4>;
ld.param.u64 %d0, [p];
mov.u32 %r0, %clusterid.x;
mad.wide.u32 %d1, %r0, 4, %d0;
atom.acq_rel.gpu.global.add.u32 %r1, [%d1], 1;
AGAIN:
ld.acquire.gpu.global.u32 %r1, [%d1];
setp.lt.u32 %q0, %r1, 4;
@%q0 bra AGAIN;
ret;
}
";

fn launch(change: impl FnOnce(&mut LaunchConfig)) -> (Report, Vec<u8>) {
    let mut machine = Machine::new(DeviceShape { multiprocessors: 1, ..DeviceShape::default() });
    let zeros = InitialContent::Bytes(vec![0; 32]);
    let out = machine.buffer("p", 32, Access::ReadWrite, zeros).unwrap();
    let mut config = LaunchConfig::new([32, 1, 1], [1, 1, 1], vec![Argument::Buffer(out)]);
    config.cluster = Some([4, 1, 1]);
    config.max_steps = 1 << 24;
    change(&mut config);
    let report = machine.launch(&module(WAITS), "k", &config).unwrap();
    (report, machine.read(out))
}

#[test]
fn blocks_of_a_cluster_may_wait_for_each_other() {
    let all: Vec<u8> = [4, 0, 0, 0].repeat(8);
    let orders = [BlockOrder::Ascending, BlockOrder::Descending, BlockOrder::Random { seed: 3 }];
    for order in orders {
        for resident in [1, 3, 4, 7, 32] {
            let (report, counts) = launch(|config| {
                config.block_order = order;
                config.most_resident = NonZeroU32::new(resident);
                config.checks.races = Races::Strict;
            });
            assert_eq!((report.faults, &counts), (vec![], &all), "{order:?}, {resident}");
        }
    }
    let seeds = (0..10).map(|seed| Schedule::Adversarial { seed });
    let threads = [1, 2, 5].into_iter().filter_map(NonZeroUsize::new);
    for schedule in seeds.chain(threads.map(|threads| Schedule::Parallel { threads })) {
        let (report, counts) = launch(|config| config.schedule = schedule);
        assert_eq!((report.faults, counts), (vec![], all.clone()), "{schedule:?}");
    }
}

#[test]
fn blocks_without_a_cluster_wait_in_vain_for_blocks_that_cannot_start() {
    let (report, _) = launch(|config| {
        config.cluster = None;
        config.grid = [4, 1, 1];
        config.most_resident = NonZeroU32::new(1);
        config.max_steps = 1 << 20;
    });
    assert_eq!(report.faults.first().map(|fault| fault.kind), Some(FaultKind::Livelock));
}

/// The report of a file of `tests/ptx/fault`.
fn fault_report(name: &str) -> Report {
    let text = std::fs::read_to_string(folder("fault").join(name)).unwrap();
    harness::launch(&text, Races::Strict).report
}

#[track_caller]
fn check_message(name: &str, words: &str) {
    let report = fault_report(name);
    let details: Vec<&str> = report.faults.iter().map(|fault| &*fault.details).collect();
    assert!(details.iter().any(|details| details.contains(words)), "{name}: {details:?}");
}

#[test]
fn a_fault_names_the_blocks_that_it_concerns() {
    check_message(
        "cluster_barrier_deadlock.ptx",
        "at which threads of warp 1 of block (1, 0, 0) have not arrived",
    );
    check_message("cluster_bounds.ptx", "of shared `s`, which has 256 bytes of block (1, 0, 0)");
    check_message("cluster_before_start.ptx", "of block (1, 0, 0), which may not have started");
    check_message("cluster_after_exit.ptx", "of block (0, 0, 0), whose threads have exited");
    check_message("cluster_exit_unordered.ptx", "of block (1, 0, 0), which may have exited");
}

#[test]
fn blocks_of_a_sample_run_with_their_whole_clusters() {
    let text = std::fs::read_to_string(folder("pass").join("cluster_shared_memory.ptx")).unwrap();
    let run = |blocks: BlockSelection| {
        let mut machine = Machine::new(DeviceShape::default());
        let zeros = InitialContent::Bytes(vec![0; 4096]);
        let out = machine.buffer("y", 4096, Access::ReadWrite, zeros).unwrap();
        let mut config = LaunchConfig::new([8, 1, 1], [64, 1, 1], vec![Argument::Buffer(out)]);
        config.blocks = blocks;
        let report = machine.launch(&module(&text), "k", &config).unwrap();
        assert_eq!(report.faults, []);
        (report.blocks, machine.read(out).to_vec())
    };
    let (blocks, whole) = run(BlockSelection::All);
    assert_eq!(blocks, BlocksRun { run: 8, all: 8 });
    // Four blocks are a cluster, and each block writes 256 bytes.
    let (blocks, part) = run(BlockSelection::Range { first: 1, count: NonZeroU64::MIN });
    assert_eq!(blocks, BlocksRun { run: 4, all: 8 });
    assert_eq!((&part[..1024], &part[1024..2048]), (&[0; 1024][..], &whole[1024..2048]));
    let (blocks, sample) = run(BlockSelection::Sampled { most: NonZeroU64::MIN });
    assert_eq!((blocks, sample), (BlocksRun { run: 8, all: 8 }, whole));
}
