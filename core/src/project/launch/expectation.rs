//! The failure that a kernel under `wrong/` must produce.

use serde::{Deserialize, Serialize};

use crate::project::{locate::Located, manifest::Evidence, problem::Findings};

/// The failure that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// The compiler must reject it.
    Compile,
    /// It must be refused, for this evidence if one is named.
    Refused(Option<Evidence>),
    /// It must fault, in this way if one is named.
    Fault(Option<FaultKind>),
    /// Its results must be wrong, in this way if one is named.
    Wrong(Option<WrongKind>),
    /// It must not finish in time.
    TimedOut,
}

/// What went wrong while a kernel ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum FaultKind {
    OutOfBounds,
    Misaligned,
    UninitializedRead,
    InputModified,
    DataRace,
    BarrierDivergence,
    WarpSync,
    Deadlock,
    Trap,
    StepLimit,
}

/// What is wrong with results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum WrongKind {
    Numeric,
    Unwritten,
    Stale,
    StateDependent,
    Imprecise,
    Nan,
}

/// The failures with the payload written.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Detailed {
    Refused(Evidence),
    Fault(FaultKind),
    Wrong(WrongKind),
}

const FAILURES: [&str; 5] = ["compile", "refused", "fault", "wrong", "timed_out"];

const FAULTS: [&str; 10] = [
    "out_of_bounds",
    "misaligned",
    "uninitialized_read",
    "input_modified",
    "data_race",
    "barrier_divergence",
    "warp_sync",
    "deadlock",
    "trap",
    "step_limit",
];

const WRONGS: [&str; 6] = ["numeric", "unwritten", "stale", "state_dependent", "imprecise", "nan"];

const EVIDENCE: [&str; 9] = [
    "device_globals",
    "clocks",
    "sleeps",
    "cache_persistence",
    "device_launch",
    "heap",
    "printf",
    "trap",
    "inline_assembly",
];

/// Reads the failure; reports what is wrong and returns none.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &str,
) -> Option<Expectation> {
    let written = written.trim();
    match written {
        "compile" => return Some(Expectation::Compile),
        "refused" => return Some(Expectation::Refused(None)),
        "fault" => return Some(Expectation::Fault(None)),
        "wrong" => return Some(Expectation::Wrong(None)),
        "timed_out" => return Some(Expectation::TimedOut),
        _ => {}
    }
    match ron::from_str(written) {
        Ok(Detailed::Refused(evidence)) => return Some(Expectation::Refused(Some(evidence))),
        Ok(Detailed::Fault(kind)) => return Some(Expectation::Fault(Some(kind))),
        Ok(Detailed::Wrong(kind)) => return Some(Expectation::Wrong(Some(kind))),
        Err(_) => {}
    }
    let (outer, inner) = written.split_once('(').unwrap_or((written, ""));
    let inner = inner.trim().trim_end_matches(')').trim();
    match outer.trim() {
        "refused" => findings.unknown(at.item(0), "evidence", inner, &EVIDENCE),
        "fault" => findings.unknown(at.item(0), "fault", inner, &FAULTS),
        "wrong" => findings.unknown(at.item(0), "sort of wrong result", inner, &WRONGS),
        "compile" | "timed_out" => {
            findings.add(at, format!("`{written}`"), format!("`{}` alone", outer.trim()));
        }
        other => findings.unknown(at, "failure", other, &FAILURES),
    }
    None
}
