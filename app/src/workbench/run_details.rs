//! What panels show of a run: its evidence and samples, from a verdict of this window or from the history.

use std::collections::BTreeMap;
use std::sync::Arc;

use lightbench_core::evaluate::Run;
use lightbench_core::history::comparison_runs::WorkloadComparison;
use lightbench_core::history::{Provenance, StoredRun};
use lightbench_core::measure::{Basis, Mode};
use lightbench_core::report::document::timing::ReportedWorkloadTiming;
use lightbench_core::report::evidence::RunEvidence;
use lightbench_core::speed_of_light::performance_data::CounterLocation;
use lightbench_core::units::Seconds;
use lightbench_core::virtual_gpu::cost::time::LimitingResource;

/// The evidence and the samples of a run.
#[derive(Clone, Debug)]
pub struct RunDetails {
    pub evidence: RunEvidence,
    pub samples: Vec<ModeSamples>,
    /// The comparison with other runs by workload; empty until the history has the run.
    pub comparisons: BTreeMap<String, WorkloadComparison>,
    pub provenance: Provenance,
}

/// The samples of one time.
#[derive(Clone, Debug)]
pub struct ModeSamples {
    pub workload: String,
    pub mode: Mode,
    pub seconds: Vec<Seconds>,
}

/// A run of the history with its texts.
#[derive(Clone, Debug)]
pub struct ReadRun {
    pub run: Arc<StoredRun>,
    /// The source of its kernel.
    pub source: Option<Arc<str>>,
    /// Its evidence and samples; `None` if they were not recorded.
    pub details: Option<Arc<RunDetails>>,
}

impl RunDetails {
    /// The details of an evaluation of a kernel.
    #[must_use]
    pub fn new(kernel: &str, run: &Run) -> Self {
        let timed = run.verdict.iter().flat_map(|passed| &passed.timings);
        let sampled = timed.flat_map(|timed| timed.timings.iter().map(move |time| (timed, time)));
        let samples = sampled.filter_map(|(timed, timing)| {
            let Basis::Samples { rounds, .. } = &timing.basis else { return None };
            let seconds = rounds.iter().flatten().copied().collect();
            Some(ModeSamples { workload: timed.workload.clone(), mode: timing.mode, seconds })
        });
        Self {
            samples: samples.collect(),
            comparisons: BTreeMap::new(),
            evidence: RunEvidence::new(kernel, run),
            provenance: Provenance::Own,
        }
    }

    /// The times of a workload, else of the first timed workload; `None` if the run did not pass or was not timed.
    #[must_use]
    pub fn times(&self, workload: &str) -> Option<&ReportedWorkloadTiming> {
        let times = &self.evidence.passed()?.times;
        times.iter().find(|timed| timed.workload == workload).or_else(|| times.first())
    }

    /// The samples of a time.
    #[must_use]
    pub fn samples(&self, workload: &str, mode: Mode) -> Option<&ModeSamples> {
        self.samples.iter().find(|each| each.workload == workload && each.mode == mode)
    }

    /// The busy times of units in a workload, if they were counted in this workload.
    #[must_use]
    pub fn units(&self, workload: &str) -> Option<&[(LimitingResource, Seconds)]> {
        let profile = self.evidence.counters.get(workload)?.as_ref().ok()?;
        let is_here = profile.at == CounterLocation::SameWorkload && !profile.units.is_empty();
        is_here.then_some(profile.units.as_slice())
    }
}
