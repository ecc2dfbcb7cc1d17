//! The run history: reads runs when a project opens and appends new ones.

use std::path::Path;

use lightbench_core::history::label::Label;
use lightbench_core::history::{
    HistoryError, OpenedHistory, Provenance, RunNumber, Store, StoredRun,
};
use lightbench_core::verify::verdict::WorkloadTiming;

use super::TaskRunner;
use crate::commands::history::{existing, read};
use crate::commands::run::record::{AppendedRun, HistoryMode, Recorder, RunScope};
use crate::workbench::background_task::{HistoryPart, Recording, TaskResult};
use crate::workbench::notices::NoticeLevel;

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
        let provenance = match self.session.state {
            Some(_) => Provenance::Own,
            None => Provenance::Recorded,
        };
        let stored = StoredRun { number, provenance, label: None, record };
        let folder = project.root.clone();
        self.results.send(TaskResult::Recorded(
            folder,
            Box::new(stored),
            lines.unwrap_or_default(),
        ));
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
        let found = || -> Result<Option<(StoredRun, Option<String>)>, HistoryError> {
            let Some(OpenedHistory { store, .. }) = existing(&self.session, folder)? else {
                return Ok(None);
            };
            let Some(run) = store.run(number)? else { return Ok(None) };
            let source = match run.record.sources.first() {
                Some(source) => store.text(&source.text)?,
                None => None,
            };
            let source = source.and_then(|bytes| String::from_utf8(bytes).ok());
            Ok(Some((run, source)))
        };
        match found() {
            Ok(Some((run, source))) => {
                self.results.send(TaskResult::Run(folder.to_owned(), Box::new(run), source));
            }
            Ok(None) => {
                self.results.notice(NoticeLevel::Warning, format!("there is no run #{number}"));
            }
            Err(error) => self.results.notice(NoticeLevel::Error, error.to_string()),
        }
    }
}
