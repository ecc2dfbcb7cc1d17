//! What a run leaves behind: a record in the project's history.

use std::collections::BTreeMap;
use std::mem;
use std::path::Path;

use jiff::Timestamp;
use lightbench_core::evaluate::Run;
use lightbench_core::history::before::Before;
use lightbench_core::history::numbers::RecordedNumbers;
use lightbench_core::history::record::{
    ChecksSummary, DeviceIdentity, Environment, FailureWord, Origin, Outcome, PassedBy,
    RecordedWorkload, RunId, RunRecord, Scope, SourceText, WorkloadName, definition_hash,
    named_includes,
};
use lightbench_core::history::text::Texts;
use lightbench_core::history::timing::{Mode, RecordedTiming};
use lightbench_core::history::{HistoryError, Notice, RunNumber, Store, Suspicion};
use lightbench_core::project::{Kernel, Project};
use lightbench_core::units::Seconds;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::Passed;

use super::json;
use crate::commands::bench::Chosen;
use crate::commands::history;
use crate::session::Session;
use crate::workbench::measurements::{HIGHEST_CLOCK, LOWEST_CLOCK};

/// What was asked for, as far as a record says it.
#[derive(Clone, Copy)]
pub(crate) struct AskedFor<'a> {
    /// Parameters that kernels do not choose themselves.
    pub(crate) parameters: &'a [(String, i64)],
    /// Only this workload.
    pub(crate) workload: Option<&'a str>,
    /// Whether anything is kept.
    pub(crate) keeping: Keeping,
}

/// Whether runs are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeping {
    Records,
    Nothing,
}

/// Appends runs as they end.
pub(crate) struct Recorder<'a> {
    session: &'a Session,
    project: &'a Project,
    chosen: &'a Chosen,
    asked: AskedFor<'a>,
    compiler: String,
    state: State,
    /// What people should know.
    pub(crate) notices: Vec<String>,
}

enum State {
    /// Nothing was to be appended yet.
    Closed,
    Open(Box<Store>),
    /// Nobody wants records, or one could not be kept and that was said.
    Off,
}

impl<'a> Recorder<'a> {
    pub(crate) const fn new(
        session: &'a Session,
        project: &'a Project,
        chosen: &'a Chosen,
        asked: AskedFor<'a>,
        compiler: String,
    ) -> Self {
        let state = match asked.keeping {
            Keeping::Nothing => State::Off,
            Keeping::Records => State::Closed,
        };
        Self { session, project, chosen, asked, compiler, state, notices: Vec::new() }
    }

    /// Where the runs are, if any was kept.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match &self.state {
            State::Open(store) => store.path().parent(),
            State::Closed | State::Off => None,
        }
    }

    /// Appends a run, and tells its times against those before. What goes wrong is a notice: the verdict stands without
    /// its record.
    pub(crate) fn append(&mut self, kernel: &Kernel, run: &mut Run) {
        let Some(appended) = self.appended(kernel, run) else { return };
        if let Ok(passed) = &mut run.verdict {
            appended.before.tell(&appended.record, passed);
        }
    }

    /// Appends a run, and gives what came before it; none where it was not kept. What goes wrong is a notice.
    pub(crate) fn appended(&mut self, kernel: &Kernel, run: &Run) -> Option<Appended> {
        self.appended_of(kernel, run, (Origin::Person, None))
    }

    /// The same of a candidate that somebody else made, of another one where that is known.
    pub(crate) fn appended_of(
        &mut self,
        kernel: &Kernel,
        run: &Run,
        (origin, parent): (Origin, Option<&str>),
    ) -> Option<Appended> {
        match self.try_append(kernel, run, (origin, parent)) {
            Ok(appended) => appended,
            Err(error) => {
                self.notices.push(format!("the run is not in the history: {error}"));
                None
            }
        }
    }

    fn try_append(
        &mut self,
        kernel: &Kernel,
        run: &Run,
        (origin, parent): (Origin, Option<&str>),
    ) -> Result<Option<Appended>, HistoryError> {
        let Some((mut record, texts)) = self.record(kernel, run)? else { return Ok(None) };
        record.origin = origin;
        record.parent = parent.map(str::to_owned);
        // After an error it stays off: the next run would meet the same, and has been warned.
        let mut store = match mem::replace(&mut self.state, State::Off) {
            State::Off => return Ok(None),
            State::Open(store) => store,
            State::Closed => self.begun(Suspicion::None)?,
        };
        let appended = match append(&mut store, record.clone(), &texts) {
            Err(HistoryError::Damaged { .. }) => {
                // Opening it with this suspicion sets it aside, says so, and begins a new one; nobody may hold it then.
                drop(store);
                store = self.begun(Suspicion::Damage)?;
                append(&mut store, record, &texts)?
            }
            appended => appended?,
        };
        self.state = State::Open(store);
        Ok(Some(appended))
    }

    fn begun(&mut self, suspicion: Suspicion) -> Result<Box<Store>, HistoryError> {
        let opened = history::begun(self.session, &self.project.root, suspicion)?;
        // That some of it is recorded matters to those who look at it: `lightbench history` says so.
        let told =
            opened.notices.iter().filter(|each| !matches!(each, Notice::FromElsewhere { .. }));
        self.notices.extend(told.map(ToString::to_string));
        if self.session.state.is_none() {
            let notice = "this machine has no folder for its key, so its runs count as recorded; `--state DIR` names one";
            self.notices.push(notice.to_owned());
        }
        Ok(Box::new(opened.store))
    }

    /// The record of a run with its texts; none of one that somebody cancelled.
    fn record(
        &self,
        kernel: &Kernel,
        run: &Run,
    ) -> Result<Option<(RunRecord, Texts)>, HistoryError> {
        let mut texts = Texts::default();
        let Some(outcome) = self.outcome(kernel, run, &mut texts)? else { return Ok(None) };
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
            workloads: workloads.filter_map(|each| RecordedWorkload::of(project, each)).collect(),
            scope: if asked_for.is_none() { Scope::Whole } else { Scope::OneWorkload },
            outcome,
            environment: self.environment(run),
            elapsed: Some(Seconds(run.elapsed.as_secs_f64())),
        };
        Ok(Some((record, texts)))
    }

    /// What came of it; none of one that somebody cancelled.
    fn outcome(
        &self,
        kernel: &Kernel,
        run: &Run,
        texts: &mut Texts,
    ) -> Result<Option<Outcome>, HistoryError> {
        match &run.verdict {
            Ok(passed) => self.passed(passed, texts).map(Some),
            Err(reason) => Ok(FailureWord::of(reason).map(|word| Outcome::Failed {
                word,
                sentence: sentence::verdict(&kernel.name, &run.verdict),
                evidence: json::payload(reason),
            })),
        }
    }

    fn passed(&self, passed: &Passed, texts: &mut Texts) -> Result<Outcome, HistoryError> {
        let by = PassedBy::Verification(ChecksSummary::of(self.project, &passed.checks));
        let (mut timings, mut withheld) = (Vec::new(), BTreeMap::new());
        let (mut energy, mut numbers) = (BTreeMap::new(), BTreeMap::new());
        for timed in &passed.timings {
            let workload = self.project.workloads.iter().find(|each| each.name == timed.workload);
            let Some(name) = workload.and_then(WorkloadName::of) else { continue };
            for timing in &timed.timings {
                let mut recorded = RecordedTiming::of(name.clone(), timing, texts)?;
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
                let own = RecordedNumbers::of(standing.launch.as_ref(), profile);
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

/// A run that is in the history now.
pub(crate) struct Appended {
    /// Its place.
    pub(crate) number: RunNumber,
    /// What is there.
    pub(crate) record: RunRecord,
    /// What was there before.
    pub(crate) before: Before,
}

/// Appends a record below the candidate that this kernel was before.
fn append(
    store: &mut Store,
    mut record: RunRecord,
    texts: &Texts,
) -> Result<Appended, HistoryError> {
    let before = store.before(&record)?;
    let previous = before.previous.as_ref().and_then(|run| run.record.candidate.clone());
    record.parent = record.parent.take().or(previous);
    let number = store.append(&record, texts)?;
    Ok(Appended { number, record, before })
}
