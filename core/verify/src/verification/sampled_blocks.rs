//! Results at a timed size on a virtual device, which is too slow to run the whole grid: sampled blocks run with every
//! check and are judged.

use lightbench_device::Placement;
use lightbench_project::launch::expectation::WrongKind;
use lightbench_tensors::inputs::InputMode;

use super::{
    Attempt, BufferPlacement, CountsUse, ObservedOn, RunRequest, Scrutiny, Stop, Verification,
};
use crate::compiled_candidate::CompiledWorkload;
use crate::device_session::{GridPart, Sampled};
use crate::verdict::{SizeCheck, Step};

impl Verification<'_> {
    /// Runs and judges sampled blocks of a workload whose time is modelled.
    ///
    /// # Errors
    /// The blocks faulted, or their outputs are wrong.
    pub(super) fn check_sampled_blocks(
        &mut self,
        trial: &CompiledWorkload,
    ) -> Result<SizeCheck, Stop> {
        let part = GridPart::Sampled { seed: self.input_seed(&trial.case, "blocks") };
        self.timed(Step::Results, Some(&trial.case.workload), |this| {
            let recipe = this.recipe(&trial.case, InputMode::Repeating, "a");
            let memory = BufferPlacement::Fresh(Placement::Left);
            let attempt = Attempt { trial, recipe, step: Step::Results, memory };
            let order = RunRequest { part, ..attempt.run_request(Scrutiny::Full, CountsUse::Drop) };
            let limit = this.limit(trial);
            let report = this.workers.run(order, limit, this.cancellation);
            let report = this.accept_report(&attempt, report, ObservedOn::Device)?;
            let (blocks, of) = match report.sampled {
                Some(Sampled::Ran { blocks, of }) => (blocks, of),
                Some(Sampled::Impossible(reason)) => return Ok(SizeCheck::NotChecked(reason)),
                Some(Sampled::Unwritten { tensor, elements, first }) => {
                    let details = format!(
                        "{elements} elements of `{tensor}` are never written, first at {first:?}"
                    );
                    let kind = WrongKind::Unwritten;
                    return Err(this.wrong(&attempt, kind, Vec::new(), Some(details)));
                }
                None => return Err(Stop::Broken("no blocks were sampled".to_owned())),
            };
            let judged = this.judge_part(&attempt, part)?;
            let sampled = judged.sampled.clone();
            this.accept(&attempt, judged, None)?;
            match sampled {
                Some(Ok(elements)) => Ok(SizeCheck::Sampled { blocks, of, elements }),
                Some(Err(reason)) => Ok(SizeCheck::NotChecked(reason)),
                None => Err(Stop::Broken("no sampled elements were judged".to_owned())),
            }
        })
    }
}
