//! Recorded results of a GPU for every instruction: operands and digests.
//!
//! An NVIDIA H200 (compute capability 9.0, CUDA 13.0 driver) executed every instruction once on 2,048 sets of
//! operands, in November 2026. The operands follow from a seed, so that one digest per exact instruction suffices.
//! The tests of `lightbench-core` include this folder to run the same instructions on the devices of the host.

mod operands;

pub(crate) use operands::operand;

/// Sets of operands of each instruction.
pub(crate) const CASES: u64 = 2048;

/// Lines of: instruction, width of the result, widths of the operands, digest of all results.
pub(crate) const DIGESTS: &str = include_str!("h200.digests");

/// FNV-1a, Fowler, Noll and Vo.
pub(crate) fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
