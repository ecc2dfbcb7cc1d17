//! A reference in Python that does not fit into memory at the timed size: the kernel has no time there, and passes or
//! fails by its other workloads.

use super::specimens::{Grid, Specimen};
use super::*;
use crate::project::PythonReference;
use crate::project::manifest::IntermediateRounding;
use crate::python::{Interpreter, InterpreterSearch, PythonAccess};
use crate::verify::reference_source::{Precision, PythonCall};
use crate::verify::verdict::{Failure, Uncounted};

/// Workloads of the project's manifest have 4096, 16384 and 131072 elements.
const REFERENCE: &str = "
import numpy

def reference(x):
    if x.size > 100_000:
        raise MemoryError('131072 elements')
    return x + 1
";

/// The interpreter of the system, if it has NumPy.
fn access(worker: &WorkerCommand) -> Option<PythonAccess> {
    let search = InterpreterSearch { explicit: Some("/usr/bin/python3".into()), path: Vec::new() };
    let access = PythonAccess { search, ..PythonAccess::default() };
    let configuration = access.configuration(worker.clone());
    let found = Interpreter::find(&access.search, &configuration, &Cancellation::new());
    if found.is_ok_and(|interpreter| interpreter.packages.numpy.is_some()) {
        return Some(access);
    }
    let variable = "LIGHTBENCH_REQUIRE_TORCH";
    assert!(std::env::var_os(variable).is_none(), "no NumPy, and {variable} is set");
    println!("skipped: /usr/bin/python3 has no NumPy");
    None
}

fn with_python(mut trial: CompiledWorkload) -> CompiledWorkload {
    trial.reference =
        ReferenceSource::Python(PythonCall { precision: Precision::Exact, values: Vec::new() });
    trial
}

/// The verdict of a kernel with this body, with the reference above; none without NumPy.
fn verdict(body: &'static str) -> Option<Result<Passed, Stop>> {
    let specimen = Specimen { name: "large-reference", block: 256, grid: Grid::Each, body };
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let mut subject = subject(&project, &specimen);
    subject.reference = CompiledReference::Python(PythonReference {
        file: "reference.py".into(),
        source: REFERENCE.to_owned(),
        intermediate_rounding: IntermediateRounding::Undeclared,
    });
    subject.held_out = vec![Some(subject.measured[0].clone())];
    subject.workloads = subject.workloads.into_iter().map(with_python).collect();
    subject.measured = subject.measured.into_iter().map(with_python).collect();
    subject.held_out = subject.held_out.into_iter().map(|held| held.map(with_python)).collect();
    let command = command(Readings::new(Seconds(1e-6), Seconds(1e-9)));
    let access = access(&command)?;
    let device = DeviceName::parse("cuda:0").unwrap();
    let mut workers = DeviceWorkers::new(&command, &device, None).unwrap();
    workers.set_python(&access);
    let (cancellation, mut watcher) = (Cancellation::new(), |_: Step, _: Option<&str>| {});
    let verification = Verification::new(&subject, &mut workers, 1, &cancellation, &mut watcher);
    Some(verification.run(TimingUse::Measure(Protocol::QUICK)))
}

#[test]
fn a_size_that_is_too_large_for_the_reference_is_not_timed() {
    let Some(verdict) = verdict("") else { return };
    let passed = verdict.unwrap();
    let [large] = &passed.timings[..] else { panic!("{:?}", passed.timings) };
    assert!(large.timings.is_empty());
    assert_eq!(large.profile.as_ref().unwrap_err(), &Uncounted::NotJudged);
    let SizeCheck::NotChecked(reason) = &large.check else { panic!("{:?}", large.check) };
    assert!(reason.contains("`large`") && reason.contains("131072 elements"), "{reason}");
    // The held-out workload is as large; its name and size are not reported.
    let [held_out] = &passed.checks.not_run[..] else { panic!("{:?}", passed.checks.not_run) };
    assert_eq!((held_out.workload.as_deref(), passed.checks.held_out), (None, 0));
    assert!(!held_out.reason.contains("131072"), "{}", held_out.reason);
}

#[test]
fn a_wrong_kernel_still_fails() {
    let Some(verdict) = verdict("add.u32 %value, %value, 1;") else { return };
    let Err(Stop::Failure(failure)) = verdict else { panic!("{verdict:?}") };
    assert!(matches!(failure, Failure::Wrong(_) | Failure::Fault(_)), "{failure:?}");
}
