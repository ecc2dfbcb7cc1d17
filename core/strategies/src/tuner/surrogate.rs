//! Bayesian optimisation: a Gaussian process learns the space, and the configuration with the largest expected
//! improvement is tried next.
//!
//! Jones, Schonlau, Welch, "Efficient Global Optimization of Expensive Black-Box Functions", 1998; for tuning kernels
//! Willemsen, van Nieuwpoort, van Werkhoven, "Bayesian Optimization for auto-tuning GPU kernels", 2021. With several
//! pending questions, each assumes the forecasts of the earlier ones (Ginsbourger, Le Riche, Carraro, "Kriging is
//! well-suited to parallelize optimization", 2010). A failed configuration counts as average in the process, so that
//! its neighbourhood is not tried for its uncertainty and the process is not distorted; the probability of failure is
//! learnt separately ([`Feasibility`]).

use super::feasibility::Feasibility;
use super::ledger::{Ledger, Proposer};
use crate::gauss::{self, Prediction, Process, Smoothness};
use crate::space::Neighbourhood;

/// Minimum number of mutually distant configurations tried before any forecast; more with many dimensions.
const LEAST_DESIGN: usize = 6;
/// Number of random configurations of which the farthest is taken.
const DESIGN_DRAWS: usize = 24;
/// Maximum number of points of the process: the best half and the latest half.
const MOST_POINTS: usize = 160;
/// Maximum number of open configurations that are forecast, besides the neighbours of the best.
const MOST_FORECAST: usize = 256;
/// Number of best configurations whose neighbours are always forecast.
const BEST_LOOKED_AROUND: usize = 3;

/// Known results and assumed results of pending questions.
pub(super) struct Surrogate {
    /// All answers in the order in which they came.
    known: Vec<(usize, f64)>,
    /// Pending questions, with the assumed score until the result is known.
    believed: Vec<(usize, f64)>,
    feasibility: Feasibility,
    smoothness: Option<Smoothness>,
    /// Number of results when smoothness was last fitted.
    chosen_at: usize,
}

impl Proposer for Surrogate {
    fn propose(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        let design = LEAST_DESIGN.max(ledger.space.dimensions().len() + 2);
        let finite = self.known.iter().any(|(_, score)| score.is_finite());
        if self.known.len() + self.believed.len() < design || !finite {
            let next = self.farthest(ledger)?;
            self.believed.push((next, self.average()));
            return Some(next);
        }
        let (next, prediction) = self.most_promising(ledger)?;
        self.believed.push((next, prediction.mean));
        Some(next)
    }

    fn learn(&mut self, ledger: &mut Ledger<'_>, configuration: usize, score: f64) {
        self.feasibility.learn(ledger.space, configuration, score);
        self.believed.retain(|&(believed, _)| believed != configuration);
        self.known.push((configuration, score));
    }
}

impl Surrogate {
    pub(super) fn new() -> Self {
        Self {
            known: Vec::new(),
            believed: Vec::new(),
            feasibility: Feasibility::new(),
            smoothness: None,
            chosen_at: 0,
        }
    }

    /// Of some random open configurations, the one farthest from all tried ones.
    fn farthest(&self, ledger: &mut Ledger<'_>) -> Option<usize> {
        let tried: Vec<Vec<f64>> = self
            .known
            .iter()
            .chain(&self.believed)
            .map(|&(configuration, _)| ledger.space.point(configuration))
            .collect();
        let mut farthest = None;
        for _ in 0..DESIGN_DRAWS {
            let drawn = ledger.any_open()?;
            let point = ledger.space.point(drawn);
            let nearest = tried.iter().map(|other| apart(&point, other)).fold(f64::MAX, f64::min);
            if farthest.is_none_or(|(_, best)| nearest > best) {
                farthest = Some((drawn, nearest));
            }
        }
        farthest.map(|(configuration, _)| configuration)
    }

    /// The open configuration with the largest expected improvement, weighted by the probability that it works; if no
    /// improvement is expected, the least certain one.
    fn most_promising(&mut self, ledger: &mut Ledger<'_>) -> Option<(usize, Prediction)> {
        let process = self.process(ledger)?;
        let (_, best) = ledger.best()?;
        let space = ledger.space;
        let forecast = self.worth_forecasting(ledger).into_iter().map(|configuration| {
            let prediction = process.predict(&space.point(configuration));
            let chance = self.feasibility.chance(space, configuration);
            let worth = chance * expected_improvement(best, prediction);
            (configuration, prediction, worth, chance * prediction.deviation)
        });
        let (configuration, prediction, ..) = forecast
            .max_by(|one, other| one.2.total_cmp(&other.2).then(one.3.total_cmp(&other.3)))?;
        Some((configuration, prediction))
    }

    /// The process conditioned on known and assumed scores.
    fn process(&mut self, ledger: &Ledger<'_>) -> Option<Process> {
        let average = self.average();
        let data: Vec<(usize, f64)> = self
            .newest_and_best()
            .into_iter()
            .chain(self.believed.iter().copied())
            .map(|(configuration, score)| {
                (configuration, if score.is_finite() { score } else { average })
            })
            .collect();
        let points: Vec<Vec<f64>> =
            data.iter().map(|&(configuration, _)| ledger.space.point(configuration)).collect();
        let values: Vec<f64> = data.iter().map(|&(_, score)| score).collect();
        // Half as many answers more may show the space in another light; fewer seldom do.
        if self.smoothness.is_none() || self.known.len() * 2 >= self.chosen_at * 3 {
            self.smoothness = gauss::most_likely(&points, &values);
            self.chosen_at = self.known.len();
        }
        Process::condition(&points, &values, self.smoothness.clone()?)
    }

    fn newest_and_best(&self) -> Vec<(usize, f64)> {
        let (older, newer) = self.known.split_at(self.known.len().saturating_sub(MOST_POINTS / 2));
        let mut data = older.to_vec();
        data.sort_by(|left, right| left.1.total_cmp(&right.1).then(left.0.cmp(&right.0)));
        data.truncate(MOST_POINTS / 2);
        data.extend_from_slice(newer);
        data
    }

    /// The mean score of all working configurations; NaN if there are none.
    fn average(&self) -> f64 {
        let worked: Vec<f64> =
            self.known.iter().map(|&(_, score)| score).filter(|score| score.is_finite()).collect();
        worked.iter().sum::<f64>() / worked.len() as f64
    }

    /// All that is open, or of many some random ones and the neighbours of the best; in order.
    fn worth_forecasting(&self, ledger: &mut Ledger<'_>) -> Vec<usize> {
        let mut chosen: Vec<usize> = if ledger.open().len() <= MOST_FORECAST {
            ledger.open().collect()
        } else {
            let mut chosen: Vec<usize> =
                (0..MOST_FORECAST).filter_map(|_| ledger.any_open()).collect();
            let mut best = self.known.clone();
            best.sort_by(|left, right| left.1.total_cmp(&right.1).then(left.0.cmp(&right.0)));
            for (configuration, _) in best.into_iter().take(BEST_LOOKED_AROUND) {
                chosen.extend(ledger.space.neighbours(configuration, Neighbourhood::AnyValue));
            }
            chosen.retain(|&configuration| ledger.is_open(configuration));
            chosen
        };
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }
}

/// The expected amount by which a score is below the best; a worse score counts as 0.
fn expected_improvement(best: f64, prediction: Prediction) -> f64 {
    let Prediction { mean, deviation } = prediction;
    if deviation <= 0.0 {
        return (best - mean).max(0.0);
    }
    let z = (best - mean) / deviation;
    let density = pxfm::f_exp(-0.5 * z * z) / std::f64::consts::TAU.sqrt();
    (best - mean) * gauss::below(z) + deviation * density
}

fn apart(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| (left - right) * (left - right)).sum()
}
