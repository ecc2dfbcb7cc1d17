//! Open texts: the editor's text, the text on disk, and conflicts between the two.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::problem::Problem;

/// Delay between the last change of a text and its journal entry.
const JOURNAL_AFTER: Duration = Duration::from_secs(2);

/// An open text.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file, relative to the project's folder.
    pub file: PathBuf,
    /// The editor's text.
    pub text: String,
    /// The text on disk when both were last equal.
    pub on_disk: String,
    /// The text that another program wrote while the editor's text was changed.
    pub theirs: Option<String>,
    /// Problems, with positions in `checked`.
    pub problems: Vec<Problem>,
    /// The text that the problems refer to.
    pub checked: String,
    /// Incremented by each change.
    pub version: u64,
    /// The time of the latest change in the editor.
    changed_at: Option<Duration>,
    /// The version that the journal holds.
    journalled: u64,
}

impl Document {
    fn new(file: PathBuf, text: String) -> Self {
        Self {
            file,
            on_disk: text.clone(),
            checked: text.clone(),
            text,
            theirs: None,
            problems: Vec::new(),
            version: 0,
            changed_at: None,
            journalled: 0,
        }
    }

    /// Whether the editor's text differs from the file.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.text != self.on_disk
    }

    /// Whether the journal holds a version of this text since it was opened.
    #[must_use]
    pub const fn has_journal(&self) -> bool {
        self.journalled != 0
    }

    /// Replaces the text by the journal's version.
    pub fn restore(&mut self, text: String) {
        self.text = text;
        self.version += 1;
        self.journalled = self.version;
        self.changed_at = None;
    }

    /// Records a change made at `now`.
    pub const fn touch(&mut self, now: Duration) {
        self.version += 1;
        self.changed_at = Some(now);
    }
}

/// All open texts, and the one in front.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    all: BTreeMap<PathBuf, Document>,
    front: Option<PathBuf>,
    /// Texts of projects closed in this window that were unsaved, by folder and file.
    aside: BTreeSet<(PathBuf, PathBuf)>,
}

/// A change to the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalEntry {
    /// Store this text.
    Keep(PathBuf, String),
    /// Delete the entry of this file.
    Forget(PathBuf),
}

impl Documents {
    /// Opens a text; a text that is already open is unchanged.
    pub fn open(&mut self, file: &Path, text: &str) {
        let make = || Document::new(file.to_owned(), text.to_owned());
        self.all.entry(file.to_owned()).or_insert_with(make);
        self.front = Some(file.to_owned());
    }

    /// Closes all texts.
    pub fn clear(&mut self) {
        *self = Self { aside: std::mem::take(&mut self.aside), ..Self::default() };
    }

    /// Closes the project's texts and returns those that are unsaved, with their files.
    pub fn put_aside(&mut self, folder: &Path) -> Vec<(PathBuf, String)> {
        let changed = self.all.values().filter(|document| document.is_changed());
        let kept: Vec<_> =
            changed.map(|document| (document.file.clone(), document.text.clone())).collect();
        let files = kept.iter().map(|(file, _)| (folder.to_owned(), file.clone()));
        self.aside.extend(files);
        kept
    }

    /// Whether a text was unsaved when its project was closed in this window; true once per text.
    pub fn was_put_aside(&mut self, folder: &Path, file: &Path) -> bool {
        self.aside.remove(&(folder.to_owned(), file.to_owned()))
    }

    pub fn bring_to_front(&mut self, file: &Path) {
        if self.all.contains_key(file) {
            self.front = Some(file.to_owned());
        }
    }

    pub fn close(&mut self, file: &Path) {
        self.all.remove(file);
        if self.front.as_deref() == Some(file) {
            self.front = self.all.keys().next().cloned();
        }
    }

    #[must_use]
    pub fn front(&self) -> Option<&Document> {
        self.all.get(self.front.as_ref()?)
    }

    pub fn front_mut(&mut self) -> Option<&mut Document> {
        self.all.get_mut(self.front.as_ref()?)
    }

    #[must_use]
    pub fn get(&self, file: &Path) -> Option<&Document> {
        self.all.get(file)
    }

    pub fn get_mut(&mut self, file: &Path) -> Option<&mut Document> {
        self.all.get_mut(file)
    }

    pub fn all(&self) -> impl Iterator<Item = &Document> {
        self.all.values()
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Document> {
        self.all.values_mut()
    }

    /// Whether a text is unsaved.
    #[must_use]
    pub fn any_changed(&self) -> bool {
        self.all.values().any(Document::is_changed)
    }

    /// Handles new content of a file on disk: an unchanged text follows, a changed text becomes a conflict.
    pub fn update_from_disk(&mut self, file: &Path, text: &str) {
        let Some(document) = self.all.get_mut(file) else { return };
        if document.on_disk == text {
            document.theirs = None;
        } else if document.text == document.on_disk || document.text == text {
            text.clone_into(&mut document.text);
            text.clone_into(&mut document.on_disk);
            document.theirs = None;
            document.version += 1;
        } else {
            document.theirs = Some(text.to_owned());
        }
    }

    /// Records that a text was written to its file.
    pub fn saved(&mut self, file: &Path, text: &str) {
        if let Some(document) = self.all.get_mut(file) {
            text.clone_into(&mut document.on_disk);
            document.theirs = None;
        }
    }

    /// Journal changes that are due.
    pub fn journal(&mut self, now: Duration) -> Vec<JournalEntry> {
        let mut entries = Vec::new();
        for document in self.all.values_mut() {
            let rested = document.changed_at.is_some_and(|at| now >= at + JOURNAL_AFTER);
            let kept = document.journalled != 0;
            if !document.is_changed() {
                if kept {
                    entries.push(JournalEntry::Forget(document.file.clone()));
                    document.journalled = 0;
                }
                document.changed_at = None;
            } else if rested && document.journalled != document.version {
                entries.push(JournalEntry::Keep(document.file.clone(), document.text.clone()));
                document.journalled = document.version;
                document.changed_at = None;
            }
        }
        entries
    }

    /// Time until the next journal change is due.
    #[must_use]
    pub fn journal_due(&self, now: Duration) -> Option<Duration> {
        let due =
            |document: &Document| Some((document.changed_at? + JOURNAL_AFTER).saturating_sub(now));
        self.all.values().filter_map(due).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "kernels/naive.cu";

    fn opened(text: &str) -> Documents {
        let mut documents = Documents::default();
        documents.open(Path::new(FILE), text);
        documents
    }

    fn typed(documents: &mut Documents, text: &str, seconds: u64) {
        let document = documents.front_mut().unwrap();
        text.clone_into(&mut document.text);
        document.touch(Duration::from_secs(seconds));
    }

    #[test]
    fn what_somebody_else_writes_is_followed_or_waits() {
        let check = |mine: &str, theirs: &str, (text, waits): (&str, Option<&str>)| {
            let mut documents = opened("old");
            if mine != "old" {
                typed(&mut documents, mine, 0);
            }
            documents.update_from_disk(Path::new(FILE), theirs);
            let document = documents.front().unwrap();
            assert_eq!(
                (document.text.as_str(), document.theirs.as_deref()),
                (text, waits),
                "{mine} {theirs}"
            );
        };
        check("old", "old", ("old", None));
        check("old", "new", ("new", None));
        check("mine", "old", ("mine", None));
        check("mine", "mine", ("mine", None));
        check("mine", "theirs", ("mine", Some("theirs")));
    }

    #[test]
    fn the_journal_learns_what_would_be_lost() {
        let mut documents = opened("old");
        let at = Duration::from_secs;
        assert_eq!(documents.journal(at(9)), []);
        typed(&mut documents, "new", 10);
        assert_eq!(documents.journal(at(11)), [], "somebody is still typing");
        assert_eq!(documents.journal_due(at(11)), Some(at(1)));
        let file = PathBuf::from(FILE);
        assert_eq!(documents.journal(at(12)), [JournalEntry::Keep(file.clone(), "new".to_owned())]);
        assert_eq!(documents.journal(at(13)), []);
        documents.saved(&file, "new");
        assert_eq!(documents.journal(at(14)), [JournalEntry::Forget(file)]);
        assert_eq!((documents.journal(at(15)), documents.any_changed()), (Vec::new(), false));
    }
}
