//! What the user typed about runs that are kept.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lightbench_core::history::record::FailureWord;

use super::whole;

/// List the runs of a project, the newest first.
///
/// Runs that this machine did not make, imported ones and those that came with the project, are `recorded`: they are
/// shown, and never best, previous or baseline.
#[derive(Debug, Args)]
pub struct History {
    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// In which order.
    #[arg(long, value_name = "ORDER", default_value = "newest")]
    pub sort: Sort,

    /// Compare times with this run from now on; it must have passed everything on this machine.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["csv", "kernel", "verdict"], value_parser = whole::<i64>)]
    pub choose_baseline: Option<i64>,

    /// Give a run a label, the words after its number; without words it has none any more.
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

    /// Which runs.
    #[command(flatten)]
    pub selection: Selection,
}

/// Which runs of a history.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which runs")]
pub struct Selection {
    /// Only runs of this kernel.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Only runs on this device, as it was named then.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// Only runs with this verdict.
    #[arg(long, value_name = "VERDICT", value_parser = verdict)]
    pub verdict: Option<String>,

    /// Only runs with this label.
    #[arg(long, value_name = "WORDS")]
    pub label: Option<String>,

    /// The newest so many of them.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<usize>)]
    pub limit: usize,
}

/// In which order runs are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// The newest first.
    Newest,
    /// The fastest first, those without a time last.
    Fastest,
    /// By the name of the kernel.
    Kernel,
}

/// Write runs as traces that other benches read.
///
/// Their schema is that of SOL-ExecBench and FlashInfer-Bench. What the schema has no place for is left out, and counted on
/// standard error; docs/traces.md lists it.
#[derive(Debug, Args)]
pub struct Export {
    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// The file to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Which runs.
    #[command(flatten)]
    pub selection: Selection,
}

/// Read traces of other benches into a project's history, as recorded runs.
///
/// Their schema is that of SOL-ExecBench and FlashInfer-Bench. All of a file or nothing; what is there already is left
/// alone.
#[derive(Debug, Args)]
pub struct Import {
    /// A file with one trace a line.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// Whose runs they are said to be [default: the name of the file].
    #[arg(long, value_name = "NAME")]
    pub author: Option<String>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Write a project's runs as one page: `--html` or `--markdown`.
///
/// It has kernels, times, verdicts and what they were made with. The HTML file asks for nothing from anywhere and can be
/// printed; the Markdown tables are for a pull request.
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

    /// Which runs.
    #[command(flatten)]
    pub selection: Selection,
}

fn verdict(text: &str) -> Result<String, String> {
    let known = ["passed"].into_iter().chain(FailureWord::ALL.map(FailureWord::as_str));
    match known.clone().find(|word| *word == text) {
        Some(word) => Ok(word.to_owned()),
        None => Err(format!("expected one of {}", known.collect::<Vec<_>>().join(", "))),
    }
}
