//! Random numbers that are identical on every platform and in every version.
//!
//! The raw stream is PCG XSL RR 128/64 (O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
//! Algorithms for Random Number Generation", 2014), which `rand_pcg` keeps stable. Ranges, fractions and orders are
//! derived here, because libraries may change their derivation between versions.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

/// A seeded stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Generator(Pcg64);

impl Generator {
    /// The stream `stream` of a seed; streams of one seed are independent.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let low = scramble(seed);
        let high = scramble(low ^ stream);
        let state = u128::from(high) << 64 | u128::from(scramble(high));
        Self(Pcg64::new(state, u128::from(scramble(stream ^ low.rotate_left(32)))))
    }

    /// A uniformly distributed integer below `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // Lemire, "Fast Random Integer Generation in an Interval", 2019.
        let end = end as u64;
        let Some(threshold) = end.wrapping_neg().checked_rem(end) else { return 0 };
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(end);
            if product as u64 >= threshold {
                return (product >> 64) as usize;
            }
        }
    }

    /// A number from 0 up to but without 1, in steps of 2⁻⁵³.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// One of the items, each equally likely.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Brings the items into a random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }

    /// Draws the index of a weight with probability proportional to the weight; `None` if no weight is positive.
    pub(crate) fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let usable = |weight: &f64| if *weight > 0.0 { *weight } else { 0.0 };
        let total: f64 = weights.iter().map(usable).sum();
        let mut left = self.fraction() * total;
        let mut last = None;
        for (place, weight) in weights.iter().map(usable).enumerate() {
            if weight > 0.0 {
                last = Some(place);
                if left < weight {
                    break;
                }
            }
            left -= weight;
        }
        last
    }
}

/// Spreads neighbouring seeds over all numbers: the finaliser of SplitMix64 (Steele and others,
/// "Fast Splittable Pseudorandom Number Generators", 2014).
fn scramble(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::Generator;

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut generator = Generator::new(7, 1);
        let drawn: Vec<usize> = (0..6).map(|_| generator.below(100)).collect();
        assert_eq!(drawn, STREAM);
    }

    const STREAM: [usize; 6] = [70, 77, 62, 27, 91, 75];

    #[test]
    fn every_number_of_a_range_is_about_equally_likely() {
        let mut generator = Generator::new(1, 0);
        let mut counts = [0_usize; 7];
        for _ in 0..7000 {
            counts[generator.below(7)] += 1;
        }
        assert!(counts.iter().all(|count| (880..1120).contains(count)), "{counts:?}");
        assert_eq!(generator.below(0), 0);
    }

    #[test]
    fn weights_that_say_nothing_pick_nothing() {
        let mut generator = Generator::new(1, 0);
        for (weights, expected) in [
            (vec![], None),
            (vec![0.0, f64::NAN, -1.0], None),
            (vec![0.0, 2.0, 0.0], Some(1)),
            (vec![f64::NAN, 1e-300], Some(1)),
        ] {
            assert_eq!(generator.weighted(&weights), expected, "{weights:?}");
        }
    }
}
