//! Arguments of `eval` and `rejudge`.

use std::path::PathBuf;

use clap::Args;

use super::whole;

/// Evaluate a stream of candidates: one JSON object a line comes in, one verdict a line goes out.
///
/// A line is `{"id": …, "project": "DIR", "kernel": "TEXT"}`, where the text is that of a kernel file with its launch
/// block; `language` (cuda, ptx, triton) and `workloads` (one name) are optional. Verdicts are those of `run`, in the
/// order of completion. A line that cannot be read gives an error with its number, and the stream goes on.
///
/// Ctrl-C ends the stream after the candidates that are being evaluated; `--resume` goes on from there.
///
/// Exit status 0 if all candidates passed, 1 if one failed, 2 if a line or the request is wrong, 3 if the machine lacks
/// something or a candidate was not judged, 130 interrupted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench eval --jsonl candidates.jsonl --resume verdicts.jsonl
  generate | lightbench eval --jsonl --device cuda:0 --device cuda:1 | learn")]
pub struct Eval {
    /// The candidates; `-` is standard input.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", required = true)]
    pub jsonl: PathBuf,

    /// Write verdicts to the end of this file instead of standard output, and skip candidates that passed or failed
    /// in it.
    #[arg(long, value_name = "OUT")]
    pub resume: Option<PathBuf>,

    /// How candidates are evaluated.
    #[command(flatten)]
    pub evaluating: Evaluating,
}

/// Judge published solutions of a project again: which of them fail, and why.
///
/// Every kernel file in the folder (.cu, .ptx, .py, each with a launch block), or every line of a file as `eval` reads
/// it, is evaluated with all checks. The table counts outcomes and lists each failure with its cause and its line.
///
/// Exit status as that of `eval`.
#[derive(Debug, Args)]
pub struct Rejudge {
    /// A folder of kernel files, or a file with one JSON object a line.
    #[arg(value_name = "FOLDER | FILE")]
    pub solutions: PathBuf,

    /// The verdicts as JSON, one line each, on standard output.
    #[arg(long)]
    pub json: bool,

    /// How candidates are evaluated.
    #[command(flatten)]
    pub evaluating: Evaluating,
}

/// How candidates of a stream are evaluated.
#[derive(Debug, Args)]
#[command(next_help_heading = "Evaluation")]
pub struct Evaluating {
    /// The project of candidates that name none.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub project: PathBuf,

    /// `cuda`, `cuda:1`, `cuda:all`, or `virtual:` and a device sheet, also of another host; may be repeated: each device
    /// evaluates one candidate at a time [default: the first GPU, else virtual:h200].
    #[arg(long = "device", value_name = "DEVICE")]
    pub devices: Vec<String>,

    /// The seed of all random inputs of every candidate [default: a random one for each].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// Longest evaluation of one candidate, which is not judged then.
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>)]
    pub limit_secs: Option<u64>,

    /// Verify only; take no times.
    #[arg(long)]
    pub no_times: bool,

    /// Append the runs to the histories of their projects.
    #[arg(long)]
    pub keep: bool,
}
