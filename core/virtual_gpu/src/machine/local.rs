//! Local memory of the threads, with a mask of the initialised bytes and of the initialised bits of single bytes.

use super::byte_init_mask::ByteInitMask;
use super::warp::LANES;

/// Words of 32 bits, each for all lanes, so that frames can grow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LocalMemory {
    words: Vec<[u32; LANES]>,
    /// Bits 0 to 3 of each lane: the initialised bytes.
    initialised: Vec<[u8; LANES]>,
    init_mask: ByteInitMask,
}

impl LocalMemory {
    /// Grows to `end` bytes.
    pub(super) fn grow(&mut self, end: u32) {
        let words = end.div_ceil(4) as usize;
        if self.words.len() < words {
            self.words.resize(words, [0; LANES]);
            self.initialised.resize(words, [0; LANES]);
        }
    }

    /// Opens a frame in these lanes; its bytes are uninitialised.
    pub(super) fn clear(&mut self, start: u32, end: u32, mask: u32) {
        for written in &mut self.initialised[start as usize / 4..end.div_ceil(4) as usize] {
            for (lane, bits) in written.iter_mut().enumerate() {
                if mask >> lane & 1 == 1 {
                    *bits = 0;
                }
            }
        }
        self.init_mask.clear(start..end.next_multiple_of(4), mask);
    }

    /// Reads up to eight bytes that do not cross a multiple of their size, with their initialisation.
    pub(super) fn read(&self, lane: usize, offset: u32, bytes: u32) -> (u64, Initialisation) {
        let word = offset as usize / 4;
        let shift = 8 * (offset % 4);
        let (value, written) = if bytes == 8 {
            let value =
                u64::from(self.words[word][lane]) | u64::from(self.words[word + 1][lane]) << 32;
            (value, self.initialised[word][lane] | self.initialised[word + 1][lane] << 4)
        } else {
            let mask = if bytes == 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 };
            let value = self.words[word][lane] >> shift & mask;
            (u64::from(value), self.initialised[word][lane] >> (offset % 4))
        };
        let all = u8::MAX >> (8 - bytes);
        let written = written & all;
        if written == all {
            return (value, Initialisation::All);
        }
        if let Some(unknown) =
            self.init_mask.uninitialised_bits(offset, lane as u32, bytes, u32::from(written))
        {
            return (value, Initialisation::AllBut(unknown));
        }
        (value, if written == 0 { Initialisation::None } else { Initialisation::All })
    }

    /// Writes up to eight bytes that do not cross a multiple of their size.
    pub(super) fn write(
        &mut self,
        lane: usize,
        offset: u32,
        bytes: u32,
        value: u64,
        known: Initialisation,
    ) {
        if bytes == 8 {
            self.put(lane, offset, 4, value as u32);
            self.put(lane, offset + 4, 4, (value >> 32) as u32);
        } else {
            self.put(lane, offset, bytes, value as u32);
        }
        for byte in 0..bytes {
            let (word, bit) = ((offset + byte) as usize / 4, 1 << ((offset + byte) % 4));
            let unknown = match known {
                Initialisation::All => 0,
                Initialisation::None => u8::MAX,
                Initialisation::AllBut(unknown) => (unknown >> (8 * byte)) as u8,
            };
            if unknown == 0 {
                self.initialised[word][lane] |= bit;
                continue;
            }
            self.initialised[word][lane] &= !bit;
            let part = matches!(known, Initialisation::AllBut(_)).then_some(unknown);
            self.init_mask.set(offset + byte, lane as u32, part);
        }
    }

    fn put(&mut self, lane: usize, offset: u32, bytes: u32, value: u32) {
        let (word, shift) = (offset as usize / 4, 8 * (offset % 4));
        let mask = if bytes == 4 { u32::MAX } else { ((1 << (8 * bytes)) - 1) << shift };
        let old = self.words[word][lane];
        self.words[word][lane] = old & !mask | value << shift & mask;
    }

    /// Copies whole words of these lanes, with their initialisation.
    pub(super) fn copy(&mut self, from: u32, to: u32, bytes: u32, mask: u32) {
        for word in 0..bytes.div_ceil(4) {
            let (from, to) = (from / 4 + word, to / 4 + word);
            let values = self.words[from as usize];
            let written = self.initialised[from as usize];
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                self.words[to as usize][lane] = values[lane];
                self.initialised[to as usize][lane] = written[lane];
                if self.init_mask.is_empty() {
                    continue;
                }
                for byte in 0..4 {
                    let (from, to) = (4 * from + byte, 4 * to + byte);
                    let part = self.init_mask.get(from, lane as u32);
                    self.init_mask.set(to, lane as u32, part);
                }
            }
        }
    }
}

/// The initialisation of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Initialisation {
    /// Initialised.
    All,
    /// Uninitialised.
    None,
    /// Initialised except these bits.
    AllBut(u64),
}
