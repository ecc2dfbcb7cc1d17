//! Reads the attributes of a GPU from the driver and NVML. It creates no context, so that a GPU in use by another
//! process can be read too.

use cudarc::driver::sys::CUdevice_attribute::{
    self, CU_DEVICE_ATTRIBUTE_CLOCK_RATE as CLOCK_RATE,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH as BUS_WIDTH,
    CU_DEVICE_ATTRIBUTE_INTEGRATED as INTEGRATED, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE as L2,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR as MAX_BLOCKS,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK as BLOCK_REGISTERS,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR as REGISTERS,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN as BLOCK_SHARED,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR as SHARED,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK as BLOCK_THREADS,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR as THREADS,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE as MEMORY_CLOCK_RATE,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT as MULTIPROCESSORS,
    CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK as RESERVED_SHARED,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE as WARP_SIZE,
};
use lightbench_primitives::compute_capability::ComputeCapability;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::Clock;

use super::driver::{Driver, Gpu};
use crate::attributes::{BoardReadings, DriverAttributes, LimitAttributes, MemoryPlace};
use crate::error::{DriverError, OpenError};

/// The attributes and the UUID, as 32 hexadecimal digits, of every GPU in the driver's order.
///
/// # Errors
/// The driver is missing, too old, or does not respond.
pub fn local_gpus() -> Result<Vec<(DriverAttributes, String)>, OpenError> {
    let driver = Driver::load()?;
    let described = |ordinal| {
        let gpu = driver.gpu(ordinal)?;
        Ok((read(gpu)?, gpu.uuid()?))
    };
    (0..driver.count()?).map(described).collect()
}

/// The attributes of one GPU.
pub(super) fn read(gpu: Gpu) -> Result<DriverAttributes, DriverError> {
    let optional = |which: CUdevice_attribute| gpu.attribute(which).ok();
    Ok(DriverAttributes {
        title: gpu.name()?,
        compute_capability: ComputeCapability(gpu.attribute(MAJOR)?, gpu.attribute(MINOR)?),
        sms: gpu.attribute(MULTIPROCESSORS)?,
        memory_bytes: gpu.memory_bytes()?,
        // A driver that no longer states a clock leaves the numbers that follow from it unknown.
        clock_khz: optional(CLOCK_RATE),
        memory_clock_khz: optional(MEMORY_CLOCK_RATE),
        memory_bus_bits: optional(BUS_WIDTH),
        l2_bytes: optional(L2).map(u64::from),
        memory: match gpu.attribute(INTEGRATED)? {
            0 => MemoryPlace::Board,
            _ => MemoryPlace::Host,
        },
        limits: limits(gpu).ok(),
        board: board(&gpu.pci_bus()?),
    })
}

fn limits(gpu: Gpu) -> Result<LimitAttributes, DriverError> {
    Ok(LimitAttributes {
        warp_size: gpu.attribute(WARP_SIZE)?,
        max_threads_per_block: gpu.attribute(BLOCK_THREADS)?,
        max_threads_per_sm: gpu.attribute(THREADS)?,
        max_blocks_per_sm: gpu.attribute(MAX_BLOCKS)?,
        registers_per_sm: gpu.attribute(REGISTERS)?,
        max_registers_per_block: gpu.attribute(BLOCK_REGISTERS)?,
        shared_per_sm: gpu.attribute(SHARED)?,
        max_shared_per_block: gpu.attribute(BLOCK_SHARED)?,
        reserved_shared_per_block: gpu.attribute(RESERVED_SHARED)?,
    })
}

/// Readings of NVML; `None` if its library is missing or does not know the GPU. For a MIG slice they describe the whole
/// board.
fn board(bus: &str) -> Option<BoardReadings> {
    let nvml = Nvml::init().ok()?;
    let device = nvml.device_by_pci_bus_id(bus).ok()?;
    Some(BoardReadings {
        // The vendor is in the lower half.
        pci_device_id: device.pci_info().ok().map(|pci| pci.pci_device_id >> 16),
        power_limit_milliwatts: device.enforced_power_limit().ok(),
        default_power_limit_milliwatts: device.power_management_limit_default().ok(),
        max_sm_clock_mhz: device.max_clock_info(Clock::SM).ok(),
        max_memory_clock_mhz: device.max_clock_info(Clock::Memory).ok(),
    })
}
