//! The failure that a kernel under `wrong/` must produce.

use serde::{Deserialize, Serialize};

use crate::locate::Located;
use crate::manifest::Evidence;
use crate::problem::Findings;

/// The failure that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// The compiler must reject it.
    Compile,
    /// It must be refused, for this evidence if one is named.
    Refused(Option<RefusalKind>),
    /// It must fault, in this way if one is named.
    Fault(Option<FaultKind>),
    /// Its results must be wrong, in this way if one is named.
    Wrong(Option<WrongKind>),
    /// It must not finish in time.
    TimedOut,
}

/// Why a kernel is not run at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// The compiled kernel declares other parameters than it would be given.
    Arguments,
    /// A refused include.
    Include,
    /// Evidence in its code that the policy refuses.
    Evidence(Evidence),
}

/// The kind of a run-time fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum FaultKind {
    OutOfBounds,
    Misaligned,
    UninitializedRead,
    ReadOnlyWrite,
    InputModified,
    DataRace,
    BarrierDivergence,
    BarrierPhase,
    WarpSync,
    MissingWait,
    Deadlock,
    Livelock,
    Residency,
    Trap,
    Assertion,
    StepLimit,
    TimeLimit,
    TensorMap,
    Texture,
}

/// The kind of a wrong result.
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

/// The failures as they are written in full.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Compile,
    Refused(Evidence),
    Fault(FaultKind),
    Wrong(WrongKind),
    TimedOut,
}

/// Parses the failure; reports a problem and returns `None` if it is invalid.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &str,
) -> Option<Expectation> {
    let written: String = written.chars().filter(|character| !character.is_whitespace()).collect();
    let expectation = match written.as_str() {
        "refused" => Expectation::Refused(None),
        "fault" => Expectation::Fault(None),
        "wrong" => Expectation::Wrong(None),
        "refused(arguments)" => Expectation::Refused(Some(RefusalKind::Arguments)),
        "refused(include)" => Expectation::Refused(Some(RefusalKind::Include)),
        other => match ron::from_str(other) {
            Ok(Written::Compile) => Expectation::Compile,
            Ok(Written::Refused(evidence)) => {
                Expectation::Refused(Some(RefusalKind::Evidence(evidence)))
            }
            Ok(Written::Fault(kind)) => Expectation::Fault(Some(kind)),
            Ok(Written::Wrong(kind)) => Expectation::Wrong(Some(kind)),
            Ok(Written::TimedOut) => Expectation::TimedOut,
            Err(error) => {
                report(findings, at, other, error.code);
                return None;
            }
        },
    };
    Some(expectation)
}

/// An unknown word is reported with the words that are accepted in its position.
fn report(findings: &mut Findings<'_>, at: &Located, written: &str, error: ron::Error) {
    let ron::Error::NoSuchEnumVariant { expected, found, .. } = error else {
        let expected =
            "`compile`, `timed_out`, or `refused`, `fault` or `wrong` with the kind in brackets";
        findings.add(at, format!("`{written}`"), expected);
        return;
    };
    match written.split_once('(').map(|(outer, _)| outer) {
        Some("refused") => {
            let known: Vec<&str> =
                ["arguments", "include"].into_iter().chain(expected.iter().copied()).collect();
            findings.unknown(at.item(0), "reason to refuse", &found, &known);
        }
        Some("fault") => findings.unknown(at.item(0), "fault", &found, expected),
        Some("wrong") => findings.unknown(at.item(0), "sort of wrong result", &found, expected),
        Some(_) | None => findings.unknown(at, "failure", &found, expected),
    }
}
