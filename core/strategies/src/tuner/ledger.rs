//! What a tuner has asked for and been told, and what is left: the part all tuners share.

use crate::generator::Generator;
use crate::space::Space;
use crate::tuner::Told;

/// How a configuration stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    /// Nobody asked for it.
    Open,
    /// Asked for, not yet told.
    Asked,
    /// Told; the natural logarithm of its time, infinite where it failed. What was abandoned
    /// counts with the time that it takes at least.
    Known(f64),
}

/// A space with the standing of every configuration.
pub(super) struct Ledger<'s> {
    pub(super) space: &'s Space,
    pub(super) generator: Generator,
    /// Where the search is to begin; taken by the first question.
    first: Option<usize>,
    standing: Vec<Standing>,
    /// All open configurations, in no order, and the place of each among them.
    open: Vec<u32>,
    place: Vec<u32>,
    /// The best so far: configuration and logarithm of its time.
    best: Option<(usize, f64)>,
    told: usize,
}

impl<'s> Ledger<'s> {
    pub(super) fn new(space: &'s Space, seed: u64, first: Option<usize>) -> Self {
        let all: Vec<u32> = (0..space.len() as u32).collect();
        Self {
            space,
            generator: Generator::new(seed, 0),
            first: first.filter(|&index| index < space.len()),
            standing: vec![Standing::Open; space.len()],
            place: all.clone(),
            open: all,
            best: None,
            told: 0,
        }
    }

    /// How a configuration stands.
    pub(super) fn standing(&self, configuration: usize) -> Standing {
        self.standing[configuration]
    }

    /// Whether nobody asked for it yet.
    pub(super) fn is_open(&self, configuration: usize) -> bool {
        self.standing(configuration) == Standing::Open
    }

    /// The best so far: configuration and logarithm of its time.
    pub(super) fn best(&self) -> Option<(usize, f64)> {
        self.best
    }

    /// How many were told.
    pub(super) fn told(&self) -> usize {
        self.told
    }

    /// What nobody asked for yet, in no order.
    pub(super) fn open(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.open.iter().map(|&configuration| configuration as usize)
    }

    /// One that nobody asked for yet, each equally likely.
    pub(super) fn any_open(&mut self) -> Option<usize> {
        self.generator.pick(&self.open).map(|&configuration| configuration as usize)
    }

    /// Any configuration, whatever its standing.
    pub(super) fn any(&mut self) -> Option<usize> {
        let count = self.space.len();
        (count > 0).then(|| self.generator.below(count))
    }

    /// Collects up to `most` questions: first the one to begin with, then what `propose` says;
    /// where it proposes nothing though something is open, a random one keeps the caller busy, but
    /// only one, because it is better to wait for answers than to guess.
    pub(super) fn questions(
        &mut self,
        most: usize,
        mut propose: impl FnMut(&mut Self) -> Option<usize>,
    ) -> Vec<usize> {
        let mut asked = Vec::new();
        while asked.len() < most && !self.open.is_empty() {
            let first = self.first.take().filter(|&first| self.is_open(first));
            let proposed = first.or_else(|| propose(self).filter(|&next| self.is_open(next)));
            let next = match proposed {
                Some(next) => Some(next),
                None if asked.is_empty() => self.any_open(),
                None => None,
            };
            let Some(next) = next else { break };
            self.close(next);
            self.standing[next] = Standing::Asked;
            asked.push(next);
        }
        asked
    }

    /// Notes what came of a configuration; its score, or none where the space does not have it or
    /// it was told before.
    pub(super) fn note(&mut self, configuration: usize, told: Told) -> Option<f64> {
        match self.standing.get(configuration)? {
            Standing::Known(_) => return None,
            Standing::Open => self.close(configuration),
            Standing::Asked => {}
        }
        let score = score(told);
        self.standing[configuration] = Standing::Known(score);
        self.told += 1;
        let is_time = matches!(told, Told::Time(_)) && score.is_finite();
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
fn score(told: Told) -> f64 {
    match told {
        Told::Time(time) | Told::Abandoned { at_least: time } if time > 0.0 => pxfm::f_log(time),
        Told::Time(_) | Told::Abandoned { .. } | Told::Failed => f64::INFINITY,
    }
}
