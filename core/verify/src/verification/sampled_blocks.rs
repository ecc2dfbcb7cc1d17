//! Results at a size at which a virtual device is too slow to run the whole grid: sampled blocks run with every check and
//! are judged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lightbench_device::Placement;
use lightbench_project::launch::expectation::WrongKind;
use lightbench_tensors::inputs::InputMode;
use lightbench_virtual_gpu::cost::Counts;

use super::{
    Attempt, BufferPlacement, CountsUse, ObservedOn, RunRequest, Scrutiny, Stop, Verification, open,
};
use crate::compiled_candidate::CompiledWorkload;
use crate::device_session::{GridPart, Sampled, grid_blocks, sample_time};
use crate::device_workers::DeviceWorkerError;
use crate::verdict::{SizeCheck, Step};

/// Time limit of the sampled blocks of all timed sizes of a kernel. Those of products on tensor cores are slow on a
/// virtual device.
const TIME: Duration = Duration::from_secs(6);

/// The part of it that the other sizes have at least: large indices and held-out workloads, mostly with short blocks.
const RESERVED: Duration = Duration::from_secs(3);

/// Less time is not enough for any sample.
const SHORTEST: Duration = Duration::from_millis(50);

/// The time of sampled blocks. All processes of a verification share it.
#[derive(Clone, Debug)]
pub(super) struct SamplingTime {
    /// The time that is left, in nanoseconds.
    left: Arc<AtomicU64>,
    /// The least estimate of a sample in nanoseconds, for one unit of work of one block, of the launches that were
    /// counted: the bits of a number that is not negative, which are ordered as such numbers are.
    rate: Arc<AtomicU64>,
}

impl Default for SamplingTime {
    fn default() -> Self {
        let shared = |bits| Arc::new(AtomicU64::new(bits));
        Self { left: shared(nanoseconds(TIME)), rate: shared(f64::INFINITY.to_bits()) }
    }
}

impl SamplingTime {
    fn left(&self) -> Duration {
        Duration::from_nanos(self.left.load(Ordering::Relaxed))
    }

    fn spend(&self, time: Duration) {
        let spent = |left: u64| Some(left.saturating_sub(nanoseconds(time)));
        // The function always returns a value.
        let _before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent);
    }

    /// Leaves at least [`RESERVED`].
    pub(super) fn reserve(&self) {
        self.left.fetch_max(nanoseconds(RESERVED), Ordering::Relaxed);
    }

    /// Notes the estimate of a sample whose blocks have this work each.
    fn learn(&self, time: Duration, work: f64) {
        let rate = nanoseconds(time) as f64 / work;
        self.rate.fetch_min(rate.to_bits(), Ordering::Relaxed);
    }

    /// The time of a sample whose blocks have this work each, if any estimate is known.
    fn predicted(&self, work: f64) -> Option<Duration> {
        let rate = f64::from_bits(self.rate.load(Ordering::Relaxed));
        rate.is_finite().then(|| Duration::from_nanos((rate * work) as u64))
    }
}

fn work_of_block(trial: &CompiledWorkload) -> f64 {
    trial.work.max(1.0) / grid_blocks(&trial.candidate) as f64
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The blocks of a grid that ran, and all of them; or why none can be sampled.
type Ran = Result<(u64, u64), String>;

impl Verification<'_> {
    /// As [`Self::check_sampled_blocks`], unless these counters of the launch show that the sample would be cut off.
    pub(super) fn check_counted_sample(
        &mut self,
        trial: &CompiledWorkload,
        counts: &Counts,
    ) -> Result<SizeCheck, Stop> {
        match sample_time(&trial.candidate, counts) {
            Err(reason) => Ok(SizeCheck::NotChecked(reason)),
            Ok(time) => {
                self.sampling.learn(time, work_of_block(trial));
                match time > self.sample_limit() {
                    true => Ok(SizeCheck::NotChecked(slow())),
                    false => self.check_sampled_blocks(trial),
                }
            }
        }
    }

    /// Why a sample of a workload whose launch was not counted would be cut off, as the counted ones suggest. None on
    /// another host, where no launch is counted for a sample.
    pub(super) fn foreseen_delay(&self, trial: &CompiledWorkload) -> Option<String> {
        let predicted = self.sampling.predicted(work_of_block(trial));
        predicted.is_some_and(|time| time > self.sample_limit()).then(slow)
    }

    /// Runs and judges sampled blocks of a workload.
    ///
    /// # Errors
    /// The blocks faulted, or their outputs are wrong.
    pub(super) fn check_sampled_blocks(
        &mut self,
        trial: &CompiledWorkload,
    ) -> Result<SizeCheck, Stop> {
        let (attempt, part) = self.sampled_attempt(trial);
        self.timed(Step::Results, Some(&trial.case.workload), |this| {
            let (blocks, of) = match this.run_part(&attempt, part)? {
                Ok(ran) => ran,
                Err(reason) => return Ok(SizeCheck::NotChecked(reason)),
            };
            let judged = this.judge_part(&attempt, part)?;
            let sampled = judged.sampled.clone();
            this.accept(&attempt, judged, None)?;
            match sampled {
                Some(Ok(elements)) => Ok(SizeCheck::Sampled { blocks, of, elements }),
                Some(Err(reason)) => Ok(SizeCheck::NotChecked(reason)),
                None => Err(Stop::Broken("no sampled elements were judged".to_owned())),
            }
        })
    }

    /// Runs sampled blocks of a workload that the reference does not compute.
    ///
    /// # Errors
    /// The blocks faulted, or left elements unwritten.
    pub(super) fn run_sampled_blocks(&mut self, trial: &CompiledWorkload) -> Result<Ran, Stop> {
        let (attempt, part) = self.sampled_attempt(trial);
        let workload = Some(trial.case.workload.as_str());
        self.timed(Step::Results, workload, |this| this.run_part(&attempt, part))
    }

    /// The time that one sample may take: half of what is left if another one may run at the same time.
    fn sample_limit(&self) -> Duration {
        let left = self.sampling.left();
        match self.workers.has_siblings() {
            true if left < 2 * SHORTEST => Duration::ZERO,
            true => left / 2,
            false => left,
        }
    }

    fn sampled_attempt<'t>(&self, trial: &'t CompiledWorkload) -> (Attempt<'t>, GridPart) {
        let recipe = self.recipe(&trial.case, InputMode::Repeating, "a");
        let memory = BufferPlacement::Fresh(Placement::Left);
        let part = GridPart::Sampled { seed: self.input_seed(&trial.case, "blocks") };
        (Attempt { trial, recipe, step: Step::Results, memory }, part)
    }

    fn run_part(&mut self, attempt: &Attempt<'_>, part: GridPart) -> Result<Ran, Stop> {
        let most = self.sample_limit();
        if most.is_zero() {
            return Ok(Err(slow()));
        }
        let order = RunRequest { part, ..attempt.run_request(Scrutiny::Full, CountsUse::Drop) };
        let limit = self.limit(attempt.trial).min(most);
        let started = Instant::now();
        let report = self.workers.run(order, limit, self.cancellation);
        self.sampling.spend(started.elapsed());
        if let Err(DeviceWorkerError::TimedOut(_)) = report {
            open(self.workers, self.subject, &self.subject.candidate, self.cancellation)?;
            return Ok(Err(slow()));
        }
        let report = self.accept_report(attempt, report, ObservedOn::Device)?;
        match report.sampled {
            Some(Sampled::Ran { blocks, of }) => Ok(Ok((blocks, of))),
            Some(Sampled::Impossible(reason)) => Ok(Err(reason)),
            Some(Sampled::Unwritten { tensor, elements, first }) => {
                let details = format!(
                    "{elements} elements of `{tensor}` are never written, first at {first:?}"
                );
                Err(self.wrong(attempt, WrongKind::Unwritten, Vec::new(), Some(details)))
            }
            None => Err(Stop::Broken("no blocks were sampled".to_owned())),
        }
    }
}

fn slow() -> String {
    format!("sampled blocks run for more than {} s in all", TIME.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_estimate_predicts_a_sample() {
        let time = SamplingTime::default();
        assert_eq!(time.predicted(1e6), None);
        time.learn(Duration::from_secs(2), 1e6);
        time.clone().learn(Duration::from_secs(3), 3e6);
        time.learn(Duration::from_secs(4), 1e6);
        assert_eq!(time.predicted(2e6), Some(Duration::from_secs(2)));
    }

    #[test]
    fn time_is_spent_and_reserved() {
        let time = SamplingTime::default();
        time.spend(Duration::from_secs(1));
        time.reserve();
        assert_eq!(time.left(), TIME - Duration::from_secs(1));
        time.spend(2 * TIME);
        assert_eq!(time.left(), Duration::ZERO);
        time.reserve();
        assert_eq!(time.left(), RESERVED);
    }
}
