//! Summation models and layouts.

use super::*;

/// A product of 16 × 8 × 16 with one row and column that matter.
fn first_sum(a: &[u32], b: &[u32], c: u32, architecture: Architecture) -> u32 {
    let shape = Shape { m: 16, n: 8, k: 16 };
    let (mut left, mut right, mut sums) = ([0; 256], [0; 128], [0; 128]);
    left[..a.len()].copy_from_slice(a);
    right[..b.len()].copy_from_slice(b);
    sums[0] = c;
    let types = FloatTypes {
        a: Multiplicand::F16,
        b: Multiplicand::F16,
        c: Accumulator::F32,
        d: Accumulator::F32,
    };
    multiply_float(shape, types, &left, &right, &mut sums, (architecture, Issuer::Warp));
    sums[0]
}

#[test]
fn products_below_the_kept_bits_vanish() {
    // 1 + 2^-25 + 2^-25: Hopper keeps 25 bits below the largest term, Ampere 24.
    let (one, small) = (0x3c00, 0x0001); // 2^-24
    let sum = |architecture| {
        let model = architecture;
        first_sum(&[one, small, small], &[one, 0x3800, 0x3800], 0, model)
    };
    assert_eq!(sum(Architecture::Ampere), 0x3f80_0000);
    assert_eq!(sum(Architecture::Hopper), 0x3f80_0000);
    // Four of them make 2^-23 on Hopper, nothing on Ampere.
    let four = |architecture| {
        let a = [one, small, small, small, small];
        let b = [one, 0x3800, 0x3800, 0x3800, 0x3800];
        first_sum(&a, &b, 0, architecture)
    };
    assert_eq!(four(Architecture::Ampere), 0x3f80_0000);
    assert_eq!(four(Architecture::Hopper), 0x3f80_0001);
}

#[test]
fn infinities_and_nan_pass_through() {
    let model = Architecture::Hopper;
    let (one, infinity) = (0x3c00, 0x7c00);
    assert_eq!(first_sum(&[infinity], &[one], 0, model), 0x7f80_0000);
    assert_eq!(first_sum(&[infinity], &[0xbc00], 0, model), 0xff80_0000);
    assert_eq!(first_sum(&[infinity], &[0], 0, model), 0x7fff_ffff);
    assert_eq!(first_sum(&[infinity], &[one], 0xff80_0000, model), 0x7fff_ffff);
    assert_eq!(first_sum(&[one], &[one], 0x7fc0_0000, model), 0x7fff_ffff);
}

#[test]
fn every_element_of_a_fragment_has_a_place() {
    let check = |shape: Shape, fragment, rows: usize, columns: usize, elements: usize| {
        let mut held = vec![0; rows * columns];
        for lane in 0..32 {
            for element in 0..elements {
                let place = Layout::Tiles(shape, fragment).position(lane, element);
                held[place.row * columns + place.column] += 1;
            }
        }
        let times = 32 * elements / (rows * columns);
        assert!(held.iter().all(|count| *count == times), "{shape:?} {fragment:?}");
    };
    let shape = |m, n, k| Shape { m, n, k };
    check(shape(16, 8, 16), Fragment::A(16), 16, 16, 8);
    check(shape(16, 8, 16), Fragment::B(16), 16, 8, 4);
    check(shape(16, 8, 16), Fragment::C, 16, 8, 4);
    check(shape(16, 8, 64), Fragment::A(4), 16, 64, 32);
    check(shape(16, 8, 256), Fragment::B(1), 256, 8, 64);
    check(shape(32, 8, 16), Fragment::C, 32, 8, 8);
    check(shape(8, 32, 16), Fragment::B(16), 16, 32, 16);
    check(shape(16, 16, 16), Fragment::A(16), 16, 16, 16);
}

#[test]
fn transposing_twice_changes_nothing() {
    let registers: [u32; 32] = std::array::from_fn(|lane| lane as u32 * 0x1_0003);
    let transposed = transpose_8x8(&registers);
    assert_ne!(transposed, registers);
    assert_eq!(transpose_8x8(&transposed), registers);
}

/// Prints how long one product takes: `cargo test --release … speed_of_products -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn speed_of_products() {
    let shape = Shape { m: 16, n: 8, k: 16 };
    for ty in [Multiplicand::F16, Multiplicand::Bf16] {
        for d in [Accumulator::F32, Accumulator::F16] {
            let types = FloatTypes { a: ty, b: ty, c: d, d };
            let a: Vec<u32> = (0..256).map(|i| 0x3c00 + i * 3 % 0x80).collect();
            let b: Vec<u32> = (0..128).map(|i| 0x3c00 + i * 7 % 0x80).collect();
            let times = 20_000;
            let start = std::time::Instant::now();
            for _ in 0..times {
                let mut sums = [0; 128];
                let model = Architecture::Hopper;
                multiply_float(shape, types, &a, &b, &mut sums, (model, Issuer::Warp));
                std::hint::black_box(sums);
            }
            let seconds = start.elapsed().as_secs_f64() / f64::from(times);
            println!("{ty:?} {d:?}: {:.0} ns", seconds * 1e9);
        }
    }
}
