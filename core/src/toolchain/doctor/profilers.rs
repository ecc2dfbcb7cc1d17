//! NVIDIA's profiler and sanitizer: found or not, never started here.

use std::path::{Path, PathBuf};

use super::super::places::{expand, toolkit_roots};
use super::{Finding, State, Surroundings, Topic};

pub(super) fn findings(surroundings: &Surroundings) -> Vec<Finding> {
    vec![nsight_compute(surroundings), compute_sanitizer(surroundings)]
}

fn nsight_compute(surroundings: &Surroundings) -> Finding {
    let installs = surroundings.system.join("opt/nvidia/nsight-compute");
    let mut folders: Vec<PathBuf> = expand(&installs, "*");
    for toolkit in toolkit_roots(surroundings) {
        folders.push(toolkit.join("bin"));
        folders.extend(expand(&toolkit, "nsight-compute-*"));
    }
    match find(surroundings, "ncu", &folders) {
        Some(program) => {
            Finding::new(Topic::NsightCompute, State::Ok, "hardware counters by ncu").at(&program)
        }
        None => Finding::new(Topic::NsightCompute, State::Info, "no ncu: no hardware counters"),
    }
}

fn compute_sanitizer(surroundings: &Surroundings) -> Finding {
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

fn find(surroundings: &Surroundings, name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let in_folder =
        |folder: &PathBuf| Some(folder.join(&file)).filter(|it: &PathBuf| Path::is_file(it));
    surroundings.on_path(name).or_else(|| folders.iter().find_map(in_folder))
}
