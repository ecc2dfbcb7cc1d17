//! Arguments as they are written: `u32:5`, `buf:f32[256]` (never written), `buf:f32[256]=normal`, `in:f32[256]=iota`.
//!
//! `in` is read-only. Values are `normal`, `iota`, `iota%M`, one value for all elements, or a list.

use lightbench_core::virtual_gpu::machine::{Access, Argument, BufferId, InitialContent, Machine};

/// One argument.
pub(super) enum Spec {
    Scalar(Vec<u8>),
    Buffer { element: String, count: usize, access: Access, bytes: Option<Vec<u8>> },
}

impl Spec {
    pub(super) fn read(text: &str) -> Self {
        let (kind, rest) = text.trim().split_once(':').unwrap();
        let access = match kind {
            "in" => Access::ReadOnly,
            "buf" => Access::ReadWrite,
            scalar => return Self::Scalar(bytes_of(scalar, rest)),
        };
        let (ty, values) = match rest.split_once('=') {
            Some((ty, values)) => (ty, Some(values)),
            None => (rest, None),
        };
        let (element, count) = ty.trim_end_matches(']').split_once('[').unwrap();
        let count: usize = count.parse().unwrap();
        let bytes = values.map(|values| filled(element, count, values));
        Self::Buffer { element: element.to_owned(), count, access, bytes }
    }

    pub(super) fn element(&self) -> &str {
        match self {
            Self::Scalar(_) => panic!("a scalar has no elements"),
            Self::Buffer { element, .. } => element,
        }
    }

    /// The argument on a machine, and its buffer.
    pub(super) fn make(&self, name: &str, machine: &mut Machine) -> (Argument, Option<BufferId>) {
        match self {
            Self::Scalar(bytes) => (Argument::Bytes(bytes.clone()), None),
            Self::Buffer { element, count, access, bytes } => {
                let length = (count * bytes_of(element, "0").len()) as u64;
                let initial =
                    bytes.clone().map_or(InitialContent::Uninitialised, InitialContent::Bytes);
                let buffer = machine.buffer(name, length, *access, initial).unwrap();
                (Argument::Buffer(buffer), Some(buffer))
            }
        }
    }
}

fn filled(element: &str, count: usize, values: &str) -> Vec<u8> {
    if values == "normal" {
        return (0..count).flat_map(|index| bytes_of(element, &normal(index))).collect();
    }
    if let Some(rest) = values.strip_prefix("iota") {
        let modulus = rest.strip_prefix('%').map_or(usize::MAX, |modulus| modulus.parse().unwrap());
        let numbers = (0..count).map(|index| (index % modulus).to_string());
        return numbers.flat_map(|number| bytes_of(element, &number)).collect();
    }
    let list: Vec<&str> = values.split(',').collect();
    assert!(list.len() == 1 || list.len() == count, "{} of {count} values", list.len());
    (0..count).flat_map(|index| bytes_of(element, list[index % list.len()])).collect()
}

/// A sum of twelve draws around zero, which is nearly normal.
fn normal(seed: usize) -> String {
    let mut state = seed as u32 ^ 0x9e37_79b9;
    let mut sum = -6.0;
    for _ in 0..12 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        sum += f64::from(state >> 8) / f64::from(1 << 24);
    }
    sum.to_string()
}

/// The bytes of one number.
pub(super) fn bytes_of(element: &str, number: &str) -> Vec<u8> {
    let real = || number.parse::<f64>().unwrap_or_else(|_| panic!("number {number}"));
    let whole = || number.parse::<i128>().unwrap_or_else(|_| panic!("number {number}"));
    match element {
        "f32" => (real() as f32).to_le_bytes().to_vec(),
        "f64" => real().to_le_bytes().to_vec(),
        "u8" | "i8" => vec![whole() as u8],
        "u16" | "i16" => (whole() as u16).to_le_bytes().to_vec(),
        "u32" | "i32" => (whole() as u32).to_le_bytes().to_vec(),
        "u64" | "i64" => (whole() as u64).to_le_bytes().to_vec(),
        other => panic!("type {other}"),
    }
}
