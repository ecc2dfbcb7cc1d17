//! A socket whose reads and writes are divided into short time slices, with a check for cancellation and time limits
//! between them.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;

use ureq::unversioned::transport::{Buffers, LazyBuffers, NextTimeout, Transport};

use super::HEAD_BYTES;
use super::watch::Watch;
use crate::stop_signal::SLICE;

/// An open connection. The library's own time-outs are not used: `Watch` implements all limits.
#[derive(Debug)]
pub(super) struct Line {
    stream: TcpStream,
    buffers: LazyBuffers,
    watch: Watch,
}

impl Line {
    pub(super) fn new(stream: TcpStream, watch: Watch) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SLICE))?;
        stream.set_write_timeout(Some(SLICE))?;
        Ok(Self { stream, buffers: LazyBuffers::new(BUFFER, BUFFER), watch })
    }

    /// Repeats an operation that did not finish within a time slice.
    fn patiently(
        watch: &Watch,
        mut attempt: impl FnMut() -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            watch.check_io()?;
            match attempt() {
                Err(error) if is_slice_over(&error) => {}
                done => return done,
            }
        }
    }
}

/// More than the longest head: a full buffer is indistinguishable from a closed connection.
const BUFFER: usize = 2 * HEAD_BYTES;

fn is_slice_over(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

impl Transport for Line {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), ureq::Error> {
        let mut left = self.buffers.output().get(..amount).unwrap_or_default();
        while !left.is_empty() {
            let written = Self::patiently(&self.watch, || (&self.stream).write(left))?;
            if written == 0 {
                return Err(io::Error::from(ErrorKind::WriteZero).into());
            }
            left = left.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, ureq::Error> {
        let buffer = self.buffers.input_append_buf();
        let read = Self::patiently(&self.watch, || (&self.stream).read(buffer))?;
        self.buffers.input_appended(read);
        if read > 0 {
            self.watch.heard();
        }
        Ok(read > 0)
    }

    /// The library asks before it reuses a connection; connections are never reused.
    fn is_open(&mut self) -> bool {
        false
    }
}
