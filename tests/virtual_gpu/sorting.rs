//! Sorts and selections.

use super::case::{Case, Variant};
use super::number::{floats, words};

#[test]
fn sorts_and_selections() {
    super::execution::check(&[sort_bitonic(), radix_sort(), top_k(), argmax()]);
}

fn sort_bitonic() -> Case {
    let keys = words(1024, 1);
    let mut order: Vec<u32> = (0..1024).collect();
    order.sort_by_key(|i| keys[*i as usize]);
    let sorted: Vec<u32> = order.iter().map(|i| keys[*i as usize]).collect();
    Case::new("sort_bitonic", 1, 128)
        .also(&[Variant::AsWritten])
        .updated(&keys, &sorted)
        .output(&order)
}

/// Two blocks of 256; equal keys keep their order.
fn radix_sort() -> Case {
    let keys: Vec<f32> =
        floats(512, 2).into_iter().map(|x| (x * 50.0).round() / 4.0 + 0.1).collect();
    let values: Vec<i32> = (0..512).collect();
    let mut order = values.clone();
    for block in order.chunks_mut(256) {
        block.sort_by(|a, b| keys[*a as usize].total_cmp(&keys[*b as usize]));
    }
    let sorted: Vec<f32> = order.iter().map(|i| keys[*i as usize]).collect();
    Case::new("radix_sort", 2, 64)
        .also(&[Variant::AsWritten])
        .updated(&keys, &sorted)
        .updated(&values, &order)
}

fn top_k() -> Case {
    let (rows, columns) = (5, 130);
    let x = floats(rows * columns, 3);
    let (mut values, mut places) = (Vec::new(), Vec::new());
    for row in x.chunks(columns) {
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by(|a, b| row[*b].total_cmp(&row[*a]).then(a.cmp(b)));
        values.extend(order[..4].iter().map(|i| row[*i]));
        places.extend(order[..4].iter().map(|i| *i as i32));
    }
    Case::new("top_k", 3, 64)
        .also(&[Variant::AsWritten])
        .input(&x)
        .output(&values)
        .output(&places)
        .value(rows as i32)
        .value(columns as i32)
}

fn argmax() -> Case {
    let x: Vec<f32> = floats(300, 4).into_iter().map(|x| x - 3.0).collect();
    let (place, largest) = x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    // All are negative: bits are inverted so that larger numbers have larger keys.
    let packed = u64::from(!largest.to_bits()) << 32 | (0xffff_ffff - place as u64);
    Case::new("top_k", 2, 64)
        .kernel("argmax")
        .also(&[Variant::AsWritten])
        .input(&x)
        .updated(&[0_u64], &[packed])
        .value(300)
}
