//! The dialog that creates a project: from a kernel, a task or a program in a file, from pasted source, or a small example.

use std::path::{Path, PathBuf};

/// The dialog, while it is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewProject {
    pub plan: ProjectPlan,
    pub state: CreationState,
}

/// The project to create.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectPlan {
    pub source: ProjectSource,
    /// The path of a kernel, of a task or of a program, as typed.
    pub path: String,
    /// The pasted source of a kernel.
    pub pasted: String,
    /// The kernel to take from a source with several; empty for the only one.
    pub kernel: String,
    /// A file with the reference, for sources without one; may be empty.
    pub reference: String,
    /// The folder to create, as typed.
    pub folder: String,
}

/// A command of the dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewProjectCommand {
    /// Show the dialog.
    Ask,
    /// Create a project and open it.
    Create(Box<ProjectPlan>),
    /// Show the desktop's dialog that selects the source.
    ChooseFile,
    /// Close the dialog.
    Leave,
}

/// What a new project is made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProjectSource {
    /// A file or a folder.
    #[default]
    Path,
    /// Pasted text.
    Pasted,
    /// A small complete example.
    Example,
}

/// Progress of the creation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CreationState {
    #[default]
    Editing,
    Creating,
    /// The project was not created, for this reason.
    Refused(String),
}

/// A project that was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedProject {
    pub folder: PathBuf,
    /// What was carried over and what is left to do.
    pub report: String,
}

impl ProjectPlan {
    /// Why the project cannot be created yet.
    #[must_use]
    pub fn missing(&self) -> Option<&'static str> {
        match self.source {
            ProjectSource::Path if self.path.trim().is_empty() => {
                Some("Enter the path of a kernel or of a task")
            }
            ProjectSource::Pasted if self.pasted.trim().is_empty() => {
                Some("Paste the source of a kernel")
            }
            ProjectSource::Path | ProjectSource::Pasted | ProjectSource::Example
                if self.folder.trim().is_empty() =>
            {
                Some("Enter the folder to create")
            }
            ProjectSource::Path | ProjectSource::Pasted | ProjectSource::Example => None,
        }
    }

    /// Proposes a folder beside the last one with the name of the source, if the proposal was not edited.
    pub fn propose_folder(&mut self, before: &str) {
        let proposal = |path: &str| {
            let stem = Path::new(path.trim()).file_stem()?;
            Some(stem.to_string_lossy().replace([' ', '.'], "-"))
        };
        let (old, new) = (proposal(before).unwrap_or_default(), proposal(&self.path));
        let parent = self.folder.strip_suffix(old.as_str());
        // A folder that was given without a source is no proposal.
        let parent = parent.filter(|parent| parent.ends_with(std::path::is_separator));
        if let (Some(parent), Some(new)) = (parent, new) {
            self.folder = format!("{parent}{new}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_follows_the_source_until_it_is_edited() {
        let check = |folder: &str, before: &str, path: &str, expected: &str| {
            let (folder, path) = (folder.to_owned(), path.to_owned());
            let mut plan = ProjectPlan { folder, path, ..ProjectPlan::default() };
            plan.propose_folder(before);
            assert_eq!(plan.folder, expected, "{before} -> {}", plan.path);
        };
        check("~/code/", "", "/src/my kernel.cu", "~/code/my-kernel");
        check("~/code/gem", "/src/gem", "/src/gemm.py", "~/code/gemm");
        check("~/code/other", "/src/gem", "/src/gemm.py", "~/code/other");
        check("~/code/", "", "", "~/code/");
        check("~/code/empty", "", "/src/gemm.py", "~/code/empty");
    }

    #[test]
    fn a_plan_states_what_it_lacks() {
        let mut plan = ProjectPlan::default();
        assert_eq!(plan.missing(), Some("Enter the path of a kernel or of a task"));
        plan.source = ProjectSource::Pasted;
        assert_eq!(plan.missing(), Some("Paste the source of a kernel"));
        plan.source = ProjectSource::Example;
        assert_eq!(plan.missing(), Some("Enter the folder to create"));
        plan.folder = "~/x".to_owned();
        assert_eq!(plan.missing(), None);
    }
}
