//! What a tuner has asked for and been told, and what is left: the part all tuners share.

use crate::generator::Generator;
use crate::space::Space;
use crate::tuner::TrialOutcome;

/// How a configuration stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ConfigurationState {
    /// Nobody asked for it.
    Open,
    /// Asked for, not yet told.
    Asked,
    /// Told; the natural logarithm of its time, infinite where it failed. What was abandoned
    /// counts with the time that it takes at least.
    Known(f64),
}

/// What makes one tuner different from another.
pub(super) trait Proposer {
    /// The next configuration to ask for, out of those that are open; none where it would rather
    /// wait for answers.
    fn propose(&mut self, ledger: &mut Ledger<'_>) -> Option<usize>;

    /// Learns the score of a configuration, whether or not it proposed it.
    fn learn(&mut self, ledger: &mut Ledger<'_>, configuration: usize, score: f64);
}

/// A space with the standing of every configuration.
pub(super) struct Ledger<'s> {
    pub(super) space: &'s Space,
    pub(super) generator: Generator,
    /// Where the search is to begin; taken by the first question.
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

    /// How a configuration stands.
    pub(super) fn standing(&self, configuration: usize) -> ConfigurationState {
        self.standing[configuration]
    }

    /// Whether nobody asked for it yet.
    pub(super) fn is_open(&self, configuration: usize) -> bool {
        self.standing(configuration) == ConfigurationState::Open
    }

    /// Whether it was asked for and the answer is awaited.
    pub(super) fn is_asked(&self, configuration: usize) -> bool {
        self.standing(configuration) == ConfigurationState::Asked
    }

    /// The best so far: configuration and logarithm of its time.
    pub(super) fn best(&self) -> Option<(usize, f64)> {
        self.best
    }

    /// What nobody asked for yet, in no order.
    pub(super) fn open(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.open.iter().map(|&configuration| configuration as usize)
    }

    /// One that nobody asked for yet, each equally likely.
    pub(super) fn any_open(&mut self) -> Option<usize> {
        self.generator.pick(&self.open).map(|&configuration| configuration as usize)
    }

    /// Where the search is to begin, once.
    pub(super) fn take_first(&mut self) -> Option<usize> {
        self.first.take().filter(|&first| self.is_open(first))
    }

    /// Notes that a configuration is asked for.
    pub(super) fn ask_for(&mut self, configuration: usize) {
        self.close(configuration);
        self.standing[configuration] = ConfigurationState::Asked;
    }

    /// Notes what came of a configuration; its score, or none where the space does not have it or
    /// it was told before.
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

/// The logarithm of a time, so that differences are ratios; infinite for what is no time.
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
