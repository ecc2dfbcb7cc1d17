//! Unsaved texts: of a closed project, in conflict with the disk, or restored from the journal.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::background_task::BackgroundTask;
use super::command::{Recovery, Resolution};
use super::documents::Document;
use super::notices::NoticeLevel;
use super::{Selection, UiEffect, Workbench};

impl Workbench {
    /// Closes the open project; unsaved texts are kept in the journal.
    pub(super) fn leave(&mut self, now: Duration) {
        if let Some(folder) = self.root().map(Path::to_owned) {
            let kept = self.documents.put_aside(&folder);
            let name = self.opened.as_ref().map(|opened| opened.project.definition.name.clone());
            let name = name.unwrap_or_else(|| folder.display().to_string());
            if let Some(text) = said_of_kept(&kept, &name) {
                self.notices.add(NoticeLevel::Note, text, now);
            }
            for (file, text) in kept {
                self.submit(BackgroundTask::SaveJournal(folder.clone(), file, text));
            }
        }
        self.documents.clear();
        self.evaluations.clear();
        self.runs.clear();
        self.searches.clear();
        self.selection = Selection::default();
        self.effects.push(UiEffect::RestoreLayout);
    }

    pub(super) fn resolve(&mut self, file: &Path, resolution: Resolution) {
        let is_front = self.documents.front().is_some_and(|front| front.file == file);
        let Some(document) = self.documents.get_mut(file) else { return };
        let Some(theirs) = document.theirs.clone() else { return };
        match resolution {
            Resolution::KeepMine => {
                document.on_disk = theirs;
                document.theirs = None;
            }
            Resolution::TakeTheirs => {
                document.on_disk.clone_from(&theirs);
                document.theirs = None;
                if is_front {
                    self.effects.push(UiEffect::Replace(theirs));
                } else {
                    document.text = theirs;
                }
            }
            Resolution::Compare => {
                let shown = self.selection.contrasted.take();
                self.selection.contrasted =
                    shown.is_none_or(|shown| shown != file).then(|| file.to_owned());
                self.documents.bring_to_front(file);
            }
        }
    }

    /// The text in front and its conflicting version on disk, while the user compares them.
    #[must_use]
    pub fn contrasted(&self) -> Option<(&Document, &str)> {
        let front = self.documents.front()?;
        let wanted = self.selection.contrasted.as_ref() == Some(&front.file);
        Some((front, front.theirs.as_deref().filter(|_| wanted)?))
    }

    pub(super) fn recover(&mut self, file: &Path, recovery: Recovery) {
        let Some(at) = self.selection.lost.iter().position(|(lost, _)| lost == file) else {
            return;
        };
        let (file, text) = self.selection.lost.remove(at);
        let Some(opened) = &self.opened else { return };
        match recovery {
            Recovery::Forget => {
                self.background
                    .submit(BackgroundTask::DeleteJournal(opened.project.root.clone(), file));
            }
            Recovery::Restore => {
                if opened.text_of(&file).is_some() {
                    self.go_to(&file, 1, 1);
                } else {
                    // The file never existed on disk.
                    self.documents.open(&file, "");
                }
                if let Some(document) = self.documents.get_mut(&file) {
                    document.restore(text);
                }
            }
        }
    }

    /// Handles a journal entry: a text left unsaved in this window is restored, one left by an ended program is
    /// offered.
    pub(super) fn journalled(&mut self, folder: &Path, file: &Path, text: String) {
        // The editor holds this text or a newer one.
        let is_there = |document: &Document| document.text == text || document.has_journal();
        if self.documents.get(file).is_some_and(is_there) {
            return;
        }
        self.selection.lost.retain(|(lost, _)| *lost != file);
        self.selection.lost.push((file.to_owned(), text));
        if self.documents.was_put_aside(folder, file) {
            self.recover(file, Recovery::Restore);
        }
    }
}

/// The notice about texts that are kept in the journal.
fn said_of_kept(kept: &[(PathBuf, String)], project: &str) -> Option<String> {
    let (first, rest) = kept.split_first()?;
    let file = first.0.display();
    Some(match rest.len() {
        0 => format!(
            "{file} of {project} is not saved; it is restored when the project is opened again"
        ),
        others => format!(
            "{file} and {others} more of {project} are not saved; they are restored when the project is opened again"
        ),
    })
}
