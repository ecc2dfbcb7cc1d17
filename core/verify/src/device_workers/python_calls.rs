//! Calls of a Python reference for a request: the limits, and what an error means for the verification.

use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_tensors::case::Case;

use super::{DeviceWorkerError, DeviceWorkers, replied};
use crate::device_session::{GridPart, JudgeReport, JudgeRequest, SessionFailure};
use crate::python_results::{CallInputs, PythonCallError};
use crate::reference_source::Precision;

/// The time limit of a call for a whole workload.
const CALL_LIMIT: Duration = Duration::from_secs(60);

/// The time limit of a call for sampled blocks: the function computes all elements, of which few are compared.
const SAMPLE_LIMIT: Duration = Duration::from_secs(10);

impl DeviceWorkers {
    /// Why a Python reference does not compute this case within its limits, if it was tried.
    #[must_use]
    pub fn reference_too_large(&self, case: &Case) -> Option<&str> {
        self.python.too_large(case, Precision::Exact)
    }

    /// Judges; results of a Python reference that the session does not keep are computed.
    pub(super) fn judge_with_results(
        &mut self,
        mut order: JudgeRequest,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<JudgeReport, DeviceWorkerError> {
        loop {
            let sequence = self.ahead.sequence();
            let judged =
                replied(self.reference.call_in(sequence, order.clone(), limit, cancellation));
            let Err(DeviceWorkerError::Failed(SessionFailure::ResultsNeeded(precision))) = judged
            else {
                return judged;
            };
            let is_supplied = order.supplied.iter().any(|each| each.precision == precision);
            let Some(call) = order.python_call(precision).filter(|_| !is_supplied) else {
                return judged;
            };
            let supplied = match self.python.supply(call, call_inputs(&order), cancellation) {
                Err(PythonCallError::TooLarge(reason))
                    if matches!(order.part, GridPart::Sampled { .. }) =>
                {
                    return Ok(JudgeReport::unsampled(reason));
                }
                supplied => supplied?,
            };
            order.supplied.push(supplied);
        }
    }
}

/// The inputs of a call for a request.
pub(super) fn call_inputs(order: &JudgeRequest) -> CallInputs<'_> {
    let limit = match order.part {
        GridPart::Whole => CALL_LIMIT,
        GridPart::Sampled { .. } => SAMPLE_LIMIT,
    };
    CallInputs { case: &order.case, recipe: order.recipe, limit }
}

impl From<PythonCallError> for DeviceWorkerError {
    fn from(error: PythonCallError) -> Self {
        match error {
            PythonCallError::Cancelled => Self::Cancelled,
            PythonCallError::Unavailable(reason) => Self::ReferenceUnavailable(reason),
            PythonCallError::TooLarge(reason) => Self::ReferenceTooLarge(reason),
            PythonCallError::Failed(failure) => Self::Failed(failure),
        }
    }
}
