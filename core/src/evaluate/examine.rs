//! Examines candidates before anything runs: compiles them and compares their resources with the device sheet.

use lightbench_primitives::cancellation::Cancellation;

use super::build::{self, Scope};
use super::{EvaluateError, Evaluation, EvaluationContext, settled};
use crate::compile::Compiler;
use crate::compile::facts::LaunchFacts;
use crate::speed_of_light::code_mix::CodeMix;

/// A candidate that was built.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Multiprocessors of the device, if its sheet states them.
    pub sms: Option<u32>,
    /// The workloads that are for measuring.
    pub workloads: Vec<ExaminedWorkload>,
}

/// A candidate on one workload.
#[derive(Clone, Debug)]
pub struct ExaminedWorkload {
    /// The name of the workload.
    pub name: String,
    /// The least that any correct kernel does, as operations and words moved.
    pub work: f64,
    /// The launches of the candidate.
    pub launches: Vec<LaunchFacts>,
    /// The static instruction mix.
    pub code: CodeMix,
}

/// Builds candidates of one project and device as screening does, so that a following screening compiles nothing again. A
/// candidate that cannot be built gives `None`; screening reports the reason.
///
/// If cancelled, it returns no candidates.
///
/// # Errors
/// As [`super::evaluate`].
pub fn examine(
    evaluations: &[Evaluation<'_>],
    context: &mut EvaluationContext,
    cancellation: &Cancellation,
) -> Result<Option<Vec<Option<Examined>>>, EvaluateError> {
    examined(evaluations, Scope::Screening, &mut context.compiler, cancellation)
}

/// Builds candidates as [`super::evaluate`] does, so that a following evaluation finds everything in the compile cache.
/// It needs no device.
///
/// If cancelled, it returns no candidates.
///
/// # Errors
/// As [`super::evaluate`].
pub(crate) fn compile_ahead(
    evaluations: &[Evaluation<'_>],
    compiler: &mut Compiler,
    cancellation: &Cancellation,
) -> Result<Option<Vec<Option<Examined>>>, EvaluateError> {
    examined(evaluations, Scope::Everything, compiler, cancellation)
}

fn examined(
    evaluations: &[Evaluation<'_>],
    scope: Scope,
    compiler: &mut Compiler,
    cancellation: &Cancellation,
) -> Result<Option<Vec<Option<Examined>>>, EvaluateError> {
    let built = build::build_all(evaluations, scope, compiler, cancellation);
    let Ok(built) = settled(built)? else { return Ok(None) };
    let mut examined = Vec::new();
    for ((_, subject), evaluation) in built.into_iter().zip(evaluations) {
        let subject = match settled(subject)? {
            Err(reason) if reason.is_cancelled() => return Ok(None),
            Err(_) => None,
            Ok(subject) => Some(subject),
        };
        let sms = evaluation.sheet.sms.get();
        examined.push(subject.map(|subject| {
            let each = subject.measured.into_iter().map(|trial| ExaminedWorkload {
                name: trial.case.workload,
                work: trial.work,
                launches: trial.launches,
                code: trial.code,
            });
            Examined { sms, workloads: each.collect() }
        }));
    }
    Ok(Some(examined))
}
