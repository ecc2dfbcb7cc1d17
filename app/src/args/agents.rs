//! Arguments of `mcp` and `accept`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Serve a project to a coding agent: the Model Context Protocol on standard input and output.
///
/// The agent proposes kernels, has them checked, verified, timed and compared, and reads the history. It writes nothing
/// into the project, sees no file outside it, and never sees the held-out workloads: its verifications draw other
/// sizes. Your settings decide whether it may add a kernel to the project and how much it may evaluate; see
/// docs/agents.md.
///
/// Exit status 0 when the client closes the connection, 2 if the request is wrong, 3 if the server cannot start.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightbench mcp softmax --device virtual:h200     what the configuration of an agent starts
  lightbench mcp softmax --install claude          show what would be written for Claude Code
  lightbench mcp softmax --install claude --yes    write it")]
pub struct Mcp {
    /// A project folder.
    #[arg(value_name = "PROJECT")]
    pub project: PathBuf,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`) [default: the first GPU, else
    /// virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// Show the configuration and the skill file for this agent, which belong into the working directory.
    #[arg(long, value_name = "AGENT")]
    pub install: Option<AgentProgram>,

    /// Write what `--install` shows. Existing files stay as they are.
    #[arg(long, requires = "install")]
    pub yes: bool,
}

/// A program that runs a coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AgentProgram {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
}

/// Add a candidate of an agent to a project, if it passes on all workloads.
///
/// The candidate is verified and timed like any kernel, also on the held-out workloads, at most three times a day for
/// one definition. It is then written as kernels/NAME.cu, which must not exist.
///
/// Exit status 0 if it was written, 1 if it failed, 2 if the request is wrong, 3 if the machine lacks something or it
/// was not judged.
#[derive(Debug, Args)]
pub struct Accept {
    /// A project folder.
    #[arg(value_name = "PROJECT")]
    pub project: PathBuf,

    /// The candidate, as the agent names it.
    #[arg(value_name = "CANDIDATE")]
    pub candidate: String,

    /// The name of the new kernel [default: that of the candidate].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet (see `lightbench devices`) [default: the first GPU, else
    /// virtual:h200].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}
