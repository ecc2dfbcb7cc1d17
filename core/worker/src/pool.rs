//! A pool of workers of one service, for independent requests.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use lightbench_primitives::cancellation::Cancellation;

use crate::command::WorkerCommand;
use crate::error::Death;
use crate::handle::WorkerHandle;
use crate::protocol::{Configuration, Protocol};

/// Workers that start on demand and keep running between calls of [`WorkerPool::each`].
#[derive(Debug)]
pub struct WorkerPool<P: Protocol> {
    command: WorkerCommand,
    configuration: Configuration<P::Options>,
    most: NonZeroUsize,
    handles: Vec<WorkerHandle<P>>,
}

/// Effect of an outcome on the later work items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowingWork {
    /// Later items are carried out.
    Continue,
    /// Later items do not begin, and those that run are cancelled.
    Cancel,
}

impl<P: Protocol> WorkerPool<P> {
    /// A pool without running workers.
    #[must_use]
    pub fn new(
        command: WorkerCommand,
        configuration: Configuration<P::Options>,
        most: NonZeroUsize,
    ) -> Self {
        Self { command, configuration, most, handles: Vec::new() }
    }

    /// Takes the record of how replaced workers ended.
    pub fn take_replaced(&mut self) -> Vec<Death> {
        self.handles.iter_mut().flat_map(WorkerHandle::take_replaced).collect()
    }

    /// Carries out `works` in parallel and returns their outcomes in the same order. An item has no outcome if an earlier
    /// item returned [`FollowingWork::Cancel`], or if a cancellation came before the item began.
    ///
    /// Items begin in order: every item before the first [`FollowingWork::Cancel`] has an outcome.
    pub fn each<Work: Sync, Value: Send>(
        &mut self,
        works: &[Work],
        cancellation: &Cancellation,
        carry_out: impl Fn(&mut WorkerHandle<P>, &Work, &Cancellation) -> Value + Sync,
        afterwards: impl Fn(&Work, &Value) -> FollowingWork + Sync,
    ) -> Vec<Option<Value>> {
        let wanted = works.len().min(self.most.get());
        while self.handles.len() < wanted {
            self.handles.push(WorkerHandle::new(self.command.clone(), self.configuration.clone()));
        }
        let queue = Queue::new(works.len());
        let serve = |handle: &mut WorkerHandle<P>| {
            while let Some((index, token)) = queue.begin(cancellation) {
                let Some(work) = works.get(index) else { break };
                let value = carry_out(handle, work, &token);
                let afterwards = afterwards(work, &value);
                queue.end(index, value, afterwards);
            }
        };
        std::thread::scope(|scope| {
            let mut handles = self.handles.iter_mut().take(wanted);
            // The calling thread takes part: a single item starts no thread.
            let own = handles.next();
            for handle in handles {
                let thread = Builder::new().name("worker-pool".to_owned());
                // If no thread can be started, the other threads process its items.
                let _fewer = thread.spawn_scoped(scope, || serve(handle));
            }
            if let Some(handle) = own {
                serve(handle);
            }
        });
        queue.outcomes()
    }
}

/// The next item and the outcomes so far.
struct Queue<Value> {
    state: Mutex<State<Value>>,
}

struct State<Value> {
    next: usize,
    /// Items from this index on are not carried out.
    end: usize,
    running: Vec<(usize, Cancellation)>,
    outcomes: Vec<Option<Value>>,
}

impl<Value> Queue<Value> {
    fn new(length: usize) -> Self {
        let outcomes = (0..length).map(|_| None).collect();
        let state = State { next: 0, end: length, running: Vec::new(), outcomes };
        Self { state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State<Value>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, cancellation: &Cancellation) -> Option<(usize, Cancellation)> {
        let mut state = self.lock();
        let index = state.next;
        if index >= state.end || cancellation.is_cancelled() {
            return None;
        }
        state.next += 1;
        let token = cancellation.child();
        state.running.push((index, token.clone()));
        Some((index, token))
    }

    fn end(&self, index: usize, value: Value, afterwards: FollowingWork) {
        let mut state = self.lock();
        state.running.retain(|(running, _)| *running != index);
        if let Some(outcome) = state.outcomes.get_mut(index) {
            *outcome = Some(value);
        }
        if afterwards == FollowingWork::Cancel && index < state.end {
            state.end = index + 1;
            let later = state.running.iter().filter(|(running, _)| *running > index);
            later.for_each(|(_, token)| token.cancel());
        }
    }

    fn outcomes(self) -> Vec<Option<Value>> {
        let State { end, mut outcomes, .. } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcomes.iter_mut().skip(end).for_each(|unwanted| *unwanted = None);
        outcomes
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A service that is never started.
    #[derive(Debug)]
    struct Never;

    impl Protocol for Never {
        const SERVICE: &'static str = "never";
        const BUILD: &'static str = "test";
        type Options = ();
        type Facts = ();
        type Request = ();
    }

    const PATIENCE: Duration = Duration::from_secs(10);

    /// Outcomes of work that sends no request.
    fn outcomes(
        most: usize,
        works: &[u32],
        carry_out: impl Fn(u32, &Cancellation) -> Result<u32, u32> + Sync,
    ) -> Vec<Option<Result<u32, u32>>> {
        let most = NonZeroUsize::new(most).unwrap();
        let command = WorkerCommand::new("never started", [""; 0]);
        let mut pool = WorkerPool::<Never>::new(command, Configuration::default(), most);
        let end = |_: &u32, value: &Result<u32, u32>| match value {
            Ok(_) => FollowingWork::Continue,
            Err(_) => FollowingWork::Cancel,
        };
        let outcomes =
            pool.each(works, &Cancellation::new(), |_, work, token| carry_out(*work, token), end);
        assert!(pool.handles.len() <= works.len().min(most.get()));
        outcomes
    }

    fn wait_until(condition: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !condition() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert!(condition());
    }

    #[test]
    fn outcomes_have_the_order_of_the_work() {
        for most in [1, 2, 5] {
            let works: Vec<u32> = (0..20).collect();
            let found = outcomes(most, &works, |work, _| Ok(2 * work));
            let expected: Vec<_> = works.iter().map(|work| Some(Ok(2 * work))).collect();
            assert_eq!(found, expected, "{most} at a time");
        }
    }

    #[test]
    fn the_first_failure_in_order_cancels_later_items_only() {
        // The second item fails at once while the first still runs; the third runs until it is cancelled.
        let failed = Cancellation::new();
        let found = outcomes(3, &[0, 1, 2, 3], |work, token| match work {
            0 => {
                wait_until(|| failed.is_cancelled());
                Ok(0)
            }
            1 => {
                failed.cancel();
                Err(1)
            }
            _ => {
                wait_until(|| token.is_cancelled());
                Ok(work)
            }
        });
        assert_eq!(found, [Some(Ok(0)), Some(Err(1)), None, None]);
    }

    #[test]
    fn an_earlier_failure_counts_even_if_it_finishes_later() {
        let failed = Cancellation::new();
        let found = outcomes(2, &[0, 1], |work, _| {
            if work == 0 {
                wait_until(|| failed.is_cancelled());
            } else {
                failed.cancel();
            }
            Err(work)
        });
        assert_eq!(found, [Some(Err(0)), None]);
    }

    #[test]
    fn nothing_begins_after_a_cancellation() {
        let cancellation = Cancellation::new();
        cancellation.cancel();
        let command = WorkerCommand::new("never started", [""; 0]);
        let most = NonZeroUsize::MIN;
        let mut pool = WorkerPool::<Never>::new(command, Configuration::default(), most);
        let go_on = |_: &u32, (): &()| FollowingWork::Continue;
        assert_eq!(pool.each(&[1, 2], &cancellation, |_, _, _| (), go_on), [None, None]);
    }
}
