//! A search that was written down, as something to run tuners and strategies on again without a device.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cost::cost;
use super::entry::Look;
use super::explore::{Audience, Explorer, Order};
use super::laboratory::{Interrupted, Laboratory};
use super::story::Story;
use crate::evaluate::compare::ComparedWorkload;
use crate::evaluate::{Examined, Run, Screening};
use crate::project::Kernel;
use crate::project::launch::Parameter;
use crate::strategies::replay::{Recorded, RecordedSpace};
use crate::strategies::{Archive, Dimension, TrialOutcome};
use crate::units::Seconds;

/// The configurations of the first variant that were tried, and what came of each; the first result counts.
#[must_use]
pub fn space(story: &Story, parameters: &[Parameter]) -> RecordedSpace {
    let dimensions = parameters.iter().map(|parameter| Dimension {
        name: parameter.name.clone(),
        values: parameter.values.clone(),
    });
    let mut results: Vec<Recorded> = Vec::new();
    for (chosen, look) in story.variants.first().into_iter().flat_map(|first| &first.tried) {
        let values = parameters.iter().map(|parameter| chosen.get(&parameter.name).copied());
        let Some(values) = values.collect::<Option<Vec<i64>>>() else { continue };
        let told = told(look, &story.header.workloads);
        if told != TrialOutcome::NotJudged && results.iter().all(|known| known.values != values) {
            results.push(Recorded { values, told });
        }
    }
    RecordedSpace { dimensions: dimensions.collect(), results }
}

/// What a tuner is told of a look.
pub(super) fn told(look: &Look, counting: &[String]) -> TrialOutcome {
    match look {
        Look::Right { times } => {
            cost(times, counting).map_or(TrialOutcome::Failed, TrialOutcome::Time)
        }
        Look::Slow { times } => {
            let longest = times.iter().map(|time| time.seconds.0).fold(0.0, f64::max);
            let at_least = cost(times, counting).unwrap_or(longest);
            TrialOutcome::Abandoned { at_least }
        }
        Look::Failed(_) => TrialOutcome::Failed,
        Look::NotJudged(_) => TrialOutcome::NotJudged,
    }
}

/// The archive that a search had at its end: `order` is how it was begun, without a device.
#[must_use]
pub fn archive(order: Order, story: Story) -> Archive {
    let audience = Audience { listener: Box::new(|_, _| {}), keeper: Box::new(|_| {}) };
    Explorer::resume(order, Nothing, story, None, audience).into_archive()
}

/// A laboratory that runs nothing: what was not settled stays out.
struct Nothing;

impl Laboratory for Nothing {
    fn screen(
        &mut self,
        _kernels: &[Arc<Kernel>],
        _abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Vec<Screening>, Interrupted> {
        Err(Interrupted::Stopped)
    }

    fn examine(&mut self, _kernels: &[Arc<Kernel>]) -> Result<Vec<Option<Examined>>, Interrupted> {
        Err(Interrupted::Stopped)
    }

    fn evaluate(&mut self, _kernel: &Arc<Kernel>) -> Result<Run, Interrupted> {
        Err(Interrupted::Stopped)
    }

    fn side_by_side(
        &mut self,
        _old: &Arc<Kernel>,
        _new: &Arc<Kernel>,
    ) -> Result<Vec<ComparedWorkload>, Interrupted> {
        Err(Interrupted::Stopped)
    }

    fn batch(&self) -> usize {
        1
    }

    fn rest(&mut self) -> Result<(), Interrupted> {
        Err(Interrupted::Stopped)
    }

    fn turned_down(&mut self) -> Vec<(usize, String)> {
        Vec::new()
    }
}
