//! Whether a device can run PTX of a version and target.
//!
//! PTX ISA, sections "PTX Module Directives: .version" and ".target": code for `sm_90` runs on compute capability 9.0 and
//! greater, code for `sm_90a` on 9.0 only, code for `sm_100f` on 10.0 and later chips of the same major version.

use lightbench_primitives::compute_capability::ComputeCapability;

use super::PtxModule;

/// A version of the PTX ISA.
pub type Version = (u32, u32);

/// Versions of the PTX ISA and the CUDA release that each came with, oldest first. PTX ISA, "Release History"; the rows
/// from 9.2 on follow its numbering.
const RELEASES: &[(Version, (u32, u32))] = &[
    ((1, 0), (1, 0)),
    ((1, 1), (1, 1)),
    ((1, 2), (2, 0)),
    ((1, 3), (2, 1)),
    ((1, 4), (2, 2)),
    ((2, 0), (3, 0)),
    ((2, 1), (3, 1)),
    ((2, 2), (3, 2)),
    ((2, 3), (4, 0)),
    ((3, 0), (4, 1)),
    ((3, 1), (5, 0)),
    ((3, 2), (5, 5)),
    ((4, 0), (6, 0)),
    ((4, 1), (6, 5)),
    ((4, 2), (7, 0)),
    ((4, 3), (7, 5)),
    ((5, 0), (8, 0)),
    ((6, 0), (9, 0)),
    ((6, 1), (9, 1)),
    ((6, 2), (9, 2)),
    ((6, 3), (10, 0)),
    ((6, 4), (10, 1)),
    ((6, 5), (10, 2)),
    ((7, 0), (11, 0)),
    ((7, 1), (11, 1)),
    ((7, 2), (11, 2)),
    ((7, 3), (11, 3)),
    ((7, 4), (11, 4)),
    ((7, 5), (11, 5)),
    ((7, 6), (11, 6)),
    ((7, 7), (11, 7)),
    ((7, 8), (11, 8)),
    ((8, 0), (12, 0)),
    ((8, 1), (12, 1)),
    ((8, 2), (12, 2)),
    ((8, 3), (12, 3)),
    ((8, 4), (12, 4)),
    ((8, 5), (12, 5)),
    ((8, 6), (12, 7)),
    ((8, 7), (12, 8)),
    ((8, 8), (12, 9)),
    ((9, 0), (13, 0)),
    ((9, 1), (13, 1)),
    ((9, 2), (13, 2)),
    ((9, 3), (13, 3)),
    ((9, 4), (13, 4)),
    ((9, 5), (13, 5)),
];

/// The newest version of the PTX ISA that a driver compiles; `None` for a driver newer than the table.
#[must_use]
pub fn newest_of_driver(cuda: (u32, u32)) -> Option<Version> {
    let (_, last) = RELEASES.last()?;
    let known = RELEASES.iter().rev().find(|(_, release)| *release <= cuda)?;
    (cuda <= *last).then_some(known.0)
}

/// The version of a PTX text and the newest that a driver compiles, if the text is newer.
#[must_use]
pub fn newer_than_driver(text: &str, cuda: (u32, u32)) -> Option<(Version, Version)> {
    let (written, newest) = (super::read(text).version?, newest_of_driver(cuda)?);
    (written > newest).then_some((written, newest))
}

/// Whether the `.target` of a PTX text is one architecture with its specific features: `sm_90a`.
#[must_use]
pub fn is_specific(text: &str) -> bool {
    let target = text.lines().find_map(|line| line.trim_start().strip_prefix(".target"));
    let mut words =
        target.unwrap_or_default().split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.any(|word| {
        let number = word.strip_prefix("sm_").and_then(|rest| rest.strip_suffix('a'));
        number.is_some_and(|digits| digits.parse::<u32>().is_ok())
    })
}

/// Why a device cannot run a PTX text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderProblem {
    /// No such version, or one that is newer than the table.
    #[error(
        "`.version {}.{}` is not a version of the PTX ISA up to {}.{}, the newest supported one: write the version that \
         the instructions need",
        written.0, written.1, newest.0, newest.1
    )]
    Version {
        /// The written version.
        written: Version,
        /// The newest one in the table.
        newest: Version,
    },
    /// No such architecture.
    #[error(
        "`.target {written}` is not an architecture: write `sm_` and the compute capability, such as `{device}`"
    )]
    Unknown {
        /// The written target.
        written: String,
        /// The architecture of the device.
        device: String,
    },
    /// The device is older.
    #[error(
        "`.target {written}` needs compute capability {needed} or greater; the device has {found}: write `.target {device}` \
         or choose a newer device",
        device = found.architecture()
    )]
    Newer {
        /// The written target.
        written: String,
        needed: ComputeCapability,
        /// Compute capability of the device.
        found: ComputeCapability,
    },
    /// Code for one chip or family, on another.
    #[error(
        "`.target {written}` runs on {runs_on} only; the device has compute capability {found}: write `.target {device}` \
         and leave out what only {written} has, or choose a device of compute capability {needed}",
        device = found.architecture()
    )]
    OtherChip {
        /// The written target.
        written: String,
        /// Where such code runs.
        runs_on: String,
        needed: ComputeCapability,
        /// Compute capability of the device.
        found: ComputeCapability,
    },
}

/// Checks whether a device of this capability runs the module, by its `.version` and `.target`.
///
/// # Errors
/// The first mismatch. A missing `.version` or `.target` is not reported here; the full parser reports it.
pub fn check(module: &PtxModule, device: ComputeCapability) -> Result<(), HeaderProblem> {
    if let (Some(written), Some((newest, _))) = (module.version, RELEASES.last())
        && RELEASES.iter().all(|(version, _)| *version != written)
    {
        return Err(HeaderProblem::Version { written, newest: *newest });
    }
    let architecture = module.target.iter().find(|word| word.starts_with("sm_"));
    architecture.map_or(Ok(()), |written| check_target(written, device))
}

fn check_target(written: &str, found: ComputeCapability) -> Result<(), HeaderProblem> {
    let digits = written.trim_start_matches("sm_");
    let number = digits.trim_end_matches(['a', 'f']);
    let suffix = &digits[number.len()..];
    let parsed = number.parse::<u32>().ok().filter(|number| (10..1000).contains(number));
    let (Some(parsed), "" | "a" | "f") = (parsed, suffix) else {
        let (written, device) = (written.to_owned(), found.architecture());
        return Err(HeaderProblem::Unknown { written, device });
    };
    let needed = ComputeCapability(parsed / 10, parsed % 10);
    let written = written.to_owned();
    let family = needed.major() == found.major() && needed.minor() <= found.minor();
    let other = |runs_on| {
        Err(HeaderProblem::OtherChip { written: written.clone(), runs_on, needed, found })
    };
    match suffix {
        "a" if needed != found => other(format!("compute capability {needed}")),
        "f" if !family => {
            other(format!("compute capability {needed} and later ones of {}.x", needed.major()))
        }
        "" if needed > found => Err(HeaderProblem::Newer { written, needed, found }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_checked_against_the_device() {
        let check = |target: &str, device: (u32, u32), expected: Option<&str>| {
            let module = PtxModule { target: vec![target.to_owned()], ..PtxModule::default() };
            let found = check(&module, ComputeCapability(device.0, device.1));
            match (found, expected) {
                (Ok(()), None) => {}
                (Err(problem), Some(words)) => {
                    let text = problem.to_string();
                    assert!(text.contains(words), "{target} on {device:?}: {text}");
                }
                (found, _) => panic!("{target} on {device:?}: {found:?}"),
            }
        };
        check("sm_75", (9, 0), None);
        check("sm_90", (9, 0), None);
        check("sm_90a", (9, 0), None);
        check("sm_100f", (10, 3), None);
        check("sm_100f", (10, 0), None);
        check("sm_120", (12, 1), None);
        check(
            "sm_100",
            (9, 0),
            Some("needs compute capability 10.0 or greater; the device has 9.0"),
        );
        check("sm_89", (8, 6), Some("write `.target sm_86`"));
        check("sm_90a", (10, 0), Some("runs on compute capability 9.0 only; the device has"));
        check("sm_90a", (8, 0), Some("runs on compute capability 9.0 only; the device has"));
        check("sm_100f", (12, 0), Some("10.0 and later ones of 10.x only"));
        check("sm_103f", (10, 0), Some("10.3 and later ones of 10.x only"));
        check("sm_90b", (9, 0), Some("is not an architecture"));
        check("sm_", (9, 0), Some("is not an architecture"));
        check("debug", (9, 0), None);
    }

    #[test]
    fn a_version_is_one_of_the_isa() {
        let check = |version: Version, expected: bool| {
            let module = PtxModule { version: Some(version), ..PtxModule::default() };
            assert_eq!(check(&module, ComputeCapability(9, 0)).is_ok(), expected, "{version:?}");
        };
        check((6, 0), true);
        check((8, 8), true);
        check((9, 5), true);
        check((8, 9), false);
        check((9, 6), false);
        check((10, 0), false);
    }

    #[test]
    fn a_target_says_whether_it_is_one_architecture() {
        let check = |target: &str, expected: bool| {
            let text = format!("// sm_90a\n.version 8.0\n{target}\n.address_size 64\n");
            assert_eq!(is_specific(&text), expected, "{target}");
        };
        check(".target sm_90a", true);
        check("  .target sm_100a, debug", true);
        check(".target sm_90", false);
        check(".target sm_100f", false);
        check("", false);
    }

    #[test]
    fn a_driver_compiles_up_to_its_own_release() {
        let check = |cuda, expected| assert_eq!(newest_of_driver(cuda), expected, "{cuda:?}");
        check((13, 0), Some((9, 0)));
        check((12, 6), Some((8, 5)));
        check((12, 8), Some((8, 7)));
        check((13, 5), Some((9, 5)));
        check((13, 6), None);
        check((14, 0), None);
    }
}
