//! Virtual devices beside a GPU: several processes that load the same candidate and run it on several workloads at a
//! time while the GPU runs.

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, available_parallelism};
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_worker::error::Death;

use super::device_protocol::DeviceWorker;
use super::device_session::{OpenRequest, RunReport, RunRequest, SessionFailure};
use super::device_workers::{DeviceWorkerError, OPEN_LIMIT, replied};

/// Each holds a copy of a workload.
const MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// Processes that start when they are needed.
#[derive(Debug, Default)]
pub(super) struct Checkers {
    seats: Vec<CheckerProcess>,
    /// What each process opens before its first run.
    opening: Option<OpenRequest>,
}

/// A process, and whether it has opened the candidate and run nothing of it yet: what a run leaves in variables of the
/// module must not reach another one, because which process runs what is chance.
#[derive(Debug)]
struct CheckerProcess {
    handle: DeviceWorker,
    is_fresh: bool,
}

impl Checkers {
    /// As many as the machine has processors.
    pub(super) fn new(handle: impl Fn() -> DeviceWorker) -> Self {
        let most = available_parallelism().unwrap_or(NonZeroUsize::MIN).min(MOST).get();
        let seats =
            (0..most).map(|_| CheckerProcess { handle: handle(), is_fresh: false }).collect();
        Self { seats, opening: None }
    }

    /// Loads a candidate; `Ok(Err(reason))` where a virtual device cannot load it.
    pub(super) fn open(
        &mut self,
        opening: OpenRequest,
        cancellation: &Cancellation,
    ) -> Result<Result<(), String>, DeviceWorkerError> {
        self.seats.iter_mut().for_each(|seat| seat.is_fresh = false);
        let opening = self.opening.insert(opening);
        let Some(first) = self.seats.first_mut() else { return Ok(Ok(())) };
        match first.open(opening, cancellation) {
            Ok(()) => Ok(Ok(())),
            Err(DeviceWorkerError::Failed(
                SessionFailure::Load(reason) | SessionFailure::NotSupported(reason),
            )) => Ok(Err(reason)),
            Err(error) => Err(error),
        }
    }

    /// Carries out requests on separate threads while `meanwhile` runs, which may wait for the reports.
    ///
    /// # Errors
    /// The system has no more threads; `meanwhile` did not run.
    pub(super) fn run_concurrently<T>(
        &mut self,
        (orders, cancellation, reports): (&[(RunRequest, Duration)], &Cancellation, &Reports),
        meanwhile: impl FnOnce() -> T,
    ) -> io::Result<T> {
        std::thread::scope(|scope| {
            let thread = Builder::new().name("checkers".to_owned());
            thread.spawn_scoped(scope, || self.run_all(orders, cancellation, reports))?;
            Ok(meanwhile())
        })
    }

    /// Starts the requests in their order; publishes each report as soon as it arrives.
    fn run_all(
        &mut self,
        orders: &[(RunRequest, Duration)],
        cancellation: &Cancellation,
        reports: &Reports,
    ) {
        let _ended = Ended(reports);
        let Some(opening) = &self.opening else { return };
        let next = AtomicUsize::new(0);
        let serve = |seat: &mut CheckerProcess| {
            while !cancellation.is_cancelled() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some((order, limit)) = orders.get(index) else { break };
                let report = seat.run(opening, order.clone(), *limit, cancellation);
                reports.publish(index, report);
            }
        };
        std::thread::scope(|scope| {
            let mut seats = self.seats.iter_mut().take(orders.len());
            let own = seats.next();
            for seat in seats {
                let thread = Builder::new().name("checker".to_owned());
                // If no thread starts, the other threads carry out its requests.
                let _fewer = thread.spawn_scoped(scope, || serve(seat));
            }
            if let Some(seat) = own {
                serve(seat);
            }
        });
    }

    /// Ends all processes.
    pub(super) fn stop(&mut self) {
        self.seats.iter_mut().for_each(|seat| seat.handle.stop());
    }

    /// How processes ended that were found dead when they were needed.
    pub(super) fn take_replaced(&mut self) -> Vec<Death> {
        self.seats.iter_mut().flat_map(|seat| seat.handle.take_replaced()).collect()
    }
}

impl CheckerProcess {
    fn open(
        &mut self,
        opening: &OpenRequest,
        cancellation: &Cancellation,
    ) -> Result<(), DeviceWorkerError> {
        replied(self.handle.call(opening.clone(), OPEN_LIMIT, cancellation))?;
        self.is_fresh = true;
        Ok(())
    }

    fn run(
        &mut self,
        opening: &OpenRequest,
        order: RunRequest,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<RunReport, DeviceWorkerError> {
        if !(self.is_fresh && self.handle.is_running()) {
            self.open(opening, cancellation)?;
        }
        self.is_fresh = false;
        replied(self.handle.call_same(order, limit, cancellation))
    }
}

/// Reports of requests, for a thread that waits for them.
#[derive(Debug)]
pub(super) struct Reports {
    known: Mutex<ReportState>,
    changed: Condvar,
}

#[derive(Debug)]
struct ReportState {
    reports: Vec<Option<Result<RunReport, DeviceWorkerError>>>,
    has_ended: bool,
}

impl Reports {
    /// For `count` requests.
    pub(super) fn new(count: usize) -> Self {
        let reports = (0..count).map(|_| None).collect();
        Self {
            known: Mutex::new(ReportState { reports, has_ended: false }),
            changed: Condvar::new(),
        }
    }

    /// Waits for the report of a request and takes it.
    pub(super) fn take(&self, index: usize) -> Result<RunReport, DeviceWorkerError> {
        let mut known = self.lock();
        loop {
            if let Some(report) = known.reports.get_mut(index).and_then(Option::take) {
                return report;
            }
            if known.has_ended {
                // Only a cancellation, or a defect of Lightbench, ends before all reports are published.
                return Err(DeviceWorkerError::Cancelled);
            }
            known = self.changed.wait(known).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn publish(&self, index: usize, report: Result<RunReport, DeviceWorkerError>) {
        if let Some(place) = self.lock().reports.get_mut(index) {
            *place = Some(report);
        }
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ReportState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks on drop that no more reports arrive, even after a panic.
struct Ended<'a>(&'a Reports);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.changed.notify_all();
    }
}
