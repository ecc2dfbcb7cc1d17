//! Locates NVIDIA's profiler, Nsight Compute, in a CUDA toolkit or in its own package.

use std::path::{Path, PathBuf};

use super::HostEnvironment;
use super::search_places::{expand, toolkit_roots};

/// A program of Nsight Compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NsightProgram {
    /// Profiles a process.
    CommandLine,
    /// Shows a report.
    Window,
}

impl NsightProgram {
    /// The name of its file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CommandLine => "ncu",
            Self::Window => "ncu-ui",
        }
    }
}

/// A program that is nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "Nsight Compute is not installed: there is no `{}` on PATH, nor in {}; it comes with the CUDA toolkit, by itself as the \
     package cuda-nsight-compute-13-0 of NVIDIA's repository (`sudo apt install cuda-nsight-compute-13-0`), or from \
     https://developer.nvidia.com/nsight-compute", program.name(), listed(looked)
)]
pub struct ProfilerNotFound {
    /// Which.
    pub program: NsightProgram,
    /// The folders that were searched besides those of `PATH`.
    pub looked: Vec<PathBuf>,
}

fn listed(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    names.join(", ")
}

/// Locates a program of Nsight Compute: on `PATH`, as a separate installation, or in a toolkit. It starts nothing.
///
/// # Errors
/// It was not found.
pub fn nsight(
    surroundings: &HostEnvironment,
    program: NsightProgram,
) -> Result<PathBuf, ProfilerNotFound> {
    let installs = surroundings.system.join("opt/nvidia/nsight-compute");
    let mut folders: Vec<PathBuf> = expand(&installs, "*");
    // Listed even if missing, so that the error names the place to install into.
    folders.push(installs);
    for toolkit in toolkit_roots(surroundings) {
        folders.push(toolkit.join("bin"));
        folders.extend(expand(&toolkit, "nsight-compute-*"));
    }
    match find(surroundings, program.name(), &folders) {
        Some(found) => Ok(found),
        None => Err(ProfilerNotFound { program, looked: folders }),
    }
}

/// The first file of that name on `PATH`, else in these folders.
pub(super) fn find(
    surroundings: &HostEnvironment,
    name: &str,
    folders: &[PathBuf],
) -> Option<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let in_folder =
        |folder: &PathBuf| Some(folder.join(&file)).filter(|it: &PathBuf| Path::is_file(it));
    surroundings.on_path(name).or_else(|| folders.iter().find_map(in_folder))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{surroundings, tree};
    use super::*;

    fn check(files: &[&str], program: NsightProgram, expected: Option<&str>) {
        let root = tree(files);
        let found = nsight(&surroundings(root.path()), program);
        assert_eq!(found.ok(), expected.map(|file| root.path().join(file)), "{files:?}");
    }

    #[test]
    fn programs_are_found_where_installers_put_them() {
        let ncu = NsightProgram::CommandLine;
        check(&[], ncu, None);
        let own = "opt/nvidia/nsight-compute/2025.3.1/ncu";
        check(&[own, "opt/nvidia/nsight-compute/2024.1.0/ncu"], ncu, Some(own));
        check(&["usr/local/cuda/bin/ncu"], ncu, Some("usr/local/cuda/bin/ncu"));
        let inside = "usr/local/cuda/nsight-compute-2025.3.1/ncu-ui";
        check(&[inside], NsightProgram::Window, Some(inside));
        check(&[inside], ncu, None);
    }

    #[test]
    fn who_lacks_it_is_told_where_it_was_looked_for_and_what_installs_it() {
        let root = tree(&["usr/local/cuda/bin/nvcc"]);
        let absent = nsight(&surroundings(root.path()), NsightProgram::CommandLine).unwrap_err();
        let sentence = absent.to_string();
        for part in ["`ncu`", "opt/nvidia/nsight-compute", "usr/local/cuda/bin", "apt install"] {
            assert!(sentence.contains(part), "{sentence}");
        }
    }
}
