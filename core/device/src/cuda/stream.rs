//! Streams, events and graphs: ordered work, time marks, and repeated work with little launch overhead.
#![expect(unsafe_code, reason = "calls into the CUDA driver, which is loaded at run time")]

use std::ptr;

use cudarc::driver::sys::{
    self, CUdeviceptr, CUevent, CUevent_flags, CUgraph, CUgraphExec, CUresult, CUstream,
    CUstream_flags, CUstreamCaptureMode,
};
use lightbench_units::Seconds;

use super::driver::checked;
use super::older_driver;
use crate::error::DriverError;

/// A stream that does not synchronise with the default stream.
#[derive(Debug)]
pub(super) struct Stream(CUstream);

impl Stream {
    pub(super) fn new() -> Result<Self, DriverError> {
        let mut stream: CUstream = ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: writes one handle through a valid pointer.
        checked("cuStreamCreate", unsafe { sys::cuStreamCreate(&raw mut stream, flags) })?;
        Ok(Self(stream))
    }

    pub(super) fn handle(&self) -> CUstream {
        self.0
    }

    /// Waits for all enqueued work. The error code reports a kernel's fault.
    pub(super) fn synchronise(&self) -> Result<(), CUresult> {
        // SAFETY: the stream lives as long as this value.
        let code = unsafe { sys::cuStreamSynchronize(self.0) };
        if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(code) }
    }

    /// Sets bytes, in the order of the stream.
    pub(super) fn set_bytes(&self, to: &BorrowedMemory, byte: u8) -> Result<(), DriverError> {
        if to.bytes == 0 {
            return Ok(());
        }
        // SAFETY: a room is device memory that lives until the stream was waited for.
        let code = unsafe { sys::cuMemsetD8Async(to.start, byte, to.bytes, self.0) };
        checked("cuMemsetD8Async", code)
    }

    /// Number of driver calls that set elements.
    pub(super) fn fills(to: &BorrowedMemory, element: &[u8]) -> usize {
        match element.len() {
            length if to.bytes / length.max(1) == 0 => 0,
            1 | 2 => 1,
            length => length / 4,
        }
    }

    /// Fills a range with elements. An element has 1, 2, 4 or a multiple of 4 bytes.
    pub(super) fn set_elements(
        &self,
        to: &BorrowedMemory,
        element: &[u8],
    ) -> Result<(), DriverError> {
        let count = to.bytes / element.len().max(1);
        match *element {
            _ if count == 0 => Ok(()),
            [byte] => self.set_bytes(to, byte),
            [low, high] => {
                let value = u16::from_le_bytes([low, high]);
                // SAFETY: as above; the room has `count` elements of two bytes.
                let code = unsafe { sys::cuMemsetD16Async(to.start, value, count, self.0) };
                checked("cuMemsetD16Async", code)
            }
            _ => self.set_words(to, element, count),
        }
    }

    /// One column of words after the other.
    fn set_words(
        &self,
        to: &BorrowedMemory,
        element: &[u8],
        count: usize,
    ) -> Result<(), DriverError> {
        for (column, word) in element.chunks_exact(4).enumerate() {
            let value = word.iter().rev().fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
            let start = to.start + 4 * column as u64;
            // SAFETY: as above; `count` rows of one word, one element apart, lie in the range.
            let code =
                unsafe { sys::cuMemsetD2D32Async(start, element.len(), value, 1, count, self.0) };
            checked("cuMemsetD2D32Async", code)?;
        }
        Ok(())
    }

    /// Copies a room to another of the same size.
    pub(super) fn copy(
        &self,
        from: &BorrowedMemory,
        to: &BorrowedMemory,
    ) -> Result<(), DriverError> {
        let bytes = from.bytes.min(to.bytes);
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both rooms have `bytes` bytes of device memory that live until the stream was waited for.
        let code = unsafe { sys::cuMemcpyDtoDAsync_v2(to.start, from.start, bytes, self.0) };
        checked("cuMemcpyDtoDAsync", code)
    }

    /// Captures the work that `enqueue` puts into the stream as a graph; nothing of it runs.
    pub(super) fn captured<E: From<DriverError>>(
        &self,
        fill: impl FnOnce() -> Result<(), E>,
    ) -> Result<Graph, E> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is no legacy one and is not being captured.
        let code = unsafe { sys::cuStreamBeginCapture_v2(self.0, mode) };
        checked("cuStreamBeginCapture", code)?;
        let filled = fill();
        let mut graph: CUgraph = ptr::null_mut();
        // SAFETY: the capture began above; writes one handle through a valid pointer.
        let code = unsafe { sys::cuStreamEndCapture(self.0, &raw mut graph) };
        filled?;
        checked("cuStreamEndCapture", code)?;
        let graph = Recording(graph);
        let mut ready: CUgraphExec = ptr::null_mut();
        // SAFETY: the graph came from the capture; writes one handle; no flags.
        let code = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut ready, graph.0, 0) };
        checked("cuGraphInstantiate", code)?;
        Ok(Graph(ready))
    }

    /// Runs a graph, in the order of the stream.
    pub(super) fn run(&self, graph: &Graph) -> Result<(), CUresult> {
        // SAFETY: both live until the stream was waited for.
        let code = unsafe { sys::cuGraphLaunch(graph.0, self.0) };
        if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(code) }
    }

    /// Records an event: its time is that of the completion of all earlier work.
    pub(super) fn mark(&self, event: &Event) -> Result<(), DriverError> {
        // SAFETY: both live until the stream was waited for.
        checked("cuEventRecord", unsafe { sys::cuEventRecord(event.0, self.0) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the handle came from the driver and is destroyed once.
        checked("cuStreamDestroy", unsafe { sys::cuStreamDestroy_v2(self.0) }).ok();
    }
}

/// A range of device memory owned by the caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct BorrowedMemory {
    pub(super) start: CUdeviceptr,
    pub(super) bytes: usize,
}

/// A mark in a stream.
#[derive(Debug)]
pub(super) struct Event(CUevent);

impl Event {
    pub(super) fn new() -> Result<Self, DriverError> {
        let mut event: CUevent = ptr::null_mut();
        let flags = CUevent_flags::CU_EVENT_DEFAULT as u32;
        // SAFETY: writes one handle through a valid pointer.
        checked("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut event, flags) })?;
        Ok(Self(event))
    }

    /// The time from this mark to a later one; both were reached.
    pub(super) fn until(&self, later: &Self) -> Result<Seconds, DriverError> {
        let mut milliseconds = 0.0_f32;
        let time = &raw mut milliseconds;
        let code = match older_driver::elapsed_time() {
            // SAFETY: both marks were recorded; writes one number through a valid pointer.
            None => unsafe { sys::cuEventElapsedTime_v2(time, self.0, later.0) },
            // SAFETY: as above.
            Some(elapsed) => unsafe { elapsed(time, self.0, later.0) },
        };
        checked("cuEventElapsedTime", code)?;
        Ok(Seconds(f64::from(milliseconds) * 1e-3))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the handle came from the driver and is destroyed once.
        checked("cuEventDestroy", unsafe { sys::cuEventDestroy_v2(self.0) }).ok();
    }
}

/// A graph as it was captured.
struct Recording(CUgraph);

impl Drop for Recording {
    fn drop(&mut self) {
        // SAFETY: the handle came from the driver and is destroyed once; graphs instantiated from it remain valid.
        checked("cuGraphDestroy", unsafe { sys::cuGraphDestroy(self.0) }).ok();
    }
}

/// A graph that can be run.
#[derive(Debug)]
pub(super) struct Graph(CUgraphExec);

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the handle came from the driver and is destroyed once, after the stream was waited for.
        checked("cuGraphExecDestroy", unsafe { sys::cuGraphExecDestroy(self.0) }).ok();
    }
}

/// Resets the lines of L2 that kernels marked as persisting.
pub(super) fn reset_persisting_l2() -> Result<(), DriverError> {
    // SAFETY: takes no pointer.
    let code = unsafe { sys::cuCtxResetPersistingL2Cache() };
    checked("cuCtxResetPersistingL2Cache", code)
}
