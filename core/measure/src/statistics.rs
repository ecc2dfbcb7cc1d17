//! Summary of samples: order statistics, and a confidence interval that accounts for correlation within rounds.
//!
//! Samples of one round share clock, temperature and other conditions, so they are not independent: the bootstrap draws
//! whole rounds (a block bootstrap with the rounds as blocks; H. R. Künsch, "The jackknife and the bootstrap for
//! general stationary observations", Annals of Statistics 17, 1989).

use lightbench_primitives::random::Stream;
use lightbench_units::Seconds;
use serde::{Deserialize, Serialize};

/// Resamples of a bootstrap: the ends of a 95 % interval are then the 50th from either end.
const RESAMPLES: usize = 2000;

/// Order statistics of samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Half of the samples are above.
    pub median: Seconds,
    /// The 95 % confidence interval of the median.
    pub interval: (Seconds, Seconds),
    /// A quarter of the samples is below the first, a quarter above the second.
    pub quartiles: (Seconds, Seconds),
    /// The smallest sample.
    pub minimum: Seconds,
    pub samples: usize,
}

impl Summary {
    /// Summarises rounds of samples, deterministically.
    ///
    /// `None` without samples, or if a sample is not a finite time.
    #[must_use]
    pub fn from_rounds(rounds: &[Vec<Seconds>]) -> Option<Self> {
        let mut all = flat(rounds.iter())?;
        all.sort_by(f64::total_cmp);
        let interval = bootstrap(rounds.len(), 0.95, |drawn| {
            let mut values: Vec<f64> =
                drawn.iter().flat_map(|round| rounds[*round].iter().map(|each| each.0)).collect();
            median(&mut values)
        })?;
        let (median, step) = (quantile(&all, 0.5)?, step(&all));
        let interval = (interval.0.min(median - step).max(0.0), interval.1.max(median + step));
        Some(Self {
            median: Seconds(median),
            interval: (Seconds(interval.0), Seconds(interval.1)),
            quartiles: (Seconds(quantile(&all, 0.25)?), Seconds(quantile(&all, 0.75)?)),
            minimum: Seconds(*all.first()?),
            samples: all.len(),
        })
    }

    /// Half of the interval's width, as a part of the median.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        (self.interval.1.0 - self.interval.0.0) / (2.0 * self.median.0)
    }
}

/// All samples; `None` without samples, or if a sample is not a finite time.
fn flat<'a>(rounds: impl Iterator<Item = &'a Vec<Seconds>>) -> Option<Vec<f64>> {
    let all: Vec<f64> = rounds.flatten().map(|sample| sample.0).collect();
    let sound = all.iter().all(|sample| sample.is_finite() && *sample >= 0.0);
    (sound && !all.is_empty()).then_some(all)
}

/// The resolution of the clock, estimated from ascending samples; 0 if all samples are equal.
///
/// A sample is the difference of two readings, with an error of up to one step: if all samples lie on few steps, a
/// bootstrap alone would report an interval narrower than the clock resolves.
fn step(ascending: &[f64]) -> f64 {
    // A smaller distance is the rounding of one value.
    const ROUNDING: f64 = 1e-6;
    let between = ascending.windows(2).map(|pair| pair[1] - pair[0]);
    let last = ascending.last().copied().unwrap_or_default();
    let steps = between.filter(|difference| *difference > ROUNDING * last);
    let smallest = steps.fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { smallest } else { 0.0 }
}

/// A quantile of ascending values, linear between neighbours (type 7 of Hyndman and Fan, "Sample quantiles in statistical
/// packages", The American Statistician 50, 1996).
#[must_use]
pub fn quantile(ascending: &[f64], fraction: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let position = fraction * last as f64;
    let below = position.floor();
    let (low, high) = (ascending.get(below as usize)?, ascending.get(position.ceil() as usize)?);
    Some(low + (high - low) * (position - below))
}

/// The median of values in any order, which are reordered.
#[must_use]
pub fn median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len().checked_sub(1)? / 2;
    let is_odd = values.len() % 2 == 1;
    let (_, lower, above) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = *lower;
    if is_odd {
        return Some(lower);
    }
    let upper = above.iter().copied().min_by(f64::total_cmp)?;
    Some(lower + (upper - lower) * 0.5)
}

/// The percentile interval of a statistic over rounds drawn with replacement; `statistic` receives the drawn rounds.
///
/// `None` without rounds, or if the statistic has no value.
pub(super) fn bootstrap(
    rounds: usize,
    confidence: f64,
    statistic: impl Fn(&[usize]) -> Option<f64>,
) -> Option<(f64, f64)> {
    if rounds == 0 {
        return None;
    }
    // Always the same draws: an interval depends on its samples alone.
    let stream = Stream::new(0, 0);
    let mut drawn = vec![0; rounds];
    let mut values = Vec::with_capacity(RESAMPLES);
    let mut index = 0;
    for _ in 0..RESAMPLES {
        for each in &mut drawn {
            *each = ((u128::from(stream.bits(index)) * rounds as u128) >> 64) as usize;
            index += 1;
        }
        values.push(statistic(&drawn)?);
    }
    values.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Some((quantile(&values, tail)?, quantile(&values, 1.0 - tail)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::simulated::Noise;

    fn seconds(values: &[f64]) -> Vec<Seconds> {
        values.iter().copied().map(Seconds).collect()
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        let check = |values: &[f64], fraction, expected| {
            assert_eq!(quantile(values, fraction), expected, "{values:?} at {fraction}");
        };
        check(&[], 0.5, None);
        check(&[3.0], 0.0, Some(3.0));
        check(&[3.0], 1.0, Some(3.0));
        check(&[1.0, 2.0, 4.0], 0.5, Some(2.0));
        check(&[1.0, 2.0, 4.0, 8.0], 0.5, Some(3.0));
        check(&[0.0, 10.0], 0.25, Some(2.5));
    }

    #[test]
    fn medians_need_no_order() {
        let check = |values: &[f64], expected| {
            assert_eq!(median(&mut values.to_vec()), expected, "{values:?}");
        };
        check(&[], None);
        check(&[5.0], Some(5.0));
        check(&[9.0, 1.0, 5.0], Some(5.0));
        check(&[9.0, 1.0, 5.0, 2.0], Some(3.5));
        check(&[1.0, 1.0, 1.0, 100.0], Some(1.0));
    }

    #[test]
    fn what_is_no_time_has_no_summary() {
        for bad in [vec![], vec![vec![]], vec![seconds(&[1.0]), seconds(&[f64::NAN])]] {
            assert_eq!(Summary::from_rounds(&bad), None, "{bad:?}");
        }
        assert_eq!(Summary::from_rounds(&[seconds(&[1.0, -1.0])]), None);
        assert_eq!(Summary::from_rounds(&[seconds(&[f64::INFINITY])]), None);
    }

    #[test]
    fn a_summary_orders_what_it_says() {
        let rounds: Vec<Vec<Seconds>> =
            (0..20).map(|round| Noise::quiet(round).round(1e-3, 5)).collect();
        let summary = Summary::from_rounds(&rounds).unwrap();
        let Summary { median, interval, quartiles, minimum, samples } = summary;
        assert_eq!(samples, 100);
        assert!(interval.0 <= median && median <= interval.1, "{summary:?}");
        assert!(minimum <= quartiles.0 && quartiles.0 <= median && median <= quartiles.1);
        assert_eq!(Summary::from_rounds(&rounds).unwrap(), summary);
    }

    /// The intervals of many simulated measurements hold the true median about as often as they claim.
    #[test]
    fn intervals_keep_their_promise() {
        let trials = 300;
        // So long that a tick of the clock is nothing beside it.
        let truth = Noise::quiet(0).true_median(1e-3);
        let holds = (0..trials).filter(|trial| {
            let rounds: Vec<Vec<Seconds>> =
                (0..40).map(|round| Noise::quiet(trial * 1000 + round).round(1e-3, 5)).collect();
            let (low, high) = Summary::from_rounds(&rounds).unwrap().interval;
            (low.0..=high.0).contains(&truth)
        });
        let share = holds.count() as f64 / trials as f64;
        assert!((0.90..=0.99).contains(&share), "{share}");
    }
}
