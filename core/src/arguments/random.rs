//! Philox4x32-10: a random number for every (seed, stream, index), the same everywhere.
//!
//! J. K. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", SC 2011; multipliers, Weyl constants and the
//! ten rounds are those of the paper's reference code, whose known answers the tests replay.

const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: u32 = 10;

/// Four random words.
pub(super) fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
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

/// Random numbers of one buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    key: [u32; 2],
    stream: u32,
}

impl Stream {
    /// The numbers of the argument at this position, for this seed.
    pub(super) const fn new(seed: u64, position: u32) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32], stream: position }
    }

    fn words(self, index: u64, part: u32) -> [u32; 4] {
        philox([index as u32, (index >> 32) as u32, part, self.stream], self.key)
    }

    /// Evenly distributed in [0, 1), in steps of 2⁻⁵³.
    pub(super) fn unit(self, index: u64) -> f64 {
        (self.bits(index) >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// 64 random bits.
    pub(super) fn bits(self, index: u64) -> u64 {
        let [low, high, ..] = self.words(index, 0);
        u64::from(high) << 32 | u64::from(low)
    }

    /// Mean 0, deviation 1, within ±6: the sum of twelve even ones (Irwin and Hall), which needs additions only and so
    /// is the same on every machine.
    pub(super) fn normal(self, index: u64) -> f64 {
        let words = (0..3).flat_map(|part| self.words(index, part));
        let sum: u64 = words.map(u64::from).sum();
        // Half a step for each, so that the mean is exactly 0.
        (sum as f64 + 6.0) * 2.0_f64.powi(-32) - 6.0
    }
}
