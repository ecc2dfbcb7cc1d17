//! Parses reports of compute-sanitizer into faults. Pure: this module does not start the tool.
//!
//! Source: Compute Sanitizer, user manual (2024 and later), the chapters on memcheck, racecheck, initcheck and synccheck.
//! Each line of a report begins with `=========`; a record is a line at the margin with indented lines below it. A report
//! that ends without its summary, or whose summary counts errors of which no record is known, is no clean one.

use lightbench_project::launch::expectation::FaultKind;

use super::fault_report::{CodePlace, FaultReport, Seen};

#[cfg(test)]
mod tests;

/// What every line of a report begins with.
const MARGIN: &str = "=========";

/// Why a report cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The tool did not reach its end.
    #[error("the report of compute-sanitizer has no summary")]
    NoSummary,
    /// Something was found, and none of it is understood.
    #[error("compute-sanitizer reports {0} errors, but none of its records has a known kind")]
    Unknown(u64),
}

/// The faults of one report, in its order.
///
/// # Errors
/// The report is incomplete, or has records of an unknown kind.
pub fn faults(report: &str) -> Result<Vec<FaultReport>, Unreadable> {
    let mut faults: Vec<FaultReport> = Vec::new();
    let (mut errors, mut is_open) = (None, false);
    for line in report.lines().filter_map(|line| line.strip_prefix(MARGIN)) {
        let text = line.trim();
        if let Some(count) = summary(text) {
            // A second summary counts what was not printed.
            errors = Some(errors.map_or(count, |known: u64| known.max(count)));
            is_open = false;
        } else if let Some((kind, details)) = beginning(text) {
            faults.push(record(kind, details));
            is_open = true;
        } else if line.starts_with("     ") {
            if let (true, Some(fault)) = (is_open, faults.last_mut()) {
                detail(fault, text);
            }
        } else {
            is_open = false;
        }
    }
    match errors {
        None => Err(Unreadable::NoSummary),
        Some(count) if count > 0 && faults.is_empty() => Err(Unreadable::Unknown(count)),
        Some(_) => Ok(faults),
    }
}

/// The errors that a summary counts: `ERROR SUMMARY: 2 errors`, `RACECHECK SUMMARY: 3 hazards displayed (2 errors, …)`.
fn summary(text: &str) -> Option<u64> {
    let (_, counted) = text.split_once("SUMMARY:")?;
    let counted = counted.split_once('(').map_or(counted, |(_, counted)| counted);
    let digits: String = counted.trim().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The kind of the record that begins with this line, and its message.
fn beginning(text: &str) -> Option<(FaultKind, &str)> {
    // What may be a hazard on another device is a warning, and no fault.
    if let Some(race) = text.strip_prefix("Error: Race reported between ") {
        return Some((FaultKind::DataRace, race));
    }
    if let Some(barrier) = text.strip_prefix("Barrier error detected.") {
        let kind = if barrier.contains("Missing wait") {
            FaultKind::MissingWait
        } else if barrier.contains("in warp") || barrier.contains("Invalid arguments") {
            FaultKind::WarpSync
        } else {
            FaultKind::BarrierDivergence
        };
        return Some((kind, text));
    }
    let is_access = text.contains(" of size ") && text.ends_with("bytes");
    match text.split_once(' ') {
        Some(("Invalid", _)) if is_access => Some((FaultKind::OutOfBounds, text)),
        Some(("Uninitialized", _)) if is_access => Some((FaultKind::UninitializedRead, text)),
        Some(_) | None => None,
    }
}

fn record(kind: FaultKind, details: &str) -> FaultReport {
    let mut fault = FaultReport {
        kind,
        kernel: String::new(),
        seen: None,
        buffer: None,
        other: None,
        details: details.to_owned(),
    };
    if kind == FaultKind::DataRace
        && let Some((_, at)) = details.split_once(" at ")
    {
        fault.kernel = place(at).0;
    }
    fault
}

/// One of the lines below a record's first.
fn detail(fault: &mut FaultReport, text: &str) {
    if let Some(at) = text.strip_prefix("at ") {
        let (kernel, source) = place(at);
        fault.kernel = kernel;
        if let Some((file, line)) = source {
            seen(fault).place.source = Some((file, line, 0));
        }
    } else if let Some(by) = text.strip_prefix("by thread ") {
        let mut numbers = by.split(" in block ").map(triple);
        if let (Some(Some(thread)), Some(Some(block))) = (numbers.next(), numbers.next()) {
            let seen = seen(fault);
            (seen.thread, seen.block) = (thread, block);
        }
    } else if text.starts_with("Address 0x") || text.starts_with("Access to 0x") {
        if text.contains("misaligned") {
            fault.kind = FaultKind::Misaligned;
        }
        let address = text.split_whitespace().find_map(|word| word.strip_prefix("0x"));
        seen(fault).address = address.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        fault.details.push_str("; ");
        fault.details.push_str(text);
    } else if text.starts_with("and is ") || text.starts_with("and ") {
        fault.details.push(' ');
        fault.details.push_str(text);
    }
}

fn seen(fault: &mut FaultReport) -> &mut Seen {
    fault.seen.get_or_insert(Seen {
        block: [0; 3],
        thread: [0; 3],
        place: CodePlace { ptx: (0, 0), source: None },
        address: None,
    })
}

/// `kernel(int *)+0x90 in file.cu:12`, the older `0x90 in file.cu:12:kernel(int *)`, or either without a file.
fn place(at: &str) -> (String, Option<(String, u32)>) {
    let (code, rest) = at.rsplit_once(" in ").unwrap_or((at, ""));
    let named =
        |code: &str| code.rsplit_once("+0x").map_or(code, |(name, _)| name).trim().to_owned();
    let mut parts = rest.splitn(3, ':');
    let (file, line, function) = (parts.next(), parts.next(), parts.next());
    let line = line.and_then(|line| {
        let digits: String = line.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    let source = file.zip(line).map(|(file, line)| (file.to_owned(), line));
    match (function, &source) {
        (Some(function), Some(_)) => (function.to_owned(), source),
        (_, None) if code.starts_with("0x") && !rest.is_empty() => (rest.to_owned(), None),
        (_, _) => (named(code), source),
    }
}

/// `(64,0,0)`
fn triple(text: &str) -> Option<[u32; 3]> {
    let inside = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut numbers = inside.split(',').map(|number| number.trim().parse().ok());
    let triple = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(triple)
}
