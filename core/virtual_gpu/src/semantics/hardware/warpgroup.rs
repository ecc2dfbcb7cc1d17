//! Products of `wgmma` on an H200, in eight strata of operands: close exponents, all exponents, one and three products
//! other than zero, subnormal operands, sums that cancel, infinities and NaN, and tiny results.

use super::matrix::take;
use crate::semantics::matrix::{
    Accumulator, Architecture, FloatTypes, Issuer, Multiplicand, Shape, multiply_float,
};

/// For each type and stratum: the length of the name, the name, the stratum, then A (40 rows), B (8 columns), C and D
/// (40 rows of 8 sums), as the GPU stores them.
const PRODUCTS: &[u8] = include_bytes!("h200_warpgroup_products.bin");

const ROWS: usize = 40;
const COLUMNS: usize = 8;
/// Bytes of a row of A or a column of B.
const LINE: usize = 32;
/// Rows that are computed at once.
const ROWS_AT_ONCE: usize = 8;

fn types(name: &str) -> FloatTypes {
    let (multiplicands, sum) = match name.strip_suffix("_f16") {
        Some(multiplicands) => (multiplicands, Accumulator::F16),
        None => (name, Accumulator::F32),
    };
    let (a, b) = match multiplicands {
        "f16" => (Multiplicand::F16, Multiplicand::F16),
        "bf16" => (Multiplicand::Bf16, Multiplicand::Bf16),
        "tf32" => (Multiplicand::Tf32, Multiplicand::Tf32),
        "e4m3" => (Multiplicand::E4m3, Multiplicand::E4m3),
        "e5m2" => (Multiplicand::E5m2, Multiplicand::E5m2),
        "e4m3e5m2" => (Multiplicand::E4m3, Multiplicand::E5m2),
        other => panic!("{other}"),
    };
    FloatTypes { a, b, c: sum, d: sum }
}

fn elements(bytes: &[u8], size: usize) -> Vec<u32> {
    let element =
        |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
    bytes.chunks(size).map(element).collect()
}

#[test]
fn warpgroup_products_are_bitwise_those_of_an_h200() {
    let mut rest = PRODUCTS;
    let mut cases = 0;
    while !rest.is_empty() {
        let length = usize::from(take(&mut rest, 1)[0]);
        let name = std::str::from_utf8(take(&mut rest, length)).unwrap();
        let stratum = take(&mut rest, 1)[0];
        let types = types(name);
        let sum = if types.d == Accumulator::F16 { 2 } else { 4 };
        let size = types.a.bits() as usize / 8;
        let k = LINE / size;
        let a = elements(take(&mut rest, ROWS * LINE), size);
        let b = elements(take(&mut rest, COLUMNS * LINE), size);
        let mut sums = elements(take(&mut rest, ROWS * COLUMNS * sum), sum);
        let expected = elements(take(&mut rest, ROWS * COLUMNS * sum), sum);
        let model = (Architecture::Hopper, Issuer::Warpgroup);
        let shape = Shape { m: ROWS_AT_ONCE, n: COLUMNS, k };
        let rows = a.chunks(ROWS_AT_ONCE * k).zip(sums.chunks_mut(ROWS_AT_ONCE * COLUMNS));
        for (a, sums) in rows {
            multiply_float(shape, types, a, &b, sums, model);
        }
        let wrong = sums.iter().zip(&expected).filter(|(found, expected)| found != expected);
        assert_eq!(wrong.count(), 0, "{name}, stratum {stratum}");
        cases += sums.len();
    }
    assert_eq!(cases, 20_480);
}
