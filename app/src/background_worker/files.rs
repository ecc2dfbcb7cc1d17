//! Reads and writes files: projects, texts, the journal of unsaved texts, settings and layouts.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lightbench_core::figure::Figure;
use lightbench_core::project::read::read_project_file;
use lightbench_core::project::{MANIFEST, Problem, Project, ProjectError};
use lightbench_core::whole_file;

use super::TaskRunner;
use crate::theme::ThemeName;
use crate::widgets::figure::png;
use crate::workbench::background_task::{FolderContent, TaskResult};
use crate::workbench::broken_project::BrokenTexts;
use crate::workbench::last_session::LastSession;
use crate::workbench::notices::NoticeLevel;
use crate::workbench::settings::Settings;

/// A journal entry: the project's folder, the file relative to it, the text.
type Entry = (PathBuf, PathBuf, String);

/// A dialog that returns sooner was never shown: on a desktop without a portal, none opens.
const QUICKER_THAN_ANYBODY: Duration = Duration::from_millis(250);

/// Why a folder is not opened as a project.
enum Unreadable {
    NoProject,
    /// Its texts are open instead.
    Broken,
}

/// The texts of a project with problems: `project.ron` and the files that the problems are in.
fn broken(root: &Path, problems: Vec<Problem>) -> BrokenTexts {
    let named = problems.iter().map(|problem| problem.file.clone());
    let files = named.chain([PathBuf::from(MANIFEST)]);
    let text = |file: PathBuf| Some((file.clone(), read_project_file(root, &file).ok()?));
    BrokenTexts { texts: files.filter_map(text).collect(), root: root.to_owned(), problems }
}

impl TaskRunner {
    pub(super) fn open(&mut self, folder: &Path) {
        // The canonical path, so that one folder has one name.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let read = self.read(&folder);
        if matches!(read, Err(Unreadable::NoProject)) {
            return;
        }
        if let Err(error) = self.watch.begin(&folder, &self.results) {
            let text = format!(
                "the project's files cannot be watched, so changes by other programs will not be noticed: {error}"
            );
            self.results.notice(NoticeLevel::Warning, text);
        }
        if read.is_err() {
            self.read_journal(&folder);
            return;
        }
        self.list_searches(&folder);
        self.read_history(&folder, None);
        self.read_journal(&folder);
    }

    pub(super) fn reread(&self, folder: &Path) {
        // The error was already reported.
        self.read(folder).ok();
    }

    /// Reads a project and its lesson.
    fn read(&self, folder: &Path) -> Result<(), Unreadable> {
        let project = match Project::load(folder) {
            Ok(project) => project,
            Err(ProjectError::Missing { file }) if file.ends_with(MANIFEST) => {
                let is_empty =
                    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
                let content = if is_empty { FolderContent::Empty } else { FolderContent::Files };
                self.results.send(TaskResult::NoProject(folder.to_owned(), content));
                return Err(Unreadable::NoProject);
            }
            Err(ProjectError::Problems { problems }) => {
                self.results.send(TaskResult::Broken(Box::new(broken(folder, problems))));
                return Err(Unreadable::Broken);
            }
            Err(error) => {
                self.results.send(TaskResult::Project(folder.to_owned(), Box::new(Err(error))));
                return Err(Unreadable::NoProject);
            }
        };
        let lesson = self.lesson(&project);
        self.results.send(TaskResult::Project(folder.to_owned(), Box::new(Ok(project))));
        if let Some(lesson) = lesson {
            self.results.send(TaskResult::Lesson(folder.to_owned(), Box::new(lesson)));
        }
        Ok(())
    }

    pub(super) fn check_texts(&self, folder: PathBuf, texts: &BTreeMap<PathBuf, String>) {
        let problems = match Project::load_with(&folder, texts) {
            Ok(_) => Vec::new(),
            Err(ProjectError::Problems { problems }) => problems,
            // The disk is unreadable now, which saving reports.
            Err(_) => return,
        };
        self.results.send(TaskResult::TextsChecked(folder, problems));
    }

    pub(super) fn save(&self, folder: &Path, file: PathBuf, text: String) {
        let saved = write_whole(&folder.join(&file), text.as_bytes());
        self.results.send(TaskResult::Saved(file, text, saved.map_err(|error| error.to_string())));
    }

    pub(super) fn create(&self, folder: &Path, file: PathBuf, text: String) {
        let path = folder.join(&file);
        let create = || -> io::Result<()> {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            whole_file::create(&path, text.as_bytes())
        };
        let created = create();
        self.results.send(TaskResult::Saved(
            file,
            text,
            created.map_err(|error| error.to_string()),
        ));
    }

    pub(super) fn keep_journal(&self, folder: &Path, file: &Path, text: &str) {
        let Some(path) = self.journal_of(folder, file) else { return };
        let entry: Entry = (folder.to_owned(), file.to_owned(), text.to_owned());
        let kept = serde_json::to_vec(&entry).map_err(io::Error::other);
        if let Err(error) = kept.and_then(|bytes| write_whole(&path, &bytes)) {
            let text = format!(
                "unsaved text cannot be stored in the journal and would be lost if the program ended: {error}"
            );
            self.results.notice(NoticeLevel::Warning, text);
        }
    }

    pub(super) fn forget_journal(&self, folder: &Path, file: &Path) {
        // The entry may not exist.
        self.journal_of(folder, file).map(fs::remove_file);
    }

    fn read_journal(&self, folder: &Path) {
        let Some(journal) = self.session.state.as_ref().map(|state| state.join("journal")) else {
            return;
        };
        let Ok(entries) = fs::read_dir(&journal) else { return };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            let read =
                fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Entry>(&bytes).ok());
            let Some((of, file, text)) = read.filter(|(of, ..)| of == folder) else { continue };
            let on_disk = fs::read_to_string(of.join(&file)).unwrap_or_default();
            if on_disk == text {
                self.forget_journal(&of, &file);
            } else {
                self.results.send(TaskResult::Journal(of, file, text));
            }
        }
    }

    fn journal_of(&self, folder: &Path, file: &Path) -> Option<PathBuf> {
        let state = self.session.state.as_ref()?;
        let name = blake3::hash(folder.join(file).as_os_str().as_encoded_bytes());
        Some(state.join("journal").join(format!("{}.json", &name.to_hex()[..32])))
    }

    pub(super) fn keep_settings(&self, settings: &Settings) {
        self.keep(SETTINGS, settings.to_ron().map_err(io::Error::other));
    }

    pub(super) fn keep_layouts(&self, text: &str) {
        self.keep(LAYOUTS, Ok(text.to_owned()));
    }

    pub(super) fn keep_session(&self, session: &LastSession) {
        self.keep(SESSION, session.to_ron().map_err(io::Error::other));
    }

    fn keep(&self, name: &str, text: io::Result<String>) {
        let Some(state) = &self.session.state else { return };
        let written = text.and_then(|text| write_whole(&state.join(name), text.as_bytes()));
        if let Err(error) = written {
            self.results.notice(NoticeLevel::Warning, format!("{name} cannot be stored: {error}"));
        }
    }

    pub(super) fn ask_for_folder(&self) {
        let said = self.results.clone();
        self.with_person(move || {
            let dialog = rfd::FileDialog::new().set_title("Open a Lightbench project");
            let asked = Instant::now();
            match dialog.pick_folder() {
                Some(folder) => said.send(TaskResult::Folder(folder)),
                // Too fast for a user: no dialog was shown.
                None if asked.elapsed() < QUICKER_THAN_ANYBODY => said.send(TaskResult::NoDialog),
                None => {}
            }
        });
    }

    pub(super) fn ask_for_source(&self) {
        let said = self.results.clone();
        self.with_person(move || {
            let dialog = rfd::FileDialog::new().set_title("Select a kernel or a task");
            if let Some(path) = dialog.pick_file() {
                said.send(TaskResult::SourceFile(path));
            }
        });
    }

    pub(super) fn export(&self, name: String, bytes: Vec<u8>) {
        let said = self.results.clone();
        self.with_person(move || {
            let dialog = rfd::FileDialog::new().set_title("Save as").set_file_name(name);
            let Some(path) = dialog.save_file() else { return };
            match write_whole(&path, &bytes) {
                Ok(()) => said.notice(NoticeLevel::Good, format!("written to {}", path.display())),
                Err(error) => {
                    said.notice(NoticeLevel::Error, format!("{}: {error}", path.display()));
                }
            }
        });
    }

    pub(super) fn export_picture(&self, name: String, figure: &Figure, theme: ThemeName) {
        let image = png(figure, theme, PICTURE, 2.0);
        let mut bytes = Vec::new();
        match image.write_to(&mut Cursor::new(&mut bytes), image::ImageFormat::Png) {
            Ok(()) => self.export(name, bytes),
            Err(error) => self.results.notice(NoticeLevel::Error, format!("{name}: {error}")),
        }
    }

    /// Runs a dialog on a thread of its own until the user closes it.
    fn with_person(&self, ask: impl FnOnce() + Send + 'static) {
        let started = std::thread::Builder::new().name("dialog".to_owned()).spawn(ask);
        if let Err(error) = started {
            self.results.notice(NoticeLevel::Error, format!("the dialog cannot be shown: {error}"));
        }
    }
}

/// Size of an exported figure, in points.
const PICTURE: (f32, f32) = (960.0, 600.0);
/// The settings file in the state folder.
pub(crate) const SETTINGS: &str = "settings.ron";

/// The layouts file in the state folder.
pub(crate) const LAYOUTS: &str = "layouts.ron";

/// The file of the last session in the state folder.
pub(crate) const SESSION: &str = "session.ron";

/// Creates or replaces a file, and the folders that it is in.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    whole_file::replace(path, bytes)
}
