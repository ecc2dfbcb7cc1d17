//! The steps of verification in their order. The first failed check ends the verification.

mod checks_at_timed_size;
mod concurrent;
mod domain;
pub mod extrapolated_profile;
mod few_multiprocessors;
mod hang_location;
mod held_out;
mod large_indices;
pub mod library;
mod measuring;
mod other_inputs;
mod prefetched_reports;
pub mod pytorch;
mod reference_as_written;
mod replay;
mod sampled_blocks;
mod sequence;
mod start_order;
mod stop;

use std::collections::BTreeMap;
use std::iter;
use std::time::{Duration, Instant};

use self::checks_at_timed_size::MOST_CHANGED_BYTES;
use self::concurrent::{Task, Tasks};
use self::held_out::Cost;
use self::measuring::ScreeningLimits;
use self::sampled_blocks::SamplingTime;
pub use self::stop::{Stop, WorkerLoss};
use lightbench_device::Placement;
use lightbench_primitives::cancellation::Cancellation;
use lightbench_project::launch::expectation::WrongKind;
use lightbench_project::manifest::Distribution;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::{InputMode, InputSpec};
use lightbench_units::Seconds;

use self::stop::{stop_from_reference_error, stop_from_worker_error};
use super::compiled_candidate::{CompiledCandidate, CompiledWorkload};
use super::device_session::{
    BufferPlacement, CountsUse, GridPart, JudgeReport, JudgeRequest, ModuleImage, RunReport,
    RunRequest, Scrutiny, SessionFailure,
};
use super::device_workers::{DeviceWorkerError, DeviceWorkers};
use super::fault_report::{FaultReport, SuspicionReport};
use super::not_judged::NotJudged;
use super::verdict::{
    Checks, Failure, Fault, Passed, Screened, Step, TimingUse, WorkloadRun, WorkloadTiming, Wrong,
};

/// Time limit of a request besides its launches, plus one second for each of these bytes: generating inputs, copying.
const BESIDE_LAUNCHES: Duration = Duration::from_secs(5);
const BYTES_A_SECOND: u64 = 16 << 20;

/// One second more for each of these bytes: after every launch, the inputs that the host generated are compared.
const COMPARED_A_SECOND: u64 = 1 << 30;

/// Time limit of the reference: it is trusted, naive, and computes in f64.
const REFERENCE_LIMIT: Duration = Duration::from_secs(600);

/// The longest time limit of one request.
const LONGEST: Duration = Duration::from_secs(3600);

/// The rule of `docs/races.md` for copies of Triton without a proxy fence, and what the verdict says about it.
const UNFENCED_COPY_RULE: u8 = 44;
const UNFENCED_COPY: &str = "Triton generated no `fence.proxy.async` between a `cp.async` and the `wgmma` that reads its \
                             data, and PTX requires one: Triton 3.6 omits it, 3.7 and newer insert it (docs/races.md, \
                             rule 44)";

/// One verification.
pub struct Verification<'a> {
    subject: &'a CompiledCandidate,
    workers: &'a mut DeviceWorkers,
    seed: u64,
    cancellation: &'a Cancellation,
    watcher: &'a mut dyn FnMut(Step, Option<&str>),
    /// The checks done so far.
    pub checks: Checks,
    sampling: SamplingTime,
    /// What the first run on a workload that has any made suspicious, and the workload.
    suspicion: Option<(String, SuspicionReport)>,
}

impl<'a> Verification<'a> {
    /// A verification with inputs derived from the seed. `watcher` is called when a step begins, with the workload unless
    /// it is held out.
    pub fn new(
        subject: &'a CompiledCandidate,
        workers: &'a mut DeviceWorkers,
        seed: u64,
        cancellation: &'a Cancellation,
        watcher: &'a mut dyn FnMut(Step, Option<&str>),
    ) -> Self {
        let (checks, sampling) = (Checks::default(), SamplingTime::default());
        let suspicion = None;
        Self { subject, workers, seed, cancellation, watcher, checks, sampling, suspicion }
    }
}

impl Verification<'_> {
    /// Runs every step. Times are taken only after the results on all visible workloads are correct.
    ///
    /// # Errors
    /// The first failure, or why the candidate cannot be judged.
    pub fn run(mut self, timing: TimingUse) -> Result<Passed, Stop> {
        self.load()?;
        let sizes = match timing {
            TimingUse::Measure(protocol) => {
                let sizes = 0..self.subject.measured.len();
                Some(sizes.map(move |index| Task::Size(index, protocol)))
            }
            TimingUse::Skip => None,
        };
        let sizes = sizes.into_iter().flatten();
        let tasks = iter::once(Task::Domain).chain(sizes).chain([Task::LargeIndices]);
        let timings = self.with_tasks(tasks, |this, tasks| this.run_beside(tasks, timing))?;
        Ok(Passed { checks: self.checks, timings })
    }

    /// Runs the steps that follow each other, and uses the results of the others.
    fn run_beside(
        &mut self,
        tasks: &Tasks,
        timing: TimingUse,
    ) -> Result<Vec<WorkloadTiming>, Stop> {
        let trials = &self.subject.workloads;
        let seen = self.all_results(CountsUse::Report, |this, seen| {
            this.in_sequence(|this| {
                this.other_inputs(seen)?;
                this.finish(Task::Domain, tasks).map(drop)
            })
        })?;
        // Not earlier: until here the virtual devices beside a GPU are busy with the prefetched reports.
        self.in_sequence(|this| {
            this.replays(&seen)?;
            this.start_orders(&seen)?;
            this.on_few_multiprocessors()
        })?;
        let costs =
            trials.iter().zip(&seen).map(|(trial, report)| Cost::from_report(trial, report));
        let slowest = costs.fold(Cost::default(), Cost::worse);
        let timings = match timing {
            TimingUse::Measure(protocol) => self.in_sequence(|this| {
                let trials = this.subject.measured.iter().enumerate();
                let each = trials.map(|(index, trial)| {
                    if !this.workers.models_time() {
                        return this.measured(trial, protocol, &seen);
                    }
                    let timing = this.finish(Task::Size(index, protocol), tasks)?;
                    timing.ok_or_else(|| Stop::Broken("a size was not modelled".to_owned()))
                });
                each.collect()
            })?,
            TimingUse::Skip => Vec::new(),
        };
        self.in_sequence(|this| this.finish(Task::LargeIndices, tasks).map(drop))?;
        self.all_held_out(slowest)?;
        Ok(timings)
    }

    /// Screens a candidate: one input set of each workload, and a short timing. Its modules must be loaded. A first
    /// execution slower than the time in `abandon` ends the timing of that workload.
    ///
    /// # Errors
    /// The first failure, or why the candidate cannot be judged.
    pub fn screen(
        mut self,
        timing: TimingUse,
        abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Screened, Stop> {
        self.all_results(CountsUse::Drop, |_, _| Ok(()))?;
        let timings = match timing {
            TimingUse::Measure(protocol) => self.in_sequence(|this| {
                let trials = this.subject.measured.iter();
                let each = trials.map(|trial| {
                    let abandon_above = abandon.get(&trial.case.workload).copied();
                    this.screening_timing(trial, ScreeningLimits { protocol, abandon_above })
                });
                each.collect()
            })?,
            TimingUse::Skip => Vec::new(),
        };
        let trial = self.subject.measured.first().or(self.subject.workloads.first());
        let code = trial.map(|trial| trial.code).unwrap_or_default();
        Ok(Screened { checks: self.checks, timings, code })
    }

    fn load(&mut self) -> Result<(), Stop> {
        self.timed(Step::Load, None, |this| {
            open(this.workers, this.subject, &this.subject.candidate, this.cancellation)
        })
    }

    /// Checks the declared inputs of every workload, then calls `then` with the reports, while virtual devices beside a
    /// GPU may still check some of the inputs.
    fn all_results(
        &mut self,
        counts: CountsUse,
        then: impl FnOnce(&mut Self, &[RunReport]) -> Result<(), Stop>,
    ) -> Result<Vec<RunReport>, Stop> {
        let memory = BufferPlacement::Fresh(Placement::Left);
        let attempts = self.subject.workloads.iter().map(|trial| {
            let declared = InputMode::Distribution(Distribution::AsDeclared);
            let recipe = self.recipe(&trial.case, declared, "a");
            Some(Attempt { trial, recipe, step: Step::Results, memory })
        });
        let mut attempts: Vec<Option<Attempt<'_>>> = attempts.collect();
        let declared = attempts.len();
        if counts == CountsUse::Report {
            attempts.push(self.additional_attempt());
        }
        self.with_prefetched_reports(&attempts, (Scrutiny::Full, counts), |this, ahead| {
            let declared_inputs = || attempts.iter().take(declared).flatten();
            declared_inputs().try_for_each(|attempt| this.check_reference_as_written(attempt))?;
            let seen: Vec<RunReport> = this.in_sequence(|this| {
                let each = declared_inputs().enumerate();
                each.map(|(index, attempt)| this.results(attempt, || ahead.take(index))).collect()
            })?;
            then(this, &seen)?;
            if let Some(Some(another)) = attempts.get(declared) {
                this.accept_checker_report(another, || ahead.take(declared))?;
            }
            Ok(seen)
        })
    }

    /// Step by step: the declared inputs, every check, all outputs right.
    fn results(
        &mut self,
        attempt: &Attempt<'_>,
        beside: impl FnOnce() -> Option<Result<RunReport, DeviceWorkerError>>,
    ) -> Result<RunReport, Stop> {
        let (name, recipe) = (attempt.trial.case.workload.as_str(), attempt.recipe);
        self.timed(Step::Results, Some(name), |this| {
            let beside = this.accept_checker_report(attempt, beside)?;
            let mut report = this.run_and_judge(attempt, Scrutiny::Full)?;
            if let Some(beside) = beside {
                report.warp_instructions = report.warp_instructions.or(beside.warp_instructions);
                report.counted = beside.counted;
                report.stale_reads = beside.stale_reads;
            }
            this.checks.workloads.push(WorkloadRun {
                workload: name.to_owned(),
                seed: recipe.seed,
                runs: 1,
                warp_instructions: report.warp_instructions,
            });
            Ok(report)
        })
    }

    /// Accepts the report of a virtual device beside a GPU, if there is one. A rehearsal does not wait for it.
    fn accept_checker_report(
        &mut self,
        attempt: &Attempt<'_>,
        report: impl FnOnce() -> Option<Result<RunReport, DeviceWorkerError>>,
    ) -> Result<Option<RunReport>, Stop> {
        if self.workers.is_rehearsal() {
            return Ok(None);
        }
        match report() {
            // The GPU runs the candidate; the checks that need the virtual device are reported as not done.
            Some(Err(DeviceWorkerError::Failed(SessionFailure::NotSupported(reason)))) => {
                let unchecked = format!("the checks of a virtual device: {reason}");
                self.checks.add_not_checked(&unchecked);
                Ok(None)
            }
            report => report
                .map(|report| self.accept_report(attempt, report, ObservedOn::Beside))
                .transpose(),
        }
    }

    /// Runs and judges.
    fn run_and_judge(
        &mut self,
        attempt: &Attempt<'_>,
        scrutiny: Scrutiny,
    ) -> Result<RunReport, Stop> {
        let report = self.launch(attempt, scrutiny)?;
        let judged = self.judge(attempt)?;
        self.accept(attempt, judged, None)?;
        Ok(report)
    }

    /// Runs and judges in a module that gave correct results before, so that a wrong result depends on state. `before`
    /// is the digest of what the previous run left in the output buffers.
    fn run_and_judge_again(
        &mut self,
        attempt: &Attempt<'_>,
        scrutiny: Scrutiny,
        before: Option<&str>,
    ) -> Result<RunReport, Stop> {
        let report = self.launch(attempt, scrutiny)?;
        let judged = self.judge(attempt)?;
        let kind = match before {
            Some(before) if before == report.digest => WrongKind::Stale,
            Some(_) | None => WrongKind::StateDependent,
        };
        self.accept(attempt, judged, Some(kind))?;
        Ok(report)
    }

    /// Runs on the device itself.
    fn launch(&mut self, attempt: &Attempt<'_>, scrutiny: Scrutiny) -> Result<RunReport, Stop> {
        let order = attempt.run_request(scrutiny, CountsUse::Drop);
        let limit = self.limit(attempt.trial);
        let report = self.workers.run(order.clone(), limit, self.cancellation);
        let report = self.accept_report(attempt, report, ObservedOn::Device);
        let report = report.map_err(|stop| self.with_hang_location(stop, attempt, order))?;
        self.checks.digests.push(report.digest.clone());
        Ok(report)
    }

    /// Accepts a report if it has no faults and all buffers that must be zero are; outputs are judged later.
    fn accept_report(
        &mut self,
        attempt: &Attempt<'_>,
        report: Result<RunReport, DeviceWorkerError>,
        seer: ObservedOn,
    ) -> Result<RunReport, Stop> {
        let name = Some(attempt.trial.case.workload.as_str());
        let report = report.map_err(|error| stop_from_worker_error(error, attempt.step, name))?;
        for unchecked in &report.not_checked {
            let looked_at = seer == ObservedOn::Device && self.workers.has_checker();
            if !looked_at {
                self.checks.add_not_checked(unchecked);
            }
        }
        let accepted = report.accepted.values().sum();
        self.checks.accepted_races = self.checks.accepted_races.max(accepted);
        if let Some(first) = report.suspicions.first() {
            self.suspicion = Some((attempt.trial.case.workload.clone(), first.clone()));
        }
        if report.accepted.contains_key(&UNFENCED_COPY_RULE) {
            self.checks.add_note(UNFENCED_COPY);
        }
        if !report.faults.is_empty() {
            return Err(self.faulted(attempt, report.faults, report.printed));
        }
        self.require_left_zero(attempt, &report.left_dirty)?;
        Ok(report)
    }

    /// A fault, with places in the kernel file.
    fn faulted(
        &self,
        attempt: &Attempt<'_>,
        mut faults: Vec<FaultReport>,
        printed: String,
    ) -> Stop {
        let trial = attempt.trial;
        let origins = self.subject.origins(trial);
        for fault in &mut faults {
            fault.name_inputs(&trial.case);
            if let Some(origins) = origins {
                fault.settle(origins);
            }
        }
        let (workload, recipe, step) = (trial.case.workload.clone(), attempt.recipe, attempt.step);
        Failure::Fault(Box::new(Fault { workload, recipe, step, faults, printed })).into()
    }

    fn require_left_zero(&self, attempt: &Attempt<'_>, dirty: &[String]) -> Result<(), Stop> {
        if dirty.is_empty() {
            return Ok(());
        }
        let details = format!("`{}` is not left zero, as `zero_once` promises", dirty.join(", "));
        Err(self.wrong(attempt, WrongKind::StateDependent, Vec::new(), Some(details)))
    }

    fn judge(&mut self, attempt: &Attempt<'_>) -> Result<JudgeReport, Stop> {
        self.judge_part(attempt, GridPart::Whole)
    }

    fn judge_part(&mut self, attempt: &Attempt<'_>, part: GridPart) -> Result<JudgeReport, Stop> {
        let order = attempt.judge_request(part);
        let judged = self.workers.judge(order, REFERENCE_LIMIT, self.cancellation);
        judged.map_err(|error| {
            stop_from_reference_error(error, attempt.step, &attempt.trial.case.workload)
        })
    }

    /// Records the comparison of all outputs and fails if one is wrong; `instead` is the kind of failure if the cause
    /// is known.
    fn accept(
        &mut self,
        attempt: &Attempt<'_>,
        judged: JudgeReport,
        instead: Option<WrongKind>,
    ) -> Result<(), Stop> {
        let mut outputs = Vec::new();
        for comparison in judged.comparisons {
            self.checks.worst_error = self.checks.worst_error.max(comparison.worst_fraction);
            let name = &attempt.trial.case.tensors[comparison.tensor].name;
            outputs.extend(comparison.wrong.map(|wrong| (name.clone(), wrong)));
        }
        let Some((_, first)) = outputs.first() else { return Ok(()) };
        let kind = match instead {
            // Unwritten elements are reported as such, whatever ran before.
            Some(_) if first.kind == WrongKind::Unwritten => WrongKind::Unwritten,
            Some(kind) => kind,
            None => first.kind,
        };
        Err(self.wrong(attempt, kind, outputs, None))
    }

    /// What was suspicious on the workload that has a wrong result, with its place.
    fn likely_cause(&self, attempt: &Attempt<'_>) -> Option<String> {
        let trial = attempt.trial;
        let (_, SuspicionReport { place, text }) =
            self.suspicion.as_ref().filter(|(workload, _)| *workload == trial.case.workload)?;
        let mut place = place.clone();
        if let Some(origins) = self.subject.origins(trial) {
            origins.settle(&mut place);
        }
        let at = match &place.source {
            Some((file, line, _)) => format!("{file}, line {line}"),
            None => format!("line {} of the PTX", place.ptx.0),
        };
        Some(format!("{at}: {text}"))
    }

    fn wrong(
        &self,
        attempt: &Attempt<'_>,
        kind: WrongKind,
        outputs: Vec<(String, lightbench_tensors::compare::OutputError)>,
        details: Option<String>,
    ) -> Stop {
        let workload = attempt.trial.case.workload.clone();
        let (recipe, step) = (attempt.recipe, attempt.step);
        let likely_cause = self.likely_cause(attempt);
        let wrong = Wrong::Seen { kind, workload, recipe, step, outputs, details, likely_cause };
        Failure::Wrong(Box::new(wrong)).into()
    }

    /// The inputs of a workload: all seeds are derived from one, and none can be computed from another.
    fn recipe(&self, case: &Case, draw: InputMode, which: &str) -> InputSpec {
        InputSpec { seed: self.input_seed(case, which), draw }
    }

    fn input_seed(&self, case: &Case, which: &str) -> u64 {
        input_seed(self.seed, &case.workload, which)
    }

    /// The time limit of one run. All of its launches share it.
    fn limit(&self, trial: &CompiledWorkload) -> Duration {
        let launches = Duration::from_secs(self.subject.limits.launch_secs);
        let bytes = trial.case.bytes();
        let beside = Duration::from_secs(bytes / BYTES_A_SECOND) + BESIDE_LAUNCHES;
        let compared = bytes.min(MOST_CHANGED_BYTES).saturating_mul(trial.candidate.launches());
        let compared = Duration::from_secs(compared / COMPARED_A_SECOND);
        launches.saturating_add(beside).saturating_add(compared)
    }

    fn count_run(&mut self, trial: &CompiledWorkload) {
        let runs = self.checks.workloads.iter_mut();
        for run in runs.filter(|run| run.workload == trial.case.workload) {
            run.runs += 1;
        }
    }

    fn timed<T>(
        &mut self,
        step: Step,
        workload: Option<&str>,
        work: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        if self.cancellation.is_cancelled() {
            return Err(NotJudged::Cancelled.into());
        }
        (self.watcher)(step, workload);
        let started = Instant::now();
        let done = work(self);
        if step != Step::HeldOut {
            self.checks.add_cost(step, started.elapsed());
        }
        done
    }
}

/// Opens the device workers with the modules of one or several candidates and with the reference of `subject`.
///
/// # Errors
/// A device is missing, or cannot load a module.
pub fn open(
    workers: &mut DeviceWorkers,
    subject: &CompiledCandidate,
    modules: &[ModuleImage],
    cancellation: &Cancellation,
) -> Result<(), Stop> {
    let (reference, trusted) = (&subject.reference, subject.harness_kernels.as_ref());
    let steps = subject.limits.virtual_steps;
    let opened = workers.open(modules, reference, trusted, steps, cancellation);
    opened.map_err(|error| stop_from_worker_error(error, Step::Load, None))
}

/// The seed of some inputs of a workload.
pub fn input_seed(seed: u64, workload: &str, which: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(workload.as_bytes());
    hasher.update(&[0]);
    hasher.update(which.as_bytes());
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// One run of a candidate.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    trial: &'a CompiledWorkload,
    recipe: InputSpec,
    step: Step,
    memory: BufferPlacement,
}

impl Attempt<'_> {
    fn run_request(&self, scrutiny: Scrutiny, counts: CountsUse) -> RunRequest {
        RunRequest {
            case: self.trial.case.clone(),
            program: self.trial.candidate.clone(),
            recipe: self.recipe,
            memory: self.memory,
            scrutiny,
            counts,
            outputs: None,
            part: GridPart::Whole,
        }
    }

    fn judge_request(&self, part: GridPart) -> JudgeRequest {
        JudgeRequest {
            case: self.trial.case.clone(),
            reference: self.trial.reference.clone(),
            supplied: Vec::new(),
            recipe: self.recipe,
            outputs: std::path::PathBuf::new(),
            part,
            admission: None,
        }
    }
}

/// The device on which something was observed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ObservedOn {
    /// The device itself.
    Device,
    /// A virtual device beside it.
    Beside,
}
