//! Copies between a GPU and the host through two page-locked buffers, which alternate: the GPU copies one while the
//! host processes the other.
//!
//! CUDA driver API, "Memory Management": copies from and to pageable host memory go through a small page-locked buffer
//! of the driver, sequentially. Measured on an H200: copying 1 GiB to the host takes 0.63 s from pageable memory and
//! 0.020 s from page-locked memory.
#![expect(unsafe_code, reason = "calls into the CUDA driver, which is loaded at run time")]

use std::ffi::c_void;
use std::io;
use std::ptr;

use cudarc::driver::sys::{self, CUdeviceptr, CUstream};

use super::driver::checked;
use crate::error::{DeviceError, DriverError};

/// Bytes of one piece: large enough for the bus, small enough for the host's caches.
const PIECE: usize = 4 << 20;

/// The two pieces.
#[derive(Debug)]
pub(super) struct Staging {
    pieces: [Piece; 2],
}

impl Staging {
    /// Needs a current context, and must be dropped before it.
    pub(super) fn new() -> Result<Self, DriverError> {
        Ok(Self { pieces: [Piece::new()?, Piece::new()?] })
    }

    /// Copies from a GPU's memory, handing each part to `sink`, in order.
    ///
    /// The caller owns device memory of `length` bytes from `from` on.
    pub(super) fn copy_out(
        &mut self,
        from: CUdeviceptr,
        length: usize,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), DeviceError> {
        let copied = self.parts_out(from, length, sink);
        self.finish(copied)
    }

    fn parts_out(
        &mut self,
        from: CUdeviceptr,
        length: usize,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), DeviceError> {
        let parts = length.div_ceil(PIECE);
        let part = |index: usize| {
            let start = index * PIECE;
            (from + start as u64, PIECE.min(length - start))
        };
        if parts > 0 {
            let (address, count) = part(0);
            self.pieces[0].begin_copy_out(address, count)?;
        }
        for index in 0..parts {
            let [first, second] = &mut self.pieces;
            let (now, next) =
                if index.is_multiple_of(2) { (first, second) } else { (second, first) };
            if index + 1 < parts {
                let (address, count) = part(index + 1);
                next.begin_copy_out(address, count)?;
            }
            now.wait()?;
            let (_, count) = part(index);
            sink(&now.bytes()[..count]).map_err(passing)?;
        }
        Ok(())
    }

    /// Copies to a GPU's memory; `source` fills each part, in order.
    ///
    /// The caller owns device memory of `length` bytes from `to` on.
    pub(super) fn copy_in(
        &mut self,
        to: CUdeviceptr,
        length: usize,
        source: &mut dyn FnMut(&mut [u8]) -> io::Result<()>,
    ) -> Result<(), DeviceError> {
        let copied = self.parts_in(to, length, source);
        self.finish(copied)
    }

    fn parts_in(
        &mut self,
        to: CUdeviceptr,
        length: usize,
        source: &mut dyn FnMut(&mut [u8]) -> io::Result<()>,
    ) -> Result<(), DeviceError> {
        for index in 0..length.div_ceil(PIECE) {
            let start = index * PIECE;
            let count = PIECE.min(length - start);
            let piece = &mut self.pieces[index % 2];
            // The previous copy from this buffer has completed.
            piece.wait()?;
            source(&mut piece.bytes_mut()[..count]).map_err(passing)?;
            piece.begin_copy_in(to + start as u64, count)?;
        }
        Ok(())
    }

    /// Waits for pending copies, even after an error: the caller may free the memory next.
    fn finish(&self, copied: Result<(), DeviceError>) -> Result<(), DeviceError> {
        let waited = self.pieces.iter().try_for_each(Piece::wait);
        copied?;
        Ok(waited?)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn passing(error: io::Error) -> DeviceError {
    DeviceError::Passing(error.to_string())
}

/// A page-locked buffer with its own stream. The stream synchronises with earlier work, as streams do by default.
#[derive(Debug)]
struct Piece {
    start: *mut c_void,
    stream: CUstream,
}

impl Piece {
    fn new() -> Result<Self, DriverError> {
        let mut stream: CUstream = ptr::null_mut();
        // SAFETY: writes one handle through a valid pointer; 0 is the default kind of stream.
        checked("cuStreamCreate", unsafe { sys::cuStreamCreate(&raw mut stream, 0) })?;
        // From here on, dropping destroys the stream; a null pointer needs no free.
        let mut piece = Self { start: ptr::null_mut(), stream };
        // SAFETY: writes one address through a valid pointer.
        let code = unsafe { sys::cuMemHostAlloc(&raw mut piece.start, PIECE, 0) };
        checked("cuMemHostAlloc", code)?;
        Ok(piece)
    }

    /// Callers keep to one use at a time: no copy is under way while the slice lives.
    fn bytes(&self) -> &[u8] {
        // SAFETY: the memory has that many bytes, zeroed or written by the driver, and lives as long as this value.
        unsafe { std::slice::from_raw_parts(self.start.cast::<u8>(), PIECE) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; nothing else refers to it while this value is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast::<u8>(), PIECE) }
    }

    fn begin_copy_out(&mut self, from: CUdeviceptr, count: usize) -> Result<(), DriverError> {
        let (to, count) = (self.start, count.min(PIECE));
        // SAFETY: the buffer has that many bytes, and so has the device memory, as the caller guarantees; the buffer is
        // not read before `wait`.
        let code = unsafe { sys::cuMemcpyDtoHAsync_v2(to, from, count, self.stream) };
        checked("cuMemcpyDtoHAsync", code)
    }

    fn begin_copy_in(&mut self, to: CUdeviceptr, count: usize) -> Result<(), DriverError> {
        let (from, count) = (self.start.cast_const(), count.min(PIECE));
        // SAFETY: as above; the buffer is not written before `wait`.
        let code = unsafe { sys::cuMemcpyHtoDAsync_v2(to, from, count, self.stream) };
        checked("cuMemcpyHtoDAsync", code)
    }

    fn wait(&self) -> Result<(), DriverError> {
        // SAFETY: the stream lives as long as this value.
        checked("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.stream) })
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // A copy may still be in flight after an earlier one failed.
        self.wait().ok();
        if !self.start.is_null() {
            // SAFETY: the memory came from `cuMemHostAlloc` and is freed once; no copy uses it any more.
            checked("cuMemFreeHost", unsafe { sys::cuMemFreeHost(self.start) }).ok();
        }
        // SAFETY: the stream came from `cuStreamCreate` and is destroyed once.
        checked("cuStreamDestroy", unsafe { sys::cuStreamDestroy_v2(self.stream) }).ok();
    }
}
