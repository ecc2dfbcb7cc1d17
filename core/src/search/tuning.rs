//! Tuning: screens configurations of the parameters of one variant until the budget or the space is exhausted.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::candidate_runner::{CandidateRunner, Interrupted};
use super::cost::cost;
use super::entry::{Entry, ScreeningResult};
use super::explore::Explorer;
use super::operators::{Draft, MAX_TUNED_CONFIGURATIONS};
use super::replay::tuner_result;
use super::space::{index_of, named, preferring, space};
use crate::project::Kernel;
use crate::strategies::{Space, Tuner};
use crate::suggest::parameter_order;
use crate::units::Seconds;

/// A configuration is dropped when its first execution takes this many times as long as the best.
const ABANDON: f64 = 2.0;

/// Ratio of times up to which a screening does not distinguish two configurations.
const TIE: f64 = 1.01;

/// Most configurations of the tuning of a sweep that become variants; in a search, it is one.
const FINALISTS: usize = 3;

/// Result of a tuning.
pub(super) struct Tuned {
    /// The fastest configuration and those within [`TIE`] of it, fastest first.
    pub(super) finalists: Vec<BTreeMap<String, i64>>,
    /// Number of configurations that were screened.
    pub(super) tried: usize,
    /// Number of configurations of the space.
    pub(super) all: usize,
}

impl Tuned {
    /// A variant for each finalist that differs from the default configuration.
    pub(super) fn drafts(&self, kernel: &Kernel) -> Vec<Draft> {
        let (tried, all) = (self.tried, self.all);
        let of_values = |parameters: &BTreeMap<String, i64>| {
            let source = parameter_order::with_preferred_values(kernel, parameters)?;
            let values = parameters.iter().map(|(name, value)| format!("{name} = {value}"));
            let values = values.collect::<Vec<_>>().join(", ");
            Some(Draft::of_tuner(source, format!("{values}, best of {tried} of {all}")))
        };
        self.finalists.iter().filter_map(of_values).collect()
    }

    /// Why tuning proposes nothing.
    pub(super) fn nothing_faster(&self) -> String {
        if self.tried == 0 {
            return format!("the budget leaves no evaluation for its {} configurations", self.all);
        }
        format!(
            "none of the {} evaluated configurations (of {}) is faster than the default one",
            self.tried, self.all
        )
    }
}

impl<L: CandidateRunner> Explorer<'_, L> {
    /// Screens configurations of a variant.
    pub(super) fn tune(
        &mut self,
        variant: usize,
        kernel: &Arc<Kernel>,
    ) -> Result<Result<Tuned, String>, Interrupted> {
        let order = &self.order;
        let workloads = order.workloads();
        let space = match space(&order.project, &kernel.launch, &workloads, &order.device) {
            Ok(space) if space.len() > 1 => space,
            Ok(_) => return Ok(Err("its parameters have only one configuration".to_owned())),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let first = defaults(&space, kernel);
        let seed = order.seed ^ variant as u64;
        let mut tuner = order.tuner.start(&space, seed, first);
        let mut best = Best::default();
        let counted = self.scribe.story.counted();
        for (parameters, look) in &self.scribe.story.variants[variant].tried {
            if let Some(index) = index_of(&space, parameters) {
                best.see(index, look, &counted);
                tuner.tell(index, tuner_result(look, &counted));
            }
        }
        // Within a search, one evaluation is reserved for the variant of the best configuration. In a sweep, the budget counts
        // configurations only.
        let (most, reserved) =
            if order.is_sweep() { (usize::MAX, 0) } else { (MAX_TUNED_CONFIGURATIONS, 1) };
        while best.seen < most && self.may_go_on() {
            self.laboratory.rest()?;
            let left = self.evaluations_left().saturating_sub(reserved).min(most - best.seen);
            let asked = tuner.ask(left.min(self.at_once(variant)));
            if asked.is_empty() {
                break;
            }
            let kernels: Vec<_> = asked
                .iter()
                .map(|index| Arc::new(preferring(kernel, &named(&space, *index))))
                .collect();
            let asked: Vec<_> = asked.into_iter().zip(kernels).collect();
            let mut not_judged = self.look_at(variant, &space, asked, (&mut best, &mut *tuner))?;
            // Repeated once, after the others of the batch.
            not_judged.truncate(self.evaluations_left());
            self.look_at(variant, &space, not_judged, (&mut best, &mut *tuner))?;
        }
        let finalists = best.finalists(first).into_iter().map(|index| named(&space, index));
        Ok(Ok(Tuned { finalists: finalists.collect(), tried: best.seen, all: space.len() }))
    }

    /// Screens configurations, records each and passes it to the tuner; returns those that the device or the machine ended,
    /// except those that the device does not support.
    fn look_at(
        &mut self,
        variant: usize,
        space: &Space,
        asked: Vec<(usize, Arc<Kernel>)>,
        (best, tuner): (&mut Best, &mut dyn Tuner),
    ) -> Result<Vec<(usize, Arc<Kernel>)>, Interrupted> {
        let kernels: Vec<_> = asked.iter().map(|(_, kernel)| Arc::clone(kernel)).collect();
        if kernels.is_empty() {
            return Ok(Vec::new());
        }
        let screenings = self.laboratory.screen(&kernels, &best.abandon())?;
        let counted = self.scribe.story.counted();
        let mut not_judged = Vec::new();
        for ((index, kernel), screening) in asked.into_iter().zip(&screenings) {
            let look = ScreeningResult::from_verdict(&screening.verdict);
            best.see(index, &look, &counted);
            tuner.tell(index, tuner_result(&look, &counted));
            if matches!(&look, ScreeningResult::NotJudged(reason) if !reason.is_not_supported()) {
                not_judged.push((index, kernel));
            }
            let parameters = named(space, index);
            self.scribe.record(&Entry::Tried { variant, parameters, look })?;
        }
        Ok(not_judged)
    }
}

/// The default configuration of the kernel, otherwise the first of the space.
fn defaults(space: &Space, kernel: &Kernel) -> Option<usize> {
    let values = kernel
        .launch
        .parameters
        .iter()
        .map(|parameter| Some((parameter.name.clone(), *parameter.values.first()?)));
    let first = index_of(space, &values.collect::<Option<_>>()?);
    first.or_else(|| (!space.is_empty()).then_some(0))
}

/// The best configurations so far.
#[derive(Default)]
struct Best {
    seen: usize,
    costs: Vec<(usize, f64)>,
    /// The times of the best.
    times: BTreeMap<String, Seconds>,
}

impl Best {
    fn see(&mut self, index: usize, look: &ScreeningResult, counting: &[String]) {
        if matches!(look, ScreeningResult::NotJudged(_)) {
            return;
        }
        self.seen += 1;
        let Some(cost) = cost(look.times(), counting) else { return };
        if self.costs.iter().all(|(_, other)| cost < *other) {
            let times = look.times().iter();
            self.times = times.map(|time| (time.workload.clone(), time.seconds)).collect();
        }
        self.costs.push((index, cost));
    }

    fn abandon(&self) -> BTreeMap<String, Seconds> {
        let each = self.times.iter();
        each.map(|(workload, time)| (workload.clone(), *time * ABANDON)).collect()
    }

    /// The fastest configurations; none if the default configuration is one of them.
    fn finalists(&self, own: Option<usize>) -> Vec<usize> {
        let mut sorted = self.costs.clone();
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let best = sorted.first().map_or(f64::NAN, |(_, cost)| *cost);
        if sorted.iter().any(|(index, cost)| Some(*index) == own && *cost <= best * TIE) {
            return Vec::new();
        }
        let within = sorted.into_iter().take_while(|(_, cost)| *cost <= best * TIE);
        within.take(FINALISTS).map(|(index, _)| index).collect()
    }
}
