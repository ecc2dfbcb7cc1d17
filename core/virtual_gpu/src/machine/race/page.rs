//! Shadow memory of neighbouring words, stored field by field, so that the words of a row are compared and replaced
//! at once.

use std::sync::Arc;

use super::clock::Thread;
use super::shadow::{Cell, EARLIER, Entry, PackedAccess, Record};

/// Words of a page.
pub(super) const PAGE: usize = 256;
/// Words of a row.
pub(super) const ROW: usize = 16;

/// One value for each word of a page, or of a row.
type Field<const N: usize> = [u32; N];

/// One access of each word, as in [`Record`].
#[derive(Clone, Debug)]
struct Accesses {
    threads: Field<PAGE>,
    times: Field<PAGE>,
    accesses: Field<PAGE>,
}

/// One read of each word by lanes of a warp.
#[derive(Clone, Debug)]
struct Reads {
    last: Accesses,
    lanes: Field<PAGE>,
}

/// The recorded accesses of a word for which its cell has no room. Words may share them.
pub(super) type List = Option<Arc<Vec<Entry>>>;

/// The shadow of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WordState {
    pub(super) cell: Cell,
    pub(super) list: List,
}

/// The shadow of 256 words.
#[derive(Clone, Debug)]
pub(super) struct Page {
    write: Accesses,
    read: Reads,
    flags: Field<PAGE>,
    /// Allocated when the first word needs it.
    earlier: Option<Box<Reads>>,
    /// Allocated when the first word needs it.
    lists: Option<Box<[List; PAGE]>>,
}

pub(super) struct RowAccesses<'p> {
    pub(super) threads: &'p mut Field<ROW>,
    pub(super) times: &'p mut Field<ROW>,
    pub(super) accesses: &'p mut Field<ROW>,
}

pub(super) struct RowReads<'p> {
    pub(super) last: RowAccesses<'p>,
    pub(super) lanes: &'p mut Field<ROW>,
}

/// Sixteen consecutive words of a page.
pub(super) struct Row<'p> {
    pub(super) write: RowAccesses<'p>,
    pub(super) read: RowReads<'p>,
    pub(super) flags: &'p mut Field<ROW>,
    pub(super) earlier: Option<RowReads<'p>>,
}

impl Default for Accesses {
    fn default() -> Self {
        Self { threads: [0; PAGE], times: [0; PAGE], accesses: [0; PAGE] }
    }
}

impl Default for Reads {
    fn default() -> Self {
        Self { last: Accesses::default(), lanes: [0; PAGE] }
    }
}

impl Default for Page {
    fn default() -> Self {
        let (write, read) = (Accesses::default(), Reads::default());
        Self { write, read, flags: [0; PAGE], earlier: None, lists: None }
    }
}

impl Accesses {
    #[inline(always)]
    fn get(&self, index: usize) -> Record {
        Record {
            thread: Thread::from_bits(self.threads[index]),
            time: self.times[index],
            access: PackedAccess::from_bits(self.accesses[index]),
        }
    }

    #[inline(always)]
    fn set(&mut self, index: usize, record: &Record) {
        self.threads[index] = record.thread.bits();
        self.times[index] = record.time;
        self.accesses[index] = record.access.bits();
    }

    #[inline(always)]
    fn row(&mut self, start: usize) -> Option<RowAccesses<'_>> {
        Some(RowAccesses {
            threads: row(&mut self.threads, start)?,
            times: row(&mut self.times, start)?,
            accesses: row(&mut self.accesses, start)?,
        })
    }
}

impl Reads {
    #[inline(always)]
    fn row(&mut self, start: usize) -> Option<RowReads<'_>> {
        Some(RowReads { last: self.last.row(start)?, lanes: row(&mut self.lanes, start)? })
    }
}

#[inline(always)]
fn row(field: &mut Field<PAGE>, start: usize) -> Option<&mut Field<ROW>> {
    field.get_mut(start..)?.first_chunk_mut()
}

impl Page {
    /// The shadow of a word.
    #[inline(always)]
    pub(super) fn state(&self, index: usize) -> WordState {
        let list = self.lists.as_ref().and_then(|lists| lists[index].clone());
        WordState { cell: self.cell(index), list }
    }

    /// Replaces the shadow of a word.
    #[inline(always)]
    pub(super) fn set_state(&mut self, index: usize, state: &WordState) {
        self.set(index, &state.cell);
        self.set_list(index, state.list.clone());
    }

    /// Takes the list of a word.
    pub(super) fn take_list(&mut self, index: usize) -> List {
        self.lists.as_mut()?[index].take()
    }

    #[inline(always)]
    pub(super) fn set_list(&mut self, index: usize, list: List) {
        if let Some(lists) = &mut self.lists {
            lists[index] = list;
        } else if list.is_some() {
            self.lists.insert(Box::new([const { None }; PAGE]))[index] = list;
        }
    }

    /// The shadow of a word without its list.
    #[inline(always)]
    pub(super) fn cell(&self, index: usize) -> Cell {
        let flags = self.flags[index];
        let (earlier, earlier_lanes) = match &self.earlier {
            Some(earlier) if flags & EARLIER != 0 => {
                (earlier.last.get(index), earlier.lanes[index])
            }
            Some(_) | None => (Record::default(), 0),
        };
        let (write, read) = (self.write.get(index), self.read.last.get(index));
        Cell { write, read, read_lanes: self.read.lanes[index], flags, earlier, earlier_lanes }
    }

    /// Replaces the shadow of a word, except its list.
    #[inline(always)]
    pub(super) fn set(&mut self, index: usize, cell: &Cell) {
        self.write.set(index, &cell.write);
        self.read.last.set(index, &cell.read);
        self.read.lanes[index] = cell.read_lanes;
        self.flags[index] = cell.flags;
        if cell.flags & EARLIER != 0 {
            let earlier = self.earlier.get_or_insert_default();
            earlier.last.set(index, &cell.earlier);
            earlier.lanes[index] = cell.earlier_lanes;
        }
    }

    /// The row that begins at a word; none if the page ends before the row.
    #[inline(always)]
    pub(super) fn row(&mut self, start: usize) -> Option<Row<'_>> {
        let earlier = match &mut self.earlier {
            Some(earlier) => Some(earlier.row(start)?),
            None => None,
        };
        Some(Row {
            write: self.write.row(start)?,
            read: self.read.row(start)?,
            flags: row(&mut self.flags, start)?,
            earlier,
        })
    }

    /// Allocates the earlier reads.
    pub(super) fn open_earlier(&mut self) {
        self.earlier.get_or_insert_default();
    }
}
