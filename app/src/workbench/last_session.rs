//! The state of the window that the next start restores, stored in `<state>/session.ron`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lightbench_core::history::RunNumber;
use serde::{Deserialize, Serialize};

/// The schema version that is written.
const SCHEMA: u32 = 1;

/// The state of the window at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastSession {
    /// Version of the file's schema.
    schema: u32,
    /// The open project; `None` is the start page.
    pub open: Option<PathBuf>,
    /// The views of the recent projects.
    projects: BTreeMap<PathBuf, ProjectView>,
}

/// What was shown of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ProjectView {
    /// The open texts, and the one in front.
    pub(super) files: Vec<PathBuf>,
    pub(super) front: Option<PathBuf>,
    pub(super) kernel: String,
    pub(super) workload: String,
    /// The selected and the pinned run.
    pub(super) run: Option<RunNumber>,
    pub(super) pinned: Option<RunNumber>,
}

impl Default for LastSession {
    fn default() -> Self {
        Self { schema: SCHEMA, open: None, projects: BTreeMap::new() }
    }
}

impl LastSession {
    /// Reads a session from text.
    ///
    /// # Errors
    /// The problem, in a sentence.
    pub fn from_ron(text: &str) -> Result<Self, String> {
        let session: Self = ron::from_str(text).map_err(|error| error.to_string())?;
        if session.schema > SCHEMA {
            return Err(format!("schema {} is newer than {SCHEMA}", session.schema));
        }
        Ok(session)
    }

    /// The session as text.
    ///
    /// # Errors
    /// A path is not valid Unicode.
    pub fn to_ron(&self) -> Result<String, ron::Error> {
        ron::ser::to_string_pretty(self, ron::ser::PrettyConfig::default())
    }

    /// What was shown of a project.
    pub(super) fn view(&self, root: &Path) -> Option<&ProjectView> {
        self.projects.get(root)
    }

    /// Updates the view of the open project, and forgets those of projects that are no longer recent.
    pub(super) fn update(&mut self, open: Option<(&Path, ProjectView)>, recent: &[PathBuf]) {
        self.open = open.as_ref().map(|(root, _)| (*root).to_owned());
        if let Some((root, view)) = open {
            self.projects.insert(root.to_owned(), view);
        }
        self.projects.retain(|root, _| recent.contains(root));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_old_projects_are_forgotten() {
        let (first, second) = (Path::new("/p/softmax"), Path::new("/p/gemm"));
        let view = |kernel: &str| ProjectView {
            files: vec![PathBuf::from("kernels/naive.cu")],
            front: None,
            kernel: kernel.to_owned(),
            workload: "large".to_owned(),
            run: Some(RunNumber(7)),
            pinned: None,
        };
        let mut session = LastSession::default();
        session.update(Some((first, view("naive"))), &[first.to_owned()]);
        let both = [second.to_owned(), first.to_owned()];
        session.update(Some((second, view("tiled"))), &both);
        assert_eq!(LastSession::from_ron(&session.to_ron().unwrap()), Ok(session.clone()));
        assert_eq!(session.projects.len(), 2);
        session.update(None, &both[..1]);
        assert_eq!((session.open.as_ref(), session.projects.len()), (None, 1));
        assert!(LastSession::from_ron("(schema: 9)").unwrap_err().contains("newer"));
        assert!(LastSession::from_ron("{").is_err());
    }
}
