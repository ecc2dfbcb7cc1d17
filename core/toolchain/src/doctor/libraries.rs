//! Doctor: the vendor libraries used on a GPU. They are located and never loaded here.

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
    there: "the baseline of kernels that multiply matrices",
    missing: "not found: on a GPU, matrix products have no library baseline",
    package: "nvidia-cublas",
};

const CUPTI: LibraryDescription = LibraryDescription {
    topic: Topic::Cupti,
    there: "its time stamps measure single launches",
    missing: "not found: on a GPU, events measure the time, which is less precise below 10 µs",
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
        .note("when a GPU is used, the system's loader searches too")
}
