//! Measurements that only a GPU supports: the clock, launch floors and energy.

use lightbench_measure::{Energy, EnergyError};
use lightbench_units::Seconds;

use super::device::CudaDevice;
use super::driver::error;
use super::stopwatch::StopwatchError;
use crate::error::DeviceError;
use crate::execution::Instruments;
use crate::timing::{Timekeeping, Work};

impl Instruments for CudaDevice {
    fn keep_time(&mut self, by: &Timekeeping) {
        self.timekeeping.clone_from(by);
    }

    fn launch_floor(&mut self, work: &Work) -> Result<Option<Seconds>, DeviceError> {
        let (prepared, (stopwatch, _)) = self.ready(work)?;
        stopwatch.launch_floor(&prepared).map_err(lost)
    }

    fn energy(&mut self, work: &Work) -> Result<Result<Energy, EnergyError>, DeviceError> {
        let (prepared, (stopwatch, telemetry)) = self.ready(work)?;
        if !prepared.restore.is_empty() {
            return Ok(Err(EnergyError::Restores));
        }
        let Some(telemetry) = telemetry else { return Ok(Err(EnergyError::NoCounter)) };
        let metered = stopwatch.metered(&prepared, &mut || telemetry.energy());
        Ok(match metered.map_err(lost)? {
            Some(metered) => Energy::from_windows(&metered.idle, &metered.busy),
            None => Err(EnergyError::NoCounter),
        })
    }
}

/// Earlier runs of the same work succeeded, so a kernel that fails now means that the device is lost.
fn lost(trouble: StopwatchError) -> DeviceError {
    match trouble {
        StopwatchError::Driver(error) => error.into(),
        StopwatchError::Library(error) => error.into(),
        StopwatchError::Kernel(code) => error("cuStreamSynchronize", code).into(),
    }
}
