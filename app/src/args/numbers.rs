//! Arguments of `calibrate`, `explain` and `tour`.

use std::path::PathBuf;

use clap::Args;

/// Measure the ceilings of your GPU: its memories and pipes.
///
/// Times are then compared with these, in addition to the data sheet.
///
/// Benchmark kernels saturate one memory level or one pipe each; they are verified and timed like all kernels. The
/// results are stored for this GPU in the state folder, with date, driver and clocks.
///
/// Exit status 0 if the ceilings were measured and stored, 2 if the device is a virtual one, 3 if the machine lacks
/// something.
#[derive(Debug, Args)]
pub struct Calibrate {
    /// `cuda:` and a number.
    #[arg(long, value_name = "DEVICE", default_value = "cuda:0")]
    pub device: String,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Explain a number.
///
/// Shows what it counts, its unit and formula, which values are good, and techniques that concern it. Accepts any name
/// that a command shows, and those of Nsight Compute. Without a name all are listed.
#[derive(Debug, Args)]
pub struct Explain {
    /// A number, as `check`, `run` or `launch --counters` name it.
    #[arg(value_name = "METRIC")]
    pub metric: Option<String>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Present a project from its first kernel to its best.
///
/// Verifies and times each kernel, and shows the changes between them, the roofline, and a report. Runs on the first
/// GPU, or on a virtual device if there is none. The runs are appended to the project's history.
///
/// Exit status 0 if all kernels passed, 1 if one did not, 2 if the request is wrong, 3 if the machine lacks something.
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
