//! Checks of a tensor map against the buffer that it describes, on every device.

use lightbench_primitives::compute_capability::ComputeCapability;
use lightbench_primitives::tensor_map::{MapError, TensorMap};

use crate::error::DeviceError;
use crate::execution::Description;

/// Why a device cannot encode a tensor map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorMapError {
    /// The device has no Tensor Memory Accelerator.
    #[error("{device} has no tensor maps, which begin with compute capability 9.0")]
    NotSupported {
        /// The device.
        device: String,
    },
    /// The map violates a limit, or does not lie inside its buffer.
    #[error(transparent)]
    Limit(#[from] MapError),
    /// The address of the buffer is not aligned.
    #[error("the buffer's address is {address:#x}; expected a multiple of {alignment} bytes")]
    Alignment {
        /// The address of the buffer.
        address: u64,
        /// The alignment that the map needs, in bytes.
        alignment: u64,
    },
}

/// Checks the map that is the argument at `position`, from one, of a buffer with `bytes` bytes at `address`.
///
/// # Errors
///
/// The device has no tensor maps, or the map violates a limit.
pub(crate) fn check(
    device: &Description,
    (position, map): (usize, &TensorMap),
    (address, bytes): (u64, u64),
) -> Result<(), DeviceError> {
    checked(device, map, (address, bytes))
        .map_err(|error| DeviceError::TensorMap { position, error })
}

fn checked(
    device: &Description,
    map: &TensorMap,
    (address, bytes): (u64, u64),
) -> Result<(), TensorMapError> {
    if device.capability < ComputeCapability(9, 0) {
        return Err(TensorMapError::NotSupported { device: device.title.clone() });
    }
    map.check(bytes)?;
    let alignment = map.alignment();
    if address.is_multiple_of(alignment) {
        Ok(())
    } else {
        Err(TensorMapError::Alignment { address, alignment })
    }
}
