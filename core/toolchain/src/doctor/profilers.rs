//! Doctor: NVIDIA's profiler and sanitizer. They are located and never started here.

use super::super::profilers::{NsightProgram, find, nsight};
use super::super::search_places::toolkit_roots;
use super::{Finding, HostEnvironment, State, Topic};

pub(super) fn findings(surroundings: &HostEnvironment) -> Vec<Finding> {
    vec![nsight_compute(surroundings), compute_sanitizer(surroundings)]
}

fn nsight_compute(surroundings: &HostEnvironment) -> Finding {
    match nsight(surroundings, NsightProgram::CommandLine) {
        Ok(program) => {
            Finding::new(Topic::NsightCompute, State::Ok, "hardware counters by ncu").at(&program)
        }
        Err(_) => Finding::new(Topic::NsightCompute, State::Info, "no ncu: no hardware counters"),
    }
}

fn compute_sanitizer(surroundings: &HostEnvironment) -> Finding {
    let mut folders = Vec::new();
    for toolkit in toolkit_roots(surroundings) {
        folders.push(toolkit.join("bin"));
        folders.push(toolkit.join("compute-sanitizer"));
    }
    match find(surroundings, "compute-sanitizer", &folders) {
        Some(program) => Finding::new(Topic::ComputeSanitizer, State::Ok, "found").at(&program),
        None => Finding::new(
            Topic::ComputeSanitizer,
            State::Info,
            "not found; not needed for compile facts",
        ),
    }
}
