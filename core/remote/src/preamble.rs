//! What the host writes before the first frame: lines that begin with a word of this connection, among whatever the
//! user's shell prints.

use std::io::Read;

use lightbench_worker::printable;

/// The most that a shell may print before the first line of the script.
const MOST_OTHER_TEXT: usize = 64 << 10;

/// The longest line of the script.
const MOST_LINE: usize = 4 << 10;

/// A line of the script or of the program that it starts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The program for this architecture is not on the host: its compressed bytes are expected.
    Needed(String),
    /// The supervisor runs, and frames follow.
    Ready,
    /// The script failed, for this reason.
    Failed(String),
}

/// The line with which a supervisor begins.
pub(crate) fn ready(word: &str) -> String {
    format!("{word} ready\n")
}

/// Reads the next line that begins with the word, byte by byte, because frames follow the last one. None: the stream
/// ended, or holds too much other text.
pub(crate) fn next_line(word: &str, stream: &mut impl Read) -> std::io::Result<Option<Line>> {
    let (mut line, mut seen) = (Vec::new(), 0);
    let mut byte = [0];
    while seen < MOST_OTHER_TEXT + MOST_LINE {
        if stream.read(&mut byte)? == 0 {
            return Ok(None);
        }
        seen += 1;
        let [byte] = byte;
        if byte != b'\n' {
            line.push(byte);
            continue;
        }
        if let Some(found) = parse(word, &line) {
            return Ok(Some(found));
        }
        line.clear();
    }
    Ok(None)
}

fn parse(word: &str, line: &[u8]) -> Option<Line> {
    let text = String::from_utf8_lossy(line);
    // A banner without a newline may precede the word.
    let (_, said) = text.split_once(word)?;
    match said.trim().split_once(' ').unwrap_or((said.trim(), "")) {
        ("need", architecture) => Some(Line::Needed(printable(architecture))),
        ("ready", _) => Some(Line::Ready),
        ("failed", reason) => Some(Line::Failed(printable(reason))),
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&Line>, rest: &str) {
        let mut stream = text.as_bytes();
        assert_eq!(next_line("word", &mut stream).unwrap().as_ref(), expected);
        assert_eq!(stream, rest.as_bytes());
    }

    #[test]
    fn lines_of_the_script_are_found_among_other_text() {
        check("word ready\nLBF", Some(&Line::Ready), "LBF");
        check("Welcome\nto a host\nword need aarch64\n", Some(&Line::Needed("aarch64".into())), "");
        check("no newline: word ready\nLBF", Some(&Line::Ready), "LBF");
        check(
            "word failed no \u{1b}[1mspace\n",
            Some(&Line::Failed("no \u{fffd}[1mspace".into())),
            "",
        );
        check("word said something\nword ready\n", Some(&Line::Ready), "");
        check("Welcome\n", None, "");
        check("", None, "");
        let banner = "x".repeat(MOST_OTHER_TEXT - 1);
        check(&format!("{banner}\nword ready\n"), Some(&Line::Ready), "");
        let (long, line) = ("x".repeat(MOST_OTHER_TEXT + MOST_LINE), "\nword ready\n");
        check(&format!("{long}{line}"), None, line);
    }
}
