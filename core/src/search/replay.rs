//! Replay of a recorded search without a device, to compare tuners and strategies.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::candidate_runner::{CandidateRunner, Interrupted};
use super::cost::cost;
use super::entry::{FailureRecord, ScreeningResult};
use super::explore::{Explorer, SearchListeners, SearchSetup};
use super::state::SearchState;
use crate::evaluate::compare::ComparedWorkload;
use crate::evaluate::{Run, Screening};
use crate::project::Kernel;
use crate::project::launch::Parameter;
use crate::strategies::replay::{Recorded, RecordedSpace};
use crate::strategies::{Archive, Dimension, TrialOutcome};
use crate::units::Seconds;

/// Configurations of the first variant that were screened, each with its first result.
#[must_use]
pub fn space(story: &SearchState, parameters: &[Parameter]) -> RecordedSpace {
    let dimensions = parameters.iter().map(|parameter| Dimension {
        name: parameter.name.clone(),
        values: parameter.values.clone(),
    });
    let mut results: Vec<Recorded> = Vec::new();
    for (chosen, look) in story.variants.first().into_iter().flat_map(|first| &first.tried) {
        let values = parameters.iter().map(|parameter| chosen.get(&parameter.name).copied());
        let Some(values) = values.collect::<Option<Vec<i64>>>() else { continue };
        let told = tuner_result(look, &story.counted());
        if told != TrialOutcome::NotJudged && results.iter().all(|known| known.values != values) {
            results.push(Recorded { values, told });
        }
    }
    RecordedSpace { dimensions: dimensions.collect(), results }
}

/// The result of a screening, as tuners take it.
pub(super) fn tuner_result(look: &ScreeningResult, counting: &[String]) -> TrialOutcome {
    match look {
        ScreeningResult::Right { times } => {
            cost(times, counting).map_or(TrialOutcome::Failed, TrialOutcome::Time)
        }
        ScreeningResult::Slow { times } => {
            let longest = times.iter().map(|time| time.seconds.0).fold(0.0, f64::max);
            let at_least = cost(times, counting).unwrap_or(longest);
            TrialOutcome::Abandoned { at_least }
        }
        ScreeningResult::Failed(_) => TrialOutcome::Failed,
        ScreeningResult::NotJudged(_) => TrialOutcome::NotJudged,
    }
}

/// The archive of a search at its end. `order` is the setup of the search.
#[must_use]
pub fn archive(order: SearchSetup, story: SearchState) -> Archive {
    let audience = SearchListeners { listener: Box::new(|_, _| {}), keeper: Box::new(|_| {}) };
    Explorer::resume(order, NoRunner, story, None, audience).into_archive()
}

/// Runs no kernels, so that variants without a decision stay outside the archive.
struct NoRunner;

impl CandidateRunner for NoRunner {
    fn screen(
        &mut self,
        _kernels: &[Arc<Kernel>],
        _abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Vec<Screening>, Interrupted> {
        Err(Interrupted::Stopped)
    }

    fn compile(
        &mut self,
        _kernel: &Arc<Kernel>,
    ) -> Result<Result<String, FailureRecord>, Interrupted> {
        Err(Interrupted::Stopped)
    }

    fn evaluate(&mut self, _kernel: &Arc<Kernel>) -> Result<Run, Interrupted> {
        Err(Interrupted::Stopped)
    }

    fn compare(
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
