//! The probability that a configuration works, estimated from the values of failed ones.
//!
//! A naive Bayes estimate: the value of every dimension counts independently, which matches most failures of kernels (a
//! value that is too large, or never works). A failure caused by a combination of values affects all of them slightly,
//! and the surrogate learns the rest.

use crate::space::Space;

/// Tried and working configurations for each value of each dimension.
pub(super) struct Feasibility {
    counts: Vec<Vec<(f64, f64)>>,
    tried: f64,
    worked: f64,
}

impl Feasibility {
    /// Without observations.
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

    /// The probability that a configuration works; 1 as long as no trial failed.
    pub(super) fn chance(&self, space: &Space, configuration: usize) -> f64 {
        let overall = (self.worked + 1.0) / (self.tried + 1.0);
        let factors = self.counts.iter().zip(space.get(configuration)).map(|(counts, &place)| {
            let (tried, worked) = counts[usize::from(place)];
            // Adding one average trial keeps untried values at the average.
            (worked + overall) / (tried + 1.0) / overall
        });
        (overall * factors.product::<f64>()).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Feasibility;
    use crate::space::{Dimension, Space};

    #[test]
    fn values_that_never_worked_are_unlikely_to() {
        let values = vec![0, 1, 2];
        let dimension = |name: &str| Dimension { name: name.to_owned(), values: values.clone() };
        let space = Space::build(vec![dimension("A"), dimension("B")], &[], 9).unwrap();
        let at = |values: &[i64]| space.index_of_values(values).unwrap();
        let mut feasibility = Feasibility::new();
        let untried = feasibility.chance(&space, at(&[2, 2]));
        assert!((untried - 1.0).abs() < 1e-12, "{untried}");
        feasibility.learn(&space, at(&[0, 0]), 1.0);
        let sound = feasibility.chance(&space, at(&[2, 2]));
        assert!((sound - 1.0).abs() < 1e-12, "nothing failed yet: {sound}");
        // Whatever has 1 in A fails: of four, two worked.
        for (values, score) in [([1, 0], f64::INFINITY), ([1, 1], f64::INFINITY), ([0, 1], 1.0)] {
            feasibility.learn(&space, at(&values), score);
        }
        // Overall 3/5 as if one more had worked; A = 1: 0.6/3 of tries; B = 2: never tried.
        for (values, expected) in [([1, 2], 0.2), ([2, 2], 0.6), ([0, 2], 2.6 / 3.0)] {
            let chance = feasibility.chance(&space, at(&values));
            assert!((chance - expected).abs() < 1e-12, "{values:?}: {chance}");
        }
    }
}
