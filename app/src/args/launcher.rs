//! Arguments of `launcher`.

use std::path::PathBuf;

use clap::Args;

use super::parameter;

/// Export a kernel as one CUDA C++ file with a function that launches it.
///
/// The file needs only CUDA's own headers: included files are inlined, parameters are constants, and the launch block
/// becomes a function of the task's tensors and sizes that runs on a given stream. The function refuses sizes that the
/// kernel does not support. A comment at the top lists the results from the history.
#[derive(Debug, Args)]
pub struct Launcher {
    /// A project folder, or a kernel file of one.
    #[arg(default_value = ".", value_name = "PROJECT | FILE")]
    pub target: PathBuf,

    /// The kernel [default: the first].
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// The workload whose sizes determine parameters and constants [default: the first timed one].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// A parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// The device sheet that parameters may depend on (see `lightbench devices`).
    #[arg(long, default_value = "h200", value_name = "SHEET")]
    pub device: String,

    /// The file to write, which must not exist [default: standard output].
    #[arg(long, value_name = "FILE.cu")]
    pub output: Option<PathBuf>,
}
