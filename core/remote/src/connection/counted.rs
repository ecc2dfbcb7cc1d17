//! A stream whose bytes are counted.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stream whose bytes are counted.
#[derive(Debug)]
pub(super) struct Counted<Stream> {
    pub(super) stream: Stream,
    pub(super) count: Arc<AtomicU64>,
}

impl<Stream: Read> Read for Counted<Stream> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl<Stream: Write> Write for Counted<Stream> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.stream.write(bytes)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}
