//! What the user typed about changes to a kernel.

use std::path::PathBuf;

use clap::Args;

/// List the rewrite rules that apply to a project's kernels, and those that do not with what is missing.
///
/// A rule edits the source: it compiles, and computes the same up to rounding, which `run` then judges. Reasons, tiers and
/// expected gains are those of the playbook. Nothing is written without `--write`.
///
/// Exit status 0 if rules were listed or one was written, 2 if the request is wrong.
#[derive(Debug, Args)]
pub struct Suggest {
    /// A project folder, or one kernel file of a project.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// Only this kernel.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Only this rule.
    #[arg(long, value_name = "ID")]
    pub rule: Option<String>,

    /// Show what each rewrite changes.
    #[arg(long)]
    pub diff: bool,

    /// Write the rewrite of that rule as kernels/NAME.cu, which must not exist.
    #[arg(long, value_name = "NAME", requires = "rule")]
    pub write: Option<String>,

    /// Which of the rule's places to write, counted from 1.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "write")]
    pub place: usize,

    /// Machine-readable result on standard output.
    #[arg(long)]
    pub json: bool,
}
