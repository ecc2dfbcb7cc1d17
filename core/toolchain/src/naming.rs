//! File names of the compiler on each platform.

use std::path::PathBuf;

use super::Version;

/// File names and folders of one platform.
#[derive(Debug)]
pub(super) struct Naming {
    /// Text before the version in the name of the compiler library.
    library_prefix: &'static str,
    /// The same for its builtins library.
    builtins_prefix: &'static str,
    /// Text after the version.
    library_suffix: &'static str,
    /// The form of the version.
    digits: Digits,
    /// Suffix of program names.
    program_suffix: &'static str,
    /// The format of libraries and programs.
    pub(super) format: BinaryFormat,
    /// Folders of a toolkit that hold libraries.
    pub(super) toolkit_libraries: &'static [&'static str],
    /// Folders of a wheel that hold libraries.
    pub(super) wheel_libraries: &'static [&'static str],
    /// Folders below a Python prefix that hold packages; `*` matches a version.
    pub(super) site_packages: &'static [&'static str],
}

/// The form of a version in a file name.
#[derive(Debug, Clone, Copy)]
enum Digits {
    /// `13`, `13.5`.
    Dotted,
    /// `135`, `130_0`: the last digit of the first number is the minor version.
    Joined,
}

/// The container format of libraries and programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryFormat {
    /// Linux.
    Elf,
    /// Windows.
    PortableExecutable,
}

/// File names as in the wheels and toolkits 12.8 to 13.5 for Linux.
pub(super) static LINUX: Naming = Naming {
    library_prefix: "libnvrtc.so.",
    builtins_prefix: "libnvrtc-builtins.so.",
    library_suffix: "",
    digits: Digits::Dotted,
    program_suffix: "",
    format: BinaryFormat::Elf,
    toolkit_libraries: &[
        "lib64",
        "lib",
        "targets/x86_64-linux/lib",
        "targets/sbsa-linux/lib",
        "lib/x86_64-linux-gnu",
        "lib/aarch64-linux-gnu",
    ],
    wheel_libraries: &["lib"],
    site_packages: &[
        "lib/python3*/site-packages",
        "lib64/python3*/site-packages",
        "lib/python3*/dist-packages",
        "local/lib/python3*/dist-packages",
        "local/lib/python3*/site-packages",
    ],
};

/// File names as in the wheels 13.5 for Windows (`nvidia/cu13/bin/x86_64/nvrtc64_130_0.dll`).
pub(super) static WINDOWS: Naming = Naming {
    library_prefix: "nvrtc64_",
    builtins_prefix: "nvrtc-builtins64_",
    library_suffix: ".dll",
    digits: Digits::Joined,
    program_suffix: ".exe",
    format: BinaryFormat::PortableExecutable,
    toolkit_libraries: &["bin/x64", "bin"],
    wheel_libraries: &["bin/x86_64", "bin"],
    site_packages: &["Lib/site-packages"],
};

/// The table of the platform this program was built for; `None` if NVIDIA ships no compiler for it.
pub(super) fn native() -> Option<&'static Naming> {
    let known_processor = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    if cfg!(target_os = "linux") && known_processor {
        Some(&LINUX)
    } else if cfg!(target_os = "windows") && known_processor {
        Some(&WINDOWS)
    } else {
        None
    }
}

impl Naming {
    /// The CUDA major version in the name of a compiler library; `None` for other files.
    pub(super) fn library_major(&self, name: &str) -> Option<u32> {
        let numbers = name.strip_prefix(self.library_prefix)?.strip_suffix(self.library_suffix)?;
        match self.digits {
            Digits::Dotted if numbers.split('.').all(|part| part.parse::<u32>().is_ok()) => {
                numbers.split('.').next()?.parse().ok()
            }
            Digits::Dotted => None,
            Digits::Joined => {
                let (release, binary_interface) = numbers.split_once('_')?;
                binary_interface.parse::<u32>().ok()?;
                Some(release.parse::<u32>().ok()? / 10)
            }
        }
    }

    /// The version in the name of a builtins library; `None` for other files.
    pub(super) fn builtins_version(&self, name: &str) -> Option<Version> {
        let numbers = name.strip_prefix(self.builtins_prefix)?.strip_suffix(self.library_suffix)?;
        match self.digits {
            Digits::Dotted => Version::parse(numbers),
            Digits::Joined => {
                let joined = numbers.parse::<u32>().ok()?;
                Some(Version::new(joined / 10, joined % 10))
            }
        }
    }

    /// The file name of a program.
    pub(super) fn program(&self, stem: &str) -> PathBuf {
        PathBuf::from(format!("{stem}{}", self.program_suffix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_version_on_every_platform() {
        for (naming, library, major, builtins, version) in [
            (&LINUX, "libnvrtc.so.13", Some(13), "libnvrtc-builtins.so.13.5", Some("13.5")),
            (
                &LINUX,
                "libnvrtc.so.13.0.88",
                Some(13),
                "libnvrtc-builtins.so.13.0.88",
                Some("13.0.88"),
            ),
            (&LINUX, "libnvrtc.so.11.2", Some(11), "libnvrtc-builtins.so", None),
            (&LINUX, "libnvrtc.alt.so.13", None, "libnvrtc-builtins.alt.so.13.5", None),
            (&LINUX, "libnvrtc.so", None, "libnvrtc.so.13", None),
            (&WINDOWS, "nvrtc64_130_0.dll", Some(13), "nvrtc-builtins64_135.dll", Some("13.5")),
            (&WINDOWS, "nvrtc64_130_0.alt.dll", None, "nvrtc-builtins64_135.alt.dll", None),
        ] {
            assert_eq!(naming.library_major(library), major, "{library}");
            let shown = naming.builtins_version(builtins).map(|version| version.to_string());
            assert_eq!(shown.as_deref(), version, "{builtins}");
        }
    }
}
