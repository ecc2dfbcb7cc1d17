//! The bytes of a region of global memory: words that several host threads may access concurrently, with one
//! initialisation bit per byte.
//!
//! Loads and stores are relaxed atomics, which compile to plain moves. A racing kernel reads a value that some
//! order of its accesses gives; the host program has no undefined behaviour.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

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

/// Bytes with their initialisation. Clones share them.
///
/// Accesses of 1, 2, 4 or 8 bytes are aligned to their size and end within the bytes: the caller has checked.
#[derive(Clone, Debug)]
pub(super) struct RegionBytes {
    words: Arc<Box<[AtomicU32]>>,
    /// One bit per initialised byte; none if all bytes are initialised.
    initialised: Option<Arc<Box<[AtomicU64]>>>,
    bytes: usize,
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
        Self { words: Arc::new(words.collect()), initialised: None, bytes: bytes.len() }
    }

    /// Initialised bytes that repeat whole words.
    pub(super) fn repeated(part: &[u8], bytes: usize) -> Self {
        let (part, _) = part.as_chunks::<4>();
        let count = bytes.div_ceil(4);
        let mut words = Vec::with_capacity(count);
        while words.len() < count && !part.is_empty() {
            let next = part.iter().take(count - words.len());
            words.extend(next.map(|word| AtomicU32::new(u32::from_le_bytes(*word))));
        }
        words.resize_with(count, || AtomicU32::new(0));
        Self { words: Arc::new(words.into_boxed_slice()), initialised: None, bytes }
    }

    /// Uninitialised bytes, which are zero. Pages that are never accessed take no memory.
    pub(super) fn uninitialised(bytes: usize) -> Self {
        let words = Arc::new(zeroed_slice_box(bytes.div_ceil(4)));
        let written = Arc::new(zeroed_slice_box(bytes.div_ceil(MASKED)));
        Self { words, initialised: Some(written), bytes }
    }

    /// A copy that is not shared.
    pub(super) fn copy(&self) -> Self {
        let words = self.words.iter().map(|word| AtomicU32::new(word.load(Relaxed)));
        let written = self.initialised.as_ref().map(|written| {
            Arc::new(written.iter().map(|bits| AtomicU64::new(bits.load(Relaxed))).collect())
        });
        Self { words: Arc::new(words.collect()), initialised: written, bytes: self.bytes }
    }

    /// The number of bytes.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.bytes
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            self.words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect();
        bytes.truncate(self.bytes);
        bytes
    }

    /// Up to eight bytes, zero-extended.
    #[inline]
    pub(super) fn read(&self, offset: usize, bytes: usize) -> u64 {
        let word = u64::from(self.words[offset / 4].load(Relaxed));
        match bytes {
            4 => word,
            8 => word | u64::from(self.words[offset / 4 + 1].load(Relaxed)) << 32,
            _ => word >> (8 * (offset % 4)) & ((1 << (8 * bytes)) - 1),
        }
    }

    /// Writes up to eight bytes; their initialisation does not change.
    #[inline]
    pub(super) fn write(&self, offset: usize, bytes: usize, value: u64) {
        let word = &self.words[offset / 4];
        match bytes {
            4 => word.store(value as u32, Relaxed),
            8 => {
                word.store(value as u32, Relaxed);
                self.words[offset / 4 + 1].store((value >> 32) as u32, Relaxed);
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
        self.words[index].load(Relaxed)
    }

    /// Consecutive words.
    #[inline(always)]
    pub(super) fn load_row<const N: usize>(&self, start: usize) -> [u32; N] {
        let mut row = [0; N];
        for (value, word) in row.iter_mut().zip(&self.words[start..start + N]) {
            *value = word.load(Relaxed);
        }
        row
    }

    /// Replaces the word at an index; its initialisation does not change.
    #[inline(always)]
    pub(super) fn store_word(&self, index: usize, value: u32) {
        self.words[index].store(value, Relaxed);
    }

    /// Replaces consecutive words; their initialisation does not change.
    #[inline(always)]
    pub(super) fn store_row(&self, start: usize, values: &[u32]) {
        for (word, value) in self.words[start..start + values.len()].iter().zip(values) {
            word.store(*value, Relaxed);
        }
    }

    /// Updates up to four bytes atomically; returns the old ones.
    pub(super) fn update(&self, offset: usize, bytes: usize, f: impl Fn(u32) -> u32) -> u32 {
        let shift = 8 * (offset % 4);
        let mask = u32::MAX >> (32 - 8 * bytes.min(4)) << shift;
        let change = |old: u32| old & !mask | f((old & mask) >> shift) << shift & mask;
        let old = self.words[offset / 4].fetch_update(Relaxed, Relaxed, |old| Some(change(old)));
        let (Ok(old) | Err(old)) = old;
        (old & mask) >> shift
    }

    /// The initialisation bits of up to sixteen bytes, the first byte in the lowest bit.
    #[inline]
    pub(super) fn init_bits(&self, offset: usize, bytes: usize) -> u32 {
        let all = u32::MAX >> (32 - bytes);
        let Some(written) = &self.initialised else { return all };
        (written[offset / MASKED].load(Relaxed) >> (offset % MASKED)) as u32 & all
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
        let word = &written[offset / MASKED];
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
            if written[word].load(Relaxed) & bits != bits {
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
            if written[word].load(Relaxed) & bits != bits {
                written[word].fetch_or(bits, Relaxed);
            }
        }
    }

    /// Marks up to sixteen bytes as uninitialised, after a store of an uninitialised value.
    pub(super) fn mark_uninitialised(&self, offset: usize, bytes: usize) {
        let Some(written) = &self.initialised else { return };
        let bits = u64::from(u32::MAX >> (32 - bytes)) << (offset % MASKED);
        written[offset / MASKED].fetch_and(!bits, Relaxed);
    }

    /// Replaces the first bytes and marks them as initialised.
    pub(super) fn fill_front(&self, bytes: &[u8]) {
        for (offset, byte) in bytes.iter().take(self.bytes).enumerate() {
            self.write(offset, 1, u64::from(*byte));
            self.mark_initialised(offset, 1);
        }
    }

    /// Calls `visit` with every initialised part of a range, ascending; words of the mask without initialised bytes
    /// are skipped.
    pub(super) fn for_each_initialised(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(Range<usize>),
    ) {
        if range.is_empty() {
            return;
        }
        let Some(written) = &self.initialised else { return visit(range) };
        for (word, wanted) in mask_words(range.start, range.end) {
            let mut bits = written[word].load(Relaxed) & wanted;
            while bits != 0 {
                let start = bits.trailing_zeros() as usize;
                let length = (bits >> start).trailing_ones() as usize;
                visit(word * MASKED + start..word * MASKED + start + length);
                // `checked_shl` returns none for 64: a part to the end of the word leaves nothing.
                bits = u64::MAX.checked_shl((start + length) as u32).map_or(0, |rest| bits & rest);
            }
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
