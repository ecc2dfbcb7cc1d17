//! What C++ has: structures, calls of every kind, tables, output and memory of a kernel's own.

use super::case::{Case, Tolerance, Variant, bytes_of};
use super::number::{F32, floats, ints, words};

#[test]
fn features_of_the_language() {
    super::execution::check(&[
        divergence(),
        constants(),
        function_pointers(),
        generic_addresses(),
        structs(),
        recursion(),
        print_assert_malloc(),
        sleep_clock(),
        abstractions(),
    ]);
}

#[test]
fn random_numbers() {
    let cases: Vec<Case> = (0..6).map(random_philox).collect();
    super::execution::check(&cases);
}

fn divergence() -> Case {
    let x: Vec<u32> = words(70, 1).into_iter().map(|x| x % 100_000 + 1).collect();
    let walked = |x: &u32| {
        let (mut v, mut top, mut steps) = (u64::from(*x), u64::from(*x), 0);
        while v != 1 && steps < 60 {
            v = if v % 2 == 1 { 3 * v + 1 } else { v / 2 };
            top = top.max(v);
            steps += 1;
        }
        (steps, top.min(u64::from(u32::MAX)) as u32)
    };
    let (steps, peaks): (Vec<u32>, Vec<u32>) = x.iter().map(walked).unzip();
    Case::new("divergence", 2, 64)
        .also(&[Variant::AsWritten])
        .input(&x)
        .output(&steps)
        .output(&peaks)
        .value(70)
        .value(60)
}

fn constants() -> Case {
    let x = floats(200, 2);
    let at = |i: i64| if (0..200).contains(&i) { f64::from(x[i as usize]) } else { 0.0 };
    let value = |i: i64| {
        let smooth: f64 =
            [0.1, 0.2, 0.4, 0.2, 0.1].iter().zip(-2..).map(|(w, k)| w * at(i + k)).sum();
        let odd = (i % 2) as usize;
        let bytes = [1.0, 2.0, 3.0, 4.0, 5.0, 255.0][(i % 6) as usize];
        let tables = [1.5 + 40.0 + 118.0 + 2.5 + 20.0, -2.25 + 10.0 + 100.0 + 4.5 + 30.0][odd];
        smooth + tables + bytes - 7.0
    };
    // Nine additions below 512.
    Case::new("constants", 2, 128)
        .also(&[Variant::AsWritten])
        .input(&x)
        .near(F32, (0..200).map(value).collect(), Tolerance::Absolute(9.0 * 3.1e-5))
        .value(200)
}

fn function_pointers() -> Case {
    let x = floats(24, 3);
    let which = ints(3, 24, 4);
    let results = |(x, which): (&f32, &i32)| {
        let first = match which {
            0 => x + 3.0,
            1 => x * 3.0,
            _ => x.min(3.0),
        };
        first + x * 2.0
    };
    let areas =
        |(x, which): (&f32, &i32)| if which & 1 == 1 { x * x * 4.0 } else { x * 2.0 / 2.0 * 3.0 };
    let lanes = || x.iter().zip(&which);
    Case::new("function_pointers", 1, 24)
        .also(&[Variant::AsWritten])
        .input(&x)
        .input(&which)
        // A product and a sum may be one operation.
        .near(F32, lanes().map(results).map(f64::from).collect(), Tolerance::Absolute(5e-7))
        .output(&lanes().map(areas).collect::<Vec<f32>>())
}

fn generic_addresses() -> Case {
    let x = ints(100, 4, 5);
    let sum: i32 = x.iter().sum();
    let total = |t: i32| [sum, 2 * sum, sum + 4 * t, 26][t as usize % 4];
    let kind = |t: i32| [1, 2, 4, 8][t as usize % 4];
    let y: Vec<i32> = (0..16).map(total).chain((0..16).map(kind)).collect();
    Case::new("generic_addresses", 1, 16).also(&[Variant::AsWritten]).input(&x).output(&y).value(16)
}

fn structs() -> Case {
    let small = [7_u8, 0, 0xf4, 0xff, 9, 0, 0, 0]; // {7, -12, 9}
    let vector = [1.0_f32, -2.0, 0.5];
    let mut large = bytes_of(&[1.0_f64, 2.0, 3.0, 4.0]);
    large.extend(bytes_of(&[10.0_f32, 11.0, 12.0]));
    large.extend([[3_u8, 0, 4, 0, 5, 0, 0, 0], [0; 8]].concat());
    large.extend([0; 4]);
    large.extend(bytes_of(&[-100_i64]));
    let mut aligned = bytes_of(&[0.0_f32, 0.0, 0.0, 1000.0]);
    aligned.extend(bytes_of(&[50_i32, 0, 0, 0]));
    let a: Vec<f32> = ints(64, 3 * 40, 6).into_iter().map(|x| x as f32).collect();
    let b = vector;
    let cross = |a: &[f32]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let out: Vec<f32> = a.chunks(3).flat_map(cross).collect();
    let sums: Vec<f64> = (0..40)
        .map(|t| 2.0 * f64::from(t % 4 + 1) + 10.0 - 12.0 + 3.0 + (-100.0 + 9.0) + 1000.0 + 50.0)
        .collect();
    Case::new("structs", 1, 40)
        .also(&[Variant::AsWritten])
        .structure(&small)
        .structure(&bytes_of(&vector))
        .structure(&large)
        .structure(&aligned)
        .input(&a)
        .output(&out)
        .output(&sums)
}

fn recursion() -> Case {
    let x = ints(1000, 50, 7);
    let mut sorted = x.clone();
    sorted.sort_unstable();
    let numbers = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
    let f: Vec<i32> = (0..32).map(|t| numbers[t % 12]).collect();
    Case::new("recursion", 1, 32)
        .also(&[Variant::AsWritten])
        .output(&f)
        .output(&[9])
        .updated(&x, &sorted)
        .value(50)
}

fn print_assert_malloc() -> Case {
    let lines: String =
        (0..2).map(|thread| format!("thread {thread} of block 0: 12 (6.000000, half)\n")).collect();
    Case::new("print_assert_malloc", 1, 2)
        .also(&[Variant::AsWritten])
        .input(&[3, 4, 5])
        .output(&[15, 15])
        .value(3)
        .prints(lines)
}

fn sleep_clock() -> Case {
    Case::new("sleep_clock", 1, 32)
        .also(&[Variant::AsWritten])
        .output(&[1_i32; 32])
        .output(&[0_u32; 32])
}

/// Philox 4x32-10 (Salmon et al. 2011) in 64-bit products.
fn philox(counter: u32, key: u32) -> [u32; 4] {
    let (mut c, mut k) = ([counter, 0, 0, 0], [key, !key]);
    for _ in 0..10 {
        let p = u64::from(c[0]) * 0xd251_1f53;
        let q = u64::from(c[2]) * 0xcd9e_8d57;
        c = [(q >> 32) as u32 ^ c[1] ^ k[0], q as u32, (p >> 32) as u32 ^ c[3] ^ k[1], p as u32];
        k = [k[0].wrapping_add(0x9e37_79b9), k[1].wrapping_add(0xbb67_ae85)];
    }
    c
}

fn random_philox(kind: i32) -> Case {
    let number = |i: u32| {
        let c = philox(i, 12345);
        let u = f64::from(c[0] >> 8).mul_add(2_f64.powi(-24), 2_f64.powi(-25));
        let u = F32.round(u);
        let v = f64::from(c[1] >> 8) * 2_f64.powi(-24);
        match kind {
            0 => u,
            1 => (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos(),
            2 => -u.ln(),
            3 => (u - 0.5).signum(),
            4 => (std::f64::consts::PI * (v - 0.5)).tan(),
            _ => f64::from(c[2] % 7),
        }
    };
    let within = match kind {
        1 | 2 => Tolerance::Absolute(1e-6),
        // The angle is rounded before a function that has no bound.
        4 => Tolerance::Relative(1e-3),
        _ => Tolerance::Ulps(0.0),
    };
    Case::new("random_philox", 4, 64)
        .value(12345_u32)
        .near(F32, (0..200).map(number).collect(), within)
        .value(kind)
        .value(200)
}

fn abstractions() -> Case {
    let x = floats(40, 8);
    let lanes = || 0..40_i32;
    let tree: Vec<f32> = lanes()
        .zip(&x)
        .map(|(t, x)| {
            let factor = if t % 2 == 1 { 2.0 } else { 3.0 };
            if t % 3 == 0 { x + 1.5 } else { x * (2.0 + x) * factor }
        })
        .collect();
    let chain: Vec<f32> = lanes().zip(&x).map(|(t, x)| (x * 2.0 - t as f32).abs()).collect();
    let squares = [0, 1, 4, 9, 16, 25, 36];
    let root = |t: i32| squares.iter().position(|s| *s == t).map_or(-1, |r| r as i32);
    let whole: Vec<i32> =
        lanes().map(|t| 6 * 10000 + 3 * t * 100 + root(t) + t * 7 / 5 + t * 7 % 5).collect();
    Case::new("abstractions", 1, 64)
        .also(&[Variant::AsWritten])
        .input(&x)
        .output(&tree)
        .output(&chain)
        .output(&whole)
        .value(40)
}
