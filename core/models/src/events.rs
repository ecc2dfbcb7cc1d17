//! Parser of server-sent events, <https://html.spec.whatwg.org/multipage/server-sent-events.html>: it takes bytes in
//! pieces and returns complete events.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The `event` field; empty if absent.
    pub(crate) kind: String,
    /// The `data` fields, joined by line ends.
    pub(crate) data: String,
}

/// A defect of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EventProblem {
    #[error("an event that is not UTF-8")]
    NotText,
    #[error("an event of more than {LONGEST_EVENT} bytes")]
    TooLong,
}

/// The longest event that is read.
const LONGEST_EVENT: usize = 4 << 20;

/// Cuts a stream into events, wherever its pieces end.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    line: Vec<u8>,
    after_return: bool,
    lines: usize,
    events: usize,
    event: Event,
    has_data: bool,
}

impl EventReader {
    /// Takes the next bytes; returns the events that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, EventProblem> {
        let mut events = Vec::new();
        for &byte in bytes {
            let ends_line = match byte {
                b'\n' if self.after_return => false,
                b'\n' | b'\r' => true,
                _ => {
                    self.line.push(byte);
                    false
                }
            };
            self.after_return = byte == b'\r';
            if ends_line {
                events.extend(self.end_line()?);
            }
            if self.line.len() + self.event.data.len() > LONGEST_EVENT {
                return Err(EventProblem::TooLong);
            }
        }
        Ok(events)
    }

    /// Whether no event was read.
    pub(crate) const fn has_read_nothing(&self) -> bool {
        self.events == 0
    }

    fn end_line(&mut self) -> Result<Option<Event>, EventProblem> {
        let bytes = std::mem::take(&mut self.line);
        let line = std::str::from_utf8(&bytes).map_err(|_not_text| EventProblem::NotText)?;
        let line = if self.lines == 0 { line.trim_start_matches('\u{feff}') } else { line };
        self.lines += 1;
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            let is_complete = std::mem::take(&mut self.has_data);
            self.events += usize::from(is_complete);
            return Ok(is_complete.then_some(event));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.event.kind),
            // Comments begin with a colon and keep the connection alive; other fields are ignored.
            _ => {}
        }
        Ok(None)
    }
}
