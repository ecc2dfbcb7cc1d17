//! Everything that the profiler says of one run: numbers of each launch, and the lines at which warps waited.

use lightbench_primitives::cancellation::Cancellation;

use super::launch_request::ProfiledLaunchRequest;
use super::metric::MetricSet;
use super::profile::{Profile, ProfileError, Profiler, profile, sampled};
use super::stalls::Stalls;
use crate::toolchain::ProgramError;

/// What the hardware counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Hardware {
    /// Numbers of each launch.
    pub profile: Profile,
    /// Lines at which warps waited, or why nobody knows: numbers stand without them.
    pub stalls: Result<Stalls, String>,
}

/// Has the profiler measure a set, and look where warps wait: two runs, because what interrupts warps to look at them would
/// be in the numbers.
///
/// # Errors
/// The profiler may not, or cannot, or nobody wants to know any more.
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
