//! Philox4x32-10: a random number for every (seed, stream, index), identical on every machine.
//!
//! J. K. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", SC 2011; multipliers, Weyl constants and the
//! ten rounds are those of the paper's reference code, whose known answers the tests check.

use multiversion::multiversion;

const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: u32 = 10;

/// Four random words.
pub(crate) fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut a, mut b, mut c, mut d], mut key) = (counter, key);
    for _ in 0..ROUNDS {
        let first = u64::from(MULTIPLIERS[0]) * u64::from(a);
        let second = u64::from(MULTIPLIERS[1]) * u64::from(c);
        (a, b, c, d) = (
            (second >> 32) as u32 ^ b ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ d ^ key[1],
            first as u32,
        );
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    [a, b, c, d]
}

/// Numbers per batch: twice the widest vectors of common CPUs.
const LANES: usize = 16;

/// Random numbers of one buffer.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    key: [u32; 2],
    stream: u32,
}

impl Stream {
    /// The numbers of the argument at this position, for this seed.
    pub const fn new(seed: u64, position: u32) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32], stream: position }
    }

    /// Four random words; a second `part` yields four more.
    pub fn words(self, index: u64, part: u32) -> [u32; 4] {
        philox([index as u32, (index >> 32) as u32, part, self.stream], self.key)
    }

    /// Evenly distributed in [0, 1), in steps of 2⁻⁵³.
    pub fn unit(self, index: u64) -> f64 {
        (self.bits(index) >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// 64 random bits.
    pub fn bits(self, index: u64) -> u64 {
        let [low, high, ..] = self.words(index, 0);
        u64::from(high) << 32 | u64::from(low)
    }

    /// Mean 0, deviation 1, within ±6: the sum of twelve even ones (Irwin and Hall), which needs additions only and so
    /// is the same on every machine.
    pub fn normal(self, index: u64) -> f64 {
        let words = (0..3).flat_map(|part| self.words(index, part));
        standard(words.map(u64::from).sum())
    }

    /// Fills `values` with [`Self::normal`] of consecutive indices from `first`.
    pub fn normals(self, first: u64, values: &mut [f64]) {
        normals(self, first, values);
    }

    /// Fills `values` with [`Self::bits`] of consecutive indices from `first`.
    pub fn all_bits(self, first: u64, values: &mut [u64]) {
        all_bits(self, first, values);
    }
}

/// One of the integers between two, both included; the bias is below 2⁻⁶⁴ of their number.
pub fn whole(low: i128, high: i128, bits: u64) -> u64 {
    let count = (high - low + 1).unsigned_abs();
    let offset = (count * u128::from(bits)) >> 64;
    low.wrapping_add(offset as i128) as u64
}

/// The sum of twelve even 32-bit words as a number with mean 0 and deviation 1.
#[inline(always)]
fn standard(sum: u64) -> f64 {
    // Half a step for each, so that the mean is exactly 0.
    (sum as f64 + 6.0) * 2.0_f64.powi(-32) - 6.0
}

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt",
    "x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt",
))]
fn normals(stream: Stream, first: u64, values: &mut [f64]) {
    let mut first = first;
    for values in values.chunks_mut(LANES) {
        let mut sums = [0_u64; LANES];
        for part in 0..3 {
            for words in side_by_side(stream, first, part) {
                for (sum, word) in sums.iter_mut().zip(words) {
                    *sum += word;
                }
            }
        }
        for (value, sum) in values.iter_mut().zip(sums) {
            *value = standard(sum);
        }
        first = first.wrapping_add(LANES as u64);
    }
}

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt",
    "x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt",
))]
fn all_bits(stream: Stream, first: u64, values: &mut [u64]) {
    let mut first = first;
    for values in values.chunks_mut(LANES) {
        let [low, high, ..] = side_by_side(stream, first, 0);
        for (value, (low, high)) in values.iter_mut().zip(low.into_iter().zip(high)) {
            *value = high << 32 | low;
        }
        first = first.wrapping_add(LANES as u64);
    }
}

/// [`philox`] of consecutive indices, written so that the compiler vectorises it: each word occupies 64 bits, so that a
/// product needs no rearrangement.
#[inline(always)]
fn side_by_side(stream: Stream, first: u64, part: u32) -> [[u64; LANES]; 4] {
    const WORD: u64 = 0xffff_ffff;
    let index = |lane: usize| first.wrapping_add(lane as u64);
    let mut a: [u64; LANES] = std::array::from_fn(|lane| index(lane) & WORD);
    let mut b: [u64; LANES] = std::array::from_fn(|lane| index(lane) >> 32);
    let mut c = [u64::from(part); LANES];
    let mut d = [u64::from(stream.stream); LANES];
    let mut key = stream.key;
    for _ in 0..ROUNDS {
        let [even, odd] = key.map(u64::from);
        for lane in 0..LANES {
            let first = u64::from(MULTIPLIERS[0]) * (a[lane] & WORD);
            let second = u64::from(MULTIPLIERS[1]) * (c[lane] & WORD);
            a[lane] = (second >> 32) ^ b[lane] ^ even;
            b[lane] = second & WORD;
            c[lane] = (first >> 32) ^ d[lane] ^ odd;
            d[lane] = first & WORD;
        }
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the paper's reference code (Random123, `kat_vectors`, philox4x32 with 10 rounds).
    #[test]
    fn philox_gives_the_known_answers() {
        let check = |counter, key, expected: [u32; 4]| assert_eq!(philox(counter, key), expected);
        check([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        check([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        check(
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        );
    }

    #[test]
    fn batches_are_the_numbers_one_by_one() {
        for (seed, first, length) in
            [(0, 0, 1), (7, 3, 100), (u64::MAX, u64::from(u32::MAX) - 5, 33)]
        {
            let stream = Stream::new(seed, 9);
            let (mut normals, mut bits) = (vec![0.0; length], vec![0; length]);
            stream.normals(first, &mut normals);
            stream.all_bits(first, &mut bits);
            let indices = first..first + length as u64;
            assert_eq!(
                normals,
                indices.clone().map(|index| stream.normal(index)).collect::<Vec<_>>()
            );
            assert_eq!(bits, indices.map(|index| stream.bits(index)).collect::<Vec<_>>());
        }
    }
}
