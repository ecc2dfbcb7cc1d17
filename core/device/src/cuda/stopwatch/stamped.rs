//! Times by the driver's time stamps, where they are available.

use lightbench_measure::statistics::median;
use lightbench_measure::{Mode, NoStamps};
use lightbench_units::Seconds;

use super::super::cupti::Cupti;
use super::super::prepared::Prepared;
use super::super::stamps::Calls;
use super::super::stream::reset_persisting_l2;
use super::{ALONE, READINGS, Stopwatch, StopwatchError, plain};
use crate::timing::{Sampling, Timekeeping};

/// The clock of single launches.
#[derive(Clone, Copy, Debug)]
pub(super) enum SingleLaunchTimer {
    Events,
    Cupti {
        cupti: &'static Cupti,
        is_attached: bool,
        offset: Seconds,
    },
    /// Events, because time stamps are unavailable.
    Without(NoStamps),
}

impl Stopwatch {
    /// Selects the clock of single launches.
    pub(in super::super) fn keep_time(&mut self, by: &Timekeeping) -> Result<(), StopwatchError> {
        match (by, self.keeper) {
            (Timekeeping::Events, _) => {
                self.detach();
                self.keeper = SingleLaunchTimer::Events;
            }
            (Timekeeping::Cupti(places), SingleLaunchTimer::Events) => match Cupti::get(places) {
                Ok(cupti) => {
                    let offset = Seconds(0.0);
                    self.keeper = SingleLaunchTimer::Cupti { cupti, is_attached: false, offset };
                    self.set_stamps_offset()?;
                }
                Err(reason) => self.keeper = SingleLaunchTimer::Without(reason),
            },
            (
                Timekeeping::Cupti(_),
                SingleLaunchTimer::Cupti { .. } | SingleLaunchTimer::Without(_),
            ) => {}
        }
        Ok(())
    }

    /// Samples of one execution each by the driver's time stamps; `None` if the records do not match the enqueued
    /// calls.
    pub(super) fn stamped(
        &mut self,
        cupti: &'static Cupti,
        (work, calls): (&Prepared, &Calls),
        Sampling { mode, samples, pause, .. }: Sampling,
    ) -> Result<Result<Vec<Seconds>, NoStamps>, StopwatchError> {
        if let Err(reason) = self.attach() {
            return Ok(Err(reason));
        }
        reset_persisting_l2()?;
        for _ in 0..samples {
            self.put_right(work)?;
            self.poison(work)?;
            match mode {
                Mode::Cold => self.flush()?,
                Mode::Server => self.idle(pause)?,
                Mode::Warm | Mode::Graph => {}
            }
            self.start(work)?;
        }
        self.stream.synchronise().map_err(StopwatchError::Kernel)?;
        Ok(cupti.take().and_then(|records| calls.spans(&records, samples as usize)))
    }

    fn attach(&mut self) -> Result<(), NoStamps> {
        if let SingleLaunchTimer::Cupti { cupti, is_attached, .. } = &mut self.keeper {
            if !*is_attached {
                cupti.attach()?;
                *is_attached = true;
            }
            // Discards the records of other launches.
            cupti.take()?;
        }
        Ok(())
    }

    /// Stops recording: time stamps cost device time, which must affect only the launches that they measure.
    pub(super) fn detach(&mut self) {
        let SingleLaunchTimer::Cupti { cupti, is_attached, .. } = &mut self.keeper else { return };
        if std::mem::take(is_attached)
            && let Err(reason) = cupti.detach()
        {
            self.keeper = SingleLaunchTimer::Without(reason);
        }
    }

    /// Measures by how much time stamps underestimate the known time of an empty kernel.
    fn set_stamps_offset(&mut self) -> Result<(), StopwatchError> {
        let SingleLaunchTimer::Cupti { cupti, .. } = self.keeper else { return Ok(()) };
        let work = self.nothing(plain(1, 32))?;
        // The first readings wake the device up.
        let sampling = Sampling::single(Mode::Cold, READINGS);
        let calls = work.only_call(sampling.mode).unwrap_or_default();
        let woken = self.stamped(cupti, (&work, &calls), sampling)?;
        match woken.and(self.stamped(cupti, (&work, &calls), sampling)?) {
            Ok(times) => {
                let mut times: Vec<f64> = times.iter().map(|time| time.0).collect();
                let told = Seconds(median(&mut times).unwrap_or(f64::NAN));
                if let SingleLaunchTimer::Cupti { offset, .. } = &mut self.keeper {
                    *offset = told - ALONE;
                }
            }
            Err(reason) => {
                self.detach();
                self.keeper = SingleLaunchTimer::Without(reason);
            }
        }
        Ok(())
    }
}
