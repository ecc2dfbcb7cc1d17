//! What a run is on disk.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use lightbench_primitives::scalar_value::ScalarValue;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::HistoryError;
use super::numbers::RecordedNumbers;
use super::text::TextHash;
use super::timing::{Clock, Mode, RecordedTiming};
use crate::measure::Energy;
use crate::project::workload::Workload;
use crate::project::{IncludeFile, Project, Purpose};
use crate::speed_of_light::score::aggregate;
use crate::units::{Hertz, Seconds};
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::verdict::{Checks, DomainInputs, Failure};

/// One candidate on one device: what came of it, and everything needed to ask again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its name, the same in every history that it is copied to.
    pub id: RunId,
    /// When it ended.
    pub made_at: Timestamp,
    /// The project.
    pub project: String,
    /// What the project asked for when it ran, see [`definition_hash`]; none where nobody knows.
    pub definition: Option<String>,
    /// The kernel.
    pub kernel: String,
    /// The candidate's whole hash; none where it could not be made.
    pub candidate: Option<String>,
    /// The candidate that it was made from.
    pub parent: Option<String>,
    /// Who made it.
    pub origin: Origin,
    /// The parameters that were asked for; the kernel's own launch block chooses the others.
    pub parameters: BTreeMap<String, i64>,
    /// Everything that was compiled, the kernel's own file first.
    pub sources: Vec<SourceText>,
    /// What it ran on.
    pub device: DeviceIdentity,
    /// What all inputs came from; none where nobody knows.
    pub seed: Option<u64>,
    /// The visible workloads that it ran on.
    pub workloads: Vec<RecordedWorkload>,
    /// Whether everything was asked for.
    pub scope: Scope,
    /// What came of it.
    pub outcome: Outcome,
    /// With which versions of what.
    pub environment: Environment,
    /// How long it took, as far as anybody is told; none where nobody knows.
    pub elapsed: Option<Seconds>,
}

/// The name of a run: random, so that copies are known as such.
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

    /// The name that a line of a file has in every import, counted among lines that say the same, from 1.
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

/// Who made a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Origin {
    /// Somebody wrote it.
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
    /// A choice of parameters.
    Tuner,
    /// It stood in a file that was imported.
    Import {
        /// Who made it, as that file says.
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
            Self::Import { .. } => formatter.write_str("import"),
        }
    }
}

/// A file that was compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceText {
    /// Its path below the project folder.
    pub file: String,
    /// Its text.
    pub text: TextHash,
}

/// What a run ran on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// What people type: `cuda:0`, `virtual:h200`.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// What no other device has, where the driver says it.
    pub uuid: Option<String>,
}

/// The name of a workload that everybody may see.
///
/// It is made of a [`Workload`] that is not held out, so that no record can speak of one that is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WorkloadName(String);

impl WorkloadName {
    /// The name of a workload; none if it is held out.
    #[must_use]
    pub fn from_workload(workload: &Workload) -> Option<Self> {
        match workload.purpose {
            Purpose::Verify | Purpose::Measure => Some(Self(workload.name.clone())),
            Purpose::HeldOut => None,
        }
    }

    /// The name of a workload that a file from elsewhere tells everybody.
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
    /// Its name.
    pub name: WorkloadName,
    /// Its sizes.
    pub axes: BTreeMap<String, u64>,
    /// Its other values.
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
    /// The workload of a project; none if it is held out.
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

/// Whether everything was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All workloads of the project.
    Whole,
    /// One that somebody named: never a best.
    OneWorkload,
}

/// What came of a run. Only one that passed can have times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Outcome {
    /// It is right.
    Passed {
        /// Who says so.
        by: CorrectnessSource,
        /// How long it took; none where nobody measured.
        timings: Vec<RecordedTiming>,
        /// Workloads whose times are not told, with the reason.
        #[serde(default)]
        withheld: BTreeMap<WorkloadName, String>,
        /// What an execution costs in energy, where somebody asked.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        energy: BTreeMap<WorkloadName, Energy>,
        /// What the kernel needs and did in each workload that was for measuring, with or without a time.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        numbers: BTreeMap<WorkloadName, RecordedNumbers>,
    },
    /// It is not.
    Failed {
        /// In which way.
        word: FailureKind,
        /// The verdict in one sentence.
        sentence: String,
        /// The evidence, as reports for programs have it.
        evidence: Value,
    },
}

/// Who says that a candidate is right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorrectnessSource {
    /// Our own verification.
    Verification(ChecksSummary),
    /// A file that was imported.
    Report(ReportedCorrectness),
}

/// How right an imported run says that it was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportedCorrectness {
    /// The largest error as a part of the value; none where the file has no such number.
    pub max_relative_error: Option<f64>,
    /// The largest error; none where the file has no such number.
    pub max_absolute_error: Option<f64>,
}

/// In which way a candidate failed. One that somebody cancelled is not a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// It does not compile.
    Compile,
    /// It was not run at all.
    Refused,
    /// It did something wrong while it ran.
    Fault,
    /// Its results are wrong.
    Wrong,
    /// It was stopped.
    TimedOut,
    /// Not judged: the device failed. Until version 0.3 also a process that was killed.
    DeviceLost,
    /// Not judged: two fresh device workers crashed in the same step.
    CrashesWorker,
    /// Not judged: the device lacks an instruction or a feature. Until version 0.3 this was `refused`.
    NotSupported,
}

impl FailureKind {
    /// All of them.
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

    /// The word for the reason why a candidate did not pass; none where the user cancelled.
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

    /// Whether the run says something of the kernel; one that was not judged does not.
    #[must_use]
    pub const fn is_judged(self) -> bool {
        match self {
            Self::Compile | Self::Refused | Self::Fault | Self::Wrong | Self::TimedOut => true,
            Self::DeviceLost | Self::CrashesWorker | Self::NotSupported => false,
        }
    }

    /// As it is written.
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

/// What verification did, and what it did not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChecksSummary {
    /// How often each visible workload ran.
    pub runs: BTreeMap<WorkloadName, usize>,
    /// How many held-out workloads ran.
    pub held_out: usize,
    /// Visible workloads that did not run, with the reason.
    pub not_run: BTreeMap<WorkloadName, String>,
    /// What nobody looked for.
    pub not_checked: Vec<String>,
    /// Behaviour that is accepted and that CUDA does not promise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether outputs were the same bit for bit in every order of threads.
    pub deterministic: bool,
    /// Accesses that the idiom of CUDA accepts and the memory model does not.
    pub accepted_races: usize,
    /// Workloads on which the precision probe was exact and passed.
    pub precision_probed: usize,
    /// Inputs from the whole domain of tensors and scalars.
    #[serde(default)]
    pub domain_inputs: DomainInputs,
    /// The largest error of any output, as a fraction of what is accepted; none where it is no finite number.
    pub worst_error: Option<f64>,
}

impl ChecksSummary {
    /// The summary of what was done for a project.
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

/// With which versions of what a run was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Versions by name: `lightbench`, `nvrtc`, `driver` and their like.
    pub versions: BTreeMap<String, String>,
    /// Clocks by name while it was measured.
    pub clocks: BTreeMap<String, Hertz>,
}

/// One number for a run, and what else must be equal for another run's number to be compared with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The geometric mean over workloads.
    pub seconds: Seconds,
    /// What must be equal.
    pub basis: ScoreBasis,
}

/// What two runs must have in common for their times to be compared: the definition, the device, the clock, the mode and
/// the workloads, as a hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScoreBasis(pub(super) String);

impl RunRecord {
    /// The word for what came of it.
    #[must_use]
    pub const fn verdict(&self) -> &'static str {
        match &self.outcome {
            Outcome::Passed { .. } => "passed",
            Outcome::Failed { word, .. } => word.as_str(),
        }
    }

    /// Its times; none unless it passed.
    #[must_use]
    pub fn timings(&self) -> &[RecordedTiming] {
        match &self.outcome {
            Outcome::Passed { timings, .. } => timings,
            Outcome::Failed { .. } => &[],
        }
    }

    /// How far it has come from what else was measured to the speed of light: the geometric mean over its workloads of
    /// the scores against the first baseline that ran; none where a single workload has none.
    #[must_use]
    pub fn sol_score(&self) -> Option<f64> {
        let cold = self.timings().iter().filter(|timing| timing.mode == Mode::Cold);
        let of = |timing: &RecordedTiming| {
            let sound = timing.taint.is_empty();
            timing.baselines.iter().find_map(|baseline| baseline.score).filter(|_| sound)
        };
        aggregate(&cold.map(of).collect::<Vec<_>>()).ok()
    }

    /// What an execution costs in energy, workload by workload, where somebody asked.
    pub fn energy(&self) -> impl Iterator<Item = (&WorkloadName, &Energy)> {
        let known = match &self.outcome {
            Outcome::Passed { energy, .. } => Some(energy),
            Outcome::Failed { .. } => None,
        };
        known.into_iter().flatten()
    }

    /// What the kernel needs and did in a workload; none where nobody looked.
    #[must_use]
    pub fn numbers(&self, workload: &WorkloadName) -> Option<&RecordedNumbers> {
        match &self.outcome {
            Outcome::Passed { numbers, .. } => numbers.get(workload),
            Outcome::Failed { .. } => None,
        }
    }

    /// One number for it: cold times of one clock. None where there are none, where clocks are mixed, and where one is
    /// not to be trusted.
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
        // One time alone is its own mean, to the last bit.
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

    /// The names of all texts that it refers to.
    pub fn texts(&self) -> impl Iterator<Item = TextHash> {
        let samples = self.timings().iter().filter_map(|timing| timing.samples);
        self.sources.iter().map(|source| source.text).chain(samples)
    }
}

/// The hash of what a project asks for: two runs are comparable only if it is the same.
///
/// Held-out workloads are no part of it, so that it tells nobody anything about them.
#[must_use]
pub fn definition_hash(project: &Project) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &str| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    };
    add("lightbench.definition/1");
    // The debug form names every field, so that a new field makes a new hash.
    add(&format!("{:?}", project.definition));
    for workload in project.workloads.iter().filter(|each| each.purpose != Purpose::HeldOut) {
        add(&format!("{workload:?}"));
    }
    add(&project.reference.source);
    for file in named_includes(project, &project.reference.source) {
        add(&file.source);
    }
    hasher.finalize().to_hex().to_string()
}

/// The shared files whose names stand in a text, or in one of these: at least all that it includes.
#[must_use]
pub fn named_includes<'a>(project: &'a Project, text: &'a str) -> Vec<&'a IncludeFile> {
    let mut named: Vec<&IncludeFile> = Vec::new();
    let mut texts = vec![text];
    while let Some(text) = texts.pop() {
        for file in &project.includes {
            let name = file.file.file_name().unwrap_or_default().to_string_lossy();
            if text.contains(name.as_ref()) && !named.iter().any(|known| known.file == file.file) {
                named.push(file);
                texts.push(&file.source);
            }
        }
    }
    named
}
