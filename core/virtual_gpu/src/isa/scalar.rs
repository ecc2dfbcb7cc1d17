//! The scalar types of PTX, and the register types that each operand type accepts.
//!
//! PTX ISA, sections "Fundamental Types", "Packed Data Types", "Alternate Floating-Point Data Formats" and "Operand
//! Size Exceeding Instruction-Type Size".

use std::fmt;

/// A type of an instruction, a register or a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarType {
    /// One bit per lane.
    Pred,
    /// Single bits, for `mma` only.
    B1,
    /// Untyped bits.
    B8,
    /// Untyped bits.
    B16,
    /// Untyped bits.
    B32,
    /// Untyped bits.
    B64,
    /// Untyped bits.
    B128,
    /// Unsigned 4-bit integers, for `mma` only.
    U4,
    /// Unsigned integer.
    U8,
    /// Unsigned integer.
    U16,
    /// Two unsigned integers.
    U16x2,
    /// Unsigned integer.
    U32,
    /// Unsigned integer.
    U64,
    /// Signed 4-bit integers, for `mma` only.
    S4,
    /// Signed integer.
    S8,
    /// Signed integer.
    S16,
    /// Two signed integers.
    S16x2,
    /// Signed integer.
    S32,
    /// Signed integer.
    S64,
    /// IEEE half.
    F16,
    /// Two IEEE halves.
    F16x2,
    /// bfloat16, the upper half of an f32.
    Bf16,
    /// Two bfloat16.
    Bf16x2,
    /// An f32 with 19 significant bits.
    Tf32,
    /// IEEE single.
    F32,
    /// Two IEEE singles.
    F32x2,
    /// IEEE double.
    F64,
    /// One 8-bit float, 4 exponent bits: for `mma` only.
    E4m3,
    /// One 8-bit float, 5 exponent bits: for `mma` only.
    E5m2,
    /// Two 8-bit floats.
    E4m3x2,
    /// Two 8-bit floats.
    E5m2x2,
    /// Two 4-bit floats.
    E2m1x2,
    /// Two 6-bit floats.
    E2m3x2,
    /// Two 6-bit floats.
    E3m2x2,
    /// Two exponents of 8 bits.
    Ue8m0x2,
}

/// The class of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarClass {
    Predicate,
    /// Untyped bits.
    Bits,
    Integer,
    /// One or more floating-point numbers.
    Float,
}

impl ScalarType {
    /// Every type, in the order of its keyword.
    const ALL: &'static [Self] = &[
        Self::Pred,
        Self::B1,
        Self::B8,
        Self::B16,
        Self::B32,
        Self::B64,
        Self::B128,
        Self::U4,
        Self::U8,
        Self::U16,
        Self::U16x2,
        Self::U32,
        Self::U64,
        Self::S4,
        Self::S8,
        Self::S16,
        Self::S16x2,
        Self::S32,
        Self::S64,
        Self::F16,
        Self::F16x2,
        Self::Bf16,
        Self::Bf16x2,
        Self::Tf32,
        Self::F32,
        Self::F32x2,
        Self::F64,
        Self::E4m3,
        Self::E5m2,
        Self::E4m3x2,
        Self::E5m2x2,
        Self::E2m1x2,
        Self::E2m3x2,
        Self::E3m2x2,
        Self::Ue8m0x2,
    ];

    /// The type with this keyword, without the dot.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|ty| ty.word() == word)
    }

    /// The keyword of the type, without the dot.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pred => "pred",
            Self::B1 => "b1",
            Self::B8 => "b8",
            Self::B16 => "b16",
            Self::B32 => "b32",
            Self::B64 => "b64",
            Self::B128 => "b128",
            Self::U4 => "u4",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U16x2 => "u16x2",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::S4 => "s4",
            Self::S8 => "s8",
            Self::S16 => "s16",
            Self::S16x2 => "s16x2",
            Self::S32 => "s32",
            Self::S64 => "s64",
            Self::F16 => "f16",
            Self::F16x2 => "f16x2",
            Self::Bf16 => "bf16",
            Self::Bf16x2 => "bf16x2",
            Self::Tf32 => "tf32",
            Self::F32 => "f32",
            Self::F32x2 => "f32x2",
            Self::F64 => "f64",
            Self::E4m3 => "e4m3",
            Self::E5m2 => "e5m2",
            Self::E4m3x2 => "e4m3x2",
            Self::E5m2x2 => "e5m2x2",
            Self::E2m1x2 => "e2m1x2",
            Self::E2m3x2 => "e2m3x2",
            Self::E3m2x2 => "e3m2x2",
            Self::Ue8m0x2 => "ue8m0x2",
        }
    }

    /// The size in bits; a predicate has one bit, and a pair of 4-bit floats 8.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Pred | Self::B1 => 1,
            Self::U4 | Self::S4 => 4,
            Self::B8 | Self::U8 | Self::S8 | Self::E4m3 | Self::E5m2 | Self::E2m1x2 => 8,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::E4m3x2 | Self::E5m2x2 | Self::E2m3x2 | Self::E3m2x2 | Self::Ue8m0x2 => 16,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::Tf32 => 32,
            Self::U16x2 | Self::S16x2 | Self::F16x2 | Self::Bf16x2 => 32,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 | Self::F32x2 => 64,
            Self::B128 => 128,
        }
    }

    /// The size in memory in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// The class of the type.
    #[must_use]
    pub const fn class(self) -> ScalarClass {
        match self {
            Self::Pred => ScalarClass::Predicate,
            Self::B1 | Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128 => {
                ScalarClass::Bits
            }
            Self::U4 | Self::U8 | Self::U16 | Self::U16x2 | Self::U32 | Self::U64 => {
                ScalarClass::Integer
            }
            Self::S4 | Self::S8 | Self::S16 | Self::S16x2 | Self::S32 | Self::S64 => {
                ScalarClass::Integer
            }
            Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2 => ScalarClass::Float,
            Self::F32 | Self::F32x2 | Self::F64 => ScalarClass::Float,
            // Formats without registers of their own: their registers are untyped.
            Self::Tf32 | Self::E4m3 | Self::E5m2 | Self::E4m3x2 | Self::E5m2x2 => ScalarClass::Bits,
            Self::E2m1x2 | Self::E2m3x2 | Self::E3m2x2 | Self::Ue8m0x2 => ScalarClass::Bits,
        }
    }

    /// Whether a register can be declared with the type (PTX ISA, section "Register State Space").
    #[must_use]
    pub const fn is_register_type(self) -> bool {
        match self {
            Self::B1 | Self::U4 | Self::S4 | Self::Tf32 | Self::E4m3 | Self::E5m2 => false,
            Self::E4m3x2 | Self::E5m2x2 | Self::E2m1x2 | Self::E2m3x2 => false,
            Self::E3m2x2 | Self::Ue8m0x2 | Self::U16x2 | Self::S16x2 | Self::F32x2 => false,
            Self::Pred | Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128 => true,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => true,
            Self::S8 | Self::S16 | Self::S32 | Self::S64 => true,
            Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2 | Self::F32 | Self::F64 => true,
        }
    }

    /// Whether a register declared with this type is accepted as an operand of type `wanted`.
    #[must_use]
    pub fn fits(self, wanted: Self, fit: Fit) -> bool {
        let size = match fit {
            Fit::Exact => self.bits() == wanted.bits().max(8) || self == wanted,
            Fit::Wider => self.bits() >= wanted.bits(),
        };
        let meaning = match (self.class(), wanted.class()) {
            (ScalarClass::Predicate, other) => other == ScalarClass::Predicate,
            (_, ScalarClass::Predicate) => false,
            (ScalarClass::Bits, _) | (_, ScalarClass::Bits) => true,
            (ScalarClass::Integer, ScalarClass::Integer) => true,
            (ScalarClass::Float, ScalarClass::Float) => self == wanted,
            (ScalarClass::Integer, ScalarClass::Float)
            | (ScalarClass::Float, ScalarClass::Integer) => false,
        };
        size && meaning
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, ".{}", self.word())
    }
}

/// How the size of a register must agree with the instruction type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The same size.
    Exact,
    /// The same size or more: `ld`, `st`, `cvt`.
    Wider,
}
