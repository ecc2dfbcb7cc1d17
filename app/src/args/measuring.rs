//! Arguments about timing.

use clap::{Args, ValueEnum};
use lightbench_core::measure::{ClockUse, ExtraModes, Mode};

/// Timing, and additional measurements.
#[derive(Debug, Args)]
#[command(next_help_heading = "Times on a GPU")]
pub struct Measuring {
    /// The clock for a single launch on a GPU [default: the driver's time stamps if available, else events].
    #[arg(long, value_name = "CLOCK")]
    pub clock: Option<Clock>,

    /// Also take times under this condition, besides cold and warm.
    #[arg(long, value_name = "MODE", conflicts_with_all = ["screen", "no_times"])]
    pub mode: Option<ExtraMode>,

    /// Also measure the energy of an execution, when all times are taken: four seconds per workload.
    #[arg(long, conflicts_with_all = ["screen", "no_times"])]
    pub energy: bool,

    /// Lock the multiprocessor clock of the GPU during the run and release it afterwards in any case; usually only an
    /// administrator may. Times are labelled with the clock.
    #[arg(long, value_name = "MHZ", conflicts_with_all = ["screen", "no_times"], value_parser = clap::value_parser!(u32).range(100..=5000))]
    pub lock_clocks: Option<u32>,
}

/// The clock for a single launch on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// CUDA events, minus their overhead.
    Events,
    /// The driver's own time stamps; events if libcupti is missing or another profiler uses it.
    Cupti,
}

impl From<Clock> for ClockUse {
    fn from(clock: Clock) -> Self {
        match clock {
            Clock::Events => Self::Events,
            Clock::Cupti => Self::Cupti,
        }
    }
}

/// Cache conditions of times, besides cold and warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExtraMode {
    /// Back-to-back replays of a CUDA graph of one execution, including the gap between replays.
    Graph,
    /// Executions at random times, after idle periods of the GPU.
    Server,
}

/// Cache conditions of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ComparedMode {
    /// Caches hold none of the data: the scored condition.
    Cold,
    /// Repeated executions on the same buffers.
    Warm,
    /// Back-to-back replays of a CUDA graph of one execution, including the gap between replays.
    Graph,
    /// Executions at random times, after idle periods of the GPU.
    Server,
}

impl From<ComparedMode> for Mode {
    fn from(mode: ComparedMode) -> Self {
        match mode {
            ComparedMode::Cold => Self::Cold,
            ComparedMode::Warm => Self::Warm,
            ComparedMode::Graph => Self::Graph,
            ComparedMode::Server => Self::Server,
        }
    }
}

impl From<ExtraMode> for ExtraModes {
    fn from(mode: ExtraMode) -> Self {
        match mode {
            ExtraMode::Graph => Self::Graph,
            ExtraMode::Server => Self::Server,
        }
    }
}
