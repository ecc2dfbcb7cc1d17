//! The lifetime of shared memory that other blocks access: from the start of the block (rule 34) to its exit (rule 35).
//!
//! Both are decided by the happens-before order, so that the result does not depend on the schedule: an access follows
//! the start of the block if its thread knows any event of the block, and precedes its exit if one of the threads of the
//! block knows of the access when it exits.

use std::collections::BTreeMap;

use super::super::access::Part;
use super::super::fault::{FaultKind, Finding};
use super::super::resident::ResidentCluster;
use super::super::run::{Launch, Worker};
use super::clock::{Known, Thread, learn};
use super::happens_before::lanes_of;

/// The accesses of other blocks to the shared memory of a block, and the exits of its threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Visits {
    /// The time and the instruction of the last access of each thread.
    last: BTreeMap<Thread, (u32, u32)>,
    /// Everything that happens before the exit of a thread of the block.
    exits: Known,
}

impl Worker<'_, '_> {
    /// Records an access of these lanes to the memory of another block, which the worker uses.
    pub(in super::super) fn race_visit(&mut self, part: &Part<'_>) {
        let Some(owner) = self.launch.peers.owner_block() else { return };
        let Some(races) = self.block.races.as_deref_mut() else { return };
        let (order, warp) = (&races.order, self.warp.index);
        let time = order.now(warp);
        let mut early = None;
        for lane in lanes_of(part.mask) {
            let me = Thread::new(order.block, warp * 32 + lane);
            let knows = order.known(me).as_ref().is_some_and(|known| known.knows_block(owner));
            if !knows {
                early.get_or_insert(lane);
            }
            races.visits.last.insert(me, (time, part.pc));
        }
        let Some(lane) = early else { return };
        let text = format!(
            "shared memory{}, which may not have started: nothing orders its start before the access; let all threads \
             pass a cluster barrier first",
            self.launch.peers.owner_text()
        );
        let address = Some(part.addresses[lane as usize]);
        self.report(part.pc, Finding { address, ..Finding::new(FaultKind::DataRace, lane, text) });
    }

    /// Records the exit of these lanes.
    pub(in super::super) fn race_exit(&mut self, mask: u32) {
        if let Some(races) = self.block.races.as_deref_mut()
            && races.order.clusters.is_some()
        {
            let known = races.order.snapshot_of_lanes(self.warp.index, mask);
            learn(&mut races.visits.exits, &known);
        }
    }
}

impl Launch<'_> {
    /// Reports accesses to the memory of blocks that may have exited before.
    pub(in super::super) fn check_visits(&mut self, cluster: &mut ResidentCluster) {
        for owner in 0..cluster.blocks.len() {
            let state = &mut cluster.blocks[owner].state;
            let [x, y, z] = state.index;
            let Some(races) = state.races.as_deref_mut() else { return };
            let Visits { last, exits } = std::mem::take(&mut races.visits);
            let late = last.into_iter().filter(|(thread, (time, _))| {
                !exits.as_ref().is_some_and(|exits| exits.knows(*thread, *time))
            });
            for (thread, (_, pc)) in late.collect::<Vec<_>>() {
                let by = |block: &super::super::grid::Block| {
                    block.state.linear == u64::from(thread.block())
                };
                let Some(visitor) = cluster.blocks.iter().position(by) else { continue };
                let text = format!(
                    "shared memory of block ({x}, {y}, {z}), which may have exited: nothing orders the access before the \
                     exit of its last thread; let all threads pass a cluster barrier before they exit"
                );
                let finding = Finding::new(FaultKind::OutOfBounds, thread.lane(), text);
                let warp = thread.warp() as usize;
                self.report_for(&mut cluster.blocks[visitor], warp, pc, finding);
            }
        }
    }
}
