//! Virtual devices beside a GPU: several processes that load the same candidate and run it on several workloads at a
//! time while the GPU runs.

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, available_parallelism};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use lightbench_primitives::cancellation::Cancellation;
use lightbench_worker::error::Death;

use super::device_session::{OpenRequest, RunReport, RunRequest, SessionFailure};
use super::device_worker::DeviceWorker;
use super::device_workers::{DeviceWorkerError, OPEN_LIMIT, replied};

/// Each holds a copy of a workload.
const MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// Processes of a virtual device that run a candidate at a time: as many as the machine has processors.
pub(super) fn processes_at_a_time() -> usize {
    available_parallelism().unwrap_or(NonZeroUsize::MIN).min(MOST).get()
}

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
    /// As many as run at a time.
    pub(super) fn new(handle: impl Fn() -> DeviceWorker) -> Self {
        let seats = (0..processes_at_a_time())
            .map(|_| CheckerProcess { handle: handle(), is_fresh: false })
            .collect();
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
        (orders, cancellation, senders): (&[(RunRequest, Duration)], &Cancellation, ReportSenders),
        meanwhile: impl FnOnce() -> T,
    ) -> io::Result<T> {
        std::thread::scope(|scope| {
            let thread = Builder::new().name("checkers".to_owned());
            // The thread drops the senders at its end, even after a panic: that ends the wait for reports that do not come.
            thread.spawn_scoped(scope, move || self.run_all(orders, cancellation, &senders))?;
            Ok(meanwhile())
        })
    }

    /// Starts the requests in their order; sends each report as soon as it arrives.
    fn run_all(
        &mut self,
        orders: &[(RunRequest, Duration)],
        cancellation: &Cancellation,
        senders: &ReportSenders,
    ) {
        let Some(opening) = &self.opening else { return };
        let next = AtomicUsize::new(0);
        let serve = |seat: &mut CheckerProcess| {
            while !cancellation.is_cancelled() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some((order, limit)) = orders.get(index) else { break };
                let report = seat.run(opening, order.clone(), *limit, cancellation);
                senders.send(index, report);
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

type Report = Result<RunReport, DeviceWorkerError>;

/// Reports of requests, for a thread that waits for them: a channel for each request.
#[derive(Debug)]
pub(super) struct Reports(Vec<Receiver<Report>>);

/// The other ends of the channels of [`Reports`].
#[derive(Debug)]
pub(super) struct ReportSenders(Vec<Sender<Report>>);

/// Channels for the reports of `count` requests.
pub(super) fn report_channels(count: usize) -> (ReportSenders, Reports) {
    let (senders, receivers) = (0..count).map(|_| bounded(1)).unzip();
    (ReportSenders(senders), Reports(receivers))
}

impl Reports {
    /// Waits for the report of a request and takes it.
    pub(super) fn take(&self, index: usize) -> Report {
        let report = self.0.get(index).and_then(|receiver| receiver.recv().ok());
        // Only a cancellation, or a defect of Lightbench, ends before all reports are sent.
        report.unwrap_or(Err(DeviceWorkerError::Cancelled))
    }
}

impl ReportSenders {
    fn send(&self, index: usize, report: Report) {
        if let Some(sender) = self.0.get(index) {
            // Fails if nothing waits for reports any more. It never waits: each request has one report.
            let _unread = sender.send(report);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_does_not_come_ends_the_wait() {
        let (senders, reports) = report_channels(2);
        let late = || DeviceWorkerError::Failed(SessionFailure::Load("late".to_owned()));
        let taken = std::thread::scope(|scope| {
            let thread = Builder::new().spawn_scoped(scope, || [reports.take(1), reports.take(0)]);
            senders.send(1, Err(late()));
            // The thread waits for report 0, which never comes.
            drop(senders);
            thread.unwrap().join().unwrap()
        });
        assert!(matches!(taken[0], Err(DeviceWorkerError::Failed(_))), "{:?}", taken[0]);
        assert!(matches!(taken[1], Err(DeviceWorkerError::Cancelled)), "{:?}", taken[1]);
        assert!(matches!(reports.take(2), Err(DeviceWorkerError::Cancelled)));
    }
}
