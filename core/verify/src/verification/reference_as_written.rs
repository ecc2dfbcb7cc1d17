//! The meaning of roundings to f16 and bf16 inside a Python reference.

use super::stop::stop_from_reference_error;
use super::{Attempt, REFERENCE_LIMIT, Stop, Verification};
use crate::device_session::GridPart;
use crate::device_workers::{AsWritten, Conversion};

impl Verification<'_> {
    /// Checks that the results of the reference do not depend on roundings whose meaning the project leaves open: the exact
    /// reference computes without them.
    pub(super) fn check_reference_as_written(&mut self, attempt: &Attempt<'_>) -> Result<(), Stop> {
        let Some(call) = &attempt.trial.as_written else { return Ok(()) };
        let workload = &attempt.trial.case.workload;
        let order = attempt.judge_request(GridPart::Whole);
        let workers = &mut *self.workers;
        let judged =
            workers.judge_reference_as_written(call, order, REFERENCE_LIMIT, self.cancellation);
        match judged.map_err(|error| stop_from_reference_error(error, attempt.step, workload))? {
            AsWritten::Agrees => Ok(()),
            AsWritten::NotRun(reason) => {
                let line = format!(
                    "roundings in reference.py, which does not run in the types that it requests ({reason})"
                );
                self.checks.add_not_checked(&line);
                Ok(())
            }
            AsWritten::Differs { output, conversions } => Err(Stop::Broken(format!(
                "reference.py rounds to {}, which changes `{output}` by more than the tolerance (workload `{workload}`); \
                 declare which is meant in project.ron: `accuracy: bf16` (or f16) if kernels may round as the reference does, \
                 or `intermediate_rounding: ignored` if the results without these roundings are the correct ones",
                list(&conversions)
            ))),
        }
    }
}

/// As in "bf16 (line 3) and f16 (line 12)".
fn list(conversions: &[Conversion]) -> String {
    let each = conversions.iter().map(|Conversion { line, types }| {
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        format!("{} (line {line})", types.join(" and "))
    });
    let each: Vec<String> = each.collect();
    match &each[..] {
        [] => "the types of its inputs after each operation".to_owned(),
        each => each.join(" and "),
    }
}
