//! Energy of an execution: repeats the work for seconds and reads the energy counter of the GPU.

use std::time::{Duration, Instant};

use lightbench_measure::Mode;
use lightbench_measure::energy::{Joules, Window};
use lightbench_measure::statistics::median;
use lightbench_units::Seconds;

use super::super::prepared::Prepared;
use super::{Stopwatch, StopwatchError, Submission};
use crate::timing::Sampling;

/// Idle time before the idle power is measured, and the duration of that measurement.
const SETTLE: Duration = Duration::from_millis(300);
const IDLE: Duration = Duration::from_millis(600);

/// Duration of the warm-up.
const RUN_UP: Duration = Duration::from_millis(300);

/// Measured windows. The counter is updated a few dozen times per second, so shorter windows would show its steps.
const WINDOWS: usize = 6;
const WINDOW: Duration = Duration::from_millis(400);

/// Duration of the executions of one graph, and of the executions between two synchronisations.
const GRAPH: f64 = 1e-3;
const TOGETHER: f64 = 20e-3;

/// Maximum executions of a graph.
const MOST_BATCH: f64 = 256.0;

/// Energy of the idle device, and of the device during the work.
pub(in super::super) struct EnergyWindows {
    pub(in super::super) idle: Window,
    pub(in super::super) busy: Vec<Window>,
}

impl Stopwatch {
    /// `None` if the counter cannot be read.
    pub(in super::super) fn metered(
        &mut self,
        work: &Prepared,
        counter: &mut dyn FnMut() -> Option<Joules>,
    ) -> Result<Option<EnergyWindows>, StopwatchError> {
        self.detach();
        let once = Sampling::single(Mode::Warm, 3);
        let mut times: Vec<f64> = self.readings(work, once)?.iter().map(|time| time.0).collect();
        let once = median(&mut times).unwrap_or(GRAPH).max(1e-7);
        let batch = (GRAPH / once).ceil().clamp(1.0, MOST_BATCH);
        let together = (TOGETHER / (once * batch)).ceil().clamp(1.0, MOST_BATCH);
        let (batch, together) = (batch as u32, together as u32);
        let way = self.way(work, Mode::Warm, batch)?;
        self.idle(SETTLE)?;
        let Some(idle) = window(counter, || {
            std::thread::sleep(IDLE);
            Ok(0)
        })?
        else {
            return Ok(None);
        };
        let each = u64::from(batch) * u64::from(together);
        self.run_for(RUN_UP, (work, &way, together))?;
        let mut busy = Vec::new();
        for _ in 0..WINDOWS {
            let run = || Ok(each * self.run_for(WINDOW, (work, &way, together))?);
            let Some(window) = window(counter, run)? else { return Ok(None) };
            busy.push(window);
        }
        Ok(Some(EnergyWindows { idle, busy }))
    }

    /// Runs the work for at least this time; returns the number of synchronisations.
    fn run_for(
        &self,
        duration: Duration,
        (work, way, together): (&Prepared, &Submission, u32),
    ) -> Result<u64, StopwatchError> {
        let (started, mut waits) = (Instant::now(), 0);
        while started.elapsed() < duration {
            (0..together).try_for_each(|_| self.execute(work, way))?;
            self.stream.synchronise().map_err(StopwatchError::Kernel)?;
            waits += 1;
        }
        Ok(waits)
    }
}

/// Reads the counter around a function that returns its number of executions.
fn window(
    counter: &mut dyn FnMut() -> Option<Joules>,
    run: impl FnOnce() -> Result<u64, StopwatchError>,
) -> Result<Option<Window>, StopwatchError> {
    let (before, started) = (counter(), Instant::now());
    let executions = run()?;
    let (after, elapsed) = (counter(), Seconds(started.elapsed().as_secs_f64()));
    let energy = before.zip(after).map(|(before, after)| Joules(after.0 - before.0));
    Ok(energy.map(|energy| Window { energy, elapsed, executions }))
}
