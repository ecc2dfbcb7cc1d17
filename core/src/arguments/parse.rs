//! Parser of specs; errors have the column.

use lightbench_primitives::dtype::{CType, Family};
use lightbench_primitives::element_text::encode;

use super::error::{Reason, SpecError};
use super::{Buffer, Content, Spec, SpecKind};
use crate::virtual_gpu::Access;

/// Upper limit for any device. The device's memory is checked when the device is known.
const MOST_BYTES: u64 = 1 << 40;

/// Bytes that may be passed by value (CUDA C++ Programming Guide, "`__global__` Function Parameters").
const MOST_BY_VALUE: usize = 32_764;

impl Spec {
    /// Reads a spec.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let mut reader = Reader { rest: text };
        let kind = spec(&mut reader).map_err(|Wrong { rest, reason }| {
            let column = text.chars().count() - rest + 1;
            SpecError { spec: text.to_owned(), column, reason }
        })?;
        Ok(Self { text: text.to_owned(), kind })
    }
}

/// What is wrong, and how many characters are left from there on.
struct Wrong {
    rest: usize,
    reason: Reason,
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn wrong(&self, reason: Reason) -> Wrong {
        Wrong { rest: self.rest.chars().count(), reason }
    }

    fn expected(&self, expected: &'static str) -> Wrong {
        self.wrong(Reason::Expected { expected })
    }

    /// Everything up to one of these characters.
    fn until(&mut self, ends: &[char]) -> &'a str {
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn take(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    fn must(&mut self, token: &str, expected: &'static str) -> Result<(), Wrong> {
        self.take(token).ok_or_else(|| self.expected(expected))
    }

    fn end(&self) -> Result<(), Wrong> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.expected("nothing more")) }
    }
}

fn spec(reader: &mut Reader<'_>) -> Result<SpecKind, Wrong> {
    for (word, access) in [("buf:", Access::ReadWrite), ("in:", Access::ReadOnly)] {
        if reader.take(word).is_some() {
            return buffer(reader, access).map(SpecKind::Buffer);
        }
    }
    if reader.take("bytes:").is_some() {
        return bytes(reader).map(SpecKind::Bytes);
    }
    if reader.rest == "null" {
        return Ok(SpecKind::Null);
    }
    if reader.take("same:").is_some() {
        let index = Some(reader.rest).filter(|text| text.bytes().all(|c| c.is_ascii_digit()));
        let index = index.and_then(|text| text.parse().ok());
        let expected = "the index of an earlier argument that is a buffer, counted from 0";
        return index.map(SpecKind::Same).ok_or_else(|| reader.expected(expected));
    }
    let c_type = c_type(reader, &[':'])?;
    reader.must(":", "`:` and a value")?;
    let bytes = number(reader, c_type, &[])?;
    Ok(SpecKind::Value { c_type, bytes })
}

fn c_type(reader: &mut Reader<'_>, ends: &[char]) -> Result<CType, Wrong> {
    let at = *reader;
    let found = reader.until(ends);
    CType::from_name(found).ok_or_else(|| at.wrong(Reason::Type { found: found.to_owned() }))
}

fn number(reader: &mut Reader<'_>, c_type: CType, ends: &[char]) -> Result<Vec<u8>, Wrong> {
    let at = *reader;
    let found = reader.until(ends);
    let wrong = || at.wrong(Reason::Value { found: found.to_owned(), c_type: c_type.name() });
    encode(c_type, found.trim()).ok_or_else(wrong)
}

fn bytes(reader: &mut Reader<'_>) -> Result<Vec<u8>, Wrong> {
    let expected = "pairs of hexadecimal digits, in the order of memory";
    let mut bytes = Vec::new();
    while let Some(pair) = reader.rest.get(..2) {
        let digits = pair.bytes().all(|digit| digit.is_ascii_hexdigit());
        let byte = u8::from_str_radix(pair, 16).ok().filter(|_| digits);
        bytes.push(byte.ok_or_else(|| reader.expected(expected))?);
        reader.rest = &reader.rest[2..];
    }
    let fits = reader.rest.is_empty() && (1..=MOST_BY_VALUE).contains(&bytes.len());
    if fits { Ok(bytes) } else { Err(reader.expected(expected)) }
}

fn buffer(reader: &mut Reader<'_>, access: Access) -> Result<Buffer, Wrong> {
    let c_type = c_type(reader, &['[', '='])?;
    reader.must("[", "`[` and a number of elements")?;
    let at = *reader;
    let digits = reader.until(&[']']);
    let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if !plain {
        return Err(at.expected("a number of elements"));
    }
    let count = digits.parse::<u64>().ok();
    let count = count.filter(|count| count.saturating_mul(c_type.bytes()) <= MOST_BYTES);
    let count = count.ok_or_else(|| at.wrong(Reason::TooLarge { limit: MOST_BYTES }))?;
    reader.must("]", "`]`")?;
    if reader.rest.is_empty() {
        return match access {
            Access::ReadWrite => {
                Ok(Buffer { c_type, count, access, content: Content::Uninitialised })
            }
            Access::ReadOnly => Err(reader.wrong(Reason::EmptyInput)),
        };
    }
    reader.must("=", "`=` and what the buffer holds")?;
    let content = content(reader, c_type, count)?;
    Ok(Buffer { c_type, count, access, content })
}

fn content(reader: &mut Reader<'_>, c_type: CType, count: u64) -> Result<Content, Wrong> {
    if reader.take("@").is_some() {
        let file = reader.rest;
        if file.is_empty() {
            return Err(reader.expected("the name of a file"));
        }
        return Ok(Content::File(file.to_owned()));
    }
    let at = *reader;
    let content = match reader.until(&['(', ',']) {
        "zeros" => Content::Zeros,
        "ones" => Content::Ones,
        "iota" => Content::Iota,
        "constant" => {
            reader.must("(", "`(` and a number")?;
            let bytes = number(reader, c_type, &[')'])?;
            reader.must(")", "`)`")?;
            Content::Constant(bytes)
        }
        "normal" => normal(reader, c_type, at)?,
        "uniform" => uniform(reader, c_type, at)?,
        _ => {
            *reader = at;
            return values(reader, c_type, count);
        }
    };
    reader.end()?;
    Ok(content)
}

fn normal(reader: &mut Reader<'_>, c_type: CType, at: Reader<'_>) -> Result<Content, Wrong> {
    if !c_type.dtype().is_float() {
        let (fill, c_type) = ("normal", c_type.name());
        let expected = "f16, bf16, f32 or f64, or `uniform`";
        return Err(at.wrong(Reason::Fill { fill, c_type, expected }));
    }
    let inside = *reader;
    let (mean, std) = pair(reader)?.unwrap_or((0.0, 1.0));
    if std < 0.0 {
        return Err(inside.expected("a standard deviation that is not negative"));
    }
    Ok(Content::Normal { mean, std })
}

fn uniform(reader: &mut Reader<'_>, c_type: CType, at: Reader<'_>) -> Result<Content, Wrong> {
    let (low, high) = match c_type.dtype().family() {
        Family::Float | Family::Boolean => (0.0, 1.0),
        Family::Signed => (-100.0, 100.0),
        Family::Unsigned => (0.0, 100.0),
    };
    let (low, high) = pair(reader)?.unwrap_or((low, high));
    let whole = |bound: f64| bound.fract() == 0.0 && c_type.dtype().holds(bound as i128);
    let fits = c_type.dtype().is_float() || (whole(low) && whole(high));
    if low <= high && fits {
        return Ok(Content::Uniform { low, high });
    }
    let (fill, c_type) = ("uniform", c_type.name());
    let expected = "two values of the type, the lower one first";
    Err(at.wrong(Reason::Fill { fill, c_type, expected }))
}

/// `(low, high)`, if something in brackets stands here.
fn pair(reader: &mut Reader<'_>) -> Result<Option<(f64, f64)>, Wrong> {
    if reader.take("(").is_none() {
        return Ok(None);
    }
    let mut one = |end: char| {
        let at = *reader;
        let number = reader.until(&[end]).trim().parse::<f64>().ok();
        reader.take(end.encode_utf8(&mut [0; 4]));
        number
            .filter(|number| number.is_finite())
            .ok_or_else(|| at.expected("two numbers in `(…,…)`"))
    };
    let (first, second) = (one(',')?, one(')')?);
    Ok(Some((first, second)))
}

fn values(reader: &mut Reader<'_>, c_type: CType, count: u64) -> Result<Content, Wrong> {
    let first = *reader;
    let (mut bytes, mut found) = (Vec::new(), 0);
    loop {
        let at = *reader;
        let word = reader.until(&[',']).trim();
        let Some(value) = encode(c_type, word) else {
            let alone = found == 0 && reader.rest.is_empty();
            let named = word.starts_with(|first: char| first.is_alphabetic());
            return Err(if alone && named {
                at.expected(
                    "zeros, ones, iota, normal, uniform, constant(…), values, or `@` and a file",
                )
            } else {
                at.wrong(Reason::Value { found: word.to_owned(), c_type: c_type.name() })
            });
        };
        bytes.extend(value);
        found += 1;
        if reader.take(",").is_none() {
            break;
        }
    }
    if found == count {
        Ok(Content::Values(bytes))
    } else {
        Err(first.wrong(Reason::Count { found, count }))
    }
}
