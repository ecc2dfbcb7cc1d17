//! What a kernel finds of the run before, on a device that looks at nothing while it runs: it must show in results.

use super::*;
use crate::project::launch::expectation::WrongKind;
use crate::verify::verdict::{Failure, Step, Wrong};

/// Checks that a specimen is wrong in the state probe of a workload.
fn check(name: &str, expected: &str) {
    let specimen = SPECIMENS.iter().find(|specimen| specimen.name == name).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let readings = Readings::of(Seconds(1e-6), Seconds(1e-9));
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
