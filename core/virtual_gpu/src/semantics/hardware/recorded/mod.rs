//! What a GPU answered to every spelling: operands and digests.
//!
//! An NVIDIA H200 (compute capability 9.0, CUDA 13.0 driver) ran every spelling once on 2,048 operands each, in
//! November 2026. The operands follow from a seed, so that a digest per exact spelling suffices. The tests of
//! `lightbench-core` include this folder to put the same questions to the devices at hand.

mod operands;

pub(crate) use operands::operand;

/// Operand sets of each spelling.
pub(crate) const CASES: u64 = 2048;

/// Lines of: spelling, width of the result, widths of the operands, digest of all results.
pub(crate) const DIGESTS: &str = include_str!("h200.digests");

/// FNV-1a, Fowler, Noll and Vo.
pub(crate) fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
