//! The launch floor: the time of empty kernels with the launch configurations of the work.

use lightbench_measure::Mode;
use lightbench_measure::statistics::median;
use lightbench_units::Seconds;

use super::super::function;
use super::super::prepared::{Action, Prepared};
use super::{READINGS, Stopwatch, StopwatchError, own_kernel};
use crate::error::DeviceError;
use crate::execution::Launch;
use crate::timing::Sampling;

/// Limit on launches: the floor of longer work is estimated as their number times the floor of one.
const MOST_LAUNCHES: usize = 64;

impl Stopwatch {
    /// Time of empty kernels with the same grids, blocks, clusters and shared memory, by the clock that times the work;
    /// `None` if the work launches nothing or too much, or if an empty kernel cannot be launched in this configuration.
    pub(in super::super) fn launch_floor(
        &mut self,
        work: &Prepared,
    ) -> Result<Option<Seconds>, StopwatchError> {
        let launches = work.timed.iter().filter_map(|action| match action {
            Action::Launch { launch, .. } => Some(launch.as_ref()),
            Action::Fill { .. } | Action::Library { .. } => None,
        });
        let launches: Vec<&Launch> = launches.collect();
        if launches.is_empty() || launches.len() > MOST_LAUNCHES {
            return Ok(None);
        }
        let kernel = own_kernel(&self.module, "nothing")?;
        let mut timed = Vec::new();
        for launch in launches {
            match function::prepare(self.gpu, kernel, launch) {
                Ok(()) => {}
                Err(DeviceError::Driver(error)) => return Err(StopwatchError::Driver(error)),
                Err(_) => return Ok(None),
            }
            let (launch, parameters) = (Box::new(launch.clone()), Vec::new());
            timed.push(Action::Launch { kernel, launch, parameters });
        }
        let empty = Prepared { timed, ..Prepared::default() };
        let (_, times) = self.samples(&empty, Sampling::single(Mode::Cold, READINGS))?;
        let mut times: Vec<f64> = times.iter().map(|time| time.0).collect();
        Ok(median(&mut times).map(Seconds).filter(|floor| floor.0 > 0.0))
    }
}
