//! Reductions, scans and histograms.

use super::case::{Case, Tolerance, Variant};
use super::number::{F64, below, floats, ints, words};

#[test]
fn reductions_scans_and_histograms() {
    super::execution::check(&[
        reduce_shuffle(),
        reduce_tree(),
        scan_blelloch(),
        scan_lookback(),
        histogram(),
        cub_block(),
        match_reduce(),
        cub_segmented(),
        cub_histogram_sort(),
        tile_groups(),
        filter_positive(),
    ]);
}

/// Whole numbers, so that every order of additions gives the same sum.
fn reduce_shuffle() -> Case {
    let x: Vec<f32> = below(100, 1000, 1).into_iter().map(|x| x as f32).collect();
    Case::new("reduce_shuffle", 3, 96)
        .also(&[Variant::AsWritten, Variant::FastMath])
        .input(&x)
        .updated(&[0.0_f32], &[x.iter().sum::<f32>()])
        .value(1000)
}

fn reduce_tree() -> Case {
    let x: Vec<i32> = words(700, 2).into_iter().map(|x| x as i32).collect();
    let slices = || x.chunks(256);
    let lowest: Vec<i32> = slices().map(|x| *x.iter().min().unwrap()).collect();
    let highest: Vec<i32> = slices().map(|x| *x.iter().max().unwrap()).collect();
    let sums = slices().map(|x| x.iter().map(|x| f64::from(*x)).sum()).collect();
    Case::new("reduce_tree", 3, 256)
        .input(&x)
        .output(&lowest)
        .output(&highest)
        .near(F64, sums, Tolerance::Ulps(0.0))
        .value(700)
}

fn exclusive(x: &[u32]) -> Vec<u32> {
    (0..x.len()).map(|end| x[..end].iter().fold(0, |sum: u32, x| sum.wrapping_add(*x))).collect()
}

fn scan_blelloch() -> Case {
    let x = words(1024, 3);
    let prefixes: Vec<u32> = x.chunks(512).flat_map(exclusive).collect();
    let totals: Vec<u32> =
        x.chunks(512).map(|x| x.iter().fold(0, |sum: u32, x| sum.wrapping_add(*x))).collect();
    Case::new("scan_blelloch", 2, 256)
        .also(&[Variant::AsWritten])
        .input(&x)
        .output(&prefixes)
        .output(&totals)
}

fn scan_lookback() -> Case {
    let x = below(1 << 20, 1500, 4);
    let inclusive: Vec<u32> = exclusive(&x).into_iter().zip(&x).map(|(sum, x)| sum + x).collect();
    Case::new("scan_lookback", 6, 256)
        .also(&[Variant::AsWritten])
        .input(&x)
        .output(&inclusive)
        .scratch(&[0_u64; 6])
        .value(1500)
}

fn histogram() -> Case {
    let x: Vec<u8> = words(1003, 5).into_iter().map(|x| (x % 91) as u8).collect();
    let count = |bin: usize| x.iter().filter(|x| usize::from(**x) == bin).count() as u32;
    let bins: Vec<u32> = (0..256).map(count).collect();
    Case::new("histogram", 2, 64)
        .also(&[Variant::AsWritten])
        .input(&x)
        .updated(&[0_u32; 256], &bins)
        .value(1003)
}

fn cub_block() -> Case {
    let x = words(128, 6);
    let mut sorted = x.clone();
    sorted.sort_unstable();
    let sum = x.iter().fold(0, |sum: u32, x| sum.wrapping_add(*x));
    Case::new("cub_block", 1, 64).input(&x).output(&sorted).output(&exclusive(&x)).output(&[sum])
}

fn match_reduce() -> Case {
    let v = ints(40, 32, 7);
    let w: Vec<i64> = ints(5, 32, 8).into_iter().map(|w| i64::from(w) << 33).collect();
    let same = |is_same: &dyn Fn(usize) -> bool| {
        (0..32).filter(|lane| is_same(*lane)).map(|lane| 1_u32 << lane).sum::<u32>()
    };
    let each = |value: &dyn Fn(usize) -> u32| (0..32).map(value).collect::<Vec<u32>>();
    let fold = |f: &dyn Fn(u32, u32) -> u32| v.iter().map(|v| *v as u32).reduce(f).unwrap();
    let (add, xor) = (fold(&|a, b| a + b), fold(&|a, b| a ^ b));
    let odd = same(&|lane| v[lane] & 1 == 1);
    let is_uniform = odd == 0 || odd == u32::MAX;
    let has_three = u32::from(v.contains(&3));
    assert!(v.iter().any(|x| x >> 4 != v[0] >> 4), "no match of all");
    let shuffled = |t: usize| {
        let up = if t % 16 >= 3 { t - 3 } else { t };
        let down = if t % 8 + 2 < 8 { t + 2 } else { t };
        (v[(t + 5) % 32] + v[up] + v[down] + v[t ^ 9]) as u32
    };
    let parts = [
        each(&|t| same(&|lane| v[lane] == v[t])),
        each(&|t| same(&|lane| w[lane] == w[t])),
        vec![0; 32],
        vec![add; 32],
        vec![fold(&u32::min); 32],
        vec![fold(&u32::max); 32],
        vec![fold(&|a, b| a & b) ^ fold(&|a, b| a | b) ^ xor; 32],
        vec![odd; 32],
        vec![2 + has_three + u32::from(is_uniform) * 4; 32],
        each(&shuffled),
        each(&|t| v[t ^ 1] as u32 + 32),
        each(&|t| if v[t] & 1 == 1 { odd.count_ones() } else { 77 }),
        vec![odd.count_ones() + 1 + has_three; 32],
    ];
    Case::new("match_reduce", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&v)
        .input(&w)
        .updated(&[77_u32; 13 * 32], &parts.concat())
        .value(32)
}

fn cub_segmented() -> Case {
    let flags: Vec<i32> = below(5, 150, 9).into_iter().map(|x| i32::from(x == 0)).collect();
    let values = ints(1000, 150, 10);
    let highest: Vec<i32> = (0..150)
        .map(|end| {
            let start = (0..=end).rev().find(|i| flags[*i] == 1).unwrap_or(0);
            *values[start..=end].iter().max().unwrap()
        })
        .collect();
    Case::new("cub_more", 1, 64)
        .kernel("cub_segmented")
        .input(&flags)
        .input(&values)
        .output(&highest)
        .value(150)
}

fn cub_histogram_sort() -> Case {
    let x: Vec<u8> = below(16, 256, 11).into_iter().map(|x| x as u8).collect();
    let bins: Vec<u32> =
        (0..16).map(|bin| x.iter().filter(|x| **x == bin).count() as u32).collect();
    let keys = floats(256, 12);
    let mut order: Vec<i32> = (0..256).collect();
    let values = order.clone();
    order.sort_by(|a, b| keys[*b as usize].total_cmp(&keys[*a as usize]));
    let sorted: Vec<f32> = order.iter().map(|i| keys[*i as usize]).collect();
    let evens: Vec<u32> = x.iter().step_by(2).map(|x| u32::from(*x)).collect();
    let odds: Vec<u32> = x.iter().skip(1).step_by(2).map(|x| u32::from(*x)).collect();
    let sums: Vec<u32> = evens.chunks(32).map(|warp| warp.iter().sum()).collect();
    let prefixes: Vec<u32> = odds.chunks(32).flat_map(exclusive).collect();
    Case::new("cub_more", 1, 128)
        .kernel("cub_histogram_sort")
        .input(&x)
        .output(&bins)
        .updated(&keys, &sorted)
        .updated(&values, &order)
        .output(&sums)
        .output(&prefixes)
}

fn tile_groups() -> Case {
    let x = ints(100, 192, 13);
    let largest: Vec<i32> = x.chunks(16).map(|tile| *tile.iter().max().unwrap()).collect();
    let (mut prefixes, mut neighbours, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for (i, v) in x.iter().enumerate() {
        let four = &x[i / 4 * 4..i / 4 * 4 + 4];
        prefixes.push(four[..i % 4].iter().sum::<i32>());
        let down = if i % 16 < 13 { x[i + 3] } else { *v };
        let any = if four.iter().any(|x| *x > 90) { 1000 } else { 0 };
        neighbours.push(x[i ^ 1] + down + any + (i % 96 / 16) as i32 * 10000);
        let warp = &x[i / 32 * 32..i / 32 * 32 + 32];
        let same = |lanes: &[i32]| lanes.iter().filter(|x| *x % 3 == v % 3).count() as i32;
        labels.push(same(warp) * 100 + same(&warp[..i % 32]));
    }
    Case::new("tiles", 2, 96)
        .kernel("tile_groups")
        .input(&x)
        .output(&largest)
        .output(&prefixes)
        .output(&neighbours)
        .output(&labels)
        .value(192)
}

fn filter_positive() -> Case {
    let x: Vec<i32> = ints(200, 300, 14).into_iter().map(|x| x - 100).collect();
    let mut kept: Vec<i32> = x.iter().copied().filter(|x| *x > 0).collect();
    kept.sort_unstable();
    let count = kept.len();
    let judge = move |out: &[i32]| {
        let mut found = out[..count].to_vec();
        found.sort_unstable();
        if found == kept { Ok(()) } else { Err(format!("{found:?} instead of {kept:?}")) }
    };
    Case::new("tiles", 2, 64)
        .kernel("filter_positive")
        .also(&[Variant::AsWritten])
        .input(&x)
        .updated_judged(&[0; 300], judge)
        .updated(&[0], &[count as i32])
        .value(300)
}
