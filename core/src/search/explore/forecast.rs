//! Predictions before screening: variants that are predicted to be slow are skipped.

use std::sync::Arc;

use super::Explorer;
use crate::project::Kernel;
use crate::search::candidate_runner::{CandidateRunner, Interrupted};
use crate::search::entry::{Decision, Entry};
use crate::search::features::Features;
use crate::search::forecast::{ForecastDecision, ForecastPolicy};
use crate::search::forecaster::{Forecaster, with_parent};
use crate::strategies::archive::Attempt;

/// A variant whose text is a kernel, and the attempt that made it.
pub(super) type BuiltVariant = (usize, Option<Attempt>, Arc<Kernel>);

impl<L: CandidateRunner> Explorer<'_, L> {
    /// The variants that are to be screened; all of them without predictions.
    pub(super) fn without_skipped(
        &mut self,
        ready: Vec<BuiltVariant>,
    ) -> Result<Vec<BuiltVariant>, Interrupted> {
        match self.order.forecast {
            ForecastPolicy::Off => return Ok(ready),
            ForecastPolicy::On => {}
        }
        self.forecast(&ready)?;
        let mut worth = Vec::new();
        for (variant, attempt, kernel) in ready {
            let foreseen = self.scribe.story.variants[variant].foreseen.as_ref();
            match foreseen.map(|foresight| foresight.course.clone()) {
                Some(ForecastDecision::Skip { why }) => {
                    self.kernels[variant] = Some(kernel);
                    self.decided(variant, Decision::Skipped { why })?;
                    self.grow(variant, attempt);
                }
                Some(ForecastDecision::Look { .. } | ForecastDecision::Check { .. }) | None => {
                    worth.push((variant, attempt, kernel));
                }
            }
        }
        Ok(worth)
    }

    /// Records a prediction for each variant that has none from before a restart.
    fn forecast(&mut self, ready: &[BuiltVariant]) -> Result<(), Interrupted> {
        let is_new = |(variant, _, _): &&BuiltVariant| {
            self.scribe.story.variants[*variant].foreseen.is_none()
        };
        let new: Vec<&BuiltVariant> = ready.iter().filter(is_new).collect();
        let kernels: Vec<_> = new.iter().map(|(_, _, kernel)| Arc::clone(kernel)).collect();
        if kernels.is_empty() {
            return Ok(());
        }
        let examined = self.laboratory.examine(&kernels)?;
        let counting = self.order.counting();
        let mut known: Option<(usize, Forecaster)> = None;
        for ((variant, _, _), examined) in new.into_iter().zip(&examined) {
            let (variant, story) = (*variant, &self.scribe.story);
            let after = story.variants[variant].after;
            let forerunners = match known.take() {
                Some((same, forerunners)) if same == after => forerunners,
                Some(_) | None => Forecaster::from_state(story, variant),
            };
            let features = examined.as_ref().map(|examined| {
                with_parent(Features::from_examined(examined, &counting), story, variant)
            });
            let foresight = Box::new(forerunners.forecast_variant(story, variant, features));
            known = Some((after, forerunners));
            self.scribe.record(&Entry::Foreseen { variant, foresight })?;
        }
        Ok(())
    }
}
