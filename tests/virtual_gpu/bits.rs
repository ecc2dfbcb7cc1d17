//! Integers of all widths, bits, packed values and data movement.

use super::case::{Case, Variant};
use super::number::{below, wide, words};

#[test]
fn integers_and_bits() {
    super::execution::check(&[
        bit_tricks(),
        integer_dot(),
        packed_simd(),
        wide_integers(),
        inline_assembly(),
        memory_widths(),
        crc32(),
        murmur3(),
        miller_rabin(),
    ]);
}

const N: usize = 32;

fn each(value: impl Fn(usize) -> u32) -> Vec<u32> {
    (0..N).map(value).collect()
}

fn bit_tricks() -> Case {
    let (x, w) = (words(N, 1), wide(N, 2));
    let a = |t: usize| x[t];
    let b = |t: usize| x[(t + 1) % N];
    let joined = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let byte = |t: usize, index: u32| (joined(b(t), a(t)) >> (8 * index) & 255) as u32;
    let bytes = |t, chosen: [u32; 4]| chosen.into_iter().fold(0, |d, i| d << 8 | byte(t, i));
    let first = |value: u64| if value == 0 { 0 } else { value.trailing_zeros() + 1 };
    let third = |t: usize| {
        let above: Vec<u32> = (3..32).filter(|bit| a(t) >> bit & 1 == 1).collect();
        above.get(1).copied().unwrap_or(u32::MAX)
    };
    let extended = |t: usize| {
        let unused = 32 - (b(t) & 31);
        if unused == 32 { 0 } else { (a(t) << unused) as i32 >> unused }
    };
    let wide_result: Vec<u64> = w.iter().map(|w| w.reverse_bits()).collect();
    let parts = [
        each(|t| a(t).count_ones() + w[t].count_ones() * 64),
        each(|t| a(t).leading_zeros() + w[t].leading_zeros() * 64),
        each(|t| first(u64::from(a(t))) + first(w[t]) * 64),
        each(|t| a(t).reverse_bits()),
        each(|t| bytes(t, [5, 1, 4, 0])),
        each(|t| {
            let left = (joined(b(t), a(t)) << 7 >> 32) as u32;
            left ^ (joined(b(t), a(t)) >> (b(t) & 63).min(32)) as u32
        }),
        each(|t| (a(t) & b(t)) ^ (!a(t) | 0x55) ^ (b(t) << (a(t) & 31)) ^ (a(t) >> (b(t) & 31))),
        each(|t| a(t) / 32 % 512),
        each(|t| b(t) & 0xfff0_00ff | (a(t) & 0xfff) << 8),
        each(|t| 31 - a(t).leading_zeros()),
        each(|t| {
            let c = a(t) ^ b(t) << 3;
            a(t) & b(t) | a(t) & c | b(t) & c
        }),
        each(|t| {
            bytes(t, [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]][(a(t) & 3) as usize])
        }),
        each(third),
        each(|t| (((1_u64 << (b(t) & 31)) - 1) << (a(t) & 31)) as u32),
        each(|t| extended(t) as u32),
        each(|t| 1 - (a(t) & 1)),
        each(|t| if (a(t) ^ b(t)) as i32 >= 0 { a(t) } else { b(t) }),
    ];
    Case::new("bit_tricks", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&x)
        .input(&w)
        .output(&parts.concat())
        .output(&wide_result)
        .value(32)
}

fn integer_dot() -> Case {
    let (a, b) = (words(N, 3), words(N, 4));
    let signed = |word: u32| word.to_le_bytes().map(|byte| i64::from(byte as i8));
    let plain = |word: u32| word.to_le_bytes().map(i64::from);
    let pairs = |word: u32| [i64::from(word as i16), i64::from((word >> 16) as i16)];
    let plain_pairs = |word: u32| [i64::from(word as u16), i64::from(word >> 16)];
    let dot = |a: &[i64], b: &[i64], c: i64| {
        (a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>() + c) as u32
    };
    let half_sum = |t: usize, up: i64| (i64::from(a[t] as i32) + i64::from(b[t] as i32) + up) >> 1;
    let low = |word: u32| i64::from((word << 8) as i32 >> 8);
    let s = [
        each(|t| dot(&signed(a[t]), &signed(b[t]), 5)),
        each(|t| dot(&pairs(a[t]), &signed(b[t])[..2], -1)),
        each(|t| dot(&pairs(a[t]), &signed(b[t])[2..], -1)),
        each(|t| (a[t] as i32).abs_diff(b[t] as i32).wrapping_add(3)),
        each(|t| ((low(a[t]) * low(b[t])) + half_sum(t, 0) + half_sum(t, 1)) as u32),
    ];
    let u = [
        each(|t| dot(&plain(a[t]), &plain(b[t]), 5)),
        each(|t| dot(&plain_pairs(a[t]), &plain(b[t])[..2], 1)),
        each(|t| dot(&plain_pairs(a[t]), &plain(b[t])[2..], 1)),
        each(|t| a[t].abs_diff(b[t]).wrapping_add(3)),
        each(|t| (a[t] & 0xff_ffff).wrapping_mul(b[t] & 0xff_ffff)),
    ];
    Case::new("integer_dot", 1, 32)
        .input(&a)
        .input(&b)
        .output(&s.concat())
        .output(&u.concat())
        .value(32)
}

fn packed_simd() -> Case {
    let (a, mut b) = (words(N, 5), words(N, 6));
    b[3] = a[3] ^ 0x00ff_0000;
    let halves = |f: &dyn Fn(i32, i32, i32) -> i32, c: u32| {
        each(|t| {
            let half = |shift: u32| {
                let pick = |word: u32| i32::from((word >> shift) as i16);
                (f(pick(a[t]), pick(b[t]), pick(c)) as u32 & 0xffff) << shift
            };
            half(0) | half(16)
        })
    };
    let quarters = |f: &dyn Fn(u32, u32) -> u32| {
        each(|t| {
            let byte = |shift: u32| (f(a[t] >> shift & 255, b[t] >> shift & 255) & 255) << shift;
            byte(0) | byte(8) | byte(16) | byte(24)
        })
    };
    let smallest = quarters(&u32::min);
    let equal = quarters(&|a, b| if a == b { 255 } else { 0 });
    let plain = |x: i32| x & 0xffff;
    let largest = halves(&|a, b, c| plain(a + b).max(plain(c)), 9);
    let saturated = halves(&|a, b, _| (a + b).clamp(-32768, 32767), 0);
    let average = quarters(&|a, b| (a + b).div_ceil(2));
    let (x, y) = (|t: usize| a[t] as i32, |t: usize| b[t] as i32);
    let parts = [
        halves(&|a, b, _| a + b, 0),
        halves(&|a, b, _| a.max(b), 0),
        halves(&|a, b, c| i32::from((a + b) as i16).min(c).max(0), 0x0005_0007),
        each(|t| smallest[t] ^ equal[t]),
        each(|t| (x(t).max(y(t)).max(3) as u32).wrapping_add(x(t).min(y(t)).max(0) as u32)),
        each(|t| largest[t].wrapping_add(saturated[t]).wrapping_add(average[t])),
    ];
    Case::new("packed_simd", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&a)
        .input(&b)
        .output(&parts.concat())
        .value(32)
}

fn wide_integers() -> Case {
    let (x, mut y) = (wide(N, 7), wide(N, 8));
    // Divisors of all lengths.
    y.iter_mut().enumerate().for_each(|(t, y)| *y >>= 2 * t);
    let all = |f: &dyn Fn(u64, u64) -> u64| x.iter().zip(&y).map(|(x, y)| f(*x, *y)).collect();
    let big = |a: u64| i128::from(a as i64);
    let p = |a: u64, b: u64| {
        (u128::from(a) * u128::from(b)).wrapping_add(u128::from(b) << 64 | u128::from(a))
    };
    let low = |a: u64| a & 0xffff_ffff;
    let parts: [Vec<u64>; 14] = [
        all(&|a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        all(&|a, b| a / (b | 1)),
        all(&|a, b| a % (b | 1)),
        all(&|a, b| a.wrapping_mul(b)),
        all(&|a, b| a << (b & 63)),
        all(&|a, b| {
            let high = ((low(a) * low(b)) >> 32) as u32;
            let signed = ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32;
            u64::from(high.wrapping_add(signed))
        }),
        all(&|a, b| p(a, b) as u64),
        all(&|a, b| (p(a, b) >> 64) as u64),
        all(&|a, b| ((big(a) * big(b) - i128::from(a)) >> 17) as u64),
        all(&|a, b| (p(a, b) / u128::from(b | 1)) as u64),
        all(&|a, b| a.wrapping_add(b)),
        all(&|a, b| u64::from(a.checked_add(b).is_none())),
        all(&|a, b| a.wrapping_sub(b)),
        all(&|a, b| {
            let sum = low(a) * low(b) % (1 << 32) + (a >> 32);
            // The high word of the product takes the carry out of the low one.
            (((low(a) * low(b)) >> 32) + (sum >> 32)) << 32 | low(sum)
        }),
    ];
    let signed: [Vec<u64>; 5] = [
        all(&|a, b| ((big(a) * big(b)) >> 64) as u64),
        all(&|a, b| (a as i64).wrapping_div(b as i64 | 1) as u64),
        all(&|a, b| (a as i64).wrapping_rem(b as i64 | 1) as u64),
        all(&|a, b| (a as i64 >> (b & 63)) as u64),
        all(&|a, b| {
            let (a, b) = (a as i64, b as i64);
            a.min(b).wrapping_sub(a.max(b)).wrapping_add(a.wrapping_abs()) as u64
        }),
    ];
    Case::new("wide_integers", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&x)
        .input(&y)
        .output(&parts.concat())
        .output(&signed.concat())
        .value(32)
}

fn inline_assembly() -> Case {
    let x: Vec<i32> = (0..32).map(|t| t * 7 % 11 - 2).collect();
    let v: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let lanes = || 0..32_i32;
    let parts: [Vec<i32>; 6] = [
        x.iter().map(|a| if *a < 3 { a + 2 } else { 8 }).collect(),
        lanes().map(|t| t * (t + 1) / 2).collect(),
        lanes()
            .zip(&x)
            .map(|(lane, a)| {
                let low = (*a as u32 >> 4 | (lane as u32) << 28) as i32;
                (2 * lane).wrapping_add(low).wrapping_add(lane >> 4)
            })
            .collect(),
        x.iter().map(|a| i32::from(*a as i16) - (a >> 16)).collect(),
        lanes().zip(&x).map(|(t, a)| if *a == 0 { 101 } else { t }).collect(),
        vec![48; N],
    ];
    let w: Vec<f32> = v.chunks(4).map(|v| v[0] + v[2] + v[3]).collect();
    Case::new("inline_assembly", 1, 32)
        .also(&[Variant::AsWritten])
        .shared(48)
        .input(&x)
        .updated(&[100_i32; 6 * N], &parts.concat())
        .input(&v)
        .output(&w)
        .value(32)
}

fn memory_widths() -> Case {
    let b: Vec<u8> = words(N + 1, 10).into_iter().map(|x| x as u8).collect();
    let h: Vec<i16> = words(N + 1, 11).into_iter().map(|x| x as i16).collect();
    let w: Vec<i32> = words(2 * N, 12).into_iter().map(|x| x as i32 >> 4).collect();
    let d: Vec<f64> = (0..2 * N).map(|i| i as f64 * 10.75 - 200.0).collect();
    let q: Vec<i32> = words(4 * N, 13).into_iter().map(|x| x as i32 >> 4).collect();
    let v: Vec<i32> = (0..32).map(|t| t - 16).collect();
    let sum = |t: usize| {
        let fifth = i64::from(b[t]) + i64::from(b[t + 1] as i8) + i64::from(h[t]);
        let pairs = i64::from(h[t + 1] as u16) + i64::from(w[2 * t] + w[2 * t + 1]);
        let quad: i64 = [0, 1, 2, 3, 0].iter().map(|i| i64::from(q[4 * t + i])).sum();
        fifth + pairs + (d[2 * t] + d[2 * t + 1]) as i64 + quad + i64::from(v[t])
    };
    let out = |t: usize| {
        let local = |index: i32| i64::from((sum(t) as i32).wrapping_mul(index));
        let index = (sum(t) & 15) as i32;
        sum(t) + local(index) + local(15 - index)
    };
    let sums: Vec<i64> = (0..N).map(out).collect();
    let after: Vec<i32> = (0..N).map(|t| sum(t) as i32).collect();
    Case::new("memory_widths", 1, 32)
        .also(&[Variant::AsWritten])
        .input(&b)
        .input(&h)
        .input(&w)
        .input(&d)
        .input(&q)
        .output(&sums)
        .output(&q.repeat(4))
        .updated(&v, &after)
        .value(32)
}

/// Polynomial division bit by bit, without a table.
fn crc32() -> Case {
    let lengths = below(20, 40, 14);
    let offsets: Vec<i32> =
        (0..=40).map(|i| lengths[..i].iter().map(|length| *length as i32).sum()).collect();
    let data: Vec<u8> = words(offsets[40] as usize, 15).into_iter().map(|x| x as u8).collect();
    let sum = |data: &[u8]| {
        let bits = data.iter().flat_map(|byte| (0..8).map(move |bit| u32::from(byte >> bit & 1)));
        !bits.fold(u32::MAX, |c, bit| {
            let divided = if (c ^ bit) & 1 == 1 { 0xedb8_8320 } else { 0 };
            c >> 1 ^ divided
        })
    };
    assert_eq!(sum(b"123456789"), 0xcbf4_3926, "the check value of the algorithm");
    let sums: Vec<u32> =
        offsets.windows(2).map(|at| sum(&data[at[0] as usize..at[1] as usize])).collect();
    Case::new("hashes", 2, 32)
        .kernel("crc32")
        .also(&[Variant::AsWritten])
        .input(&data)
        .input(&offsets)
        .output(&sums)
        .value(40)
}

fn murmur3() -> Case {
    let mix = |h: u32, factor: u32, shift: u32| (h ^ h >> shift).wrapping_mul(factor);
    let hash = |keys: &[u32], seed: u32| {
        let body = keys.iter().fold(seed, |h, key| {
            let k = key.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
            (h ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
        });
        let h = mix(mix(body ^ (keys.len() as u32 * 4), 0x85eb_ca6b, 16), 0xc2b2_ae35, 13);
        h ^ h >> 16
    };
    assert_eq!(hash(&[], 1), 0x514e_28b7, "a published value");
    let keys = words(40 * 3, 16);
    let hashes: Vec<u32> = keys.chunks(3).map(|keys| hash(keys, 42)).collect();
    Case::new("hashes", 2, 32)
        .kernel("murmur3")
        .also(&[Variant::AsWritten])
        .input(&keys)
        .output(&hashes)
        .value(3)
        .value(42_u32)
        .value(40)
}

/// Small numbers by trial division; large ones that are known: 2⁶⁴ - 59 and 2⁶¹ - 1 are prime, the others are not.
fn miller_rabin() -> Case {
    let mut candidates: Vec<u64> =
        below(1 << 20, 27, 17).into_iter().map(|x| u64::from(x | 1) + 20).collect();
    let is_prime = |n: u64| (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    let mut prime: Vec<u8> = candidates.iter().map(|n| u8::from(is_prime(*n))).collect();
    candidates.extend([u64::MAX - 58, (1 << 61) - 1, (1 << 59) - 1, 3_215_031_751, u64::MAX]);
    prime.extend([1, 1, 0, 0, 0]);
    Case::new("hashes", 1, 32)
        .kernel("miller_rabin")
        .also(&[Variant::AsWritten])
        .input(&candidates)
        .output(&prime)
        .value(32)
}
