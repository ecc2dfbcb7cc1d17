//! Where the vendor's libraries lie that run as baselines. Nothing is loaded: that is for the process that runs them.

use std::path::PathBuf;

use super::places::{self, Source};
use super::{Surroundings, naming};

/// Where libraries may lie, the likeliest place first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Libraries {
    /// cuBLAS: files, and behind them the names by which the system's loader may know it.
    pub cublas: Vec<PathBuf>,
}

/// What cuBLAS is called, the newest major version first.
const CUBLAS: [&str; 2] = if cfg!(windows) {
    ["cublas64_13.dll", "cublas64_12.dll"]
} else {
    ["libcublas.so.13", "libcublas.so.12"]
};

/// Looks where compilers are looked for, too: the path given, CUDA toolkits, Python packages.
#[must_use]
pub fn libraries(surroundings: &Surroundings) -> Libraries {
    let mut folders: Vec<PathBuf> = Vec::new();
    let Some(naming) = naming::native() else { return Libraries::default() };
    for place in places::all(surroundings, naming) {
        match place.source {
            Source::Explicit | Source::Toolkit | Source::Python => {}
            // Only what compiles is ever fetched.
            Source::Fetched | Source::SearchPath => continue,
        }
        folders.extend(place.libraries);
        // The layout of packages before CUDA 13.
        let old = place.packages.map(|packages| packages.join("nvidia").join("cublas"));
        folders.extend(
            old.iter().flat_map(|root| naming.wheel_libraries.iter().map(|it| root.join(it))),
        );
    }
    let mut cublas: Vec<PathBuf> = Vec::new();
    for file in folders.iter().flat_map(|folder| CUBLAS.map(|name| folder.join(name))) {
        if file.is_file() && !cublas.contains(&file) {
            cublas.push(file);
        }
    }
    cublas.extend(CUBLAS.map(PathBuf::from));
    Libraries { cublas }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::tests::{surroundings, tree};
    use super::*;

    #[test]
    fn cublas_is_found_where_toolkits_and_packages_have_it() {
        let check = |files: &[&str], expected: &[&str]| {
            let root = tree(files);
            let mut around = surroundings(root.path());
            around.virtual_env = Some(root.path().join("venv"));
            let found = libraries(&around).cublas;
            let mut wanted: Vec<PathBuf> =
                expected.iter().map(|file| root.path().join(file)).collect();
            // Where nothing is found the loader is asked.
            wanted.extend(CUBLAS.map(PathBuf::from));
            assert_eq!(found, wanted, "{files:?}");
        };
        check(&[], &[]);
        let toolkit = "usr/local/cuda/lib64/libcublas.so.13";
        check(&[toolkit], &[toolkit]);
        let wheel = "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13";
        check(&[wheel, toolkit], &[toolkit, wheel]);
        let old = "venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12";
        let nvrtc = "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
        check(&[old, nvrtc], &[old]);
        // What was fetched has compilers only.
        check(&["cache/toolchain/13.5/nvidia/cu13/lib/libcublas.so.13"], &[]);
    }
}
