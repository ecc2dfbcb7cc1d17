//! Attributes of one GPU as the driver and NVML report them, and quantities derived from them.
//!
//! A device description is derived from these attributes (`derived.rs`). Recorded attributes of other cards have the
//! same type (`cards.rs`), so that one derivation serves real GPUs, virtual ones and tests.

use lightbench_primitives::compute_capability::ComputeCapability;
use lightbench_units::{BytesPerSecond, Hertz};
use serde::{Deserialize, Serialize};

/// Attributes of one GPU, or of one MIG slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverAttributes {
    /// The name that the driver gives: `NVIDIA H100 80GB HBM3`.
    pub title: String,
    /// `COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
    pub compute_capability: ComputeCapability,
    /// `MULTIPROCESSOR_COUNT`; for a MIG slice, the multiprocessors of the slice.
    pub sms: u32,
    /// Total memory in bytes, without the part that the driver and ECC reserve.
    pub memory_bytes: u64,
    /// `CLOCK_RATE` in kHz.
    pub clock_khz: Option<u32>,
    /// `MEMORY_CLOCK_RATE` in kHz; memory transfers twice in a clock.
    pub memory_clock_khz: Option<u32>,
    /// `GLOBAL_MEMORY_BUS_WIDTH` in bits.
    pub memory_bus_bits: Option<u32>,
    /// `L2_CACHE_SIZE` in bytes.
    pub l2_bytes: Option<u64>,
    /// `INTEGRATED`.
    pub memory: MemoryPlace,
    /// Limits of a multiprocessor, if they were read.
    pub limits: Option<LimitAttributes>,
    /// Readings of NVML, if it is available.
    pub board: Option<BoardReadings>,
}

/// Where the memory of a GPU is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPlace {
    /// On the board.
    Board,
    /// It is the memory of the host (an integrated GPU).
    Host,
}

/// Limits of a multiprocessor and of a block, as the driver reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitAttributes {
    /// `WARP_SIZE`.
    pub warp_size: u32,
    /// `MAX_THREADS_PER_BLOCK`.
    pub max_threads_per_block: u32,
    /// `MAX_THREADS_PER_MULTIPROCESSOR`.
    pub max_threads_per_sm: u32,
    /// `MAX_BLOCKS_PER_MULTIPROCESSOR`.
    pub max_blocks_per_sm: u32,
    /// `MAX_REGISTERS_PER_MULTIPROCESSOR`.
    pub registers_per_sm: u32,
    /// `MAX_REGISTERS_PER_BLOCK`.
    pub max_registers_per_block: u32,
    /// `MAX_SHARED_MEMORY_PER_MULTIPROCESSOR` in bytes.
    pub shared_per_sm: u32,
    /// `MAX_SHARED_MEMORY_PER_BLOCK_OPTIN` in bytes.
    pub max_shared_per_block: u32,
    /// `RESERVED_SHARED_MEMORY_PER_BLOCK` in bytes.
    pub reserved_shared_per_block: u32,
}

/// Readings of NVML for a board; a value is `None` if the board does not report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardReadings {
    /// The PCI device id, without the vendor: `0x2330`.
    pub pci_device_id: Option<u32>,
    /// The power limit that is enforced, in milliwatts.
    pub power_limit_milliwatts: Option<u32>,
    /// The power limit that the board has by default, in milliwatts.
    pub default_power_limit_milliwatts: Option<u32>,
    /// The highest clock of the multiprocessors in MHz.
    pub max_sm_clock_mhz: Option<u32>,
    /// The highest clock of the memory in MHz.
    pub max_memory_clock_mhz: Option<u32>,
}

/// The product line, as far as rates depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brand {
    /// GeForce: accumulation in f32 is half as fast on some architectures.
    GeForce,
    /// All others.
    Professional,
}

/// Why the bandwidth of memory does not follow from the attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoBandwidth {
    /// An integrated GPU.
    #[error("the GPU shares the memory of the host, and the driver does not report its clock")]
    Shared,
    /// An attribute is missing.
    #[error("the driver reports no memory clock or no bus width")]
    NotReported,
}

impl DriverAttributes {
    /// The product line.
    #[must_use]
    pub fn brand(&self) -> Brand {
        let is_geforce = self.title.split_whitespace().any(|word| word == "GeForce");
        if is_geforce { Brand::GeForce } else { Brand::Professional }
    }

    /// Whether it is a MIG slice: the driver appends the profile to the name of the GPU (`… MIG 1g.10gb`).
    #[must_use]
    pub fn is_mig_slice(&self) -> bool {
        self.title.split_whitespace().any(|word| word == "MIG")
    }

    /// The clock of the multiprocessors that the driver reports.
    #[must_use]
    pub fn clock(&self) -> Option<Hertz> {
        positive(self.clock_khz).map(|khz| Hertz(f64::from(khz) * 1e3))
    }

    /// The highest clock of the multiprocessors; `None` unless NVML reports it, because boards exceed the clock that
    /// the driver reports.
    #[must_use]
    pub fn max_clock(&self) -> Option<Hertz> {
        let most = positive(self.board?.max_sm_clock_mhz)?;
        let most = Hertz(f64::from(most) * 1e6);
        Some(self.clock().filter(|clock| *clock > most).unwrap_or(most))
    }

    /// Transfers per second of one memory pin: twice the clock.
    #[must_use]
    pub fn memory_transfers(&self) -> Option<Hertz> {
        positive(self.memory_clock_khz).map(|khz| Hertz(f64::from(khz) * 2e3))
    }

    /// Peak rate of memory: bus width / 8 × memory clock × 2.
    ///
    /// # Errors
    /// The attributes do not determine it.
    pub fn bandwidth(&self) -> Result<BytesPerSecond, NoBandwidth> {
        match self.memory {
            MemoryPlace::Host => return Err(NoBandwidth::Shared),
            MemoryPlace::Board => {}
        }
        let bits = positive(self.memory_bus_bits).ok_or(NoBandwidth::NotReported)?;
        let transfers = self.memory_transfers().ok_or(NoBandwidth::NotReported)?;
        Ok(BytesPerSecond(f64::from(bits) / 8.0 * transfers.0))
    }

    /// The highest rate of memory that its clocks allow, overclocked memory included.
    #[must_use]
    pub fn highest_bandwidth(&self) -> Option<BytesPerSecond> {
        let rate = self.bandwidth().ok()?;
        let usual = f64::from(positive(self.memory_clock_khz)?);
        let most = self.board.and_then(|board| positive(board.max_memory_clock_mhz));
        let most = most.map_or(usual, |mhz| f64::from(mhz) * 1e3);
        Some(BytesPerSecond(rate.0 * (most / usual).max(1.0)))
    }
}

/// The driver reports 0 for an unknown value.
const fn positive(value: Option<u32>) -> Option<u32> {
    match value {
        Some(0) | None => None,
        Some(value) => Some(value),
    }
}
