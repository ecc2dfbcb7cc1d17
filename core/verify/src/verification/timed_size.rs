//! Results at a timed size on a virtual device, which runs too little of it to judge all of its outputs: sampled blocks are
//! run with every check and judged.

use lightbench_device::Placement;
use lightbench_project::launch::expectation::WrongKind;
use lightbench_tensors::inputs::InputMode;

use super::{Attempt, CountsUse, MemoryOrder, RunOrder, Scrutiny, Seer, Stop, Verification};
use crate::station::{GridPart, Sampled};
use crate::subject::Trial;
use crate::verdict::{SizeCheck, Step};

impl Verification<'_> {
    /// Runs and judges sampled blocks of a workload whose time is modelled.
    ///
    /// # Errors
    /// What they did is wrong.
    pub(super) fn sampled_at_size(&mut self, trial: &Trial) -> Result<SizeCheck, Stop> {
        let part = GridPart::Sampled { seed: self.input_seed(&trial.case, "blocks") };
        self.timed(Step::Results, Some(&trial.case.workload), |this| {
            let recipe = this.recipe(&trial.case, InputMode::Repeating, "a");
            let memory = MemoryOrder::Fresh(Placement::Left);
            let attempt = Attempt { trial, recipe, step: Step::Results, memory };
            let order = RunOrder { part, ..attempt.order(Scrutiny::Full, CountsUse::Drop) };
            let limit = this.limit(trial);
            let report = this.stations.run(order, limit, this.cancellation);
            let report = this.looked(&attempt, report, Seer::Device)?;
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
