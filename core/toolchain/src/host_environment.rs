//! The environment values that discovery needs, read once by the program.
//!
//! This crate reads no environment variables, so that a search is a function of its input and tests set its input
//! directly.

use std::ffi::OsString;
use std::path::PathBuf;

use etcetera::BaseStrategy as _;

use super::DriverBranch;

/// Environment values and root folders that discovery and the doctor use.
#[derive(Debug, Clone, Default)]
pub struct HostEnvironment {
    /// The toolchain path that the user gave: a folder or the compiler library itself
    /// (command line, else `LIGHTBENCH_TOOLCHAIN`).
    pub explicit: Option<PathBuf>,
    /// The folder of CUTLASS that the user named (`LIGHTBENCH_CUTLASS`, else the settings).
    pub cutlass: Option<PathBuf>,
    /// The Python interpreter or environment that the user named (`LIGHTBENCH_PYTHON`, else the settings); its packages
    /// are searched first for libraries of headers.
    pub interpreter: Option<PathBuf>,
    /// `CUDA_HOME`.
    pub cuda_home: Option<PathBuf>,
    /// `CUDA_PATH`.
    pub cuda_path: Option<PathBuf>,
    /// `VIRTUAL_ENV`.
    pub virtual_env: Option<PathBuf>,
    /// `CONDA_PREFIX`.
    pub conda_prefix: Option<PathBuf>,
    /// `PYENV_ROOT`.
    pub pyenv_root: Option<PathBuf>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The folders of `PATH`, in order.
    pub path: Vec<PathBuf>,
    /// Our folder in the user's cache (`LIGHTBENCH_CACHE`, else the platform's cache folder).
    pub cache: Option<PathBuf>,
    /// The root of the file system, which contains `usr/local`, `opt`, `proc` and `dev`.
    pub system: PathBuf,
    /// `DISPLAY`.
    pub display: Option<String>,
    /// `WAYLAND_DISPLAY`.
    pub wayland_display: Option<String>,
    /// The driver, for which the compiler is chosen; see [`installed_driver`](super::installed_driver).
    pub driver: Option<DriverBranch>,
}

impl HostEnvironment {
    /// Fills every field from a lookup of environment variables; empty ones count as absent.
    ///
    /// The driver remains unknown. `cache` is used if `LIGHTBENCH_CACHE` is not set; see [`user_cache`].
    #[must_use]
    pub fn from_variables(
        variable: &dyn Fn(&str) -> Option<OsString>,
        cache: Option<PathBuf>,
    ) -> Self {
        let value = |name: &str| variable(name).filter(|value| !value.is_empty());
        let folder = |name: &str| value(name).map(PathBuf::from);
        let text = |name: &str| value(name).map(|value| value.to_string_lossy().into_owned());
        let path = value("PATH").map(|list| std::env::split_paths(&list).collect());
        Self {
            explicit: folder("LIGHTBENCH_TOOLCHAIN"),
            cutlass: folder("LIGHTBENCH_CUTLASS"),
            interpreter: folder("LIGHTBENCH_PYTHON"),
            cuda_home: folder("CUDA_HOME"),
            cuda_path: folder("CUDA_PATH"),
            virtual_env: folder("VIRTUAL_ENV"),
            conda_prefix: folder("CONDA_PREFIX"),
            pyenv_root: folder("PYENV_ROOT"),
            home: folder("HOME").or_else(|| folder("USERPROFILE")),
            path: path.unwrap_or_default(),
            cache: folder("LIGHTBENCH_CACHE").or(cache),
            system: PathBuf::from("/"),
            display: text("DISPLAY"),
            wayland_display: text("WAYLAND_DISPLAY"),
            driver: None,
        }
    }

    /// The first file called `name` in the folders of `PATH`.
    #[must_use]
    pub fn on_path(&self, name: &str) -> Option<PathBuf> {
        self.all_on_path(name).next()
    }

    /// Every file called `name` in the folders of `PATH`, in order.
    pub(super) fn all_on_path(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        self.path
            .iter()
            .filter(|folder| folder.is_absolute())
            .map(move |folder| folder.join(&name))
            .filter(|file| file.is_file())
    }
}

/// Our folder in the platform's cache folder, for [`HostEnvironment::from_variables`].
///
/// The one function here that reads the environment, through `etcetera`; only the program calls it.
#[must_use]
pub fn user_cache() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("lightbench"))
}
