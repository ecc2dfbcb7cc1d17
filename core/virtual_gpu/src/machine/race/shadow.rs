//! Shadow memory: the last write and the last read of every word of 4 bytes, and a list of accesses where these are
//! not enough.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::Thread;
use super::conflict::MemoryKind;
use super::happens_before::{Reach, lanes_of};
use super::location::Location;
use super::page::{List, PAGE, Page, WordState};

/// The strength of an access in the memory model (rule 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    Weak,
    Volatile,
    Relaxed(Reach),
    /// A read-modify-write.
    Atomic(Reach),
    /// A weak access by an asynchronous copy.
    Copy,
    /// A plain store after a fence of device scope, which counts as strong for loads (rule 22).
    Flag,
    /// A weak access of a warp as a whole: `wmma.load` and `wmma.store` (rule 10).
    Collective,
    /// A weak access by a bulk copy, through the asynchronous proxy.
    Bulk,
}

impl Strength {
    const fn code(self) -> u32 {
        match self {
            Self::Weak => 0,
            Self::Copy => 1,
            Self::Collective => 2,
            Self::Volatile => 3,
            Self::Relaxed(Reach::Block) => 4,
            Self::Relaxed(Reach::Device) => 5,
            Self::Atomic(Reach::Block) => 6,
            Self::Atomic(Reach::Device) => 7,
            Self::Flag => 8,
            Self::Bulk => 9,
            Self::Relaxed(Reach::Cluster) => 10,
            Self::Atomic(Reach::Cluster) => 11,
        }
    }

    const fn from_code(code: u32) -> Self {
        match code {
            1 => Self::Copy,
            2 => Self::Collective,
            3 => Self::Volatile,
            4 => Self::Relaxed(Reach::Block),
            5 => Self::Relaxed(Reach::Device),
            6 => Self::Atomic(Reach::Block),
            7 => Self::Atomic(Reach::Device),
            8 => Self::Flag,
            9 => Self::Bulk,
            10 => Self::Relaxed(Reach::Cluster),
            11 => Self::Atomic(Reach::Cluster),
            _ => Self::Weak,
        }
    }

    /// The scope of a strong access.
    pub(super) const fn reach(self) -> Option<Reach> {
        match self {
            Self::Weak | Self::Copy | Self::Collective | Self::Bulk => None,
            Self::Volatile | Self::Flag => Some(Reach::Device),
            Self::Relaxed(reach) | Self::Atomic(reach) => Some(reach),
        }
    }

    pub(super) const fn is_atomic(self) -> bool {
        match self {
            Self::Atomic(_) => true,
            Self::Weak
            | Self::Volatile
            | Self::Relaxed(_)
            | Self::Copy
            | Self::Flag
            | Self::Collective
            | Self::Bulk => false,
        }
    }

    /// The rank of a strength: an access of lower rank hides no race of an access that it replaces.
    pub(super) const fn rank(self, memory: MemoryKind) -> u32 {
        match (self, memory) {
            (Self::Weak | Self::Copy | Self::Collective | Self::Bulk, _) => 0,
            // Rule 5 makes it weak for some accesses.
            (Self::Volatile, MemoryKind::Shared) => 1,
            (Self::Flag, _)
            | (Self::Relaxed(Reach::Block) | Self::Atomic(Reach::Block), MemoryKind::Global) => 2,
            (Self::Relaxed(Reach::Cluster) | Self::Atomic(Reach::Cluster), MemoryKind::Global) => 3,
            (Self::Volatile | Self::Relaxed(_) | Self::Atomic(_), _) => 4,
        }
    }
}

/// The number of instructions that a record can distinguish.
pub(in super::super) const MOST_INSTRUCTIONS: usize = 1 << 22;
/// All bytes of a word.
pub(super) const WORD: u32 = 0xf;

/// A packed description of an access: instruction, bytes of the word, strength, size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PackedAccess(u32);

/// The bits of the accessed bytes.
pub(super) const BYTES: u32 = WORD << 6;
/// The greatest strength without release or acquire patterns.
pub(super) const MOST_PLAIN: u32 = Strength::Collective.code() << 2;
/// The bits of the strength.
pub(super) const STRENGTH: u32 = 0x3c;

impl PackedAccess {
    #[inline]
    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    #[inline]
    pub(super) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// `wide` is the base-2 logarithm of the size of the access in words.
    pub(super) const fn new(pc: u32, bytes: u32, strength: Strength, wide: u32) -> Self {
        Self(pc << 10 | bytes << 6 | strength.code() << 2 | wide)
    }

    pub(super) const fn pc(self) -> u32 {
        self.0 >> 10
    }

    pub(super) const fn bytes(self) -> u32 {
        self.0 >> 6 & WORD
    }

    pub(super) const fn strength(self) -> Strength {
        Strength::from_code(self.0 >> 2 & 0xf)
    }

    pub(super) const fn wide(self) -> u32 {
        self.0 & 3
    }

    pub(super) const fn is_weak(self) -> bool {
        self.0 & STRENGTH == 0
    }

    /// Whether the access is weak by itself, as part of a copy, or of the whole warp: it publishes nothing and
    /// observes nothing.
    #[inline]
    pub(super) const fn is_plain(self) -> bool {
        self.0 & STRENGTH <= MOST_PLAIN
    }
}

/// One access. Time zero stands for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) thread: Thread,
    pub(super) time: u32,
    pub(super) access: PackedAccess,
}

/// The shadow of a word without its list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) write: Record,
    /// The access of the last of the lanes below.
    pub(super) read: Record,
    pub(super) read_lanes: u32,
    pub(super) flags: u32,
    /// An earlier read, if the flags say so.
    pub(super) earlier: Record,
    pub(super) earlier_lanes: u32,
}

/// The word has a list.
pub(super) const LISTED: u32 = 1;
/// Readers of two blocks are recorded, and nothing orders blocks.
pub(super) const SETTLED: u32 = 2;
/// Reads of two warps of a block since its last barrier are recorded: any write until the next one conflicts with one
/// of them, if only barriers of the whole block order its warps.
pub(super) const WARPS: u32 = 16;
/// The read observed the write.
pub(super) const SEES: u32 = 4;
/// Accesses were dropped.
pub(super) const INCOMPLETE: u32 = 8;
/// The list is a single read before the last one.
pub(super) const EARLIER: u32 = 32;
/// That read observed the write.
pub(super) const EARLIER_SEES: u32 = 64;

/// One access in the list of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) record: Record,
    /// Lanes of the record's warp with the same access.
    pub(super) lanes: u32,
    pub(super) writes: bool,
    /// A read after the last write.
    pub(super) sees: bool,
}

impl Entry {
    /// Removes the lanes for whose thread `keeps` is false; the record is then that of the first lane left.
    pub(super) fn retain_lanes(&mut self, keeps: impl Fn(Thread) -> bool) {
        let thread = self.record.thread;
        self.lanes = lanes_of(self.lanes)
            .filter(|lane| keeps(thread.with_lane(*lane)))
            .fold(0, |lanes, lane| lanes | 1 << lane);
        if self.lanes != 0 {
            self.record.thread = thread.with_lane(self.lanes.trailing_zeros());
        }
    }
}

/// The limit of recorded accesses of a word.
const MOST_OF_A_WORD: usize = 64;
/// The limit of recorded accesses in all lists.
const MOST_LISTED: usize = 1 << 22;

/// The shadow memory of one buffer, or of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<Page>>>,
    /// The number of accesses in all lists.
    listed: usize,
    /// Whether any of it was read through the read-only cache (rule 25).
    pub(super) read_non_coherently: bool,
    /// By the offset of their first byte.
    pub(super) locations: BTreeMap<usize, Location>,
}

impl Shadow {
    /// The page of a word.
    #[inline]
    pub(super) fn page(&mut self, word: usize) -> &mut Page {
        let page = word / PAGE;
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        self.pages[page].get_or_insert_default()
    }

    /// The flags of a word.
    pub(super) fn flags(&mut self, word: usize) -> u32 {
        self.page(word).cell(word % PAGE).flags
    }

    /// Takes all recorded accesses of a word, oldest first; the caller puts them back.
    pub(super) fn take(&mut self, word: usize) -> Vec<Entry> {
        let page = self.page(word);
        let cell = page.cell(word % PAGE);
        let list = page.take_list(word % PAGE);
        self.listed -= length(&list);
        let mut entries = list.map(Arc::unwrap_or_clone).unwrap_or_default();
        if cell.flags & EARLIER != 0 {
            let (record, sees) = (cell.earlier, cell.flags & EARLIER_SEES != 0);
            entries.push(Entry { record, lanes: cell.earlier_lanes, writes: false, sees });
        }
        let lanes = |record: Record| 1 << record.thread.lane();
        if cell.read.time != 0 {
            let (record, sees) = (cell.read, cell.flags & SEES != 0);
            entries.push(Entry { record, lanes: cell.read_lanes, writes: false, sees });
        }
        if cell.write.time != 0 {
            let record = cell.write;
            entries.push(Entry { record, lanes: lanes(record), writes: true, sees: false });
        }
        entries
    }

    pub(super) fn put(&mut self, word: usize, mut entries: Vec<Entry>, flags: u32) {
        let mut cell = Cell { flags, ..Cell::default() };
        if entries.len() > MOST_OF_A_WORD {
            entries.remove(0);
            cell.flags |= INCOMPLETE;
        }
        if let Some(last) = entries.iter().rposition(|entry| entry.writes) {
            cell.write = entries.remove(last).record;
        }
        if let Some(last) = entries.iter().rposition(|entry| !entry.writes) {
            let read = entries.remove(last);
            cell.read = read.record;
            cell.read_lanes = read.lanes;
            cell.flags |= if read.sees { SEES } else { 0 };
        }
        if let [Entry { record, lanes, writes: false, sees }] = entries[..] {
            (cell.earlier, cell.earlier_lanes) = (record, lanes);
            cell.flags |= if sees { EARLIER | EARLIER_SEES } else { EARLIER };
            entries.clear();
        }
        if self.listed + entries.len() > MOST_LISTED {
            entries.clear();
            cell.flags |= INCOMPLETE;
        }
        let list = (!entries.is_empty()).then(|| Arc::new(entries));
        self.listed += length(&list);
        cell.flags |= if list.is_some() { LISTED } else { 0 };
        self.page(word).set_state(word % PAGE, &WordState { cell, list });
    }

    /// The shadow of a word.
    pub(super) fn state(&mut self, word: usize) -> WordState {
        self.page(word).state(word % PAGE)
    }

    /// Replaces the shadow of a word if it is `before`; returns whether it was.
    #[inline]
    pub(super) fn replace(&mut self, word: usize, before: &WordState, after: &WordState) -> bool {
        let listed = self.listed + length(&after.list);
        let page = self.page(word);
        if listed > MOST_LISTED || page.state(word % PAGE) != *before {
            return false;
        }
        page.set_state(word % PAGE, after);
        self.listed = listed - length(&before.list);
        true
    }

    /// A weak write ends the clocks that strong ones published (rule 13).
    pub(super) fn forget_locations(&mut self, start: usize, bytes: usize) {
        // No location has more than 16 bytes.
        for (offset, location) in self.locations.range_mut(start.saturating_sub(15)..start + bytes)
        {
            if offset + location.bytes as usize > start {
                location.restart();
            }
        }
    }
}

fn length(list: &List) -> usize {
    list.as_ref().map_or(0, |list| list.len())
}
