//! Compiles everything that an evaluation needs, before the evaluation is requested.

use lightbench_primitives::cancellation::Cancellation;

use super::build::{self, Scope};
use super::{EvaluateError, Evaluation, settled};
use crate::compile::Compiler;

/// Builds a candidate as [`super::evaluate`] does, so that a following evaluation finds everything in the compile cache.
/// It needs no device. Returns whether the candidate compiles; the evaluation reports the reason if it does not.
///
/// If cancelled, it returns none.
///
/// # Errors
/// As [`super::evaluate`].
pub(crate) fn compile_ahead(
    evaluation: Evaluation<'_>,
    compiler: &mut Compiler,
    cancellation: &Cancellation,
) -> Result<Option<bool>, EvaluateError> {
    let built = build::build_all(&[evaluation], Scope::Everything, compiler, cancellation);
    let Ok(built) = settled(built)? else { return Ok(None) };
    let mut complete = true;
    for (_, subject) in built {
        match settled(subject)? {
            Err(reason) if reason.is_cancelled() => return Ok(None),
            Err(_) => complete = false,
            Ok(_) => {}
        }
    }
    Ok(Some(complete))
}
