//! Vector clocks: for each thread, the times of other blocks, warps and threads that happen before it. A clock is
//! sparse, because most threads have no relation to a thread outside their block.

use std::sync::Arc;

/// The bits of a thread's index within its block.
pub(super) const NUMBER_BITS: u32 = 10;
/// The number of blocks that a thread identifier can distinguish.
pub(in super::super) const MOST_BLOCKS: u64 = 1 << (32 - NUMBER_BITS);

/// A thread of the launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Thread(u32);

impl Thread {
    pub(super) const fn new(block: u32, number: u32) -> Self {
        Self(block << NUMBER_BITS | number)
    }

    /// The identifier in the launch.
    #[inline]
    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    #[inline]
    pub(super) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(super) const fn block(self) -> u32 {
        self.0 >> NUMBER_BITS
    }

    /// The index within its block.
    pub(super) const fn number(self) -> u32 {
        self.0 & ((1 << NUMBER_BITS) - 1)
    }

    pub(super) const fn warp(self) -> u32 {
        self.number() / 32
    }

    pub(super) const fn lane(self) -> u32 {
        self.0 % 32
    }

    /// Another lane of the same warp.
    pub(super) const fn with_lane(self, lane: u32) -> Self {
        Self(self.0 & !31 | lane)
    }

    pub(super) const fn same_warp(self, other: Self) -> bool {
        self.0 / 32 == other.0 / 32
    }
}

/// The block, warp, thread or barrier of a clock entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl Key {
    pub(super) const fn block(block: u32) -> Self {
        Self((block as u64) << 32)
    }

    pub(super) const fn warp(thread: Thread) -> Self {
        Self((thread.block() as u64) << 32 | 1 << 16 | thread.warp() as u64)
    }

    pub(super) const fn thread(thread: Thread) -> Self {
        Self((thread.block() as u64) << 32 | 2 << 16 | thread.number() as u64)
    }

    /// A barrier object at an offset in shared memory.
    pub(super) const fn barrier_object(block: u32, offset: usize) -> Self {
        Self((block as u64) << 32 | 1 << 31 | offset as u64)
    }

    /// One of the sixteen barriers of a block.
    pub(super) const fn block_barrier(block: u32, index: u32) -> Self {
        Self((block as u64) << 32 | 3 << 16 | index as u64)
    }

    const fn of_block(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// A vector clock: all accesses of these blocks, warps and threads up to these times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<(Key, u32)>);

/// A clock that threads share until one of them extends it.
pub(super) type Known = Option<Arc<Clock>>;

impl Clock {
    pub(super) fn time(&self, key: Key) -> u32 {
        self.0.binary_search_by_key(&key, |entry| entry.0).map_or(0, |index| self.0[index].1)
    }

    /// Whether the clock contains an access of a thread at a time.
    pub(super) fn knows(&self, thread: Thread, time: u32) -> bool {
        self.time(Key::block(thread.block())) >= time
            || self.time(Key::warp(thread)) >= time
            || self.time(Key::thread(thread)) >= time
    }

    pub(super) fn raise(&mut self, key: Key, time: u32) {
        if time == 0 {
            return;
        }
        match self.0.binary_search_by_key(&key, |entry| entry.0) {
            Ok(index) => self.0[index].1 = self.0[index].1.max(time),
            Err(index) => self.0.insert(index, (key, time)),
        }
    }

    /// Removes the entries of a block, whose order is known otherwise.
    pub(super) fn forget_block(&mut self, block: u32) {
        self.0.retain(|entry| entry.0.of_block() != block);
    }

    /// Whether the clock contains anything of a block.
    pub(super) fn knows_block(&self, block: u32) -> bool {
        let first = self.0.partition_point(|entry| entry.0 < Key::block(block));
        self.0.get(first).is_some_and(|entry| entry.0.of_block() == block)
    }

    /// The number of entries.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        if other.0.len() * 8 < self.0.len() {
            return other.0.iter().all(|entry| self.time(entry.0) >= entry.1);
        }
        let mut mine = self.0.iter();
        let covers = |(key, time): &(Key, u32)| {
            mine.find(|entry| entry.0 >= *key)
                .is_some_and(|entry| entry.0 == *key && entry.1 >= *time)
        };
        other.0.len() <= self.0.len() && other.0.iter().all(covers)
    }

    pub(super) fn join(&mut self, other: &Self) {
        if other.0.len() * 8 < self.0.len() {
            for (key, time) in &other.0 {
                self.raise(*key, *time);
            }
            return;
        }
        let mut all = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            let (a, b) = (**a, **b);
            if a.0 <= b.0 {
                mine.next();
            }
            if b.0 <= a.0 {
                theirs.next();
            }
            all.push(match a.0.cmp(&b.0) {
                std::cmp::Ordering::Less => a,
                std::cmp::Ordering::Greater => b,
                std::cmp::Ordering::Equal => (a.0, a.1.max(b.1)),
            });
        }
        all.extend(mine.chain(theirs));
        self.0 = all;
    }
}

/// Joins a clock with another one; shares the other one if it is larger.
pub(super) fn learn(known: &mut Known, other: &Known) {
    let Some(other) = other else { return };
    match known {
        None => *known = Some(Arc::clone(other)),
        Some(mine) if Arc::ptr_eq(mine, other) || mine.covers(other) => {}
        Some(mine) if other.covers(mine) => *mine = Arc::clone(other),
        Some(mine) => Arc::make_mut(mine).join(other),
    }
}
