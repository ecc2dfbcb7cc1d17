//! Arguments of `profile` and its hidden helper commands.

use std::path::PathBuf;

use clap::Args;

use super::{parameter, whole};

/// Measure hardware counters of a kernel with Nsight Compute, on a GPU.
///
/// The kernel is verified first: a kernel that fails is not profiled. Then Nsight Compute (`ncu`) runs one launch on
/// the declared inputs of one workload, once per pass, with clocks as they are and caches flushed before each pass. Its
/// times are not comparable with those of `lightbench run`.
///
/// Exit status 0 if counters were measured, 1 if the kernel failed, 2 if the request is wrong, 3 if the machine lacks
/// something or the counters may not be read.
#[derive(Debug, Args)]
pub struct Profile {
    /// A project folder, or a kernel file of one.
    #[arg(default_value = ".", value_name = "PROJECT | FILE")]
    pub target: PathBuf,

    /// The kernel [default: the first].
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// The workload [default: the first timed one].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// A parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// The GPU: `cuda` or `cuda:1`.
    #[arg(long, default_value = "cuda:0", value_name = "DEVICE")]
    pub device: String,

    /// The set of metrics: `overview`, `memory`, `stalls` or `compute`.
    #[arg(long, default_value = "overview", value_name = "NAME")]
    pub set: String,

    /// The seed of all random inputs; the same seed gives the same inputs [default: random].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// Also write all metrics of Nsight Compute to a new report for its own window.
    #[arg(long, value_name = "FILE.ncu-rep")]
    pub report: Option<PathBuf>,

    /// Open that report in Nsight Compute.
    #[arg(long, requires = "report")]
    pub open: bool,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Carry out one order of a parent process, observed by a profiler.
#[derive(Debug, Args)]
pub struct LaunchOnce {
    /// The order.
    #[arg(value_name = "FILE")]
    pub order: PathBuf,
}

/// Lock the clocks of a GPU until standard input ends.
#[derive(Debug, Args)]
pub struct HoldClocks {
    /// The GPU's identity, 32 hexadecimal digits.
    #[arg(value_name = "UUID")]
    pub uuid: String,

    /// The multiprocessor clock to lock.
    #[arg(value_name = "MHZ", value_parser = whole::<u32>)]
    pub megahertz: u32,
}
