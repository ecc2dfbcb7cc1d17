//! Stores what is shown, and restores it when the project is opened again.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Workbench;
use super::background_task::BackgroundTask;
use super::command::Command;
use super::last_session::ProjectView;

impl Workbench {
    /// Stores the session if it differs from the stored one.
    pub(super) fn keep_session(&mut self) {
        let open = self.opened.as_ref().map(|opened| {
            let view = ProjectView {
                files: self.documents.all().map(|document| document.file.clone()).collect(),
                front: self.documents.front().map(|front| front.file.clone()),
                kernel: opened.kernel.clone(),
                workload: opened.workload.clone(),
                run: self.selection.run,
                pinned: self.selection.pinned.as_ref().map(|pinned| pinned.number),
            };
            (opened.project.root.as_path(), view)
        });
        let session = &mut self.last_session;
        let is_stored = match &open {
            Some((root, view)) => {
                session.open.as_deref() == Some(*root) && session.view(root) == Some(view)
            }
            None => session.open.is_none(),
        };
        if !is_stored {
            session.update(open, &self.settings.recent);
            self.background.submit(BackgroundTask::SaveSession(session.clone()));
        }
    }

    /// Reads the newest runs of recent projects while the start page shows them.
    pub(super) fn read_recent(&mut self) {
        if self.opened.is_some() || self.broken.is_some() {
            self.samples.recent = None;
        } else if self.samples.recent.is_none() && !self.settings.recent.is_empty() {
            self.samples.recent = Some(BTreeMap::new());
            self.background.submit(BackgroundTask::ReadRecent(self.settings.recent.clone()));
        }
    }

    /// Restores what was shown of the project that was just opened, as far as it still exists.
    pub(super) fn restore_view(&mut self, now: Duration) {
        let Some(root) = self.opened.as_ref().map(|opened| &opened.project.root) else { return };
        let Some(view) = self.last_session.view(root).cloned() else { return };
        for file in &view.files {
            let text = self.opened.as_ref().and_then(|opened| opened.text_of(file));
            if let Some((_, text)) = text {
                self.documents.open(file, &text);
            }
        }
        if let Some(opened) = &mut self.opened
            && opened.project.workload(&view.workload).is_ok()
        {
            opened.workload.clone_from(&view.workload);
        }
        self.carry_out(Command::ChooseKernel(view.kernel), now);
        if let Some(front) = view.front.filter(|front| self.documents.get(front).is_some()) {
            self.carry_out(Command::Front(front), now);
        }
        self.selection.run = view.run;
        if let Some(pinned) = view.pinned {
            self.carry_out(Command::Pin(pinned), now);
        }
    }
}
