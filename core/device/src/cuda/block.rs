//! A block of device memory: mapped with unmapped addresses on both sides, or allocated normally if the driver has no
//! virtual memory management.
//!
//! CUDA driver API, "Virtual Memory Management": a range of addresses is reserved, physical memory of a whole number of
//! granules is created and mapped into it, and access is granted. Reserved addresses without a mapping fault.
//! granules is made and mapped into it, and access is given. Addresses that are reserved and not mapped fault.
#![expect(unsafe_code, reason = "calls into the CUDA driver, which is loaded at run time")]

use std::ffi::c_void;
use std::ops::Range;

use cudarc::driver::sys::{
    self, CUdevice, CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc,
    CUmemAllocationGranularity_flags, CUmemAllocationHandleType, CUmemAllocationProp,
    CUmemAllocationProp_st__bindgen_ty_1, CUmemAllocationType, CUmemGenericAllocationHandle,
    CUmemLocation, CUmemLocation_st__bindgen_ty_1, CUmemLocationType,
};

use super::driver::{Gpu, checked};
use super::stream::BorrowedMemory;
use crate::error::DriverError;

/// Addresses to reserve on each side of the mapping; the largest margin that the driver grants is used. A margin costs
/// at most page tables, because unmapped addresses have no memory.
const MARGINS: [usize; 3] = [1 << 30, 64 << 20, 2 << 20];

/// Device memory, given back on drop.
#[derive(Debug)]
pub(super) enum Block {
    /// Surrounded by addresses that fault.
    Mapped(Mapping),
    /// Among other allocations.
    Plain(Allocation),
}

impl Block {
    /// The first address.
    pub(super) fn start(&self) -> CUdeviceptr {
        match self {
            Self::Mapped(mapping) => mapping.start,
            Self::Plain(allocation) => allocation.start,
        }
    }

    /// Bytes.
    pub(super) fn length(&self) -> usize {
        match self {
            Self::Mapped(mapping) => mapping.physical.length,
            Self::Plain(allocation) => allocation.length,
        }
    }

    /// Sets bytes; the part of the range outside the block is ignored.
    pub(super) fn fill(&mut self, range: Range<usize>, byte: u8) -> Result<(), DriverError> {
        let (address, length) = self.part(&range);
        if length == 0 {
            return Ok(());
        }
        // SAFETY: these bytes are part of the block, which lives as long as this value.
        checked("cuMemsetD8", unsafe { sys::cuMemsetD8_v2(address, byte, length) })
    }

    /// Copies bytes to an offset; bytes beyond the block are ignored.
    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), DriverError> {
        let (address, length) = self.part(&(offset..offset.saturating_add(bytes.len())));
        if length == 0 {
            return Ok(());
        }
        let from = bytes.as_ptr().cast::<c_void>();
        // SAFETY: `length` is at most that of `bytes`, and the block has that many bytes from the address on.
        checked("cuMemcpyHtoD", unsafe { sys::cuMemcpyHtoD_v2(address, from, length) })
    }

    /// The bytes of a range; the part outside the block is omitted.
    pub(super) fn read(&self, range: Range<usize>) -> Result<Vec<u8>, DriverError> {
        let (address, length) = self.part(&range);
        let mut bytes = vec![0_u8; length];
        if length == 0 {
            return Ok(bytes);
        }
        let to = bytes.as_mut_ptr().cast::<c_void>();
        // SAFETY: both sides have `length` bytes.
        checked("cuMemcpyDtoH", unsafe { sys::cuMemcpyDtoH_v2(to, address, length) })?;
        Ok(bytes)
    }

    /// Address and length of the part of a range inside the block.
    fn part(&self, range: &Range<usize>) -> (CUdeviceptr, usize) {
        let start = range.start.min(self.length());
        let end = range.end.clamp(start, self.length());
        (self.start() + start as u64, end - start)
    }
}

/// The granule of physical memory of a GPU, in bytes: a power of two.
pub(super) fn granularity(gpu: Gpu) -> Result<usize, DriverError> {
    let properties = properties(gpu.0);
    let mut granule: usize = 0;
    let which = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    // SAFETY: writes one size through a valid pointer and reads the properties.
    let code = unsafe {
        sys::cuMemGetAllocationGranularity(&raw mut granule, &raw const properties, which)
    };
    checked("cuMemGetAllocationGranularity", code)?;
    Ok(granule.max(1).next_power_of_two())
}

/// Physical memory, mapped in the middle of a reservation. Fields are dropped in this order, after the memory was unmapped.
#[derive(Debug)]
pub(super) struct Mapping {
    start: CUdeviceptr,
    physical: Physical,
    /// Released after the mapping in it.
    _reservation: Reservation,
}

impl Mapping {
    /// Maps memory of `length` bytes, a multiple of the granule `granule`.
    pub(super) fn new(gpu: Gpu, length: usize, granule: usize) -> Result<Self, DriverError> {
        let physical = Physical::new(gpu, length)?;
        let (reservation, margin) = Reservation::around(length, granule)?;
        let start = reservation.start + margin as u64;
        // SAFETY: the range lies inside the reservation, nothing is mapped in it, and the memory has that many bytes.
        let code = unsafe { sys::cuMemMap(start, length, 0, physical.handle, 0) };
        checked("cuMemMap", code)?;
        // From here on, dropping unmaps.
        let mapping = Self { start, physical, _reservation: reservation };
        let access = CUmemAccessDesc {
            location: location(gpu.0),
            flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: the whole range is mapped; one description is read through a valid pointer.
        let code = unsafe { sys::cuMemSetAccess(start, length, &raw const access, 1) };
        checked("cuMemSetAccess", code)?;
        Ok(mapping)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly this range was mapped, in one call, and is unmapped once; the driver waits for pending work
        // that uses it.
        checked("cuMemUnmap", unsafe { sys::cuMemUnmap(self.start, self.physical.length) }).ok();
    }
}

/// Physical memory without an address.
#[derive(Debug)]
struct Physical {
    handle: CUmemGenericAllocationHandle,
    length: usize,
}

impl Physical {
    fn new(gpu: Gpu, length: usize) -> Result<Self, DriverError> {
        let properties = properties(gpu.0);
        let mut handle: CUmemGenericAllocationHandle = 0;
        // SAFETY: writes one handle through a valid pointer and reads the properties.
        let code = unsafe { sys::cuMemCreate(&raw mut handle, length, &raw const properties, 0) };
        checked("cuMemCreate", code)?;
        Ok(Self { handle, length })
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        // SAFETY: the handle came from `cuMemCreate` and is released once.
        checked("cuMemRelease", unsafe { sys::cuMemRelease(self.handle) }).ok();
    }
}

/// A reserved range of addresses.
#[derive(Debug)]
struct Reservation {
    start: CUdeviceptr,
    length: usize,
}

impl Reservation {
    /// Room for `length` bytes with a margin on each side, and the margin: as large as the driver permits.
    fn around(length: usize, granule: usize) -> Result<(Self, usize), DriverError> {
        let reserve = |margin: usize| {
            let margin = margin.max(granule);
            Self::new(length.saturating_add(2 * margin), granule).map(|whole| (whole, margin))
        };
        let [largest, smaller @ ..] = MARGINS;
        let mut reserved = reserve(largest);
        for margin in smaller {
            reserved = reserved.or_else(|_| reserve(margin));
        }
        reserved
    }

    fn new(length: usize, granule: usize) -> Result<Self, DriverError> {
        let mut start: CUdeviceptr = 0;
        // SAFETY: writes one address through a valid pointer; 0 lets the driver choose, and is the only valid flag.
        let code = unsafe { sys::cuMemAddressReserve(&raw mut start, length, granule, 0, 0) };
        checked("cuMemAddressReserve", code)?;
        Ok(Self { start, length })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: the whole reservation is freed once, after the mapping in it.
        let code = unsafe { sys::cuMemAddressFree(self.start, self.length) };
        checked("cuMemAddressFree", code).ok();
    }
}

/// Memory from the driver's allocator.
#[derive(Debug)]
pub(super) struct Allocation {
    start: CUdeviceptr,
    length: usize,
}

impl Allocation {
    pub(super) fn new(length: usize) -> Result<Self, DriverError> {
        let mut start: CUdeviceptr = 0;
        // SAFETY: writes one address through a valid pointer.
        checked("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&raw mut start, length) })?;
        Ok(Self { start, length })
    }

    /// Where it is.
    pub(super) fn room(&self) -> BorrowedMemory {
        BorrowedMemory { start: self.start, bytes: self.length }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: the address came from `cuMemAlloc` and is freed once.
        checked("cuMemFree", unsafe { sys::cuMemFree_v2(self.start) }).ok();
    }
}

/// Ordinary memory of one GPU.
fn properties(device: CUdevice) -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: location(device),
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: CUmemAllocationProp_st__bindgen_ty_1 {
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        },
    }
}

fn location(device: CUdevice) -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        __bindgen_anon_1: CUmemLocation_st__bindgen_ty_1 { id: device },
    }
}
