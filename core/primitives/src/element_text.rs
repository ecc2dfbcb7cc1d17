//! One element as text: parsing, and the shortest text that has the same value.

use crate::dtype::{CType, Family};
use crate::element::{element_at, element_bits, element_value, nearest, real};
use crate::half::HalfFormat;
use crate::scalar_value::ScalarValue;

/// The element that these bytes encode; none where there are too few.
#[must_use]
pub fn element(c_type: CType, bytes: &[u8]) -> Option<ScalarValue> {
    let bits = element_at(c_type.dtype(), bytes, 0)?;
    Some(element_value(c_type.dtype(), bits))
}

/// The shortest text that this type reads as this value.
#[must_use]
pub fn element_text(c_type: CType, value: ScalarValue) -> String {
    match value {
        ScalarValue::Boolean(value) => value.to_string(),
        ScalarValue::Integer(value) => value.to_string(),
        ScalarValue::Real(value) if !value.is_finite() => named(value),
        ScalarValue::Real(value) => match c_type {
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
    bytes_of(c_type, element_bits(c_type.dtype(), value))
}

fn bytes_of(c_type: CType, bits: u64) -> Vec<u8> {
    // No C type has more than 64 bits.
    let length = usize::try_from(c_type.bytes()).unwrap_or(8);
    bits.to_le_bytes()[..length].to_vec()
}

/// The bytes of the number that a text names; none where the type has no such number.
#[must_use]
pub fn encode(c_type: CType, text: &str) -> Option<Vec<u8>> {
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
            let bits = nearest(c_type.dtype(), value);
            // Beyond the largest half.
            let overflows = real(c_type.dtype(), bits).is_infinite() && value.is_finite();
            (!overflows).then_some(bits)?
        }
    };
    Some(bytes_of(c_type, bits))
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
