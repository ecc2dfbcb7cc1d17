//! Restores the kernel of an earlier run: its stored texts replace the files that the project has today.

use std::path::Path;

use lightbench_project::{IncludeFile, Kernel, Project};

use super::error::HistoryError;
use super::record::RunRecord;
use super::store::Store;

/// The reason why the kernel of a run cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The history cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The run was imported, or its kernel could not be read.
    #[error("the history has no source text of it")]
    NoText,
    /// A text is missing, or its hash does not match.
    #[error("the history does not have the text of {file}")]
    Text {
        /// The file that had it.
        file: String,
    },
    /// The text does not fit the current project.
    #[error("its text is not a valid kernel of this project any more: {problem}")]
    NotAKernel {
        /// The first thing that is wrong with it.
        problem: String,
    },
}

impl Store {
    /// The kernel of a run, and the project with the include files of that run.
    ///
    /// # Errors
    /// The history cannot be read, a text is missing, or the text does not fit the project.
    pub fn restore(
        &self,
        project: &Project,
        record: &RunRecord,
    ) -> Result<(Project, Kernel), RestoreError> {
        let mut texts = Vec::new();
        for source in &record.sources {
            let text = self.text(&source.text)?.and_then(|bytes| String::from_utf8(bytes).ok());
            let text = text.ok_or_else(|| RestoreError::Text { file: source.file.clone() })?;
            texts.push((source.file.as_str(), text));
        }
        let mut texts = texts.into_iter();
        let (_, own) = texts.next().ok_or(RestoreError::NoText)?;
        let mut project = project.clone();
        for (file, source) in texts {
            let file = Path::new(file).to_owned();
            project.includes.retain(|include| include.file != file);
            project.includes.push(IncludeFile { file, source });
        }
        let kernel =
            project.draft(&record.kernel, own).map_err(|problems| RestoreError::NotAKernel {
                problem: problems.first().map(ToString::to_string).unwrap_or_default(),
            })?;
        Ok((project, kernel))
    }
}
