//! Maps C types in signatures to dtypes of the project format.

/// A dtype of the project format that a kernel parameter can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    F64,
    F32,
    F16,
    Bf16,
    F8e4m3,
    F8e5m2,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
}

/// The kind of quantity, for a first guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Float,
    Integer,
    Bool,
}

/// Memory behind a pointer: `lanes` elements per index (4 behind a `float4*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pointee {
    pub(super) element: Element,
    pub(super) lanes: u32,
}

impl Element {
    /// The name in the project format.
    pub(super) fn dtype(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F8e4m3 => "f8e4m3",
            Self::F8e5m2 => "f8e5m2",
            Self::I64 => "i64",
            Self::I32 => "i32",
            Self::I16 => "i16",
            Self::I8 => "i8",
            Self::U64 => "u64",
            Self::U32 => "u32",
            Self::U16 => "u16",
            Self::U8 => "u8",
            Self::Bool => "bool",
        }
    }

    /// A C++ spelling that the device compiler accepts, given [`Element::header`].
    pub(super) fn c_type(self) -> &'static str {
        match self {
            Self::F64 => "double",
            Self::F32 => "float",
            Self::F16 => "__half",
            Self::Bf16 => "__nv_bfloat16",
            Self::F8e4m3 => "__nv_fp8_e4m3",
            Self::F8e5m2 => "__nv_fp8_e5m2",
            Self::I64 => "long long",
            Self::I32 => "int",
            Self::I16 => "short",
            Self::I8 => "signed char",
            Self::U64 => "unsigned long long",
            Self::U32 => "unsigned int",
            Self::U16 => "unsigned short",
            Self::U8 => "unsigned char",
            Self::Bool => "bool",
        }
    }

    /// The header that declares [`Element::c_type`], if it needs one.
    pub(super) fn header(self) -> Option<&'static str> {
        match self {
            Self::F16 => Some("cuda_fp16.h"),
            Self::Bf16 => Some("cuda_bf16.h"),
            Self::F8e4m3 | Self::F8e5m2 => Some("cuda_fp8.h"),
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
            | Self::Bool => None,
        }
    }

    pub(super) fn class(self) -> Class {
        match self {
            Self::F64 | Self::F32 | Self::F16 | Self::Bf16 | Self::F8e4m3 | Self::F8e5m2 => {
                Class::Float
            }
            Self::I64
            | Self::I32
            | Self::I16
            | Self::I8
            | Self::U64
            | Self::U32
            | Self::U16
            | Self::U8 => Class::Integer,
            Self::Bool => Class::Bool,
        }
    }

    /// Size in bytes, which is also the alignment.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F8e4m3 | Self::F8e5m2 | Self::I8 | Self::U8 | Self::Bool => 1,
        }
    }

    /// The largest axis that can be passed as this integer, if it is below the format's limit.
    pub(super) fn axis_limit(self) -> Option<u64> {
        match self {
            Self::I32 => Some(2_147_483_647),
            Self::U32 => Some(4_294_967_295),
            Self::I16 => Some(32_767),
            Self::U16 => Some(65_535),
            Self::I8 => Some(127),
            Self::U8 => Some(255),
            Self::F64
            | Self::F32
            | Self::F16
            | Self::Bf16
            | Self::F8e4m3
            | Self::F8e5m2
            | Self::I64
            | Self::U64
            | Self::Bool => None,
        }
    }

    /// Whether the format can pass it by value: its list of C types has no 8-bit floats.
    pub(super) fn by_value(self) -> bool {
        !matches!(self, Self::F8e4m3 | Self::F8e5m2)
    }
}

/// The element of an unqualified type name, `None` if it is not arithmetic.
///
/// `long` has 64 bits, as on Linux, and `char` is signed, as on x86.
pub(super) fn from_c_type(name: &str) -> Option<Element> {
    let name =
        name.trim_start_matches("::").trim_start_matches("cuda::").trim_start_matches("std::");
    let found = match name {
        "double" => Element::F64,
        "float" => Element::F32,
        "half" | "__half" | "nv_half" => Element::F16,
        "__nv_bfloat16" | "nv_bfloat16" => Element::Bf16,
        "__nv_fp8_e4m3" => Element::F8e4m3,
        "__nv_fp8_e5m2" => Element::F8e5m2,
        "bool" => Element::Bool,
        "int8_t" => Element::I8,
        "uint8_t" | "uchar" => Element::U8,
        "int16_t" => Element::I16,
        "uint16_t" | "ushort" => Element::U16,
        "int32_t" => Element::I32,
        "uint32_t" | "uint" => Element::U32,
        "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" => Element::I64,
        "uint64_t" | "size_t" | "uintptr_t" | "ulong" => Element::U64,
        _ => return from_words(name),
    };
    Some(found)
}

/// Built-in integers, whose words may be in any order: `unsigned long long int`, `long unsigned`.
fn from_words(name: &str) -> Option<Element> {
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
    Some(match (unsigned, char, short, longs) {
        (false, true, ..) => Element::I8,
        (true, true, ..) => Element::U8,
        (false, _, true, _) => Element::I16,
        (true, _, true, _) => Element::U16,
        (false, _, _, 0) => Element::I32,
        (true, _, _, 0) => Element::U32,
        (false, ..) => Element::I64,
        (true, ..) => Element::U64,
    })
}

/// The built-in vector types (`float4`, `uchar2`, `__half2`) and complex numbers, as memory.
pub(super) fn vector_from_c_type(name: &str) -> Option<Pointee> {
    let pointee = |element, lanes| Some(Pointee { element, lanes });
    match name {
        "half2" | "__half2" | "nv_half2" => return pointee(Element::F16, 2),
        "__nv_bfloat162" | "nv_bfloat162" => return pointee(Element::Bf16, 2),
        "cuComplex" | "cuFloatComplex" => return pointee(Element::F32, 2),
        "cuDoubleComplex" => return pointee(Element::F64, 2),
        _ => {}
    }
    let lanes = match name.as_bytes().last() {
        Some(digit @ b'1'..=b'4') => u32::from(digit - b'0'),
        _ => return None,
    };
    let element = match &name[..name.len() - 1] {
        "float" => Element::F32,
        "double" => Element::F64,
        "char" => Element::I8,
        "uchar" => Element::U8,
        "short" => Element::I16,
        "ushort" => Element::U16,
        "int" => Element::I32,
        "uint" => Element::U32,
        "long" | "longlong" => Element::I64,
        "ulong" | "ulonglong" => Element::U64,
        _ => return None,
    };
    pointee(element, lanes)
}
