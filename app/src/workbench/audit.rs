//! The audit of the checker on the open project: generated cheats, kernels that must fail and kernels that must pass.
//! It takes long, so it runs only on request.

use std::sync::Arc;
use std::time::Duration;

use lightbench_core::audit::Matrix;
use lightbench_core::cancellation::Cancellation;
use lightbench_core::project::Project;

use super::Workbench;
use super::background_task::{BackgroundTask, DeviceChoice};
use super::notices::NoticeLevel;

/// State of the audit.
#[derive(Clone, Debug, Default)]
pub enum AuditState {
    /// Not requested.
    #[default]
    Unknown,
    /// The audit runs; dropping this value cancels it.
    Running(Arc<CancelOnDrop>),
    Done(Arc<Matrix>),
    /// The audit could not run, for this reason.
    Failed(String),
}

/// A cancellation flag that is set when the last reference is dropped.
#[derive(Debug, Default)]
pub struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A request to audit the checker.
#[derive(Clone, Debug)]
pub struct AuditRequest {
    pub project: Arc<Project>,
    pub device: DeviceChoice,
    /// The seed of all inputs.
    pub seed: u64,
    /// Set when the result is no longer needed.
    pub cancellation: Cancellation,
}

impl Workbench {
    /// Starts an audit of the checker on the open project.
    pub(super) fn audit_checker(&mut self, now: Duration) {
        let Some(device) = self.device().cloned() else {
            let text = "wait until the devices are detected, then start the audit again";
            self.notices.add(NoticeLevel::Note, text, now);
            return;
        };
        let seed = match getrandom::u64() {
            Ok(seed) => seed,
            Err(error) => {
                self.notices.add(NoticeLevel::Error, format!("no random numbers: {error}"), now);
                return;
            }
        };
        let Some(opened) = &mut self.opened else { return };
        let wanted = CancelOnDrop::default();
        let (project, unwanted) = (Arc::clone(&opened.project), wanted.0.clone());
        opened.audit = AuditState::Running(Arc::new(wanted));
        self.background.submit(BackgroundTask::AuditChecker(Box::new(AuditRequest {
            project,
            device,
            seed,
            cancellation: unwanted,
        })));
    }

    /// Cancels the audit.
    pub(super) fn stop_audit(&mut self) {
        if let Some(opened) = &mut self.opened
            && let AuditState::Running(_) = opened.audit
        {
            opened.audit = AuditState::Unknown;
        }
    }

    /// Stores the result of the audit, unless it was cancelled.
    pub(super) fn handle_audit(&mut self, matrix: Result<Matrix, String>) {
        let Some(opened) = &mut self.opened else { return };
        if let AuditState::Running(_) = opened.audit {
            opened.audit = match matrix {
                Ok(matrix) => AuditState::Done(Arc::new(matrix)),
                Err(why) => AuditState::Failed(why),
            };
        }
    }
}
