//! Occupancy: equal to NVIDIA's own arithmetic and to a real driver, and advice that works.

use lightbench_device::{Capability, ComputeCapability};
use proptest::prelude::*;

use super::*;

/// Made once from `cuda_occupancy.h` of CUDA 13.5 (package nvidia-cuda-runtime 13.5.37) by a C++
/// program that called `cudaOccMaxActiveBlocksPerMultiprocessor` for all eleven capabilities with
/// the device limits of NVIDIA's `arch_traits.h` and
///
/// * 0 1 16 23 24 25 32 33 40 63 64 65 80 96 127 128 129 168 200 255 registers,
/// * 1 31 32 33 64 96 128 160 192 256 288 384 512 640 768 1000 1024 threads,
/// * 0 1 1000 1024 16384 49152 bytes of static shared memory, and dynamic shared memory from
///   nothing to exactly the maximum and one byte beyond,
/// * 1, 2 and 16 barriers, and carve-outs of 0, 25, 50, 100 % and none (−1).
///
/// All 4,712,400 combinations agreed when this was written; the file keeps every 4000th, chosen
/// at random. Limiters are those whose own block limit equals the result: w(arps), r(egisters),
/// s(hared memory), b(locks), n(amed barriers); none where no block fits.
const CUDA_OCCUPANCY: &str = include_str!("cuda-occupancy.csv");

/// Answers of `cuOccupancyMaxActiveBlocksPerMultiprocessor` of driver 580.159.04 on an NVIDIA
/// H200 for kernels compiled to 23 register counts; all 10,120 agreed, the file keeps every ninth.
const DRIVER_H200: &str = include_str!("driver-h200.csv");

fn limits(compute_capability: ComputeCapability) -> SmLimits {
    Capability::from_compute_capability(compute_capability).unwrap().sm_limits().unwrap()
}

fn demand(threads: u32, registers_per_thread: u32, shared: u64) -> BlockDemand {
    BlockDemand {
        threads,
        registers_per_thread,
        static_shared: Bytes(0),
        dynamic_shared: Bytes(shared),
        barriers: 1,
        carveout: Carveout::Default,
    }
}

/// Blocks, and the limiters as the table writes them.
fn outcome(limits: &SmLimits, demand: &BlockDemand) -> (u32, String) {
    match occupancy(limits, demand) {
        Occupancy::CannotLaunch(_) => (0, String::new()),
        Occupancy::Resident(resident) => {
            let letters = resident.limiters().map(|resource| match resource {
                Resource::Warps => 'w',
                Resource::Registers => 'r',
                Resource::SharedMemory => 's',
                Resource::Blocks => 'b',
                Resource::Barriers => 'n',
            });
            (resident.blocks, letters.collect())
        }
    }
}

#[test]
fn the_vendors_header_agrees_for_every_capability() {
    let mut checked = 0;
    for line in CUDA_OCCUPANCY.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [capability, registers, threads, fixed, dynamic, barriers, carveout, blocks, limiters] =
            fields[..]
        else {
            panic!("{line}");
        };
        let (major, minor) = capability.split_once('.').unwrap();
        let limits = limits(ComputeCapability(major.parse().unwrap(), minor.parse().unwrap()));
        let demand = BlockDemand {
            threads: threads.parse().unwrap(),
            registers_per_thread: registers.parse().unwrap(),
            static_shared: Bytes(fixed.parse().unwrap()),
            dynamic_shared: Bytes(dynamic.parse().unwrap()),
            barriers: barriers.parse().unwrap(),
            carveout: carveout.parse().map_or(Carveout::Default, Carveout::Percent),
        };
        let expected = (blocks.parse().unwrap(), limiters.to_owned());
        assert_eq!(outcome(&limits, &demand), expected, "{line}");
        checked += 1;
    }
    assert!(checked > 1000);
}

#[test]
fn a_real_driver_agrees() {
    let limits = limits(ComputeCapability(9, 0));
    let mut checked = 0;
    for line in DRIVER_H200.lines().skip(1) {
        let numbers: Vec<u32> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [registers, fixed, dynamic, threads, blocks] = numbers[..] else { panic!("{line}") };
        let demand = BlockDemand {
            static_shared: Bytes(u64::from(fixed)),
            ..demand(threads, registers, u64::from(dynamic))
        };
        assert_eq!(outcome(&limits, &demand).0, blocks, "{line}");
        checked += 1;
    }
    assert!(checked > 1000);
}

#[test]
fn a_block_that_cannot_launch_says_what_was_required_and_the_limit() {
    #[track_caller]
    fn check(capability: ComputeCapability, demand: BlockDemand, expected: &[&str]) {
        match occupancy(&limits(capability), &demand) {
            Occupancy::CannotLaunch(obstacles) => {
                let found: Vec<String> = obstacles.iter().map(ToString::to_string).collect();
                assert_eq!(found, expected);
            }
            Occupancy::Resident(resident) => panic!("{resident:?}"),
        }
        assert_eq!(next_block(&limits(capability), &demand), None);
    }
    let hopper = ComputeCapability(9, 0);
    check(hopper, demand(0, 32, 0), &["a block needs at least one thread"]);
    check(hopper, demand(1025, 32, 0), &["a block of 1025 threads exceeds the limit of 1024"]);
    check(hopper, demand(32, 256, 0), &["256 registers a thread exceed the limit of 255"]);
    check(
        hopper,
        demand(1024, 65, 0),
        &[
            "the block needs 73728 registers (allocated by warp) of 65536: at most 64 a thread with \
           this block size",
        ],
    );
    // Nine warps count as twelve.
    check(
        hopper,
        demand(288, 200, 0),
        &["the block needs 76800 registers (allocated by warp) of 65536: at most 168 a thread \
           with this block size"],
    );
    check(
        hopper,
        demand(32, 32, 232_449),
        &["the block needs 232449 bytes of shared memory, the limit is 232448"],
    );
    check(
        ComputeCapability(7, 5),
        demand(2000, 300, 65_537),
        &[
            "a block of 2000 threads exceeds the limit of 1024",
            "300 registers a thread exceed the limit of 255",
            "the block needs 65537 bytes of shared memory, the limit is 65536",
        ],
    );
    check(
        hopper,
        BlockDemand { barriers: 17, ..demand(32, 32, 0) },
        &["the kernel uses 17 named barriers of 16"],
    );
    let endless =
        BlockDemand { static_shared: Bytes(u64::MAX), ..demand(u32::MAX, u32::MAX, u64::MAX) };
    assert!(
        matches!(occupancy(&limits(hopper), &endless), Occupancy::CannotLaunch(all) if all.len() == 3)
    );
}

#[test]
fn advice_names_what_to_save() {
    #[track_caller]
    fn check(capability: ComputeCapability, demand: BlockDemand, expected: &NextBlock) {
        assert_eq!(next_block(&limits(capability), &demand).as_ref(), Some(expected));
    }
    let hopper = ComputeCapability(9, 0);
    let one = |blocks, warps, saving| NextBlock::Savings { blocks, warps, savings: vec![saving] };
    check(hopper, demand(256, 72, 0), &one(4, 32, Saving::RegistersPerThread { from: 72, to: 64 }));
    check(
        hopper,
        demand(128, 32, 50_000),
        &one(5, 20, Saving::SharedMemory { from: Bytes(50_000), to: Bytes(45_568) }),
    );
    check(
        ComputeCapability(8, 6),
        demand(640, 32, 0),
        &one(3, 48, Saving::Threads { from: 640, to: 512 }),
    );
    check(hopper, demand(256, 32, 0), &NextBlock::FullOccupancy);
    check(hopper, demand(32, 16, 0), &NextBlock::BlockLimit);
    check(
        ComputeCapability(12, 0),
        BlockDemand { barriers: 16, ..demand(128, 32, 0) },
        &one(2, 8, Saving::Barriers { from: 16, to: 12 }),
    );
    // Registers and shared memory are both in the way.
    check(
        hopper,
        demand(512, 128, 200_000),
        &NextBlock::Savings {
            blocks: 2,
            warps: 32,
            savings: vec![
                Saving::RegistersPerThread { from: 128, to: 64 },
                Saving::SharedMemory { from: Bytes(200_000), to: Bytes(115_712) },
            ],
        },
    );
}

#[test]
fn advice_reads_as_an_instruction() {
    let saving = Saving::RegistersPerThread { from: 72, to: 64 };
    assert_eq!(saving.to_string(), "use at most 64 registers a thread (now 72)");
    assert_eq!(Resource::SharedMemory.to_string(), "shared memory");
}

proptest! {
    #[test]
    fn following_the_advice_gains_exactly_what_it_says(
        index in 0_usize..11,
        threads in 1_u32..=1024,
        registers in 1_u32..=255,
        shared in 0_u64..=230_000,
        barriers in 1_u32..=16,
        carveout in prop_oneof![Just(Carveout::Default), (0_u8..=100).prop_map(Carveout::Percent)],
    ) {
        let limits = Capability::all().unwrap()[index].sm_limits().unwrap();
        let mut demand = BlockDemand { barriers, carveout, ..demand(threads, registers, shared) };
        if let Some(NextBlock::Savings { blocks, warps, savings }) = next_block(&limits, &demand) {
            prop_assert!(!savings.is_empty());
            let slightly_more = |saving: &Saving, mut demand: BlockDemand| {
                match *saving {
                    Saving::Threads { to, .. } => demand.threads = to + 1,
                    Saving::RegistersPerThread { to, .. } => demand.registers_per_thread = to + 1,
                    Saving::SharedMemory { to, .. } => demand.dynamic_shared = to + Bytes(1),
                    Saving::Barriers { to, .. } => demand.barriers = to + 1,
                }
                demand
            };
            for saving in &savings {
                match *saving {
                    Saving::Threads { to, .. } => demand.threads = to,
                    Saving::RegistersPerThread { to, .. } => demand.registers_per_thread = to,
                    Saving::SharedMemory { to, .. } => demand.dynamic_shared = to,
                    Saving::Barriers { to, .. } => demand.barriers = to,
                }
            }
            let Occupancy::Resident(after) = occupancy(&limits, &demand) else {
                return Err(TestCaseError::fail("the advice makes the block impossible"));
            };
            prop_assert_eq!((after.blocks, after.warps), (blocks, warps));
            for saving in &savings {
                let blocks_with_more = match occupancy(&limits, &slightly_more(saving, demand)) {
                    Occupancy::Resident(resident) => resident.blocks,
                    Occupancy::CannotLaunch(_) => 0,
                };
                prop_assert!(blocks_with_more < blocks, "{saving} asks for too much");
            }
        }
    }
}
