//! Carries out the dialog that creates a project.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Workbench;
use super::background_task::BackgroundTask;
use super::command::Command;
use super::new_project::{
    CreatedProject, CreationState, NewProject, NewProjectCommand, ProjectPlan,
};
use super::notices::NoticeLevel;

impl Workbench {
    /// Opens the dialog; the folder to create is this one, else one beside the latest project.
    pub(super) fn ask_for_new_project(&mut self, folder: Option<&Path>) {
        let root = self.opened.as_ref().map(|opened| opened.project.root.as_path());
        let near = root.or(self.settings.recent.first().map(PathBuf::as_path));
        let folder = match (folder, near.and_then(Path::parent)) {
            (Some(folder), _) => folder.display().to_string(),
            (None, Some(parent)) => format!("{}/", parent.display()),
            (None, None) => "~/".to_owned(),
        };
        let plan = ProjectPlan { folder, ..ProjectPlan::default() };
        self.selection.new_project = Some(NewProject { plan, state: CreationState::Editing });
    }

    pub(super) fn carry_out_new_project(&mut self, command: NewProjectCommand) {
        match command {
            NewProjectCommand::Ask => self.ask_for_new_project(None),
            NewProjectCommand::Create(plan) => {
                let (plan, state) = (*plan, CreationState::Creating);
                self.submit(BackgroundTask::CreateProject(plan.clone()));
                self.selection.new_project = Some(NewProject { plan, state });
            }
            NewProjectCommand::ChooseFile => self.submit(BackgroundTask::ShowSourceDialog),
            NewProjectCommand::Leave => self.selection.new_project = None,
        }
    }

    /// Opens the created project, or shows why it was not created.
    pub(super) fn project_created(
        &mut self,
        created: Result<CreatedProject, String>,
        now: Duration,
    ) {
        match created {
            Ok(CreatedProject { folder, report }) => {
                self.selection.new_project = None;
                self.notices.add(NoticeLevel::Good, report, now);
                self.carry_out(Command::Open(folder), now);
            }
            Err(why) => {
                if let Some(asked) = &mut self.selection.new_project {
                    asked.state = CreationState::Refused(why);
                }
            }
        }
    }
}
