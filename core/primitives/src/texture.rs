//! Texture and surface objects: the elements of a buffer as texels.
//!
//! The limits are those of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute
//! Capability"), which an H200 reports through `cudaGetDeviceProperties` too.

use serde::{Deserialize, Serialize};

use crate::dtype::Dtype;

/// An object through which a kernel accesses the texels of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextureObject {
    pub texels: Texels,
    pub access: TexelAccess,
}

/// The texels of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texels {
    pub format: TexelFormat,
    /// Elements of a texel: 1, 2 or 4.
    pub channels: u8,
    /// Texels along each of one to three dimensions, the innermost first.
    pub extents: Vec<u64>,
    pub memory: TexelMemory,
}

/// The memory that a GPU stores texels in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TexelMemory {
    /// An array of the driver: a copy of the buffer.
    Array,
    /// An array that surface objects write.
    WritableArray,
    /// The buffer itself.
    Linear,
}

/// The operations of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TexelAccess {
    /// Fetches.
    Texture(Sampling),
    /// Loads and stores of single texels.
    Surface,
}

/// How a fetch forms its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    pub filter: TextureFilter,
    pub address: TextureAddress,
    pub coordinates: TextureCoordinates,
    pub read: TextureRead,
}

/// The type of a texel's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the field's own")]
pub enum TexelFormat {
    F32,
    F16,
    I32,
    I16,
    I8,
    U32,
    U16,
    U8,
}

/// Filtering between texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the driver's own")]
pub enum TextureFilter {
    #[default]
    Point,
    Linear,
}

/// Addressing outside the texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the driver's own")]
pub enum TextureAddress {
    #[default]
    Clamp,
    Border,
    Wrap,
    Mirror,
}

/// The unit of coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum TextureCoordinates {
    /// Texels.
    Texels,
    /// The whole texture: coordinates from 0 to 1.
    Normalized,
}

/// The numbers that fetches return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextureRead {
    /// The elements.
    #[default]
    Element,
    /// Integers of 8 or 16 bits as f32 from 0 or -1 to 1.
    Normalized,
}

/// A limit that an object violates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found}; expected {expected}")]
pub struct TextureError {
    pub found: String,
    pub expected: String,
}

/// The maximum extents of textures of one to three dimensions.
const MAX_ARRAY: [&[u64]; 3] = [&[131_072], &[131_072, 65_536], &[16_384; 3]];
const MAX_SURFACE: [&[u64]; 3] = [&[32_768], &[131_072, 65_536], &[16_384; 3]];
const MAX_LINEAR: [&[u64]; 2] = [&[1 << 28], &[131_072, 65_000]];

/// The alignment of the address of linear texels, in bytes.
pub const LINEAR_ALIGNMENT: u64 = 512;
/// Rows of linear texels are multiples of this, in bytes.
const ROW_ALIGNMENT: u64 = 32;

impl TexelFormat {
    /// The format of elements of a dtype, if textures have it.
    #[must_use]
    pub const fn of(dtype: Dtype) -> Option<Self> {
        Some(match dtype {
            Dtype::F32 => Self::F32,
            Dtype::F16 => Self::F16,
            Dtype::I32 => Self::I32,
            Dtype::I16 => Self::I16,
            Dtype::I8 => Self::I8,
            Dtype::U32 => Self::U32,
            Dtype::U16 => Self::U16,
            Dtype::U8 => Self::U8,
            Dtype::F64
            | Dtype::Bf16
            | Dtype::F8E4M3
            | Dtype::F8E5M2
            | Dtype::I64
            | Dtype::U64
            | Dtype::Bool
            | Dtype::I4
            | Dtype::U4
            | Dtype::E2M1 => return None,
        })
    }

    /// Bytes of an element.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F16 | Self::I16 | Self::U16 => 2,
            Self::I8 | Self::U8 => 1,
        }
    }

    #[must_use]
    pub const fn is_float(self) -> bool {
        match self {
            Self::F32 | Self::F16 => true,
            Self::I32 | Self::I16 | Self::I8 | Self::U32 | Self::U16 | Self::U8 => false,
        }
    }
}

impl Texels {
    /// Bytes of a texel.
    #[must_use]
    pub fn texel_bytes(&self) -> u32 {
        self.format.bytes() * u32::from(self.channels)
    }

    /// Bytes of all texels, saturating.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.extents
            .iter()
            .fold(u64::from(self.texel_bytes()), |all, side| all.saturating_mul(*side))
    }
}

impl Sampling {
    /// Whether fetches return floating-point numbers.
    #[must_use]
    pub const fn is_float(&self, format: TexelFormat) -> bool {
        format.is_float() || matches!(self.read, TextureRead::Normalized)
    }
}

impl TextureObject {
    /// Checks the object against the limits of a GPU and a buffer of so many bytes.
    ///
    /// # Errors
    ///
    /// It violates a limit, or has not the size of the buffer.
    pub fn check(&self, buffer: u64) -> Result<(), TextureError> {
        let violated = |found: String, expected: &str| {
            Err(TextureError { found, expected: expected.to_owned() })
        };
        let Texels { channels, extents, memory, .. } = &self.texels;
        if !matches!(channels, 1 | 2 | 4) {
            return violated(format!("{channels} channels"), "1, 2 or 4");
        }
        let most: &[&[u64]] = match memory {
            TexelMemory::Array => &MAX_ARRAY,
            TexelMemory::WritableArray => &MAX_SURFACE,
            TexelMemory::Linear => &MAX_LINEAR,
        };
        let Some(most) = most.iter().find(|most| most.len() == extents.len()) else {
            let expected = format!("one to {}", most.len());
            return violated(format!("{} dimensions of texels", extents.len()), &expected);
        };
        if extents.iter().zip(*most).any(|(side, most)| !(1..=*most).contains(side)) {
            let expected = format!("1 to {most:?}, the innermost first");
            return violated(format!("{extents:?} texels"), &expected);
        }
        if self.texels.bytes() != buffer {
            let found = format!("texels of {} bytes", self.texels.bytes());
            return violated(found, &format!("the {buffer} bytes of the tensor"));
        }
        self.check_sampling()
    }

    fn check_sampling(&self) -> Result<(), TextureError> {
        let violated = |found: &str, expected: &str| {
            Err(TextureError { found: found.to_owned(), expected: expected.to_owned() })
        };
        let Texels { format, extents, memory, .. } = &self.texels;
        let TexelAccess::Texture(sampling) = self.access else {
            return if *memory == TexelMemory::WritableArray {
                Ok(())
            } else {
                violated("a surface in memory that is not writable", "an array for surfaces")
            };
        };
        let Sampling { filter, address, coordinates, read } = sampling;
        let (linear, normalized) =
            (filter == TextureFilter::Linear, coordinates == TextureCoordinates::Normalized);
        if read == TextureRead::Normalized && (format.is_float() || format.bytes() == 4) {
            return violated("`read: normalized`", "it for integers of 8 and 16 bits");
        }
        if linear && !sampling.is_float(*format) {
            return violated("`filter: linear` for integers", "`point`, or `read: normalized`");
        }
        if linear && *format == TexelFormat::I8 {
            // The hardware rounds each texel in a way that recordings of an H200 do not determine.
            return violated("`filter: linear` for i8", "`point`, or another type");
        }
        if matches!(address, TextureAddress::Wrap | TextureAddress::Mirror) && !normalized {
            return violated("`address: wrap` or `mirror`", "`normalized: true` with it");
        }
        if *memory != TexelMemory::Linear {
            return Ok(());
        }
        let is_plain = !linear && !normalized && address == TextureAddress::Clamp;
        if extents.len() == 1 && !is_plain {
            return violated(
                "a filter, addresses or normalized coordinates of a linear texture",
                "none for one dimension, which `tex1Dfetch` reads",
            );
        }
        let row = extents.first().map_or(0, |side| side * u64::from(self.texels.texel_bytes()));
        if extents.len() > 1 && !row.is_multiple_of(ROW_ALIGNMENT) {
            return violated(&format!("rows of {row} bytes in linear memory"), "a multiple of 32");
        }
        Ok(())
    }
}
