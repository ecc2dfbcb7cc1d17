//! The addresses that the lanes of a warp access: the strides between lanes, and the range that contains all of
//! them.
//!
//! Kernels access neighbouring words at many offsets from the same register. A register therefore caches the stride
//! between its lanes until it is written.

use super::lanes::Words;
use super::warp::LANES;

/// The number of lanes of half a warp.
pub(super) const HALF: usize = LANES / 2;

/// The strides between the values of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LaneStrides {
    /// Not computed since the register was written.
    #[default]
    Unknown,
    /// For each half of the warp, the difference between consecutive lanes, if it is the same everywhere.
    Known([Option<u32>; 2]),
}

impl LaneStrides {
    /// The stride of each half of the warp.
    #[inline(always)]
    pub(super) fn strides(values: &Words) -> [Option<u32>; 2] {
        let mut halves = [None; 2];
        for (half, found) in halves.iter_mut().enumerate() {
            let values = &values[half * HALF..(half + 1) * HALF];
            // Without the black box the compiler leaves out the comparison of the first lane with itself, and moves
            // the other fifteen in pieces.
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

/// The offsets of all lanes within one variable, aligned: the offset of each lane, the pattern of each half, and the
/// range of bytes that contains all of them. An inactive lane has the offset of the first active one.
pub(super) struct LaneOffsets {
    pub(super) offsets: Words,
    pub(super) halves: [HalfWarpPattern; 2],
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The access pattern of half a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HalfWarpPattern {
    /// All lanes access the same offset.
    Uniform,
    /// The lanes access consecutive elements.
    Contiguous,
    Scattered,
}

impl HalfWarpPattern {
    #[inline(always)]
    const fn from_stride(stride: Option<u32>, bytes: u32) -> Self {
        match stride {
            Some(0) => Self::Uniform,
            Some(stride) if stride == bytes => Self::Contiguous,
            Some(_) | None => Self::Scattered,
        }
    }
}

impl LaneOffsets {
    /// The offsets of accesses of `bytes`, a power of two, with these strides; none if one of them is not aligned.
    #[inline(always)]
    pub(super) fn new(offsets: Words, strides: [Option<u32>; 2], bytes: u32) -> Option<Self> {
        let halves = [
            HalfWarpPattern::from_stride(strides[0], bytes),
            HalfWarpPattern::from_stride(strides[1], bytes),
        ];
        let (mut start, mut last, mut all) = (u32::MAX, 0, 0);
        for (half, found) in halves.iter().enumerate() {
            let lanes = &offsets[half * HALF..(half + 1) * HALF];
            let (low, high) = match found {
                HalfWarpPattern::Uniform => (lanes[0], lanes[0]),
                HalfWarpPattern::Contiguous => {
                    (lanes[0], lanes[0].checked_add((HALF as u32 - 1) * bytes)?)
                }
                HalfWarpPattern::Scattered => {
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
                HalfWarpPattern::Uniform => Some((first, first + u64::from(bytes))),
                HalfWarpPattern::Contiguous => {
                    Some((first, first + HALF as u64 * u64::from(bytes)))
                }
                HalfWarpPattern::Scattered => None,
            }
        };
        Some([range(0)?, range(1)?])
    }
}

/// Replaces the addresses of inactive lanes by the address of the first active lane.
#[inline(always)]
pub(super) fn fill_inactive_lanes(values: &mut Words, mask: u32) {
    if mask != u32::MAX {
        let first = values[mask.trailing_zeros() as usize % LANES];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = if mask >> lane & 1 == 1 { *value } else { first };
        }
    }
}
