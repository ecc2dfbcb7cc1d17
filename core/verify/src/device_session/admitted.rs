//! Which inputs are fair to a correct kernel: decided once by the reference and its f32 twin, and kept for every
//! candidate that is judged by the same reference.

use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::InputSpec;

use super::{Admission, Inadmissibility, JudgeRequest};

/// Decisions that are kept; a project of the usual size has about a hundred.
const MOST_KEPT: usize = 1024;

/// The decisions of a session, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Admitted {
    decisions: Vec<Decision>,
}

#[derive(Debug)]
struct Decision {
    case: Case,
    recipe: InputSpec,
    admission: Admission,
    inadmissible: Option<Inadmissibility>,
}

impl Admitted {
    /// The decision about the inputs of a request, if it was made before.
    pub(super) fn find(
        &self,
        order: &JudgeRequest,
        admission: &Admission,
    ) -> Option<&Option<Inadmissibility>> {
        let decision = self.decisions.iter().find(|decision| {
            decision.recipe == order.recipe
                && decision.case == order.case
                && decision.admission == *admission
        });
        decision.map(|decision| &decision.inadmissible)
    }

    /// Keeps a decision for the candidates that follow.
    pub(super) fn keep(
        &mut self,
        order: &JudgeRequest,
        admission: &Admission,
        inadmissible: Option<Inadmissibility>,
    ) {
        if self.decisions.len() >= MOST_KEPT {
            self.decisions.remove(0);
        }
        self.decisions.push(Decision {
            case: order.case.clone(),
            recipe: order.recipe,
            admission: admission.clone(),
            inadmissible,
        });
    }
}
