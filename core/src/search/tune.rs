//! Tuning: configurations of one variant's parameters, looked at until the budget or the space ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::Cost;
use super::cost::cost;
use super::entry::{Entry, Look};
use super::explore::Explorer;
use super::laboratory::{Interrupted, Laboratory};
use super::operators::Draft;
use super::recording::told;
use super::space::{index_of, named, preferring, space};
use crate::history::record::Origin;
use crate::project::Kernel;
use crate::strategies::{Space, Tuner};
use crate::suggest::tuned;
use crate::units::Seconds;

/// A configuration that is this much slower than the best is not waited for.
const ABANDON: f64 = 2.0;

/// Configurations that a tuner asks for in the course of a search, where nothing else is said.
const SHARE: usize = 32;

/// Configurations within this of the best are as good, as far as a quick look can tell.
const TIE: f64 = 1.01;

/// Finalists of one tuning.
const FINALISTS: usize = 3;

/// What tuning found.
pub(super) struct Tuned {
    /// The best configurations, the best first; those within noise of it behind it.
    pub(super) finalists: Vec<BTreeMap<String, i64>>,
    /// Configurations that were looked at.
    pub(super) tried: usize,
    /// Of so many.
    pub(super) all: usize,
}

impl Tuned {
    /// A variant of each finalist that the kernel does not choose by itself.
    pub(super) fn drafts(&self, kernel: &Kernel) -> Vec<Draft> {
        let (tried, all) = (self.tried, self.all);
        let draft = |parameters: &BTreeMap<String, i64>| {
            let source = tuned::preferring(kernel, parameters)?;
            let values = parameters.iter().map(|(name, value)| format!("{name} = {value}"));
            let values = values.collect::<Vec<_>>().join(", ");
            Some(Draft {
                source,
                what: format!("{values}, best of {tried} of {all}"),
                technique: None,
                origin: Origin::Tuner,
                talk: None,
                cost: Cost::default(),
            })
        };
        self.finalists.iter().filter_map(draft).collect()
    }

    /// What is said where nothing comes of it.
    pub(super) fn nothing_faster(&self) -> String {
        if self.tried == 0 {
            return format!("no look is left for one of its {} configurations", self.all);
        }
        format!(
            "of {} of {} configurations none is faster than the one that it chooses by itself",
            self.tried, self.all
        )
    }
}

impl<L: Laboratory> Explorer<'_, L> {
    /// Looks at configurations of a variant.
    pub(super) fn tune(
        &mut self,
        variant: usize,
        kernel: &Arc<Kernel>,
    ) -> Result<Result<Tuned, String>, Interrupted> {
        let order = &self.order;
        let workloads = order.workloads();
        let space = match space(&order.project, &kernel.launch, &workloads, &order.device) {
            Ok(space) if space.len() > 1 => space,
            Ok(_) => return Ok(Err("its parameters leave no choice".to_owned())),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let first = defaults(&space, kernel);
        let seed = order.seed ^ variant as u64;
        let mut tuner = order.tuner.start(&space, seed, first);
        let mut best = Best::default();
        for (parameters, look) in &self.scribe.story.variants[variant].tried {
            if let Some(index) = index_of(&space, parameters) {
                best.see(index, look, &order.counting());
                tuner.tell(index, told(look, &order.counting()));
            }
        }
        // Of a search one is left for the best of them, which would be for nothing otherwise; of a sweep a budget is of
        // configurations.
        let (most, reserved) = if order.is_sweep() { (usize::MAX, 0) } else { (SHARE, 1) };
        while best.seen < most && self.may_go_on() {
            self.laboratory.rest()?;
            let left = self.evaluations_left().saturating_sub(reserved).min(most - best.seen);
            let asked = tuner.ask(left.min(self.laboratory.batch()));
            if asked.is_empty() {
                break;
            }
            let kernels: Vec<_> = asked
                .iter()
                .map(|index| Arc::new(preferring(kernel, &named(&space, *index))))
                .collect();
            let asked: Vec<_> = asked.into_iter().zip(kernels).collect();
            let mut not_judged = self.look_at(variant, &space, asked, (&mut best, &mut *tuner))?;
            // Once more, after the others of the batch.
            not_judged.truncate(self.evaluations_left());
            self.look_at(variant, &space, not_judged, (&mut best, &mut *tuner))?;
        }
        let finalists = best.finalists(first).into_iter().map(|index| named(&space, index));
        Ok(Ok(Tuned { finalists: finalists.collect(), tried: best.seen, all: space.len() }))
    }

    /// Takes a quick look at configurations, writes each down and tells the tuner; gives those that the device or the machine
    /// ended, unless the device does not support them.
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
        let mut not_judged = Vec::new();
        for ((index, kernel), screening) in asked.into_iter().zip(&screenings) {
            let look = Look::of(&screening.verdict);
            best.see(index, &look, &self.order.counting());
            tuner.tell(index, told(&look, &self.order.counting()));
            if matches!(&look, Look::NotJudged(reason) if !reason.is_not_supported()) {
                not_judged.push((index, kernel));
            }
            let parameters = named(space, index);
            self.scribe.record(&Entry::Tried { variant, parameters, look })?;
        }
        Ok(not_judged)
    }
}

/// The configuration that the kernel chooses by itself, where it is one of the space.
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
    fn see(&mut self, index: usize, look: &Look, counting: &[String]) {
        if matches!(look, Look::NotJudged(_)) {
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

    /// The best and those that are as good; none where the configuration that the kernel chooses by itself is among them.
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
