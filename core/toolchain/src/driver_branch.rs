//! The branch of the NVIDIA driver, which decides whose compiler's output it loads.

use std::fmt;
use std::fs;
use std::path::Path;

use super::Version;

/// The first number of a driver's version: 580 of `580.95.05`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriverBranch(pub u32);

impl DriverBranch {
    /// The oldest branch that loads cubins of a CUDA 12.x compiler, and the oldest one for 13.x
    /// (CUDA Toolkit Release Notes, table "CUDA Toolkit and Minimum Required Driver Versions").
    pub(super) const FIRST_FOR_12: Self = Self(525);
    pub(super) const FIRST_FOR_13: Self = Self(580);

    /// Parses `580.95.05`.
    #[must_use]
    pub fn parse(version: &str) -> Option<Self> {
        let (branch, rest) = version.trim().split_once('.')?;
        let is_number = |part: &str| part.parse::<u32>().is_ok();
        rest.split('.').all(is_number).then_some(())?;
        branch.parse().ok().map(Self)
    }

    /// The branch of the loaded kernel module, which Linux shows as a file below `system`.
    ///
    /// The file has the version after words that differ between the two kinds of module.
    #[must_use]
    pub fn of_kernel_module(system: &Path) -> Option<Self> {
        let text = fs::read_to_string(system.join("proc/driver/nvidia/version")).ok()?;
        text.lines().next()?.split_whitespace().find_map(Self::parse)
    }

    /// Whether this driver loads the cubins of a compiler.
    #[must_use]
    pub fn loads(self, compiler: Version) -> bool {
        self >= Self::first_for(compiler)
    }

    /// The oldest branch that loads the cubins of a compiler.
    pub(super) const fn first_for(compiler: Version) -> Self {
        if compiler.major < 13 { Self::FIRST_FOR_12 } else { Self::FIRST_FOR_13 }
    }
}

impl fmt::Display for DriverBranch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_read_from_versions_and_from_the_module_file() {
        let check = |text: &str, expected: Option<u32>| {
            assert_eq!(DriverBranch::parse(text).map(|it| it.0), expected, "{text}");
        };
        check("580.95.05", Some(580));
        check("535.183", Some(535));
        check("580", None);
        check("x86_64", None);
        check("8.5.0-ubuntu", None);
        let root = tempfile::tempdir().unwrap();
        let of_module = || DriverBranch::of_kernel_module(root.path()).map(|it| it.0);
        assert_eq!(of_module(), None);
        fs::create_dir_all(root.path().join("proc/driver/nvidia")).unwrap();
        for (line, expected) in [
            (
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024",
                Some(535),
            ),
            (
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (a@b)",
                Some(580),
            ),
            ("", None),
        ] {
            let text = format!("{line}\nGCC version:  gcc version 12.3.0\n");
            fs::write(root.path().join("proc/driver/nvidia/version"), text).unwrap();
            assert_eq!(of_module(), expected, "{line}");
        }
    }

    #[test]
    fn a_driver_loads_the_cubins_of_its_major_version_and_of_older_ones() {
        for (branch, on_12, on_13) in [
            (470, false, false),
            (525, true, false),
            (575, true, false),
            (580, true, true),
            (600, true, true),
        ] {
            let branch = DriverBranch(branch);
            assert_eq!(branch.loads(Version::new(12, 9)), on_12, "{branch}");
            assert_eq!(branch.loads(Version::new(13, 5)), on_13, "{branch}");
        }
    }
}
