//! The verdict on a candidate. Only a candidate that passed has times.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use lightbench_compile::facts::{FactsError, LaunchFacts};
use lightbench_measure::{Energy, EnergyError, Protocol, Timing};
use lightbench_project::launch::expectation::{Expectation, RefusalKind, WrongKind};
use lightbench_speed_of_light::achieved::Achieved;
use lightbench_speed_of_light::advice::Advice;
use lightbench_speed_of_light::bound::Bound;
use lightbench_speed_of_light::bound_comparison::{BoundComparison, NoBoundComparison};
use lightbench_speed_of_light::code_mix::CodeMix;
use lightbench_speed_of_light::fact::Fact;
use lightbench_speed_of_light::limiter::Limiter;
use lightbench_speed_of_light::performance_data::Profile;
use lightbench_tensors::compare::OutputError;
use lightbench_tensors::inputs::InputSpec;
use lightbench_units::Seconds;
use serde::{Deserialize, Serialize};

use super::baseline::BaselineTiming;
use super::evidence::Found;
use super::fault_report::FaultReport;
use super::not_judged::NotPassed;
use super::reference_source::ReferenceTooLarge;

/// The verdict on a candidate: it passed, it failed, or it was not judged.
pub type Verdict = Result<Passed, NotPassed>;

/// A candidate that passed every check that its device can run. Only verification constructs it.
#[derive(Clone, Debug)]
pub struct Passed {
    /// The checks that were done, and those that were not.
    pub checks: Checks,
    /// How long it takes.
    pub timings: Vec<WorkloadTiming>,
}

impl Passed {
    /// Timed workloads whose results were not judged, with the reasons: their times are modelled, or they have none.
    pub fn not_checked_sizes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.timings.iter().filter_map(|timing| match &timing.check {
            SizeCheck::NotChecked(reason) => Some((timing.workload.as_str(), reason.as_str())),
            SizeCheck::Whole | SizeCheck::Sampled { .. } => None,
        })
    }

    /// Timed workloads of which only sampled blocks were judged.
    pub fn sampled_sizes(&self) -> impl Iterator<Item = &str> {
        let sampled = |timing: &&WorkloadTiming| matches!(timing.check, SizeCheck::Sampled { .. });
        self.timings.iter().filter(sampled).map(|timing| timing.workload.as_str())
    }
}

/// How long a candidate takes on one workload.
#[derive(Clone, Debug)]
pub struct WorkloadTiming {
    /// Its name.
    pub workload: String,
    /// One for each state of the caches that was tried.
    pub timings: Vec<Timing>,
    /// Why no time is reported.
    pub withheld: Option<String>,
    /// How the results were checked at this size.
    pub check: SizeCheck,
    /// What a virtual device counted, or why none did.
    pub profile: Result<Profile, Uncounted>,
    /// The energy of one execution, or why it cannot be measured; none where it was not requested.
    pub energy: Option<Result<Energy, EnergyError>>,
    /// Comparison with the bound; none before it is computed.
    pub standing: Option<WorkloadStanding>,
    /// Times of baselines for the same work.
    pub baselines: Vec<BaselineTiming>,
}

impl WorkloadTiming {
    /// A workload without a time, because its results could not be judged.
    pub(super) fn not_judged(workload: &str, reason: &ReferenceTooLarge) -> Self {
        let reason = reason.to_string();
        Self {
            workload: workload.to_owned(),
            timings: Vec::new(),
            withheld: Some(reason.clone()),
            check: SizeCheck::NotChecked(reason),
            profile: Err(Uncounted::NotJudged),
            energy: None,
            standing: None,
            baselines: Vec::new(),
        }
    }
}

/// How the results of a timed workload were checked at its own size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeCheck {
    /// All outputs of a run at this size were judged.
    Whole,
    /// Sampled blocks ran, and elements that they wrote were judged.
    Sampled {
        /// Blocks that ran.
        blocks: u64,
        /// Blocks of the grid.
        of: u64,
        /// Elements that were judged.
        elements: u64,
    },
    /// Nothing was executed at this size, or nothing of it judged, for this reason.
    NotChecked(String),
}

/// Why nothing was counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Uncounted {
    /// There is no virtual device beside the GPU.
    #[error("no counters: no virtual device ran beside the GPU")]
    NoVirtualDevice,
    /// The results at this size could not be judged.
    #[error("no counters: the results at this size were not judged")]
    NotJudged,
    /// The virtual device does not take the candidate.
    #[error("no counters: the virtual device cannot load the kernel: {0}")]
    Refused(String),
    /// It ran no workload.
    #[error("no counters: no workload is small enough for the virtual device")]
    NothingSmall,
}

/// Comparison of a candidate's time with the bound, for one workload.
#[derive(Clone, Debug)]
pub struct WorkloadStanding {
    /// The time that no correct kernel beats, where there is one.
    pub bound: Option<Bound>,
    /// The achieved rate, where there is a time.
    pub achieved: Option<Achieved>,
    /// The time against it, where there is a time.
    pub standing: Option<Result<BoundComparison, NoBoundComparison>>,
    /// What limits the candidate.
    pub limiter: Limiter,
    /// What to try next.
    pub advice: Advice,
    /// Every number that limiter and advice may rest on, as far as it is known.
    pub facts: BTreeMap<Fact, f64>,
    /// The launch with the most threads, as it was compiled.
    pub launch: Option<LaunchFacts>,
    /// All of it in one sentence.
    pub line: String,
}

/// Whether times are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimingUse {
    /// With this protocol, on every measured workload.
    Measure(Protocol),
    /// Only results are checked.
    Skip,
}

/// A candidate that a search may evaluate further: a part of the checks found no failure.
///
/// It is another type than [`Passed`], so that what was only screened is never a best, a record or an export.
#[derive(Clone, Debug, PartialEq)]
pub struct Screened {
    /// The checks that were done, and those that were not.
    pub checks: Checks,
    /// Screening times. A search reports them only as screening times.
    pub timings: Vec<ScreenedTiming>,
    /// What its code consists of.
    pub code: CodeMix,
}

/// The screening time of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenedTiming {
    /// Its name.
    pub workload: String,
    /// The result.
    pub timing: ScreeningTiming,
}

/// The result of a screening timing.
#[expect(clippy::large_enum_variant, reason = "almost every look sees a time")]
#[derive(Clone, Debug, PartialEq)]
pub enum ScreeningTiming {
    /// A few samples, or a model.
    Taken(Timing),
    /// One execution, which was slower than the limit of the screening.
    Abandoned {
        /// How long it took.
        after: Seconds,
    },
    /// There is no time.
    Withheld {
        /// Why not.
        reason: String,
        /// Lower and upper limit of the modelled time, where the model has them.
        between: Option<(Seconds, Seconds)>,
    },
}

/// The checks that were done, and those that were not.
#[derive(Clone, Debug, PartialEq)]
pub struct Checks {
    /// The workloads that ran, with what they cost.
    pub workloads: Vec<WorkloadRun>,
    /// How many held-out workloads ran.
    pub held_out: usize,
    /// Workloads that did not run, with the reason; held-out ones are not named.
    pub not_run: Vec<NotRun>,
    /// Checks that were not done.
    pub not_checked: Vec<String>,
    /// Behaviour that is accepted and that CUDA does not promise.
    pub notes: Vec<String>,
    /// What the candidate's code shows without running it, refused or not.
    pub evidence: Vec<Found>,
    /// Whether outputs were the same bit for bit in every order of threads.
    pub deterministic: bool,
    /// Accesses that the idiom of CUDA accepts and the memory model does not.
    pub accepted_races: usize,
    /// Workloads on which the precision probe was exact and passed.
    pub precision_probed: usize,
    /// Inputs from the whole domain of tensors and scalars.
    pub domain_inputs: DomainInputs,
    /// The largest error of any output, as a fraction of the tolerance.
    pub worst_error: f64,
    /// A hash of the outputs of each run, in order: candidates with equal hashes computed the same outputs.
    pub digests: Vec<String>,
    /// How long each step took, in all processes.
    pub costs: Vec<(Step, Duration)>,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            workloads: Vec::new(),
            held_out: 0,
            not_run: Vec::new(),
            not_checked: Vec::new(),
            notes: Vec::new(),
            evidence: Vec::new(),
            deterministic: true,
            accepted_races: 0,
            precision_probed: 0,
            domain_inputs: DomainInputs::default(),
            worst_error: 0.0,
            digests: Vec::new(),
            costs: Vec::new(),
        }
    }
}

impl Checks {
    /// Adds to what a step took.
    pub(super) fn add_cost(&mut self, step: Step, took: Duration) {
        match self.costs.iter_mut().find(|(known, _)| *known == step) {
            Some((_, sum)) => *sum += took,
            None => self.costs.push((step, took)),
        }
    }

    /// Adds the checks of a part of the verification.
    pub(super) fn add(&mut self, part: Self) {
        for run in part.workloads {
            let known = self.workloads.iter_mut().find(|known| known.workload == run.workload);
            match known {
                Some(known) => known.runs += run.runs,
                None => self.workloads.push(run),
            }
        }
        self.held_out += part.held_out;
        self.not_run.extend(part.not_run);
        part.not_checked.iter().for_each(|what| self.add_not_checked(what));
        part.notes.iter().for_each(|note| self.add_note(note));
        self.evidence.extend(part.evidence);
        self.deterministic &= part.deterministic;
        self.accepted_races = self.accepted_races.max(part.accepted_races);
        self.precision_probed += part.precision_probed;
        self.domain_inputs.passed += part.domain_inputs.passed;
        self.domain_inputs.inadmissible += part.domain_inputs.inadmissible;
        self.worst_error = self.worst_error.max(part.worst_error);
        self.digests.extend(part.digests);
        part.costs.into_iter().for_each(|(step, took)| self.add_cost(step, took));
    }

    /// Names a check that was not done, once.
    pub(super) fn add_not_checked(&mut self, what: &str) {
        add_once(&mut self.not_checked, what);
    }

    /// Names behaviour that CUDA does not promise, once.
    pub(super) fn add_note(&mut self, note: &str) {
        add_once(&mut self.notes, note);
    }
}

fn add_once(texts: &mut Vec<String>, text: &str) {
    if !texts.iter().any(|known| known == text) {
        texts.push(text.to_owned());
    }
}

/// How many inputs from the whole domain of tensors and scalars were used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainInputs {
    /// Inputs on which the candidate's results are correct.
    pub passed: usize,
    /// Inputs that were not used, because the reference and its f32 twin differ by more than half of the tolerance, or
    /// because a result is not finite.
    pub inadmissible: usize,
}

/// One workload that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadRun {
    /// Its name.
    pub workload: String,
    /// The seed that all of its inputs come from.
    pub seed: u64,
    /// How often the candidate ran on it.
    pub runs: usize,
    /// Warp instructions of one run, where the device counts them.
    pub warp_instructions: Option<u64>,
}

/// A workload that did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRun {
    /// Its name; none for a held-out one.
    pub workload: Option<String>,
    /// Why not.
    pub reason: String,
}

/// The steps of verification, as they are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Compilation of the source to machine code.
    Compile,
    /// Static evidence found in the code.
    StaticEvidence,
    /// Loading of modules on devices.
    Load,
    /// Results of the declared inputs, with every check.
    Results,
    /// The other distributions of inputs.
    Distributions,
    /// Exact arithmetic where a lower precision shows.
    PrecisionProbe,
    /// State that a kernel keeps from one launch to the next.
    StateProbe,
    /// The same bits in every order of threads.
    Determinism,
    /// Timing, with the outputs of a timed launch judged.
    Measure,
    /// Held-out workloads.
    HeldOut,
    /// Hardware counters, by a profiler.
    Profile,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Compile => "compile",
            Self::StaticEvidence => "static evidence",
            Self::Load => "load",
            Self::Results => "results",
            Self::Distributions => "other inputs",
            Self::PrecisionProbe => "precision probe",
            Self::StateProbe => "state probe",
            Self::Determinism => "determinism",
            Self::Measure => "measure",
            Self::HeldOut => "held-out workloads",
            Self::Profile => "profile",
        })
    }
}

/// Why a candidate did not pass: what was observed.
#[derive(Debug)]
pub enum Failure {
    /// It does not compile.
    Compile(Box<FactsError>),
    /// It is not run at all.
    Refused(Refused),
    /// It did something wrong while it ran.
    Fault(Box<Fault>),
    /// Its results are wrong.
    Wrong(Box<Wrong>),
    /// It was stopped.
    TimedOut {
        /// In which step.
        step: Step,
        /// The workload, unless it is held out.
        workload: Option<String>,
        /// After how long.
        limit: Duration,
        /// Where it still was after many steps, if a virtual device found the place.
        at: Option<Box<FaultReport>>,
    },
}

/// Why a candidate is not run at all.
#[derive(Debug)]
pub enum Refused {
    /// It includes a file that is not permitted, or its parameters do not match the arguments.
    Build(Box<FactsError>),
    /// Its code does what the policy refuses.
    Evidence(Vec<Found>),
    /// A launch that the compiled kernel or the device does not permit.
    Launch {
        /// The workload.
        workload: String,
        /// Everything that is not permitted.
        problems: Vec<String>,
    },
    /// The device cannot load its code.
    Load(String),
    /// It needs more memory than the device has, or than the project allows.
    Memory(String),
    /// This flag replaces subnormal numbers by zeros, and the definition keeps them.
    Subnormals(&'static str),
}

/// A fault, with what led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The workload.
    pub workload: String,
    /// The inputs.
    pub recipe: InputSpec,
    /// In which step it was seen.
    pub step: Step,
    /// What was seen, the first first.
    pub faults: Vec<FaultReport>,
    /// What the kernel printed, the beginning.
    pub printed: String,
}

/// Wrong results, with what led to them.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    /// A visible workload.
    Seen {
        /// In which way.
        kind: WrongKind,
        /// The workload.
        workload: String,
        /// The inputs.
        recipe: InputSpec,
        /// In which step it was seen.
        step: Step,
        /// The outputs that are wrong, by name.
        outputs: Vec<(String, OutputError)>,
        /// What is wrong, where the outputs alone do not say.
        details: Option<String>,
        /// What a check of the run made suspicious, with its place.
        likely_cause: Option<String>,
    },
    /// One of the held-out workloads; nothing else is reported.
    HeldOut,
}

impl Failure {
    /// The word for it in reports for programs.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Compile(_) => "compile",
            Self::Refused(_) => "refused",
            Self::Fault(_) => "fault",
            Self::Wrong(_) => "wrong",
            Self::TimedOut { .. } => "timed_out",
        }
    }
}

impl Failure {
    /// Whether it is the failure that a kernel under `wrong/` must produce.
    #[must_use]
    pub fn is_expected(&self, expectation: Expectation) -> bool {
        match (expectation, self) {
            (Expectation::Compile, Self::Compile(_))
            | (Expectation::TimedOut, Self::TimedOut { .. })
            | (Expectation::Refused(None), Self::Refused(_))
            | (Expectation::Fault(None), Self::Fault(_))
            | (Expectation::Wrong(None), Self::Wrong(_)) => true,
            (Expectation::Refused(Some(kind)), Self::Refused(refused)) => refused.is_of_kind(kind),
            (Expectation::Fault(Some(kind)), Self::Fault(fault)) => {
                fault.faults.iter().any(|fault| fault.kind == kind)
            }
            (Expectation::Wrong(Some(expected)), Self::Wrong(wrong)) => match wrong.as_ref() {
                Wrong::Seen { kind, .. } => *kind == expected,
                // The kind of failure is not reported.
                Wrong::HeldOut => true,
            },
            (
                Expectation::Compile
                | Expectation::TimedOut
                | Expectation::Refused(_)
                | Expectation::Fault(_)
                | Expectation::Wrong(_),
                _,
            ) => false,
        }
    }
}

impl Refused {
    fn is_of_kind(&self, kind: RefusalKind) -> bool {
        match (kind, self) {
            (RefusalKind::Arguments, Self::Build(error)) => {
                matches!(**error, FactsError::Arguments { .. })
            }
            (RefusalKind::Include, Self::Build(error)) => {
                matches!(**error, FactsError::Include(_))
            }
            (RefusalKind::Evidence(evidence), Self::Evidence(found)) => {
                found.iter().any(|found| found.evidence == evidence)
            }
            (RefusalKind::Arguments | RefusalKind::Include | RefusalKind::Evidence(_), _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_of_a_part_are_added() {
        let run = |workload: &str, runs| WorkloadRun {
            workload: workload.to_owned(),
            seed: 7,
            runs,
            warp_instructions: Some(10),
        };
        let seconds = Duration::from_secs;
        let mut all = Checks {
            workloads: vec![run("small", 3), run("odd", 1)],
            not_checked: vec!["races".to_owned()],
            worst_error: 0.5,
            digests: vec!["a".to_owned()],
            costs: vec![(Step::Results, seconds(2))],
            ..Checks::default()
        };
        all.add(Checks {
            workloads: vec![run("odd", 4), run("small", 0)],
            not_checked: vec!["races".to_owned(), "zeros".to_owned()],
            deterministic: false,
            precision_probed: 1,
            domain_inputs: DomainInputs { passed: 5, inadmissible: 2 },
            worst_error: 0.25,
            digests: vec!["b".to_owned()],
            costs: vec![(Step::Distributions, seconds(1)), (Step::Results, seconds(3))],
            ..Checks::default()
        });
        let expected = Checks {
            workloads: vec![run("small", 3), run("odd", 5)],
            not_checked: vec!["races".to_owned(), "zeros".to_owned()],
            deterministic: false,
            precision_probed: 1,
            domain_inputs: DomainInputs { passed: 5, inadmissible: 2 },
            worst_error: 0.5,
            digests: vec!["a".to_owned(), "b".to_owned()],
            costs: vec![(Step::Results, seconds(5)), (Step::Distributions, seconds(1))],
            ..Checks::default()
        };
        assert_eq!(all, expected);
    }
}
