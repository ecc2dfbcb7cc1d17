//! The bytes of a region of global memory: words that several host threads may access concurrently, with one
//! initialisation bit per byte.
//!
//! Loads and stores are relaxed atomics, which compile to plain moves. A racing kernel reads a value that some
//! order of its accesses gives; the host program has no undefined behaviour.
//!
//! A region may be larger than the memory of the host: content that repeats is stored once, and a large region of
//! uninitialised bytes consists of pages that are created by the first access.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use bytemuck::zeroed_slice_box;

/// Bytes whose bits share a word of the mask.
pub(super) const MASKED: usize = 64;

/// The words of the mask over a non-empty range, each with the bits of the range.
#[inline]
pub(super) fn mask_words(start: usize, end: usize) -> impl Iterator<Item = (usize, u64)> {
    let (first, last) = (start / MASKED, (end - 1) / MASKED);
    (first..=last).map(move |word| {
        let low = if word == first { u64::MAX << (start % MASKED) } else { u64::MAX };
        let high =
            if word == last { u64::MAX >> (MASKED - 1 - (end - 1) % MASKED) } else { u64::MAX };
        (word, low & high)
    })
}

/// Uninitialised regions from this size on consist of pages.
const PAGED_BYTES: usize = 1 << 30;
const PAGE_BYTES: usize = 64 << 10;
const PAGE_WORDS: usize = PAGE_BYTES / 4;
const PAGE_MASKS: usize = PAGE_BYTES / MASKED;

/// Words stored after a part that repeats: the longest row that is loaded from one of its words.
const LONGEST_ROW: usize = 32;

/// Bytes with their initialisation. Clones share them.
///
/// Accesses of 1, 2, 4 or 8 bytes are aligned to their size and end within the bytes: the caller has checked.
#[derive(Clone, Debug)]
pub(super) struct RegionBytes {
    /// None if the region has pages.
    words: Arc<Box<[AtomicU32]>>,
    /// The bits of an index that select a word: all of them, or those of the part that repeats. Then the words are only
    /// read.
    index_mask: usize,
    /// One bit per initialised byte; `None` if all bytes are initialised, no words if the region has pages.
    initialised: Option<Arc<Box<[AtomicU64]>>>,
    pages: Arc<Box<[OnceLock<Box<Page>>]>>,
    bytes: usize,
}

/// A part of a large region.
#[derive(Debug)]
struct Page {
    words: Box<[AtomicU32]>,
    initialised: Box<[AtomicU64]>,
}

impl Page {
    fn new() -> Self {
        Self { words: zeroed_slice_box(PAGE_WORDS), initialised: zeroed_slice_box(PAGE_MASKS) }
    }
}

impl RegionBytes {
    /// Initialised bytes.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let (whole, rest) = bytes.as_chunks::<4>();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&last);
        // Gigabytes are copied here: whole words, without a check of the length of each.
        let words = whole.iter().chain(last).map(|word| AtomicU32::new(u32::from_le_bytes(*word)));
        Self::whole(words.collect(), bytes.len())
    }

    fn whole(words: Box<[AtomicU32]>, bytes: usize) -> Self {
        Self {
            words: Arc::new(words),
            index_mask: usize::MAX,
            initialised: None,
            pages: Arc::default(),
            bytes,
        }
    }

    /// Initialised bytes that repeat whole words, and that are only read. The number of words is a power of two.
    pub(super) fn repeated(part: &[u8], bytes: usize) -> Self {
        let (part, _) = part.as_chunks::<4>();
        debug_assert!(part.len().is_power_of_two());
        let words = part.iter().cycle().take(part.len() + LONGEST_ROW);
        let words = words.map(|word| AtomicU32::new(u32::from_le_bytes(*word)));
        Self { index_mask: part.len() - 1, ..Self::whole(words.collect(), bytes) }
    }

    /// Uninitialised bytes, which are zero. Pages that are never accessed take no memory.
    pub(super) fn uninitialised(bytes: usize) -> Self {
        if bytes >= PAGED_BYTES {
            let pages = (0..bytes.div_ceil(PAGE_BYTES)).map(|_| OnceLock::new()).collect();
            let none = Self::whole(Box::default(), bytes);
            return Self { initialised: Some(Arc::default()), pages: Arc::new(pages), ..none };
        }
        let written = Arc::new(zeroed_slice_box(bytes.div_ceil(MASKED)));
        let words = zeroed_slice_box(bytes.div_ceil(4));
        Self { initialised: Some(written), ..Self::whole(words, bytes) }
    }

    /// The word at an index.
    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU32 {
        match self.words.get(index & self.index_mask) {
            Some(word) => word,
            None => self.paged_word(index),
        }
    }

    #[cold]
    fn paged_word(&self, index: usize) -> &AtomicU32 {
        &self.page(index / PAGE_WORDS).words[index % PAGE_WORDS]
    }

    /// A word of the mask, which `written` is.
    #[inline(always)]
    fn mask<'a>(&'a self, written: &'a [AtomicU64], word: usize) -> &'a AtomicU64 {
        match written.get(word) {
            Some(bits) => bits,
            None => self.paged_mask(word),
        }
    }

    #[cold]
    fn paged_mask(&self, word: usize) -> &AtomicU64 {
        &self.page(word / PAGE_MASKS).initialised[word % PAGE_MASKS]
    }

    fn page(&self, index: usize) -> &Page {
        self.pages[index].get_or_init(|| Box::new(Page::new()))
    }

    /// A copy that is not shared.
    pub(super) fn copy(&self) -> Self {
        let words = |words: &[AtomicU32]| {
            words.iter().map(|word| AtomicU32::new(word.load(Relaxed))).collect()
        };
        let masks = |masks: &[AtomicU64]| {
            masks.iter().map(|bits| AtomicU64::new(bits.load(Relaxed))).collect()
        };
        let page = |page: &OnceLock<Box<Page>>| match page.get() {
            None => OnceLock::new(),
            Some(page) => OnceLock::from(Box::new(Page {
                words: words(&page.words),
                initialised: masks(&page.initialised),
            })),
        };
        Self {
            words: Arc::new(words(&self.words)),
            index_mask: self.index_mask,
            initialised: self.initialised.as_ref().map(|written| Arc::new(masks(written))),
            pages: Arc::new(self.pages.iter().map(page).collect()),
            bytes: self.bytes,
        }
    }

    /// The number of bytes.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.bytes
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        let words = (0..self.bytes.div_ceil(4)).map(|index| self.load_word(index));
        let mut bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        bytes.truncate(self.bytes);
        bytes
    }

    /// Up to eight bytes, zero-extended.
    #[inline]
    pub(super) fn read(&self, offset: usize, bytes: usize) -> u64 {
        let word = u64::from(self.load_word(offset / 4));
        match bytes {
            4 => word,
            8 => word | u64::from(self.load_word(offset / 4 + 1)) << 32,
            _ => word >> (8 * (offset % 4)) & ((1 << (8 * bytes)) - 1),
        }
    }

    /// Writes up to eight bytes; their initialisation does not change.
    #[inline]
    pub(super) fn write(&self, offset: usize, bytes: usize, value: u64) {
        let word = self.word(offset / 4);
        match bytes {
            4 => word.store(value as u32, Relaxed),
            8 => {
                word.store(value as u32, Relaxed);
                self.store_word(offset / 4 + 1, (value >> 32) as u32);
            }
            _ => {
                let shift = 8 * (offset % 4);
                let mask = ((1_u32 << (8 * bytes)) - 1) << shift;
                let new = (value as u32) << shift & mask;
                // Another host thread may access the other bytes of the word.
                let _old = word.fetch_update(Relaxed, Relaxed, |old| Some(old & !mask | new));
            }
        }
    }

    /// The word at an index.
    #[inline(always)]
    pub(super) fn load_word(&self, index: usize) -> u32 {
        self.word(index).load(Relaxed)
    }

    /// Consecutive words.
    #[inline(always)]
    pub(super) fn load_row<const N: usize>(&self, start: usize) -> [u32; N] {
        const { assert!(N <= LONGEST_ROW, "a row that exceeds the words after a repeated part") };
        let first = start & self.index_mask;
        let mut row = [0; N];
        match self.words.get(first..first.wrapping_add(N)) {
            Some(words) => {
                for (value, word) in row.iter_mut().zip(words) {
                    *value = word.load(Relaxed);
                }
            }
            None => row = std::array::from_fn(|index| self.load_word(start + index)),
        }
        row
    }

    /// Replaces the word at an index; its initialisation does not change.
    #[inline(always)]
    pub(super) fn store_word(&self, index: usize, value: u32) {
        self.word(index).store(value, Relaxed);
    }

    /// Replaces consecutive words; their initialisation does not change.
    #[inline(always)]
    pub(super) fn store_row(&self, start: usize, values: &[u32]) {
        match self.words.get(start..start + values.len()) {
            Some(words) => {
                for (word, value) in words.iter().zip(values) {
                    word.store(*value, Relaxed);
                }
            }
            None => {
                for (index, value) in values.iter().enumerate() {
                    self.store_word(start + index, *value);
                }
            }
        }
    }

    /// Updates up to four bytes atomically; returns the old ones.
    pub(super) fn update(&self, offset: usize, bytes: usize, f: impl Fn(u32) -> u32) -> u32 {
        let shift = 8 * (offset % 4);
        let mask = u32::MAX >> (32 - 8 * bytes.min(4)) << shift;
        let change = |old: u32| old & !mask | f((old & mask) >> shift) << shift & mask;
        let old = self.word(offset / 4).fetch_update(Relaxed, Relaxed, |old| Some(change(old)));
        let (Ok(old) | Err(old)) = old;
        (old & mask) >> shift
    }

    /// The initialisation bits of up to sixteen bytes, the first byte in the lowest bit.
    #[inline]
    pub(super) fn init_bits(&self, offset: usize, bytes: usize) -> u32 {
        let all = u32::MAX >> (32 - bytes);
        let Some(written) = &self.initialised else { return all };
        (self.mask(written, offset / MASKED).load(Relaxed) >> (offset % MASKED)) as u32 & all
    }

    /// Whether any of up to sixteen bytes is initialised: the other bytes of a value may be padding.
    #[inline]
    pub(super) fn is_any_initialised(&self, offset: usize, bytes: usize) -> bool {
        self.init_bits(offset, bytes) != 0
    }

    /// Marks up to sixteen bytes as initialised.
    #[inline]
    pub(super) fn mark_initialised(&self, offset: usize, bytes: usize) {
        let Some(written) = &self.initialised else { return };
        let bits = u64::from(u32::MAX >> (32 - bytes)) << (offset % MASKED);
        let word = self.mask(written, offset / MASKED);
        // Most writes are not the first.
        if word.load(Relaxed) & bits != bits {
            word.fetch_or(bits, Relaxed);
        }
    }

    /// Whether all bytes of a range are initialised.
    #[inline]
    pub(super) fn is_range_initialised(&self, start: usize, end: usize) -> bool {
        let Some(written) = &self.initialised else { return true };
        for (word, bits) in mask_words(start, end) {
            if self.mask(written, word).load(Relaxed) & bits != bits {
                return false;
            }
        }
        true
    }

    /// Marks a range of bytes as initialised.
    #[inline]
    pub(super) fn mark_range_initialised(&self, start: usize, end: usize) {
        let Some(written) = &self.initialised else { return };
        for (word, bits) in mask_words(start, end) {
            // Most writes are not the first.
            let word = self.mask(written, word);
            if word.load(Relaxed) & bits != bits {
                word.fetch_or(bits, Relaxed);
            }
        }
    }

    /// Marks up to sixteen bytes as uninitialised, after a store of an uninitialised value.
    pub(super) fn mark_uninitialised(&self, offset: usize, bytes: usize) {
        let Some(written) = &self.initialised else { return };
        let bits = u64::from(u32::MAX >> (32 - bytes)) << (offset % MASKED);
        self.mask(written, offset / MASKED).fetch_and(!bits, Relaxed);
    }

    /// Replaces the first bytes and marks them as initialised.
    pub(super) fn fill_front(&self, bytes: &[u8]) {
        for (offset, byte) in bytes.iter().take(self.bytes).enumerate() {
            self.write(offset, 1, u64::from(*byte));
            self.mark_initialised(offset, 1);
        }
    }

    /// Calls `visit` with every initialised part of a range, ascending; pages that were never accessed and words of the
    /// mask without initialised bytes are skipped.
    pub(super) fn for_each_initialised(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(Range<usize>),
    ) {
        if range.is_empty() {
            return;
        }
        let Some(written) = &self.initialised else { return visit(range) };
        if self.pages.is_empty() {
            return for_each_bit_run(written, range, 0, &mut visit);
        }
        let pages = self.pages.iter().enumerate();
        for (index, page) in pages.filter_map(|(index, page)| Some((index, page.get()?))) {
            let first = index * PAGE_BYTES;
            let inside = range.start.max(first)..range.end.min(first + PAGE_BYTES);
            if !inside.is_empty() {
                for_each_bit_run(&page.initialised, inside, first, &mut visit);
            }
        }
    }
}

/// Calls `visit` with every part of a range whose bits are set; the first bit is that of byte `first`.
fn for_each_bit_run(
    written: &[AtomicU64],
    range: Range<usize>,
    first: usize,
    visit: &mut impl FnMut(Range<usize>),
) {
    for (word, wanted) in mask_words(range.start - first, range.end - first) {
        let mut bits = written[word].load(Relaxed) & wanted;
        let at = first + word * MASKED;
        while bits != 0 {
            let start = bits.trailing_zeros() as usize;
            let length = (bits >> start).trailing_ones() as usize;
            visit(at + start..at + start + length);
            // `checked_shl` returns none for 64: a part to the end of the word leaves nothing.
            bits = u64::MAX.checked_shl((start + length) as u32).map_or(0, |rest| bits & rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RegionBytes;

    #[test]
    fn narrow_writes_leave_their_neighbours() {
        let content = RegionBytes::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        content.write(1, 1, 0xff);
        content.write(6, 2, 0xabcd);
        assert_eq!(content.to_vec(), [1, 0xff, 3, 4, 5, 6, 0xcd, 0xab, 9]);
        assert_eq!(content.read(0, 8), 0xabcd_0605_0403_ff01);
        assert_eq!(content.update(2, 2, |old| old + 1), 0x0403);
        assert_eq!(content.read(2, 2), 0x0404);
        assert_eq!(content.len(), 9);
    }

    #[test]
    fn initialised_ranges_are_visited() {
        let content = RegionBytes::uninitialised(200);
        for (offset, bytes) in [(0, 4), (60, 4), (64, 8), (100, 1), (192, 8)] {
            content.mark_initialised(offset, bytes);
        }
        let check = |range: std::ops::Range<usize>, expected: &[std::ops::Range<usize>]| {
            let mut seen = Vec::new();
            content.for_each_initialised(range, |part| seen.push(part));
            assert_eq!(seen, expected);
        };
        check(0..200, &[0..4, 60..64, 64..72, 100..101, 192..200]);
        check(2..66, &[2..4, 60..64, 64..66]);
        check(5..5, &[]);
    }

    #[test]
    fn a_large_region_takes_the_memory_of_what_is_accessed() {
        const BYTES: usize = 1 << 45;
        let content = RegionBytes::uninitialised(1 << 36);
        let check = |content: &RegionBytes, expected: &[std::ops::Range<usize>]| {
            let mut seen = Vec::new();
            content.for_each_initialised(0..content.len(), |part| seen.push(part));
            assert_eq!(seen, expected);
        };
        check(&content, &[]);
        let end = content.len();
        content.write(end - 8, 8, 0x0102_0304_0506_0708);
        content.mark_initialised(end - 4, 4);
        content.mark_range_initialised(65_530, 65_540);
        check(&content, &[65_530..65_536, 65_536..65_540, end - 4..end]);
        check(&content.copy(), &[65_530..65_536, 65_536..65_540, end - 4..end]);
        assert!(content.is_range_initialised(65_530, 65_540));
        assert!(!content.is_range_initialised(end - 8, end));
        content.mark_uninitialised(65_530, 6);
        check(&content, &[65_536..65_540, end - 4..end]);
        // A row across two pages.
        let values: [u32; 16] = std::array::from_fn(|index| index as u32);
        content.store_row((1 << 30) - 8, &values);
        assert_eq!(content.load_row::<16>((1 << 30) - 8), values);
        assert_eq!(content.copy().read(end - 8, 8), 0x0102_0304_0506_0708);
        let part: Vec<u8> = (0..=255).collect();
        let content = RegionBytes::repeated(&part, BYTES + 6);
        for offset in [0, 248, 256, 1 << 34, BYTES - 8] {
            let at = |index: usize| u64::from(part[(offset + index) % 256]);
            let expected = (0..8).fold(0, |value, index| value | at(index) << (8 * index));
            assert_eq!(content.read(offset, 8), expected, "{offset}");
        }
        assert_eq!(content.read(BYTES + 5, 1), 5);
        let words: Vec<u32> =
            (0..32).map(|index| content.load_word((1 << 32) + 60 + index)).collect();
        assert_eq!(content.load_row::<32>((1 << 32) + 60).as_slice(), words);
        let short = RegionBytes::repeated(&part, 259);
        assert_eq!(short.to_vec(), [&part[..], &[0, 1, 2]].concat());
    }

    #[test]
    fn every_byte_is_remembered() {
        let content = RegionBytes::uninitialised(130);
        assert!(!content.is_range_initialised(0, 1));
        content.fill_front(&[7; 67]);
        assert!(content.is_range_initialised(0, 67) && !content.is_range_initialised(0, 68));
        assert_eq!(content.init_bits(64, 8), 0b0000_0111);
        content.mark_uninitialised(65, 1);
        assert_eq!(content.init_bits(64, 4), 0b0101);
        assert!(content.is_any_initialised(66, 2) && !content.is_any_initialised(68, 4));
        for offset in 65..130 {
            content.mark_initialised(offset, 1);
        }
        assert!(content.is_range_initialised(0, content.len()));
    }

    #[test]
    fn ranges_are_all_or_not() {
        let content = RegionBytes::uninitialised(300);
        content.mark_range_initialised(3, 200);
        assert!(content.is_range_initialised(3, 200) && content.is_range_initialised(64, 128));
        assert!(!content.is_range_initialised(2, 64) && !content.is_range_initialised(100, 201));
        assert_eq!(content.init_bits(0, 4), 0b1000);
        content.mark_range_initialised(0, 300);
        assert!(content.is_range_initialised(0, content.len()));
    }

    #[test]
    fn copies_are_apart_and_clones_are_not() {
        let content = RegionBytes::uninitialised(16);
        let (copy, clone) = (content.copy(), content.clone());
        content.write(8, 8, 5 << 50);
        content.mark_initialised(0, 16);
        assert_eq!((copy.read(8, 8), clone.read(8, 8)), (0, 5 << 50));
        assert!(!copy.is_any_initialised(0, 16) && clone.is_any_initialised(0, 16));
    }
}
