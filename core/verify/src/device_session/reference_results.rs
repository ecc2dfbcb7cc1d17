//! Results of the reference, kept for later runs of the same case: in device memory where the device compares, else on
//! the host.

use std::fs::{self, File};
use std::path::Path;

use lightbench_device::{BufferId, Device};
use lightbench_tensors::case::Case;
use lightbench_tensors::compare::{Expected, OnDevice};
use lightbench_tensors::inputs::InputSpec;

use super::SessionFailure;
use super::bound::failure_from_device_error;
use super::harness_kernels::{Reals, working_space};
use crate::reference_source::{magnitudes_file, values_file};

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
    pub(super) values: Vec<u8>,
    pub(super) magnitudes: Option<Vec<u8>>,
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

/// Reads results that a Python reference computed; where the device compares, they go there.
pub(super) fn read(
    device: &mut dyn Device,
    on_device: bool,
    case: &Case,
    folder: &Path,
) -> Result<Results, SessionFailure> {
    let mut results = Vec::new();
    for (index, tensor) in case.tensors.iter().enumerate() {
        if tensor.role.compare().is_none() {
            results.push(None);
            continue;
        }
        let there = on_device && OnDevice::new(case, index).is_some();
        let mut load = |file: String| {
            let file = folder.join(file);
            match there {
                true => stored_on_device(device, &file),
                false => fs::read(file).map(StoredBytes::OnHost).map_err(failure),
            }
        };
        let values = load(values_file(index))?;
        let has_magnitudes = folder.join(magnitudes_file(index)).exists();
        let magnitudes = has_magnitudes.then(|| load(magnitudes_file(index))).transpose()?;
        results.push(Some(Exact { values, magnitudes }));
    }
    Ok(results)
}

fn stored_on_device(device: &mut dyn Device, file: &Path) -> Result<StoredBytes, SessionFailure> {
    let mut file = File::open(file).map_err(failure)?;
    let bytes = file.metadata().map_err(failure)?.len();
    let buffer = working_space(device, "expected", bytes)?;
    device.set_from(buffer, &mut file).map_err(|error| failure_from_device_error(&error))?;
    Ok(StoredBytes::OnDevice { buffer, bytes })
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

fn failure(error: impl std::fmt::Display) -> SessionFailure {
    SessionFailure::Outputs(error.to_string())
}
