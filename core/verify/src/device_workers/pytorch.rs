//! Runs a baseline in PyTorch in the candidate's place.

use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::InputSpec;

use super::DeviceWorkers;
use crate::device_session::write_outputs;
use crate::python_results::CallInputs;
use crate::pytorch_call::{PytorchCall, PytorchError, PytorchSamples};

/// The time limit of a call without its timing, which includes the start of PyTorch.
const CALL_LIMIT: Duration = Duration::from_secs(120);

impl DeviceWorkers {
    /// Calls a baseline; its outputs go to the folder that [`DeviceWorkers::judge`] reads.
    ///
    /// # Errors
    /// Cancelled by the user, or the call failed, or its outputs cannot be written.
    pub(crate) fn run_pytorch(
        &mut self,
        call: PytorchCall<'_>,
        (case, recipe): (&Case, InputSpec),
        cancellation: &Cancellation,
    ) -> Result<PytorchSamples, PytorchError> {
        let inputs = CallInputs { case, recipe, limit: CALL_LIMIT };
        let reply = self.pytorch.call(&self.name, call, inputs, cancellation)?;
        write_outputs(self.handover.here(), &reply.outputs)
            .map_err(|failure| PytorchError::Failed(failure.to_string()))?;
        Ok(reply.times)
    }

    /// Ends the process of the baseline.
    pub(crate) fn stop_pytorch(&mut self) {
        self.pytorch.stop();
    }
}
