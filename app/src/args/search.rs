//! Arguments of `sweep` and `search`.

use std::path::PathBuf;

use clap::Args;
use lightbench_core::search::roles::Roles;
use lightbench_core::strategies::{StrategyKind, TunerKind};

use super::whole;

/// Tune the parameters of a kernel.
///
/// Each tried configuration is compiled and screened; the best ones are verified, and timed against the unchanged
/// kernel.
///
/// Exit status 0 if the kernel passed, 1 if it did not, 2 if the request is wrong, 3 if the machine lacks something.
#[derive(Debug, Args)]
pub struct Sweep {
    /// The tuner, which selects the next configuration.
    #[arg(long, value_name = "TUNER", default_value = "local")]
    pub tuner: TunerKind,

    /// Options of both commands.
    #[command(flatten)]
    pub common: Searching,
}

/// Search for a faster kernel.
///
/// Rewrite rules and the tuner propose variants, verification decides, and a journal records every step. Needs no
/// network and no language model; a model from your settings may propose too. Only `.lightbench/` in the project is
/// changed, unless `--write` is given.
///
/// Exit status 0 if the kernel passed, 1 if it did not, 2 if the request is wrong, 3 if the machine lacks something.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench search sample-projects/softmax --budget 60
  lightbench search sample-projects/softmax --resume              go on with the last one")]
pub struct Search {
    /// The strategy, which selects the next parent and operator.
    #[arg(long, value_name = "STRATEGY", default_value = "plan")]
    pub strategy: StrategyKind,

    /// The operators: `rules`, `tuner`, and `model:NAME` for a model or agent from your settings (see `lightbench
    /// models`).
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "rules,tuner")]
    pub operators: Vec<String>,

    /// Add the operator `model:recorded`, which gives recorded replies in their order: lines of JSON with `reply`, or the
    /// replies in the journal of a search.
    #[arg(long, value_name = "FILE")]
    pub replay_model: Option<PathBuf>,

    /// The roles of models: `proposer`, `coder-and-judge` or `planner-then-coder`.
    #[arg(long, value_name = "ROLES", default_value = "proposer")]
    pub roles: Roles,

    /// Maximum number of other variants, with their numbers, in a model's prompt.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=16))]
    pub contrast: u8,

    /// Do not search: write a search's actions to a file, one line of JSON each; `--resume` names the search, else the
    /// last.
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,

    /// The tuner, which selects the next configuration of a candidate's parameters.
    #[arg(long, value_name = "TUNER", default_value = "local")]
    pub tuner: TunerKind,

    /// Token budget of language models.
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub tokens: Option<u64>,

    /// Money budget of language models, in the currency of the prices in the settings.
    #[arg(long, value_name = "AMOUNT")]
    pub money: Option<f64>,

    /// Options of both commands.
    #[command(flatten)]
    pub common: Searching,
}

/// Options of sweeps and searches.
#[derive(Debug, Args)]
pub struct Searching {
    /// A project folder.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// The kernel to start with [default: the project's baseline, else its first].
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Only this workload [default: all timed ones].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// Maximum number of evaluated candidates and configurations.
    #[arg(long, value_name = "EVALUATIONS", value_parser = whole::<usize>)]
    pub budget: Option<usize>,

    /// Time limit in seconds.
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f64>,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`) [default: the first GPU, else
    /// virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// The seed of all random choices [default: from the system].
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// Resume a search that was stopped or killed: its name, or `last`.
    #[arg(long, value_name = "SEARCH", num_args = 0..=1, default_missing_value = "last")]
    pub resume: Option<String>,

    /// Repeat an earlier search from its first kernel, with its seed, its knowledge and its options: its name, `last`,
    /// or a file.
    #[arg(long, value_name = "SEARCH", num_args = 0..=1, default_missing_value = "last",
          conflicts_with_all = ["resume", "replay", "seed", "kernel", "workload"])]
    pub like: Option<String>,

    /// Replay every tuner, or every strategy, on a recorded search, without a device: its name, `last`, or a file.
    #[arg(long, value_name = "SEARCH", num_args = 0..=1, default_missing_value = "last")]
    pub replay: Option<String>,

    /// With `--replay`: number of replays of each, with different seeds.
    #[arg(long, value_name = "N", default_value_t = 30, requires = "replay", value_parser = whole::<u64>)]
    pub repeat: u64,

    /// Write the best kernel to kernels/NAME.cu; an existing file is unchanged.
    #[arg(long, value_name = "NAME")]
    pub write: Option<String>,

    /// Each event as a line of JSON on standard output, as it happens.
    #[arg(long)]
    pub json: bool,
}
