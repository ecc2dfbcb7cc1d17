//! Libraries of headers that kernels may name, such as CUTLASS. A project names a library and never a path: the user's
//! settings or an installed Python package determine where it lies.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::HostEnvironment;
use super::naming;
use super::search_places::{self, Source};

/// How CUTLASS is installed.
pub const INSTALL_CUTLASS: &str = "`python3 -m pip install --no-deps nvidia-cutlass` installs its headers, or name their \
     folder by `LIGHTBENCH_CUTLASS` or in settings.ron: `libraries: (cutlass: Some(\"/path/to/cutlass\"))`";

/// The header with CUTLASS's version; a folder that has it is CUTLASS's include folder.
const VERSION_HEADER: &str = "cutlass/version.h";

/// The include folder of the package `nvidia-cutlass`, in a folder of Python packages.
const IN_PACKAGES: &str = "cutlass_library/source/include";

/// Maximum size of the version header.
const MOST_VERSION_BYTES: u64 = 1 << 20;

/// A library of headers, found on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeaderLibrary {
    /// Its include folder, without links.
    pub folder: PathBuf,
    /// Its version, from its headers.
    pub version: String,
    /// Where it was found.
    pub source: Source,
}

/// Where CUTLASS is, or why it is not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cutlass {
    /// Its headers.
    Found(HeaderLibrary),
    /// The user named a folder that has no headers of CUTLASS; nothing else is searched then.
    NotThere {
        /// The folder.
        folder: PathBuf,
    },
    /// No folder is named, and no Python package has it.
    NotInstalled,
}

impl fmt::Display for Cutlass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(library) => {
                write!(out, "{} in `{}`", library.version, library.folder.display())
            }
            Self::NotThere { folder } => {
                write!(out, "`{}` has no `{VERSION_HEADER}`", folder.display())
            }
            Self::NotInstalled => out.write_str("not found"),
        }
    }
}

/// Looks for CUTLASS in the folder that the user named, else in Python packages.
#[must_use]
pub fn cutlass(surroundings: &HostEnvironment) -> Cutlass {
    if let Some(folder) = &surroundings.cutlass {
        let inside = ["", "include", IN_PACKAGES].map(|part| folder.join(part));
        let found = inside.iter().find_map(|include| library(include, Source::Explicit));
        return found.map_or_else(|| Cutlass::NotThere { folder: folder.clone() }, Cutlass::Found);
    }
    let Some(naming) = naming::native() else { return Cutlass::NotInstalled };
    let named = surroundings.interpreter.iter();
    let named = named.flat_map(|interpreter| search_places::named_packages(interpreter, naming));
    let packages = named.chain(search_places::site_packages(surroundings, naming));
    let mut folders = packages.map(|folder| folder.join(IN_PACKAGES));
    folders
        .find_map(|include| library(&include, Source::Python))
        .map_or(Cutlass::NotInstalled, Cutlass::Found)
}

fn library(include: &Path, source: Source) -> Option<HeaderLibrary> {
    let header = include.join(VERSION_HEADER);
    let size = fs::metadata(&header).ok().filter(fs::Metadata::is_file)?.len();
    let text = fs::read_to_string(&header).ok().filter(|_| size <= MOST_VERSION_BYTES)?;
    let folder = fs::canonicalize(include).ok()?;
    Some(HeaderLibrary { folder, version: version(&text)?, source })
}

/// The version that CUTLASS's header defines: `CUTLASS_MAJOR`, `CUTLASS_MINOR`, `CUTLASS_PATCH`.
fn version(text: &str) -> Option<String> {
    let number = |name: &str| {
        text.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let defines = words.next() == Some("#define") && words.next() == Some(name);
            words.next().filter(|_| defines)?.parse::<u32>().ok()
        })
    };
    let [major, minor, patch] = ["CUTLASS_MAJOR", "CUTLASS_MINOR", "CUTLASS_PATCH"].map(number);
    Some(format!("{}.{}.{}", major?, minor?, patch?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "#pragma once\n#define CUTLASS_MAJOR 4\n#define CUTLASS_MINOR 2\n#define CUTLASS_PATCH 0 \n";

    fn with_headers(include: &Path) {
        fs::create_dir_all(include.join("cutlass")).unwrap();
        fs::write(include.join(VERSION_HEADER), HEADER).unwrap();
    }

    #[test]
    fn the_version_is_that_of_the_header() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(version(text).as_deref(), expected, "{text}");
        };
        check(HEADER, Some("4.2.0"));
        check("#define CUTLASS_MAJOR 3\n#define CUTLASS_MINOR 9\n", None);
        check("#define CUTLASS_MAJOR x\n", None);
        check("", None);
    }

    #[test]
    fn the_folder_of_the_settings_is_the_checkout_or_its_include_folder() {
        let root = tempfile::tempdir().unwrap();
        let checkout = root.path().join("cutlass");
        with_headers(&checkout.join("include"));
        for named in [checkout.clone(), checkout.join("include")] {
            let surroundings = HostEnvironment { cutlass: Some(named), ..Default::default() };
            let Cutlass::Found(found) = cutlass(&surroundings) else { panic!("{checkout:?}") };
            assert_eq!(found.folder, fs::canonicalize(checkout.join("include")).unwrap());
            assert_eq!((found.version.as_str(), found.source), ("4.2.0", Source::Explicit));
        }
    }

    #[test]
    fn a_named_folder_without_headers_is_an_answer() {
        let root = tempfile::tempdir().unwrap();
        let environment = root.path().join("env");
        with_headers(&environment.join("lib/python3.11/site-packages").join(IN_PACKAGES));
        let named = root.path().join("empty");
        let surroundings = HostEnvironment {
            cutlass: Some(named.clone()),
            virtual_env: Some(environment),
            ..Default::default()
        };
        assert_eq!(cutlass(&surroundings), Cutlass::NotThere { folder: named });
        let surroundings = HostEnvironment { cutlass: None, ..surroundings };
        let Cutlass::Found(found) = cutlass(&surroundings) else { panic!("{surroundings:?}") };
        assert_eq!(found.source, Source::Python);
    }

    #[test]
    fn the_named_interpreter_comes_before_that_of_the_path() {
        let root = tempfile::tempdir().unwrap();
        let [named, first] = ["named", "first"].map(|name| root.path().join(name));
        for environment in [&named, &first] {
            with_headers(&environment.join("lib/python3.11/site-packages").join(IN_PACKAGES));
            fs::create_dir(environment.join("bin")).unwrap();
            fs::write(environment.join("bin/python3"), "").unwrap();
        }
        for interpreter in [named.clone(), named.join("bin/python3")] {
            let surroundings = HostEnvironment {
                interpreter: Some(interpreter),
                path: vec![first.join("bin")],
                ..Default::default()
            };
            let Cutlass::Found(found) = cutlass(&surroundings) else { panic!("{surroundings:?}") };
            assert!(found.folder.starts_with(fs::canonicalize(&named).unwrap()), "{found:?}");
        }
    }

    #[test]
    fn a_machine_without_cutlass_has_none() {
        let root = tempfile::tempdir().unwrap();
        let surroundings =
            HostEnvironment { system: root.path().to_owned(), ..HostEnvironment::default() };
        assert_eq!(cutlass(&surroundings), Cutlass::NotInstalled);
    }
}
