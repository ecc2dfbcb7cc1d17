//! All results of the profiler for one run: counters of each launch, and the lines at which warps stalled.

use lightbench_primitives::cancellation::Cancellation;

use super::launch_request::ProfiledLaunchRequest;
use super::metric::MetricSet;
use super::profile::{Profile, ProfileError, Profiler, profile, sampled};
use super::stalls::Stalls;
use crate::toolchain::ProgramError;

/// Results of the profiler.
#[derive(Clone, Debug, PartialEq)]
pub struct Hardware {
    /// The metrics of each launch.
    pub profile: Profile,
    /// The lines with warp stalls, or the reason why they are unknown; metrics are valid without them.
    pub stalls: Result<Stalls, String>,
}

/// Measures a set of metrics, and samples warp stalls, in two runs, because the sampling would affect the metrics.
///
/// # Errors
/// The profiler lacks permission or fails, or the user cancelled.
pub fn hardware(
    profiler: &Profiler,
    order: &ProfiledLaunchRequest,
    set: &MetricSet,
    cancellation: &Cancellation,
) -> Result<Hardware, ProfileError> {
    let profile = profile(profiler, order, set, cancellation)?;
    let stalls = match sampled(profiler, order, cancellation) {
        Err(error @ ProfileError::Program(ProgramError::Cancelled)) => return Err(error),
        Err(error) => Err(error.to_string()),
        Ok(stalls) => Ok(stalls),
    };
    Ok(Hardware { profile, stalls })
}
