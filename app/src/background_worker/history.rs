//! The run history: reads runs when a project opens and appends new ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lightbench_core::history::label::Label;
use lightbench_core::history::text::TextHash;
use lightbench_core::history::{
    HistoryError, OpenedHistory, Provenance, RunNumber, Store, StoredRun,
};
use lightbench_core::report::evidence::RunEvidence;
use lightbench_core::units::Seconds;
use lightbench_core::verify::verdict::WorkloadTiming;

use super::TaskRunner;
use crate::commands::history::{existing, read};
use crate::commands::run::record::{AppendedRun, HistoryMode, Recorder, RunScope};
use crate::workbench::background_task::{HistoryPart, Recording, RunComparisons, TaskResult};
use crate::workbench::notices::NoticeLevel;
use crate::workbench::recent_history::{RecentHistory, SHOWN};
use crate::workbench::run_details::{ModeSamples, ReadRun, RunDetails};

/// Runs per part: between parts the window draws and other tasks run.
const AT_ONCE: usize = 500;

impl TaskRunner {
    /// Reads the runs before `before`, the newest first; `None` starts with the newest run.
    pub(super) fn read_history(&mut self, folder: &Path, before: Option<RunNumber>) {
        let (runs, part) = match self.runs_before(folder, before) {
            Ok(read) => read,
            Err(error) => {
                self.results
                    .notice(NoticeLevel::Warning, format!("the history cannot be read: {error}"));
                (Vec::new(), HistoryPart::Last)
            }
        };
        self.results.send(TaskResult::History(folder.to_owned(), runs, part));
    }

    fn runs_before(
        &mut self,
        folder: &Path,
        before: Option<RunNumber>,
    ) -> Result<(Vec<StoredRun>, HistoryPart), HistoryError> {
        let kept = self.reading.take().filter(|(of, _)| before.is_some() && of == folder);
        let (store, page) = match kept {
            Some((_, store)) => {
                let page = store.page(before, AT_ONCE)?;
                (store, page)
            }
            None => {
                let page = |store: &Store| store.page(before, AT_ONCE);
                let Some((OpenedHistory { store, notices }, page)) =
                    read(&self.session, folder, page)?
                else {
                    return Ok((Vec::new(), HistoryPart::Last));
                };
                for notice in notices {
                    self.results.notice(NoticeLevel::Note, notice.to_string());
                }
                (store, page)
            }
        };
        if let [row, more @ ..] = page.damaged.as_slice() {
            let text = match more.len() {
                0 => format!("a damaged row of the history was skipped: {row}"),
                more => format!("{} damaged rows of the history were skipped: {row}, …", more + 1),
            };
            self.results.notice(NoticeLevel::Warning, text);
        }
        let part = match page.oldest() {
            Some(oldest) if page.rows == AT_ONCE => {
                self.reading = Some((folder.to_owned(), store));
                HistoryPart::More(oldest)
            }
            Some(_) | None => HistoryPart::Last,
        };
        Ok((page.runs, part))
    }

    /// Reads the newest runs of projects. A history that cannot be read has no picture; opening the project says why.
    pub(super) fn read_recent(&self, folders: &[PathBuf]) {
        for folder in folders {
            let newest = |store: &Store| Ok((store.count()?, store.page(None, SHOWN)?));
            if let Ok(Some((_, (count, page)))) = read(&self.session, folder, newest) {
                let history = RecentHistory::new(count, &page.runs);
                self.results.send(TaskResult::Recent(folder.clone(), history));
            }
        }
    }

    pub(super) fn record(&self, recording: &Recording) {
        let Recording { project, kernel, run, device, compiler, workload, origin, parent } =
            recording;
        let Some(chosen) = self.devices.iter().find(|chosen| chosen.device == device.name) else {
            return;
        };
        let asked = RunScope {
            parameters: &[],
            workload: workload.as_deref(),
            history: HistoryMode::Append,
        };
        let mut recorder = Recorder::new(&self.session, project, chosen, asked, compiler.clone());
        let appended = recorder.append_derived(kernel, run, (origin.clone(), parent.as_deref()));
        for notice in &recorder.notices {
            self.results.notice(NoticeLevel::Warning, notice.clone());
        }
        let Some(AppendedRun { number, record, before }) = appended else { return };
        let lines = run.verdict.as_ref().map(|passed| {
            let mut told = passed.clone();
            before.update_sentences(&record, &mut told);
            let line = |timing: WorkloadTiming| Some((timing.workload, timing.standing?.line));
            told.timings.into_iter().filter_map(line).collect()
        });
        let compared =
            RunComparisons { times: before.by_workload(&record), lines: lines.unwrap_or_default() };
        let provenance = match self.session.state {
            Some(_) => Provenance::Own,
            None => Provenance::Recorded,
        };
        let stored = StoredRun { number, provenance, label: None, record };
        let folder = project.root.clone();
        self.results.send(TaskResult::Recorded(folder, Box::new(stored), compared));
    }

    pub(super) fn label(&self, folder: &Path, number: RunNumber, label: Option<Label>) {
        let write = || -> Result<(), HistoryError> {
            let Some(OpenedHistory { mut store, .. }) = existing(&self.session, folder)? else {
                return Err(HistoryError::NoSuchRun(number));
            };
            store.label(number, label.as_ref())
        };
        match write() {
            Ok(()) => self.results.send(TaskResult::Labelled(folder.to_owned(), number, label)),
            Err(error) => self.results.notice(NoticeLevel::Error, format!("not labelled: {error}")),
        }
    }

    pub(super) fn read_run(&self, folder: &Path, number: RunNumber) {
        let found = || -> Result<Option<ReadRun>, HistoryError> {
            let Some(OpenedHistory { store, .. }) = existing(&self.session, folder)? else {
                return Ok(None);
            };
            let Some(run) = store.run(number)? else { return Ok(None) };
            let text = |hash: Option<TextHash>| match hash {
                Some(hash) => store.text(&hash),
                None => Ok(None),
            };
            let source = text(run.record.sources.first().map(|source| source.text))?;
            let source = source.and_then(|bytes| String::from_utf8(bytes).ok());
            let evidence = match text(run.record.evidence)? {
                // Evidence of another version is like evidence that was not recorded.
                Some(bytes) => RunEvidence::from_compressed(&bytes).ok(),
                None => RunEvidence::from_failed(&run.record),
            };
            let mut samples = Vec::new();
            for timing in run.record.timings() {
                let (Some(mode), Some(bytes)) = (timing.mode.known(), text(timing.samples)?) else {
                    continue;
                };
                let Ok(rounds) = serde_json::from_slice::<Vec<Vec<Seconds>>>(&bytes) else {
                    continue;
                };
                let seconds = rounds.into_iter().flatten().collect();
                samples.push(ModeSamples { workload: timing.workload.to_string(), mode, seconds });
            }
            let before = store.comparison_runs(&run.record, Some(number))?;
            let (comparisons, provenance) = (before.by_workload(&run.record), run.provenance);
            let details = evidence.map(|evidence| {
                Arc::new(RunDetails { evidence, samples, comparisons, provenance })
            });
            Ok(Some(ReadRun { run: Arc::new(run), source: source.map(Into::into), details }))
        };
        match found() {
            Ok(Some(read)) => self.results.send(TaskResult::Run(folder.to_owned(), read)),
            Ok(None) => {
                self.results.notice(NoticeLevel::Warning, format!("there is no run #{number}"));
            }
            Err(error) => self.results.notice(NoticeLevel::Error, error.to_string()),
        }
    }
}
