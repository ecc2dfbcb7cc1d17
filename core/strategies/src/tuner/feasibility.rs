//! How likely a configuration is to work at all, from which values its failures had.
//!
//! A naive Bayes estimate: every dimension's value counts on its own. That is what most failures
//! of kernels are like (a value that is too large, or never works); what fails by a combination
//! shows in all its values a little, and the surrogate learns the rest.

use crate::space::Space;

/// For each value of each dimension how often it was tried and how often it worked.
pub(super) struct Feasibility {
    counts: Vec<Vec<(f64, f64)>>,
    tried: f64,
    worked: f64,
}

impl Feasibility {
    /// Nothing known.
    pub(super) fn new() -> Self {
        Self { counts: Vec::new(), tried: 0.0, worked: 0.0 }
    }

    /// Notes whether a configuration worked.
    pub(super) fn learn(&mut self, space: &Space, configuration: usize, score: f64) {
        if self.counts.is_empty() {
            let width = |dimension: &crate::space::Dimension| dimension.values.len();
            self.counts =
                space.dimensions().iter().map(|one| vec![(0.0, 0.0); width(one)]).collect();
        }
        let worked = f64::from(u8::from(score.is_finite()));
        self.tried += 1.0;
        self.worked += worked;
        for (counts, &place) in self.counts.iter_mut().zip(space.get(configuration)) {
            let (tried, well) = &mut counts[usize::from(place)];
            *tried += 1.0;
            *well += worked;
        }
    }

    /// How likely a configuration is to work; 1 as long as nothing failed.
    pub(super) fn chance(&self, space: &Space, configuration: usize) -> f64 {
        let overall = (self.worked + 1.0) / (self.tried + 1.0);
        let factors = self.counts.iter().zip(space.get(configuration)).map(|(counts, &place)| {
            let (tried, worked) = counts[usize::from(place)];
            // One more trial that went as trials go keeps untried values at the average.
            (worked + overall) / (tried + 1.0) / overall
        });
        (overall * factors.product::<f64>()).min(1.0)
    }
}
