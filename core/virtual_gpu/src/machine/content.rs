//! The bytes of a region of global memory: words that several threads of the host may access at once, with a bit for
//! each byte that was written.
//!
//! Loads and stores are relaxed: they are plain moves of the host, and what a racing kernel sees is what some order of
//! its accesses gives, never undefined behaviour of ours.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use bytemuck::zeroed_slice_box;

/// Bytes whose bits share a word of the mask.
pub(super) const MASKED: usize = 64;

/// The words of the mask over a range that is not empty, each with the bits of the range.
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

/// Bytes with what is known about them. Clones share them.
///
/// Accesses of 1, 2, 4 or 8 bytes are aligned to their size and end within the bytes: the caller has checked.
#[derive(Clone, Debug)]
pub(super) struct Content {
    words: Arc<Box<[AtomicU32]>>,
    /// One bit for each byte that was written; none where all are.
    written: Option<Arc<Box<[AtomicU64]>>>,
    bytes: usize,
}

impl Content {
    /// These bytes, all of them written.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let (whole, rest) = bytes.as_chunks::<4>();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&last);
        // Gigabytes go this way: whole words, without a look at each one's length.
        let words = whole.iter().chain(last).map(|word| AtomicU32::new(u32::from_le_bytes(*word)));
        Self { words: Arc::new(words.collect()), written: None, bytes: bytes.len() }
    }

    /// Whole words again and again, all of them written.
    pub(super) fn repeated(part: &[u8], bytes: usize) -> Self {
        let (part, _) = part.as_chunks::<4>();
        let count = bytes.div_ceil(4);
        let mut words = Vec::with_capacity(count);
        while words.len() < count && !part.is_empty() {
            let next = part.iter().take(count - words.len());
            words.extend(next.map(|word| AtomicU32::new(u32::from_le_bytes(*word))));
        }
        words.resize_with(count, || AtomicU32::new(0));
        Self { words: Arc::new(words.into_boxed_slice()), written: None, bytes }
    }

    /// Zeros that nothing wrote. Pages that nobody touches take no memory.
    pub(super) fn unwritten(bytes: usize) -> Self {
        let words = Arc::new(zeroed_slice_box(bytes.div_ceil(4)));
        let written = Arc::new(zeroed_slice_box(bytes.div_ceil(MASKED)));
        Self { words, written: Some(written), bytes }
    }

    /// The same bytes, apart.
    pub(super) fn copy(&self) -> Self {
        let words = self.words.iter().map(|word| AtomicU32::new(word.load(Relaxed)));
        let written = self.written.as_ref().map(|written| {
            Arc::new(written.iter().map(|bits| AtomicU64::new(bits.load(Relaxed))).collect())
        });
        Self { words: Arc::new(words.collect()), written, bytes: self.bytes }
    }

    /// How many bytes.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.bytes
    }

    /// All bytes.
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

    /// Writes up to eight bytes; what is known about them stays.
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
                // The other bytes of the word may be another thread's.
                let _old = word.fetch_update(Relaxed, Relaxed, |old| Some(old & !mask | new));
            }
        }
    }

    /// The word of that number.
    #[inline(always)]
    pub(super) fn load_word(&self, index: usize) -> u32 {
        self.words[index].load(Relaxed)
    }

    /// Words one behind the other.
    #[inline(always)]
    pub(super) fn load_row<const N: usize>(&self, start: usize) -> [u32; N] {
        let mut row = [0; N];
        for (value, word) in row.iter_mut().zip(&self.words[start..start + N]) {
            *value = word.load(Relaxed);
        }
        row
    }

    /// Replaces the word of that number; what is known about it stays.
    #[inline(always)]
    pub(super) fn store_word(&self, index: usize, value: u32) {
        self.words[index].store(value, Relaxed);
    }

    /// Replaces words one behind the other; what is known about them stays.
    #[inline(always)]
    pub(super) fn store_row(&self, start: usize, values: &[u32]) {
        for (word, value) in self.words[start..start + values.len()].iter().zip(values) {
            word.store(*value, Relaxed);
        }
    }

    /// Changes up to four bytes at once; gives the old ones.
    pub(super) fn update(&self, offset: usize, bytes: usize, f: impl Fn(u32) -> u32) -> u32 {
        let shift = 8 * (offset % 4);
        let mask = u32::MAX >> (32 - 8 * bytes.min(4)) << shift;
        let change = |old: u32| old & !mask | f((old & mask) >> shift) << shift & mask;
        let old = self.words[offset / 4].fetch_update(Relaxed, Relaxed, |old| Some(change(old)));
        let (Ok(old) | Err(old)) = old;
        (old & mask) >> shift
    }

    /// One bit for each of up to sixteen bytes that was written, the first one lowest.
    #[inline]
    pub(super) fn written_bits(&self, offset: usize, bytes: usize) -> u32 {
        let all = u32::MAX >> (32 - bytes);
        let Some(written) = &self.written else { return all };
        (written[offset / MASKED].load(Relaxed) >> (offset % MASKED)) as u32 & all
    }

    /// Whether any of up to sixteen bytes was written. A value of which a part is known may be padded.
    #[inline]
    pub(super) fn written(&self, offset: usize, bytes: usize) -> bool {
        self.written_bits(offset, bytes) != 0
    }

    /// Remembers that up to sixteen bytes were written.
    #[inline]
    pub(super) fn mark_written(&self, offset: usize, bytes: usize) {
        let Some(written) = &self.written else { return };
        let bits = u64::from(u32::MAX >> (32 - bytes)) << (offset % MASKED);
        let word = &written[offset / MASKED];
        // Most writes are not the first.
        if word.load(Relaxed) & bits != bits {
            word.fetch_or(bits, Relaxed);
        }
    }

    /// Whether all bytes of a range were written.
    #[inline]
    pub(super) fn is_range_written(&self, start: usize, end: usize) -> bool {
        let Some(written) = &self.written else { return true };
        for (word, bits) in mask_words(start, end) {
            if written[word].load(Relaxed) & bits != bits {
                return false;
            }
        }
        true
    }

    /// Remembers that all bytes of a range were written.
    #[inline]
    pub(super) fn mark_range(&self, start: usize, end: usize) {
        let Some(written) = &self.written else { return };
        for (word, bits) in mask_words(start, end) {
            // Most writes are not the first.
            if written[word].load(Relaxed) & bits != bits {
                written[word].fetch_or(bits, Relaxed);
            }
        }
    }

    /// Forgets that up to sixteen bytes were written: what was stored there is a value that nothing wrote.
    pub(super) fn mark_unwritten(&self, offset: usize, bytes: usize) {
        let Some(written) = &self.written else { return };
        let bits = u64::from(u32::MAX >> (32 - bytes)) << (offset % MASKED);
        written[offset / MASKED].fetch_and(!bits, Relaxed);
    }

    /// Replaces the first bytes, which are written then.
    pub(super) fn fill_front(&self, bytes: &[u8]) {
        for (offset, byte) in bytes.iter().take(self.bytes).enumerate() {
            self.write(offset, 1, u64::from(*byte));
            self.mark_written(offset, 1);
        }
    }

    /// Calls `visit` with every written part of a range, ascending; words of the mask without written bytes cost nothing.
    pub(super) fn for_each_written(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(Range<usize>),
    ) {
        if range.is_empty() {
            return;
        }
        let Some(written) = &self.written else { return visit(range) };
        for (word, wanted) in mask_words(range.start, range.end) {
            let mut bits = written[word].load(Relaxed) & wanted;
            while bits != 0 {
                let start = bits.trailing_zeros() as usize;
                let length = (bits >> start).trailing_ones() as usize;
                visit(word * MASKED + start..word * MASKED + start + length);
                // Shifting by 64 is no shift: a run to the end of the word leaves nothing.
                bits = u64::MAX.checked_shl((start + length) as u32).map_or(0, |rest| bits & rest);
            }
        }
    }

    /// The first byte that nothing wrote.
    pub(super) fn first_unwritten(&self) -> Option<usize> {
        let written = self.written.as_ref()?;
        let words = written.iter().map(|bits| bits.load(Relaxed)).enumerate();
        let (index, bits) = words.clone().find(|(_, bits)| *bits != u64::MAX)?;
        let first = index * MASKED + bits.trailing_ones() as usize;
        (first < self.bytes).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::Content;

    #[test]
    fn narrow_writes_leave_their_neighbours() {
        let content = Content::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        content.write(1, 1, 0xff);
        content.write(6, 2, 0xabcd);
        assert_eq!(content.to_vec(), [1, 0xff, 3, 4, 5, 6, 0xcd, 0xab, 9]);
        assert_eq!(content.read(0, 8), 0xabcd_0605_0403_ff01);
        assert_eq!(content.update(2, 2, |old| old + 1), 0x0403);
        assert_eq!(content.read(2, 2), 0x0404);
        assert_eq!(content.len(), 9);
    }

    #[test]
    fn written_parts_are_visited() {
        let content = Content::unwritten(200);
        for (offset, bytes) in [(0, 4), (60, 4), (64, 8), (100, 1), (192, 8)] {
            content.mark_written(offset, bytes);
        }
        let check = |range: std::ops::Range<usize>, expected: &[std::ops::Range<usize>]| {
            let mut seen = Vec::new();
            content.for_each_written(range, |part| seen.push(part));
            assert_eq!(seen, expected);
        };
        check(0..200, &[0..4, 60..64, 64..72, 100..101, 192..200]);
        check(2..66, &[2..4, 60..64, 64..66]);
        check(5..5, &[]);
    }

    #[test]
    fn every_byte_is_remembered() {
        let content = Content::unwritten(130);
        assert_eq!(content.first_unwritten(), Some(0));
        content.fill_front(&[7; 67]);
        assert_eq!(content.first_unwritten(), Some(67));
        assert_eq!(content.written_bits(64, 8), 0b0000_0111);
        content.mark_unwritten(65, 1);
        assert_eq!(content.written_bits(64, 4), 0b0101);
        assert!(content.written(66, 2) && !content.written(68, 4));
        for offset in 65..130 {
            content.mark_written(offset, 1);
        }
        assert_eq!(content.first_unwritten(), None);
    }

    #[test]
    fn ranges_are_all_or_not() {
        let content = Content::unwritten(300);
        content.mark_range(3, 200);
        assert!(content.is_range_written(3, 200) && content.is_range_written(64, 128));
        assert!(!content.is_range_written(2, 64) && !content.is_range_written(100, 201));
        assert_eq!(content.written_bits(0, 4), 0b1000);
        content.mark_range(0, 300);
        assert_eq!(content.first_unwritten(), None);
    }

    #[test]
    fn copies_are_apart_and_clones_are_not() {
        let content = Content::unwritten(16);
        let (copy, clone) = (content.copy(), content.clone());
        content.write(8, 8, 5 << 50);
        content.mark_written(0, 16);
        assert_eq!((copy.read(8, 8), clone.read(8, 8)), (0, 5 << 50));
        assert!(!copy.written(0, 16) && clone.written(0, 16));
    }
}
