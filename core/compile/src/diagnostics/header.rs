//! Parser of the first line of a diagnostic: `FILE(LINE): error #CODE: MESSAGE` and its variants.

use super::{Place, Severity, SourcePlace};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header<'log> {
    pub(super) place: Place,
    pub(super) severity: Severity,
    pub(super) code: Option<&'log str>,
    pub(super) message: &'log str,
}

impl<'log> Header<'log> {
    pub(super) fn parse(line: &'log str, sources: &[&str]) -> Option<Self> {
        if line.starts_with("ptxas ") {
            return Self::assembler(line);
        }
        if let Some(rest) = line.strip_prefix("At end of source: ") {
            return Self::after_place(rest, Place::EndOfSource);
        }
        if line.starts_with(' ') {
            return None;
        }
        if let Some(rest) = line.strip_prefix("nvrtc: ") {
            return Self::after_place(rest, Place::Nowhere);
        }
        Self::in_source(line, sources)
    }

    /// A file's name may itself look like the beginning of a diagnostic: a known name wins.
    fn in_source(line: &'log str, sources: &[&str]) -> Option<Self> {
        let mut first = None;
        for (at, _) in line.match_indices("): ").take(64) {
            let Some((file, line_number)) = split_place(&line[..at]) else { continue };
            let foreign = !sources.contains(&file);
            if foreign && first.is_some() {
                continue;
            }
            let place = SourcePlace::new(file, line_number, sources);
            let Some(header) = Self::after_place(&line[at + 3..], Place::Source(place)) else {
                continue;
            };
            if !foreign {
                return Some(header);
            }
            first = Some(header);
        }
        first
    }

    /// `error: MESSAGE` or `warning #177-D: MESSAGE`.
    fn after_place(text: &'log str, place: Place) -> Option<Self> {
        const WORDS: [(&str, Severity); 9] = [
            ("error", Severity::Error),
            ("warning", Severity::Warning),
            ("note", Severity::Note),
            ("remark", Severity::Remark),
            ("catastrophic error", Severity::Fatal),
            ("internal error", Severity::Fatal),
            ("fatal error", Severity::Fatal),
            ("fatal", Severity::Fatal),
            ("command-line error", Severity::Error),
        ];
        for (word, severity) in WORDS {
            let Some(rest) = text.strip_prefix(word) else { continue };
            if let Some(message) = rest.strip_prefix(": ") {
                return Some(Self { place, severity, code: None, message });
            }
            let numbered = rest.strip_prefix(" #").and_then(|rest| rest.split_once(": "));
            if let Some((code, message)) = numbered.filter(|(code, _)| is_code(code)) {
                return Some(Self { place, severity, code: Some(code), message });
            }
        }
        None
    }

    /// `ptxas application ptx input, line 28; error   : MESSAGE`, `ptxas fatal   : MESSAGE`.
    fn assembler(line: &'log str) -> Option<Self> {
        let rest = line.strip_prefix("ptxas ")?;
        let (place, rest) = match rest.split_once("; ").and_then(|(before, after)| {
            let (_, number) = before.rsplit_once(", line ")?;
            Some((number.trim().parse().ok()?, after))
        }) {
            Some((line, after)) => (Place::Ptx { line }, after),
            None => (Place::Nowhere, rest),
        };
        let (word, message) = rest.split_once(':')?;
        if word.trim_end() == "info" {
            return Self::advisory(message.trim());
        }
        let severity = match word.trim_end() {
            "error" => Severity::Error,
            "fatal" => Severity::Fatal,
            "warning" => Severity::Warning,
            "remark" => Severity::Remark,
            _ => return None,
        };
        Some(Self { place, severity, code: None, message: message.trim() })
    }
}

impl<'log> Header<'log> {
    /// `(C7511) Potential Performance Loss: … in line 92`: numbered information is a finding of the assembler, such as
    /// serialised `wgmma` instructions; other information is a report.
    fn advisory(text: &'log str) -> Option<Self> {
        let (code, message) = text.strip_prefix('(')?.split_once(") ")?;
        let digits = code.strip_prefix('C')?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let line = message.match_indices("line ").find_map(|(at, word)| {
            let rest = &message[at + word.len()..];
            rest[..rest.bytes().take_while(u8::is_ascii_digit).count()].parse().ok()
        });
        let place = line.map_or(Place::Nowhere, |line| Place::Ptx { line });
        is_number.then_some(Self { place, severity: Severity::Warning, code: Some(code), message })
    }
}

/// `FILE(LINE` apart.
fn split_place(text: &str) -> Option<(&str, u32)> {
    let (file, number) = text.rsplit_once('(')?;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !file.is_empty()).then_some(())?;
    Some((file, number.parse().ok()?))
}

fn is_code(text: &str) -> bool {
    text.len() <= 12 && text.starts_with(|first: char| first.is_ascii_digit())
}
