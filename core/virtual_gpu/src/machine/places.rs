//! Where the lanes of a warp access memory: how they lie to each other, and within which bytes.
//!
//! Kernels access neighbouring words at many distances from the same register, so a register remembers how its lanes lie
//! to each other until it is written.

use super::lanes::Words;
use super::warp::LANES;

/// Lanes of half a warp.
pub(super) const HALF: usize = LANES / 2;

/// How the values of a register lie to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nobody looked since it was written.
    #[default]
    Unknown,
    /// In each half of the warp, by how much a lane is ahead of the one before, if that is the same everywhere.
    Known([Option<u32>; 2]),
}

impl Shape {
    /// How these values lie to each other.
    #[inline(always)]
    pub(super) fn of(values: &Words) -> [Option<u32>; 2] {
        let mut halves = [None; 2];
        for (half, found) in halves.iter_mut().enumerate() {
            let values = &values[half * HALF..(half + 1) * HALF];
            // A compiler that knows that the first lane is like itself leaves it out, and moves the other fifteen in
            // pieces.
            let first = std::hint::black_box(values[0]);
            let stride = values[1].wrapping_sub(first);
            let (mut differs, mut expected) = (0, first);
            for value in values {
                differs |= value ^ expected;
                expected = expected.wrapping_add(stride);
            }
            *found = (differs == 0).then_some(stride);
        }
        halves
    }
}

/// Where all lanes access one variable, aligned: the offset of each, how those of each half lie to each other, and the
/// bytes within which all of them lie. Lanes that do nothing stand where the first one is that does something.
pub(super) struct Places {
    pub(super) offsets: Words,
    pub(super) halves: [Pattern; 2],
    pub(super) start: usize,
    pub(super) end: usize,
}

/// How the lanes of half a warp lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// All at one place.
    Same,
    /// One access behind the other.
    Row,
    Scattered,
}

impl Pattern {
    #[inline(always)]
    const fn of(stride: Option<u32>, bytes: u32) -> Self {
        match stride {
            Some(0) => Self::Same,
            Some(stride) if stride == bytes => Self::Row,
            Some(_) | None => Self::Scattered,
        }
    }
}

impl Places {
    /// The places of accesses of so many bytes, which are a power of two, whose halves have these strides; none if one
    /// of them is not aligned.
    #[inline(always)]
    pub(super) fn new(offsets: Words, strides: [Option<u32>; 2], bytes: u32) -> Option<Self> {
        let halves = [Pattern::of(strides[0], bytes), Pattern::of(strides[1], bytes)];
        let (mut start, mut last, mut all) = (u32::MAX, 0, 0);
        for (half, found) in halves.iter().enumerate() {
            let lanes = &offsets[half * HALF..(half + 1) * HALF];
            let (low, high) = match found {
                Pattern::Same => (lanes[0], lanes[0]),
                Pattern::Row => (lanes[0], lanes[0].checked_add((HALF as u32 - 1) * bytes)?),
                Pattern::Scattered => {
                    let (mut low, mut high) = (u32::MAX, 0);
                    for offset in lanes {
                        low = low.min(*offset);
                        high = high.max(*offset);
                        all |= offset;
                    }
                    (low, high)
                }
            };
            start = start.min(low);
            last = last.max(high);
            all |= low;
        }
        let end = last as usize + bytes as usize;
        (all & (bytes - 1) == 0).then_some(Self { offsets, halves, start: start as usize, end })
    }

    /// The ranges of bytes that the halves of the warp access, if each accesses all of its range.
    #[inline(always)]
    pub(super) fn ranges(&self, bytes: u32) -> Option<[(u64, u64); 2]> {
        let range = |half: usize| {
            let first = u64::from(self.offsets[half * HALF]);
            match self.halves[half] {
                Pattern::Same => Some((first, first + u64::from(bytes))),
                Pattern::Row => Some((first, first + HALF as u64 * u64::from(bytes))),
                Pattern::Scattered => None,
            }
        };
        Some([range(0)?, range(1)?])
    }
}

/// Addresses with those of lanes that do nothing replaced by the first that counts.
#[inline(always)]
pub(super) fn spread(values: &mut Words, mask: u32) {
    if mask != u32::MAX {
        let first = values[mask.trailing_zeros() as usize % LANES];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = if mask >> lane & 1 == 1 { *value } else { first };
        }
    }
}
