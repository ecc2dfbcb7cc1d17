//! The vendor's libraries that are used on a GPU: where they lie, never loaded here.

use std::path::PathBuf;

use super::super::libraries::{Libraries, libraries};
use super::{Finding, HostEnvironment, State, Topic};

/// A library in a person's words.
struct LibraryDescription {
    topic: Topic,
    there: &'static str,
    missing: &'static str,
    package: &'static str,
}

const CUBLAS: LibraryDescription = LibraryDescription {
    topic: Topic::Cublas,
    there: "runs beside kernels that multiply matrices",
    missing: "not found: on a GPU, products of matrices have no library beside them",
    package: "nvidia-cublas",
};

const CUPTI: LibraryDescription = LibraryDescription {
    topic: Topic::Cupti,
    there: "the driver's time stamps tell how long single launches take",
    missing: "not found: on a GPU, events tell the time, which is less exact below 10 µs",
    package: "nvidia-cuda-cupti",
};

pub(super) fn findings(surroundings: &HostEnvironment) -> Vec<Finding> {
    let Libraries { cublas, cupti } = libraries(surroundings);
    vec![finding(&CUBLAS, &cublas), finding(&CUPTI, &cupti)]
}

fn finding(told: &LibraryDescription, places: &[PathBuf]) -> Finding {
    if let Some(file) = Libraries::file(places) {
        return Finding::new(told.topic, State::Ok, told.there).at(file);
    }
    let package = told.package;
    Finding::new(told.topic, State::Info, told.missing)
        .note(format!("it comes with the CUDA toolkit, or by `pip install {package}`"))
        .note("the system's loader is asked as well, when a GPU runs")
}
