//! Arguments of the history commands.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lightbench_core::history::record::FailureKind;

use super::{parameter, whole};

/// List the runs of a project, the newest first.
///
/// Runs of other machines, imported or included with the project, are `recorded`: they are shown, but are never best,
/// previous or baseline.
#[derive(Debug, Args)]
pub struct History {
    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// The order.
    #[arg(long, value_name = "ORDER", default_value = "newest")]
    pub sort: Sort,

    /// Make this run the baseline of comparisons; it must have passed fully on this machine.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["csv", "kernel", "verdict"], value_parser = whole::<i64>)]
    pub choose_baseline: Option<i64>,

    /// Set the label of a run to the words after its number; without words the label is removed.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["csv", "choose_baseline"], value_parser = whole::<i64>)]
    pub set_label: Option<i64>,

    /// The words of the label.
    #[arg(long, value_name = "WORDS", requires = "set_label")]
    pub words: Option<String>,

    /// The result as JSON on standard output.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,

    /// A table for spreadsheets on standard output.
    #[arg(long)]
    pub csv: bool,

    /// The selection of runs.
    #[command(flatten)]
    pub selection: Selection,
}

/// The selection of runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which runs")]
pub struct Selection {
    /// Only runs of this kernel.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Only runs on this device, by its recorded name.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// Only runs with this verdict.
    #[arg(long, value_name = "VERDICT", value_parser = verdict)]
    pub verdict: Option<String>,

    /// Only runs with this label.
    #[arg(long, value_name = "WORDS")]
    pub label: Option<String>,

    /// At most this many, the newest first.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<usize>)]
    pub limit: usize,
}

/// The order of listed runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// The newest first.
    Newest,
    /// The fastest first, runs without a time last.
    Fastest,
    /// By the name of the kernel.
    Kernel,
}

/// Write a kernel for another program (`--as`), or runs as traces for other benchmark suites.
///
/// The schema of traces is that of SOL-ExecBench and FlashInfer-Bench. Runs that the schema cannot represent are omitted,
/// and counted on standard error; docs/traces.md lists them.
///
/// With `--as`, the kernel and its launch block become one file that compiles itself with PyTorch and checks types,
/// shapes and devices of its tensors. A kernel whose latest run on this machine did not pass is exported with a warning.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench export sample-projects/rmsnorm --output traces.jsonl
  lightbench export sample-projects/rmsnorm --kernel naive --as torch --into naive.py")]
pub struct Export {
    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// The file to write [default: standard output].
    #[arg(long, value_name = "FILE", conflicts_with = "form")]
    pub output: Option<PathBuf>,

    /// Export the kernel that `--kernel` names in this form, instead of runs.
    #[arg(long = "as", value_name = "FORM", requires = "kernel", conflicts_with_all = ["verdict", "label"])]
    pub form: Option<ExportForm>,

    /// The file to write, which must not exist, or an existing folder [default: standard output].
    #[arg(long, value_name = "FILE | DIR", requires = "form")]
    pub into: Option<PathBuf>,

    /// The workload whose sizes determine parameters and constants [default: the first timed one].
    #[arg(long, value_name = "NAME", requires = "form")]
    pub workload: Option<String>,

    /// A parameter's value instead of the first that the kernel allows; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", requires = "form", value_parser = parameter)]
    pub parameters: Vec<(String, i64)>,

    /// The device sheet that parameters may depend on (see `lightbench devices`).
    #[arg(long, default_value = "h200", value_name = "SHEET")]
    pub sheet: String,

    /// The selection of runs.
    #[command(flatten)]
    pub selection: Selection,
}

/// The form of an exported kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// A Python file with an operator of PyTorch, which `torch.compile` can trace.
    Torch,
    /// A GPU MODE submission.
    GpuMode,
    /// A KernelBench answer: the class `ModelNew`.
    Kernelbench,
    /// A FlashInfer-Bench solution.
    Flashinfer,
}

/// Write a project's runs as one page: `--html` or `--markdown`.
///
/// It lists kernels, times, verdicts and the environment of each run. The HTML file needs no other files and can be
/// printed; the Markdown tables suit a pull request.
#[derive(Debug, Args)]
pub struct Report {
    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// One HTML file: light, dark and on paper.
    #[arg(long, conflicts_with = "markdown")]
    pub html: bool,

    /// Tables in Markdown.
    #[arg(long)]
    pub markdown: bool,

    /// The file to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// The selection of runs.
    #[command(flatten)]
    pub selection: Selection,
}

fn verdict(text: &str) -> Result<String, String> {
    let known = ["passed"].into_iter().chain(FailureKind::ALL.map(FailureKind::as_str));
    match known.clone().find(|word| *word == text) {
        Some(word) => Ok(word.to_owned()),
        None => Err(format!("expected one of {}", known.collect::<Vec<_>>().join(", "))),
    }
}
