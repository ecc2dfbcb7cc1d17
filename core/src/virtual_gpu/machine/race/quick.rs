//! The accesses that kernels make most, without a list: plain ones of whole words that barriers have ordered.

use std::ops::Range;

use super::clock::Thread;
use super::element::Role;
use super::shadow::{Cell, LISTED, Record, SEES, SETTLED, Shadow, WARPS, WORD};

/// When and by whom a warp accesses memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) block: u32,
    /// What is up to here is before everything in the block.
    pub(super) barrier: u32,
    /// What is up to here is before everything in the warp.
    pub(super) synced: u32,
    /// Whether reads at several instructions may be one, which loses where some of them were.
    pub(super) merges: bool,
    /// Whether barriers of the whole block are all that orders its warps.
    pub(super) plain: bool,
}

impl Times {
    #[inline]
    fn passed(&self, old: &Record, me: Thread) -> bool {
        old.time == 0
            || old.thread.block() == self.block
                && (old.time <= self.barrier
                    || old.thread.same_warp(me) && (old.time <= self.synced || old.thread == me))
    }

    #[inline]
    fn read_passed(&self, cell: &Cell, me: Thread) -> bool {
        let old = &cell.read;
        old.time == 0
            || old.thread.block() == self.block
                && (old.time <= self.barrier
                    || old.thread.same_warp(me)
                        && (old.time <= self.synced || cell.read_lanes == 1 << me.lane()))
    }

    /// Remembers an access of these words, all of them; false if one must be judged.
    #[inline]
    pub(super) fn all(
        &self,
        shadow: &mut Shadow,
        mut words: Range<usize>,
        new: &Record,
        role: Role,
    ) -> bool {
        words.all(|word| {
            let cell = shadow.cell(word);
            if role.writes() { self.write(cell, new) } else { self.read(cell, new) }
        })
    }

    /// Remembers a plain read of a whole word; false if it must be judged.
    #[inline]
    fn read(&self, cell: &mut Cell, new: &Record) -> bool {
        let me = new.thread;
        if self.plain && self.others_stand_for(cell, me) {
            return true;
        }
        if cell.flags & LISTED != 0 || !self.passed(&cell.write, me) || !cell.read.what.is_weak() {
            return false;
        }
        if cell.flags & SETTLED != 0 {
            return true;
        }
        if self.read_passed(cell, me) {
            cell.read = *new;
            cell.read_lanes = 1 << me.lane();
            cell.flags = SEES;
            return true;
        }
        let old = &cell.read;
        let same = old.what == new.what || self.merges && old.what.bytes() == WORD;
        if same && cell.flags & SEES != 0 && old.time == new.time && old.thread.same_warp(me) {
            cell.read = *new;
            cell.read_lanes |= 1 << me.lane();
            return true;
        }
        false
    }

    /// Whether the readers that are known race with whatever a further read would race with.
    #[inline]
    fn others_stand_for(&self, cell: &Cell, me: Thread) -> bool {
        cell.flags & WARPS != 0
            && cell.read.thread.block() == self.block
            && cell.read.time > self.barrier
            && cell.write.what.is_weak()
            && self.passed(&cell.write, me)
    }

    /// The same of a write.
    #[inline]
    fn write(&self, cell: &mut Cell, new: &Record) -> bool {
        let fine = cell.flags & (LISTED | SETTLED) == 0
            && cell.write.what.is_weak()
            && self.passed(&cell.write, new.thread)
            && self.read_passed(cell, new.thread);
        if fine {
            *cell = Cell { write: *new, ..Cell::default() };
        }
        fine
    }
}
