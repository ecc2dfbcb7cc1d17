//! The state of every configuration (open, asked, known), shared by all tuners.

use crate::generator::Generator;
use crate::space::Space;
use crate::tuner::TrialOutcome;

/// The state of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ConfigurationState {
    /// Not asked for.
    Open,
    /// Asked for, without a result.
    Asked,
    /// The natural logarithm of its time, infinite for a failure. For an abandoned configuration, that of the lower
    /// bound.
    Known(f64),
}

/// The part of a tuner that differs between tuners.
pub(super) trait Proposer {
    /// The next configuration to ask for, out of the open ones; `None` if results are needed first.
    fn propose(&mut self, ledger: &mut Ledger<'_>) -> Option<usize>;

    /// Learns the score of a configuration, whether or not it proposed it.
    fn learn(&mut self, ledger: &mut Ledger<'_>, configuration: usize, score: f64);
}

/// A space with the standing of every configuration.
pub(super) struct Ledger<'s> {
    pub(super) space: &'s Space,
    pub(super) generator: Generator,
    /// The starting configuration; returned by the first question.
    first: Option<usize>,
    standing: Vec<ConfigurationState>,
    /// All open configurations, in no order, and the place of each among them.
    open: Vec<u32>,
    place: Vec<u32>,
    /// The best so far: configuration and logarithm of its time.
    best: Option<(usize, f64)>,
}

impl<'s> Ledger<'s> {
    pub(super) fn new(space: &'s Space, seed: u64, first: Option<usize>) -> Self {
        let all: Vec<u32> = (0..space.len() as u32).collect();
        Self {
            space,
            generator: Generator::new(seed, 0),
            first: first.filter(|&index| index < space.len()),
            standing: vec![ConfigurationState::Open; space.len()],
            place: all.clone(),
            open: all,
            best: None,
        }
    }

    /// The state of a configuration.
    pub(super) fn standing(&self, configuration: usize) -> ConfigurationState {
        self.standing[configuration]
    }

    /// Whether it was not asked for yet.
    pub(super) fn is_open(&self, configuration: usize) -> bool {
        self.standing(configuration) == ConfigurationState::Open
    }

    /// Whether it was asked for and its result is pending.
    pub(super) fn is_asked(&self, configuration: usize) -> bool {
        self.standing(configuration) == ConfigurationState::Asked
    }

    /// The best so far: configuration and logarithm of its time.
    pub(super) fn best(&self) -> Option<(usize, f64)> {
        self.best
    }

    /// Open configurations, in no particular order.
    pub(super) fn open(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.open.iter().map(|&configuration| configuration as usize)
    }

    /// A random open configuration, uniformly distributed.
    pub(super) fn any_open(&mut self) -> Option<usize> {
        self.generator.pick(&self.open).map(|&configuration| configuration as usize)
    }

    /// Takes the starting configuration, once.
    pub(super) fn take_first(&mut self) -> Option<usize> {
        self.first.take().filter(|&first| self.is_open(first))
    }

    /// Records that a configuration is asked for.
    pub(super) fn ask_for(&mut self, configuration: usize) {
        self.close(configuration);
        self.standing[configuration] = ConfigurationState::Asked;
    }

    /// Records the result of a configuration; returns its score, or `None` if the space does not contain it or its
    /// result was already known.
    pub(super) fn note(&mut self, configuration: usize, told: TrialOutcome) -> Option<f64> {
        match self.standing.get(configuration)? {
            ConfigurationState::Known(_) => return None,
            ConfigurationState::Open => self.close(configuration),
            ConfigurationState::Asked => {}
        }
        if told == TrialOutcome::NotJudged {
            self.standing[configuration] = ConfigurationState::Asked;
            return None;
        }
        let score = score(told);
        self.standing[configuration] = ConfigurationState::Known(score);
        let is_time = matches!(told, TrialOutcome::Time(_)) && score.is_finite();
        if is_time && self.best.is_none_or(|(_, best)| score < best) {
            self.best = Some((configuration, score));
        }
        Some(score)
    }

    fn close(&mut self, configuration: usize) {
        let place = self.place[configuration] as usize;
        self.open.swap_remove(place);
        if let Some(&moved) = self.open.get(place) {
            self.place[moved as usize] = place as u32;
        }
    }
}

/// The logarithm of a time, so that differences are ratios; infinite for a failure.
fn score(told: TrialOutcome) -> f64 {
    match told {
        TrialOutcome::Time(time) | TrialOutcome::Abandoned { at_least: time } if time > 0.0 => {
            pxfm::f_log(time)
        }
        TrialOutcome::Time(_)
        | TrialOutcome::Abandoned { .. }
        | TrialOutcome::Failed
        | TrialOutcome::NotJudged => f64::INFINITY,
    }
}
