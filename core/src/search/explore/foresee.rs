//! Foreseeing variants before they are looked at: what is not worth a look is decided about here.

use std::sync::Arc;

use super::Explorer;
use crate::project::Kernel;
use crate::search::entry::{Decision, Entry};
use crate::search::features::Features;
use crate::search::forecast::{Course, Forecasting};
use crate::search::foresight::{Forerunners, with_parent};
use crate::search::laboratory::{Interrupted, Laboratory};
use crate::strategies::archive::Attempt;

/// A variant that can be built, and the attempt that made it.
pub(super) type Ready = (usize, Option<Attempt>, Arc<Kernel>);

impl<L: Laboratory> Explorer<'_, L> {
    /// Those of the variants that are worth a look: all of them where the search does not forecast.
    pub(super) fn foresee(&mut self, ready: Vec<Ready>) -> Result<Vec<Ready>, Interrupted> {
        match self.order.forecast {
            Forecasting::Off => return Ok(ready),
            Forecasting::On => {}
        }
        self.forecast(&ready)?;
        let mut worth = Vec::new();
        for (variant, attempt, kernel) in ready {
            let foreseen = self.scribe.story.variants[variant].foreseen.as_ref();
            match foreseen.map(|foresight| foresight.course.clone()) {
                Some(Course::Skip { why }) => {
                    self.kernels[variant] = Some(kernel);
                    self.decided(variant, Decision::Skipped { why })?;
                    self.grow(variant, attempt);
                }
                Some(Course::Look { .. } | Course::Check { .. }) | None => {
                    worth.push((variant, attempt, kernel));
                }
            }
        }
        Ok(worth)
    }

    /// Writes down what is foreseen of each. What was foreseen before a restart is not foreseen again.
    fn forecast(&mut self, ready: &[Ready]) -> Result<(), Interrupted> {
        let is_new =
            |(variant, _, _): &&Ready| self.scribe.story.variants[*variant].foreseen.is_none();
        let new: Vec<&Ready> = ready.iter().filter(is_new).collect();
        let kernels: Vec<_> = new.iter().map(|(_, _, kernel)| Arc::clone(kernel)).collect();
        if kernels.is_empty() {
            return Ok(());
        }
        let examined = self.laboratory.examine(&kernels)?;
        let counting = self.order.counting();
        let mut known: Option<(usize, Forerunners)> = None;
        for ((variant, _, _), examined) in new.into_iter().zip(&examined) {
            let (variant, story) = (*variant, &self.scribe.story);
            let after = story.variants[variant].after;
            let forerunners = match known.take() {
                Some((same, forerunners)) if same == after => forerunners,
                Some(_) | None => Forerunners::of(story, variant),
            };
            let features = examined
                .as_ref()
                .map(|examined| with_parent(Features::of(examined, &counting), story, variant));
            let foresight = Box::new(forerunners.foresee(story, variant, features));
            known = Some((after, forerunners));
            self.scribe.record(&Entry::Foreseen { variant, foresight })?;
        }
        Ok(())
    }
}
