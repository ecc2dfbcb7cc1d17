//! Weights of few bits: back to halves, and multiplied as they are.

use super::case::{Case, Tolerance, Variant};
use super::number::{F16, F32, floats, halves, words, worth};

#[test]
fn weights_of_few_bits() {
    super::execution::check(&[dequant_int8(), dequant_int4(), gemv_int4()]);
}

fn nibbles(word: u32) -> [u32; 8] {
    std::array::from_fn(|index| word >> (4 * index) & 15)
}

fn dequant_int8() -> Case {
    let (rows, columns) = (3_usize, 52_usize);
    let weights: Vec<i8> = words(rows * columns, 1).into_iter().map(|x| x as i8).collect();
    let scales = floats(rows, 2);
    let value = |at: usize| f64::from(f32::from(weights[at]) * scales[at / columns]);
    Case::new("dequantize", (1, 3), 32)
        .kernel("dequant_int8")
        .also(&[Variant::AsWritten])
        .input(&weights)
        .input(&scales)
        .near(F16, (0..rows * columns).map(value).collect(), Tolerance::Ulps(0.5))
        .value(columns as i32 / 4)
}

/// Words have halves of nibbles interleaved: pair `p` is nibbles `p` and `p + 4`.
fn dequant_int4() -> Case {
    let packed = words(40, 3);
    let (scales, zeros) = (halves(F16, &floats(5, 4)), halves(F16, &[8.0, 7.0, 0.0, 15.0, 3.5]));
    let (scale, zero) = (worth(F16, &scales), worth(F16, &zeros));
    let out = packed
        .iter()
        .enumerate()
        .flat_map(|(index, word)| {
            let group = index / 8;
            let q = nibbles(*word);
            [0, 4, 1, 5, 2, 6, 3, 7].map(|n| (f64::from(q[n]) - zero[group]) * scale[group])
        })
        .collect();
    Case::new("dequantize", 2, 32)
        .kernel("dequant_int4")
        .also(&[Variant::AsWritten])
        .input(&packed)
        .input(&scales)
        .input(&zeros)
        .near(F16, out, Tolerance::Ulps(0.5))
        .value(40)
        .value(8)
}

fn gemv_int4() -> Case {
    let (rows, per_row) = (5, 40);
    let (w, scale, x) = (words(rows * per_row, 5), floats(rows, 6), floats(per_row * 8, 7));
    let row = |row: usize| {
        let q = w[row * per_row..(row + 1) * per_row].iter().flat_map(|word| nibbles(*word));
        let sum: f64 = q.zip(&x).map(|(q, x)| (f64::from(q) - 8.0) * f64::from(*x)).sum();
        sum * f64::from(scale[row])
    };
    Case::new("dequantize", 3, 64)
        .kernel("gemv_int4")
        .input(&w)
        .input(&scale)
        .input(&x)
        // 320 products below 8 in f32.
        .near(F32, (0..rows).map(row).collect(), Tolerance::Absolute(1e-4))
        .value(rows as i32)
        .value(per_row as i32)
}
