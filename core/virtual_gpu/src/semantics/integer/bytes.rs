//! Four bytes at once. PTX ISA, section "SIMD Video Instructions": `vabsdiff4`.

use super::super::Overflow;
use super::dot::{Signedness, byte};

/// What becomes of four results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// They stand side by side, each cut to eight bits.
    Bytes,
    /// They are added, uncut, to `c` (`.add`).
    Sum,
}

/// How `vabsdiff4` reads and joins bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BytePairs {
    /// The type of the result, by which `.sat` limits each byte.
    pub result: Signedness,
    /// How the bytes of `a` and `b` are extended.
    pub sources: [Signedness; 2],
    /// Whether a result is limited to the range of a byte (`.sat`).
    pub overflow: Overflow,
    /// What becomes of the results.
    pub join: Join,
}

/// `|a - b|` of each pair of bytes. PTX ISA, "SIMD Video Instructions: vadd4, vsub4, vavrg4, vabsdiff4, …": each byte is
/// extended by its type, the difference is limited with `.sat`, and `.add` adds the four to `c`.
#[inline]
#[must_use]
pub fn absolute_differences(a: u32, b: u32, c: u32, pairs: BytePairs) -> u32 {
    let [a_type, b_type] = pairs.sources;
    let result = |index| {
        let difference = byte(a, index, a_type).wrapping_sub(byte(b, index, b_type)) as i32;
        let magnitude = difference.unsigned_abs();
        match (pairs.overflow, pairs.result) {
            (Overflow::Wrap, _) => magnitude,
            (Overflow::Saturate, Signedness::Unsigned) => magnitude.min(0xff),
            (Overflow::Saturate, Signedness::Signed) => magnitude.min(0x7f),
        }
    };
    match pairs.join {
        Join::Bytes => (0..4).fold(0, |all, index| all | (result(index) & 0xff) << (8 * index)),
        Join::Sum => (0..4).fold(c, |sum, index| sum.wrapping_add(result(index))),
    }
}
