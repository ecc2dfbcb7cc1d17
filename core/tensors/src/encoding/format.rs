//! Element formats in the encoding of the device code.

use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::float_format::FloatFormat;

use super::words::Words;

/// The format of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    kind: Kind,
    /// Bytes of an element in memory.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Whole,
    Double,
    Single,
    Small(Small),
}

/// A floating-point format of at most 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Small {
    /// Bits of the significand, the hidden one included.
    digits: i64,
    /// Exponent of the smallest normal number.
    smallest: i64,
    /// The magnitude at which rounding stops: infinity, or the largest number of a format that saturates.
    largest: u64,
    /// Magnitudes from here on are infinity and NaN.
    special: u64,
}

impl Small {
    fn new(format: FloatFormat, saturates: bool) -> Self {
        let special = format.largest_finite() + 1;
        Self {
            digits: i64::from(format.significand_bits()),
            smallest: i64::from(format.smallest_exponent()),
            largest: if saturates { format.largest_finite() } else { special },
            special,
        }
    }
}

impl Format {
    /// The format of a dtype whose elements occupy whole bytes; `None` for packed ones.
    #[must_use]
    pub fn from_dtype(dtype: Dtype) -> Option<Self> {
        let kind = match dtype {
            Dtype::F64 => Kind::Double,
            Dtype::F32 => Kind::Single,
            Dtype::F16 | Dtype::Bf16 | Dtype::F8E4M3 | Dtype::F8E5M2 => {
                Kind::Small(Small::new(dtype.float_format()?, dtype.saturates()))
            }
            Dtype::I64
            | Dtype::I32
            | Dtype::I16
            | Dtype::I8
            | Dtype::U64
            | Dtype::U32
            | Dtype::U16
            | Dtype::U8
            | Dtype::Bool => Kind::Whole,
            Dtype::E2M1 | Dtype::I4 | Dtype::U4 => return None,
        };
        Some(Self { kind, bytes: dtype.address_bytes() })
    }

    /// A number of bytes without numeric meaning.
    #[must_use]
    pub const fn opaque(bytes: u64) -> Self {
        Self { kind: Kind::Whole, bytes }
    }

    /// The format of a dtype's elements, or bytes if several elements share one.
    #[must_use]
    pub fn from_stored_dtype(dtype: Dtype) -> Self {
        Self::from_dtype(dtype).unwrap_or(Self::opaque(1))
    }

    pub(super) fn write(self, words: &mut Words) {
        let (kind, small) = match self.kind {
            Kind::Whole => (0, None),
            Kind::Double => (1, None),
            Kind::Single => (2, None),
            Kind::Small(small) => (3, Some(small)),
        };
        let nothing = Small { digits: 0, smallest: 0, largest: 0, special: 0 };
        let Small { digits, smallest, largest, special } = small.unwrap_or(nothing);
        words.whole(kind);
        words.whole(self.bytes);
        words.signed(digits);
        words.signed(smallest);
        words.whole(largest);
        words.whole(special);
    }
}
