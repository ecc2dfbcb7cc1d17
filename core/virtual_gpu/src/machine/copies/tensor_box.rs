//! The rows of a box: where each one lies in shared and global memory, and which part of it is inside the tensor.
//!
//! The layout is that of an H100 and an H200. Stores and reductions write whole chunks of 16 bytes: the elements of the box
//! behind the end of a row are written too, up to the end of the chunk, which the distance of rows, a multiple of 16 bytes,
//! includes. Rows follow each other in shared memory; with a swizzle their distance
//! is its span, even if they are shorter. Along every dimension but the innermost, only each n-th element is copied,
//! where n is the element stride; the innermost element stride has no effect.

use std::ops::Range;

use lightbench_primitives::tensor_map::TensorMap;

use super::super::race::Source;
use super::super::swizzle::CHUNK;
use super::origins::MOST_DIMENSIONS;

/// A box of a tensor at given coordinates.
#[derive(Clone, Debug)]
pub(super) struct TensorBox {
    pub(super) map: TensorMap,
    /// The address of the tensor's first byte.
    pub(super) start: u64,
    coordinates: Vec<i32>,
    /// Copied elements along each dimension.
    copied: Vec<u32>,
    /// Bytes in which a row ends: an element for a load, a chunk for a store or a reduction.
    end_unit: u32,
}

/// A row of a box: neighbours along the innermost dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BoxRow {
    /// Bytes from the beginning of the box in shared memory, before the swizzle.
    pub(super) shared: u32,
    /// The address in global memory, valid only for the bytes inside the tensor.
    pub(super) global: u64,
    /// The bytes of the row that are inside the tensor.
    pub(super) inside: Range<u32>,
    /// The coordinates of its first element.
    pub(super) coordinates: [i64; MOST_DIMENSIONS],
}

impl TensorBox {
    /// A box with these sides; coordinates and sides are as many as the tensor has dimensions.
    pub(super) fn new(map: TensorMap, buffer: u64, coordinates: &[i32], sides: &[u32]) -> Self {
        let strides = map.element_strides.iter().enumerate();
        let strides = strides.map(|(dimension, stride)| if dimension == 0 { 1 } else { *stride });
        let copied = sides.iter().zip(strides).map(|(side, stride)| side.div_ceil(stride));
        let start = buffer.wrapping_add(map.offset);
        let (coordinates, copied) = (coordinates.to_vec(), copied.collect());
        let end_unit = map.element.bytes();
        Self { start, coordinates, copied, end_unit, map }
    }

    /// The same box for a store or a reduction.
    pub(super) fn stored(self) -> Self {
        Self { end_unit: CHUNK, ..self }
    }

    fn element(&self) -> u32 {
        self.map.element.bytes()
    }

    /// The bytes of a row, which are a multiple of 16.
    pub(super) fn row_bytes(&self) -> u32 {
        self.copied[0] * self.element()
    }

    /// The distance of rows in shared memory, in bytes.
    pub(super) fn pitch(&self) -> u32 {
        self.map.swizzle.span().unwrap_or_else(|| self.row_bytes())
    }

    fn row_count(&self) -> u64 {
        self.copied[1..].iter().map(|count| u64::from(*count)).product()
    }

    /// The bytes that the box occupies in shared memory, with the gaps between its rows.
    pub(super) fn shared_bytes(&self) -> u64 {
        self.row_count() * u64::from(self.pitch())
    }

    /// The innermost coordinate in bytes, if it is not a multiple of 16.
    pub(super) fn misaligned_bytes(&self) -> Option<i64> {
        let bytes = i64::from(self.coordinates[0]) * i64::from(self.element());
        (bytes % 16 != 0).then_some(bytes)
    }

    /// The bytes of each row that are inside the tensor, if the row is.
    fn inside_row(&self) -> Range<u32> {
        let first = i64::from(self.coordinates[0]);
        let side = i64::from(self.copied[0]);
        // A dimension has at most 2^32 elements.
        let end = self.map.dims[0] as i64;
        let clamp = |position: i64| (position - first).clamp(0, side) as u32 * self.element();
        clamp(0)..clamp(end).next_multiple_of(self.end_unit)
    }

    /// The bytes of global memory inside the tensor.
    pub(super) fn sources(&self) -> Vec<Source> {
        let rows = self.rows().filter(|row| !row.inside.is_empty());
        let of_row = |row: BoxRow| Source {
            start: row.global + u64::from(row.inside.start),
            bytes: row.inside.len() as u32,
        };
        rows.map(of_row).collect()
    }

    /// The rows, the second dimension first.
    pub(super) fn rows(&self) -> impl Iterator<Item = BoxRow> {
        let inside_row = self.inside_row();
        let inner = i64::from(self.coordinates[0]).wrapping_mul(i64::from(self.element()));
        (0..self.row_count()).map(move |row| {
            let (mut rest, mut global) = (row, self.start.wrapping_add_signed(inner));
            let mut coordinates = [0; MOST_DIMENSIONS];
            coordinates[0] = i64::from(self.coordinates[0]);
            let mut is_inside = true;
            let outer = coordinates.iter_mut().enumerate().take(self.copied.len()).skip(1);
            for (dimension, coordinate) in outer {
                let count = u64::from(self.copied[dimension]);
                let step = (rest % count) * u64::from(self.map.element_strides[dimension]);
                let position = i64::from(self.coordinates[dimension]) + step as i64;
                rest /= count;
                *coordinate = position;
                is_inside &= (0..self.map.dims[dimension] as i64).contains(&position);
                let stride = self.map.strides[dimension - 1] as i64;
                global = global.wrapping_add_signed(position.wrapping_mul(stride));
            }
            let inside = if is_inside { inside_row.clone() } else { 0..0 };
            BoxRow { shared: row as u32 * self.pitch(), global, inside, coordinates }
        })
    }
}

#[cfg(test)]
mod tests {
    use lightbench_primitives::tensor_map::{
        Interleave, L2Promotion, MapElement, MapRegion, OutOfBoundsFill, Swizzle,
    };

    use super::*;

    /// A matrix of 50 rows of 100 16-bit elements, 256 bytes apart, at address 4096.
    fn boxed(
        coordinates: [i32; 2],
        sides: [u32; 2],
        strides: [u32; 2],
        swizzle: Swizzle,
    ) -> TensorBox {
        let map = TensorMap {
            element: MapElement::U16,
            dims: vec![100, 50],
            strides: vec![256],
            offset: 0,
            region: MapRegion::Tiled(sides.to_vec()),
            element_strides: strides.to_vec(),
            swizzle,
            interleave: Interleave::None,
            l2_promotion: L2Promotion::None,
            fill: OutOfBoundsFill::Zeros,
        };
        TensorBox::new(map, 4096, &coordinates, &sides)
    }

    fn check(tensor: &TensorBox, expected: &[(u32, u64, Range<u32>)]) {
        let rows: Vec<_> = tensor.rows().map(|row| (row.shared, row.global, row.inside)).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn rows_lie_one_after_the_other() {
        let tensor = boxed([8, 3], [32, 2], [1, 1], Swizzle::None);
        check(&tensor, &[(0, 4096 + 3 * 256 + 16, 0..64), (64, 4096 + 4 * 256 + 16, 0..64)]);
        assert_eq!((tensor.row_bytes(), tensor.shared_bytes()), (64, 128));
    }

    #[test]
    fn rows_of_a_swizzled_box_are_a_span_apart() {
        let tensor = boxed([0, 0], [8, 2], [1, 1], Swizzle::B128);
        check(&tensor, &[(0, 4096, 0..16), (128, 4096 + 256, 0..16)]);
        assert_eq!((tensor.row_bytes(), tensor.shared_bytes()), (16, 256));
    }

    #[test]
    fn a_box_ends_with_the_tensor() {
        let tensor = boxed([88, 49], [32, 2], [1, 1], Swizzle::None);
        let rows: Vec<_> = tensor.rows().map(|row| row.inside).collect();
        assert_eq!(rows, [0..24, 0..0]);
        let tensor = boxed([-8, -1], [32, 2], [1, 1], Swizzle::None);
        let rows: Vec<_> = tensor.rows().map(|row| row.inside).collect();
        assert_eq!(rows, [0..0, 16..64]);
        let tensor = boxed([i32::MAX - 7, 0], [32, 1], [1, 1], Swizzle::None);
        assert_eq!(tensor.rows().next().unwrap().inside, 0..0);
    }

    #[test]
    fn a_stored_row_ends_with_a_chunk() {
        let stored = |start, side| boxed([start, 0], [side, 1], [1, 1], Swizzle::None).stored();
        let check = |start, side, expected: Range<u32>| {
            assert_eq!(stored(start, side).rows().next().unwrap().inside, expected);
        };
        check(88, 32, 0..32);
        check(96, 8, 0..16);
        check(0, 96, 0..192);
        check(104, 8, 0..0);
    }

    #[test]
    fn element_strides_thin_all_dimensions_but_the_innermost() {
        let tensor = boxed([0, 1], [32, 8], [2, 3], Swizzle::None);
        let globals: Vec<_> = tensor.rows().map(|row| row.global).collect();
        assert_eq!(globals, [1, 4, 7].map(|row| 4096 + row * 256));
        assert_eq!((tensor.row_bytes(), tensor.shared_bytes()), (64, 192));
    }
}
