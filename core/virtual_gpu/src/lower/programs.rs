//! The programs of a module's kernels, each lowered by the launch that needs it first: a verification launches the same
//! kernel tens of times.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::module::{FunctionId, Module};
use super::{Program, Unsupported, lower};

/// What was lowered so far. A copy of a module begins without, because its owner may change it.
#[derive(Debug, Default)]
pub(crate) struct Programs(Mutex<HashMap<FunctionId, Arc<Program>>>);

impl Clone for Programs {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The program of a kernel.
///
/// # Errors
///
/// Every instruction within its reach that cannot be executed.
pub(crate) fn program(
    module: &Module,
    kernel: FunctionId,
) -> Result<Arc<Program>, Vec<Unsupported>> {
    let known = || module.programs.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = known().get(&kernel) {
        return Ok(Arc::clone(program));
    }
    let program = Arc::new(lower(module, kernel)?);
    known().insert(kernel, Arc::clone(&program));
    Ok(program)
}
