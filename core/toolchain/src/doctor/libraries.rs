//! Doctor: CUTLASS's headers, and the vendor libraries used on a GPU. They are located and never loaded here.

use std::path::PathBuf;

use super::super::header_libraries::{Cutlass, INSTALL_CUTLASS, cutlass};
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
    vec![cutlass_finding(surroundings), finding(&CUBLAS, &cublas), finding(&CUPTI, &cupti)]
}

fn cutlass_finding(surroundings: &HostEnvironment) -> Finding {
    let optional = "optional: only kernels that name `libraries: [cutlass]` need it";
    match cutlass(surroundings) {
        Cutlass::Found(library) => {
            let summary = format!("{}, {}", library.version, library.source);
            Finding::new(Topic::Cutlass, State::Ok, summary).at(&library.folder)
        }
        missing @ Cutlass::NotThere { .. } => {
            Finding::new(Topic::Cutlass, State::Problem, missing.to_string())
                .advice(INSTALL_CUTLASS)
        }
        missing @ Cutlass::NotInstalled => {
            Finding::new(Topic::Cutlass, State::Info, missing.to_string())
                .note(optional)
                .note(INSTALL_CUTLASS)
        }
    }
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
