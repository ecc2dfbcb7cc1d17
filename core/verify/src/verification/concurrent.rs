//! Checks that no other check depends on. Where a virtual device of this machine judges a candidate, further processes of
//! it carry them out while the other checks follow each other.
//!
//! Each of these checks opens the candidate anew, because which process carries it out is chance. Their results are used
//! in a fixed order, so that the first failure of a verification does not depend on the number of processes.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope};

use crossbeam_channel::{Receiver, Sender, bounded};
use lightbench_measure::protocol::Protocol;

use super::{Stop, Verification, open};
use crate::compiled_candidate::CompiledReference;
use crate::device_workers::DeviceWorkers;
use crate::not_judged::NotJudged;
use crate::verdict::{Checks, Step, WorkloadRun, WorkloadTiming};

/// A check that no other one depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Task {
    /// Inputs from the whole domain.
    Domain,
    /// Sampled blocks and the modelled time of the measured workload with this index.
    Size(usize, Protocol),
    /// The run with indices beyond 32 bits.
    LargeIndices,
}

/// The checks that a task did, and its result: a time for [`Task::Size`].
type Finished = (Checks, Result<Option<WorkloadTiming>, Stop>);

/// The tasks of a verification. The thread that carries one out owns the sender of its result, so that a panic ends the
/// wait for it.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    waiting: Mutex<VecDeque<(Task, Sender<Finished>)>>,
    finished: Vec<(Task, Receiver<Finished>)>,
}

impl Tasks {
    fn new(tasks: impl Iterator<Item = Task>) -> Self {
        let (mut waiting, mut finished) = (VecDeque::new(), Vec::new());
        for task in tasks {
            let (sender, receiver) = bounded(1);
            waiting.push_back((task, sender));
            finished.push((task, receiver));
        }
        Self { waiting: Mutex::new(waiting), finished }
    }

    fn next(&self) -> Option<(Task, Sender<Finished>)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl<'a> Verification<'a> {
    /// Calls `then` while further processes carry out tasks, if the device permits several.
    pub(super) fn with_tasks<T>(
        &mut self,
        tasks: impl Iterator<Item = Task>,
        then: impl FnOnce(&mut Self, &Tasks) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        // A reference in Python has one process, which keeps its results.
        let is_python = matches!(self.subject.reference, CompiledReference::Python(_));
        if !self.workers.has_siblings() || is_python {
            return then(self, &Tasks::default());
        }
        let (tasks, token) = (Tasks::new(tasks), self.cancellation.child());
        let siblings = self.workers.siblings(tasks.finished.len());
        let mut siblings = siblings.map_err(|error| Stop::Broken(error.to_string()))?;
        let (subject, seed, sampling) = (self.subject, self.seed, self.sampling.clone());
        let serve = |workers: &mut DeviceWorkers| {
            let (mut watcher, sampling) = (|_: Step, _: Option<&str>| (), sampling.clone());
            let (cancellation, checks) = (&token, Checks::default());
            let mut beside = Verification {
                subject,
                workers,
                seed,
                cancellation,
                watcher: &mut watcher,
                checks,
                sampling,
                suspicion: None,
            };
            while let Some(next) = tasks.next()
                && !token.is_cancelled()
            {
                let _succeeded = beside.carry_out_alone(next);
            }
        };
        scope(|scope| {
            for workers in &mut siblings {
                let thread = Builder::new().name("beside".to_owned());
                // If no thread starts, the other threads carry out its tasks.
                let _fewer = thread.spawn_scoped(scope, || serve(workers));
            }
            // After a failure the remaining tasks are cancelled.
            then(self, &tasks).inspect_err(|_| token.cancel())
        })
    }

    /// Carries out a task in a module that has not run, with checks of its own, and sends the result. Returns whether it
    /// succeeded: the process of a run that failed takes no further requests.
    fn carry_out_alone(&mut self, (task, sender): (Task, Sender<Finished>)) -> bool {
        let runs = self.subject.workloads.iter().map(|trial| WorkloadRun {
            workload: trial.case.workload.clone(),
            seed: 0,
            runs: 0,
            warp_instructions: None,
        });
        let checks = Checks { workloads: runs.collect(), ..Checks::default() };
        let own = std::mem::replace(&mut self.checks, checks);
        let (subject, cancellation) = (self.subject, self.cancellation);
        let opened = open(self.workers, subject, &subject.candidate, cancellation);
        let done = opened.and_then(|()| self.carry_out(task));
        let checks = std::mem::replace(&mut self.checks, own);
        let succeeded = done.is_ok();
        // Fails if nothing waits for it any more.
        let _unread = sender.send((checks, done));
        succeeded
    }

    fn carry_out(&mut self, task: Task) -> Result<Option<WorkloadTiming>, Stop> {
        match task {
            Task::Domain => self.domain().map(|()| None),
            Task::Size(index, protocol) => {
                let trial = &self.subject.measured[index];
                self.sampled_and_modelled(trial, protocol).map(Some)
            }
            Task::LargeIndices => {
                self.sampling.reserve();
                self.check_large_indices().map(|()| None)
            }
        }
    }

    /// The result of a task; it is carried out now where nothing else does. Until it is there, this thread carries out
    /// waiting tasks.
    pub(super) fn finish(
        &mut self,
        task: Task,
        tasks: &Tasks,
    ) -> Result<Option<WorkloadTiming>, Stop> {
        let Some((_, finished)) = tasks.finished.iter().find(|(known, _)| *known == task) else {
            return self.carry_out(task);
        };
        while finished.is_empty()
            && let Some(next) = tasks.next()
        {
            if !self.carry_out_alone(next) {
                // An earlier check may have another failure.
                open(self.workers, self.subject, &self.subject.candidate, self.cancellation)?;
            }
        }
        match task {
            Task::Domain => (self.watcher)(Step::Distributions, None),
            Task::Size(index, _) => {
                let name = &self.subject.measured[index].case.workload;
                (self.watcher)(Step::Measure, Some(name));
            }
            Task::LargeIndices => {
                if let Some(large) = &self.subject.large_indices {
                    (self.watcher)(Step::Results, Some(&large.trial.case.workload));
                }
            }
        }
        let Ok((checks, done)) = finished.recv() else {
            return Err(NotJudged::Cancelled.into());
        };
        self.checks.add(checks);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_carried_out_once() {
        let protocol = Protocol::FINAL;
        let tasks = Tasks::new([Task::Domain, Task::Size(0, protocol)].into_iter());
        let (first, sender) = tasks.next().unwrap();
        assert_eq!(first, Task::Domain);
        sender.send((Checks::default(), Ok(None))).unwrap();
        assert!(matches!(tasks.finished[0].1.recv(), Ok((_, Ok(None)))));
        assert_eq!(tasks.next().map(|(task, _)| task), Some(Task::Size(0, protocol)));
        assert!(tasks.next().is_none());
    }

    #[test]
    fn a_thread_that_ends_without_a_result_ends_the_wait() {
        let tasks = Tasks::new(std::iter::once(Task::Domain));
        drop(tasks.next());
        assert!(tasks.finished[0].1.recv().is_err());
    }
}
