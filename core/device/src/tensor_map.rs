//! Checks of a tensor map against the buffer that it describes, on every device.

use lightbench_primitives::tensor_map::{MapError, TensorMap};

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

/// Checks a map of a buffer with `bytes` bytes at `address`.
///
/// # Errors
///
/// The first violated limit.
pub(crate) fn check(map: &TensorMap, address: u64, bytes: u64) -> Result<(), TensorMapError> {
    map.check(bytes)?;
    let alignment = map.alignment();
    if address.is_multiple_of(alignment) {
        Ok(())
    } else {
        Err(TensorMapError::Alignment { address, alignment })
    }
}
