//! The steps of verification in their order; each one can only find the candidate wrong.

mod ahead;
pub mod counting;
mod domain;
mod far;
mod held_out;
pub mod library;
mod measuring;
mod replay;
mod start_order;
mod still_running;
mod stop;
mod there;
mod timed_size;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use self::held_out::Cost;
use self::measuring::Hurry;
pub use self::stop::{Stop, WorkerLoss};
use lightbench_device::Placement;
use lightbench_primitives::cancellation::Cancellation;
use lightbench_project::launch::expectation::WrongKind;
use lightbench_project::manifest::Distribution;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs;
use lightbench_tensors::inputs::{InputMode, InputSpec, PerturbedInput};
use lightbench_units::Seconds;

use self::stop::{of_judge, stop};
use super::fault_report::FaultReport;
use super::not_judged::NotJudged;
use super::station::{
    CountsUse, GridPart, JudgeOrder, JudgeReport, MemoryOrder, ModuleImage, RunOrder, RunReport,
    Scrutiny, StationFailure,
};
use super::stations::{StationError, Stations};
use super::subject::{Subject, Trial};
use super::verdict::{
    Checks, Failure, Fault, Passed, Screened, Step, TimingUse, WorkloadRun, Wrong,
};

/// What an order may take beside its launches, and for each of these bytes a second more: making inputs, copying.
const BESIDE_LAUNCHES: Duration = Duration::from_secs(5);
const BYTES_A_SECOND: u64 = 16 << 20;

/// What the reference may take: it is trusted, naive, and counts in f64.
const REFERENCE_LIMIT: Duration = Duration::from_secs(600);

/// The longest that one order may take.
const LONGEST: Duration = Duration::from_secs(3600);

/// A workload of so few warp instructions is run with every check on other inputs too: a race may be one of some inputs only.
const MOST_WATCHED: u64 = 1 << 16;

/// The distributions besides the declared one, in the order in which they are tried.
const OTHERS: [Distribution; 4] =
    [Distribution::Scaled, Distribution::Shifted, Distribution::HeavyTail, Distribution::Exact];

/// One verification.
pub struct Verification<'a> {
    /// What is verified.
    pub subject: &'a Subject,
    /// Where it runs.
    pub stations: &'a mut Stations,
    /// What all inputs come from.
    pub seed: u64,
    /// Raised to stop.
    pub cancellation: &'a Cancellation,
    /// Told what begins: the step, and the workload unless it is held out.
    pub watcher: &'a mut dyn FnMut(Step, Option<&str>),
    /// What was done so far.
    pub checks: Checks,
}

impl Verification<'_> {
    /// Every step; times are taken of what is right on all workloads that everybody sees.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn run(mut self, timing: TimingUse) -> Result<Passed, Stop> {
        self.load()?;
        let trials = &self.subject.trials;
        let seen = self.all_results(CountsUse::Tell, |this, seen| {
            for (trial, first) in trials.iter().zip(seen) {
                this.distributions(trial, watched(first))?;
            }
            for trial in trials {
                this.precision(trial)?;
            }
            for ((index, trial), first) in trials.iter().enumerate().zip(seen) {
                let echoes = this.echoes(index, &trial.case);
                this.state(trial, first, &echoes)?;
            }
            this.domain()
        })?;
        // Not before: until then the virtual devices beside a GPU are lent to the looks ahead.
        self.replays(&seen)?;
        self.start_orders(&seen)?;
        let costs = trials.iter().zip(&seen).map(|(trial, report)| Cost::of(trial, report));
        let slowest = costs.fold(Cost::default(), Cost::worse);
        let mut timings = Vec::new();
        if let TimingUse::Measure(protocol) = timing {
            for trial in &self.subject.measured {
                timings.push(self.measured(trial, protocol, &seen)?);
            }
        }
        self.far()?;
        self.all_held_out(slowest)?;
        Ok(Passed { checks: self.checks, timings })
    }

    /// One input set of each workload, and a quick look at times: enough to drop a candidate. Its modules are loaded; a
    /// first execution beyond what `abandon` names for a workload ends the look at it.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn screen(
        mut self,
        timing: TimingUse,
        abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Screened, Stop> {
        self.all_results(CountsUse::Drop, |_, _| Ok(()))?;
        let mut timings = Vec::new();
        if let TimingUse::Measure(protocol) = timing {
            for trial in &self.subject.measured {
                let abandon_above = abandon.get(&trial.case.workload).copied();
                timings.push(self.glanced(trial, Hurry { protocol, abandon_above })?);
            }
        }
        let trial = self.subject.measured.first().or(self.subject.trials.first());
        let code = trial.map(|trial| trial.code).unwrap_or_default();
        Ok(Screened { checks: self.checks, timings, code })
    }

    fn load(&mut self) -> Result<(), Stop> {
        self.timed(Step::Load, None, |this| {
            open(this.stations, this.subject, &this.subject.candidate, this.cancellation)
        })
    }

    /// The declared inputs of every workload, then whatever else uses what was seen of them, while virtual devices
    /// beside a GPU may still look at some of them.
    fn all_results(
        &mut self,
        counts: CountsUse,
        then: impl FnOnce(&mut Self, &[RunReport]) -> Result<(), Stop>,
    ) -> Result<Vec<RunReport>, Stop> {
        let memory = MemoryOrder::Fresh(Placement::Left);
        let attempts = self.subject.trials.iter().map(|trial| {
            let declared = InputMode::Distribution(Distribution::AsDeclared);
            let recipe = self.recipe(&trial.case, declared, "a");
            Some(Attempt { trial, recipe, step: Step::Results, memory })
        });
        let mut attempts: Vec<Option<Attempt<'_>>> = attempts.collect();
        let declared = attempts.len();
        if counts == CountsUse::Tell {
            attempts.push(self.another_look());
        }
        self.ahead(&attempts, (Scrutiny::Full, counts), |this, ahead| {
            let mut seen = Vec::new();
            for (index, attempt) in attempts.iter().take(declared).flatten().enumerate() {
                seen.push(this.results(attempt, || ahead.take(index))?);
            }
            then(this, &seen)?;
            if let Some(Some(another)) = attempts.get(declared) {
                this.seen_beside(another, ahead.take(declared))?;
            }
            Ok(seen)
        })
    }

    /// Step by step: the declared inputs, every check, all outputs right.
    fn results(
        &mut self,
        attempt: &Attempt<'_>,
        beside: impl FnOnce() -> Option<Result<RunReport, StationError>>,
    ) -> Result<RunReport, Stop> {
        let (name, recipe) = (attempt.trial.case.workload.as_str(), attempt.recipe);
        self.timed(Step::Results, Some(name), |this| {
            let beside = this.seen_beside(attempt, beside())?;
            let mut report = this.right(attempt, Scrutiny::Full)?;
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

    /// Inputs of other sizes and shapes than those declared.
    fn distributions(&mut self, trial: &Trial, scrutiny: Scrutiny) -> Result<(), Stop> {
        for distribution in OTHERS {
            let allows = trial.case.tensors.iter();
            if !allows.clone().any(|tensor| tensor.distributions.contains(&distribution)) {
                continue;
            }
            self.timed(Step::Distributions, Some(&trial.case.workload), |this| {
                let recipe = this.recipe(&trial.case, InputMode::Distribution(distribution), "d");
                let memory = MemoryOrder::Fresh(Placement::Right);
                let attempt = Attempt { trial, recipe, step: Step::Distributions, memory };
                this.right(&attempt, scrutiny).map(drop)
            })?;
            self.count_run(trial);
        }
        Ok(())
    }

    /// Inputs on which every honest order of operations is exact, where there are such.
    fn precision(&mut self, trial: &Trial) -> Result<(), Stop> {
        if !trial.adds_and_multiplies {
            return Ok(());
        }
        self.timed(Step::PrecisionProbe, Some(&trial.case.workload), |this| {
            let recipe = this.recipe(&trial.case, InputMode::PrecisionProbe, "p");
            let memory = MemoryOrder::Fresh(Placement::Left);
            let attempt = Attempt { trial, recipe, step: Step::PrecisionProbe, memory };
            this.launch(&attempt, Scrutiny::Memory)?;
            let judged = this.judge(&attempt)?;
            this.checks.precision_probed += usize::from(judged.exact);
            this.accept(&attempt, judged, None)
        })?;
        self.count_run(trial);
        Ok(())
    }

    /// Inputs that are hardly other than those of one workload. Each way to change a tensor comes twice, dealt to the
    /// workloads from where the seed says, and each workload has at least one.
    fn echoes(&self, workload: usize, case: &Case) -> Vec<PerturbedInput> {
        let ways = inputs::changes(case).len();
        if ways == 0 {
            return Vec::new();
        }
        let workloads = self.subject.trials.len();
        let links = workloads.max(2 * ways);
        let (start, end) = (links * workload / workloads, links * (workload + 1) / workloads);
        let first = start + (self.seed % (2 * ways as u64)) as usize;
        let seed = self.input_seed(case, "echo");
        (1..=end - start).map(|links| PerturbedInput { seed, first, links }).collect()
    }

    /// Inputs A again elsewhere, then some that are hardly other and B where A lay, then A at addresses that are aligned to
    /// nothing more than was promised, in an unusual order of threads.
    fn state(
        &mut self,
        trial: &Trial,
        first: &RunReport,
        echoes: &[PerturbedInput],
    ) -> Result<(), Stop> {
        let name = trial.case.workload.as_str();
        let declared = InputMode::Distribution(Distribution::AsDeclared);
        let (a, b) =
            (self.recipe(&trial.case, declared, "a"), self.recipe(&trial.case, declared, "b"));
        self.timed(Step::StateProbe, Some(name), |this| {
            let step = Step::StateProbe;
            let elsewhere = MemoryOrder::Fresh(Placement::Right);
            let again = Attempt { trial, recipe: a, step, memory: elsewhere };
            let second = this.right_in_state(&again, Scrutiny::Memory, None)?;
            this.checks.deterministic &= second.digest == first.digest;
            for echo in echoes {
                let recipe = InputSpec { seed: a.seed, draw: InputMode::Perturbed(*echo) };
                // A kernel may look at what the run before left, and so recognise its results.
                let memory = MemoryOrder::AsLeft;
                let nearly = Attempt { trial, recipe, step, memory };
                this.right_in_state(&nearly, Scrutiny::Memory, Some(&second.digest))?;
            }
            let other = Attempt { trial, recipe: b, step, memory: MemoryOrder::Same };
            this.right_in_state(&other, watched(first), Some(&second.digest)).map(drop)
        })?;
        self.timed(Step::Determinism, Some(name), |this| {
            let step = Step::Determinism;
            let memory = MemoryOrder::Fresh(Placement::OddMultiple);
            let attempt = Attempt { trial, recipe: a, step, memory };
            let scrutiny = Scrutiny::Shuffled { seed: this.seed };
            let third = this.right_in_state(&attempt, scrutiny, None)?;
            this.checks.deterministic &= third.digest == first.digest;
            Ok(())
        })?;
        for _ in 0..3 + echoes.len() {
            self.count_run(trial);
        }
        Ok(())
    }

    /// What a virtual device beside a GPU saw, where one looked.
    fn seen_beside(
        &mut self,
        attempt: &Attempt<'_>,
        report: Option<Result<RunReport, StationError>>,
    ) -> Result<Option<RunReport>, Stop> {
        match report {
            // The GPU runs the candidate; what only the virtual device beside it would see, nobody looks for.
            Some(Err(StationError::Failed(StationFailure::NotSupported(reason)))) => {
                let unchecked = format!("what a virtual device sees: {reason}");
                if !self.checks.not_checked.contains(&unchecked) {
                    self.checks.not_checked.push(unchecked);
                }
                Ok(None)
            }
            report => report.map(|report| self.looked(attempt, report, Seer::Beside)).transpose(),
        }
    }

    /// Runs and judges.
    fn right(&mut self, attempt: &Attempt<'_>, scrutiny: Scrutiny) -> Result<RunReport, Stop> {
        let report = self.launch(attempt, scrutiny)?;
        let judged = self.judge(attempt)?;
        self.accept(attempt, judged, None)?;
        Ok(report)
    }

    /// Runs and judges in a module that ran before: what is wrong now was right then. `before` is what the run before left
    /// where this one's outputs are.
    fn right_in_state(
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
        let order = attempt.order(scrutiny, CountsUse::Drop);
        let limit = self.limit(attempt.trial);
        let report = self.stations.run(order.clone(), limit, self.cancellation);
        let report = self.looked(attempt, report, Seer::Device);
        let report = report.map_err(|stop| self.with_place(stop, attempt, order))?;
        self.checks.digests.push(report.digest.clone());
        Ok(report)
    }

    /// What a run shows by itself, before anybody looks at results.
    fn looked(
        &mut self,
        attempt: &Attempt<'_>,
        report: Result<RunReport, StationError>,
        seer: Seer,
    ) -> Result<RunReport, Stop> {
        let name = Some(attempt.trial.case.workload.as_str());
        let report = report.map_err(|error| stop(error, attempt.step, name))?;
        for unchecked in &report.not_checked {
            let looked_at = seer == Seer::Device && self.stations.has_checker();
            if !looked_at && !self.checks.not_checked.contains(unchecked) {
                self.checks.not_checked.push(unchecked.clone());
            }
        }
        self.checks.accepted_races = self.checks.accepted_races.max(report.accepted);
        if !report.faults.is_empty() {
            return Err(self.faulted(attempt, report.faults, report.printed));
        }
        self.left_zero(attempt, &report.left_dirty)?;
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

    fn left_zero(&self, attempt: &Attempt<'_>, dirty: &[String]) -> Result<(), Stop> {
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
        let order = attempt.judge_order(part);
        let judged = self.stations.judge(order, REFERENCE_LIMIT, self.cancellation);
        judged.map_err(|error| of_judge(error, attempt.step, &attempt.trial.case.workload))
    }

    /// What the outputs are found to be; `instead` is the kind of a wrong result whose cause is known.
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
            // What was never written is that, whatever ran before.
            Some(_) if first.kind == WrongKind::Unwritten => WrongKind::Unwritten,
            Some(kind) => kind,
            None => first.kind,
        };
        Err(self.wrong(attempt, kind, outputs, None))
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
        let wrong = Wrong::Seen { kind, workload, recipe, step, outputs, details };
        Failure::Wrong(Box::new(wrong)).into()
    }

    /// The inputs of a workload: all seeds come from one, and none tells another.
    fn recipe(&self, case: &Case, draw: InputMode, which: &str) -> InputSpec {
        InputSpec { seed: self.input_seed(case, which), draw }
    }

    fn input_seed(&self, case: &Case, which: &str) -> u64 {
        input_seed(self.seed, &case.workload, which)
    }

    /// What one run may take. All of its launches share one limit, however many they are.
    fn limit(&self, trial: &Trial) -> Duration {
        let launches = Duration::from_secs(self.subject.limits.launch_secs);
        let beside = Duration::from_secs(trial.case.bytes() / BYTES_A_SECOND) + BESIDE_LAUNCHES;
        launches.saturating_add(beside)
    }

    fn count_run(&mut self, trial: &Trial) {
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

/// Opens the stations with the modules of one candidate or of several, beside the reference of this subject.
///
/// # Errors
/// A device is not there, or does not take a module.
pub fn open(
    stations: &mut Stations,
    subject: &Subject,
    modules: &[ModuleImage],
    cancellation: &Cancellation,
) -> Result<(), Stop> {
    let (reference, trusted) = (&subject.reference, subject.trusted.as_ref());
    let steps = subject.limits.virtual_steps;
    let opened = stations.open(modules, reference, trusted, steps, cancellation);
    opened.map_err(|error| stop(error, Step::Load, None))
}

/// What some inputs of a workload come from.
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

/// What is looked for on other inputs of a workload that was run with every check.
fn watched(first: &RunReport) -> Scrutiny {
    match first.warp_instructions {
        Some(count) if count <= MOST_WATCHED => Scrutiny::Full,
        Some(_) | None => Scrutiny::Memory,
    }
}

/// One run of a candidate.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    trial: &'a Trial,
    recipe: InputSpec,
    step: Step,
    memory: MemoryOrder,
}

impl Attempt<'_> {
    fn order(&self, scrutiny: Scrutiny, counts: CountsUse) -> RunOrder {
        RunOrder {
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

    fn judge_order(&self, part: GridPart) -> JudgeOrder {
        JudgeOrder {
            case: self.trial.case.clone(),
            program: self.trial.reference.clone(),
            recipe: self.recipe,
            outputs: std::path::PathBuf::new(),
            part,
            admission: None,
        }
    }
}

/// Who saw a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seer {
    /// The device itself.
    Device,
    /// A virtual one beside it.
    Beside,
}
