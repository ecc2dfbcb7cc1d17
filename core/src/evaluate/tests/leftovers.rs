//! Kernels that read memory left by the previous run, on a device without checks: wrong results must fail, and the virtual
//! device must find races on some inputs.

use lightbench_tensors::inputs::{InputMode, InputSpec, generate};

use super::*;
use crate::project::launch::expectation::WrongKind;
use crate::project::manifest::Distribution;
use crate::verify::verdict::{Failure, Step, Wrong};
use crate::verify::verification::input_seed;

/// Checks that a specimen is wrong in the state probe of a workload.
fn check(name: &str, expected: &str) {
    let specimen = SPECIMENS.iter().find(|specimen| specimen.name == name).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let readings = Readings::new(Seconds(1e-6), Seconds(1e-9));
    let verdict = verified(&subject(&project, specimen), readings, None, Protocol::QUICK);
    let Err(Stop::Failure(Failure::Wrong(wrong))) = &verdict else {
        panic!("{name}: {verdict:?}");
    };
    let Wrong::Seen { kind, workload, step, .. } = wrong.as_ref() else { panic!("{wrong:?}") };
    assert_eq!((workload.as_str(), *step), (expected, Step::StateProbe), "{name}");
    assert!(matches!(kind, WrongKind::Stale | WrongKind::StateDependent), "{name}: {kind:?}");
}

#[test]
fn results_of_the_run_before_are_not_left_as_they_are() {
    check("leaves-its-results", "small");
}

#[test]
fn nor_at_the_size_that_is_timed_alone() {
    check("leaves-large-results", "large");
}

#[test]
fn a_kernel_whose_strong_reads_are_replayed_beside_a_gpu_passes() {
    let specimen = SPECIMENS.iter().find(|specimen| specimen.name == "strong-reads").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let readings = Readings::new(Seconds(1e-6), Seconds(1e-9));
    let beside = DeviceName::parse("virtual:h200").unwrap();
    let subject = subject(&project, specimen);
    let verdict = verified(&subject, readings, Some(&beside), Protocol::QUICK);
    assert!(verdict.is_ok(), "{verdict:?}");
}

/// The first element of the inputs that come from this.
fn first_element(project: &Project, workload: &str, which: &str) -> u32 {
    let case = Case::new(&project.definition, project.workload(workload).unwrap()).unwrap();
    let draw = InputMode::Distribution(Distribution::AsDeclared);
    let seed = input_seed(1, workload, which);
    let made = generate(&case, InputSpec { seed, draw }).unwrap().remove(0).unwrap();
    u32::from_le_bytes(made[..4].try_into().unwrap())
}

#[test]
fn a_race_is_looked_for_on_other_inputs_too() {
    let specimen = SPECIMENS.iter().find(|specimen| specimen.name == "races-rarely").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let readings = Readings::new(Seconds(1e-6), Seconds(1e-9));
    let beside = DeviceName::parse("virtual:h200").unwrap();
    let [small, middle, rare] = [("small", "a"), ("middle", "a"), ("middle", "b")]
        .map(|(workload, which)| first_element(&project, workload, which));
    assert!(rare != small && rare != middle);
    let check = |value: u32, expected: Option<Step>| {
        let mut subject = subject(&project, specimen);
        subject.candidate = vec![image(specimen.ptx().replace("RARE", &value.to_string()))];
        let found = match verified(&subject, readings, Some(&beside), Protocol::QUICK) {
            Err(Stop::Failure(Failure::Fault(fault))) => Some(fault.step),
            Ok(_) => None,
            Err(other) => panic!("{value}: {other:?}"),
        };
        assert_eq!(found, expected, "{value}");
    };
    check(small, Some(Step::Results));
    check(rare, Some(Step::Distributions));
    check(100_000, None);
}
