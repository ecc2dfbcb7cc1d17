//! The threads' own memory: which bytes of it were written, and of single bytes which bits.

use super::parts::Parts;
use super::warp::LANES;

/// Words of 32 bits, each for all lanes, so that frames can grow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LocalMemory {
    words: Vec<[u32; LANES]>,
    /// Bits 0 to 3 of each lane: the bytes that were written.
    written: Vec<[u8; LANES]>,
    parts: Parts,
}

impl LocalMemory {
    /// Makes room up to `end`.
    pub(super) fn grow(&mut self, end: u32) {
        let words = end.div_ceil(4) as usize;
        if self.words.len() < words {
            self.words.resize(words, [0; LANES]);
            self.written.resize(words, [0; LANES]);
        }
    }

    /// A new frame of these lanes: nothing is written.
    pub(super) fn clear(&mut self, start: u32, end: u32, mask: u32) {
        for written in &mut self.written[start as usize / 4..end.div_ceil(4) as usize] {
            for (lane, bits) in written.iter_mut().enumerate() {
                if mask >> lane & 1 == 1 {
                    *bits = 0;
                }
            }
        }
        self.parts.clear(start..end.next_multiple_of(4), mask);
    }

    /// Reads up to eight bytes that do not cross a multiple of their size; with the bits that nothing wrote, all or none
    /// of them unless it is known better, and whether it is.
    pub(super) fn read(&self, lane: usize, offset: u32, bytes: u32) -> (u64, Known) {
        let word = offset as usize / 4;
        let shift = 8 * (offset % 4);
        let (value, written) = if bytes == 8 {
            let value =
                u64::from(self.words[word][lane]) | u64::from(self.words[word + 1][lane]) << 32;
            (value, self.written[word][lane] | self.written[word + 1][lane] << 4)
        } else {
            let mask = if bytes == 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 };
            let value = self.words[word][lane] >> shift & mask;
            (u64::from(value), self.written[word][lane] >> (offset % 4))
        };
        let all = u8::MAX >> (8 - bytes);
        let written = written & all;
        if written == all {
            return (value, Known::All);
        }
        if let Some(unknown) = self.parts.unknown(offset, lane as u32, bytes, u32::from(written)) {
            return (value, Known::AllBut(unknown));
        }
        (value, if written == 0 { Known::Nothing } else { Known::All })
    }

    /// Writes up to eight bytes that do not cross a multiple of their size.
    pub(super) fn write(&mut self, lane: usize, offset: u32, bytes: u32, value: u64, known: Known) {
        if bytes == 8 {
            self.put(lane, offset, 4, value as u32);
            self.put(lane, offset + 4, 4, (value >> 32) as u32);
        } else {
            self.put(lane, offset, bytes, value as u32);
        }
        for byte in 0..bytes {
            let (word, bit) = ((offset + byte) as usize / 4, 1 << ((offset + byte) % 4));
            let unknown = match known {
                Known::All => 0,
                Known::Nothing => u8::MAX,
                Known::AllBut(unknown) => (unknown >> (8 * byte)) as u8,
            };
            if unknown == 0 {
                self.written[word][lane] |= bit;
                continue;
            }
            self.written[word][lane] &= !bit;
            let part = matches!(known, Known::AllBut(_)).then_some(unknown);
            self.parts.set(offset + byte, lane as u32, part);
        }
    }

    fn put(&mut self, lane: usize, offset: u32, bytes: u32, value: u32) {
        let (word, shift) = (offset as usize / 4, 8 * (offset % 4));
        let mask = if bytes == 4 { u32::MAX } else { ((1 << (8 * bytes)) - 1) << shift };
        let old = self.words[word][lane];
        self.words[word][lane] = old & !mask | value << shift & mask;
    }

    /// Copies whole words of these lanes, with what is known of them.
    pub(super) fn copy(&mut self, from: u32, to: u32, bytes: u32, mask: u32) {
        for word in 0..bytes.div_ceil(4) {
            let (from, to) = (from / 4 + word, to / 4 + word);
            let values = self.words[from as usize];
            let written = self.written[from as usize];
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                self.words[to as usize][lane] = values[lane];
                self.written[to as usize][lane] = written[lane];
                if self.parts.is_empty() {
                    continue;
                }
                for byte in 0..4 {
                    let (from, to) = (4 * from + byte, 4 * to + byte);
                    let part = self.parts.get(from, lane as u32);
                    self.parts.set(to, lane as u32, part);
                }
            }
        }
    }
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was written.
    All,
    /// Nothing wrote it.
    Nothing,
    /// All but these bits.
    AllBut(u64),
}
