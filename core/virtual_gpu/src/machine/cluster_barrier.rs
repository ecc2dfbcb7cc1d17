//! The barrier of a cluster: threads arrive without waiting, and wait for the phase in which they arrived. PTX ISA,
//! section "barrier.cluster".
//!
//! A phase completes when every thread of the cluster that has not exited has arrived (PTX ISA, section "exit": the exit
//! of a thread that holds up the barrier releases it).

use super::super::isa::barrier::Alignment;
use super::super::isa::cluster::ArrivalOrder;
use super::fault::{FaultKind, Finding};
use super::grid::Block;
use super::resident::ResidentCluster;
use super::run::{Launch, Worker};
use super::step::Stop;
use super::warp::{Split, SplitState};

/// The number of warps that a message names.
const MOST_NAMED: usize = 4;

/// The arrivals of the threads of a block at the barrier of its cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterArrivals {
    /// By warp; empty before the first arrival.
    warps: Vec<WarpArrivals>,
}

#[derive(Clone, Copy, Debug, Default)]
struct WarpArrivals {
    /// Lanes that have arrived in the present phase.
    arrived: u32,
    /// Lanes that have arrived, in this phase or the one before it, and have not waited since.
    owing: u32,
    /// The instruction of the first arrival in the present phase.
    pc: u32,
}

impl ClusterArrivals {
    fn warp(&mut self, index: u32) -> &mut WarpArrivals {
        let index = index as usize;
        if self.warps.len() <= index {
            self.warps.resize_with(index + 1, WarpArrivals::default);
        }
        &mut self.warps[index]
    }

    /// The lanes of a warp that have arrived in the present phase.
    fn arrived(&self, warp: u32) -> u32 {
        self.warps.get(warp as usize).map_or(0, |warp| warp.arrived)
    }

    fn has_any(&self) -> bool {
        self.warps.iter().any(|warp| warp.arrived != 0)
    }

    fn begin_phase(&mut self) {
        self.warps.iter_mut().for_each(|warp| warp.arrived = 0);
    }
}

impl Worker<'_, '_> {
    /// A split arrives at the barrier of the cluster.
    pub(super) fn arrive_at_cluster(
        &mut self,
        order: ArrivalOrder,
        alignment: Alignment,
        split: &mut Split,
    ) -> Stop {
        if !self.is_converged(alignment, split) {
            return Stop::Choose;
        }
        let (pc, mask) = (split.pc, split.mask);
        let warp = self.block.cluster_arrivals.warp(self.warp.index);
        let again = warp.owing & mask;
        let by_other = (warp.arrived != 0 && warp.pc != pc).then_some(warp.pc);
        if warp.arrived == 0 {
            warp.pc = pc;
        }
        warp.arrived |= mask;
        warp.owing |= mask;
        if again != 0 {
            let text = "a thread arrives at the cluster barrier again before it waits; execute `barrier.cluster.wait` \
                        after each `barrier.cluster.arrive`";
            self.report(
                pc,
                Finding::new(FaultKind::BarrierDivergence, again.trailing_zeros(), text),
            );
            return Stop::Launch;
        }
        if alignment == Alignment::Aligned
            && let Some(other) = by_other
        {
            let (place, _) = self.launch.program.place(self.launch.module, other);
            let text = format!(
                "other lanes of the warp arrived at the cluster barrier by the instruction at PTX {place}; \
                 `.aligned` requires that all lanes execute the same instruction"
            );
            self.report(
                pc,
                Finding::new(FaultKind::BarrierDivergence, mask.trailing_zeros(), text),
            );
            return Stop::Launch;
        }
        if let Some(counts) = self.launch.count(pc) {
            counts.barriers += 1;
        }
        self.race_arrive_at_cluster(mask, order);
        split.pc += 1;
        Stop::Choose
    }

    /// A split waits for the phase in which it arrived at the barrier of the cluster.
    pub(super) fn wait_for_cluster(&mut self, alignment: Alignment, split: &mut Split) -> Stop {
        if !self.is_converged(alignment, split) {
            return Stop::Choose;
        }
        let (pc, mask) = (split.pc, split.mask);
        let warp = self.block.cluster_arrivals.warp(self.warp.index);
        let absent = mask & !warp.owing;
        let waits = mask & warp.arrived != 0;
        warp.owing &= !mask;
        if absent != 0 {
            let text = "a thread waits at the cluster barrier and has not arrived; execute `barrier.cluster.arrive` \
                        before each `barrier.cluster.wait`";
            self.report(
                pc,
                Finding::new(FaultKind::BarrierDivergence, absent.trailing_zeros(), text),
            );
            return Stop::Launch;
        }
        split.pc += 1;
        if waits {
            split.state = SplitState::ClusterBarrier;
        } else {
            self.race_pass_cluster(mask);
        }
        Stop::Choose
    }
}

impl Block {
    /// The warps with threads that have neither exited nor arrived at the barrier of the cluster.
    fn absent_warps(&self) -> impl Iterator<Item = u32> {
        let arrivals = &self.state.cluster_arrivals;
        let absent =
            self.warps.iter().filter(|warp| warp.live & !arrivals.arrived(warp.index) != 0);
        absent.map(|warp| warp.index)
    }
}

impl Launch<'_> {
    /// Completes the phase of the barrier of a cluster if all threads have arrived; returns whether it did.
    pub(super) fn release_cluster_barrier(&mut self, cluster: &mut ResidentCluster) -> bool {
        let blocks = &mut cluster.blocks;
        let has_arrivals = blocks.iter().any(|block| block.state.cluster_arrivals.has_any());
        if !has_arrivals || blocks.iter().any(|block| block.absent_warps().next().is_some()) {
            return false;
        }
        let order = super::race::ClusterOrder::gather(
            blocks.iter_mut().filter_map(|block| block.state.races.as_deref_mut()),
        );
        for block in blocks {
            block.state.cluster_arrivals.begin_phase();
            if let Some(races) = &mut block.state.races {
                races.complete_cluster(&order);
            }
            for warp in &mut block.warps {
                let waiting = warp
                    .splits
                    .iter_mut()
                    .filter(|split| split.state == SplitState::ClusterBarrier);
                for split in waiting {
                    split.state = SplitState::Ready;
                    if let Some(races) = &mut block.state.races {
                        races.pass_cluster(warp.index, split.mask);
                    }
                }
            }
        }
        self.changes += 1;
        true
    }

    /// Reports a cluster of which no thread can continue, although some wait at its barrier.
    pub(super) fn report_cluster_deadlock(&mut self, cluster: &mut ResidentCluster) {
        let blocks = cluster.blocks.iter().enumerate();
        let waiting = blocks.flat_map(|(rank, block)| {
            let warps = block.warps.iter().enumerate();
            warps.flat_map(move |(index, warp)| {
                warp.splits.iter().map(move |split| (rank, index, split))
            })
        });
        let mut at_barrier =
            waiting.filter(|(_, _, split)| split.state == SplitState::ClusterBarrier);
        let Some((rank, index, split)) = at_barrier.next() else { return };
        let (pc, lane) = (split.pc.saturating_sub(1), split.mask.trailing_zeros());
        let absent: Vec<String> = cluster
            .blocks
            .iter()
            .flat_map(|block| {
                let [x, y, z] = block.state.index;
                block
                    .absent_warps()
                    .map(move |warp| format!("warp {warp} of block ({x}, {y}, {z})"))
            })
            .collect();
        let more = match absent.len().checked_sub(MOST_NAMED) {
            Some(more @ 1..) => format!(" and {more} more warps"),
            Some(0) | None => String::new(),
        };
        let named = absent[..absent.len().min(MOST_NAMED)].join(", ");
        let text = format!(
            "no thread of the cluster can continue: threads wait at the cluster barrier, at which threads of {named}{more} \
             have not arrived; {}",
            self.unfinished_warps(&cluster.blocks)
        );
        let finding = Finding::new(FaultKind::Deadlock, lane, text);
        self.report_for(&mut cluster.blocks[rank], index, pc, finding);
    }
}
