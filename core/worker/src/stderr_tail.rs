//! The last lines of a worker's standard error, for the message that reports its end.

use std::collections::VecDeque;
use std::io::Read as _;
use std::process::ChildStderr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded};

/// Time to wait for the end of the stream after the process has ended.
const PATIENCE: Duration = Duration::from_millis(250);
/// Bytes kept.
const TAIL_BYTES: usize = 8 << 10;
/// Lines shown, and the characters shown of each.
const TAIL_LINES: usize = 20;
const LINE_CHARACTERS: usize = 300;

/// Reads a worker's standard error during its whole life, so that the worker never blocks on a full pipe.
#[derive(Debug)]
pub struct StderrTail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Disconnects when the stream has ended.
    ended: Receiver<()>,
}

impl StderrTail {
    /// Starts the thread that reads the stream.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    pub fn start(stream: ChildStderr) -> std::io::Result<Self> {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let sink = Arc::clone(&kept);
        let (hang_up, ended) = bounded(0);
        Builder::new().name("worker-stderr".to_owned()).spawn(move || {
            drain(stream, &sink);
            drop(hang_up);
        })?;
        Ok(Self { kept, ended })
    }

    /// Waits for the end of the stream, after the whole process group has been killed. A process that left the group, such
    /// as the shared connection of `ssh`, may keep the stream open. In that case the reading thread continues until that
    /// process ends.
    pub fn finish(&self) {
        // A disconnect means that the stream ended; after a timeout the lines read so far are used.
        let _ended = self.ended.recv_timeout(PATIENCE);
    }

    /// The last lines, with control characters replaced.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let bytes: Vec<u8> =
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let first = lines.len().saturating_sub(TAIL_LINES);
        lines.into_iter().skip(first).map(printable).collect()
    }
}

fn drain(mut stream: ChildStderr, sink: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0_u8; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let mut kept = sink.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(buffer.iter().take(count));
        let excess = kept.len().saturating_sub(TAIL_BYTES);
        kept.drain(..excess);
    }
}

/// A line with control characters and characters that reorder text replaced, cut to 300 characters.
pub fn printable(line: &str) -> String {
    let safe = |character: char| match character {
        '\t' => ' ',
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => '\u{fffd}',
        other if other.is_control() => '\u{fffd}',
        other => other,
    };
    line.chars().take(LINE_CHARACTERS).map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_replaced() {
        assert_eq!(printable("a\u{1b}[31mb\u{202e}c\td"), "a\u{fffd}[31mb\u{fffd}c d");
    }

    #[test]
    fn long_lines_are_cut() {
        assert_eq!(printable(&"x".repeat(1000)).len(), LINE_CHARACTERS);
    }
}
