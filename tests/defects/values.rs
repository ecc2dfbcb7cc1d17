//! Arguments as they are written: `u32:5`, `buf:f32[256]` (never written), `buf:f32[256]=normal`, `in:f32[256]=iota`.
//!
//! `map:0 dims=64,8 box=32,4 swizzle=b128` is a tensor map of the dense tensor in argument 0, the innermost dimension
//! first; the swizzle is `none`, `b32`, `b64` or `b128`. `in` is read-only. Values are `normal`, `iota`, `iota%M`, one value for all elements, or a list.

use lightbench_core::tensor_map::{
    Interleave, L2Promotion, MapElement, MapRegion, OutOfBoundsFill, Swizzle, TensorMap,
};
use lightbench_core::virtual_gpu::machine::{Access, Argument, BufferId, InitialContent, Machine};

/// One argument.
pub(super) enum Spec {
    Scalar(Vec<u8>),
    Buffer { element: String, count: usize, access: Access, bytes: Option<Vec<u8>> },
    Map(Box<MapSpec>),
}

/// A tensor map.
pub(super) struct MapSpec {
    /// The argument that holds the tensor.
    pub(super) buffer: usize,
    dims: Vec<u64>,
    sides: Vec<u32>,
    swizzle: Swizzle,
}

impl MapSpec {
    fn read(text: &str) -> Self {
        let mut words = text.split_whitespace();
        let buffer = words.next().unwrap().parse().unwrap();
        let mut map = Self { buffer, dims: Vec::new(), sides: Vec::new(), swizzle: Swizzle::None };
        for word in words {
            let (key, value) = word.split_once('=').unwrap();
            let numbers = || value.split(',').map(|number| number.parse::<u32>().unwrap());
            match key {
                "dims" => map.dims = numbers().map(u64::from).collect(),
                "box" => map.sides = numbers().collect(),
                "swizzle" => map.swizzle = swizzle(value),
                other => panic!("field {other} of a tensor map"),
            }
        }
        map
    }

    /// The tensor map of a dense tensor of these elements.
    pub(super) fn tensor(&self, element: &str) -> TensorMap {
        let (element, bytes) = match element {
            "u8" => (MapElement::U8, 1),
            "u16" => (MapElement::U16, 2),
            "u32" => (MapElement::U32, 4),
            "i32" => (MapElement::I32, 4),
            "f32" => (MapElement::F32, 4),
            other => panic!("a tensor map of elements {other}"),
        };
        let rows = self.dims[..self.dims.len() - 1].iter();
        let strides = rows.scan(bytes, |stride, dim| {
            *stride *= dim;
            Some(*stride)
        });
        TensorMap {
            element,
            strides: strides.collect(),
            offset: 0,
            region: MapRegion::Tiled(self.sides.clone()),
            element_strides: vec![1; self.dims.len()],
            swizzle: self.swizzle,
            interleave: Interleave::None,
            l2_promotion: L2Promotion::None,
            fill: OutOfBoundsFill::Zeros,
            dims: self.dims.clone(),
        }
    }
}

fn swizzle(name: &str) -> Swizzle {
    match name {
        "none" => Swizzle::None,
        "b32" => Swizzle::B32,
        "b64" => Swizzle::B64,
        "b128" => Swizzle::B128,
        other => panic!("swizzle {other}"),
    }
}

impl Spec {
    pub(super) fn read(text: &str) -> Self {
        let (kind, rest) = text.trim().split_once(':').unwrap();
        let access = match kind {
            "in" => Access::ReadOnly,
            "buf" => Access::ReadWrite,
            "map" => return Self::Map(Box::new(MapSpec::read(rest))),
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
            Self::Scalar(_) | Self::Map(_) => panic!("the argument has no elements"),
            Self::Buffer { element, .. } => element,
        }
    }

    /// The argument on a machine, and its buffer.
    pub(super) fn make(&self, name: &str, machine: &mut Machine) -> (Argument, Option<BufferId>) {
        match self {
            Self::Scalar(bytes) => (Argument::Bytes(bytes.clone()), None),
            Self::Map(_) => panic!("a tensor map needs the address of its buffer"),
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
