//! Tensor-core products and fragment layouts of the GPU.

use super::digest;
use crate::semantics::matrix::{
    self, Accumulator, Architecture, BitProduct, FloatTypes, Fragment, Layout, MajorOrder,
    Multiplicand, QuadFragment, Shape,
};
use crate::semantics::{Overflow, Rounding};

/// Lines of: matrix, m, n, k, bits of an element, elements of a lane, digest of all positions.
const LAYOUTS: &str = include_str!("h200.layouts");

/// For each product: lengths, name, then for each lane of each warp the registers of A, B, C and D.
const PRODUCTS: &[u8] = include_bytes!("h200_products.bin");

#[test]
fn wmma_fragments_lie_as_on_an_h200() {
    for line in LAYOUTS.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| fields[index].parse::<usize>().unwrap();
        let shape = Shape { m: number(1), n: number(2), k: number(3) };
        let bits = number(4) as u32;
        let (fragment, columns) = match fields[0] {
            "a" => (Fragment::A(bits), shape.k),
            "b" => (Fragment::B(bits), shape.n),
            _ => (Fragment::C, shape.n),
        };
        let layout = Layout::Tiles(shape, fragment);
        let places = (0..32).flat_map(|lane| (0..number(5)).map(move |index| (lane, index)));
        let bytes = places.flat_map(|(lane, index)| {
            let place = layout.position(lane, index);
            ((place.row * columns + place.column) as u16).to_le_bytes()
        });
        assert_eq!(format!("{:016x}", digest(bytes)), fields[6], "{line}");
    }
}

#[test]
fn products_are_bitwise_those_of_an_h200() {
    let mut rest = PRODUCTS;
    let mut products = 0;
    while !rest.is_empty() {
        let header: Vec<usize> = take(&mut rest, 8).iter().map(|byte| usize::from(*byte)).collect();
        let name = std::str::from_utf8(take(&mut rest, header[0])).unwrap();
        for warp in 0..header[7] {
            let [a, b, c, d] = read_warp(&mut rest, &header);
            let expected = gather(&d, result_layout(name), false);
            let result = product(name, [&a, &b, &c]);
            if is_quad(name) {
                // A Hopper GPU computes this shape of Volta without tensor cores, in another order.
                let near =
                    result.iter().zip(&expected).filter(|(x, y)| x.abs_diff(**y) <= 4).count();
                assert!(near >= 62, "{name}, warp {warp}: {near} of 64");
            } else {
                assert_eq!(result, expected, "{name}, warp {warp}");
            }
        }
        products += 1;
    }
    assert_eq!(products, 59);
}

/// One matrix in the registers of a warp.
struct Registers {
    lanes: Vec<Vec<u64>>,
    width: u32,
}

impl Registers {
    fn element(&self, lane: usize, index: usize, bits: u32) -> u64 {
        let per_register = (self.width / bits) as usize;
        let register = self.lanes[lane][index / per_register];
        register >> (bits as usize * (index % per_register)) & (u64::MAX >> (64 - bits))
    }
}

/// The next bytes.
pub(super) fn take<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, after) = rest.split_at(count);
    *rest = after;
    taken
}

fn read_warp(rest: &mut &[u8], header: &[usize]) -> [Registers; 4] {
    let (wide, narrow) = (header[5] as u32, header[6] as u32);
    let mut matrices = [wide, wide, narrow, narrow]
        .map(|width| Registers { lanes: Vec::with_capacity(32), width });
    for _ in 0..32 {
        for (matrix, count) in matrices.iter_mut().zip(&header[1..5]) {
            let bytes = matrix.width as usize / 8;
            let word = |chunk: &[u8]| {
                chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
            };
            matrix.lanes.push(take(rest, bytes * count).chunks(bytes).map(word).collect());
        }
    }
    matrices
}

/// A fragment's layout, the width of its elements, and its extents.
type Place = (Layout, u32, (usize, usize));

fn words(name: &str) -> (Shape, Vec<&str>) {
    let words: Vec<&str> = name.split('.').filter(|word| *word != "satfinite").collect();
    let numbers: Vec<usize> =
        words[0][1..].split(['n', 'k']).map(|number| number.parse().unwrap()).collect();
    (Shape { m: numbers[0], n: numbers[1], k: numbers[2] }, words)
}

fn bits(word: &str) -> u32 {
    match word {
        "f64" => 64,
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        "e4m3" | "e5m2" | "s8" | "u8" => 8,
        "s4" | "u4" => 4,
        _ => 1,
    }
}

fn is_quad(name: &str) -> bool {
    name.starts_with("m8n8k4") && name.contains("f16")
}

fn result_layout(name: &str) -> Place {
    let (shape, words) = words(name);
    let bits = bits(words[3]);
    let layout = match (is_quad(name), bits) {
        (true, 16) => Layout::QuadPairs(QuadFragment::C16),
        (true, _) => Layout::QuadPairs(QuadFragment::C32),
        (false, _) => Layout::Tiles(shape, Fragment::C),
    };
    (layout, bits, (shape.m, shape.n))
}

fn operand_layouts(name: &str) -> [Place; 2] {
    let (shape, words) = words(name);
    let (a, b) = (bits(words[4]), bits(words[5]));
    let order = |word| if word == "row" { MajorOrder::Row } else { MajorOrder::Column };
    let (left, right) = if is_quad(name) {
        (
            Layout::QuadPairs(QuadFragment::A(order(words[1]))),
            Layout::QuadPairs(QuadFragment::B(order(words[2]))),
        )
    } else {
        (Layout::Tiles(shape, Fragment::A(a)), Layout::Tiles(shape, Fragment::B(b)))
    };
    [(left, a, (shape.m, shape.k)), (right, b, (shape.k, shape.n))]
}

/// The matrix of a fragment, by rows or by columns; of four products the first.
fn gather(registers: &Registers, place: Place, by_columns: bool) -> Vec<u64> {
    let (layout, bits, (rows, columns)) = place;
    let mut matrix = vec![0; rows * columns];
    let quad = matches!(layout, Layout::QuadPairs(_));
    for lane in (0..32).filter(|lane| !quad || lane % 16 < 4) {
        let count = registers.lanes[lane].len() * (registers.width / bits) as usize;
        for index in 0..count {
            let at = layout.position(lane, index);
            let offset =
                if by_columns { at.column * rows + at.row } else { at.row * columns + at.column };
            matrix[offset] = registers.element(lane, index, bits);
        }
    }
    matrix
}

fn product(name: &str, [a, b, c]: [&Registers; 3]) -> Vec<u64> {
    let (shape, words) = words(name);
    let [left, right] = operand_layouts(name);
    let (a, b) = (gather(a, left, false), gather(b, right, true));
    let mut sums = gather(c, result_layout(name), false);
    let short = |values: &[u64]| values.iter().map(|value| *value as u32).collect::<Vec<_>>();
    match (float_type(words[4]), float_type(words[5])) {
        (Some(x), Some(y)) => {
            let sum = if words[3] == "f16" { Accumulator::F16 } else { Accumulator::F32 };
            let types = FloatTypes { a: x, b: y, c: sum, d: sum };
            let mut result = short(&sums);
            let model = Architecture::Hopper;
            matrix::multiply_float(
                shape,
                types,
                &short(&a),
                &short(&b),
                &mut result,
                (model, matrix::Issuer::Warp),
            );
            result.into_iter().map(u64::from).collect()
        }
        (_, _) if words[4] == "f64" => {
            matrix::multiply_double(shape, &a, &b, &mut sums, Rounding::NearestEven);
            sums
        }
        (_, _) if words[4] == "b1" => {
            let mut result = short(&sums);
            let shape = Shape { k: shape.k / 32, ..shape };
            let product = if name.contains("xor") { BitProduct::Xor } else { BitProduct::And };
            matrix::multiply_bits(shape, &packed(&a), &packed(&b), &mut result, product);
            result.into_iter().map(u64::from).collect()
        }
        (_, _) => {
            let mut result: Vec<i32> = sums.iter().map(|value| *value as i32).collect();
            let overflow =
                if name.contains("satfinite") { Overflow::Saturate } else { Overflow::Wrap };
            let (a, b) = (extended(&a, words[4]), extended(&b, words[5]));
            matrix::multiply_integer(shape, &a, &b, &mut result, overflow);
            result.into_iter().map(|value| u64::from(value as u32)).collect()
        }
    }
}

fn float_type(word: &str) -> Option<Multiplicand> {
    Some(match word {
        "f16" => Multiplicand::F16,
        "bf16" => Multiplicand::Bf16,
        "tf32" => Multiplicand::Tf32,
        "e4m3" => Multiplicand::E4m3,
        "e5m2" => Multiplicand::E5m2,
        _ => return None,
    })
}

fn packed(bits: &[u64]) -> Vec<u32> {
    let word = |bits: &[u64]| bits.iter().rev().fold(0, |word, bit| word << 1 | *bit as u32);
    bits.chunks(32).map(word).collect()
}

fn extended(values: &[u64], ty: &str) -> Vec<i32> {
    let spare = 32 - bits(ty);
    let signed = |value: &u64| ((*value as i32) << spare) >> spare;
    let extend = |value: &u64| if ty.starts_with('s') { signed(value) } else { *value as i32 };
    values.iter().map(extend).collect()
}
