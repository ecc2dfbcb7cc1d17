//! Tensor maps: the description of a tensor in global memory from which the Tensor Memory Accelerator copies boxes.
//!
//! The limits are those of the CUDA Driver API, "Tensor Map Object Managment", `cuTensorMapEncodeTiled` and
//! `cuTensorMapEncodeIm2col`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dtype::Dtype;

/// A tensor in global memory and the box that one copy transfers. Dimensions count from the innermost one, as the
/// driver's do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorMap {
    /// The type of an element.
    pub element: MapElement,
    /// Elements along each dimension.
    pub dims: Vec<u64>,
    /// Bytes between neighbours along dimension 1, 2, …; elements are contiguous along dimension 0.
    pub strides: Vec<u64>,
    /// The tensor's first byte, from the start of its buffer.
    pub offset: u64,
    /// The elements that one copy transfers.
    pub region: MapRegion,
    /// Along each dimension, every n-th element is copied. The hardware ignores the entry of dimension 0 unless the
    /// tensor is interleaved.
    pub element_strides: Vec<u32>,
    /// The permutation of chunks in shared memory.
    pub swizzle: Swizzle,
    /// The layout of channels in global memory.
    pub interleave: Interleave,
    /// The granularity of fetches to the L2 cache.
    pub l2_promotion: L2Promotion,
    /// The value of elements outside the tensor.
    pub fill: OutOfBoundsFill,
}

/// The elements that one copy transfers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MapRegion {
    /// A box with this many elements of the tensor's space along each dimension.
    Tiled(Vec<u32>),
    /// Columns of pixels for convolutions. The innermost dimension holds channels, the outermost one images.
    Im2col {
        /// The first pixel of the bounding box relative to the tensor, for each dimension but the first and last.
        lower_corner: Vec<i32>,
        /// The last pixel of the bounding box relative to the tensor's last, likewise.
        upper_corner: Vec<i32>,
        /// Channels of each pixel.
        channels: u32,
        /// Pixels of a column.
        pixels: u32,
    },
}

/// The type of an element, by the driver's names (`CU_TENSOR_MAP_DATA_TYPE_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the driver's own")]
pub enum MapElement {
    U8,
    U16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    Bf16,
    /// By its name, subnormal numbers become zero; loads on an H100 and an H200 keep them.
    F32Ftz,
    /// Rounded to TF32.
    Tf32,
    /// Rounded to TF32; subnormal numbers as in `F32Ftz`.
    Tf32Ftz,
}

impl MapElement {
    /// All types, in the driver's order: the driver's number of a type is its index.
    pub const ALL: [Self; 13] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::F16,
        Self::F32,
        Self::F64,
        Self::Bf16,
        Self::F32Ftz,
        Self::Tf32,
        Self::Tf32Ftz,
    ];

    /// The name in a declaration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Bf16 => "bf16",
            Self::F32Ftz => "f32_ftz",
            Self::Tf32 => "tf32",
            Self::Tf32Ftz => "tf32_ftz",
        }
    }

    /// Whether elements of a dtype can be copied as this type: their own type, integers of the same width, and for f32
    /// the roundings of f32.
    #[must_use]
    pub fn is_view_of(self, dtype: Dtype) -> bool {
        let Some(own) = Self::of(dtype) else { return false };
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::I32 | Self::U64 | Self::I64 => {
                self.bytes() == own.bytes()
            }
            Self::F16 | Self::F32 | Self::F64 | Self::Bf16 => self == own,
            Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => own == Self::F32,
        }
    }

    /// The element type of a tensor; `None` for packed elements, and for booleans of no fixed type.
    #[must_use]
    pub const fn of(dtype: Dtype) -> Option<Self> {
        Some(match dtype {
            Dtype::F64 => Self::F64,
            Dtype::F32 => Self::F32,
            Dtype::F16 => Self::F16,
            Dtype::Bf16 => Self::Bf16,
            // The driver has no names for 8-bit floats and for signed integers of 8 and 16 bits; a copy moves bits.
            Dtype::F8E4M3 | Dtype::F8E5M2 | Dtype::I8 | Dtype::U8 | Dtype::Bool => Self::U8,
            Dtype::I16 | Dtype::U16 => Self::U16,
            Dtype::I32 => Self::I32,
            Dtype::U32 => Self::U32,
            Dtype::I64 => Self::I64,
            Dtype::U64 => Self::U64,
            Dtype::I4 | Dtype::U4 | Dtype::E2M1 => return None,
        })
    }

    /// The size in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::I32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Whether elements outside the tensor can be filled with NaN.
    #[must_use]
    pub const fn is_float(self) -> bool {
        match self {
            Self::F16
            | Self::F32
            | Self::F64
            | Self::Bf16
            | Self::F32Ftz
            | Self::Tf32
            | Self::Tf32Ftz => true,
            Self::U8 | Self::U16 | Self::U32 | Self::I32 | Self::U64 | Self::I64 => false,
        }
    }
}

/// The permutation of 16-byte chunks of a box in shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the driver's own")]
pub enum Swizzle {
    #[default]
    None,
    B32,
    B64,
    B128,
}

impl Swizzle {
    /// The bytes of a row, within which chunks are exchanged; `None` without a permutation.
    #[must_use]
    pub const fn span(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::B32 => Some(32),
            Self::B64 => Some(64),
            Self::B128 => Some(128),
        }
    }
}

/// The layout of channels in global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the driver's own")]
pub enum Interleave {
    #[default]
    None,
    B16,
    B32,
}

impl Interleave {
    /// The alignment in bytes that the tensor's first byte and its strides need.
    #[must_use]
    pub const fn alignment(self) -> u64 {
        match self {
            Self::None | Self::B16 => 16,
            Self::B32 => 32,
        }
    }
}

/// The granularity of fetches to the L2 cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the driver's own")]
pub enum L2Promotion {
    #[default]
    None,
    B64,
    B128,
    B256,
}

/// The value of elements outside the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum OutOfBoundsFill {
    #[default]
    Zeros,
    Nan,
}

/// The largest rank.
pub const MAX_RANK: usize = 5;
/// The largest number of elements along a dimension.
const MAX_DIMENSION: u64 = 1 << 32;
/// Strides are smaller than this number of bytes.
const STRIDE_LIMIT: u64 = 1 << 40;
/// The largest side of a box, and the largest number of channels.
const MAX_BOX: u32 = 256;
/// The largest element stride.
const MAX_ELEMENT_STRIDE: u32 = 8;
/// The largest number of pixels of a column.
const MAX_PIXELS: u32 = 1024;
/// The unit of a copy, in bytes.
const UNIT: u64 = 16;

/// The part of a tensor map that violates a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the declaration's fields")]
pub enum MapField {
    Shape,
    Strides,
    Offset,
    Box,
    ElementStrides,
    Swizzle,
    Interleave,
    Fill,
    LowerCorner,
    UpperCorner,
    Channels,
    Pixels,
}

impl MapField {
    /// The field's name in a declaration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Strides => "strides",
            Self::Offset => "offset",
            Self::Box => "box",
            Self::ElementStrides => "element_strides",
            Self::Swizzle => "swizzle",
            Self::Interleave => "interleave",
            Self::Fill => "fill",
            Self::LowerCorner => "lower_corner",
            Self::UpperCorner => "upper_corner",
            Self::Channels => "channels",
            Self::Pixels => "pixels",
        }
    }

    /// Whether the field has a value for each of several dimensions.
    #[must_use]
    pub const fn is_list(self) -> bool {
        match self {
            Self::Shape
            | Self::Strides
            | Self::Box
            | Self::ElementStrides
            | Self::LowerCorner
            | Self::UpperCorner => true,
            Self::Offset
            | Self::Swizzle
            | Self::Interleave
            | Self::Fill
            | Self::Channels
            | Self::Pixels => false,
        }
    }
}

/// A limit that a tensor map violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapError {
    /// The part.
    pub field: MapField,
    /// The dimension, from the innermost one, where the limit concerns one.
    pub dimension: Option<usize>,
    /// The value.
    pub found: String,
    /// The permitted values.
    pub expected: String,
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.field.name())?;
        if let Some(dimension) = self.dimension {
            write!(f, " of dimension {dimension} (0 is the innermost)")?;
        }
        write!(f, ": found {}, expected {}", self.found, self.expected)
    }
}

impl std::error::Error for MapError {}

type Checked = Result<(), MapError>;

fn ensure(
    holds: bool,
    field: MapField,
    dimension: impl Into<Option<usize>>,
    found: impl fmt::Display,
    expected: impl fmt::Display,
) -> Checked {
    let error = || MapError {
        field,
        dimension: dimension.into(),
        found: found.to_string(),
        expected: expected.to_string(),
    };
    if holds { Ok(()) } else { Err(error()) }
}

impl TensorMap {
    /// The number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The alignment in bytes that the tensor's first byte needs.
    #[must_use]
    pub const fn alignment(&self) -> u64 {
        self.interleave.alignment()
    }

    /// The bytes from the tensor's first to the end of its last element; `None` beyond 2^64.
    #[must_use]
    pub fn extent(&self) -> Option<u64> {
        let inner = self.dims.first()?.checked_mul(u64::from(self.element.bytes()))?;
        self.dims[1..].iter().zip(&self.strides).try_fold(inner, |end, (dim, stride)| {
            end.checked_add(dim.checked_sub(1)?.checked_mul(*stride)?)
        })
    }

    /// Checks every limit of the driver, and that the tensor lies inside a buffer of `buffer_bytes`.
    ///
    /// # Errors
    /// The first violated limit.
    pub fn check(&self, buffer_bytes: u64) -> Checked {
        self.check_shape()?;
        self.check_strides()?;
        match &self.region {
            MapRegion::Tiled(sides) => self.check_box(sides)?,
            MapRegion::Im2col { lower_corner, upper_corner, channels, pixels } => {
                self.check_columns(lower_corner, upper_corner, *channels, *pixels)?;
            }
        }
        self.check_modes()?;
        let end = self.extent().and_then(|extent| self.offset.checked_add(extent));
        let found = end.map_or("beyond 2^64".to_owned(), |end| format!("byte {end}"));
        ensure(
            end.is_some_and(|end| end <= buffer_bytes),
            MapField::Shape,
            None,
            format!("a tensor that ends at {found}"),
            format!("a tensor inside its buffer of {buffer_bytes} bytes"),
        )
    }

    fn check_shape(&self) -> Checked {
        let rank = self.rank();
        let (least, why) = match (&self.region, self.interleave) {
            (MapRegion::Im2col { .. }, _) => (3, " for im2col"),
            (MapRegion::Tiled(_), Interleave::B16 | Interleave::B32) => {
                (3, " for an interleaved tensor")
            }
            (MapRegion::Tiled(_), Interleave::None) => (1, ""),
        };
        ensure(
            (least..=MAX_RANK).contains(&rank),
            MapField::Shape,
            None,
            format!("{rank} dimensions"),
            format!("{least} to {MAX_RANK}{why}"),
        )?;
        for (index, dim) in self.dims.iter().enumerate() {
            ensure((1..=MAX_DIMENSION).contains(dim), MapField::Shape, index, dim, "1 to 2^32")?;
        }
        let (alignment, offset) = (self.alignment(), self.offset);
        let expected = format!("a multiple of {alignment} bytes");
        ensure(offset.is_multiple_of(alignment), MapField::Offset, None, offset, expected)
    }

    fn check_strides(&self) -> Checked {
        let (rank, found) = (self.rank(), self.strides.len());
        ensure(
            found + 1 == rank,
            MapField::Strides,
            None,
            format!("{found} strides"),
            format!("{}, one for each dimension but the innermost", rank - 1),
        )?;
        let unit = self.alignment();
        for (index, stride) in self.strides.iter().enumerate() {
            let expected = format!("a multiple of {unit} bytes below 2^40");
            let holds = stride.is_multiple_of(unit) && *stride < STRIDE_LIMIT;
            ensure(holds, MapField::Strides, index + 1, stride, expected)?;
        }
        let found = self.element_strides.len();
        let expected = format!("{rank}, one for each dimension");
        ensure(found == rank, MapField::ElementStrides, None, found, expected)?;
        for (index, stride) in self.element_strides.iter().enumerate() {
            let holds = (1..=MAX_ELEMENT_STRIDE).contains(stride);
            ensure(holds, MapField::ElementStrides, index, stride, "1 to 8")?;
        }
        Ok(())
    }

    fn check_box(&self, sides: &[u32]) -> Checked {
        let rank = self.rank();
        let expected = format!("{rank}, one for each dimension");
        ensure(sides.len() == rank, MapField::Box, None, sides.len(), expected)?;
        for (index, side) in sides.iter().enumerate() {
            ensure((1..=MAX_BOX).contains(side), MapField::Box, index, side, "1 to 256")?;
        }
        self.check_inner(MapField::Box, sides[0])
    }

    fn check_columns(&self, lower: &[i32], upper: &[i32], channels: u32, pixels: u32) -> Checked {
        // A corner has 16 bits for each of its dimensions, which share 16 bits.
        let (least, most) = match self.rank() {
            3 => (-32_768, 32_767),
            4 => (-128, 127),
            _ => (-16, 15),
        };
        for (field, corner) in [(MapField::LowerCorner, lower), (MapField::UpperCorner, upper)] {
            let (expected, found) = (self.rank() - 2, corner.len());
            let expected = format!("{expected}, one for each dimension but the first and last");
            ensure(found == self.rank() - 2, field, None, found, expected)?;
            for (index, value) in corner.iter().enumerate() {
                let expected = format!("{least} to {most} for {} dimensions", self.rank());
                let holds = (least..=most).contains(value);
                ensure(holds, field, index + 1, value, expected)?;
            }
        }
        ensure((1..=MAX_BOX).contains(&channels), MapField::Channels, None, channels, "1 to 256")?;
        ensure((1..=MAX_PIXELS).contains(&pixels), MapField::Pixels, None, pixels, "1 to 1024")?;
        self.check_inner(MapField::Channels, channels)
    }

    /// The bytes of a row in shared memory.
    fn check_inner(&self, field: MapField, elements: u32) -> Checked {
        // A row of an interleaved tensor is a slice of its channels.
        if self.interleave != Interleave::None {
            return Ok(());
        }
        let bytes = elements * self.element.bytes();
        let found = format!("{elements} elements, {bytes} bytes");
        let multiple = u64::from(bytes).is_multiple_of(UNIT);
        ensure(multiple, field, 0, &found, "a multiple of 16 bytes")?;
        let span = self.swizzle.span().unwrap_or(u32::MAX);
        ensure(bytes <= span, field, 0, &found, format!("at most {span} bytes, the swizzle's span"))
    }

    fn check_modes(&self) -> Checked {
        let swizzle = self.swizzle;
        let (holds, expected) = match self.interleave {
            Interleave::None => (true, ""),
            Interleave::B16 => (swizzle == Swizzle::None, "none with an interleave of b16"),
            Interleave::B32 => (swizzle == Swizzle::B32, "b32 with an interleave of b32"),
        };
        ensure(holds, MapField::Swizzle, None, format!("{swizzle:?}").to_lowercase(), expected)?;
        ensure(
            self.fill == OutOfBoundsFill::Zeros || self.element.is_float(),
            MapField::Fill,
            None,
            format!("nan for {}", self.element.name()),
            "zeros, unless the elements are floats",
        )
    }
}

#[cfg(test)]
mod tests;
