//! The memory of a multiprocessor: the load/store pipe, the channels to L2, and DRAM. Requests are served first come,
//! first served.

use super::super::super::trace::{Place, TracedAccess};
use super::super::Latencies;
use super::{Multiprocessor, to_ticks};

/// Bytes of a sector.
const SECTOR: f64 = 32.0;

/// What an access does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    Load(Place),
    Store(Place),
    Atomic(Place),
}

/// The times until which the units of memory are busy.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The load/store pipe.
    pub(super) pipe: u64,
    /// The channels from L2 and to L2.
    l2: [u64; 2],
    dram: u64,
    /// The expected number of accesses that DRAM serves.
    chance: f64,
}

impl Memory {
    /// The time at which all units are idle.
    pub(super) fn end(&self) -> u64 {
        let [from_l2, to_l2] = self.l2;
        self.pipe.max(from_l2).max(to_l2).max(self.dram)
    }

    /// The time at which the data of a bulk copy is available. It does not use the load/store pipe or L1.
    pub(super) fn served_in_bulk(
        &mut self,
        on: &Multiprocessor,
        access: TracedAccess,
        start: u64,
    ) -> u64 {
        let access = TracedAccess { near: 0, l2: access.near + access.l2, ..access };
        self.beyond_l1(on, access, start, true).max(start)
    }

    /// The time at which the data of an access is available.
    pub(super) fn served(
        &mut self,
        on: &Multiprocessor,
        request: Request,
        access: TracedAccess,
        start: u64,
    ) -> u64 {
        let latencies = &on.latencies;
        let (place, is_load) = match request {
            Request::Load(place) => (place, true),
            Request::Store(place) => (place, false),
            Request::Atomic(Place::Shared) => {
                // Lanes at one address are serialised, and the rate of lanes at different addresses is limited.
                let taken = f64::from(access.most_at_one) / latencies.shared_changes_at_one;
                let taken = taken.max(f64::from(access.lanes) / latencies.shared_changes);
                self.pipe = start + to_ticks(taken.max(1.0));
                return self.pipe + to_ticks(latencies.shared);
            }
            Request::Atomic(_) => {
                self.pipe = start + to_ticks(f64::from(access.wavefronts.max(1)));
                let least = start + to_ticks(latencies.atomic);
                return self.beyond_l1(on, access, start, true).max(least);
            }
        };
        let lines = if place == Place::Global { f64::from(access.lines) } else { 0.0 };
        let passes = f64::from(access.wavefronts.max(1)).max(lines * latencies.near_line);
        self.pipe = start + to_ticks(passes);
        match place {
            Place::Shared | Place::Constant => self.pipe + to_ticks(latencies.shared),
            Place::Local => self.pipe + to_ticks(latencies.l1),
            Place::Global => {
                let sent = self.beyond_l1(on, access, start, is_load);
                if is_load { sent.max(self.pipe + to_ticks(latencies.l1)) } else { self.pipe }
            }
        }
    }

    /// The time at which sectors that miss in L1 are available.
    fn beyond_l1(
        &mut self,
        on: &Multiprocessor,
        access: TracedAccess,
        start: u64,
        is_load: bool,
    ) -> u64 {
        let Latencies { loaded_line, stored_line, l2, dram, .. } = on.latencies;
        let sectors = f64::from(access.l2 + access.far);
        if sectors == 0.0 {
            return 0;
        }
        // Each line takes its time, for any number of its sectors.
        let line = if is_load { loaded_line } else { stored_line };
        let lines = f64::from(access.lines).min(sectors).max(sectors / 4.0);
        let taken = (sectors * SECTOR / on.l2).max(lines * line);
        let way = &mut self.l2[usize::from(!is_load)];
        *way = start.max(*way) + to_ticks(taken);
        let near = *way + to_ticks(l2);
        let far = f64::from(access.far);
        let part = on.from_memory;
        if far == 0.0 || part <= 0.0 {
            return near;
        }
        self.dram = self.dram.max(start) + to_ticks(far * part * SECTOR / on.dram);
        // One line from DRAM makes the whole access wait.
        self.chance += 1.0 - (1.0 - part).powf((far / 4.0).ceil());
        if self.chance < 1.0 {
            return near;
        }
        self.chance -= 1.0;
        near.max(self.dram + to_ticks(dram))
    }
}
