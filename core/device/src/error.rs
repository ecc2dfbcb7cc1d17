//! Errors of devices.

use std::fmt;

use lightbench_primitives::texture::TextureError;
use lightbench_virtual_gpu::error::{Problem, Refusal};
use lightbench_virtual_gpu::machine::{BufferError, VariableError};
use lightbench_virtual_gpu::{LaunchError, LoadError};

use super::library::LibraryError;
use super::tensor_map::TensorMapError;

/// An error of a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The virtual GPU rejects the module.
    #[error("{}", lines(.0))]
    Load(Vec<LoadError>),
    /// A kernel cannot be launched like this.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A buffer cannot be allocated.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// A module's variable that cannot be filled.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// A module or a buffer of another device.
    #[error("the device has no such {0}")]
    Unknown(&'static str),
    /// The CUDA driver refuses a launch because of its resource requirements.
    #[error("the device cannot provide the resources of the launch: {0}")]
    Demand(DriverError),
    /// The driver would have to compile PTX that is newer than it.
    #[error(
        "the PTX says `.version {}.{}`; the driver (CUDA {}.{}) compiles PTX up to {}.{}: `lightbench doctor --fetch \
         assembler` fetches an assembler, which makes machine code of it, or lower `.version`",
        written.0, written.1, driver.0, driver.1, newest.0, newest.1
    )]
    NewerPtx {
        /// The version that the text names.
        written: (u32, u32),
        /// The newest version that the driver compiles.
        newest: (u32, u32),
        /// The newest CUDA version that the driver supports.
        driver: (u32, u32),
    },
    /// The machine code is of a newer CUDA major version than the driver.
    #[error(
        "the driver (CUDA {}.{}) does not load machine code of a CUDA 13 compiler: `lightbench doctor --fetch` fetches the \
         compiler that fits", driver.0, driver.1
    )]
    NewerCubin {
        /// The newest CUDA version that the driver supports.
        driver: (u32, u32),
    },
    /// The CUDA driver refuses a call.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// An argument is a tensor map that the device cannot encode.
    #[error("argument {position} is a tensor map: {error}")]
    TensorMap {
        /// Counted from one.
        position: usize,
        error: TensorMapError,
    },
    /// An argument is a texture or surface object that the device cannot make.
    #[error("argument {position} is a texture or surface object with {error}")]
    Texture {
        /// Counted from one.
        position: usize,
        error: TextureError,
    },
    /// Timed work accesses the texels of a buffer in an array, and the buffer by its address.
    #[error("timed work accesses a buffer by its address, and its texels in an array")]
    TwoCopies,
    /// A vendor's library does not run.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// Reading or writing the file or stream of a buffer's content failed.
    #[error("the content of a buffer could not be transferred: {0}")]
    Passing(String),
}

impl DeviceError {
    /// Whether the only reason is an instruction or a feature that the device does not support.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        let lacks = |error: &LoadError| {
            matches!(error.problem, Problem::Instruction(Refusal::Unsupported { .. }))
        };
        match self {
            Self::Load(errors) => !errors.is_empty() && errors.iter().all(lacks),
            Self::Launch(LaunchError::Unsupported(_) | LaunchError::Unavailable(_))
            | Self::TensorMap { error: TensorMapError::NotSupported { .. }, .. } => true,
            Self::Launch(_)
            | Self::Buffer(_)
            | Self::Variable(_)
            | Self::Unknown(_)
            | Self::Demand(_)
            | Self::Driver(_)
            | Self::NewerPtx { .. }
            | Self::NewerCubin { .. }
            | Self::TensorMap { .. }
            | Self::Texture { .. }
            | Self::TwoCopies
            | Self::Library(_)
            | Self::Passing(_) => false,
        }
    }
}

/// A call that the CUDA driver refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// The function.
    pub call: &'static str,
    /// The driver's name of the error: `CUDA_ERROR_INVALID_VALUE`.
    pub name: String,
    /// The driver's description.
    pub description: String,
    /// Further output of the driver, such as messages of its assembler.
    pub log: String,
}

impl DriverError {
    /// Whether the driver has no free memory, by its error code.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.name == "CUDA_ERROR_OUT_OF_MEMORY"
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, name, description, log } = self;
        write!(formatter, "the CUDA driver refuses {call}: {name} ({description})")?;
        if log.is_empty() { Ok(()) } else { write!(formatter, "\n{log}") }
    }
}

impl std::error::Error for DriverError {}

/// Why a device cannot be opened.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OpenError {
    /// Not the name of a device.
    #[error(
        "`{0}` names no device; expected `virtual:` and a sheet, `cuda:` and a number, with `ssh:HOST/` or `slurm:PARTITION/` before it for another host"
    )]
    Name(String),
    /// Not the name of a host.
    #[error(transparent)]
    Host(#[from] lightbench_primitives::host_name::NoHost),
    /// No sheet has this name.
    #[error(transparent)]
    Sheet(#[from] super::SheetError),
    /// A sheet lacks a number that running needs.
    #[error("the sheet `{sheet}` does not state {}", missing.join(", "))]
    Incomplete {
        /// The sheet.
        sheet: String,
        /// The fields.
        missing: Vec<&'static str>,
    },
    #[error(
        "no CUDA driver on this machine: its library ({0}) is missing; `--device virtual:h200` needs no GPU"
    )]
    NoDriver(&'static str),
    /// The driver is older than the compiler.
    #[error(
        "the driver supports CUDA {}.{}; kernels compiled here need the driver of CUDA {}.{} or newer (`lightbench doctor` \
         names it)", found.0, found.1, oldest.0, oldest.1
    )]
    OldDriver {
        /// The driver's version.
        found: (u32, u32),
        /// The oldest one that will do.
        oldest: (u32, u32),
    },
    #[error("there is no `cuda:{ordinal}`: the driver lists {count} GPUs")]
    NoSuchGpu {
        /// The requested number.
        ordinal: u32,
        /// The number of GPUs.
        count: u32,
    },
    /// The driver cannot open the GPU.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl OpenError {
    /// Whether the machine lacks something, rather than the request being wrong.
    #[must_use]
    pub const fn is_environment(&self) -> bool {
        match self {
            Self::NoDriver(_)
            | Self::OldDriver { .. }
            | Self::NoSuchGpu { .. }
            | Self::Driver(_) => true,
            Self::Name(_) | Self::Host(_) | Self::Sheet(_) | Self::Incomplete { .. } => false,
        }
    }
}

fn lines(errors: &[LoadError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
