//! Grids of points: stencils, transposes, images.

use super::case::{Case, Tolerance, Variant};
use super::number::{F32, floats, words};

#[test]
fn stencils_and_transposes() {
    super::execution::check(&[
        stencil(),
        dynamic_shared(),
        vector_add(),
        transpose_padded(),
        transpose_in_place(),
        transpose_swizzled(),
        convolution(),
        maxpool(),
    ]);
}

pub(super) fn transposed<T: Copy>(x: &[T], columns: usize) -> Vec<T> {
    (0..columns).flat_map(|c| x[c..].iter().step_by(columns).copied()).collect()
}

fn stencil() -> Case {
    let (width, height) = (37, 21);
    let x = floats(width * height, 1);
    let mut after = vec![9.0; width * height];
    let mut change = 0.0_f32;
    for j in 1..height - 1 {
        for i in 1..width - 1 {
            let at = |j: usize, i: usize| x[j * width + i];
            let sum = at(j, i - 1) + at(j, i + 1) + at(j - 1, i) + at(j + 1, i);
            after[j * width + i] = 0.25 * sum;
            change = change.max((0.25 * sum - at(j, i)).abs());
        }
    }
    Case::new("stencil", (3, 3), (16, 8))
        .also(&[Variant::AsWritten])
        .input(&x)
        .updated(&vec![9.0_f32; width * height], &after)
        .updated(&[0_i32], &[change.to_bits() as i32])
        .value(width as i32)
        .value(height as i32)
}

fn dynamic_shared() -> Case {
    let (rows, columns) = (45, 70);
    let x = floats(rows * columns, 2);
    Case::new("dynamic_shared", (3, 2), (32, 8))
        .also(&[Variant::AsWritten])
        .shared(33 * 32 * 4 + 32 * 4)
        .input(&x)
        .output(&transposed(&x, columns))
        .value(rows as i32)
        .value(columns as i32)
}

fn vector_add() -> Case {
    let (x, y) = (floats(1000, 3), floats(1000, 4));
    let z: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    Case::new("vector_add", 4, 256)
        .also(&[Variant::AsWritten, Variant::FastMath])
        .input(&x)
        .input(&y)
        .output(&z)
        .value(1000)
}

fn transpose_padded() -> Case {
    let (width, height) = (50, 41);
    let x = floats(width * height, 5);
    Case::new("transposes", (2, 2), (32, 8))
        .kernel("transpose_padded")
        .also(&[Variant::AsWritten])
        .output(&transposed(&x, width))
        .input(&x)
        .value(width as i32)
        .value(height as i32)
}

fn transpose_in_place() -> Case {
    let x: Vec<u16> = words(48 * 48, 6).into_iter().map(|x| x as u16).collect();
    Case::new("transposes", (3, 3), (16, 16))
        .kernel("transpose_in_place")
        .also(&[Variant::AsWritten])
        .updated(&x, &transposed(&x, 48))
        .value(48)
}

fn transpose_swizzled() -> Case {
    let x = floats(128 * 128, 7);
    Case::new("transposes", (2, 2), 256)
        .kernel("transpose_swizzled")
        .also(&[Variant::AsWritten])
        .input(&x)
        .output(&transposed(&x, 128))
        .value(32)
}

fn convolution() -> Case {
    let [images, channels, filters, height, width] = [2_usize, 3, 2, 11, 13];
    let x = floats(images * channels * height * width, 8);
    let (w, bias) = (floats(filters * channels * 9, 9), floats(filters, 10));
    let pixel = |plane: usize, y: usize, x_at: usize| {
        // Rows and columns are counted from the padding.
        if !(1..=height).contains(&y) || !(1..=width).contains(&x_at) {
            return 0.0;
        }
        f64::from(x[(plane * height + y - 1) * width + x_at - 1])
    };
    let mut expected = Vec::new();
    for plane in 0..images * filters {
        let (image, filter) = (plane / filters, plane % filters);
        for at in 0..height * width {
            let mut sum = f64::from(bias[filter]);
            for tap in 0..channels * 9 {
                let (channel, dy, dx) = (tap / 9, tap % 9 / 3, tap % 3);
                let weight = f64::from(w[filter * channels * 9 + tap]);
                let plane = image * channels + channel;
                sum += weight * pixel(plane, at / width + dy, at % width + dx);
            }
            expected.push(sum.max(0.0));
        }
    }
    Case::new("convolution", (2, 2, 4), (8, 8))
        .kernel("conv3x3_relu")
        .also(&[Variant::AsWritten])
        .input(&w)
        .input(&bias)
        .input(&x)
        // 27 products of magnitude one.
        .near(F32, expected, Tolerance::Absolute(1e-5))
        .value(channels as i32)
        .value(filters as i32)
        .value(height as i32)
        .value(width as i32)
}

fn maxpool() -> Case {
    let (planes, height, width) = (3, 9, 14);
    let x = floats(planes * height * width, 11);
    let (mut largest, mut places) = (Vec::new(), Vec::new());
    for plane in x.chunks(height * width) {
        for at in 0..height / 2 * (width / 2) {
            let (y, x) = (at / (width / 2) * 2, at % (width / 2) * 2);
            let four =
                [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(j, i)| plane[(y + j) * width + x + i]);
            let highest = four.into_iter().fold(f32::NEG_INFINITY, f32::max);
            largest.push(highest);
            places.push(four.iter().position(|x| *x == highest).unwrap() as u8);
        }
    }
    Case::new("convolution", 1, 64)
        .kernel("maxpool2x2")
        .also(&[Variant::AsWritten])
        .input(&x)
        .output(&largest)
        .output(&places)
        .value(planes as i32)
        .value(height as i32)
        .value(width as i32)
}
