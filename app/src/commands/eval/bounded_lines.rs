//! Reads lines of a stream, each up to a limit, on a thread of its own: a writer that pauses must not keep verdicts
//! back.
//!
//! The thread ends with the stream, or when its receiver is dropped and the next line arrives. A read that waits cannot be
//! interrupted, so nothing joins the thread.

use std::io::{self, BufRead};
use std::thread::Builder;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

/// The longest line, in bytes.
pub(super) const MAX_LINE: usize = 16 << 20;

/// Lines that wait for their reader.
const WAITING: usize = 4;

/// A line with its number, from 1.
#[derive(Debug)]
pub(super) struct NumberedLine {
    pub(super) number: u64,
    pub(super) content: Result<String, UnreadableLine>,
}

/// Why a line has no text.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnreadableLine {
    #[error("a line of {bytes} bytes; at most {MAX_LINE}")]
    TooLong { bytes: u64 },
    #[error("the line is not UTF-8 from its byte {valid} on")]
    NotUtf8 { valid: usize },
    /// The stream ends here.
    #[error("the stream cannot be read any further: {0}")]
    Failed(io::Error),
}

/// What the stream has at the moment.
#[derive(Debug)]
pub(super) enum NextLine {
    Line(NumberedLine),
    Pending,
    End,
}

/// The receiving end of the thread.
#[derive(Debug)]
pub(super) struct LineReader {
    lines: Receiver<NumberedLine>,
}

impl LineReader {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub(super) fn start(stream: impl BufRead + Send + 'static) -> io::Result<Self> {
        let (sender, lines) = bounded(WAITING);
        Builder::new().name("eval-lines".to_owned()).spawn(move || send_lines(stream, &sender))?;
        Ok(Self { lines })
    }

    /// The next line; waits for it at most `patience`.
    pub(super) fn next(&self, patience: Duration) -> NextLine {
        match self.lines.recv_timeout(patience) {
            Ok(line) => NextLine::Line(line),
            Err(RecvTimeoutError::Timeout) => NextLine::Pending,
            Err(RecvTimeoutError::Disconnected) => NextLine::End,
        }
    }
}

/// Sends every line until the stream or the receiver ends. Empty lines count and are left out.
fn send_lines(mut stream: impl BufRead, sender: &Sender<NumberedLine>) {
    for number in 1.. {
        let content = match next_line(&mut stream, MAX_LINE) {
            Ok(None) => return,
            Ok(Some(content)) => content,
            Err(error) => {
                let content = Err(UnreadableLine::Failed(error));
                sender.send(NumberedLine { number, content }).unwrap_or_default();
                return;
            }
        };
        if content.as_ref().is_ok_and(|text| text.trim().is_empty()) {
            continue;
        }
        if sender.send(NumberedLine { number, content }).is_err() {
            return;
        }
    }
}

/// The next line without its end; the rest of a line beyond the limit is read and dropped.
fn next_line(
    stream: &mut impl BufRead,
    limit: usize,
) -> io::Result<Option<Result<String, UnreadableLine>>> {
    let mut kept: Vec<u8> = Vec::new();
    let mut bytes: u64 = 0;
    loop {
        let available = match stream.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() && bytes == 0 {
            return Ok(None);
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        let room = limit.saturating_sub(kept.len());
        kept.extend_from_slice(&part[..part.len().min(room)]);
        let (part, is_last) = (part.len(), end.is_some() || available.is_empty());
        stream.consume(part + usize::from(end.is_some()));
        bytes += part as u64 + u64::from(end.is_some());
        if is_last {
            let length = bytes - u64::from(end.is_some());
            return Ok(Some(content(kept, length)));
        }
    }
}

fn content(kept: Vec<u8>, bytes: u64) -> Result<String, UnreadableLine> {
    if bytes > kept.len() as u64 {
        return Err(UnreadableLine::TooLong { bytes });
    }
    String::from_utf8(kept)
        .map_err(|error| UnreadableLine::NotUtf8 { valid: error.utf8_error().valid_up_to() })
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    /// All lines of a stream that arrives in pieces of a size; a long line as `<length`.
    fn lines(stream: &[u8], limit: usize, piece: usize) -> Vec<String> {
        let mut reader = BufReader::with_capacity(piece, stream);
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut reader, limit).unwrap() {
            lines.push(match line {
                Ok(text) => text,
                Err(UnreadableLine::TooLong { bytes }) => format!("<{bytes}"),
                Err(UnreadableLine::NotUtf8 { valid }) => format!("not UTF-8 at {valid}"),
                Err(UnreadableLine::Failed(error)) => panic!("{error}"),
            });
        }
        lines
    }

    #[test]
    fn lines_are_bounded_and_the_next_one_follows() {
        let check = |stream: &[u8], expected: &[&str]| {
            for piece in [1, 3, 64] {
                assert_eq!(lines(stream, 8, piece), expected);
            }
        };
        check(b"", &[]);
        check(b"a\nb", &["a", "b"]);
        check(b"a\n\nb\n", &["a", "", "b"]);
        check(b"12345678\n123456789\nc\n", &["12345678", "<9", "c"]);
        check(b"123456789", &["<9"]);
        check(b"ab\xff\nc", &["not UTF-8 at 2", "c"]);
    }

    #[test]
    fn empty_lines_are_counted_and_left_out() {
        let reader = LineReader::start(&b"a\n\n  \nb"[..]).unwrap();
        let mut numbers = Vec::new();
        loop {
            match reader.next(Duration::from_secs(20)) {
                NextLine::Line(line) => numbers.push((line.number, line.content.unwrap())),
                NextLine::Pending => panic!("the stream has ended"),
                NextLine::End => break,
            }
        }
        assert_eq!(numbers, [(1, "a".to_owned()), (4, "b".to_owned())]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            stream in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
            limit in 1_usize..40,
            piece in 1_usize..50,
        ) {
            let whole = lines(&stream, limit, 4096);
            prop_assert_eq!(&lines(&stream, limit, piece), &whole);
            let ends = stream.iter().filter(|byte| **byte == b'\n').count();
            let has_rest = stream.last().is_some_and(|byte| *byte != b'\n');
            prop_assert_eq!(whole.len(), ends + usize::from(has_rest));
        }
    }
}
