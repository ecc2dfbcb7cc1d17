//! Identity of a GPU and its driver, stored with calibrations and runs.

use super::cuda;
use super::execution::{Description, DeviceKind};

/// A GPU and its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The GPU's UUID, as 32 hexadecimal digits.
    pub uuid: String,
    /// The driver's version, `580.159.04, CUDA 13.0`; without its release if the driver does not report it.
    pub driver: String,
}

impl Identity {
    /// The identity of a device; `None` for a virtual one. The release comes from the driver's library.
    #[must_use]
    pub fn from_description(description: &Description) -> Option<Self> {
        match &description.kind {
            DeviceKind::Virtual => None,
            DeviceKind::Cuda { .. } => {
                Self::with_release(&description.kind, cuda::driver_release().as_deref())
            }
        }
    }

    fn with_release(kind: &DeviceKind, release: Option<&str>) -> Option<Self> {
        let DeviceKind::Cuda { uuid, driver: (major, minor), .. } = kind else { return None };
        let cuda = format!("CUDA {major}.{minor}");
        let driver = release.map_or_else(|| cuda.clone(), |release| format!("{release}, {cuda}"));
        Some(Self { uuid: uuid.clone(), driver })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Card;

    #[test]
    fn only_a_gpu_has_an_identity() {
        let attributes = Box::new(Card::find("h200").unwrap().unwrap().attributes.clone());
        let kind = DeviceKind::Cuda { uuid: "ab".repeat(16), driver: (13, 0), attributes };
        let check = |kind: &DeviceKind, release, expected: Option<&str>| {
            let found = Identity::with_release(kind, release);
            assert_eq!(found.as_ref().map(|found| found.driver.as_str()), expected);
        };
        check(&DeviceKind::Virtual, Some("580.159.04"), None);
        check(&kind, Some("580.159.04"), Some("580.159.04, CUDA 13.0"));
        check(&kind, None, Some("CUDA 13.0"));
    }
}
