//! A project of three files: any texts are a project whose launches have numbers, or are refused in words.
//!
//! The input is `project.ron`, `reference.cu` and `kernels/a.cu`, separated by lines of three dashes.
#![no_main]

use std::collections::BTreeMap;
use std::fs;

use libfuzzer_sys::fuzz_target;
use lightbench_core::project::{Candidate, DeviceFacts, Project};

thread_local! {
    static FOLDER: tempfile::TempDir = {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("kernels")).unwrap();
        folder
    };
}

fuzz_target!(|text: &str| {
    let mut parts = text.split("\n---\n");
    FOLDER.with(|folder| {
        for file in ["project.ron", "reference.cu", "kernels/a.cu"] {
            fs::write(folder.path().join(file), parts.next().unwrap_or_default()).unwrap();
        }
        match Project::load(folder.path()) {
            Ok(project) => candidates(&project),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
});

fn candidates(project: &Project) {
    let device = DeviceFacts { sms: Some(132), ..DeviceFacts::default() };
    for workload in &project.workloads {
        let environment = project.environment(workload);
        for kernel in project.kernels.iter().chain(project.reference.kernel()) {
            match kernel.launch.select(&environment, &BTreeMap::new(), &device) {
                Ok(selection) => drop(Candidate::of(project, kernel, selection)),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}
