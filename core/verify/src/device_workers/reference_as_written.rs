//! Whether conversions to f16 and bf16 inside a Python reference change its results beyond the tolerance.

use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::dtype::Dtype;
use lightbench_tensors::case::TensorCase;

use super::python_calls::call_inputs;
use super::{DeviceWorkerError, DeviceWorkers};
use crate::device_session::{JudgeReport, JudgeRequest, SessionFailure, write_outputs};
use crate::python_results::{Conversion, PythonCallError, StoredOutputs};
use crate::reference_source::PythonCall;

/// How the results of a Python reference in the types that its text requests compare with the exact ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AsWritten {
    /// They are within the tolerance, or nothing is f16 or bf16.
    Agrees,
    /// They are not.
    Differs {
        /// The output that differs.
        output: String,
        /// The lines that convert to f16 or bf16, each with the types; none if operations on inputs of these types round.
        conversions: Vec<Conversion>,
    },
    /// The text does not run in those types on this machine, for this reason.
    NotRun(String),
}

impl DeviceWorkers {
    /// Judges the results of a Python reference in the types that its text requests as those of a candidate. One answer
    /// holds for all inputs of a case.
    ///
    /// # Errors
    /// The exact reference cannot be run, or it was stopped.
    pub fn judge_reference_as_written(
        &mut self,
        call: &PythonCall,
        order: JudgeRequest,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<AsWritten, DeviceWorkerError> {
        let decided = self.as_written.iter().find(|(case, _)| *case == order.case);
        if let Some((_, decided)) = decided {
            return Ok(decided.clone());
        }
        let case = order.case.clone();
        let decided = self.compare_as_written(call, order, limit, cancellation)?;
        self.as_written.push((case, decided.clone()));
        Ok(decided)
    }

    fn compare_as_written(
        &mut self,
        call: &PythonCall,
        order: JudgeRequest,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<AsWritten, DeviceWorkerError> {
        let outputs = self.python.outputs(call, call_inputs(&order), cancellation);
        let StoredOutputs { contents, conversions } = match outputs {
            Ok(outputs) => outputs,
            Err(
                PythonCallError::TooLarge(reason)
                | PythonCallError::Failed(SessionFailure::Reference(reason)),
            ) => return Ok(AsWritten::NotRun(reason)),
            Err(error) => return Err(error.into()),
        };
        let narrow = |tensor: &TensorCase| matches!(tensor.dtype, Dtype::F16 | Dtype::Bf16);
        if conversions.is_empty() && !order.case.tensors.iter().any(narrow) {
            return Ok(AsWritten::Agrees);
        }
        write_outputs(self.handover.here(), &contents).map_err(DeviceWorkerError::Failed)?;
        self.publish_outputs(cancellation)?;
        let case = order.case.clone();
        let JudgeReport { comparisons, .. } = self.judge(order, limit, cancellation)?;
        let wrong = comparisons.iter().find(|comparison| comparison.wrong.is_some());
        Ok(match wrong {
            None => AsWritten::Agrees,
            Some(wrong) => {
                let output = case.tensors[wrong.tensor].name.clone();
                AsWritten::Differs { output, conversions }
            }
        })
    }
}
