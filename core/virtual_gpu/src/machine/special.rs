//! Special registers, and queries of the state space of an address.

use super::super::isa::memory::Space;
use super::super::isa::special_register::{Axis, Single, SpecialRegister, Triple};
use super::super::lower::code::{Bank, Op};
use super::memory::{LOCAL_WINDOW, RegionKind, SHARED_WINDOW, WINDOW_BYTES};
use super::run::Worker;
use super::warp::{Frame, LANES};

/// The register bank of a special register.
fn bank(register: SpecialRegister) -> Bank {
    match register.scalar().bits() {
        1 => Bank::Predicates,
        64 => Bank::Doubles,
        _ => Bank::Words,
    }
}

pub(super) fn read(
    worker: &mut Worker<'_, '_>,
    op: &Op,
    register: SpecialRegister,
    frame: Frame,
    mask: u32,
) {
    let values: [u64; LANES] = std::array::from_fn(|lane| value(worker, register, lane as u32));
    let mut lanes = worker.lanes(frame, mask);
    match bank(register) {
        Bank::Words => lanes.set_word(op.d, &values.map(|value| value as u32), 0),
        Bank::Doubles => lanes.set_double(op.d, &values, 0),
        Bank::Predicates => {
            let bits = super::lanes::bits(|lane| values[lane] & 1 == 1);
            lanes.set_predicate(op.d, bits, 0);
        }
    }
}

fn value(worker: &Worker<'_, '_>, register: SpecialRegister, lane: u32) -> u64 {
    let pick = |triple: [u32; 3], axis: Axis| {
        u64::from(match axis {
            Axis::X => triple[0],
            Axis::Y => triple[1],
            Axis::Z => triple[2],
        })
    };
    let clusters = worker.launch.clusters;
    match register {
        SpecialRegister::Coordinate(triple, axis) => match triple {
            Triple::ThreadIndex => pick(worker.thread(lane), axis),
            Triple::BlockSize => pick(worker.launch.block, axis),
            Triple::BlockIndex => pick(worker.block.index, axis),
            Triple::ClusterIndex => pick(clusters.index(worker.block.index), axis),
            Triple::GridSize => pick(worker.launch.grid, axis),
            Triple::ClusterCount => pick(clusters.count(worker.launch.grid), axis),
            Triple::BlockInCluster => pick(clusters.place(worker.block.index), axis),
            Triple::ClusterSize => pick(clusters.size, axis),
        },
        SpecialRegister::Value(single) => one(worker, single, lane),
        SpecialRegister::Environment(index) => {
            u64::from(worker.launch.environment.get(usize::from(index)).copied().unwrap_or(0))
        }
        SpecialRegister::ReservedSharedOffset(_) | SpecialRegister::PerformanceCounter(_) => 0,
    }
}

fn one(worker: &Worker<'_, '_>, single: Single, lane: u32) -> u64 {
    let bit = 1_u32 << lane;
    // The clock advances by one per warp instruction, at one tick per nanosecond.
    let clock = worker.launch.steps;
    let multiprocessors = u64::from(worker.launch.shape.multiprocessors.max(1));
    let warps = u64::from(worker.launch.shape.warps_per_multiprocessor);
    let numbering = worker.launch.numbering % multiprocessors.max(warps);
    let clusters = worker.launch.clusters;
    match single {
        Single::Lane => u64::from(lane),
        Single::Warp => (u64::from(worker.warp.index) + numbering) % warps.max(1),
        Single::WarpCount => warps,
        Single::Multiprocessor => {
            let number = (worker.block.linear % multiprocessors + numbering) % multiprocessors;
            // Numbers need not be contiguous: PTX ISA, "Special Registers: %nsmid".
            if numbering == 0 { number } else { 2 * number + 1 }
        }
        Single::MultiprocessorCount if numbering == 0 => multiprocessors,
        Single::MultiprocessorCount => 2 * multiprocessors,
        Single::Grid => 1,
        Single::MaskEqual => u64::from(bit),
        Single::MaskLess => u64::from(bit - 1),
        Single::MaskLessEqual => u64::from(bit | (bit - 1)),
        Single::MaskGreater => u64::from(!(bit | (bit - 1))),
        Single::MaskGreaterEqual => u64::from(!(bit - 1)),
        Single::Clock | Single::GlobalTimerLow => clock & 0xffff_ffff,
        Single::ClockHigh | Single::GlobalTimerHigh => clock >> 32,
        Single::Clock64 | Single::GlobalTimer => clock,
        Single::TotalSharedSize | Single::AllSharedSize => u64::from(worker.launch.shared.bytes),
        Single::DynamicSharedSize => u64::from(worker.launch.dynamic_shared),
        Single::ReservedSharedBegin
        | Single::ReservedSharedEnd
        | Single::ReservedSharedCapacity
        | Single::ExecutionGraph => 0,
        Single::IsExplicitCluster => u64::from(clusters.is_explicit),
        Single::RankInCluster => u64::from(clusters.rank(worker.block.index)),
        Single::BlocksInCluster => u64::from(clusters.blocks()),
    }
}

/// Whether the value of a special register changes with time.
pub(super) const fn is_clock(register: SpecialRegister) -> bool {
    matches!(
        register,
        SpecialRegister::Value(
            Single::Clock
                | Single::ClockHigh
                | Single::Clock64
                | Single::GlobalTimer
                | Single::GlobalTimerLow
                | Single::GlobalTimerHigh
        )
    )
}

pub(super) fn is_in_space(
    worker: &mut Worker<'_, '_>,
    op: &Op,
    space: Space,
    frame: Frame,
    mask: u32,
) {
    let lanes = worker.lanes(frame, mask);
    let (addresses, undefined) = (lanes.double(op.a), lanes.double_undefined(op.a));
    let holds = super::lanes::bits(|lane| {
        let address = addresses[lane];
        let shared = address.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES;
        let local = address.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES;
        let region = worker.launch.memory.region_of(address);
        let kind = region.map(|(region, _)| worker.launch.memory.regions[region].kind);
        match space {
            Space::Shared | Space::SharedCluster => worker.is_shared(space, address),
            Space::Local => local,
            Space::Const => kind == Some(RegionKind::Constant),
            Space::Param => kind == Some(RegionKind::Parameters),
            Space::Global | Space::Generic => {
                !shared
                    && !local
                    && kind != Some(RegionKind::Constant)
                    && kind != Some(RegionKind::Parameters)
            }
        }
    });
    worker.lanes(frame, mask).set_predicate(op.d, holds, undefined);
}
