//! Device memory that another process may map: outputs pass from one worker to another without a copy through the host.
//!
//! CUDA driver API, "IPC": a handle of 64 bytes names memory of the driver's allocator; a process with the handle maps
//! that memory of the same GPU into its own context. Only copies are offered, and only the process that judges maps
//! them: none of its own memory is ever mapped where a candidate runs.
#![expect(unsafe_code, reason = "calls into the CUDA driver, which is loaded at run time")]

use std::ffi::c_char;

use cudarc::driver::sys::{self, CUdeviceptr, CUipcMemHandle};

use super::block::{Allocation, Block};
use super::driver::{Context, checked};
use crate::error::{DeviceError, DriverError};

/// Bytes of a handle.
const HANDLE: usize = 64;

/// The last offered copy in each slot.
#[derive(Debug, Default)]
pub(super) struct DeviceMemoryExchange {
    slots: Vec<Option<Block>>,
}

impl DeviceMemoryExchange {
    /// Frees all copies, so that no kernel finds the data of an earlier one.
    pub(super) fn withdraw(&mut self) {
        self.slots.clear();
    }

    /// Copies `length` bytes, which the caller owns, to a slot, and returns the handle of the copy.
    pub(super) fn offer(
        &mut self,
        context: &Context,
        slot: usize,
        from: CUdeviceptr,
        length: usize,
    ) -> Result<Vec<u8>, DeviceError> {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        let place = self.slots.get_mut(slot).ok_or(DeviceError::Unknown("slot"))?;
        let fits = place.as_ref().is_some_and(|block| block.length() >= length);
        if !fits {
            // Before the new one is made: both may be large.
            *place = None;
        }
        let block = match place {
            Some(block) => block,
            None => place.insert(Block::Plain(Allocation::new(length.max(1))?)),
        };
        copy(block.start(), from, length)?;
        // The other process has no order with this one's stream.
        context.synchronise().map_err(|code| super::driver::error("cuCtxSynchronize", code))?;
        let mut handle = CUipcMemHandle { reserved: [0; HANDLE] };
        // SAFETY: writes one handle through a valid pointer; the address came from `cuMemAlloc`.
        let code = unsafe { sys::cuIpcGetMemHandle(&raw mut handle, block.start()) };
        checked("cuIpcGetMemHandle", code)?;
        // `c_char` has a sign on some architectures only.
        Ok(handle.reserved.iter().flat_map(|byte| byte.to_ne_bytes()).collect())
    }
}

/// Copies `length` bytes from the memory that another process offered into a buffer of the caller.
pub(super) fn take(
    context: &Context,
    to: CUdeviceptr,
    length: usize,
    offered: &[u8],
) -> Result<(), DeviceError> {
    let handle: [u8; HANDLE] = offered.try_into().map_err(|_size| DeviceError::Unknown("offer"))?;
    let theirs = PeerMemory::open(handle.map(|byte| c_char::from_ne_bytes([byte])))?;
    copy(to, theirs.start, length)?;
    context.synchronise().map_err(|code| super::driver::error("cuCtxSynchronize", code))?;
    Ok(())
}

/// Another process's memory, mapped here until this is dropped.
#[derive(Debug)]
struct PeerMemory {
    start: CUdeviceptr,
}

impl PeerMemory {
    fn open(reserved: [c_char; HANDLE]) -> Result<Self, DriverError> {
        let mut start: CUdeviceptr = 0;
        let flag = sys::CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        let handle = CUipcMemHandle { reserved };
        // SAFETY: writes one address through a valid pointer; the driver validates the handle.
        let code = unsafe { sys::cuIpcOpenMemHandle_v2(&raw mut start, handle, flag) };
        checked("cuIpcOpenMemHandle", code)?;
        Ok(Self { start })
    }
}

impl Drop for PeerMemory {
    fn drop(&mut self) {
        // SAFETY: the address came from `cuIpcOpenMemHandle` and is given back once, after the copy.
        let code = unsafe { sys::cuIpcCloseMemHandle(self.start) };
        checked("cuIpcCloseMemHandle", code).ok();
    }
}

/// Copies within one GPU; the driver rejects invalid addresses.
fn copy(to: CUdeviceptr, from: CUdeviceptr, length: usize) -> Result<(), DriverError> {
    if length == 0 {
        return Ok(());
    }
    // SAFETY: takes no host pointer; both callers guarantee that many bytes on each side.
    checked("cuMemcpyDtoD", unsafe { sys::cuMemcpyDtoD_v2(to, from, length) })
}
