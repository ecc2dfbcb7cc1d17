//! The permutation of chunks of 16 bytes in shared memory, by which tensor copies write and `wgmma` reads. PTX ISA,
//! "Tensor swizzle modes".
//!
//! The index of a chunk within its row is combined with bits 7 to 9 of its address, so that the pattern depends on the
//! place in shared memory and not on the beginning of the box.

use lightbench_primitives::tensor_map::Swizzle;

/// The bytes of a chunk.
pub(super) const CHUNK: u32 = 16;

/// The bytes within which chunks are exchanged.
pub(super) const fn span(swizzle: Swizzle) -> u32 {
    match swizzle.span() {
        None => CHUNK,
        Some(span) => span,
    }
}

/// The bytes after which the pattern repeats.
pub(super) const fn period(swizzle: Swizzle) -> u32 {
    8 * span(swizzle)
}

/// The address at which a pattern places a chunk; the base offset shifts the pattern by units of 128 bytes.
pub(super) const fn swizzled(swizzle: Swizzle, address: u32, base_offset: u32) -> u32 {
    address ^ ((address >> 7).wrapping_sub(base_offset) & (span(swizzle) / CHUNK - 1)) << 4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PTX ISA, "Tensor swizzle modes": the order of chunks in each row of 128 bytes.
    fn check(swizzle: Swizzle, rows: [[u32; 8]; 8]) {
        for (row, chunks) in (0..).zip(rows) {
            for (chunk, expected) in (0..).zip(chunks) {
                let found = swizzled(swizzle, row * 128 + chunk * CHUNK, 0);
                assert_eq!(found, row * 128 + expected * CHUNK, "{swizzle:?}: {row}, {chunk}");
            }
        }
    }

    #[test]
    fn patterns_are_those_of_the_isa() {
        let plain = [0, 1, 2, 3, 4, 5, 6, 7];
        let by = |mask: u32| {
            std::array::from_fn(|row| {
                std::array::from_fn(|chunk| chunk as u32 ^ (row as u32 & mask))
            })
        };
        check(Swizzle::None, [plain; 8]);
        check(Swizzle::B32, by(1));
        check(Swizzle::B64, by(3));
        check(Swizzle::B128, by(7));
        assert_eq!([span(Swizzle::B32), span(Swizzle::B64), span(Swizzle::B128)], [32, 64, 128]);
        assert_eq!(period(Swizzle::B128), 1024);
    }
}
