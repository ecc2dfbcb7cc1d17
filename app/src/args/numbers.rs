//! What the user typed about numbers: their ceilings, their meaning, the tour through all of them.

use std::path::PathBuf;

use clap::Args;

/// Measure what your GPU reaches at best: its memories, its pipes.
///
/// Times are then held against that, beside the data sheet.
///
/// Kernels of our own keep one memory or one pipe busy; each is verified and timed like everybody's. What was measured is
/// kept for this very GPU in the state folder, with date, driver and clocks.
///
/// Exit status 0 if it was measured and kept, 2 if the device is a virtual one, 3 if the machine lacks something.
#[derive(Debug, Args)]
pub struct Calibrate {
    /// `cuda:` and a number.
    #[arg(long, value_name = "DEVICE", default_value = "cuda:0")]
    pub device: String,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Say what a number means.
///
/// What it counts, its unit and formula, what is good, which technique speaks of it.
/// Any name that a command shows will do, and those of Nsight Compute. Without a name all of them are listed.
#[derive(Debug, Args)]
pub struct Explain {
    /// A number, as `check`, `run` or `launch --counters` name it.
    #[arg(value_name = "METRIC")]
    pub metric: Option<String>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Take a project through everything, from its first kernel to its best.
///
/// Each kernel is verified and timed; then what changed from one to the next, the roofline, and a report.
/// On the first GPU, or on a virtual one where there is none. The runs are kept in the project's history.
///
/// Exit status 0 if all kernels are right, 1 if one is not, 2 if the request is wrong, 3 if the machine lacks something.
#[derive(Debug, Args)]
pub struct Tour {
    /// A project folder [default: sample-projects/rmsnorm, else the current folder].
    #[arg(value_name = "PROJECT")]
    pub project: Option<PathBuf>,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`) [default: the first GPU, else
    /// virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// Where to write the report [default: report.html beside the project's history].
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
