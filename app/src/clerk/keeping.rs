//! The history: runs are read when a project opens, and appended as they end.

use std::path::Path;

use lightbench_core::history::label::Label;
use lightbench_core::history::{HistoryError, Opened, Provenance, RunNumber, Store, StoredRun};
use lightbench_core::verify::verdict::WorkloadTiming;

use super::Worker;
use crate::commands::history::{existing, read};
use crate::commands::run::record::{Appended, AskedFor, Keeping, Recorder};
use crate::workbench::errand::{Finding, Part, Recording};
use crate::workbench::notices::Weight;

/// Runs that are handed over at once: the window draws in between, and other errands are carried out.
const AT_ONCE: usize = 500;

impl Worker {
    /// Reads runs of a project before that one, the newest first; those that nothing comes after where none is named.
    pub(super) fn read_history(&mut self, folder: &Path, before: Option<RunNumber>) {
        let (runs, part) = match self.runs_before(folder, before) {
            Ok(read) => read,
            Err(error) => {
                self.said.notice(Weight::Warning, format!("the history cannot be read: {error}"));
                (Vec::new(), Part::Last)
            }
        };
        self.said.say(Finding::History(folder.to_owned(), runs, part));
    }

    fn runs_before(
        &mut self,
        folder: &Path,
        before: Option<RunNumber>,
    ) -> Result<(Vec<StoredRun>, Part), HistoryError> {
        let kept = self.reading.take().filter(|(of, _)| before.is_some() && of == folder);
        let (store, page) = match kept {
            Some((_, store)) => {
                let page = store.page(before, AT_ONCE)?;
                (store, page)
            }
            None => {
                let page = |store: &Store| store.page(before, AT_ONCE);
                let Some((Opened { store, notices }, page)) = read(&self.session, folder, page)?
                else {
                    return Ok((Vec::new(), Part::Last));
                };
                for notice in notices {
                    self.said.notice(Weight::Note, notice.to_string());
                }
                (store, page)
            }
        };
        if let [row, more @ ..] = page.damaged.as_slice() {
            let text = match more.len() {
                0 => format!("a damaged row of the history was skipped: {row}"),
                more => format!("{} damaged rows of the history were skipped: {row}, …", more + 1),
            };
            self.said.notice(Weight::Warning, text);
        }
        let part = match page.oldest() {
            Some(oldest) if page.rows == AT_ONCE => {
                self.reading = Some((folder.to_owned(), store));
                Part::More(oldest)
            }
            Some(_) | None => Part::Last,
        };
        Ok((page.runs, part))
    }

    pub(super) fn record(&self, recording: &Recording) {
        let Recording { project, kernel, run, device, compiler, workload, origin, parent } =
            recording;
        let Some(chosen) = self.devices.iter().find(|chosen| chosen.device == device.name) else {
            return;
        };
        let asked =
            AskedFor { parameters: &[], workload: workload.as_deref(), keeping: Keeping::Records };
        let mut recorder = Recorder::new(&self.session, project, chosen, asked, compiler.clone());
        let appended = recorder.appended_of(kernel, run, (origin.clone(), parent.as_deref()));
        for notice in &recorder.notices {
            self.said.notice(Weight::Warning, notice.clone());
        }
        let Some(Appended { number, record, before }) = appended else { return };
        let lines = run.verdict.as_ref().map(|passed| {
            let mut told = passed.clone();
            before.tell(&record, &mut told);
            let line = |timing: WorkloadTiming| Some((timing.workload, timing.standing?.line));
            told.timings.into_iter().filter_map(line).collect()
        });
        let provenance = match self.session.state {
            Some(_) => Provenance::Own,
            None => Provenance::Recorded,
        };
        let stored = StoredRun { number, provenance, label: None, record };
        let folder = project.root.clone();
        self.said.say(Finding::Recorded(folder, Box::new(stored), lines.unwrap_or_default()));
    }

    pub(super) fn label(&self, folder: &Path, number: RunNumber, label: Option<Label>) {
        let write = || -> Result<(), HistoryError> {
            let Some(Opened { mut store, .. }) = existing(&self.session, folder)? else {
                return Err(HistoryError::NoSuchRun(number));
            };
            store.label(number, label.as_ref())
        };
        match write() {
            Ok(()) => self.said.say(Finding::Labelled(folder.to_owned(), number, label)),
            Err(error) => self.said.notice(Weight::Error, format!("not labelled: {error}")),
        }
    }

    pub(super) fn read_run(&self, folder: &Path, number: RunNumber) {
        let found = || -> Result<Option<(StoredRun, Option<String>)>, HistoryError> {
            let Some(Opened { store, .. }) = existing(&self.session, folder)? else {
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
                self.said.say(Finding::Run(folder.to_owned(), Box::new(run), source));
            }
            Ok(None) => self.said.notice(Weight::Warning, format!("there is no run #{number}")),
            Err(error) => self.said.notice(Weight::Error, error.to_string()),
        }
    }
}
