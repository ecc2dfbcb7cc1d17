//! The last lines that a worker wrote to its standard error, for the message about its death.

use std::collections::VecDeque;
use std::io::Read as _;
use std::process::ChildStderr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// How much is kept.
const TAIL_BYTES: usize = 8 << 10;
/// How many lines of it are shown, and how much of each.
const TAIL_LINES: usize = 20;
const LINE_CHARACTERS: usize = 300;

/// Reads a worker's standard error for as long as it lives, so that the worker never blocks on it.
#[derive(Debug)]
pub(super) struct StderrTail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl StderrTail {
    pub(super) fn start(stream: ChildStderr) -> std::io::Result<Self> {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let sink = Arc::clone(&kept);
        let thread =
            Builder::new().name("worker-stderr".to_owned()).spawn(move || drain(stream, &sink))?;
        Ok(Self { kept, thread: Some(thread) })
    }

    /// Waits for the end of the stream; called once the whole process group is dead.
    pub(super) fn finish(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A reader that panicked has kept what it read before.
            let _panicked = thread.join();
        }
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

/// One line without control characters or characters that reorder text, cut to a bearable length.
pub(super) fn printable(line: &str) -> String {
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
