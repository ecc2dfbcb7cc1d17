//! The rows of a box: where each one lies in shared and global memory, and which part of it is inside the tensor.
//!
//! The layout is that of an H100 and an H200. Stores and reductions write whole chunks of 16 bytes: the elements of the box
//! behind the end of a row are written too, up to the end of the chunk, which the distance of rows, a multiple of 16 bytes,
//! includes. Rows follow each other in shared memory; with a swizzle their distance
//! is its span, even if they are shorter. Along every dimension but the innermost, only each n-th element is copied,
//! where n is the element stride; the innermost element stride has no effect.
//!
//! A column of pixels (im2col) is a box of one row for each pixel. The pixels follow each other inside the bounding box of
//! an image, each n-th along a dimension, and then in the next image; the offsets of the instruction move all of them.

use std::ops::Range;

use lightbench_primitives::tensor_map::{MapRegion, TensorMap};

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
    /// Copied elements along each dimension; of a column, channels and pixels.
    copied: Vec<u32>,
    /// The coordinates of the pixels of a column; none for a box.
    pixels: Option<Vec<[i64; MOST_DIMENSIONS]>>,
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
        Self { start, coordinates, copied, pixels: None, end_unit, map }
    }

    /// A column of pixels.
    ///
    /// # Errors
    ///
    /// The first pixel lies outside of the bounding box; an H200 ends such a launch with an illegal instruction (CUDA error
    /// 715).
    pub(super) fn of_pixels(
        map: TensorMap,
        buffer: u64,
        coordinates: &[i32],
        offsets: &[u16],
    ) -> Result<Self, String> {
        let MapRegion::Im2col { lower_corner, upper_corner, channels, pixels } = &map.region else {
            return Err("a map without columns of pixels".to_owned());
        };
        let last = map.rank() - 1;
        let corners = lower_corner.iter().zip(upper_corner).zip(&map.dims[1..last]);
        let bounds: Vec<(i64, i64)> = corners
            .map(|((lower, upper), dim)| (i64::from(*lower), *dim as i64 - 1 + i64::from(*upper)))
            .collect();
        for (index, (first, end)) in bounds.iter().enumerate() {
            let (dimension, start) = (index + 1, i64::from(coordinates[index + 1]));
            if !(*first..=*end).contains(&start) {
                return Err(format!(
                    "the coordinate of dimension {dimension} is {start}, outside of the bounding box of the pixels, \
                     {first} to {end}"
                ));
            }
        }
        // The offsets have 16 bits together: an H200 ignores the others.
        let offset_values = 1_i64 << (16 / bounds.len().max(1));
        let mut position = [0; MOST_DIMENSIONS];
        for (position, coordinate) in position.iter_mut().zip(coordinates) {
            *position = i64::from(*coordinate);
        }
        let mut column = Vec::with_capacity(*pixels as usize);
        for _ in 0..*pixels {
            let mut pixel = position;
            for (coordinate, offset) in pixel[1..].iter_mut().zip(offsets) {
                *coordinate += i64::from(*offset) % offset_values;
            }
            column.push(pixel);
            let mut moves_on = true;
            for (index, (first, end)) in bounds.iter().enumerate() {
                let at = &mut position[index + 1];
                *at += i64::from(map.element_strides[index + 1]);
                moves_on = *at > *end;
                if !moves_on {
                    break;
                }
                *at = *first;
            }
            if moves_on {
                position[last] += i64::from(map.element_strides[last]);
            }
        }
        Ok(Self {
            start: buffer.wrapping_add(map.offset),
            coordinates: coordinates.to_vec(),
            copied: vec![*channels, *pixels],
            pixels: Some(column),
            end_unit: map.element.bytes(),
            map,
        })
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

    /// The coordinates of the first element of a row.
    fn row_coordinates(&self, row: u64) -> [i64; MOST_DIMENSIONS] {
        if let Some(pixels) = &self.pixels {
            return pixels[row as usize];
        }
        let mut rest = row;
        let mut coordinates = [0; MOST_DIMENSIONS];
        coordinates[0] = i64::from(self.coordinates[0]);
        let outer = coordinates.iter_mut().enumerate().take(self.copied.len()).skip(1);
        for (dimension, coordinate) in outer {
            let count = u64::from(self.copied[dimension]);
            let step = (rest % count) * u64::from(self.map.element_strides[dimension]);
            rest /= count;
            *coordinate = i64::from(self.coordinates[dimension]) + step as i64;
        }
        coordinates
    }

    /// The rows, the second dimension first.
    pub(super) fn rows(&self) -> impl Iterator<Item = BoxRow> {
        let inside_row = self.inside_row();
        let inner = i64::from(self.coordinates[0]).wrapping_mul(i64::from(self.element()));
        (0..self.row_count()).map(move |row| {
            let mut global = self.start.wrapping_add_signed(inner);
            let coordinates = self.row_coordinates(row);
            let mut is_inside = true;
            let outer = coordinates.iter().enumerate().take(self.map.rank()).skip(1);
            for (dimension, position) in outer {
                is_inside &= (0..self.map.dims[dimension] as i64).contains(position);
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

    const COLUMNS: &str = include_str!("../tests/recorded/columns_of_pixels.txt");

    /// A tensor of 32-bit words without gaps, with the numbers of a recorded line.
    fn recorded(parameters: &str) -> Result<TensorBox, String> {
        let mut numbers = parameters.split(' ').map(|number| number.parse::<i64>().unwrap());
        let rank = numbers.next().unwrap() as usize;
        let mut take = |count: usize| numbers.by_ref().take(count).collect::<Vec<i64>>();
        let dims: Vec<u64> = take(rank).iter().map(|dim| *dim as u64).collect();
        let corner = |numbers: Vec<i64>| numbers.iter().map(|number| *number as i32).collect();
        let (lower_corner, upper_corner) = (corner(take(rank - 2)), corner(take(rank - 2)));
        let (channels, pixels) = (take(1)[0] as u32, take(1)[0] as u32);
        let element_strides = take(rank).iter().map(|stride| *stride as u32).collect();
        let coordinates: Vec<i32> = corner(take(rank));
        let offsets: Vec<u16> = take(rank - 2).iter().map(|offset| *offset as u16).collect();
        let strides = (1..rank).map(|end| 4 * dims[..end].iter().product::<u64>()).collect();
        let map = TensorMap {
            element: MapElement::U32,
            dims,
            strides,
            offset: 0,
            region: MapRegion::Im2col { lower_corner, upper_corner, channels, pixels },
            element_strides,
            swizzle: Swizzle::None,
            interleave: Interleave::None,
            l2_promotion: L2Promotion::None,
            fill: OutOfBoundsFill::Zeros,
        };
        TensorBox::of_pixels(map, 0, &coordinates, &offsets)
    }

    /// For each row, the number of its pixel in the tensor, or -1.
    fn numbers(tensor: &TensorBox) -> Vec<i64> {
        let channels = 4 * tensor.map.dims[0];
        let number = |row: BoxRow| match row.inside.is_empty() {
            true => -1,
            false => ((row.global + u64::from(row.inside.start)) / channels) as i64,
        };
        tensor.rows().map(number).collect()
    }

    #[test]
    fn columns_have_the_pixels_that_an_h200_copies() {
        let list = |text: &str| -> Vec<i64> {
            text.split(' ').map(|number| number.parse().unwrap()).collect()
        };
        let check = |line: &str| {
            let (parameters, expected) = line.split_once(": ").unwrap();
            match (recorded(parameters), expected.split_once(' ').unwrap()) {
                (Err(_), ("error", "715")) => {}
                (Ok(tensor), ("pixels", expected)) => {
                    let (pixels, channels) = expected.split_once(" | ch ").unwrap();
                    assert_eq!(numbers(&tensor), list(pixels), "{line}");
                    let (inside, first) = (tensor.inside_row(), tensor.coordinates[0]);
                    let is_outside = list(pixels)[0] == -1;
                    let channel = |index: u32| {
                        let is_inside = !is_outside && inside.contains(&(4 * index));
                        if is_inside { i64::from(first) + i64::from(index) } else { -1 }
                    };
                    let found: Vec<i64> = (0..tensor.copied[0]).map(channel).collect();
                    assert_eq!(found, list(channels), "{line}");
                }
                (Ok(tensor), ("stored", expected)) => {
                    let found: Vec<String> = numbers(&tensor)
                        .iter()
                        .enumerate()
                        .filter(|(_, pixel)| **pixel >= 0)
                        .map(|(index, pixel)| format!("{pixel}={index}"))
                        .collect();
                    assert_eq!(found.join(" "), expected, "{line}");
                }
                (found, expected) => panic!("{line}: {found:?}, recorded {expected:?}"),
            }
        };
        COLUMNS.lines().filter(|line| !line.starts_with('#')).for_each(check);
    }

    #[test]
    fn element_strides_thin_all_dimensions_but_the_innermost() {
        let tensor = boxed([0, 1], [32, 8], [2, 3], Swizzle::None);
        let globals: Vec<_> = tensor.rows().map(|row| row.global).collect();
        assert_eq!(globals, [1, 4, 7].map(|row| 4096 + row * 256));
        assert_eq!((tensor.row_bytes(), tensor.shared_bytes()), (64, 192));
    }
}
