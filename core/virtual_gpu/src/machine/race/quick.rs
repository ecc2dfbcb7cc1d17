//! The accesses that kernels make most, without a list: those of whole words that barriers have ordered, and reads by
//! a second warp.

use std::ops::Range;

use super::clock::Thread;
use super::element::Role;
use super::page::PAGE;
use super::shadow::{
    Cell, EARLIER, EARLIER_SEES, FORGETFUL, LISTED, Record, SEES, SETTLED, Shadow, WARPS, WORD,
};

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
    /// What else there is that orders threads.
    pub(super) beyond: Beyond,
}

/// What orders threads beyond barriers of the whole block and of warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beyond {
    /// Nothing.
    Nothing,
    /// Something that may order some warps of a block and not others, but no blocks.
    Warps,
    /// Something that may order blocks.
    Blocks,
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

    /// Whether a read before the last one is before everything in the block, or there is none.
    #[inline]
    fn earlier_passed(&self, cell: &Cell) -> bool {
        cell.flags & EARLIER == 0
            || cell.earlier.thread.block() == self.block && cell.earlier.time <= self.barrier
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
            let page = shadow.page(word);
            let mut cell = page.cell(word % PAGE);
            let seen = if role.writes() { self.write(&cell, new) } else { self.read(&cell, new) };
            match seen {
                Seen::Known => return true,
                Seen::Judge => return false,
                Seen::First if role.writes() => cell = Cell { write: *new, ..Cell::default() },
                Seen::First => cell = alone(&cell, new),
                Seen::Joins => {
                    cell.read = *new;
                    cell.read_lanes |= 1 << new.thread.lane();
                }
                Seen::OtherWarp => cell = beside(&cell, new, WARPS),
                Seen::OtherBlock => cell = beside(&cell, new, 0),
                Seen::Settles => cell.flags |= SETTLED,
            }
            page.set(word % PAGE, &cell);
            true
        })
    }

    /// Remembers reads of the same words by several lanes, of which `last` is the last; false if a word and those behind
    /// it must be looked at lane by lane.
    ///
    /// What comes of it is what comes of one lane after the other.
    pub(super) fn read_together(
        &self,
        shadow: &mut Shadow,
        words: Range<usize>,
        last: &Record,
        lanes: u32,
    ) -> bool {
        // What one of the lanes wrote is before that lane only.
        let synced = |old: &Record| {
            old.time == 0
                || old.thread.block() == self.block
                    && (old.time <= self.barrier
                        || old.thread.same_warp(last.thread) && old.time <= self.synced)
        };
        let first = Record { thread: last.thread.with_lane(lanes.trailing_zeros()), ..*last };
        for word in words {
            let page = shadow.page(word);
            let mut cell = page.cell(word % PAGE);
            if !synced(&cell.write) {
                return false;
            }
            match self.read(&cell, &first) {
                Seen::Known => continue,
                Seen::First => cell = Cell { read_lanes: lanes, ..alone(&cell, last) },
                Seen::Joins => {
                    cell.read = *last;
                    cell.read_lanes |= lanes;
                }
                // Behind the first lane, the two warps stand for all.
                Seen::OtherWarp if self.beyond == Beyond::Nothing => {
                    cell = beside(&cell, &first, WARPS);
                }
                Seen::OtherWarp => {
                    cell = Cell { read_lanes: lanes, ..beside(&cell, last, WARPS) };
                }
                Seen::OtherBlock | Seen::Settles | Seen::Judge => return false,
            }
            page.set(word % PAGE, &cell);
        }
        true
    }

    /// A plain read of a whole word.
    #[inline]
    fn read(&self, cell: &Cell, new: &Record) -> Seen {
        let me = new.thread;
        if self.others_stand_for(cell, me) {
            return Seen::Known;
        }
        if cell.flags & LISTED != 0 || !self.passed(&cell.write, me) || !cell.read.what.is_plain() {
            return Seen::Judge;
        }
        if cell.flags & SETTLED != 0 {
            return Seen::Known;
        }
        if self.settles(cell) {
            return Seen::Settles;
        }
        let old = &cell.read;
        let same = old.what == new.what || self.merges && old.what.bytes() == WORD;
        if same && cell.flags & SEES != 0 && old.time == new.time && old.thread.same_warp(me) {
            return Seen::Joins;
        }
        if self.read_passed(cell, me) {
            return if self.earlier_passed(cell) { Seen::First } else { Seen::Judge };
        }
        self.beside(cell, me)
    }

    /// Whether the readers that are known race with whatever a further read would race with.
    #[inline]
    fn others_stand_for(&self, cell: &Cell, me: Thread) -> bool {
        self.beyond == Beyond::Nothing
            && cell.flags & WARPS != 0
            && cell.read.thread.block() == self.block
            && cell.read.time > self.barrier
            && cell.write.what.is_plain()
            && self.passed(&cell.write, me)
    }

    /// Whether readers of two blocks are known, of which one races with every writer.
    #[inline]
    fn settles(&self, cell: &Cell) -> bool {
        let whole = |read: &Record| read.what.is_weak() && read.what.bytes() == WORD;
        self.beyond != Beyond::Blocks
            && cell.flags & EARLIER != 0
            && cell.earlier.thread.block() != cell.read.thread.block()
            && whole(&cell.earlier)
            && whole(&cell.read)
    }

    /// A read where the only one before it is another warp's that nothing orders with it.
    #[inline]
    fn beside(&self, cell: &Cell, me: Thread) -> Seen {
        let old = &cell.read;
        if cell.flags & (EARLIER | FORGETFUL) != 0
            || !cell.write.what.is_plain()
            || !old.what.is_weak()
            || old.what.bytes() != WORD
            || old.thread.same_warp(me)
        {
            Seen::Judge
        } else if old.thread.block() != self.block {
            Seen::OtherBlock
        } else {
            Seen::OtherWarp
        }
    }

    /// A plain write of a whole word.
    #[inline]
    fn write(&self, cell: &Cell, new: &Record) -> Seen {
        let fine = cell.flags & (LISTED | SETTLED) == 0
            && cell.write.what.is_plain()
            && self.passed(&cell.write, new.thread)
            && self.read_passed(cell, new.thread)
            && self.earlier_passed(cell);
        if fine { Seen::First } else { Seen::Judge }
    }
}

/// What an access is to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Everything about it is known.
    Known,
    /// It takes the place of all before it, which it follows.
    First,
    /// It is one with the last read.
    Joins,
    /// It stands beside the last read, of another warp of its block.
    OtherWarp,
    /// It stands beside the last read, of another block.
    OtherBlock,
    /// Those that are known stand for all further ones.
    Settles,
    /// None of these: it must be judged.
    Judge,
}

/// A word of which a read takes the place of all reads before.
#[inline]
const fn alone(cell: &Cell, new: &Record) -> Cell {
    Cell { read: *new, read_lanes: 1 << new.thread.lane(), flags: SEES, ..*cell }
}

/// A word that this warp has read, and another one or another block before it.
#[inline]
const fn beside(cell: &Cell, new: &Record, stand: u32) -> Cell {
    let seen = if cell.flags & SEES != 0 { EARLIER_SEES } else { 0 };
    Cell {
        write: cell.write,
        read: *new,
        read_lanes: 1 << new.thread.lane(),
        flags: SEES | EARLIER | seen | stand,
        earlier: cell.read,
        earlier_lanes: cell.read_lanes,
    }
}
