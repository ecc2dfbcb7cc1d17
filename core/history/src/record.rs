//! The stored form of a run.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use lightbench_measure::Energy;
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::workload::Workload;
use lightbench_project::{Project, Purpose};
use lightbench_speed_of_light::score::aggregate;
use lightbench_units::{Hertz, Seconds};
use lightbench_verify::not_judged::{NotJudged, NotPassed};
use lightbench_verify::verdict::{Checks, DomainInputs, Failure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::HistoryError;
use super::numbers::RecordedNumbers;
use super::text::TextHash;
use super::timing::{Clock, Mode, RecordedTiming};

/// One evaluation of a candidate on a device: its result, and everything needed to repeat it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The identifier of the run, the same in every copy of the history.
    pub id: RunId,
    /// When it ended.
    pub made_at: Timestamp,
    /// The project.
    pub project: String,
    /// The hash of the task definition, see [`super::definition_hash`]; `None` if it is unknown.
    pub definition: Option<String>,
    /// The kernel.
    pub kernel: String,
    /// The candidate's full hash; `None` if the candidate could not be assembled.
    pub candidate: Option<String>,
    /// The candidate that it was made from.
    pub parent: Option<String>,
    /// The origin of the candidate.
    pub origin: Origin,
    /// The requested parameters; the kernel's launch block chooses the others.
    pub parameters: BTreeMap<String, i64>,
    /// Everything that was compiled, the kernel's own file first.
    pub sources: Vec<SourceText>,
    /// The device.
    pub device: DeviceIdentity,
    /// The seed of all inputs; `None` if it is unknown.
    pub seed: Option<u64>,
    /// The visible workloads that it ran on.
    pub workloads: Vec<RecordedWorkload>,
    /// Whether all workloads were evaluated.
    pub scope: Scope,
    /// The outcome.
    pub outcome: Outcome,
    /// The versions of software and the environment.
    pub environment: Environment,
    /// The elapsed time up to the held-out workloads; `None` if it is unknown.
    pub elapsed: Option<Seconds>,
    /// The compressed evidence of a run that passed, unless it was imported or an earlier version stored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<TextHash>,
}

/// The identifier of a run: random, so that copies can be recognised.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(String);

impl RunId {
    /// A name that nothing has.
    ///
    /// # Errors
    /// The operating system gives no random numbers.
    pub fn fresh() -> Result<Self, HistoryError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(HistoryError::NoRandomness)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The identifier of an imported line, the same in every import; `occurrence` counts equal lines, from 1.
    #[must_use]
    pub fn of_import(line: &str, occurrence: usize) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(occurrence as u64).to_le_bytes());
        hasher.update(line.as_bytes());
        Self(hasher.finalize().to_hex()[..32].to_owned())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The origin of a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Origin {
    /// A person wrote it.
    Person,
    /// A language model.
    Model {
        /// Which one.
        name: String,
    },
    /// A rewrite rule.
    Rule {
        /// Which one.
        name: String,
    },
    /// The tuner chose its parameters.
    Tuner,
    /// An agent proposed it through the server of `lightbench mcp`.
    Agent {
        /// The name that the agent's client declares: a label, not an identity.
        name: String,
    },
    /// It was imported from a file.
    Import {
        /// The author according to the file.
        author: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => formatter.write_str("person"),
            Self::Model { name } => write!(formatter, "model {name}"),
            Self::Rule { name } => write!(formatter, "rule {name}"),
            Self::Tuner => formatter.write_str("tuner"),
            Self::Agent { name } => write!(formatter, "agent:{name}"),
            Self::Import { .. } => formatter.write_str("import"),
        }
    }
}

/// A file that was compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceText {
    /// The path relative to the project folder.
    pub file: String,
    /// The text.
    pub text: TextHash,
}

/// The device of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// The name on the command line: `cuda:0`, `virtual:h200`.
    pub name: String,
    /// The name for display.
    pub title: String,
    /// The UUID, if the driver reports it.
    pub uuid: Option<String>,
}

/// The name of a visible workload.
///
/// It is constructed only from a [`Workload`] that is not held out, so that no record can name a held-out workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WorkloadName(String);

impl WorkloadName {
    /// The name of a workload; `None` if it is held out.
    #[must_use]
    pub fn from_workload(workload: &Workload) -> Option<Self> {
        match workload.purpose {
            Purpose::Verify | Purpose::Measure => Some(Self(workload.name.clone())),
            Purpose::HeldOut => None,
        }
    }

    /// The name of a workload in an imported file.
    pub(super) const fn from_import(name: String) -> Self {
        Self(name)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A visible workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedWorkload {
    /// The name.
    pub name: WorkloadName,
    /// The sizes by axis.
    pub axes: BTreeMap<String, u64>,
    /// The scalars by name.
    pub scalars: BTreeMap<String, RecordedScalar>,
}

/// A value that is no size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RecordedScalar {
    /// True or false.
    Boolean(bool),
    /// A whole number that 64 bits hold.
    Integer(i64),
    /// A finite number.
    Real(f64),
    /// Anything that JSON has no number for.
    Text(String),
}

impl From<ScalarValue> for RecordedScalar {
    fn from(value: ScalarValue) -> Self {
        match value {
            ScalarValue::Boolean(value) => Self::Boolean(value),
            ScalarValue::Integer(value) => {
                i64::try_from(value).map_or_else(|_| Self::Text(value.to_string()), Self::Integer)
            }
            ScalarValue::Real(value) if value.is_finite() => Self::Real(value),
            ScalarValue::Real(value) => Self::Text(value.to_string()),
        }
    }
}

impl RecordedWorkload {
    /// The workload of a project; `None` if it is held out.
    #[must_use]
    pub fn from_project(project: &Project, workload: &Workload) -> Option<Self> {
        let definition = &project.definition;
        let axes = definition.axes.iter().map(|axis| axis.name.clone());
        let scalars = definition.scalars.iter().map(|scalar| scalar.name.clone());
        let values = workload.scalars.iter().map(|value| RecordedScalar::from(*value));
        Some(Self {
            name: WorkloadName::from_workload(workload)?,
            axes: axes.zip(workload.axes.iter().copied()).collect(),
            scalars: scalars.zip(values).collect(),
        })
    }
}

/// Whether all workloads were evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All workloads of the project.
    Whole,
    /// One named workload: such a run is never a best.
    OneWorkload,
    /// All workloads but the held-out ones, in whose place random sizes were drawn: such a run is never a best.
    DrawnHeldOut,
}

/// The outcome of a run. Only a run that passed can have times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Outcome {
    /// The candidate passed.
    Passed {
        /// The source of the verdict.
        by: CorrectnessSource,
        /// The times; empty if timing was skipped.
        timings: Vec<RecordedTiming>,
        /// Workloads whose times are withheld, with the reason.
        #[serde(default)]
        withheld: BTreeMap<WorkloadName, String>,
        /// The energy of an execution, if it was requested.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        energy: BTreeMap<WorkloadName, Energy>,
        /// Resources and counters of the kernel in each timed workload, with or without a time.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        numbers: BTreeMap<WorkloadName, RecordedNumbers>,
    },
    /// The candidate did not pass.
    Failed {
        /// The kind of failure.
        word: FailureKind,
        /// The verdict in one sentence.
        sentence: String,
        /// The evidence, as reports for programs have it.
        evidence: Value,
    },
}

/// The source of a passed verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorrectnessSource {
    /// Our own verification.
    Verification(ChecksSummary),
    /// A file that was imported.
    Report(ReportedCorrectness),
}

/// The correctness numbers of an imported run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportedCorrectness {
    /// The largest relative error; `None` if the file does not state it.
    pub max_relative_error: Option<f64>,
    /// The largest absolute error; `None` if the file does not state it.
    pub max_absolute_error: Option<f64>,
}

/// The kind of failure of a candidate. A cancelled evaluation is not a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The candidate does not compile.
    Compile,
    /// The candidate was refused and did not run.
    Refused,
    /// The candidate faulted while it ran.
    Fault,
    /// The results are wrong.
    Wrong,
    /// The candidate exceeded its time limit.
    TimedOut,
    /// Not judged: the device failed. Until version 0.3 also a process that was killed.
    DeviceLost,
    /// Not judged: two fresh device workers crashed in the same step.
    CrashesWorker,
    /// Not judged: the device lacks an instruction or a feature. Until version 0.3 this was `refused`.
    NotSupported,
}

impl FailureKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Compile,
        Self::Refused,
        Self::Fault,
        Self::Wrong,
        Self::TimedOut,
        Self::DeviceLost,
        Self::CrashesWorker,
        Self::NotSupported,
    ];

    /// The kind for the reason why a candidate did not pass; `None` if the user cancelled.
    #[must_use]
    pub const fn from_not_passed(reason: &NotPassed) -> Option<Self> {
        Some(match reason {
            NotPassed::Failed(Failure::Compile(_)) => Self::Compile,
            NotPassed::Failed(Failure::Refused(_)) => Self::Refused,
            NotPassed::Failed(Failure::Fault(_)) => Self::Fault,
            NotPassed::Failed(Failure::Wrong(_)) => Self::Wrong,
            NotPassed::Failed(Failure::TimedOut { .. }) => Self::TimedOut,
            NotPassed::NotJudged(NotJudged::DeviceLost { .. }) => Self::DeviceLost,
            NotPassed::NotJudged(NotJudged::CrashesWorker { .. }) => Self::CrashesWorker,
            NotPassed::NotJudged(NotJudged::NotSupported { .. }) => Self::NotSupported,
            NotPassed::NotJudged(NotJudged::Cancelled) => return None,
        })
    }

    /// Whether the failure is one of the kernel; a run that was not judged gives no evidence.
    #[must_use]
    pub const fn is_judged(self) -> bool {
        match self {
            Self::Compile | Self::Refused | Self::Fault | Self::Wrong | Self::TimedOut => true,
            Self::DeviceLost | Self::CrashesWorker | Self::NotSupported => false,
        }
    }

    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compile => "compile",
            Self::Refused => "refused",
            Self::Fault => "fault",
            Self::Wrong => "wrong",
            Self::TimedOut => "timed_out",
            Self::DeviceLost => "device_lost",
            Self::CrashesWorker => "crashes_worker",
            Self::NotSupported => "not_supported",
        }
    }
}

/// The checks that ran, and the checks that did not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChecksSummary {
    /// The number of runs of each visible workload.
    pub runs: BTreeMap<WorkloadName, usize>,
    /// The number of held-out workloads that ran.
    pub held_out: usize,
    /// Visible workloads that did not run, with the reason.
    pub not_run: BTreeMap<WorkloadName, String>,
    /// The checks that did not run.
    pub not_checked: Vec<String>,
    /// Behaviour that is accepted and that CUDA does not promise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether outputs were bitwise identical in every order of threads.
    pub deterministic: bool,
    /// Accesses that common CUDA practice accepts and the memory model does not.
    pub accepted_races: usize,
    /// Workloads on which the precision probe was exact and passed.
    pub precision_probed: usize,
    /// Inputs from the whole domain of tensors and scalars.
    #[serde(default)]
    pub domain_inputs: DomainInputs,
    /// The largest error of any output, as a fraction of the tolerance; `None` if it is not finite.
    pub worst_error: Option<f64>,
}

impl ChecksSummary {
    /// The summary of the checks of a run.
    #[must_use]
    pub fn new(project: &Project, checks: &Checks) -> Self {
        let visible = |name: &str| {
            let found = project.workloads.iter().find(|workload| workload.name == name);
            found.and_then(WorkloadName::from_workload)
        };
        let runs = checks.workloads.iter();
        let not_run = checks.not_run.iter();
        Self {
            runs: runs.filter_map(|run| Some((visible(&run.workload)?, run.runs))).collect(),
            held_out: checks.held_out,
            not_run: not_run
                .filter_map(|each| Some((visible(each.workload.as_deref()?)?, each.reason.clone())))
                .collect(),
            not_checked: checks.not_checked.clone(),
            notes: checks.notes.clone(),
            deterministic: checks.deterministic,
            accepted_races: checks.accepted_races,
            precision_probed: checks.precision_probed,
            domain_inputs: checks.domain_inputs,
            worst_error: Some(checks.worst_error).filter(|error| error.is_finite()),
        }
    }
}

/// The versions of software that a run used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Versions by name: `lightbench`, `nvrtc`, `driver` and their like.
    pub versions: BTreeMap<String, String>,
    /// Clocks by name while it was measured.
    pub clocks: BTreeMap<String, Hertz>,
}

/// The score of a run, and the basis that two runs must share for a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The geometric mean over workloads.
    pub seconds: Seconds,
    /// The basis.
    pub basis: ScoreBasis,
}

/// The basis that two runs must share for a comparison of their times: a hash of the definition, the device, the clock, the
/// mode and the workloads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScoreBasis(pub(super) String);

impl RunRecord {
    /// The word of the verdict.
    #[must_use]
    pub const fn verdict(&self) -> &'static str {
        match &self.outcome {
            Outcome::Passed { .. } => "passed",
            Outcome::Failed { word, .. } => word.as_str(),
        }
    }

    /// The times; empty unless the run passed.
    #[must_use]
    pub fn timings(&self) -> &[RecordedTiming] {
        match &self.outcome {
            Outcome::Passed { timings, .. } => timings,
            Outcome::Failed { .. } => &[],
        }
    }

    /// The SOL score: the geometric mean over workloads of the scores against the first baseline that ran; `None` if a
    /// workload has no score.
    #[must_use]
    pub fn sol_score(&self) -> Option<f64> {
        let cold = self.timings().iter().filter(|timing| timing.mode == Mode::Cold);
        let of = |timing: &RecordedTiming| {
            let sound = timing.taint.is_empty();
            timing.baselines.iter().find_map(|baseline| baseline.score).filter(|_| sound)
        };
        aggregate(&cold.map(of).collect::<Vec<_>>()).ok()
    }

    /// The energy of an execution for each workload, if it was requested.
    pub fn energy(&self) -> impl Iterator<Item = (&WorkloadName, &Energy)> {
        let known = match &self.outcome {
            Outcome::Passed { energy, .. } => Some(energy),
            Outcome::Failed { .. } => None,
        };
        known.into_iter().flatten()
    }

    /// Resources and counters of the kernel in a workload; `None` if they were not recorded.
    #[must_use]
    pub fn numbers(&self, workload: &WorkloadName) -> Option<&RecordedNumbers> {
        match &self.outcome {
            Outcome::Passed { numbers, .. } => numbers.get(workload),
            Outcome::Failed { .. } => None,
        }
    }

    /// The score: the geometric mean of cold times of one clock. `None` without cold times, with mixed clocks, and with an
    /// unreliable time.
    #[must_use]
    pub fn score(&self) -> Option<Score> {
        let cold = || self.timings().iter().filter(|timing| timing.mode == Mode::Cold);
        let times: BTreeMap<&WorkloadName, Seconds> =
            cold().map(|timing| (&timing.workload, timing.median.seconds())).collect();
        let clock = &cold().next()?.clock;
        let is_unlike =
            |timing: &RecordedTiming| timing.clock != *clock || !timing.taint.is_empty();
        if times.len() != cold().count() || cold().any(is_unlike) {
            return None;
        }
        let mean = || times.values().map(|time| time.0.ln()).sum::<f64>() / times.len() as f64;
        // The mean of a single time is exactly that time.
        let alone = times.values().next().filter(|_| times.len() == 1);
        let seconds = alone.copied().unwrap_or_else(|| Seconds(mean().exp()));
        Some(Score { seconds, basis: self.basis(clock, times.keys().copied()) })
    }

    fn basis<'a>(
        &self,
        clock: &Clock,
        workloads: impl Iterator<Item = &'a WorkloadName>,
    ) -> ScoreBasis {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &str| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        };
        add("lightbench.basis/1");
        add(&self.project);
        add(self.definition.as_deref().unwrap_or_default());
        match &self.device.uuid {
            Some(uuid) => add(uuid),
            None => [&self.device.name, &self.device.title].into_iter().for_each(|part| add(part)),
        }
        add(&format!("{clock:?}"));
        workloads.for_each(|workload| add(workload.as_str()));
        ScoreBasis(hasher.finalize().to_hex().to_string())
    }

    /// The names of all texts that the record refers to.
    pub fn texts(&self) -> impl Iterator<Item = TextHash> {
        let samples = self.timings().iter().filter_map(|timing| timing.samples);
        self.sources.iter().map(|source| source.text).chain(samples).chain(self.evidence)
    }
}
