//! Element types of tensors and C types of kernel arguments, with their sizes and ranges.

use serde::{Deserialize, Serialize};

use crate::float_format::FloatFormat;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the field's own")]
pub enum Dtype {
    F64,
    F32,
    F16,
    Bf16,
    F8E4M3,
    F8E5M2,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
    I4,
    U4,
    E2M1,
}

/// The kind of numbers of a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Floating point.
    Float,
    /// Integers with a sign.
    Signed,
    /// Integers without a sign.
    Unsigned,
    /// True and false.
    Boolean,
}

impl Dtype {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 18] = [
        Self::F64,
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::F8E4M3,
        Self::F8E5M2,
        Self::I64,
        Self::I32,
        Self::I16,
        Self::I8,
        Self::U64,
        Self::U32,
        Self::U16,
        Self::U8,
        Self::Bool,
        Self::I4,
        Self::U4,
        Self::E2M1,
    ];

    /// The name in project files.
    pub fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F8E4M3 => "f8e4m3",
            Self::F8E5M2 => "f8e5m2",
            Self::I64 => "i64",
            Self::I32 => "i32",
            Self::I16 => "i16",
            Self::I8 => "i8",
            Self::U64 => "u64",
            Self::U32 => "u32",
            Self::U16 => "u16",
            Self::U8 => "u8",
            Self::Bool => "bool",
            Self::I4 => "i4",
            Self::U4 => "u4",
            Self::E2M1 => "e2m1",
        }
    }

    /// Bits of one element.
    pub fn bits(self) -> u64 {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 64,
            Self::F32 | Self::I32 | Self::U32 => 32,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 16,
            Self::F8E4M3 | Self::F8E5M2 | Self::I8 | Self::U8 | Self::Bool => 8,
            Self::I4 | Self::U4 | Self::E2M1 => 4,
        }
    }

    /// Whether two elements share a byte.
    pub fn is_packed(self) -> bool {
        self.bits() < 8
    }

    /// Bytes of the smallest thing that has an address: an element, or a pair of packed ones.
    pub fn address_bytes(self) -> u64 {
        self.bits().max(8) / 8
    }

    /// The kind of numbers.
    pub fn family(self) -> Family {
        match self {
            Self::F64
            | Self::F32
            | Self::F16
            | Self::Bf16
            | Self::F8E4M3
            | Self::F8E5M2
            | Self::E2M1 => Family::Float,
            Self::I64 | Self::I32 | Self::I16 | Self::I8 | Self::I4 => Family::Signed,
            Self::U64 | Self::U32 | Self::U16 | Self::U8 | Self::U4 => Family::Unsigned,
            Self::Bool => Family::Boolean,
        }
    }

    /// Whether it holds integers.
    pub fn is_integer(self) -> bool {
        matches!(self.family(), Family::Signed | Family::Unsigned)
    }

    /// Whether it holds floating-point numbers.
    pub fn is_float(self) -> bool {
        self.family() == Family::Float
    }

    /// The widths of the fields of a floating-point dtype; `None` for other dtypes.
    #[must_use]
    pub const fn float_format(self) -> Option<FloatFormat> {
        Some(match self {
            Self::F64 => FloatFormat::F64,
            Self::F32 => FloatFormat::F32,
            Self::F16 => FloatFormat::F16,
            Self::Bf16 => FloatFormat::BF16,
            Self::F8E4M3 => FloatFormat::E4M3,
            Self::F8E5M2 => FloatFormat::E5M2,
            Self::E2M1 => FloatFormat::E2M1,
            Self::I64
            | Self::I32
            | Self::I16
            | Self::I8
            | Self::U64
            | Self::U32
            | Self::U16
            | Self::U8
            | Self::Bool
            | Self::I4
            | Self::U4 => return None,
        })
    }

    /// Whether conversions to this floating-point dtype turn numbers beyond the largest into the largest, not into
    /// infinity: those to 8-bit and 4-bit formats (PTX ISA 9.7.9.21, `cvt.rn.satfinite`).
    #[must_use]
    pub fn saturates(self) -> bool {
        self.is_float() && self.bits() <= 8
    }

    /// The largest finite magnitude of a floating-point dtype; `None` for other dtypes.
    pub fn largest_finite(self) -> Option<f64> {
        self.float_format().map(FloatFormat::largest_number)
    }

    /// Whether an integer is one of its values, exactly for integers and within range for floats.
    pub fn holds(self, value: i128) -> bool {
        let bits = self.bits();
        match self.family() {
            Family::Signed => (-(1_i128 << (bits - 1))..1_i128 << (bits - 1)).contains(&value),
            Family::Unsigned => (0..1_i128 << bits).contains(&value),
            Family::Boolean => (0..=1).contains(&value),
            #[expect(clippy::cast_precision_loss, reason = "only the range is compared")]
            Family::Float => {
                self.largest_finite().is_some_and(|largest| (value as f64).abs() <= largest)
            }
        }
    }
}

/// The type of an argument that is passed by value, by its name in project files: the subset of dtypes whose elements
/// are values of C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the field's own")]
pub enum CType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    Bf16,
    F32,
    F64,
    Bool,
}

impl CType {
    /// The C type of the elements; `None` for 8-bit floats and packed dtypes.
    pub fn from_dtype(dtype: Dtype) -> Option<Self> {
        Self::ALL.into_iter().find(|c_type| c_type.dtype() == dtype)
    }

    /// All of them, in the order of the format's page.
    pub const ALL: [Self; 13] = [
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
        Self::Bool,
    ];

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// The name in project files.
    pub fn name(self) -> &'static str {
        self.dtype().name()
    }

    /// The dtype with the same values.
    pub fn dtype(self) -> Dtype {
        match self {
            Self::I8 => Dtype::I8,
            Self::U8 => Dtype::U8,
            Self::I16 => Dtype::I16,
            Self::U16 => Dtype::U16,
            Self::I32 => Dtype::I32,
            Self::U32 => Dtype::U32,
            Self::I64 => Dtype::I64,
            Self::U64 => Dtype::U64,
            Self::F16 => Dtype::F16,
            Self::Bf16 => Dtype::Bf16,
            Self::F32 => Dtype::F32,
            Self::F64 => Dtype::F64,
            Self::Bool => Dtype::Bool,
        }
    }

    /// Bytes; C aligns each of these types to its size on every platform that CUDA has.
    pub fn bytes(self) -> u64 {
        self.dtype().address_bytes()
    }

    /// Integers up to this magnitude are exact in a floating-point type: two to its digits.
    pub fn exact_integers(self) -> Option<i128> {
        self.dtype().float_format().map(|format| 1 << format.significand_bits())
    }
}
