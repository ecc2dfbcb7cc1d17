//! Fast path of the race check, word by word: accesses of whole words that barriers have ordered, and reads by a
//! second warp. These need no list of accesses.

use std::ops::Range;

use super::clock::Thread;
use super::element::Role;
use super::page::PAGE;
use super::shadow::{
    Cell, EARLIER, EARLIER_SEES, INCOMPLETE, LISTED, Record, SEES, SETTLED, Shadow, WARPS, WORD,
};

/// The time of a warp's accesses, and what happens before them.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarpTime {
    pub(super) block: u32,
    /// Accesses up to this time happen before everything in the block.
    pub(super) barrier: u32,
    /// Accesses up to this time happen before everything in the warp.
    pub(super) synced: u32,
    /// Whether reads at several instructions may be merged, which loses the location of some of them.
    pub(super) merges: bool,
    /// Ordering other than barriers.
    pub(super) extra_ordering: ExtraOrdering,
}

/// Ordering of threads other than barriers of the whole block and of warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtraOrdering {
    Nothing,
    /// Synchronisation that may order some warps of a block and not others, but no blocks.
    Warps,
    /// Synchronisation that may order blocks.
    Blocks,
}

impl WarpTime {
    #[inline]
    fn is_write_ordered(&self, old: &Record, me: Thread) -> bool {
        old.time == 0
            || old.thread.block() == self.block
                && (old.time <= self.barrier
                    || old.thread.same_warp(me) && (old.time <= self.synced || old.thread == me))
    }

    #[inline]
    fn is_read_ordered(&self, cell: &Cell, me: Thread) -> bool {
        let old = &cell.read;
        old.time == 0
            || old.thread.block() == self.block
                && (old.time <= self.barrier
                    || old.thread.same_warp(me)
                        && (old.time <= self.synced || cell.read_lanes == 1 << me.lane()))
    }

    /// Whether the read before the last one happens before everything in the block, or there is none.
    #[inline]
    fn is_earlier_read_ordered(&self, cell: &Cell) -> bool {
        cell.flags & EARLIER == 0
            || cell.earlier.thread.block() == self.block && cell.earlier.time <= self.barrier
    }

    /// Records an access of all these words; returns false if one must be checked.
    #[inline]
    pub(super) fn update_words(
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
                ShadowUpdate::Redundant => return true,
                ShadowUpdate::Check => return false,
                ShadowUpdate::Replace if role.writes() => {
                    cell = Cell { write: *new, ..Cell::default() }
                }
                ShadowUpdate::Replace => cell = with_only_read(&cell, new),
                ShadowUpdate::Join => {
                    cell.read = *new;
                    cell.read_lanes |= 1 << new.thread.lane();
                }
                ShadowUpdate::AddOtherWarp => cell = with_second_read(&cell, new, WARPS),
                ShadowUpdate::AddOtherBlock => cell = with_second_read(&cell, new, 0),
                ShadowUpdate::Settle => cell.flags |= SETTLED,
            }
            page.set(word % PAGE, &cell);
            true
        })
    }

    /// Records reads of the same words by several lanes, of which `last` is the last; returns false if a word and
    /// those after it must be checked lane by lane.
    ///
    /// The result is the same as for one lane after the other.
    pub(super) fn read_together(
        &self,
        shadow: &mut Shadow,
        words: Range<usize>,
        last: &Record,
        lanes: u32,
    ) -> bool {
        // A write of one of the lanes happens before accesses of that lane only.
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
                ShadowUpdate::Redundant => continue,
                ShadowUpdate::Replace => {
                    cell = Cell { read_lanes: lanes, ..with_only_read(&cell, last) }
                }
                ShadowUpdate::Join => {
                    cell.read = *last;
                    cell.read_lanes |= lanes;
                }
                // After the first lane, the two warps stand for all.
                ShadowUpdate::AddOtherWarp if self.extra_ordering == ExtraOrdering::Nothing => {
                    cell = with_second_read(&cell, &first, WARPS);
                }
                ShadowUpdate::AddOtherWarp => {
                    cell = Cell { read_lanes: lanes, ..with_second_read(&cell, last, WARPS) };
                }
                ShadowUpdate::AddOtherBlock | ShadowUpdate::Settle | ShadowUpdate::Check => {
                    return false;
                }
            }
            page.set(word % PAGE, &cell);
        }
        true
    }

    /// A plain read of a whole word.
    #[inline]
    fn read(&self, cell: &Cell, new: &Record) -> ShadowUpdate {
        let me = new.thread;
        if self.is_covered_by_readers(cell, me) {
            return ShadowUpdate::Redundant;
        }
        if cell.flags & LISTED != 0
            || !self.is_write_ordered(&cell.write, me)
            || !cell.read.access.is_plain()
        {
            return ShadowUpdate::Check;
        }
        if cell.flags & SETTLED != 0 {
            return ShadowUpdate::Redundant;
        }
        if self.can_settle(cell) {
            return ShadowUpdate::Settle;
        }
        let old = &cell.read;
        let same = old.access == new.access || self.merges && old.access.bytes() == WORD;
        if same && cell.flags & SEES != 0 && old.time == new.time && old.thread.same_warp(me) {
            return ShadowUpdate::Join;
        }
        if self.is_read_ordered(cell, me) {
            return if self.is_earlier_read_ordered(cell) {
                ShadowUpdate::Replace
            } else {
                ShadowUpdate::Check
            };
        }
        self.unordered_read(cell, me)
    }

    /// Whether the recorded readers race with every access that a further read would race with.
    #[inline]
    fn is_covered_by_readers(&self, cell: &Cell, me: Thread) -> bool {
        self.extra_ordering == ExtraOrdering::Nothing
            && cell.flags & WARPS != 0
            && cell.read.thread.block() == self.block
            && cell.read.time > self.barrier
            && cell.write.access.is_plain()
            && self.is_write_ordered(&cell.write, me)
    }

    /// Whether readers of two blocks are recorded, of which one races with every writer.
    #[inline]
    fn can_settle(&self, cell: &Cell) -> bool {
        let whole = |read: &Record| read.access.is_weak() && read.access.bytes() == WORD;
        self.extra_ordering != ExtraOrdering::Blocks
            && cell.flags & EARLIER != 0
            && cell.earlier.thread.block() != cell.read.thread.block()
            && whole(&cell.earlier)
            && whole(&cell.read)
    }

    /// A read whose only earlier read is an unordered one of another warp.
    #[inline]
    fn unordered_read(&self, cell: &Cell, me: Thread) -> ShadowUpdate {
        let old = &cell.read;
        if cell.flags & (EARLIER | INCOMPLETE) != 0
            || !cell.write.access.is_plain()
            || !old.access.is_weak()
            || old.access.bytes() != WORD
            || old.thread.same_warp(me)
        {
            ShadowUpdate::Check
        } else if old.thread.block() != self.block {
            ShadowUpdate::AddOtherBlock
        } else {
            ShadowUpdate::AddOtherWarp
        }
    }

    /// A plain write of a whole word.
    #[inline]
    fn write(&self, cell: &Cell, new: &Record) -> ShadowUpdate {
        let fine = cell.flags & (LISTED | SETTLED) == 0
            && cell.write.access.is_plain()
            && self.is_write_ordered(&cell.write, new.thread)
            && self.is_read_ordered(cell, new.thread)
            && self.is_earlier_read_ordered(cell);
        if fine { ShadowUpdate::Replace } else { ShadowUpdate::Check }
    }
}

/// The update of a word's shadow by an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShadowUpdate {
    /// None: the recorded accesses stand for it.
    Redundant,
    /// It replaces all earlier accesses, which happen before it.
    Replace,
    /// It is merged with the last read.
    Join,
    /// It is recorded in addition to the last read, of another warp of its block.
    AddOtherWarp,
    /// It is recorded in addition to the last read, of another block.
    AddOtherBlock,
    /// The recorded accesses stand for all further ones.
    Settle,
    /// It must be checked against the list of accesses.
    Check,
}

/// A word whose earlier reads are replaced by one read.
#[inline]
const fn with_only_read(cell: &Cell, new: &Record) -> Cell {
    Cell { read: *new, read_lanes: 1 << new.thread.lane(), flags: SEES, ..*cell }
}

/// A word that has been read by this warp, and before that by another warp or block.
#[inline]
const fn with_second_read(cell: &Cell, new: &Record, stand: u32) -> Cell {
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
