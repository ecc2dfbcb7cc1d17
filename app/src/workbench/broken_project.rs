//! A folder whose project cannot be read: its texts are open in the editor, and what is wrong with them is checked while
//! the user types. Saving texts without a problem opens the project.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use lightbench_core::project::Problem as ProjectProblem;

use super::problem::Problem;

/// The texts of a folder whose project cannot be read.
#[derive(Clone, Debug)]
pub struct BrokenTexts {
    pub root: PathBuf,
    /// `project.ron` and the files with problems, relative to the folder.
    pub texts: BTreeMap<PathBuf, String>,
    pub problems: Vec<ProjectProblem>,
}

/// The open folder whose project cannot be read.
#[derive(Clone, Debug)]
pub struct BrokenProject {
    pub root: PathBuf,
    /// Problems of the texts as they were last checked.
    pub problems: Vec<Problem>,
    pub(super) check: LiveCheck,
}

/// The state of the check of typed texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiveCheck {
    /// The sum of the versions of all texts, which grows with every change.
    pub(super) versions: u64,
    /// When the texts are checked; `None` if they are.
    pub(super) due: Option<Duration>,
}
