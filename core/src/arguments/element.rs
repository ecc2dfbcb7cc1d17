//! One element: from text to bits, and from bits to the shortest text that means them.

use crate::project::dtype::{CType, Family};
use crate::project::scalar::ScalarValue;
use crate::virtual_gpu::semantics::half::HalfFormat;

/// A number as it is, for a reader that wants the number and not its bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element {
    /// True or false.
    Boolean(bool),
    /// An integer.
    Integer(i128),
    /// A floating-point number, widened exactly.
    Real(f64),
}

/// The element that bits stand for; none where there are too few.
#[must_use]
pub fn element(c_type: CType, bytes: &[u8]) -> Option<Element> {
    let length = usize::try_from(c_type.bytes()).ok()?;
    let mut raw = [0; 8];
    raw.get_mut(..length)?.copy_from_slice(bytes.get(..length)?);
    let bits = u64::from_le_bytes(raw);
    let low = |wide: u64| wide as u16;
    Some(match c_type {
        CType::Bool => Element::Boolean(bits != 0),
        CType::I8 => Element::Integer(i128::from(bits as i8)),
        CType::I16 => Element::Integer(i128::from(bits as i16)),
        CType::I32 => Element::Integer(i128::from(bits as i32)),
        CType::I64 => Element::Integer(i128::from(bits as i64)),
        CType::U8 | CType::U16 | CType::U32 | CType::U64 => Element::Integer(i128::from(bits)),
        CType::F16 => Element::Real(f64::from(HalfFormat::F16.to_f32(low(bits)))),
        CType::Bf16 => Element::Real(f64::from(HalfFormat::Bf16.to_f32(low(bits)))),
        CType::F32 => Element::Real(f64::from(f32::from_bits(bits as u32))),
        CType::F64 => Element::Real(f64::from_bits(bits)),
    })
}

impl Element {
    /// The shortest text that means this value of the type, and no other value of it.
    #[must_use]
    pub fn text(self, c_type: CType) -> String {
        match self {
            Self::Boolean(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Real(value) if !value.is_finite() => named(value),
            Self::Real(value) => match c_type {
                CType::F32 => format!("{:?}", value as f32),
                CType::F16 => shortest(value, HalfFormat::F16),
                CType::Bf16 => shortest(value, HalfFormat::Bf16),
                CType::F64
                | CType::I8
                | CType::U8
                | CType::I16
                | CType::U16
                | CType::I32
                | CType::U32
                | CType::I64
                | CType::U64
                | CType::Bool => format!("{value:?}"),
            },
        }
    }
}

/// `inf`, `-inf`, `nan`.
fn named(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value}") }
}

/// The fewest digits that still round to the same half.
fn shortest(value: f64, format: HalfFormat) -> String {
    let bits = format.nearest(value);
    let shorter = (0..5).find_map(|digits| {
        let text = format!("{value:.digits$e}");
        let read = text.parse::<f64>().ok()?;
        (format.nearest(read) == bits).then_some(read)
    });
    format!("{:?}", shorter.unwrap_or(value))
}

/// The bytes of a value, rounded to the type.
#[must_use]
pub fn element_bytes(c_type: CType, value: ScalarValue) -> Vec<u8> {
    let bits = match value {
        ScalarValue::Boolean(value) => u64::from(value),
        ScalarValue::Integer(value) if !c_type.dtype().is_float() => value as u64,
        ScalarValue::Integer(_) | ScalarValue::Real(_) => real_bits(c_type, value.as_real()),
    };
    let length = usize::try_from(c_type.bytes()).unwrap_or(8);
    bits.to_le_bytes()[..length].to_vec()
}

/// The bits of a number that the type has.
pub(super) fn encode(c_type: CType, text: &str) -> Option<Vec<u8>> {
    let length = usize::try_from(c_type.bytes()).ok()?;
    let bits = match c_type.dtype().family() {
        Family::Boolean => match text {
            "true" | "1" => 1,
            "false" | "0" => 0,
            _ => return None,
        },
        Family::Signed | Family::Unsigned => {
            let value = integer(text)?;
            c_type.dtype().holds(value).then_some(value as u64)?
        }
        Family::Float if c_type == CType::F32 => u64::from(decimal::<f32>(text)?.to_bits()),
        Family::Float => {
            let value = decimal::<f64>(text)?;
            let bits = real_bits(c_type, value);
            // Beyond the largest half.
            let overflows = matches!(
                element(c_type, &bits.to_le_bytes()),
                Some(Element::Real(rounded)) if rounded.is_infinite() && value.is_finite()
            );
            (!overflows).then_some(bits)?
        }
    };
    Some(bits.to_le_bytes()[..length].to_vec())
}

/// The bits of the value of the type that is nearest to a number.
pub(super) fn real_bits(c_type: CType, value: f64) -> u64 {
    match c_type {
        CType::F16 => u64::from(HalfFormat::F16.nearest(value)),
        CType::Bf16 => u64::from(HalfFormat::Bf16.nearest(value)),
        CType::F32 => u64::from((value as f32).to_bits()),
        CType::F64 => value.to_bits(),
        CType::Bool => u64::from(value != 0.0),
        CType::I8
        | CType::U8
        | CType::I16
        | CType::U16
        | CType::I32
        | CType::U32
        | CType::I64
        | CType::U64 => value as i64 as u64,
    }
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None => (10, digits),
    };
    // A second sign would be taken for part of the number.
    if !digits.starts_with(|first: char| first.is_ascii_hexdigit()) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

/// A decimal number; a finite text that rounds to infinity is none.
fn decimal<T: std::str::FromStr + Into<f64> + Copy>(text: &str) -> Option<T> {
    let value: T = text.parse().ok()?;
    let wide: f64 = value.into();
    let says_infinity = text.trim_start_matches(['+', '-']).starts_with(['i', 'I']);
    (says_infinity || !wide.is_infinite()).then_some(value)
}
