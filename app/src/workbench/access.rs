//! What a warp of the kernel accesses: what was asked for, and what was seen.

use std::sync::Arc;
use std::time::Duration;

use lightbench_core::access::{Recording, usual_workload};
use lightbench_core::device::DeviceSheet;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::virtual_gpu::machine::WarpId;

use super::Workbench;
use super::errand::Errand;
use super::notices::Weight;

/// What somebody wants to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Of which kernel.
    pub kernel: String,
    /// On which workload's inputs.
    pub workload: String,
    /// Which warp.
    pub warp: WarpId,
}

/// What is handed over to be looked at.
#[derive(Clone, Debug)]
pub struct Tracing {
    /// What is wanted.
    pub wanted: Wanted,
    /// The project as it is.
    pub project: Arc<Project>,
    /// The kernel as it is.
    pub kernel: Arc<Kernel>,
    /// The device that is played.
    pub sheet: &'static DeviceSheet,
}

/// What is known of accesses.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// What was asked for last.
    pub wanted: Option<Wanted>,
    /// What came of it.
    pub seen: Seen,
}

/// What came of looking.
#[derive(Clone, Debug, Default)]
pub enum Seen {
    /// Nobody looked.
    #[default]
    Nothing,
    /// The kernel is running.
    Looking,
    /// Here it is.
    Recorded(Arc<Recording>),
    /// It could not be seen.
    Failed(String),
}

impl Workbench {
    /// What is looked at where nobody said: the first warp, on the largest workload that is for verifying.
    #[must_use]
    pub fn usual_accesses(&self) -> Option<Wanted> {
        let opened = self.opened.as_ref()?;
        let workload = usual_workload(&opened.project)?.name.clone();
        let warp = WarpId { block: [0; 3], warp: 0 };
        Some(Wanted { kernel: opened.kernel.clone(), workload, warp })
    }

    /// Has a warp looked at.
    pub(super) fn trace(&mut self, wanted: Option<Wanted>, now: Duration) {
        let Some(wanted) = wanted.or_else(|| self.usual_accesses()) else { return };
        let Some(sheet) = self.device().map(|device| device.sheet) else {
            let text = "nothing can be looked at before the machine is known";
            self.notices.say(Weight::Note, text.to_owned(), now);
            return;
        };
        let Some(opened) = &mut self.opened else { return };
        let Ok(kernel) = opened.project.kernel(&wanted.kernel) else { return };
        let tracing = Tracing {
            wanted: wanted.clone(),
            project: Arc::clone(&opened.project),
            kernel: Arc::new(kernel.clone()),
            sheet,
        };
        opened.accesses = Accesses { wanted: Some(wanted), seen: Seen::Looking };
        self.hand(Errand::Trace(Box::new(tracing)));
    }

    /// Looks again after a kernel was changed, if somebody was looking.
    pub(super) fn trace_again(&mut self, kernel: &str, now: Duration) {
        let wanted = self.opened.as_ref().and_then(|opened| opened.accesses.wanted.clone());
        if let Some(wanted) = wanted.filter(|wanted| wanted.kernel == kernel) {
            self.trace(Some(wanted), now);
        }
    }

    /// Takes in what was seen; what was asked for before is of no interest any more.
    pub(super) fn traced(&mut self, wanted: &Wanted, seen: Result<Recording, String>) {
        let Some(opened) = &mut self.opened else { return };
        if opened.accesses.wanted.as_ref() == Some(wanted) {
            opened.accesses.seen = match seen {
                Ok(recording) => Seen::Recorded(Arc::new(recording)),
                Err(why) => Seen::Failed(why),
            };
        }
    }
}
