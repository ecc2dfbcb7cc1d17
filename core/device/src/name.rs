//! Device names as users type them, and how to open the devices.

use std::fmt;

use super::cuda::CudaDevice;
use super::error::OpenError;
use super::execution::Device;
use super::sheet::DeviceSheet;
use super::virtual_device::{VirtualDevice, Watch};

/// The parsed name of a device.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceName {
    /// `virtual:h200`, or the sheet's name alone.
    Virtual(&'static DeviceSheet),
    /// `cuda:0`; `cuda` is the first one.
    Cuda(u32),
}

impl DeviceName {
    /// Reads a name.
    ///
    /// # Errors
    ///
    /// It is no name of a device, or no sheet has it.
    pub fn parse(name: &str) -> Result<Self, OpenError> {
        match name.strip_prefix("cuda") {
            None => Ok(Self::Virtual(DeviceSheet::named(name)?)),
            Some("") => Ok(Self::Cuda(0)),
            Some(number) => {
                let digits = number.strip_prefix(':').filter(|digits| !digits.starts_with('+'));
                let ordinal = digits.and_then(|digits| digits.parse().ok());
                ordinal.map(Self::Cuda).ok_or_else(|| OpenError::Name(name.to_owned()))
            }
        }
    }

    /// Opens the device; only a virtual one can watch.
    ///
    /// # Errors
    ///
    /// The machine has no such device.
    pub fn open(&self, watch: Watch) -> Result<Box<dyn Device>, OpenError> {
        Ok(match self {
            Self::Virtual(sheet) => Box::new(VirtualDevice::new(sheet, watch)?),
            Self::Cuda(ordinal) => Box::new(CudaDevice::open(*ordinal)?),
        })
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Virtual(sheet) => formatter.write_str(&sheet.virtual_name()),
            Self::Cuda(ordinal) => write!(formatter, "cuda:{ordinal}"),
        }
    }
}
