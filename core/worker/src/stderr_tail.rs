//! The last lines that a worker wrote to its standard error, for the message about its death.

use std::collections::VecDeque;
use std::io::Read as _;
use std::process::ChildStderr;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// How long the end of the stream may take once the process is dead.
const PATIENCE: Duration = Duration::from_millis(250);
/// How much is kept.
const TAIL_BYTES: usize = 8 << 10;
/// How many lines of it are shown, and how much of each.
const TAIL_LINES: usize = 20;
const LINE_CHARACTERS: usize = 300;

/// Reads a worker's standard error for as long as it lives, so that the worker never blocks on it.
#[derive(Debug)]
pub(super) struct StderrTail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Hangs up when the stream has ended.
    ended: Receiver<()>,
}

impl StderrTail {
    pub(super) fn start(stream: ChildStderr) -> std::io::Result<Self> {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let sink = Arc::clone(&kept);
        let (hang_up, ended) = sync_channel(0);
        Builder::new().name("worker-stderr".to_owned()).spawn(move || {
            drain(stream, &sink);
            drop(hang_up);
        })?;
        Ok(Self { kept, ended })
    }

    /// Waits for the end of the stream; called once the whole process group is dead. A process
    /// that left the group (the connection that `ssh` keeps for later) may hold the stream open:
    /// then the reading thread is left to it.
    pub(super) fn finish(&self) {
        // Either answer means that there is nothing more to wait for.
        let _ended = self.ended.recv_timeout(PATIENCE);
    }

    /// The last lines, fit to be shown.
    pub(super) fn lines(&self) -> Vec<String> {
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
