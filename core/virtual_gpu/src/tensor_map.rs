//! Tensor maps as the virtual GPU's kernels see them: descriptors of 128 bytes.
//!
//! NVIDIA does not document the format of a `CUtensorMap`. The format here is the virtual GPU's own: the host encodes
//! a map with [`encode`] and passes the bytes as a parameter, and instructions that take a tensor map decode them. A
//! mark in the first bytes distinguishes a descriptor from other memory.

use std::fmt;

use lightbench_primitives::tensor_map::{
    Interleave, L2Promotion, MAX_RANK, MapElement, MapError, MapRegion, OutOfBoundsFill, Swizzle,
    TensorMap,
};

use super::isa::tensor_map::MapField;

/// The size of a descriptor in bytes, as of a `CUtensorMap`.
pub const BYTES: usize = 128;

/// The first bytes of a descriptor.
const MARK: [u8; 8] = *b"LB-TMAP1";

/// Element types by their number in a descriptor, which is that of `tensormap.replace.elemtype` (PTX ISA,
/// "tensormap.replace").
pub(crate) const ELEMENTS: [MapElement; 13] = [
    MapElement::U8,
    MapElement::U16,
    MapElement::U32,
    MapElement::I32,
    MapElement::U64,
    MapElement::I64,
    MapElement::F16,
    MapElement::F32,
    MapElement::F32Ftz,
    MapElement::F64,
    MapElement::Bf16,
    MapElement::Tf32,
    MapElement::Tf32Ftz,
];
/// Interleaved layouts by the number of `tensormap.replace.interleave_layout`.
pub(crate) const INTERLEAVES: [Interleave; 3] =
    [Interleave::None, Interleave::B16, Interleave::B32];
/// Swizzles by the number of `tensormap.replace.swizzle_mode`.
pub(crate) const SWIZZLES: [Swizzle; 4] =
    [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
/// Fill modes by the number of `tensormap.replace.fill_mode`.
pub(crate) const FILLS: [OutOfBoundsFill; 2] = [OutOfBoundsFill::Zeros, OutOfBoundsFill::Nan];
const PROMOTIONS: [L2Promotion; 4] =
    [L2Promotion::None, L2Promotion::B64, L2Promotion::B128, L2Promotion::B256];

// Offsets of the fields. Numbers are little-endian; unused bytes are zero.
const ADDRESS: usize = 8;
const OFFSET: usize = 16;
const ELEMENT: usize = 24;
/// The rank minus one, as in `tensormap.replace.rank`.
const RANK: usize = 25;
const MODE: usize = 26;
const SWIZZLE: usize = 27;
const INTERLEAVE: usize = 28;
const PROMOTION: usize = 29;
const FILL: usize = 30;
/// One byte for each dimension.
const ELEMENT_STRIDES: usize = 32;
/// Elements minus one, 4 bytes for each dimension.
const DIMS: usize = 40;
/// Bytes, 8 for each dimension but the innermost.
const STRIDES: usize = 64;
/// Sides of the box, 2 bytes for each dimension; or the corners, channels and pixels of im2col.
const REGION: usize = 96;
const LOWER_CORNER: usize = REGION;
const UPPER_CORNER: usize = LOWER_CORNER + 2 * MOST_CORNERS;
const CHANNELS: usize = UPPER_CORNER + 2 * MOST_CORNERS;
const PIXELS: usize = CHANNELS + 2;
/// Dimensions of a corner: all but the first and the last.
const MOST_CORNERS: usize = MAX_RANK - 2;

const TILED: u8 = 0;
const IM2COL: u8 = 1;

/// Why 128 bytes are no descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DescriptorError {
    /// The mark is missing: the bytes are something else.
    NoTensorMap {
        /// The first bytes.
        found: [u8; 8],
    },
    /// A field has a number without a meaning.
    Field {
        name: &'static str,
        found: u8,
        /// The largest number with a meaning.
        largest: u8,
    },
    /// An unused byte is not zero.
    Unused {
        /// From the descriptor's first byte.
        offset: usize,
        found: u8,
    },
    /// The tensor map violates a limit.
    Limit(MapError),
}

impl fmt::Display for DescriptorError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTensorMap { found } if found.iter().all(|byte| *byte == 0) => {
                formatter.write_str("zeros where a tensor map should begin")
            }
            Self::NoTensorMap { found } => {
                formatter.write_str("bytes that are no tensor map; the first ones are")?;
                found.iter().try_for_each(|byte| write!(formatter, " {byte:02x}"))
            }
            Self::Field { name, found, largest } => {
                write!(formatter, "a tensor map whose {name} is {found}; the largest is {largest}")
            }
            Self::Unused { offset, found } => write!(
                formatter,
                "a tensor map whose unused byte {offset} is {found:#04x} instead of zero"
            ),
            Self::Limit(error) => write!(formatter, "a tensor map that violates a limit: {error}"),
        }
    }
}

impl std::error::Error for DescriptorError {}

/// Encodes a tensor map, of a buffer at an address, as a descriptor.
///
/// The map has to satisfy [`TensorMap::check`]; a value beyond the range of its field becomes the field's largest.
#[must_use]
pub fn encode(map: &TensorMap, address: u64) -> [u8; BYTES] {
    let mut fields = Fields([0; BYTES]);
    fields.put(0, MARK);
    fields.put(ADDRESS, address.to_le_bytes());
    fields.put(OFFSET, map.offset.to_le_bytes());
    fields.put(ELEMENT, [number(&ELEMENTS, map.element)]);
    fields.put(RANK, [u8::try_from(map.rank().wrapping_sub(1)).unwrap_or(u8::MAX)]);
    fields.put(SWIZZLE, [number(&SWIZZLES, map.swizzle)]);
    fields.put(INTERLEAVE, [number(&INTERLEAVES, map.interleave)]);
    fields.put(PROMOTION, [number(&PROMOTIONS, map.l2_promotion)]);
    fields.put(FILL, [number(&FILLS, map.fill)]);
    for (index, stride) in map.element_strides.iter().take(MAX_RANK).enumerate() {
        fields.put(ELEMENT_STRIDES + index, [u8::try_from(*stride).unwrap_or(u8::MAX)]);
    }
    for (index, dim) in map.dims.iter().take(MAX_RANK).enumerate() {
        let last = u32::try_from(dim.saturating_sub(1)).unwrap_or(u32::MAX);
        fields.put(DIMS + 4 * index, last.to_le_bytes());
    }
    for (index, stride) in map.strides.iter().take(MAX_RANK - 1).enumerate() {
        fields.put(STRIDES + 8 * index, stride.to_le_bytes());
    }
    fields.put_region(&map.region);
    fields.0
}

/// Decodes a descriptor: the tensor map, and the address of its buffer.
///
/// # Errors
///
/// The bytes are no descriptor, or the tensor map violates a limit.
pub fn decode(bytes: &[u8; BYTES]) -> Result<(TensorMap, u64), DescriptorError> {
    let fields = Fields(*bytes);
    let mark = fields.array(0);
    if mark != MARK {
        return Err(DescriptorError::NoTensorMap { found: mark });
    }
    let rank = fields.choice(RANK, "rank minus one", MAX_RANK as u8 - 1)? + 1;
    let map = TensorMap {
        element: fields.named(ELEMENT, "element type", &ELEMENTS)?,
        dims: (0..rank).map(|index| u64::from(fields.word(DIMS + 4 * index)) + 1).collect(),
        strides: (1..rank).map(|index| fields.double(STRIDES + 8 * (index - 1))).collect(),
        offset: fields.double(OFFSET),
        region: fields.region(rank)?,
        element_strides: (0..rank)
            .map(|index| u32::from(fields.0[ELEMENT_STRIDES + index]))
            .collect(),
        swizzle: fields.named(SWIZZLE, "swizzle", &SWIZZLES)?,
        interleave: fields.named(INTERLEAVE, "interleaved layout", &INTERLEAVES)?,
        l2_promotion: fields.named(PROMOTION, "promotion to the L2 cache", &PROMOTIONS)?,
        fill: fields.named(FILL, "fill mode", &FILLS)?,
    };
    map.check(u64::MAX).map_err(DescriptorError::Limit)?;
    let address = fields.double(ADDRESS);
    let written = encode(&map, address);
    match written.iter().zip(bytes).position(|(expected, found)| expected != found) {
        Some(offset) => Err(DescriptorError::Unused { offset, found: bytes[offset] }),
        None => Ok((map, address)),
    }
}

/// Replaces a field of a descriptor, of a dimension where the field has one value for each. Zeros are a descriptor without
/// fields yet.
///
/// # Errors
///
/// The bytes are no descriptor. A value that a map may not have is an error when it is decoded.
pub(crate) fn replace(
    bytes: &mut [u8; BYTES],
    (field, dimension): (MapField, u8),
    value: u64,
) -> Result<(), DescriptorError> {
    let mut fields = Fields(*bytes);
    let mark = fields.array(0);
    if *bytes != [0; BYTES] && mark != MARK {
        return Err(DescriptorError::NoTensorMap { found: mark });
    }
    fields.put(0, MARK);
    let dimension = usize::from(dimension);
    let (byte, word) = (u8::try_from(value).unwrap_or(u8::MAX), value as u32);
    match field {
        MapField::Address => {
            fields.put(ADDRESS, value.to_le_bytes());
            fields.put(OFFSET, [0; 8]);
        }
        MapField::Rank => fields.put(RANK, [byte]),
        MapField::BoxSide => fields.put(REGION + 2 * dimension, half(word)),
        MapField::Dimension => fields.put(DIMS + 4 * dimension, word.wrapping_sub(1).to_le_bytes()),
        // The strides begin with dimension 1.
        MapField::Stride if dimension < MAX_RANK - 1 => {
            fields.put(STRIDES + 8 * dimension, value.to_le_bytes());
        }
        MapField::Stride => {}
        MapField::ElementStride => fields.put(ELEMENT_STRIDES + dimension, [byte]),
        MapField::Element => fields.put(ELEMENT, [byte]),
        MapField::Interleave => fields.put(INTERLEAVE, [byte]),
        MapField::Swizzle => fields.put(SWIZZLE, [byte]),
        MapField::Fill => fields.put(FILL, [byte]),
    }
    *bytes = fields.0;
    Ok(())
}

/// The number of a value in a descriptor. The tables have every value.
fn number<T: Copy + PartialEq>(table: &[T], value: T) -> u8 {
    table.iter().position(|known| *known == value).map_or(u8::MAX, |index| index as u8)
}

/// The bytes of a descriptor.
struct Fields([u8; BYTES]);

impl Fields {
    fn put<const N: usize>(&mut self, offset: usize, bytes: [u8; N]) {
        self.0[offset..offset + N].copy_from_slice(&bytes);
    }

    fn put_region(&mut self, region: &MapRegion) {
        match region {
            MapRegion::Tiled(sides) => {
                self.put(MODE, [TILED]);
                for (index, side) in sides.iter().take(MAX_RANK).enumerate() {
                    self.put(REGION + 2 * index, half(*side));
                }
            }
            MapRegion::Im2col { lower_corner, upper_corner, channels, pixels } => {
                self.put(MODE, [IM2COL]);
                for (start, corner) in [(LOWER_CORNER, lower_corner), (UPPER_CORNER, upper_corner)]
                {
                    for (index, value) in corner.iter().take(MOST_CORNERS).enumerate() {
                        let range = i32::from(i16::MIN)..=i32::from(i16::MAX);
                        let value = (*value).clamp(*range.start(), *range.end()) as i16;
                        self.put(start + 2 * index, value.to_le_bytes());
                    }
                }
                self.put(CHANNELS, half(*channels));
                self.put(PIXELS, half(*pixels));
            }
        }
    }

    fn array<const N: usize>(&self, offset: usize) -> [u8; N] {
        std::array::from_fn(|index| self.0[offset + index])
    }

    fn half(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.array(offset))
    }

    fn word(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.array(offset))
    }

    fn double(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.array(offset))
    }

    /// A byte up to a largest value.
    fn choice(
        &self,
        offset: usize,
        name: &'static str,
        largest: u8,
    ) -> Result<usize, DescriptorError> {
        let found = self.0[offset];
        let is_known = found <= largest;
        is_known.then_some(usize::from(found)).ok_or(DescriptorError::Field {
            name,
            found,
            largest,
        })
    }

    /// The value with a number.
    fn named<T: Copy>(
        &self,
        offset: usize,
        name: &'static str,
        table: &[T],
    ) -> Result<T, DescriptorError> {
        self.choice(offset, name, table.len() as u8 - 1).map(|index| table[index])
    }

    fn region(&self, rank: usize) -> Result<MapRegion, DescriptorError> {
        let is_im2col = self.choice(MODE, "mode", IM2COL)? == usize::from(IM2COL);
        if !is_im2col {
            let side = |index| u32::from(self.half(REGION + 2 * index));
            return Ok(MapRegion::Tiled((0..rank).map(side).collect()));
        }
        let corner = |start: usize| {
            let dimensions = 0..rank.saturating_sub(2);
            dimensions.map(|index| i32::from(self.half(start + 2 * index) as i16)).collect()
        };
        Ok(MapRegion::Im2col {
            lower_corner: corner(LOWER_CORNER),
            upper_corner: corner(UPPER_CORNER),
            channels: u32::from(self.half(CHANNELS)),
            pixels: u32::from(self.half(PIXELS)),
        })
    }
}

fn half(value: u32) -> [u8; 2] {
    u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            element: MapElement::Bf16,
            dims: vec![512, 1000],
            strides: vec![1024],
            offset: 0,
            region: MapRegion::Tiled(vec![64, 128]),
            element_strides: vec![1, 1],
            swizzle: Swizzle::B128,
            interleave: Interleave::None,
            l2_promotion: L2Promotion::B128,
            fill: OutOfBoundsFill::Zeros,
        }
    }

    fn region(rank: usize) -> impl Strategy<Value = MapRegion> {
        let tiled = vec(1_u32..=256, rank).prop_map(MapRegion::Tiled);
        let (least, most) = match rank {
            0..=3 => (-32_768, 32_767),
            4 => (-128, 127),
            _ => (-16, 15),
        };
        let corner = move || vec(least..=most, rank.saturating_sub(2));
        let im2col = (corner(), corner(), 1_u32..=256, 1_u32..=1024).prop_map(
            |(lower_corner, upper_corner, channels, pixels)| MapRegion::Im2col {
                lower_corner,
                upper_corner,
                channels,
                pixels,
            },
        );
        prop_oneof![tiled, im2col]
    }

    fn dims(rank: usize) -> impl Strategy<Value = Vec<u64>> {
        vec(prop_oneof![1_u64..100, Just(1 << 32), 1_u64..=1 << 32], rank)
    }

    fn strides(rank: usize) -> impl Strategy<Value = Vec<u64>> {
        let most = (1_u64 << 40) / 32 - 1;
        let stride = prop_oneof![0..100_u64, Just(most), 0..=most].prop_map(|units| 32 * units);
        vec(stride, rank - 1)
    }

    fn maps() -> impl Strategy<Value = TensorMap> {
        (1_usize..=MAX_RANK).prop_flat_map(|rank| {
            let modes = (
                select(&ELEMENTS[..]),
                select(&SWIZZLES[..]),
                select(&INTERLEAVES[..]),
                select(&PROMOTIONS[..]),
                select(&FILLS[..]),
            );
            let offset = prop_oneof![Just(0), (0..=u64::MAX / 32).prop_map(|units| 32 * units)];
            let sizes = (dims(rank), strides(rank), offset, region(rank), vec(1_u32..=8, rank));
            (modes, sizes).prop_map(
                |(
                    (element, swizzle, interleave, l2_promotion, fill),
                    (dims, strides, offset, region, element_strides),
                )| TensorMap {
                    element,
                    dims,
                    strides,
                    offset,
                    region,
                    element_strides,
                    swizzle,
                    interleave,
                    l2_promotion,
                    fill,
                },
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4096, ..ProptestConfig::default() })]

        /// Whatever passes the check comes back; everything else is an error, never another map.
        #[test]
        fn a_map_within_the_limits_round_trips(map in maps(), address in any::<u64>()) {
            match (map.check(u64::MAX), decode(&encode(&map, address))) {
                (Ok(()), decoded) => prop_assert_eq!(decoded, Ok((map, address))),
                (Err(_), Err(DescriptorError::Limit(_))) => {}
                (Err(error), decoded) => prop_assert!(false, "{error}: {decoded:?}"),
            }
        }

        #[test]
        fn a_changed_byte_is_another_map_or_an_error(offset in 0..BYTES, change in 1_u8..) {
            let mut bytes = encode(&map(), 1 << 40);
            bytes[offset] ^= change;
            prop_assert_ne!(decode(&bytes), Ok((map(), 1 << 40)));
        }
    }

    #[test]
    fn every_value_of_every_enumeration_round_trips() {
        let check = |change: &dyn Fn(&mut TensorMap)| {
            let mut map = map();
            map.region = MapRegion::Tiled(vec![16, 8]);
            (map.dims, map.strides) = (vec![64, 64, 64], vec![1024, 1 << 20]);
            (map.region, map.element_strides) = (MapRegion::Tiled(vec![16, 8, 2]), vec![1; 3]);
            map.swizzle = Swizzle::None;
            change(&mut map);
            map.check(u64::MAX).unwrap();
            assert_eq!(decode(&encode(&map, 16)), Ok((map, 16)));
        };
        ELEMENTS.iter().for_each(|element| check(&|map| map.element = *element));
        PROMOTIONS.iter().for_each(|promotion| check(&|map| map.l2_promotion = *promotion));
        for fill in FILLS {
            check(&|map| (map.element, map.fill) = (MapElement::F32, fill));
        }
        for swizzle in SWIZZLES {
            check(&|map| (map.swizzle, map.region) = (swizzle, MapRegion::Tiled(vec![8, 8, 2])));
        }
        let interleaved = [(Interleave::B16, Swizzle::None), (Interleave::B32, Swizzle::B32)];
        for (interleave, swizzle) in interleaved {
            check(&|map| (map.interleave, map.swizzle) = (interleave, swizzle));
        }
    }

    #[test]
    fn bytes_that_are_no_descriptor_say_what_they_are() {
        let check = |bytes: [u8; BYTES], expected: &str| {
            let message = decode(&bytes).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}\nexpected: {expected}");
        };
        let with = |offset: usize, value: u8| {
            let mut bytes = encode(&map(), 0);
            bytes[offset] = value;
            bytes
        };
        check([0; BYTES], "zeros where a tensor map should begin");
        check([0x3f; BYTES], "the first ones are 3f 3f 3f");
        check(with(ELEMENT, 13), "element type is 13; the largest is 12");
        check(with(RANK, 5), "rank minus one is 5; the largest is 4");
        check(with(BYTES - 1, 1), "unused byte 127 is 0x01");
        check(with(REGION, 63), "box of dimension 0");
        let mut invalid = map();
        invalid.region = MapRegion::Tiled(vec![100_000, 1]);
        check(encode(&invalid, 0), "found 65535, expected 1 to 256");
    }
}
