//! Version of a compiler or tool, parsed from file and folder names.

use std::fmt;

use serde::{Serialize, Serializer};

/// `13.5.37`, or `13.5` if the last number is unknown.
///
/// An unknown last number sorts before every known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// First number: the CUDA major version.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number, if the name contains it.
    pub patch: Option<u32>,
}

/// The first NVRTC with bundled headers.
const FIRST_WITH_HEADERS: Version = Version::new(13, 3);

/// The major version whose every release is supported.
const SUPPORTED_MAJOR: u32 = 13;

/// The one supported release of the major version before it, for older drivers.
const SUPPORTED_BEFORE: Version = Version::new(12, 9);

impl Version {
    /// A version without a third number.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor, patch: None }
    }

    /// Parses `13.5` or `13.5.37`; further numbers are ignored.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(str::parse::<u32>);
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let patch = match numbers.next() {
            Some(number) => Some(number.ok()?),
            None => None,
        };
        Some(Self { major, minor, patch })
    }

    /// Whether an NVRTC of this version is used at all.
    #[must_use]
    pub const fn is_supported(self) -> bool {
        self.major == SUPPORTED_MAJOR || self.same_release(SUPPORTED_BEFORE)
    }

    /// Whether some NVRTC of this major version is used.
    pub(super) const fn is_supported_major(major: u32) -> bool {
        major == SUPPORTED_MAJOR || major == SUPPORTED_BEFORE.major
    }

    /// Whether an NVRTC of this version has bundled headers.
    #[must_use]
    pub fn has_bundled_headers(self) -> bool {
        self >= FIRST_WITH_HEADERS
    }

    /// Whether both name the same CUDA release, the third number aside.
    #[must_use]
    pub const fn same_release(self, other: Self) -> bool {
        self.major == other.major && self.minor == other.minor
    }

    /// Whether this is an earlier CUDA release, the third number aside.
    #[must_use]
    pub const fn is_earlier_release(self, other: Self) -> bool {
        self.major < other.major || (self.major == other.major && self.minor < other.minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)?;
        match self.patch {
            Some(patch) => write!(formatter, ".{patch}"),
            None => Ok(()),
        }
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names_and_ordered() {
        for (text, expected) in [
            ("13.5", Some("13.5")),
            ("13.5.37", Some("13.5.37")),
            ("13.0.88.1", Some("13.0.88")),
            ("13", None),
            ("13.x", None),
            ("", None),
        ] {
            let shown = Version::parse(text).map(|version| version.to_string());
            assert_eq!(shown.as_deref(), expected, "{text}");
        }
        assert!(Version::new(13, 3).has_bundled_headers());
        assert!(!Version::parse("13.2.99").unwrap().has_bundled_headers());
        for (text, is_supported) in [
            ("13.0", true),
            ("13.5.37", true),
            ("12.9.86", true),
            ("12.8.93", false),
            ("14.0", false),
        ] {
            assert_eq!(Version::parse(text).unwrap().is_supported(), is_supported, "{text}");
        }
    }
}
