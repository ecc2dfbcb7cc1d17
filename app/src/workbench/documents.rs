//! Open texts: what stands in the editor, what stands on disk, and whether the two are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::problem::Problem;

/// How long after the last change a text goes into the journal.
const JOURNAL_AFTER: Duration = Duration::from_secs(2);

/// One open text.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file, below the project's folder.
    pub file: PathBuf,
    /// What stands in the editor.
    pub text: String,
    /// What stood on disk when both were last the same.
    pub on_disk: String,
    /// What somebody else wrote to the file while something was changed here.
    pub theirs: Option<String>,
    /// What is wrong with it, in places of `checked`.
    pub problems: Vec<Problem>,
    /// The text that problems speak of.
    pub checked: String,
    /// Changes so far: another number means another text.
    pub version: u64,
    /// When it was last changed here.
    changed_at: Option<Duration>,
    /// The version that the journal has.
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

    /// Whether something stands here that is not on disk.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.text != self.on_disk
    }

    /// Whether the journal has something of this text that was written since it was opened.
    #[must_use]
    pub const fn has_journal(&self) -> bool {
        self.journalled != 0
    }

    /// What the journal has stands here again.
    pub fn restore(&mut self, text: String) {
        self.text = text;
        self.version += 1;
        self.journalled = self.version;
        self.changed_at = None;
    }

    /// Something was typed.
    pub const fn touch(&mut self, now: Duration) {
        self.version += 1;
        self.changed_at = Some(now);
    }
}

/// All open texts, and which one is in front.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    all: BTreeMap<PathBuf, Document>,
    front: Option<PathBuf>,
    /// Texts of other projects that were not saved when these were left: by folder and file.
    aside: BTreeSet<(PathBuf, PathBuf)>,
}

/// What the journal must learn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalEntry {
    /// This stands in the editor and not on disk.
    Keep(PathBuf, String),
    /// Nothing is to be kept any more.
    Forget(PathBuf),
}

impl Documents {
    /// Shows a text; one that was open already stays as it is.
    pub fn open(&mut self, file: &Path, text: &str) {
        let make = || Document::new(file.to_owned(), text.to_owned());
        self.all.entry(file.to_owned()).or_insert_with(make);
        self.front = Some(file.to_owned());
    }

    /// No text is open.
    pub fn clear(&mut self) {
        *self = Self { aside: std::mem::take(&mut self.aside), ..Self::default() };
    }

    /// The project is left: what must be kept of it, as nobody saved it.
    pub fn put_aside(&mut self, folder: &Path) -> Vec<(PathBuf, String)> {
        let changed = self.all.values().filter(|document| document.is_changed());
        let kept: Vec<_> =
            changed.map(|document| (document.file.clone(), document.text.clone())).collect();
        let files = kept.iter().map(|(file, _)| (folder.to_owned(), file.clone()));
        self.aside.extend(files);
        kept
    }

    /// Whether a text was not saved when its project was left in this window; asked once.
    pub fn was_put_aside(&mut self, folder: &Path, file: &Path) -> bool {
        self.aside.remove(&(folder.to_owned(), file.to_owned()))
    }

    /// Brings an open text to the front.
    pub fn bring_to_front(&mut self, file: &Path) {
        if self.all.contains_key(file) {
            self.front = Some(file.to_owned());
        }
    }

    /// Closes a text.
    pub fn close(&mut self, file: &Path) {
        self.all.remove(file);
        if self.front.as_deref() == Some(file) {
            self.front = self.all.keys().next().cloned();
        }
    }

    /// The text in front.
    #[must_use]
    pub fn front(&self) -> Option<&Document> {
        self.all.get(self.front.as_ref()?)
    }

    /// The text in front, to be changed.
    pub fn front_mut(&mut self) -> Option<&mut Document> {
        self.all.get_mut(self.front.as_ref()?)
    }

    /// A text by its file.
    #[must_use]
    pub fn get(&self, file: &Path) -> Option<&Document> {
        self.all.get(file)
    }

    /// A text by its file, to be changed.
    pub fn get_mut(&mut self, file: &Path) -> Option<&mut Document> {
        self.all.get_mut(file)
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Document> {
        self.all.values()
    }

    /// All of them, to be changed.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Document> {
        self.all.values_mut()
    }

    /// Whether something would be lost.
    #[must_use]
    pub fn any_changed(&self) -> bool {
        self.all.values().any(Document::is_changed)
    }

    /// What a file holds on disk now. An unchanged text follows; a changed one waits for a decision.
    pub fn heard_of_disk(&mut self, file: &Path, text: &str) {
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

    /// A text was written to its file.
    pub fn saved(&mut self, file: &Path, text: &str) {
        if let Some(document) = self.all.get_mut(file) {
            text.clone_into(&mut document.on_disk);
            document.theirs = None;
        }
    }

    /// What the journal must learn now.
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

    /// How long until the journal has something to learn.
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
            documents.heard_of_disk(Path::new(FILE), theirs);
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
