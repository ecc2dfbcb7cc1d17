//! Device names as users type them, and how to open the devices.

use std::fmt;

use super::cuda::CudaDevice;
use super::error::OpenError;
use super::execution::Device;
use super::sheet::DeviceSheet;
use super::virtual_device::{VirtualDevice, Watch};

/// How the name of a device on another host begins.
const SSH_PREFIX: &str = "ssh:";

/// The longest name of a host in DNS.
const LONGEST_HOST: usize = 253;

/// The parsed name of a device: `cuda:0`, `virtual:h200`, `ssh:HOST/cuda:0`.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceName {
    /// The host that has it, as `ssh` names it; none: this machine.
    pub host: Option<String>,
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
        let Some(remote) = name.strip_prefix(SSH_PREFIX) else {
            return LocalDevice::parse(name).map(Self::from);
        };
        let (host, device) = remote.split_once('/').unwrap_or((remote, "cuda:0"));
        // An argument that begins with `-` would be an option of `ssh`.
        let is_option = host.starts_with('-');
        let is_plain = !host.chars().any(|each| each.is_whitespace() || each.is_control());
        if is_option || !is_plain || host.is_empty() || host.len() > LONGEST_HOST {
            return Err(OpenError::Host(host.to_owned()));
        }
        Ok(Self { host: Some(host.to_owned()), local: LocalDevice::parse(device)? })
    }
}

impl From<LocalDevice> for DeviceName {
    /// The device of this machine.
    fn from(local: LocalDevice) -> Self {
        Self { host: None, local }
    }
}

impl LocalDevice {
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
            Some(host) => write!(formatter, "{SSH_PREFIX}{host}/{}", self.local),
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
