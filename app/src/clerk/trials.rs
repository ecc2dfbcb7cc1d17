//! The checker examined: every cheat brought before the engine, after everybody else, on a thread of its own.

use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

use lightbench_core::audit::{Court, audit};
use lightbench_core::cancellation::Cancellation;
use lightbench_core::engine::{AskedBy, Client, Conditions, Ending, Event, Request, Work};
use lightbench_core::evaluate::{EvaluateError, PolicyUse, Run};
use lightbench_core::project::{Kernel, Project};
use lightbench_core::verify::verdict::TimingUse;

use super::Worker;
use crate::commands::run::evaluated_run;
use crate::workbench::catches::Trial;
use crate::workbench::errand::Finding;

/// How often it is looked whether anybody still wants to know.
const PATIENCE: Duration = Duration::from_millis(50);

impl Worker {
    pub(super) fn try_checker(&self, trial: Trial) {
        let folder = trial.project.root.clone();
        let refuse = |why: &str| {
            self.said.say(Finding::Tried(folder.clone(), Err(why.to_owned())));
        };
        let Some(engine) = &self.engine else { return refuse("nothing can run on this machine") };
        let (said, of, client) = (self.said.clone(), folder.clone(), engine.client());
        let examine = move || {
            let Trial { project, device, seed, unwanted } = trial;
            let conditions = Conditions {
                device: device.name,
                sheet: device.sheet,
                calibration: device.calibration,
                workload: None,
                seed,
                policy: PolicyUse::Refuse,
                timing: TimingUse::Skip,
            };
            let mut bar = Bar { client, project: Arc::clone(&project), conditions, unwanted };
            let matrix = audit(&project, &mut bar).map_err(|error| error.to_string());
            said.say(Finding::Tried(of, matrix));
        };
        if let Err(error) = Builder::new().name("audit".to_owned()).spawn(examine) {
            refuse(&format!("the system has no more threads: {error}"));
        }
    }
}

/// The engine, before which every kernel is brought.
struct Bar {
    client: Client,
    project: Arc<Project>,
    conditions: Conditions,
    unwanted: Cancellation,
}

impl Bar {
    fn ending(&self, request: Request) -> Ending {
        let asked = match self.client.ask(request) {
            Ok(asked) => asked,
            Err(refused) => {
                return Ending::Impossible(EvaluateError::Environment(refused.to_string()));
            }
        };
        let mut told = None;
        loop {
            if self.unwanted.is_cancelled() && told.is_none() {
                // Refused only where it has ended meanwhile, which is what is waited for.
                told = Some(self.client.ask(Request::Cancel(asked)));
            }
            if let Some(Event::Finished { request, ending }) = self.client.next_event(PATIENCE)
                && request == asked
            {
                return ending;
            }
        }
    }
}

impl Court for Bar {
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
