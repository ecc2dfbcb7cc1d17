//! Appends runs to the project's history.

use std::collections::BTreeMap;
use std::mem;
use std::path::Path;

use jiff::Timestamp;
use lightbench_core::evaluate::Run;
use lightbench_core::history::comparison_runs::ComparisonRuns;
use lightbench_core::history::definition_hash::{definition_hash, named_includes};
use lightbench_core::history::numbers::RecordedNumbers;
use lightbench_core::history::record::{
    ChecksSummary, CorrectnessSource, DeviceIdentity, Environment, FailureKind, Origin, Outcome,
    RecordedWorkload, RunId, RunRecord, Scope, SourceText, WorkloadName,
};
use lightbench_core::history::text::Texts;
use lightbench_core::history::timing::{Mode, RecordedTiming};
use lightbench_core::history::{HistoryError, IntegrityCheck, Notice, RunNumber, Store};
use lightbench_core::project::{HeldOutSource, Kernel, Project};
use lightbench_core::report::document::failure::NotPassedReport;
use lightbench_core::report::evidence::RunEvidence;
use lightbench_core::units::Seconds;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::Passed;

use crate::commands::evaluation_setup::ChosenDevice;
use crate::commands::history;
use crate::session::Session;
use crate::workbench::measurements::{HIGHEST_CLOCK, LOWEST_CLOCK};

/// The restrictions of a run, as its record names them.
#[derive(Clone, Copy)]
pub(crate) struct RunScope<'a> {
    /// Parameters set on the command line.
    pub(crate) parameters: &'a [(String, i64)],
    /// The only workload, if the run was restricted to one.
    pub(crate) workload: Option<&'a str>,
    pub(crate) history: HistoryMode,
}

/// Whether runs are appended to the history.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HistoryMode {
    Append,
    Discard,
}

/// Appends runs to the history.
pub(crate) struct Recorder<'a> {
    session: &'a Session,
    project: &'a Project,
    chosen: &'a ChosenDevice,
    asked: RunScope<'a>,
    compiler: String,
    origin: Origin,
    state: RecorderState,
    /// Notices for the user.
    pub(crate) notices: Vec<String>,
}

enum RecorderState {
    /// The history is not open yet.
    Closed,
    Open(Box<Store>),
    /// Disabled, or an append failed and the user was notified.
    Off,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(
        session: &'a Session,
        project: &'a Project,
        chosen: &'a ChosenDevice,
        asked: RunScope<'a>,
        compiler: String,
    ) -> Self {
        let state = match asked.history {
            HistoryMode::Discard => RecorderState::Off,
            HistoryMode::Append => RecorderState::Closed,
        };
        let (origin, notices) = (Origin::Person, Vec::new());
        Self { session, project, chosen, asked, compiler, origin, state, notices }
    }

    /// The same for kernels of this origin.
    pub(crate) fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// The folder of the history, if a run was appended.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match &self.state {
            RecorderState::Open(store) => store.path().parent(),
            RecorderState::Closed | RecorderState::Off => None,
        }
    }

    /// Appends a run and adds the comparison with earlier runs to its lines. An error becomes a notice; the verdict
    /// does not depend on it.
    pub(crate) fn append(&mut self, kernel: &Kernel, run: &mut Run) {
        let Some(appended) = self.append_and_compare(kernel, run) else { return };
        if let Ok(passed) = &mut run.verdict {
            appended.before.update_sentences(&appended.record, passed);
        }
    }

    /// Appends a run and returns the earlier runs; `None` if it was not appended. An error becomes a notice.
    pub(crate) fn append_and_compare(&mut self, kernel: &Kernel, run: &Run) -> Option<AppendedRun> {
        self.append_derived(kernel, run, (self.origin.clone(), None))
    }

    /// Appends a run with the origin and the parent of its candidate.
    pub(crate) fn append_derived(
        &mut self,
        kernel: &Kernel,
        run: &Run,
        (origin, parent): (Origin, Option<&str>),
    ) -> Option<AppendedRun> {
        match self.try_append(kernel, run, (origin, parent)) {
            Ok(appended) => appended,
            Err(error) => {
                self.notices.push(format!("the run was not added to the history: {error}"));
                None
            }
        }
    }

    fn try_append(
        &mut self,
        kernel: &Kernel,
        run: &Run,
        (origin, parent): (Origin, Option<&str>),
    ) -> Result<Option<AppendedRun>, HistoryError> {
        let Some((mut record, texts)) = self.record(kernel, run)? else { return Ok(None) };
        record.origin = origin;
        record.parent = parent.map(str::to_owned);
        // Stays off after an error: the next append would fail in the same way.
        let mut store = match mem::replace(&mut self.state, RecorderState::Off) {
            RecorderState::Off => return Ok(None),
            RecorderState::Open(store) => store,
            RecorderState::Closed => self.begun(IntegrityCheck::None)?,
        };
        let appended = match append(&mut store, record.clone(), &texts) {
            Err(HistoryError::Damaged { .. }) => {
                // Reopening with this suspicion sets the file aside and creates a new one; no handle may be open then.
                drop(store);
                store = self.begun(IntegrityCheck::Damage)?;
                append(&mut store, record, &texts)?
            }
            appended => appended?,
        };
        self.state = RecorderState::Open(store);
        Ok(Some(appended))
    }

    fn begun(&mut self, suspicion: IntegrityCheck) -> Result<Box<Store>, HistoryError> {
        let opened = history::open_or_create(self.session, &self.project.root, suspicion)?;
        // `lightbench history` reports recorded rows; they do not concern this run.
        let told =
            opened.notices.iter().filter(|each| !matches!(each, Notice::FromElsewhere { .. }));
        self.notices.extend(told.map(ToString::to_string));
        if self.session.state.is_none() {
            let notice = "this machine has no folder for its key, so its runs count as recorded; `--state DIR` names one";
            self.notices.push(notice.to_owned());
        }
        Ok(Box::new(opened.store))
    }

    /// The record of a run with its texts; `None` if the user cancelled it.
    fn record(
        &self,
        kernel: &Kernel,
        run: &Run,
    ) -> Result<Option<(RunRecord, Texts)>, HistoryError> {
        let mut texts = Texts::default();
        let Some(outcome) = self.outcome(kernel, run, &mut texts)? else { return Ok(None) };
        // The record of a failure holds its evidence.
        let evidence = match &run.verdict {
            Ok(_) => {
                let evidence = RunEvidence::new(&kernel.name, run).compressed();
                Some(texts.add(evidence.map_err(HistoryError::Unwritable)?))
            }
            Err(_) => None,
        };
        let (project, chosen) = (self.project, self.chosen);
        let own = (kernel.file.display().to_string(), &kernel.source);
        let includes = named_includes(project, &kernel.source);
        let includes =
            includes.into_iter().map(|file| (file.file.display().to_string(), &file.source));
        let sources = [own].into_iter().chain(includes).map(|(file, source)| SourceText {
            file,
            text: texts.add(source.clone().into_bytes()),
        });
        let is_own = |name: &str| kernel.launch.parameters.iter().any(|own| own.name == name);
        let parameters = self.asked.parameters.iter().filter(|(name, _)| is_own(name));
        let asked_for = self.asked.workload;
        let workloads = project.workloads.iter();
        let workloads = workloads.filter(|each| asked_for.is_none_or(|name| each.name == name));
        let record = RunRecord {
            id: RunId::fresh()?,
            made_at: Timestamp::now(),
            project: project.definition.name.clone(),
            definition: Some(definition_hash(project)),
            kernel: kernel.name.clone(),
            candidate: run.candidate.map(|hash| format!("{hash:#}")),
            parent: None,
            origin: Origin::Person,
            parameters: parameters.cloned().collect(),
            sources: sources.collect(),
            device: DeviceIdentity {
                name: chosen.device.to_string(),
                title: chosen.title.clone(),
                uuid: chosen.gpu.as_ref().map(|gpu| gpu.identity.uuid.clone()),
            },
            seed: Some(run.seed),
            workloads: workloads
                .filter_map(|each| RecordedWorkload::from_project(project, each))
                .collect(),
            scope: match (asked_for, project.held_out) {
                (Some(_), _) => Scope::OneWorkload,
                (None, HeldOutSource::Drawn) => Scope::DrawnHeldOut,
                (None, HeldOutSource::Declared) => Scope::Whole,
            },
            outcome,
            environment: self.environment(run),
            elapsed: Some(Seconds(run.elapsed.as_secs_f64())),
            evidence,
        };
        Ok(Some((record, texts)))
    }

    /// The recorded outcome; `None` if the user cancelled.
    fn outcome(
        &self,
        kernel: &Kernel,
        run: &Run,
        texts: &mut Texts,
    ) -> Result<Option<Outcome>, HistoryError> {
        match &run.verdict {
            Ok(passed) => self.passed(passed, texts).map(Some),
            Err(reason) => {
                let Some(word) = FailureKind::from_not_passed(reason) else { return Ok(None) };
                let sentence = sentence::verdict(&kernel.name, &run.verdict);
                let evidence = NotPassedReport::from(reason).details();
                let evidence = evidence.map_err(HistoryError::Unwritable)?;
                Ok(Some(Outcome::Failed { word, sentence, evidence }))
            }
        }
    }

    fn passed(&self, passed: &Passed, texts: &mut Texts) -> Result<Outcome, HistoryError> {
        let by = CorrectnessSource::Verification(ChecksSummary::new(self.project, &passed.checks));
        let (mut timings, mut withheld) = (Vec::new(), BTreeMap::new());
        let (mut energy, mut numbers) = (BTreeMap::new(), BTreeMap::new());
        for timed in &passed.timings {
            let workload = self.project.workloads.iter().find(|each| each.name == timed.workload);
            let Some(name) = workload.and_then(WorkloadName::from_workload) else { continue };
            for timing in &timed.timings {
                let mut recorded = RecordedTiming::from_timing(name.clone(), timing, texts)?;
                let standing = timed.standing.as_ref().and_then(|stand| stand.standing.as_ref());
                if let (Mode::Cold, Some(standing)) = (recorded.mode, standing) {
                    recorded.stand(standing)?;
                }
                if let (Mode::Cold, Some(standing)) = (recorded.mode, &timed.standing) {
                    recorded.hold_back(&standing.limiter);
                }
                if recorded.mode == Mode::Cold {
                    recorded.hold_against(&timed.baselines)?;
                }
                timings.push(recorded);
            }
            if let Some(Ok(metered)) = &timed.energy {
                energy.insert(name.clone(), *metered);
            }
            if let Some(standing) = &timed.standing {
                let profile = timed.profile.as_ref().ok();
                let own = RecordedNumbers::from_launch(standing.launch.as_ref(), profile);
                numbers.insert(name.clone(), own);
            }
            if let Some(reason) = &timed.withheld {
                withheld.insert(name, reason.clone());
            }
        }
        Ok(Outcome::Passed { by, timings, withheld, energy, numbers })
    }

    fn environment(&self, run: &Run) -> Environment {
        let driver = self.chosen.gpu.as_ref().map(|gpu| gpu.identity.driver.clone());
        let versions = [
            ("lightbench", Some(env!("CARGO_PKG_VERSION").to_owned())),
            ("compiler", Some(self.compiler.clone())),
            ("driver", driver),
        ];
        let known = |(name, version): (&str, Option<String>)| Some((name.to_owned(), version?));
        let timed = run.verdict.iter().flat_map(|passed| &passed.timings);
        let read =
            timed.flat_map(|each| &each.timings).filter_map(|timing| timing.conditions.sm_clock);
        let mut clocks = BTreeMap::new();
        for (low, high) in read {
            let lowest = clocks.entry(LOWEST_CLOCK.to_owned()).or_insert(low);
            lowest.0 = lowest.0.min(low.0);
            let highest = clocks.entry(HIGHEST_CLOCK.to_owned()).or_insert(high);
            highest.0 = highest.0.max(high.0);
        }
        Environment { versions: versions.into_iter().filter_map(known).collect(), clocks }
    }
}

/// A run in the history.
pub(crate) struct AppendedRun {
    pub(crate) number: RunNumber,
    pub(crate) record: RunRecord,
    /// The earlier runs.
    pub(crate) before: ComparisonRuns,
}

/// Appends a record after those of the kernel's previous candidate.
fn append(
    store: &mut Store,
    mut record: RunRecord,
    texts: &Texts,
) -> Result<AppendedRun, HistoryError> {
    let before = store.comparison_runs(&record, None)?;
    if record.parent.is_none() {
        let previous = store.previous(&record.kernel, record.candidate.as_deref())?;
        record.parent = previous.and_then(|run| run.record.candidate);
    }
    let number = store.append(&record, texts)?;
    Ok(AppendedRun { number, record, before })
}
