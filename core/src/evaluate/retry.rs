//! Repeats an attempt in fresh processes if a worker process ended unexpectedly.
//!
//! The whole attempt is repeated, not the one request: the result of a run may depend on memory left by the previous run.

use super::EvaluationContext;
use crate::verify::not_judged::NotJudged;
use crate::verify::verification::{Stop, WorkerLoss};
use crate::worker::end::WorkerRole;

/// Runs `attempt`, and repeats it once in fresh processes if a worker process ended unexpectedly.
pub(super) fn with_fresh_workers<T>(
    context: &mut EvaluationContext,
    mut attempt: impl FnMut(&mut EvaluationContext) -> Result<T, Stop>,
) -> Result<T, Stop> {
    let first = match attempt(context) {
        Err(Stop::WorkerEnded(first)) => first,
        done => return done,
    };
    context.workers.replace_all(first.end.death);
    match attempt(context) {
        Err(Stop::WorkerEnded(second)) => {
            context.workers.replace_all(second.end.death);
            Err(classify_losses(&first, *second))
        }
        done => done,
    }
}

/// Classifies the unexpected ends of two workers. Two crashes of the candidate's worker in the same step and workload are
/// attributed to the candidate; all other cases are errors of the machine.
fn classify_losses(first: &WorkerLoss, second: WorkerLoss) -> Stop {
    let crashes = [first, &second]
        .iter()
        .all(|loss| loss.end.is_crash() && loss.end.role == WorkerRole::Candidate);
    let same_place = (first.step, &first.workload) == (second.step, &second.workload);
    if !(crashes && same_place) {
        return Stop::Broken(second.in_two_processes());
    }
    let WorkerLoss { end, step, workload } = second;
    Stop::NotJudged(NotJudged::CrashesWorker { step, workload, death: end.death })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::verdict::Step;
    use crate::worker::end::WorkerEnd;
    use crate::worker::error::{Death, Stage};

    fn loss(role: WorkerRole, number: i32, workload: &str) -> WorkerLoss {
        let death = Death::Signal { number };
        let during = Stage::Call;
        let end = WorkerEnd { role, during, death, stderr_tail: Vec::new(), oom_kills: 0 };
        WorkerLoss { end, step: Step::Results, workload: Some(workload.to_owned()) }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_two_crashes_of_the_candidates_worker_in_one_place_are_its_own_outcome() {
        use WorkerRole::{Candidate, Reference};
        let check = |first: WorkerLoss, second: WorkerLoss, expected| {
            let text = format!("{first:?}, {second:?}");
            let stop = classify_losses(&first, second);
            let found = match &stop {
                Stop::NotJudged(NotJudged::CrashesWorker { .. }) => "crashes the worker",
                Stop::Broken(message) => {
                    assert!(message.contains("two processes"), "{message}");
                    "environment"
                }
                Stop::NotJudged(_)
                | Stop::ReferenceTooLarge(_)
                | Stop::Failure(_)
                | Stop::WorkerEnded(_)
                | Stop::Request(_) => "something else",
            };
            assert_eq!(found, expected, "{text}");
        };
        let [segv, abort, kill, term] = [11, 6, 9, 15];
        check(loss(Candidate, segv, "a"), loss(Candidate, abort, "a"), "crashes the worker");
        check(loss(Candidate, segv, "a"), loss(Candidate, segv, "b"), "environment");
        check(loss(Candidate, kill, "a"), loss(Candidate, kill, "a"), "environment");
        check(loss(Candidate, term, "a"), loss(Candidate, segv, "a"), "environment");
        check(loss(Reference, segv, "a"), loss(Reference, segv, "a"), "environment");
    }
}
