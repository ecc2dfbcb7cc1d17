//! The verdict in one sentence: the same in the command line, the window and the tests.

use lightbench_measure::timing::Clock;
use lightbench_project::launch::expectation::WrongKind;
use lightbench_tensors::compare::{Mismatch, OutputError};

use super::fault_report::FaultReport;
use super::not_judged::{NotJudged, NotPassed};
use super::verdict::{Failure, Passed, Refused, Screened, ScreenedTiming, ScreeningTiming, Wrong};

/// The state of a candidate that was only screened.
pub const SCREENED: &str = "screened, not verified";

/// The verdict of a kernel of that name.
#[must_use]
pub fn verdict(kernel: &str, verdict: &Result<Passed, NotPassed>) -> String {
    match verdict {
        Ok(passed) => describe_passed(kernel, passed),
        Err(reason) => not_passed(kernel, reason),
    }
}

/// Why a kernel of that name did not pass.
#[must_use]
pub fn not_passed(kernel: &str, reason: &NotPassed) -> String {
    match reason {
        NotPassed::Failed(failure) => describe_failure(kernel, failure),
        NotPassed::NotJudged(reason) => not_judged(kernel, reason),
    }
}

/// Why a kernel of that name was not judged.
#[must_use]
pub fn not_judged(kernel: &str, reason: &NotJudged) -> String {
    match reason {
        NotJudged::DeviceLost { step, reason } => {
            format!("{kernel} was not judged: the device failed ({step}): {reason}")
        }
        NotJudged::CrashesWorker { step, workload, death } => {
            let place = workload.as_ref().map(|name| format!(", workload `{name}`"));
            let place = place.unwrap_or_default();
            format!(
                "{kernel} was not judged: it crashes the device worker, twice in fresh processes ({death}; {step}{place})"
            )
        }
        NotJudged::NotSupported { reason } => {
            format!("{kernel} was not judged: not supported on this device: {reason}")
        }
        NotJudged::Cancelled => format!("{kernel} was cancelled"),
    }
}

/// The result of screening a kernel of that name. A screened kernel is never called correct.
#[must_use]
pub fn screening(kernel: &str, verdict: &Result<Screened, NotPassed>) -> String {
    match verdict {
        Ok(Screened { checks, timings, .. }) => {
            let names = checks.workloads.iter().map(|run| format!("`{}`", run.workload));
            let names: Vec<String> = names.collect();
            let seen =
                format!("{kernel} is {SCREENED}: nothing wrong was seen in {}", names.join(", "));
            timings
                .iter()
                .fold(seen, |told, each| format!("{told}; {}", describe_screening_timing(each)))
        }
        Err(reason) => not_passed(kernel, reason),
    }
}

/// A screening time, worded so that it is not taken for a result.
fn describe_screening_timing(timing: &ScreenedTiming) -> String {
    let ScreenedTiming { workload, timing: glance } = timing;
    match glance {
        ScreeningTiming::Taken(timing) => {
            let clock = match timing.clock {
                Clock::Modelled => "modelled at",
                Clock::Events { .. } | Clock::Cupti { .. } => "took about",
            };
            format!("`{workload}` {clock} {}", timing.summary.median)
        }
        ScreeningTiming::Abandoned { after } => {
            format!(
                "`{workload}` was abandoned after {after}: slower than the limit of the screening"
            )
        }
        ScreeningTiming::Withheld { reason, .. } => format!("`{workload}` has no time: {reason}"),
    }
}

fn describe_passed(kernel: &str, passed: &Passed) -> String {
    let checks = &passed.checks;
    let runs: usize = checks.workloads.iter().map(|run| run.runs).sum();
    let workloads = counted(checks.workloads.len(), "workload");
    let held_out = match checks.held_out {
        0 => "no held-out workload".to_owned(),
        count => format!("{count} held out"),
    };
    let order =
        if checks.deterministic { "" } else { ", outputs differ bitwise between thread orders" };
    let sampled = listed("; checked in sampled blocks", passed.sampled_sizes());
    let unchecked = listed("; not checked", passed.not_checked_sizes().map(|(name, _)| name));
    format!(
        "{kernel} is correct: {workloads} and {held_out}, {runs} runs{order}{sampled}{unchecked}"
    )
}

/// Names of workloads after `what`; empty where there are no names.
fn listed<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!("{what}: {}", names.join(", ")) }
}

/// A failure of a kernel of that name.
#[must_use]
pub fn describe_failure(kernel: &str, failure: &Failure) -> String {
    match failure {
        Failure::Compile(_) => format!("{kernel} does not compile"),
        Failure::Refused(refused) => format!("{kernel} is refused: {}", describe_refusal(refused)),
        Failure::Fault(fault) => {
            let causes = FaultReport::causes(&fault.faults);
            let kind = causes.first().map_or_else(String::new, |(fault, _)| word(fault.kind));
            let others = match causes.as_slice() {
                [] | [(_, 1)] => String::new(),
                [(_, count)] => format!(", {count} times,"),
                [_, others @ ..] => {
                    format!(" and {}", counted(others.len(), "more cause"))
                }
            };
            format!("{kernel} is faulty: {kind}{others} in workload `{}`", fault.workload)
        }
        Failure::Wrong(wrong) => describe_wrong_results(kernel, wrong),
        Failure::TimedOut { step, workload, limit, at } => {
            let place = workload.as_ref().map(|name| format!(" in workload `{name}`"));
            let (place, seconds) = (place.unwrap_or_default(), limit.as_secs_f64());
            let still = at.as_ref().map(|at| still_running(at)).unwrap_or_default();
            format!("{kernel} was stopped after {seconds} s{place} ({step}){still}")
        }
    }
}

/// Where a kernel was when its time limit ended it.
fn still_running(at: &FaultReport) -> String {
    let source = at.seen.as_ref().and_then(|seen| seen.place.source.as_ref());
    let place = source.map(|(file, line, _)| format!(" at {file}:{line}")).unwrap_or_default();
    format!(": {}{place}", at.details)
}

fn describe_refusal(refused: &Refused) -> String {
    match refused {
        Refused::Build(error) => error.to_string().replace('\n', "; "),
        Refused::Evidence(found) => {
            let first = found.first().map(|found| found.what.clone()).unwrap_or_default();
            match found.len() {
                0 | 1 => format!("it {first}"),
                count => format!("it {first}, and {} more", count - 1),
            }
        }
        Refused::Launch { workload, problems } => {
            format!("{}, in workload `{workload}`", problems.join("; "))
        }
        Refused::Load(reason) => reason.lines().next().unwrap_or_default().to_owned(),
        Refused::Memory(reason) => reason.clone(),
        Refused::Subnormals(flag) => describe_flushing_flag(flag),
    }
}

/// Why a flag is refused, and what to do.
#[must_use]
pub fn describe_flushing_flag(flag: &str) -> String {
    format!(
        "the flag `{flag}` replaces subnormal numbers by zeros, and the definition says `subnormals: keep`; remove the flag, \
         or write `ftz(false)` after it"
    )
}

fn describe_wrong_results(kernel: &str, wrong: &Wrong) -> String {
    let Wrong::Seen { kind, workload, outputs, details, .. } = wrong else {
        return format!("{kernel} is wrong in a held-out workload");
    };
    let how = match kind {
        WrongKind::Numeric => "wrong",
        WrongKind::Unwritten => "wrong: it leaves elements unwritten,",
        WrongKind::Stale => "wrong: it leaves the results of the run before",
        WrongKind::StateDependent => "wrong when it runs again",
        WrongKind::Imprecise => "not precise enough",
        WrongKind::Nan => "wrong: it computes NaN or infinity where the reference does not",
    };
    let what = match (outputs.first(), details) {
        (Some((name, wrongness)), None) => format!("; {}", describe_output(name, wrongness)),
        (Some((name, wrongness)), Some(details)) => {
            format!(" {details}; {}", describe_output(name, wrongness))
        }
        (None, Some(details)) => format!("; {details}"),
        (None, None) => String::new(),
    };
    format!("{kernel} is {how} in workload `{workload}`{what}")
}

/// One wrong output: how much of it, and how far off.
#[must_use]
pub fn describe_output(name: &str, wrong: &OutputError) -> String {
    if let (0, Some((found, accepted))) = (wrong.count, wrong.root_mean_square) {
        return format!(
            "the root mean square of the errors of `{name}` is {found:.2e}, {:.0} % of the \
             tolerance of {accepted:.2e}",
            100.0 * found / accepted
        );
    }
    let all: u64 = wrong.map.sizes.iter().sum();
    if wrong.kind == WrongKind::Unwritten {
        let first = wrong.first.as_ref().map(|first| format!(", first at {:?}", first.index));
        let first = first.unwrap_or_default();
        return format!(
            "{} of {all} elements of `{name}` are wrong or were never written{first}",
            wrong.count
        );
    }
    let elements = if all == 1 { "element" } else { "elements" };
    let worst = wrong.worst.as_ref().or(wrong.first.as_ref());
    let worst = worst.map(|worst| format!(", worst at {}", describe_mismatch(worst)));
    format!("{} of {all} {elements} of `{name}`{}", wrong.count, worst.unwrap_or_default())
}

/// `[3, 17]: 0.5, expected 0.25`
#[must_use]
pub fn describe_mismatch(mismatch: &Mismatch) -> String {
    let Mismatch { index, found, expected, .. } = mismatch;
    format!("{index:?}: {found}, expected {expected}")
}

fn word(kind: lightbench_project::launch::expectation::FaultKind) -> String {
    serde_json::to_value(kind)
        .ok()
        .and_then(|value| value.as_str().map(|word| word.replace('_', " ")))
        .unwrap_or_default()
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
