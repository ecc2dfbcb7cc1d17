//! The places that are searched for a compiler, in order.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::HostEnvironment;
use super::naming::Naming;

/// Which kind of place something was found in, in the order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The path that the user gave.
    Explicit,
    /// A CUDA toolkit (or a Conda environment, which is laid out like one).
    Toolkit,
    /// Python packages.
    Python,
    /// Lightbench's folder in the user's cache.
    Fetched,
    /// A folder of `PATH` (programs only).
    SearchPath,
}

impl std::fmt::Display for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Explicit => "the path given",
            Self::Toolkit => "CUDA toolkit",
            Self::Python => "Python package",
            Self::Fetched => "fetched by Lightbench",
            Self::SearchPath => "search path",
        })
    }
}

/// One place: folders that belong together.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) source: Source,
    /// The path of the place as shown to the user.
    pub(super) root: PathBuf,
    pub(super) libraries: Vec<PathBuf>,
    pub(super) programs: Vec<PathBuf>,
    pub(super) includes: Vec<PathBuf>,
    /// The folder whose `*.dist-info` folders state full versions.
    pub(super) packages: Option<PathBuf>,
    /// Only this library file, if the user gave one.
    pub(super) only: Option<PathBuf>,
}

/// Every place, most preferred first, each folder once.
pub(super) fn all(surroundings: &HostEnvironment, naming: &Naming) -> Vec<Place> {
    let mut places = Vec::new();
    if let Some(path) = &surroundings.explicit {
        places.extend(explicit(path, naming));
    }
    for root in toolkit_roots(surroundings) {
        places.push(toolkit(&root, Source::Toolkit, naming));
    }
    for site_packages in site_packages(surroundings, naming) {
        places.extend(wheels(&site_packages, Source::Python, naming));
    }
    for folder in fetched_folders(surroundings) {
        places.extend(wheels(&folder, Source::Fetched, naming));
    }
    places
}

/// Folders of finished and unfinished fetches in the cache, newest version first.
pub(super) fn fetched_folders(surroundings: &HostEnvironment) -> Vec<PathBuf> {
    let Some(cache) = &surroundings.cache else { return Vec::new() };
    let mut folders = expand(&cache.join("toolchain"), "*");
    folders.retain(|folder| !file_name(folder).starts_with('.'));
    folders
}

/// An explicit path may be a library, a toolkit, a packages folder, or a folder that contains one of these.
fn explicit(path: &Path, naming: &Naming) -> Vec<Place> {
    if path.is_file() {
        let folder = path.parent().unwrap_or(path);
        let mut place = flat(folder, Source::Explicit);
        place.root = path.to_path_buf();
        place.only = Some(path.to_path_buf());
        place.packages = packages_above(folder);
        return vec![place];
    }
    let mut places = wheels(path, Source::Explicit, naming);
    let mut whole = toolkit(path, Source::Explicit, naming);
    let direct = flat(path, Source::Explicit);
    whole.libraries.extend(direct.libraries);
    whole.programs.extend(direct.programs);
    whole.includes.extend(direct.includes);
    if let Some(vendor) = path.parent().filter(|vendor| is_vendor(vendor)) {
        whole.includes.extend(wheel_includes(vendor, path));
    }
    whole.packages = packages_above(path);
    places.push(whole);
    places
}

/// A folder that holds the library itself, the programs and the headers.
fn flat(folder: &Path, source: Source) -> Place {
    let above = folder.parent().unwrap_or(folder);
    Place {
        source,
        root: folder.to_path_buf(),
        libraries: vec![folder.to_path_buf()],
        programs: vec![folder.to_path_buf(), above.join("bin")],
        includes: match above.parent() {
            Some(vendor) if is_vendor(vendor) => wheel_includes(vendor, above),
            Some(_) | None => vec![above.join("include")],
        },
        packages: None,
        only: None,
    }
}

fn is_vendor(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "nvidia")
}

/// The include folders of a package below `nvidia`: its own, and those of the packages that each have a part of the
/// headers of CUDA 12.
fn wheel_includes(vendor: &Path, root: &Path) -> Vec<PathBuf> {
    let parts = ["cuda_runtime", "cuda_nvcc", "cuda_cccl"].map(|name| vendor.join(name));
    let is_one_of_parts = is_of_split_layout(root);
    let parts = parts.iter().filter(|_| is_one_of_parts).map(|part| part.join("include"));
    let mut folders = vec![root.join("include")];
    folders.extend(parts.filter(|folder| *folder != root.join("include")));
    folders
}

/// Whether a file or folder is in the layout of packages before CUDA 13, where each package has a folder of its own:
/// `nvidia/cuda_nvcc/bin/ptxas`.
pub(super) fn is_of_split_layout(path: &Path) -> bool {
    path.ancestors()
        .find(|below| below.parent().is_some_and(is_vendor))
        .is_some_and(|package| file_name(package).starts_with("cuda_"))
}

/// The packages folder around `…/nvidia/cu13/lib`, if this is one.
fn packages_above(folder: &Path) -> Option<PathBuf> {
    let vendor = folder.ancestors().find(|above| is_vendor(above))?;
    vendor.parent().map(Path::to_path_buf)
}

fn toolkit(root: &Path, source: Source, naming: &Naming) -> Place {
    Place {
        source,
        root: root.to_path_buf(),
        libraries: naming.toolkit_libraries.iter().map(|folder| root.join(folder)).collect(),
        programs: vec![root.join("bin")],
        includes: ["include", "targets/x86_64-linux/include", "targets/sbsa-linux/include"]
            .iter()
            .map(|folder| root.join(folder))
            .collect(),
        packages: None,
        only: None,
    }
}

/// The vendor's packages below a packages folder: `nvidia/cu13`, and the layout before it.
fn wheels(packages: &Path, source: Source, naming: &Naming) -> Vec<Place> {
    let vendor = packages.join("nvidia");
    let mut roots = expand(&vendor, "cu*");
    roots.retain(|root| file_name(root)[2..].parse::<u32>().is_ok());
    roots.extend(["cuda_nvrtc", "cuda_nvcc"].map(|name| vendor.join(name)));
    roots.retain(|root| root.is_dir());
    let place = |root: PathBuf| Place {
        source,
        libraries: naming.wheel_libraries.iter().map(|folder| root.join(folder)).collect(),
        programs: vec![root.join("bin")],
        includes: wheel_includes(&vendor, &root),
        packages: Some(packages.to_path_buf()),
        only: None,
        root,
    };
    roots.into_iter().map(place).collect()
}

/// The folders of CUDA toolkits, each once.
pub(super) fn toolkit_roots(surroundings: &HostEnvironment) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        [&surroundings.cuda_home, &surroundings.cuda_path].into_iter().flatten().cloned().collect();
    let local = surroundings.system.join("usr/local");
    roots.push(local.join("cuda"));
    roots.extend(expand(&local, "cuda-*"));
    roots.push(surroundings.system.join("opt/cuda"));
    roots.extend(surroundings.on_path("nvcc").and_then(|nvcc| prefix_of(&nvcc)));
    roots.extend(surroundings.conda_prefix.clone());
    keep_first(roots)
}

pub(super) fn site_packages(surroundings: &HostEnvironment, naming: &Naming) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = [&surroundings.virtual_env, &surroundings.conda_prefix]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    if let Some(python) = surroundings.on_path("python3") {
        // A virtual environment's python3 is a link to the real one: both prefixes count.
        prefixes.extend(python.parent().and_then(Path::parent).map(Path::to_path_buf));
        prefixes.extend(prefix_of(&python));
    }
    prefixes.extend(surroundings.home.as_ref().map(|home| home.join(".local")));
    let pyenv = surroundings.pyenv_root.clone();
    let pyenv = pyenv.or_else(|| surroundings.home.as_ref().map(|home| home.join(".pyenv")));
    prefixes.extend(pyenv.map(|root| expand(&root.join("versions"), "*")).unwrap_or_default());
    packages_of(prefixes, naming)
}

/// The folders of Python packages of the interpreter or environment that the user named.
pub(super) fn named_packages(interpreter: &Path, naming: &Naming) -> Vec<PathBuf> {
    if interpreter.is_dir() {
        return packages_of(vec![interpreter.to_owned()], naming);
    }
    // A virtual environment's interpreter is a link to the real one: both prefixes count.
    let environment = interpreter.parent().and_then(Path::parent).map(Path::to_path_buf);
    packages_of(environment.into_iter().chain(prefix_of(interpreter)).collect(), naming)
}

fn packages_of(prefixes: Vec<PathBuf>, naming: &Naming) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for prefix in keep_first(prefixes) {
        for pattern in naming.site_packages {
            folders.extend(expand_path(&prefix, pattern));
        }
    }
    keep_first(folders)
}

/// The folder above `bin` of a program, links resolved.
fn prefix_of(program: &Path) -> Option<PathBuf> {
    let program = fs::canonicalize(program).ok()?;
    program.parent()?.parent().map(Path::to_path_buf)
}

/// `lib/python3*/site-packages` below `prefix`, newest first.
fn expand_path(prefix: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut folders = vec![prefix.to_path_buf()];
    for step in pattern.split('/') {
        folders = folders.iter().flat_map(|folder| expand(folder, step)).collect();
    }
    folders
}

/// The folders in `folder` that match a name with at most one `*` at its end, highest number first.
pub(super) fn expand(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let Some(prefix) = pattern.strip_suffix('*') else {
        let named = folder.join(pattern);
        return if named.is_dir() { vec![named] } else { Vec::new() };
    };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| file_name(path).starts_with(prefix) && path.is_dir())
        .collect();
    found.sort_by(|left, right| {
        let (left, right) = (file_name(left), file_name(right));
        numbers(&right).cmp(&numbers(&left)).then_with(|| left.cmp(&right))
    });
    found
}

/// The numbers in a name, so that `python3.13` precedes `python3.9`.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|character: char| !character.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Drops folders that are missing or that were seen before under another name.
fn keep_first(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = Vec::new();
    let mut kept = Vec::new();
    for folder in folders {
        if let Ok(real) = fs::canonicalize(&folder)
            && !seen.contains(&real)
        {
            seen.push(real);
            kept.push(folder);
        }
    }
    kept
}
