//! Fast path of the race check for sixteen words at once, if all of them are in the same state. The compiler
//! vectorises the comparisons and updates.
//!
//! Conditions are masks of whole words, all ones or zero, as vector instructions compute them.

use super::clock::NUMBER_BITS;
use super::fast_words::{ExtraOrdering, WarpTime};
use super::page::{PAGE, ROW, Row, RowAccesses, RowReads};
use super::shadow::{
    BYTES, EARLIER, EARLIER_SEES, INCOMPLETE, LISTED, MOST_PLAIN, PackedAccess, SEES, SETTLED,
    STRENGTH, Shadow, WARPS,
};

type RowWords = [u32; ROW];

/// The accesses of the words of a row: lanes, time and kind.
pub(super) struct NewRow {
    pub(super) threads: RowWords,
    /// The bit of each lane.
    pub(super) lanes: RowWords,
    pub(super) time: u32,
    pub(super) what: PackedAccess,
}

#[inline(always)]
const fn mask(holds: bool) -> u32 {
    0_u32.wrapping_sub(holds as u32)
}

/// Whether a condition holds for all words.
#[inline(always)]
fn all(holds: impl Fn(usize) -> u32) -> bool {
    let mut every = u32::MAX;
    for index in 0..ROW {
        every &= holds(index);
    }
    every == u32::MAX
}

impl RowAccesses<'_> {
    #[inline(always)]
    fn set(&mut self, new: &NewRow) {
        *self.threads = new.threads;
        *self.times = [new.time; ROW];
        *self.accesses = [new.what.bits(); ROW];
    }

    #[inline(always)]
    fn copy(&mut self, from: &Self) {
        *self.threads = *from.threads;
        *self.times = *from.times;
        *self.accesses = *from.accesses;
    }
}

impl RowReads<'_> {
    #[inline(always)]
    fn set(&mut self, new: &NewRow) {
        self.last.set(new);
        *self.lanes = new.lanes;
    }

    #[inline(always)]
    fn copy(&mut self, from: &Self) {
        self.last.copy(&from.last);
        *self.lanes = *from.lanes;
    }

    #[inline(always)]
    fn clear(&mut self) {
        *self.last.threads = [0; ROW];
        *self.last.times = [0; ROW];
        *self.last.accesses = [0; ROW];
        *self.lanes = [0; ROW];
    }
}

/// The index of a warp in the launch.
#[inline(always)]
const fn warp_of(thread: u32) -> u32 {
    thread / 32
}

impl WarpTime {
    /// Records a read of sixteen words; returns false and changes nothing unless all of them are in the same, simple
    /// state.
    #[inline(always)]
    pub(super) fn read_row(&self, shadow: &mut Shadow, first: usize, new: &NewRow) -> bool {
        let page = shadow.page(first);
        let Some(mut row) = page.row(first % PAGE) else { return false };
        if self.is_row_covered_by_readers(&row, new) {
            return true;
        }
        let open = all(|index| {
            mask(row.flags[index] & LISTED == 0)
                & mask(row.read.last.accesses[index] & STRENGTH <= MOST_PLAIN)
                & self.is_row_write_ordered(&row, new, index)
        });
        if !open {
            return false;
        }
        if all(|index| mask(row.flags[index] & SETTLED != 0)) {
            return true;
        }
        if !all(|index| mask(row.flags[index] & SETTLED == 0)) {
            return false;
        }
        if self.are_reads_ordered(&row, new) {
            row.read.set(new);
            *row.flags = [SEES; ROW];
            return true;
        }
        if self.can_join(&row, new) {
            row.read.last.set(new);
            for (lanes, lane) in row.read.lanes.iter_mut().zip(new.lanes) {
                *lanes |= lane;
            }
            return true;
        }
        if !self.is_read_by_one_other_warp(&row, new) {
            return false;
        }
        page.open_earlier();
        let Some(Row { read, flags, earlier: Some(mut earlier), .. }) = page.row(first % PAGE)
        else {
            return false;
        };
        earlier.copy(&read);
        let mut read = read;
        read.set(new);
        for flags in flags {
            let seen = if *flags & SEES != 0 { EARLIER_SEES } else { 0 };
            *flags = SEES | EARLIER | WARPS | seen;
        }
        true
    }

    /// Records a write of sixteen words; returns false and changes nothing unless all of them are in the same, simple
    /// state.
    #[inline(always)]
    pub(super) fn write_row(&self, shadow: &mut Shadow, first: usize, new: &NewRow) -> bool {
        let Some(mut row) = shadow.page(first).row(first % PAGE) else { return false };
        let fine = all(|index| {
            mask(row.flags[index] & (LISTED | SETTLED) == 0)
                & mask(row.write.accesses[index] & STRENGTH <= MOST_PLAIN)
                & self.is_row_write_ordered(&row, new, index)
        });
        if !fine || !self.are_reads_ordered(&row, new) {
            return false;
        }
        row.write.set(new);
        row.read.clear();
        *row.flags = [0; ROW];
        true
    }

    /// Whether the last write of a word happens before the new access, or there is none.
    #[inline(always)]
    fn is_row_write_ordered(&self, row: &Row<'_>, new: &NewRow, index: usize) -> u32 {
        let (thread, time) = (row.write.threads[index], row.write.times[index]);
        let me = new.threads[index];
        let lane = mask(time <= self.synced) | mask(thread == me);
        let order = mask(time <= self.barrier) | mask(warp_of(thread) == warp_of(me)) & lane;
        mask(time == 0) | mask(thread >> NUMBER_BITS == self.block) & order
    }

    /// Whether all reads happen before the new access.
    #[inline(always)]
    fn are_reads_ordered(&self, row: &Row<'_>, new: &NewRow) -> bool {
        let last = all(|index| {
            let (thread, time) = (row.read.last.threads[index], row.read.last.times[index]);
            let lane = mask(time <= self.synced) | mask(row.read.lanes[index] == new.lanes[index]);
            let same_warp = mask(warp_of(thread) == warp_of(new.threads[index]));
            let order = mask(time <= self.barrier) | same_warp & lane;
            mask(time == 0) | mask(thread >> NUMBER_BITS == self.block) & order
        });
        let Some(earlier) = &row.earlier else { return last };
        last && all(|index| {
            mask(row.flags[index] & EARLIER == 0)
                | mask(earlier.last.threads[index] >> NUMBER_BITS == self.block)
                    & mask(earlier.last.times[index] <= self.barrier)
        })
    }

    /// Whether the reads can be merged with others of this warp.
    #[inline(always)]
    fn can_join(&self, row: &Row<'_>, new: &NewRow) -> bool {
        let last = &row.read.last;
        let (what, whole) = (new.what.bits(), new.what.bits() & BYTES);
        all(|index| {
            let merges = mask(self.merges) & mask(last.accesses[index] & BYTES == whole);
            (mask(last.accesses[index] == what) | merges)
                & mask(row.flags[index] & (SEES | EARLIER) == SEES)
                & mask(last.times[index] == new.time)
                & mask(warp_of(last.threads[index]) == warp_of(new.threads[index]))
        })
    }

    /// Whether two warps are recorded that stand for all further readers.
    #[inline(always)]
    fn is_row_covered_by_readers(&self, row: &Row<'_>, new: &NewRow) -> bool {
        self.extra_ordering == ExtraOrdering::Nothing
            && all(|index| mask(row.flags[index] & WARPS != 0))
            && all(|index| {
                mask(row.read.last.threads[index] >> NUMBER_BITS == self.block)
                    & mask(row.read.last.times[index] > self.barrier)
                    & mask(row.write.accesses[index] & STRENGTH <= MOST_PLAIN)
                    & self.is_row_write_ordered(row, new, index)
            })
    }

    /// Whether exactly one other warp of the block has read the words since the barrier.
    #[inline(always)]
    fn is_read_by_one_other_warp(&self, row: &Row<'_>, new: &NewRow) -> bool {
        let last = &row.read.last;
        all(|index| {
            let other = mask(last.threads[index] >> NUMBER_BITS == self.block)
                & !mask(warp_of(last.threads[index]) == warp_of(new.threads[index]));
            other
                & mask(row.flags[index] & (EARLIER | INCOMPLETE) == 0)
                & mask(row.write.accesses[index] & STRENGTH <= MOST_PLAIN)
                & mask(last.accesses[index] & (BYTES | STRENGTH) == new.what.bits() & BYTES)
                & mask(last.times[index] > self.barrier)
        })
    }
}
