//! Images, cells and sequences.

use super::case::{Case, Tolerance, Variant};
use super::number::{F32, below, floats, words};

#[test]
fn images_cells_and_sequences() {
    super::execution::check(&[
        grey(),
        blur(),
        resize_bilinear(),
        mandelbrot(),
        life_bits(),
        smith_waterman(),
    ]);
}

fn bytes(count: usize, seed: u64) -> Vec<u8> {
    words(count, seed).into_iter().map(|x| x as u8).collect()
}

fn grey() -> Case {
    let rgb = bytes(3 * 100, 1);
    let weighed = |p: &[u8]| {
        let sum: u32 = p.iter().zip([77, 150, 29]).map(|(p, w)| u32::from(*p) * w).sum();
        ((sum + 128) / 256) as u8
    };
    let out: Vec<u8> = rgb.chunks(3).map(weighed).collect();
    Case::new("images", 2, 64)
        .kernel("grey")
        .also(&[Variant::AsWritten])
        .input(&rgb)
        .output(&out)
        .value(100)
}

fn blur() -> Case {
    let (width, height) = (37_i32, 22_i32);
    let image = bytes((width * height) as usize, 2);
    let mirrored = |i: i32, n: i32| if i < 0 { -i } else { i.min(2 * n - 2 - i) };
    let weights = [1_u32, 4, 6, 4, 1];
    // Both directions at once, where the kernel takes one after the other.
    let blurred = |at: i32| {
        let mut sum = 128;
        for (dy, wy) in (-2..).zip(weights) {
            for (dx, wx) in (-2..).zip(weights) {
                let (y, x) = (mirrored(at / width + dy, height), mirrored(at % width + dx, width));
                sum += wy * wx * u32::from(image[(y * width + x) as usize]);
            }
        }
        (sum >> 8) as u8
    };
    let out: Vec<u8> = (0..width * height).map(blurred).collect();
    Case::new("images", (3, 3), (16, 8))
        .kernel("blur")
        .also(&[Variant::AsWritten])
        .shared(16 * 12 * 2)
        .input(&image)
        .output(&out)
        .value(width)
        .value(height)
}

/// Sizes whose ratio is a binary fraction: both sides agree about which pixels are between which.
fn resize_bilinear() -> Case {
    let [w, h, ow, oh] = [12_usize, 10, 16, 8];
    let x = floats(w * h, 3);
    let place = |o: usize, n: usize, on: usize| {
        let at = ((o as f64 + 0.5) * n as f64 / on as f64 - 0.5).max(0.0);
        (at.floor() as usize, (at.floor() as usize + 1).min(n - 1), at.fract())
    };
    let pixel = |at: usize| {
        let ((x0, x1, fx), (y0, y1, fy)) = (place(at % ow, w, ow), place(at / ow, h, oh));
        let value = |y: usize, column: usize| f64::from(x[y * w + column]);
        let row = |y: usize| value(y, x0) + fx * (value(y, x1) - value(y, x0));
        row(y0) + fy * (row(y1) - row(y0))
    };
    let [w, h, width, height] = [w, h, ow, oh].map(|n| n as i32);
    Case::new("images", (2, 1), (8, 8))
        .kernel("resize_bilinear")
        .also(&[Variant::AsWritten])
        .input(&x)
        .near(F32, (0..ow * oh).map(pixel).collect(), Tolerance::Absolute(1e-6))
        .value(w)
        .value(h)
        .value(width)
        .value(height)
}

/// A step at most quadruples an error of 2⁻⁵³, so 16 steps leave it below 2⁻²⁰: no point is as near to the circle.
fn mandelbrot() -> Case {
    let steps = |at: u32| {
        let (a, b) = (-2.0 + f64::from(at % 30) * 0.09, -1.3 + f64::from(at / 30) * 0.09);
        let (mut x, mut y) = (0.0_f64, 0.0_f64);
        (0..16)
            .take_while(|_| {
                let is_inside = x.hypot(y) <= 2.0;
                (x, y) = (x * x - y * y + a, 2.0 * x * y + b);
                is_inside
            })
            .count() as u16
    };
    let out: Vec<u16> = (0..30 * 20).map(steps).collect();
    Case::new("images", (4, 3), (8, 8))
        .kernel("mandelbrot")
        .also(&[Variant::AsWritten])
        .output(&out)
        .value(30)
        .value(20)
        .value(-2.0)
        .value(-1.3)
        .value(0.09)
        .value(16)
}

fn life_bits() -> Case {
    let (per_row, rows) = (3_usize, 20_usize);
    let before: Vec<u32> = words(per_row * rows, 4);
    let columns = per_row * 32;
    let alive = |row: usize, column: usize| {
        let (row, column) = (row % rows, column % columns);
        before[row * per_row + column / 32] >> (column % 32) & 1 == 1
    };
    let lives = |row: usize, column: usize| {
        let around = (0..9)
            .filter(|k| *k != 4 && alive(row + rows + k / 3 - 1, column + columns + k % 3 - 1));
        let count = around.count();
        count == 3 || count == 2 && alive(row, column)
    };
    let word = |at: usize| {
        let bit = |bit: usize| u32::from(lives(at / per_row, at % per_row * 32 + bit)) << bit;
        (0..32).map(bit).sum::<u32>()
    };
    let after: Vec<u32> = (0..per_row * rows).map(word).collect();
    Case::new("grids", (1, 20), 32)
        .kernel("life_bits")
        .also(&[Variant::AsWritten])
        .input(&before)
        .output(&after)
        .value(per_row as i32)
        .value(rows as i32)
}

fn smith_waterman() -> Case {
    let letters = |count, seed| below(4, count, seed).into_iter().map(|x| b"ACGT"[x as usize]);
    let (a, b): (Vec<u8>, Vec<u8>) = (letters(45, 5).collect(), letters(61, 6).collect());
    // Row by row, as the recurrence is written.
    let mut best = 0;
    let mut above = vec![0; b.len() + 1];
    for x in &a {
        let mut row = vec![0];
        for (j, y) in b.iter().enumerate() {
            let diagonal = above[j] + if x == y { 3 } else { -3 };
            row.push(diagonal.max(above[j + 1] - 2).max(row[j] - 2).max(0));
        }
        best = best.max(*row.iter().max().unwrap());
        above = row;
    }
    Case::new("grids", 1, 32)
        .kernel("smith_waterman")
        .also(&[Variant::AsWritten])
        .shared(3 * 46 * 4)
        .input(&a)
        .input(&b)
        .updated(&[0], &[best])
        .value(45)
        .value(61)
}
