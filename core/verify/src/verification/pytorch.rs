//! A baseline in PyTorch in the candidate's place: checked on every workload, then timed by CUDA events.

use lightbench_device::{LibraryUsed, Placement};
use lightbench_measure::Stopped;
use lightbench_measure::protocol::Protocol;
use lightbench_measure::timing::{Clock, Mode, Timing};
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::PythonText;
use lightbench_project::manifest::Distribution;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::InputMode;
use lightbench_units::Seconds;

use super::library::LibraryTimes;
use super::{Attempt, BufferPlacement, Stop, Verification};
use crate::compiled_candidate::CompiledWorkload;
use crate::not_judged::NotJudged;
use crate::pytorch_call::{PytorchCall, PytorchError, PytorchSamples};
use crate::verdict::Step;

/// A baseline in PyTorch.
#[derive(Clone, Copy)]
pub struct PytorchBaseline<'a> {
    /// The text with the function.
    pub text: &'a PythonText,
    /// Axes and scalars of a workload by name.
    pub values: &'a dyn Fn(&Case) -> Vec<(String, ScalarValue)>,
    /// The clock of the candidate's times, whose overhead is subtracted from readings of events.
    pub clock: Clock,
    pub protocol: Protocol,
}

impl Verification<'_> {
    /// Verifies a baseline in PyTorch and times it.
    ///
    /// # Errors
    /// It cannot be called, its results are wrong, or the user cancelled.
    pub fn pytorch(mut self, baseline: PytorchBaseline<'_>) -> Result<LibraryTimes, Stop> {
        let timed = self.all_pytorch(baseline);
        self.workers.stop_pytorch();
        timed
    }

    fn all_pytorch(&mut self, baseline: PytorchBaseline<'_>) -> Result<LibraryTimes, Stop> {
        let subject = self.subject;
        self.open_bare()?;
        let (mut used, mut workloads) = (None, Vec::new());
        for trial in &subject.workloads {
            // Products of PyTorch do not take every size; an exception is no wrong result.
            if let Ok((library, _)) = self.pytorch_call(baseline, trial, None)? {
                used = Some(library);
            }
        }
        for trial in &subject.measured {
            let name = trial.case.workload.clone();
            let called = match self.pytorch_call(baseline, trial, Some(baseline.protocol)) {
                // No kernel is timed on this workload either.
                Err(Stop::ReferenceTooLarge(_)) => continue,
                called => called?,
            };
            let times = match called {
                Ok((library, times)) => {
                    used = Some(library);
                    Ok(timings(baseline.clock, times)?)
                }
                Err(exception) => Err(exception),
            };
            workloads.push((name, times));
        }
        Ok(LibraryTimes { used, worst_error: self.checks.worst_error, workloads })
    }

    /// Calls the function once, judges its results, and times further calls if requested; the text of an exception if it
    /// raised one.
    fn pytorch_call(
        &mut self,
        baseline: PytorchBaseline<'_>,
        trial: &CompiledWorkload,
        sampling: Option<Protocol>,
    ) -> Result<Result<(LibraryUsed, PytorchSamples), String>, Stop> {
        let declared = InputMode::Distribution(Distribution::AsDeclared);
        let recipe = self.recipe(&trial.case, declared, "a");
        let memory = BufferPlacement::Fresh(Placement::Left);
        let attempt = Attempt { trial, recipe, step: Step::Results, memory };
        self.timed(Step::Results, Some(&trial.case.workload), |this| {
            let values = (baseline.values)(&trial.case);
            let call = PytorchCall { text: baseline.text, values: &values, sampling };
            let case = (&trial.case, recipe);
            let times = match this.workers.run_pytorch(call, case, this.cancellation) {
                Ok(times) => times,
                Err(PytorchError::Raised(exception)) => return Ok(Err(exception)),
                Err(PytorchError::Cancelled) => {
                    return Err(Stop::NotJudged(NotJudged::Cancelled));
                }
                Err(PytorchError::Failed(reason)) => return Err(Stop::Request(reason)),
            };
            let judged = this.judge(&attempt)?;
            this.accept(&attempt, judged, None)?;
            let used = LibraryUsed {
                name: "PyTorch".to_owned(),
                version: times.version.clone(),
                file: baseline.text.file.display().to_string(),
                call: "eager, without the time in which the host submits".to_owned(),
            };
            Ok(Ok((used, times)))
        })
    }
}

/// The times, less the overhead of a pair of events.
fn timings(clock: Clock, samples: PytorchSamples) -> Result<Vec<Timing>, Stop> {
    let Clock::Events { offset, .. } = clock else {
        let reason = format!("it is timed by CUDA events, the candidate by {}", clock.words());
        return Err(Stop::Request(reason));
    };
    let both = [(Mode::Cold, samples.cold), (Mode::Warm, samples.warm)];
    let timings = both.into_iter().map(|(mode, mut rounds)| {
        for sample in rounds.iter_mut().flatten() {
            *sample = Seconds(sample.0 - offset.0);
        }
        Timing::measured(clock, mode, rounds, (1, Stopped::Budget), &[])
            .ok_or_else(|| Stop::Request("its events give no times".to_owned()))
    });
    timings.collect()
}
