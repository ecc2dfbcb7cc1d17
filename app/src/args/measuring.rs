//! What the user typed about how times are taken.

use clap::{Args, ValueEnum};
use lightbench_core::measure::{Besides, ClockUse, Mode};

/// How times are taken, and what is measured besides.
#[derive(Debug, Args)]
#[command(next_help_heading = "Times on a GPU")]
pub struct Measuring {
    /// What tells the time of a single launch on a GPU [default: the driver's time stamps where there are any, else events].
    #[arg(long, value_name = "CLOCK")]
    pub clock: Option<Clock>,

    /// Take times under this condition too, beside cold and warm ones.
    #[arg(long, value_name = "MODE", conflicts_with_all = ["screen", "no_times"])]
    pub mode: Option<ExtraMode>,

    /// Measure what an execution costs in energy too, when all times are taken: four seconds for each workload.
    #[arg(long, conflicts_with_all = ["screen", "no_times"])]
    pub energy: bool,

    /// Lock the clock of the GPU's multiprocessors meanwhile, which mostly only an administrator may; it is let go of
    /// however this ends. Times are labelled with it.
    #[arg(long, value_name = "MHZ", conflicts_with_all = ["screen", "no_times"], value_parser = clap::value_parser!(u32).range(100..=5000))]
    pub lock_clocks: Option<u32>,
}

/// What tells the time of a single launch on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// CUDA events, less what they add.
    Events,
    /// The driver's own time stamps; where libcupti is missing or another profiler holds it, events.
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

/// Conditions of times, beside cold and warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExtraMode {
    /// A graph of one execution, replayed again and again: what lies between two replays counts.
    Graph,
    /// Executions that arrive at random, after pauses in which the GPU does nothing.
    Server,
}

/// Conditions under which two are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ComparedMode {
    /// Caches hold nothing of the work: the score.
    Cold,
    /// The same work again and again on the same buffers.
    Warm,
    /// A graph of one execution, replayed again and again: what lies between two replays counts.
    Graph,
    /// Executions that arrive at random, after pauses in which the GPU does nothing.
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

impl From<ExtraMode> for Besides {
    fn from(mode: ExtraMode) -> Self {
        match mode {
            ExtraMode::Graph => Self::Graph,
            ExtraMode::Server => Self::Server,
        }
    }
}
