//! Results of the reference, kept for later runs of the same case: in device memory where the device compares, else on
//! the host.

use lightbench_device::{BufferId, Device};
use lightbench_tensors::case::Case;
use lightbench_tensors::compare::Expected;
use lightbench_tensors::inputs::InputSpec;

use super::SessionFailure;
use super::bound::failure_from_device_error;
use super::harness_kernels::Reals;

/// Results that are kept, and their bytes on the host.
const MOST_KEPT: usize = 256;
const MOST_KEPT_BYTES: u64 = 512 << 20;

/// Of the memory of a device, what results may have.
const SHARE_OF_DEVICE: u64 = 8;

/// What the reference computed for a case.
#[derive(Debug)]
pub(super) struct ReferenceResults {
    pub(super) case: Case,
    pub(super) recipe: InputSpec,
    pub(super) results: Results,
}

/// One for each tensor of a case; none for inputs.
pub(super) type Results = Vec<Option<Exact>>;

/// What the reference computed for an output.
#[derive(Debug)]
pub(super) struct Exact {
    pub(super) values: StoredBytes,
    pub(super) magnitudes: Option<StoredBytes>,
}

/// Some bytes.
#[derive(Debug)]
pub(super) enum StoredBytes {
    OnHost(Vec<u8>),
    OnDevice { buffer: BufferId, bytes: u64 },
}

/// The bytes of an output's results, on the host.
#[derive(Debug)]
pub(super) struct Fetched {
    values: Vec<u8>,
    magnitudes: Option<Vec<u8>>,
}

impl ReferenceResults {
    fn held(&self) -> impl Iterator<Item = &StoredBytes> {
        let each = self.results.iter().flatten();
        each.flat_map(|exact| [Some(&exact.values), exact.magnitudes.as_ref()]).flatten()
    }

    /// Bytes on the host, and on the device.
    fn bytes(&self) -> (u64, u64) {
        self.held().fold((0, 0), |(host, device), held| match held {
            StoredBytes::OnHost(bytes) => (host + bytes.len() as u64, device),
            StoredBytes::OnDevice { bytes, .. } => (host, device + bytes),
        })
    }

    fn free(self, device: &mut dyn Device) -> Result<(), SessionFailure> {
        free(self.results, device)
    }
}

/// Gives back what lies on the device.
pub(super) fn free(results: Results, device: &mut dyn Device) -> Result<(), SessionFailure> {
    for exact in results.into_iter().flatten() {
        for held in [Some(exact.values), exact.magnitudes].into_iter().flatten() {
            if let StoredBytes::OnDevice { buffer, .. } = held {
                device.free(buffer).map_err(|error| failure_from_device_error(&error))?;
            }
        }
    }
    Ok(())
}

/// Keeps memory bounded; the newest result stays.
pub(super) fn forget(
    known: &mut Vec<ReferenceResults>,
    device: &mut dyn Device,
) -> Result<(), SessionFailure> {
    let most_there = device.description().memory_bytes / SHARE_OF_DEVICE;
    loop {
        let (host, there) = known
            .iter()
            .map(ReferenceResults::bytes)
            .fold((0, 0), |sums, each| (sums.0 + each.0, sums.1 + each.1));
        let fits = known.len() <= MOST_KEPT && host <= MOST_KEPT_BYTES && there <= most_there;
        if fits || known.len() <= 1 {
            return Ok(());
        }
        known.remove(0).free(device)?;
    }
}

impl Exact {
    /// Where the device has both values and magnitudes.
    pub(super) fn reals(&self) -> Option<Reals> {
        match (&self.values, &self.magnitudes) {
            (
                StoredBytes::OnDevice { buffer: values, .. },
                Some(StoredBytes::OnDevice { buffer: magnitudes, .. }),
            ) => Some(Reals { values: *values, magnitudes: *magnitudes }),
            (StoredBytes::OnDevice { .. } | StoredBytes::OnHost(_), _) => None,
        }
    }

    /// Where the device has the values.
    pub(super) fn values_there(&self) -> Option<BufferId> {
        match &self.values {
            StoredBytes::OnDevice { buffer, .. } => Some(*buffer),
            StoredBytes::OnHost(_) => None,
        }
    }

    /// Fetches all results to the host.
    pub(super) fn fetch(&self, device: &mut dyn Device) -> Result<Fetched, SessionFailure> {
        let values = self.values.fetch(device)?;
        let magnitudes =
            self.magnitudes.as_ref().map(|magnitudes| magnitudes.fetch(device)).transpose()?;
        Ok(Fetched { values, magnitudes })
    }
}

impl StoredBytes {
    fn fetch(&self, device: &mut dyn Device) -> Result<Vec<u8>, SessionFailure> {
        match self {
            Self::OnHost(bytes) => Ok(bytes.clone()),
            Self::OnDevice { buffer, .. } => {
                Ok(device.read(*buffer).map_err(|error| failure_from_device_error(&error))?.bytes)
            }
        }
    }
}

impl Fetched {
    pub(super) fn expected(&self) -> Expected<'_> {
        Expected { values: &self.values, magnitudes: self.magnitudes.as_deref() }
    }
}
