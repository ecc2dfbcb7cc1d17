//! Names of hosts that have devices.

use std::fmt;

/// How the name of a host begins that `ssh` reaches.
const SSH: &str = "ssh:";

/// How the name of an allocation begins.
const SLURM: &str = "slurm:";

/// The longest name of a host in DNS. Names of partitions are shorter.
const LONGEST: usize = 253;

/// A host other than this machine, as users name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostName {
    /// `ssh:HOST`: what `ssh` or a command of the user's settings reaches.
    Ssh(String),
    /// `slurm:PARTITION`, or `slurm:PARTITION#2`: one of the allocations of a Slurm partition.
    Slurm {
        /// The partition, or several with commas between them.
        partition: String,
        /// Which allocation, from 1.
        number: u32,
    },
}

/// Why a text is no name of a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no host; expected `ssh:HOST`, where `ssh HOST` reaches the host, or `slurm:PARTITION`"
)]
pub struct NoHost(pub String);

impl HostName {
    /// Splits the name of a device into its host and the name of the device there. None: the device is one of this machine.
    /// Without a second name it is the first GPU.
    ///
    /// # Errors
    ///
    /// [`NoHost`].
    pub fn split(device: &str) -> Result<Option<(Self, &str)>, NoHost> {
        let ssh = device.strip_prefix(SSH);
        let Some(rest) = ssh.or_else(|| device.strip_prefix(SLURM)) else { return Ok(None) };
        let (name, device) = rest.split_once('/').unwrap_or((rest, "cuda:0"));
        let no_host = || NoHost(name.to_owned());
        // An argument that begins with `-` would be an option.
        let is_option = name.starts_with('-');
        let is_plain = !name.chars().any(|each| each.is_whitespace() || each.is_control());
        if is_option || !is_plain || name.is_empty() || name.len() > LONGEST {
            return Err(no_host());
        }
        if ssh.is_some() {
            return Ok(Some((Self::Ssh(name.to_owned()), device)));
        }
        let (partition, number) = match name.split_once('#') {
            None => (name, Some(1)),
            Some((partition, number)) => (partition, number.parse().ok()),
        };
        let number = number.filter(|number| *number > 0 && !partition.is_empty());
        let number = number.ok_or_else(no_host)?;
        let host = Self::Slurm { partition: partition.to_owned(), number };
        Ok(Some((host, device)))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssh(host) => write!(formatter, "{SSH}{host}"),
            Self::Slurm { partition, number: 1 } => write!(formatter, "{SLURM}{partition}"),
            Self::Slurm { partition, number } => write!(formatter, "{SLURM}{partition}#{number}"),
        }
    }
}
