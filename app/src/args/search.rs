//! `sweep` and `search`.

use std::path::PathBuf;

use clap::Args;
use lightbench_core::strategies::{StrategyKind, TunerKind};
use lightbench_core::suggest::model::Roles;

use super::whole;

/// Tune the parameters of a kernel.
///
/// Each configuration that is tried is compiled and looked at; the best ones are verified, and timed side by side with the
/// kernel as it is.
///
/// Exit status 0 if the kernel is right, 1 if it is not, 2 if the request is wrong, 3 if the machine lacks something.
#[derive(Debug, Args)]
pub struct Sweep {
    /// Which configuration is tried next.
    #[arg(long, value_name = "TUNER", default_value = "local")]
    pub tuner: TunerKind,

    /// What both share.
    #[command(flatten)]
    pub common: Searching,
}

/// Search for a faster kernel.
///
/// Rewrite rules and tuning propose, every check decides, and all of it is written down.
/// It needs no network and no language model; a model of your settings may propose too. Nothing in the project is changed
/// but `.lightbench/`, unless `--write` says so.
///
/// Exit status 0 if the kernel is right, 1 if it is not, 2 if the request is wrong, 3 if the machine lacks something.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench search sample-projects/softmax --budget 60
  lightbench search sample-projects/softmax --resume              go on with the last one")]
pub struct Search {
    /// Which candidate is changed next, and how.
    #[arg(long, value_name = "STRATEGY", default_value = "plan")]
    pub strategy: StrategyKind,

    /// Who proposes: `rules`, `tuner`, and `model:NAME` for a model or agent of your settings (see `lightbench models`).
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "rules,tuner")]
    pub operators: Vec<String>,

    /// Who does what for models: `proposer`, `coder-and-judge` or `planner-then-coder`.
    #[arg(long, value_name = "ROLES", default_value = "proposer")]
    pub roles: Roles,

    /// Other variants that models are shown with their numbers, at most.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=16))]
    pub contrast: u8,

    /// Forecast how fast each candidate will be, and look only at what is promising or uncertain; with `--replay`: whether
    /// that would have been better than no forecast.
    #[arg(long)]
    pub forecast: bool,

    /// Do not search: write what a search did to a file, a line of JSON for each action; `--resume` names it, else the
    /// last.
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,

    /// Which configuration of a candidate's parameters is tried next.
    #[arg(long, value_name = "TUNER", default_value = "local")]
    pub tuner: TunerKind,

    /// Tokens that language models may use up.
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub tokens: Option<u64>,

    /// Money that language models may use up, in the currency of the prices in the settings.
    #[arg(long, value_name = "AMOUNT")]
    pub money: Option<f64>,

    /// What both share.
    #[command(flatten)]
    pub common: Searching,
}

/// What sweeps and searches share.
#[derive(Debug, Args)]
pub struct Searching {
    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// The kernel to begin with [default: the project's baseline, else its first].
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Only this workload counts [default: all that are for measuring].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// Candidates and configurations that may be looked at.
    #[arg(long, value_name = "EVALUATIONS", value_parser = whole::<usize>)]
    pub budget: Option<usize>,

    /// Seconds that it may take.
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f64>,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`) [default: the first GPU, else
    /// virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// What everything random comes from [default: drawn by the system].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// Go on with a search that was stopped or killed: its name, or `last`.
    #[arg(long, value_name = "SEARCH", num_args = 0..=1, default_missing_value = "last")]
    pub resume: Option<String>,

    /// Repeat an earlier search from its first kernel, with its seed, its knowledge base and its terms: its name, `last`, or
    /// a file.
    #[arg(long, value_name = "SEARCH", num_args = 0..=1, default_missing_value = "last",
          conflicts_with_all = ["resume", "replay", "seed", "kernel", "workload"])]
    pub like: Option<String>,

    /// Run every tuner, or every strategy, again on a search that was written down, without a device: its name, `last`, or
    /// a
    /// file.
    #[arg(long, value_name = "SEARCH", num_args = 0..=1, default_missing_value = "last")]
    pub replay: Option<String>,

    /// With `--replay`: how often each runs, from other seeds.
    #[arg(long, value_name = "N", default_value_t = 30, requires = "replay", value_parser = whole::<u64>)]
    pub repeat: u64,

    /// Write the best kernel to kernels/NAME.cu; a file that is there already stays as it is.
    #[arg(long, value_name = "NAME")]
    pub write: Option<String>,

    /// Everything that happens as a line of JSON on standard output, as it happens.
    #[arg(long)]
    pub json: bool,
}
