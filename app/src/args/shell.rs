//! Arguments of `completions` and `manual`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print a script with which a shell completes commands and options.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lightbench completions bash > ~/.local/share/bash-completion/completions/lightbench
  lightbench completions fish > ~/.config/fish/completions/lightbench.fish")]
pub struct Completions {
    /// The shell.
    pub shell: Shell,
}

/// Write man pages.
#[derive(Debug, Args)]
pub struct Manual {
    /// The folder, which is created if it is missing.
    pub folder: PathBuf,
}
