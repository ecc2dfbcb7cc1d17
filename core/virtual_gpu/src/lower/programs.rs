//! A cache of lowered kernels of a module. A verification launches the same kernel tens of times; the first launch
//! lowers it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::module::{FunctionId, Module};
use super::{Program, Unsupported, lower};

/// The lowered programs. A clone of a module begins without them, because its owner may change it.
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
/// All reachable instructions that are not supported.
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
