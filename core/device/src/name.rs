//! Device names as users type them, and how to open the devices.

use std::fmt;

use lightbench_primitives::host_name::HostName;

use super::cuda::CudaDevice;
use super::error::OpenError;
use super::execution::Device;
use super::sheet::DeviceSheet;
use super::virtual_device::{VirtualDevice, Watch};

/// The parsed name of a device: `cuda:0`, `virtual:h200`, `ssh:HOST/cuda:0`, `slurm:PARTITION/cuda:0`.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceName {
    /// The host that has it; none: this machine.
    pub host: Option<HostName>,
    /// The device on that host.
    pub local: LocalDevice,
}

/// The name of a device on its host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LocalDevice {
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
        let (host, device) = match HostName::split(name)? {
            None => (None, name),
            Some((host, device)) => (Some(host), device),
        };
        Ok(Self { host, local: LocalDevice::parse(device)? })
    }
}

impl From<LocalDevice> for DeviceName {
    /// The device of this machine.
    fn from(local: LocalDevice) -> Self {
        Self { host: None, local }
    }
}

impl LocalDevice {
    /// Whether no GPU is needed.
    #[must_use]
    pub const fn is_virtual(&self) -> bool {
        matches!(self, Self::Virtual(_))
    }

    /// Reads the name of a device without a host.
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

    /// Opens the device of this machine; only a virtual one can watch.
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
        match &self.host {
            Some(host) => write!(formatter, "{host}/{}", self.local),
            None => self.local.fmt(formatter),
        }
    }
}

impl fmt::Display for LocalDevice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Virtual(sheet) => formatter.write_str(&sheet.virtual_name()),
            Self::Cuda(ordinal) => write!(formatter, "cuda:{ordinal}"),
        }
    }
}
