//! What the checker catches in the project that is open: every cheat that can be made of its task, its wrong kernels, its
//! honest ones. It takes a while, and is found out where somebody asks.

use std::sync::Arc;
use std::time::Duration;

use lightbench_core::audit::Matrix;
use lightbench_core::cancellation::Cancellation;
use lightbench_core::project::Project;

use super::Workbench;
use super::errand::{DeviceChoice, Errand};
use super::notices::Weight;

/// What is known of it.
#[derive(Clone, Debug, Default)]
pub enum Catches {
    /// Nobody asked.
    #[default]
    Unknown,
    /// It is being found out, until this is dropped.
    Trying(Arc<Wanted>),
    /// Here it is.
    Known(Arc<Matrix>),
    /// It could not be found out.
    Failed(String),
}

/// As long as somebody wants to know.
#[derive(Debug, Default)]
pub struct Wanted(Cancellation);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What is handed over.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The project as it is.
    pub project: Arc<Project>,
    /// Where kernels run.
    pub device: DeviceChoice,
    /// What all inputs come from.
    pub seed: u64,
    /// Raised where nobody wants to know any more.
    pub unwanted: Cancellation,
}

impl Workbench {
    /// Has the checker examined on the project that is open.
    pub(super) fn try_checker(&mut self, now: Duration) {
        let Some(device) = self.device().cloned() else {
            let text = "nothing can be tried before the machine is known";
            self.notices.say(Weight::Note, text, now);
            return;
        };
        let seed = match getrandom::u64() {
            Ok(seed) => seed,
            Err(error) => {
                self.notices.say(Weight::Error, format!("no random numbers: {error}"), now);
                return;
            }
        };
        let Some(opened) = &mut self.opened else { return };
        let wanted = Wanted::default();
        let (project, unwanted) = (Arc::clone(&opened.project), wanted.0.clone());
        opened.catches = Catches::Trying(Arc::new(wanted));
        self.clerk.hand(Errand::Try(Box::new(Trial { project, device, seed, unwanted })));
    }

    /// Nobody wants to know any more.
    pub(super) fn stop_trying(&mut self) {
        if let Some(opened) = &mut self.opened
            && let Catches::Trying(_) = opened.catches
        {
            opened.catches = Catches::Unknown;
        }
    }

    /// Takes in what was found out, unless nobody wants to know any more.
    pub(super) fn tried(&mut self, matrix: Result<Matrix, String>) {
        let Some(opened) = &mut self.opened else { return };
        if let Catches::Trying(_) = opened.catches {
            opened.catches = match matrix {
                Ok(matrix) => Catches::Known(Arc::new(matrix)),
                Err(why) => Catches::Failed(why),
            };
        }
    }
}
