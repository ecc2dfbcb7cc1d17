//! Workloads and programs for inputs from the whole domain of tensors, scalars and sizes.

use lightbench_tensors::inputs::InputMode;

use super::super::Evaluation;
use super::super::compilations::NoFacts;
use super::super::scalar_variations::{Launchable, VariedWorkload};
use super::super::wide_index_workload::WideIndexWorkload;
use super::{Builder, extent, least_work, of_program, python_call};
use crate::compile::error::CompileError;
use crate::compile::facts::FactsError;
use crate::project::definition::Subnormals;
use crate::project::manifest::{Accuracy, Distribution, IntermediateRounding};
use crate::project::workload::Workload;
use crate::project::{Purpose, PythonReference, Reference};
use crate::verify::compiled_candidate::{
    CompiledCandidate, CompiledVariation, CompiledWorkload, Extent,
};
use crate::verify::device_session::Admission;
use crate::verify::not_judged::NotJudged;
use crate::verify::program::Program;
use crate::verify::reference_source::{Precision, PythonCall, ReferenceSource};
use crate::verify::sentence;
use crate::verify::verdict::{Failure, Refused};
use crate::verify::verification::Stop;

/// The small workloads for verification, in order of their work.
pub(super) fn small_workloads<'a>(fit: &[&'a Workload]) -> Vec<&'a Workload> {
    let mut small: Vec<&Workload> = fit.iter().copied().filter(|each| is_small(each)).collect();
    small.sort_by(|one, other| least_work(one).total_cmp(&least_work(other)));
    small
}

/// Whether a workload is for verification on every device.
fn is_small(workload: &Workload) -> bool {
    workload.purpose == Purpose::Verify && extent(workload) == Extent::Small
}

/// The workloads with varied scalars: two with little work, because a scalar applies to all elements.
pub(super) fn varied_workloads<'a>(small: &[&'a Workload]) -> Vec<&'a Workload> {
    // The least work may be a single element.
    let skipped = usize::from(small.len() > 1);
    small.iter().copied().skip(skipped).take(2).collect()
}

impl Builder<'_, '_> {
    /// Refuses flags that replace subnormal numbers by zeros, where the definition keeps them.
    pub(super) fn keeps_subnormals(&self) -> Result<(), Stop> {
        let flag = self.evaluation.kernel.launch.flags.flushes_subnormals();
        match (self.evaluation.project.definition.subnormals, flag) {
            (Subnormals::Keep, Some(flag)) => {
                Err(Failure::Refused(Refused::Subnormals(flag)).into())
            }
            (Subnormals::Keep, None) | (Subnormals::MayFlush, _) => Ok(()),
        }
    }

    /// A workload with another scalar or another size. Where the candidate cannot be launched with it, the verdict
    /// names it as not checked.
    pub(super) fn vary(
        &mut self,
        index: usize,
        varied: &VariedWorkload,
        subject: &mut CompiledCandidate,
    ) -> Result<(), Stop> {
        let VariedWorkload { workload, what, draw, launch } = varied;
        match self.trial(index, workload) {
            Ok(trial) => {
                if trial.admission.is_some() {
                    subject.varied.push(CompiledVariation {
                        trial,
                        what: what.clone(),
                        draw: *draw,
                    });
                }
                Ok(())
            }
            Err(stop) => match (launch, unlaunchable(&stop)) {
                (Launchable::WherePermitted, Some(reason)) => {
                    subject.not_varied.push(format!("errors with {what} ({reason})"));
                    Ok(())
                }
                (Launchable::WherePermitted, None) | (Launchable::Always, _) => Err(stop),
            },
        }
    }

    /// A workload with launches as on a device with few multiprocessors: a persistent block then does the work of several,
    /// which it does not in a small workload otherwise. Such devices exist, also as parts of large ones.
    pub(super) fn on_few_multiprocessors(
        &mut self,
        index: usize,
        trial: &CompiledWorkload,
        subject: &mut CompiledCandidate,
    ) -> Result<(), Stop> {
        if trial.extent == Extent::Large {
            return Ok(());
        }
        let (count, facts) = match self.compiles.few_multiprocessors((self.index, index)) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(()),
            Err(NoFacts::Because(FactsError::Compile(CompileError::Cancelled))) => {
                return Err(NotJudged::Cancelled.into());
            }
            Err(NoFacts::Because(_) | NoFacts::AlreadyReported) => {
                let line = "launches on few multiprocessors (the launch block permits none)";
                if !subject.not_varied.iter().any(|known| known == line) {
                    subject.not_varied.push(line.to_owned());
                }
                return Ok(());
            }
        };
        let Evaluation { project, kernel, .. } = *self.evaluation;
        let (module, is_new) = self.candidate.index(&facts);
        if is_new {
            self.look(&facts)?;
        }
        let candidate = Program::from_facts(module, &project.definition, kernel, &facts)
            .map_err(|error| of_program(&error))?;
        if candidate != trial.candidate {
            let trial = CompiledWorkload { candidate, launches: facts.launches, ..trial.clone() };
            let what = match count {
                1 => "launches for a device with 1 multiprocessor".to_owned(),
                count => format!("launches for a device with {count} multiprocessors"),
            };
            let draw = InputMode::Distribution(Distribution::AsDeclared);
            subject.on_few_multiprocessors.push(CompiledVariation { trial, what, draw });
        }
        Ok(())
    }

    /// The workload whose indices do not fit 32 bits; where it cannot run, the verdict names that as not checked.
    pub(super) fn reach(
        &mut self,
        index: usize,
        far: &WideIndexWorkload,
        subject: &mut CompiledCandidate,
    ) -> Result<(), Stop> {
        let reason = match far {
            WideIndexWorkload::NotPermitted => return Ok(()),
            WideIndexWorkload::NoRoom(reason) => reason.clone(),
            WideIndexWorkload::Fits(workload, what) => match self.trial(index, workload) {
                Ok(trial) => {
                    let draw = InputMode::Distribution(Distribution::AsDeclared);
                    subject.large_indices =
                        Some(CompiledVariation { trial, what: what.clone(), draw });
                    return Ok(());
                }
                // The reference has no launch for such sizes: a dimension of its grid is too large.
                Err(Stop::Broken(reason)) => line(&reason),
                Err(stop) => unlaunchable(&stop).ok_or(stop)?,
            },
        };
        subject.not_varied.push(format!("indices beyond 32 bits ({reason})"));
        Ok(())
    }

    /// The call of a Python reference in the types that its text requests; `None` if conversions inside it have no meaning,
    /// and on workloads that are not small.
    pub(super) fn reference_as_written(&self, workload: &Workload) -> Option<PythonCall> {
        let project = self.evaluation.project;
        match &project.reference {
            Reference::Python(PythonReference {
                intermediate_rounding: IntermediateRounding::Undeclared,
                ..
            }) if is_small(workload) => {
                Some(python_call(&project.definition, workload, Precision::Written))
            }
            Reference::Python(_) | Reference::Kernel(_) => None,
        }
    }

    /// The verifier's test of whether inputs from the whole domain of a workload are admissible; `None` if it makes no such
    /// inputs.
    pub(super) fn admission(
        &mut self,
        index: usize,
        workload: &Workload,
    ) -> Result<Option<Admission>, Stop> {
        if !is_small(workload) {
            return Ok(None);
        }
        let definition = &self.evaluation.project.definition;
        let reference = match &self.evaluation.project.reference {
            Reference::Kernel(kernel) => self.has_twin.then_some(kernel),
            Reference::Python(_) if definition.accuracy != Accuracy::F64 => {
                let call = python_call(definition, workload, Precision::Single);
                return Ok(Some(Admission::ByTwin(ReferenceSource::Python(call))));
            }
            Reference::Python(_) => return Ok(None),
        };
        let Some(reference) = reference else { return Ok(Some(Admission::ByReference)) };
        // A task in f64 has results that f32 cannot agree with, and no wider format decides which inputs are fair.
        if definition.accuracy == Accuracy::F64 {
            return Ok(None);
        }
        match self.compiles.twin((self.index, index)) {
            Ok(facts) => {
                let (module, _) = self.reference.index(&facts);
                let program = Program::from_facts(module, definition, reference, &facts);
                Ok(program.ok().map(|twin| Admission::ByTwin(ReferenceSource::Program(twin))))
            }
            Err(NoFacts::Because(FactsError::Compile(CompileError::Cancelled))) => {
                Err(NotJudged::Cancelled.into())
            }
            // The reference itself compiles, so that its source has no form in f32.
            Err(NoFacts::Because(_) | NoFacts::AlreadyReported) => Ok(None),
        }
    }
}

fn line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// The reason why a candidate has no launch for some sizes or scalars, as one line; `None` if it stopped for another
/// reason.
fn unlaunchable(stop: &Stop) -> Option<String> {
    match stop {
        Stop::Request(reason) => Some(line(reason)),
        Stop::Failure(failure @ (Failure::Refused(_) | Failure::Compile(_))) => {
            Some(line(&sentence::describe_failure("the kernel", failure)))
        }
        Stop::Failure(Failure::Wrong(_) | Failure::Fault(_) | Failure::TimedOut { .. })
        | Stop::NotJudged(_)
        | Stop::ReferenceTooLarge(_)
        | Stop::WorkerEnded(_)
        | Stop::Broken(_) => None,
    }
}
