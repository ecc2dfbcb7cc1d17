//! A project made from a kernel: any source is refused in words, or gives a project that loads.
#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use lightbench_core::cuda_source;
use lightbench_core::project::Project;
use lightbench_core::project::scaffold::{KernelSource, plan_from};

thread_local! {
    static FOLDER: tempfile::TempDir = tempfile::tempdir().unwrap();
}

fuzz_target!(|text: &str| {
    let kernels = cuda_source::list(text).unwrap_or_default();
    for kernel in kernels.iter().take(4) {
        drop(cuda_source::read(text, Some(&kernel.name)));
    }
    let source = KernelSource { display_name: "kernel.cu", text, kernel: None, headers: &[] };
    let plan = match plan_from(&source) {
        Ok(plan) => plan,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    FOLDER.with(|folder| {
        let kernels = folder.path().join("kernels");
        fs::remove_dir_all(&kernels).ok();
        fs::create_dir(&kernels).unwrap();
        for file in &plan.files {
            fs::write(folder.path().join(&file.path), &file.text).unwrap();
        }
        match Project::load(folder.path()) {
            Ok(project) => assert!(project.broken.is_empty(), "{:?}", project.broken),
            Err(error) => panic!("{error}"),
        }
    });
});
