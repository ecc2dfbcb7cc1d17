//! Locates the vendor libraries used on a GPU: cuBLAS as a baseline, CUPTI for the driver's time stamps. Nothing is
//! loaded here; the process that runs the library loads it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::HostEnvironment;
use super::naming::{self, Naming};
use super::search_places::{self, Place, Source, file_name};

/// Candidate paths of libraries, the most likely first; after the files, the names for the system's loader.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Libraries {
    /// Products of matrices, as a baseline.
    pub cublas: Vec<PathBuf>,
    /// The driver's time stamps.
    pub cupti: Vec<PathBuf>,
}

impl Libraries {
    /// The first that is a file, and no name for the loader.
    #[must_use]
    pub fn file(of: &[PathBuf]) -> Option<&Path> {
        let is_name = |file: &Path| file.parent() == Some(Path::new(""));
        of.iter().map(PathBuf::as_path).find(|file| !is_name(file) && file.is_file())
    }
}

/// File names and folders of a library.
struct LibraryPattern {
    /// Names for the loader, the newest major version first.
    names: &'static [&'static str],
    /// Prefix of its file name if it has none of the names.
    stem: Option<&'static str>,
    /// An additional folder of a toolkit that contains it.
    in_toolkit: Option<&'static str>,
    /// Its folder in Python packages before CUDA 13.
    package: &'static str,
}

const CUBLAS: LibraryPattern = LibraryPattern {
    names: if cfg!(windows) {
        &["cublas64_13.dll", "cublas64_12.dll"]
    } else {
        &["libcublas.so.13", "libcublas.so.12"]
    },
    stem: None,
    in_toolkit: None,
    package: "cublas",
};

const CUPTI: LibraryPattern = LibraryPattern {
    names: if cfg!(windows) {
        &["cupti64.dll"]
    } else {
        &["libcupti.so.13", "libcupti.so.12", "libcupti.so"]
    },
    // On Windows a file has its whole version in its name.
    stem: if cfg!(windows) { Some("cupti64_") } else { None },
    in_toolkit: Some("extras/CUPTI/lib64"),
    package: "cuda_cupti",
};

/// Searches the places of compilers: the given path, CUDA toolkits, Python packages.
#[must_use]
pub fn libraries(surroundings: &HostEnvironment) -> Libraries {
    let Some(naming) = naming::native() else { return Libraries::default() };
    let mut places = search_places::all(surroundings, naming);
    places.retain(|place| match place.source {
        Source::Explicit | Source::Toolkit | Source::Python => true,
        // A fetch installs compilers only.
        Source::Fetched | Source::SearchPath => false,
    });
    let [cublas, cupti] = [CUBLAS, CUPTI].map(|sought| sought.found(&places, naming));
    Libraries { cublas, cupti }
}

impl LibraryPattern {
    fn found(&self, places: &[Place], naming: &Naming) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        let folders = places.iter().flat_map(|place| self.folders(place, naming));
        for file in folders.flat_map(|folder| self.files(&folder)) {
            if !found.contains(&file) {
                found.push(file);
            }
        }
        found.extend(self.names.iter().map(PathBuf::from));
        found
    }

    /// Where a place may have it.
    fn folders(&self, place: &Place, naming: &Naming) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> =
            self.in_toolkit.iter().map(|folder| place.root.join(folder)).collect();
        folders.extend(place.libraries.iter().cloned());
        // The layout of packages before CUDA 13.
        let package = place.packages.iter().map(|root| root.join("nvidia").join(self.package));
        folders.extend(
            package.flat_map(|root| naming.wheel_libraries.iter().map(move |it| root.join(it))),
        );
        folders
    }

    /// The files of a folder that are it.
    fn files(&self, folder: &Path) -> Vec<PathBuf> {
        let named = self.names.iter().map(|name| folder.join(name));
        let mut files: Vec<PathBuf> = named.filter(|file| file.is_file()).collect();
        if let Some(stem) = self.stem {
            let entries = fs::read_dir(folder).into_iter().flatten();
            let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
            let mut others: Vec<PathBuf> =
                paths.filter(|path| file_name(path).starts_with(stem)).collect();
            others.sort();
            files.extend(others.pop());
        }
        files
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::tests::{surroundings, tree};
    use super::*;

    fn check_found(
        of: impl Fn(Libraries) -> Vec<PathBuf>,
        sought: &LibraryPattern,
        files: &[&str],
        expected: &[&str],
    ) {
        let root = tree(files);
        let mut around = surroundings(root.path());
        around.virtual_env = Some(root.path().join("venv"));
        let found = of(libraries(&around));
        let mut wanted: Vec<PathBuf> = expected.iter().map(|file| root.path().join(file)).collect();
        assert_eq!(Libraries::file(&found), wanted.first().map(PathBuf::as_path), "{files:?}");
        // If no file is found, the system's loader searches.
        wanted.extend(sought.names.iter().map(PathBuf::from));
        assert_eq!(found, wanted, "{files:?}");
    }

    #[test]
    fn cublas_is_found_where_toolkits_and_packages_have_it() {
        let check = |files: &[&str], expected: &[&str]| {
            check_found(|found| found.cublas, &CUBLAS, files, expected);
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
    #[test]
    fn cupti_is_found_where_toolkits_and_packages_have_it() {
        let check = |files: &[&str], expected: &[&str]| {
            check_found(|found| found.cupti, &CUPTI, files, expected);
        };
        check(&[], &[]);
        let extra = "usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13";
        let whole = "usr/local/cuda/extras/CUPTI/lib64/libcupti.so.2025.3.1";
        check(&[whole, extra], &[extra]);
        let toolkit = "usr/local/cuda/lib64/libcupti.so.13";
        check(&[toolkit, extra], &[extra, toolkit]);
        let wheel = "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13";
        check(&[wheel], &[wheel]);
        let old = "venv/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12";
        let nvrtc = "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
        check(&[old, nvrtc], &[old]);
    }
}
