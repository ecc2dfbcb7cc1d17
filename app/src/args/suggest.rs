//! Arguments of `suggest`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use lightbench_core::search::roles::Roles;

use super::whole;

/// List the rewrite rules that apply to a project's kernels, or ask a model.
///
/// Rules that do not apply are listed with the missing precondition. A rule edits the source: the result compiles and
/// computes the same up to rounding, which `run` then verifies. Reasons, tiers and expected gains are from the
/// playbook. Nothing is written without `--write`.
///
/// With `--model` a language model from your settings is asked once; `--print-prompt` prints the prompt and asks no
/// model.
///
/// Exit status 0 if rules were listed or one was written, 1 if a model gave no usable answer, 2 if the request is
/// wrong.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("source").args(["rule", "model", "print_prompt"])))]
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

    /// Print the exact prompt, without asking a model.
    #[arg(long)]
    pub print_prompt: bool,

    /// Ask this model or agent from your settings (see `lightbench models`) for one kernel.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// The playbook technique that the model must apply [default: the model chooses].
    #[arg(long, value_name = "ID", conflicts_with = "rule", requires = "source")]
    pub technique: Option<String>,

    /// The roles of the model: `proposer`, `coder-and-judge` or `planner-then-coder`.
    #[arg(long, value_name = "ROLES", default_value = "proposer", conflicts_with = "rule")]
    pub roles: Roles,

    /// The device in the prompt: a device sheet (see `lightbench devices`).
    #[arg(long, value_name = "DEVICE", default_value = "h200", conflicts_with = "rule")]
    pub device: String,

    /// Write the rewrite of that rule, or the model's kernel, as kernels/NAME.cu, which must not exist.
    #[arg(long, value_name = "NAME", requires = "source", conflicts_with = "print_prompt")]
    pub write: Option<String>,

    /// Which application site of the rule to write, counted from 1.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "rule", value_parser = whole::<usize>)]
    pub place: usize,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}
