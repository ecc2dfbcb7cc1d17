//! Byte permutation of two words. PTX ISA 9.7.9.7 "prmt".

/// The fixed modes of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PermuteMode {
    /// Four bytes forward from a position (`.f4e`).
    Forward4,
    /// Four bytes backward from a position (`.b4e`).
    Backward4,
    /// One byte replicated four times (`.rc8`).
    Replicate8,
    /// Positions clamped from below (`.ecl`).
    EdgeLeft,
    /// Positions clamped from above (`.ecr`).
    EdgeRight,
    /// One half replicated twice (`.rc16`).
    Replicate16,
}

/// Four bytes of (`b`, `a`), each selected by four bits of the control; the highest of these replicates the byte's
/// sign.
#[inline]
#[must_use]
pub fn permute(a: u32, b: u32, control: u32) -> u32 {
    let source = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |result, index| {
        let selector = control >> (4 * index);
        let byte = (source >> (8 * (selector & 7))) as u8;
        let chosen = if selector & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 };
        result | u32::from(chosen) << (8 * index)
    })
}

/// Four bytes of (`b`, `a`) in a fixed mode, selected by the lowest two bits of the control.
#[inline]
#[must_use]
pub fn permute_by_mode(a: u32, b: u32, control: u32, mode: PermuteMode) -> u32 {
    let start = control & 3;
    let source = |index: u32| match mode {
        PermuteMode::Forward4 => start + index,
        PermuteMode::Backward4 => start.wrapping_sub(index) & 7,
        PermuteMode::Replicate8 => start,
        PermuteMode::EdgeLeft => start.max(index),
        PermuteMode::EdgeRight => start.min(index),
        PermuteMode::Replicate16 => (start & 1) * 2 + (index & 1),
    };
    permute(a, b, (0..4).fold(0, |selectors, index| selectors | source(index) << (4 * index)))
}
