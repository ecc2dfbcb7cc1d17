//! Why nothing was imported: file, place, the text found and the text expected.

use std::fmt;
use std::path::{Path, PathBuf};

use lightbench_primitives::display_text::visible;
use lightbench_project::new_folder::FolderError;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file that cannot be read or does not have the expected content.
    #[error(transparent)]
    Content(Content),
    /// The project folder cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The rendered project does not load; the importer is at fault.
    #[error("the imported project is not valid, which is a defect of the importer: {problems}")]
    Invalid {
        /// The problems that the project reader reports.
        problems: String,
    },
}

/// A file, the place in it, what was found there and what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The file.
    pub file: PathBuf,
    /// A line (`line 3, column 7`) or a field (`axes.rows.type`); empty for the whole file.
    pub place: String,
    /// The content found.
    pub found: String,
    /// The content expected, and what to do.
    pub expected: String,
}

impl std::error::Error for Content {}

impl fmt::Display for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", visible(&self.file.display().to_string()))?;
        if !self.place.is_empty() {
            write!(formatter, "{}: ", visible(&brief(&self.place)))?;
        }
        write!(formatter, "{}; expected {}", visible(&brief(&self.found)), visible(&self.expected))
    }
}

impl ImportError {
    /// An error about the content of a file.
    pub fn new(
        file: &Path,
        place: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Content(Content {
            file: file.to_owned(),
            place: place.into(),
            found: found.into(),
            expected: expected.into(),
        })
    }
}

/// The beginning of a text from a file.
fn brief(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
