//! Locks the clocks of a GPU through NVML. Only a process started for this purpose does so (`device/clock_lock.rs`).

use nvml_wrapper::Nvml;
use nvml_wrapper::enums::device::GpuLockedClocksSetting;
use nvml_wrapper::error::NvmlError;

use crate::clock_lock::{ClockControl, LockError};

/// The clocks of one GPU.
#[derive(Debug)]
pub struct NvmlClocks {
    nvml: Nvml,
    /// `GPU-` and 32 hexadecimal digits in groups.
    gpu: String,
}

impl NvmlClocks {
    /// The clocks of the GPU with this UUID, 32 hexadecimal digits.
    ///
    /// # Errors
    /// NVML is missing, or does not know the GPU.
    pub fn open(uuid: &str) -> Result<Self, LockError> {
        let nvml = Nvml::init().map_err(|error| LockError::NoLibrary(error.to_string()))?;
        let gpu = grouped(uuid);
        nvml.device_by_uuid(gpu.as_str()).map_err(|error| refused(&error, &gpu, 0))?;
        Ok(Self { nvml, gpu })
    }
}

impl ClockControl for NvmlClocks {
    fn lock(&mut self, megahertz: u32) -> Result<(), LockError> {
        let refused = |error: NvmlError| refused(&error, &self.gpu, megahertz);
        let mut device = self.nvml.device_by_uuid(self.gpu.as_str()).map_err(refused)?;
        let (min_clock_mhz, max_clock_mhz) = (megahertz, megahertz);
        let setting = GpuLockedClocksSetting::Numeric { min_clock_mhz, max_clock_mhz };
        device.set_gpu_locked_clocks(setting).map_err(refused)
    }

    fn release(&mut self) -> Result<(), LockError> {
        let refused = |error: NvmlError| refused(&error, &self.gpu, 0);
        let mut device = self.nvml.device_by_uuid(self.gpu.as_str()).map_err(refused)?;
        device.reset_gpu_locked_clocks().map_err(refused)
    }
}

fn refused(error: &NvmlError, gpu: &str, megahertz: u32) -> LockError {
    if matches!(error, NvmlError::NoPermission) {
        LockError::NotPermitted { gpu: gpu.to_owned(), megahertz }
    } else if matches!(error, NvmlError::NotSupported) {
        LockError::Unsupported
    } else {
        LockError::Refused(error.to_string())
    }
}

/// As NVML writes it: groups of 8, 4, 4, 4 and 12 digits.
fn grouped(uuid: &str) -> String {
    let mut text = "GPU-".to_owned();
    for (index, digit) in uuid.chars().enumerate() {
        if matches!(index, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_named_as_nvml_names_it() {
        let grouped = grouped("0123456789abcdef0123456789abcdef");
        assert_eq!(grouped, "GPU-01234567-89ab-cdef-0123-456789abcdef");
    }
}
