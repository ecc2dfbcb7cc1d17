//! The projects of a stream, each loaded once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lightbench_core::project::{Project, ProjectError};
use lightbench_core::report::document::error::{ErrorDetails, ErrorKind};

/// Loaded projects by the path that names them. A change of their files while the stream runs has no effect.
#[derive(Debug, Default)]
pub(super) struct LoadedProjects {
    projects: BTreeMap<PathBuf, Result<Arc<Project>, ErrorDetails>>,
}

impl LoadedProjects {
    /// The project in a folder.
    ///
    /// # Errors
    /// It cannot be loaded; the failure is kept too.
    pub(super) fn get(&mut self, folder: &Path) -> Result<Arc<Project>, ErrorDetails> {
        if let Some(known) = self.projects.get(folder) {
            return known.clone();
        }
        let loaded = Project::load(folder).map(Arc::new).map_err(|error| details(folder, &error));
        self.projects.insert(folder.to_owned(), loaded.clone());
        loaded
    }
}

fn details(folder: &Path, error: &ProjectError) -> ErrorDetails {
    let message = format!("project {}: {error}", folder.display());
    match error {
        ProjectError::Problems { problems } => ErrorDetails::from_problems(message, problems),
        ProjectError::UnreadableFolder { .. }
        | ProjectError::NotAFolder { .. }
        | ProjectError::Missing { .. }
        | ProjectError::Unreadable { .. } => ErrorDetails::new(ErrorKind::Request, message),
    }
}
