//! Files that an earlier build wrote and that no command prints as they are: settings and a compile-cache entry.

use std::fs;
use std::path::{Path, PathBuf};

use lightbench::workbench::settings::Settings;

use super::cases::COMPILER;
use super::{bench, difference, expected_folder, has_the_compiler, stored_folder};

/// The expected file of the settings, written again.
pub(super) const SETTINGS: &str = "stored-settings.ron";
/// The expected file of what `new` writes.
pub(super) const FILES_OF_NEW: &str = "new-files.txt";

#[test]
fn settings_keep_every_value() {
    let text = fs::read_to_string(stored_folder().join("state/settings.ron")).unwrap();
    let written = Settings::from_ron(&text).unwrap().to_ron().unwrap();
    let found = difference(&expected_folder().join(SETTINGS), &written);
    assert_eq!(found, None, "{}", found.as_deref().unwrap_or_default());
}

#[test]
fn a_compiled_kernel_is_found_in_the_cache() {
    if !has_the_compiler() {
        return;
    }
    let bench = bench();
    let check = || bench.run(&["check", "scale", "--kernel", "naive"]).output;
    let compiled = check();
    assert!(!compiled.contains("from the cache"), "{compiled}");
    // The name of an entry depends on where the compiler lies, its content does not.
    let entries = files_below(&bench.cache().join("kernels"));
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    fs::copy(stored_folder().join("compiled-naive.entry"), entry).unwrap();
    let from_cache = check();
    assert!(from_cache.contains("from the cache"), "NVRTC {COMPILER}:\n{from_cache}");
    let facts = |shown: &str| shown.split("compiles · ").next().unwrap().to_owned();
    assert_eq!(facts(&from_cache), facts(&compiled));
}

#[test]
fn a_new_project_has_the_same_files() {
    let bench = bench();
    bench.run(&["new", "begun"]).expect(0, &[]);
    let signature = "__global__ void twice(const float* x, float* y, int n) {\n  int i = threadIdx.x;\n  \
                     if (i < n) {\n    y[i] = 2.0f * x[i];\n  }\n}\n";
    fs::write(bench.path().join("twice.cu"), signature).unwrap();
    bench.run(&["new", "around", "--from", "twice.cu"]).expect(0, &[]);
    let mut shown = String::new();
    for folder in ["begun", "around"] {
        for file in files_below(&bench.path().join(folder)) {
            let name = file.strip_prefix(bench.path()).unwrap().display().to_string();
            let text = fs::read_to_string(&file).unwrap();
            shown.push_str(&format!("=== {name}\n{text}\n"));
        }
    }
    let found = difference(&expected_folder().join(FILES_OF_NEW), &shown);
    assert_eq!(found, None, "{}", found.as_deref().unwrap_or_default());
}

/// All files below a folder, sorted.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut pending = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}
