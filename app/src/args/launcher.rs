//! What the user typed about taking a kernel home.

use std::path::PathBuf;

use clap::Args;

use super::parameter;

/// Write a kernel as one CUDA C++ file with a function that launches it, to take it home.
///
/// The file needs nothing but CUDA's own headers: included files are in it, parameters are numbers, and the launch block
/// has become a function of the task's tensors and sizes that runs on a stream of yours. Sizes that the kernel was not made
/// for are refused when it is called. What the history knows of the kernel stands at the top.
#[derive(Debug, Args)]
pub struct Launcher {
    /// A project folder, or a kernel file of one.
    #[arg(default_value = ".", value_name = "PROJECT | FILE")]
    pub target: PathBuf,

    /// The kernel [default: the first].
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// The workload whose sizes choose parameters and constants [default: the first that is for measuring].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// A parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// The device sheet whose facts parameters may depend on (see `lightbench devices`).
    #[arg(long, default_value = "h200", value_name = "SHEET")]
    pub device: String,

    /// The file to write, which must not exist [default: standard output].
    #[arg(long, value_name = "FILE.cu")]
    pub output: Option<PathBuf>,
}
