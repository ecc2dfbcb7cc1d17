//! Audit of the checker on a thread of its own: every cheat is evaluated at the lowest priority.

use std::sync::Arc;
use std::thread::Builder;

use lightbench_core::audit::{VerdictSource, audit};
use lightbench_core::cancellation::Cancellation;
use lightbench_core::engine::{AskedBy, Client, Conditions, Ending, Request, Work};
use lightbench_core::evaluate::{EvaluateError, PolicyUse, Run};
use lightbench_core::project::{Kernel, Project};
use lightbench_core::verify::verdict::TimingUse;

use super::TaskRunner;
use crate::commands::run::evaluated_run;
use crate::workbench::audit::AuditRequest;
use crate::workbench::background_task::TaskResult;

impl TaskRunner {
    pub(super) fn try_checker(&self, trial: AuditRequest) {
        let folder = trial.project.root.clone();
        let refuse = |why: &str| {
            self.results.send(TaskResult::CheckerAudited(folder.clone(), Err(why.to_owned())));
        };
        let Some(engine) = &self.engine else {
            return refuse(
                "this machine cannot evaluate: no compiler or device was found; see Doctor",
            );
        };
        let (said, of, client) = (self.results.clone(), folder.clone(), engine.client());
        let examine = move || {
            let AuditRequest { project, device, seed, cancellation: unwanted } = trial;
            let conditions = Conditions {
                device: device.name,
                sheet: device.sheet,
                calibration: device.calibration,
                workload: None,
                seed,
                policy: PolicyUse::Refuse,
                timing: TimingUse::Skip,
            };
            let mut bar =
                CandidateChecker { client, project: Arc::clone(&project), conditions, unwanted };
            let matrix = audit(&project, &mut bar).map_err(|error| error.to_string());
            said.send(TaskResult::CheckerAudited(of, matrix));
        };
        if let Err(error) = Builder::new().name("audit".to_owned()).spawn(examine) {
            refuse(&format!("the system cannot start another thread: {error}"));
        }
    }
}

/// Evaluates each kernel of the audit with the engine.
struct CandidateChecker {
    client: Client,
    project: Arc<Project>,
    conditions: Conditions,
    unwanted: Cancellation,
}

impl CandidateChecker {
    fn ending(&self, request: Request) -> Ending {
        self.client.wait_for_ending(request, &self.unwanted).unwrap_or_else(|refused| {
            Ending::Impossible(EvaluateError::Environment(refused.to_string()))
        })
    }
}

impl VerdictSource for CandidateChecker {
    fn verdict(
        &mut self,
        _name: &str,
        kernel: &Kernel,
        policy: PolicyUse,
    ) -> Result<Run, EvaluateError> {
        let work = Work {
            project: Arc::clone(&self.project),
            kernel: Arc::new(kernel.clone()),
            chosen: std::collections::BTreeMap::new(),
            asked_by: AskedBy::Background,
        };
        let conditions = Conditions { policy, ..self.conditions.clone() };
        evaluated_run(self.ending(Request::Evaluate(work, conditions)), self.conditions.seed)
    }
}
