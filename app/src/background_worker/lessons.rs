//! Lessons, and the progress in them.

use std::fs;
use std::path::{Path, PathBuf};

use lightbench_core::compile::Compiler;
use lightbench_core::lesson::Lesson;
use lightbench_core::project::Project;

use super::TaskRunner;
use super::files::write_whole;
use crate::commands::python_setup;
use crate::workbench::lesson::{LessonProgress, LoadedLesson};
use crate::workbench::notices::NoticeLevel;

/// The folder of lesson progress in the state folder.
const PROGRESS: &str = "lessons";

impl TaskRunner {
    /// The lesson of a project, if it has one, with the stored progress.
    pub(super) fn lesson(&self, project: &Project) -> Option<LoadedLesson> {
        let lesson = Lesson::read(project)?;
        let path = self.progress_of(&project.root);
        let kept = path.and_then(|path| fs::read(path).ok());
        let progress = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Some(LoadedLesson { lesson, progress })
    }

    pub(super) fn keep_progress(&self, folder: &Path, progress: &LessonProgress) {
        let Some(path) = self.progress_of(folder) else { return };
        let bytes = serde_json::to_vec_pretty(progress).map_err(std::io::Error::other);
        if let Err(error) = bytes.and_then(|bytes| write_whole(&path, &bytes)) {
            let text = format!("progress in the lesson cannot be stored: {error}");
            self.results.notice(NoticeLevel::Warning, text);
        }
    }

    fn progress_of(&self, folder: &Path) -> Option<PathBuf> {
        let state = self.session.state.as_ref()?;
        let name = blake3::hash(folder.as_os_str().as_encoded_bytes());
        Some(state.join(PROGRESS).join(format!("{}.json", &name.to_hex()[..32])))
    }

    pub(super) fn compiler(&self) -> Result<Compiler, String> {
        let toolchain = self.toolchain()?;
        let command = self.session.worker_command().map_err(|error| error.to_string())?;
        let compiler = Compiler::new(toolchain, command, self.session.host.cache.clone());
        Ok(compiler.with_python(python_setup::access(&self.session)))
    }
}
