//! Spellings of scalar types in CUDA C++, and the dtypes whose values they have.
//!
//! This is the only table of such names: kernels' signatures, mangled symbols and generated code are read and written
//! with it.

use crate::dtype::Dtype;

#[cfg(test)]
mod tests;

impl Dtype {
    /// The dtype of a scalar type of CUDA C++, by its name without qualifiers; `None` for all other types.
    ///
    /// Built-in integers may have their words in any order. Names of `<cstdint>` may be in `std` or `cuda::std`. `char`
    /// is signed, as on x86-64. `long` has the width that NVRTC gives it, which is that of the host's compiler: 32 bits
    /// on Windows, 64 bits elsewhere.
    #[must_use]
    pub fn from_c_name(name: &str) -> Option<Self> {
        let name =
            name.trim_start_matches("::").trim_start_matches("cuda::").trim_start_matches("std::");
        Some(match name {
            "half" | "nv_half" => Self::F16,
            "nv_bfloat16" => Self::Bf16,
            "int8_t" => Self::I8,
            "uint8_t" | "uchar" => Self::U8,
            "int16_t" => Self::I16,
            "uint16_t" | "ushort" => Self::U16,
            "int32_t" => Self::I32,
            "uint32_t" | "uint" => Self::U32,
            "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" => Self::I64,
            "uint64_t" | "size_t" | "uintptr_t" => Self::U64,
            "ulong" => return from_words("unsigned long"),
            _ => return Self::from_c_type(name),
        })
    }

    /// As [`Dtype::from_c_name`], except for names of type aliases: a mangled symbol has none, so that a type called
    /// `half` in a symbol is one of the kernel's own.
    #[must_use]
    pub fn from_c_type(name: &str) -> Option<Self> {
        Some(match name {
            "double" => Self::F64,
            "float" => Self::F32,
            "__half" => Self::F16,
            "__nv_bfloat16" => Self::Bf16,
            "__nv_fp8_e4m3" => Self::F8E4M3,
            "__nv_fp8_e5m2" => Self::F8E5M2,
            "bool" => Self::Bool,
            _ => return from_words(name),
        })
    }

    /// Element and number of elements of a built-in vector type (`float4`, `uchar2`, `__half2`) or of a complex number.
    #[must_use]
    pub fn vector_from_c_name(name: &str) -> Option<(Self, u32)> {
        match name {
            "half2" | "__half2" | "nv_half2" => return Some((Self::F16, 2)),
            "__nv_bfloat162" | "nv_bfloat162" => return Some((Self::Bf16, 2)),
            "cuComplex" | "cuFloatComplex" => return Some((Self::F32, 2)),
            "cuDoubleComplex" => return Some((Self::F64, 2)),
            _ => {}
        }
        let (element, lanes) = name.split_at_checked(name.len().checked_sub(1)?)?;
        let lanes = lanes.parse().ok().filter(|lanes| (1..=4).contains(lanes))?;
        let element = match element {
            "float" => Self::F32,
            "double" => Self::F64,
            "char" => Self::I8,
            "uchar" => Self::U8,
            "short" => Self::I16,
            "ushort" => Self::U16,
            "int" => Self::I32,
            "uint" => Self::U32,
            "longlong" => Self::I64,
            "ulonglong" => Self::U64,
            "long" => from_words("long")?,
            "ulong" => from_words("unsigned long")?,
            _ => return None,
        };
        Some((element, lanes))
    }

    /// The type of an element in CUDA C++, given [`Dtype::c_header`]; for packed dtypes the byte that two elements share.
    #[must_use]
    pub fn c_name(self) -> &'static str {
        match self {
            Self::F64 => "double",
            Self::F32 => "float",
            Self::F16 => "__half",
            Self::Bf16 => "__nv_bfloat16",
            Self::F8E4M3 => "__nv_fp8_e4m3",
            Self::F8E5M2 => "__nv_fp8_e5m2",
            Self::I64 => "long long",
            Self::I32 => "int",
            Self::I16 => "short",
            Self::I8 => "signed char",
            Self::U64 => "unsigned long long",
            Self::U32 => "unsigned int",
            Self::U16 => "unsigned short",
            Self::U8 | Self::I4 | Self::U4 | Self::E2M1 => "unsigned char",
            Self::Bool => "bool",
        }
    }

    /// The header that declares [`Dtype::c_name`], if it needs one.
    #[must_use]
    pub fn c_header(self) -> Option<&'static str> {
        match self {
            Self::F16 => Some("cuda_fp16.h"),
            Self::Bf16 => Some("cuda_bf16.h"),
            Self::F8E4M3 | Self::F8E5M2 => Some("cuda_fp8.h"),
            Self::F64
            | Self::F32
            | Self::I64
            | Self::I32
            | Self::I16
            | Self::I8
            | Self::U64
            | Self::U32
            | Self::U16
            | Self::U8
            | Self::Bool
            | Self::I4
            | Self::U4
            | Self::E2M1 => None,
        }
    }
}

/// Built-in integers, whose words may be in any order: `unsigned long long int`, `long unsigned`.
fn from_words(name: &str) -> Option<Dtype> {
    let (mut unsigned, mut longs, mut short, mut char, mut words) = (false, 0, false, false, 0);
    for word in name.split_whitespace() {
        words += 1;
        match word {
            "unsigned" => unsigned = true,
            "signed" | "int" => {}
            "long" => longs += 1,
            "short" => short = true,
            "char" => char = true,
            _ => return None,
        }
    }
    if words == 0 || longs > 2 || (char && (longs > 0 || short)) || (short && longs > 0) {
        return None;
    }
    let bits = match (char, short, longs) {
        (true, ..) => 8,
        (_, true, _) => 16,
        (_, _, 0) => 32,
        (_, _, 1) if cfg!(windows) => 32,
        _ => 64,
    };
    Some(match (bits, unsigned) {
        (8, false) => Dtype::I8,
        (8, true) => Dtype::U8,
        (16, false) => Dtype::I16,
        (16, true) => Dtype::U16,
        (32, false) => Dtype::I32,
        (32, true) => Dtype::U32,
        (_, false) => Dtype::I64,
        (_, true) => Dtype::U64,
    })
}
