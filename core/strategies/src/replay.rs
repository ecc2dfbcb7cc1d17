//! Replays recorded searches without a device, to compare tuners and strategies by the number of evaluations that each
//! needs.
//!
//! The method is Kernel Tuner's simulation mode. Only recorded results are available, so a replay evaluates a tuner
//! only if the record covers the space, and a strategy only within the recorded attempts.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::space::{Dimension, Space};
use crate::tuner::{TrialOutcome, TunerKind};

pub mod candidates;
#[cfg(test)]
mod tests;

/// A space with the results of its configurations, in stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedSpace {
    /// The declared dimensions.
    pub dimensions: Vec<Dimension>,
    /// The result of each tried configuration.
    pub results: Vec<Recorded>,
}

/// The result of one configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Its values, in the order of the dimensions.
    pub values: Vec<i64>,
    pub told: TrialOutcome,
}

/// Why a record cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// The values do not belong to the declared dimensions.
    #[error("result {result} has values that the dimensions lack: {values:?}")]
    UnknownValues {
        /// Which result.
        result: usize,
        /// Its values.
        values: Vec<i64>,
    },
    /// One configuration has two results.
    #[error("result {result} repeats the configuration {values:?}")]
    Twice {
        /// Which result.
        result: usize,
        /// Its values.
        values: Vec<i64>,
    },
    /// No configuration has a time, so there is no best one.
    #[error("no configuration of the record has a time")]
    NoTime,
}

impl RecordedSpace {
    /// Records a space; configurations without a result are omitted. Times that are not positive numbers are recorded
    /// as failures.
    pub fn new(space: &Space, told: impl Fn(usize) -> Option<TrialOutcome>) -> Self {
        let recorded = |index: usize| {
            let told = match told(index)? {
                TrialOutcome::Time(time) | TrialOutcome::Abandoned { at_least: time }
                    if !(time.is_finite() && time > 0.0) =>
                {
                    TrialOutcome::Failed
                }
                TrialOutcome::NotJudged => return None,
                told @ (TrialOutcome::Time(_)
                | TrialOutcome::Abandoned { .. }
                | TrialOutcome::Failed) => told,
            };
            Some(Recorded { values: space.values(index), told })
        };
        Self {
            dimensions: space.dimensions().to_vec(),
            results: (0..space.len()).filter_map(recorded).collect(),
        }
    }
}

/// A record that can be replayed.
#[derive(Clone, Debug)]
pub struct Replay {
    space: Space,
    told: Vec<TrialOutcome>,
    best: f64,
}

impl Replay {
    /// Validates a record and builds the space of exactly its configurations.
    ///
    /// # Errors
    ///
    /// A result does not match the dimensions, a configuration has two results, or no configuration has a time.
    pub fn new(record: &RecordedSpace) -> Result<Self, RecordError> {
        let places = |(result, recorded): (usize, &Recorded)| {
            places_of(&record.dimensions, &recorded.values).ok_or_else(|| {
                RecordError::UnknownValues { result, values: recorded.values.clone() }
            })
        };
        let rows: Vec<Vec<u16>> =
            record.results.iter().enumerate().map(places).collect::<Result<_, _>>()?;
        let space = Space::from_rows(record.dimensions.clone(), rows.clone());
        let mut told: Vec<Option<TrialOutcome>> = vec![None; space.len()];
        for (result, (row, recorded)) in rows.iter().zip(&record.results).enumerate() {
            let slot = space.index_of(row).and_then(|index| told.get_mut(index));
            if slot.is_none_or(|slot| slot.replace(recorded.told).is_some()) {
                return Err(RecordError::Twice { result, values: recorded.values.clone() });
            }
        }
        let told: Vec<TrialOutcome> = told.into_iter().flatten().collect();
        let best = told.iter().filter_map(time).min_by(f64::total_cmp);
        Ok(Self { space, told, best: best.ok_or(RecordError::NoTime)? })
    }

    /// The configurations of the record.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The result of a configuration.
    ///
    /// # Panics
    ///
    /// `index` is not below the space's length.
    #[must_use]
    pub fn told(&self, index: usize) -> TrialOutcome {
        self.told[index]
    }

    /// The fastest time of the record.
    #[must_use]
    pub fn best(&self) -> f64 {
        self.best
    }

    /// The number of evaluations that a tuner needs, one at a time, until its best time is at most `within` slower than
    /// the best of the record (0.05 means 5 %). `None` if `most` evaluations do not suffice. Failed and abandoned
    /// configurations count as evaluations.
    #[must_use]
    pub fn evaluations(&self, kind: TunerKind, seed: u64, goal: Goal) -> Option<usize> {
        let mut tuner = kind.start(&self.space, seed, None);
        let enough = self.best * (1.0 + goal.within);
        (1..=goal.most).find(|_| match tuner.ask(1)[..] {
            [configuration, ..] => {
                let told = self.told[configuration];
                tuner.tell(configuration, told);
                time(&told).is_some_and(|time| time <= enough)
            }
            [] => false,
        })
    }

    /// The same for several seeds.
    #[must_use]
    pub fn spread(&self, kind: TunerKind, seeds: u64, goal: Goal) -> Spread {
        Spread::from_evaluations((0..seeds).map(|seed| self.evaluations(kind, seed, goal)))
    }
}

/// When a replay is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Accepted slowdown against the recorded best: 0.05 means 5 %.
    pub within: f64,
    /// Maximum number of evaluations.
    pub most: usize,
}

/// Evaluations needed, over several seeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// In ascending order; seeds that did not reach the goal are last.
    needed: Vec<Option<usize>>,
}

impl Spread {
    /// Puts the numbers in order.
    pub fn from_evaluations(needed: impl Iterator<Item = Option<usize>>) -> Self {
        let mut needed: Vec<Option<usize>> = needed.collect();
        needed.sort_by_key(|evaluations| evaluations.unwrap_or(usize::MAX));
        Self { needed }
    }

    /// The median over the seeds (of an even number, the upper of the two middle values); `None` if fewer than half of
    /// them reached the goal.
    #[must_use]
    pub fn median(&self) -> Option<usize> {
        self.at(2)
    }

    /// A quarter of the seeds needed no more than this.
    #[must_use]
    pub fn lower_quartile(&self) -> Option<usize> {
        self.at(1)
    }

    /// Three quarters of the seeds needed no more than this.
    #[must_use]
    pub fn upper_quartile(&self) -> Option<usize> {
        self.at(3)
    }

    /// The number of seeds that reached the goal, and the number of all seeds.
    #[must_use]
    pub fn reached(&self) -> (usize, usize) {
        (self.needed.iter().flatten().count(), self.needed.len())
    }

    fn at(&self, quarters: usize) -> Option<usize> {
        let last = self.needed.len().checked_sub(1)?;
        self.needed[(self.needed.len() * quarters / 4).min(last)]
    }
}

/// A time that counts.
fn time(told: &TrialOutcome) -> Option<f64> {
    match *told {
        TrialOutcome::Time(time) if time.is_finite() && time > 0.0 => Some(time),
        TrialOutcome::Time(_)
        | TrialOutcome::Abandoned { .. }
        | TrialOutcome::Failed
        | TrialOutcome::NotJudged => None,
    }
}

fn places_of(dimensions: &[Dimension], values: &[i64]) -> Option<Vec<u16>> {
    let place = |(dimension, value): (&Dimension, &i64)| {
        let place = dimension.values.iter().position(|known| known == value)?;
        u16::try_from(place).ok()
    };
    let fits = dimensions.len() == values.len();
    fits.then(|| dimensions.iter().zip(values).map(place).collect()).flatten()
}
