//! Arguments of `models`.

use clap::{Args, Subcommand, ValueEnum};

/// List the language models and agent commands in your settings.
///
/// Also shows the source of their keys. The settings are in `settings.ron` in the state folder, never in a project;
/// docs/models.md describes them. Keys are never shown.
///
/// Exit status 0 if all is well, 2 if the settings are wrong, 3 if a checked model does not answer as required.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  lightbench models add ollama                       the one model that a local Ollama serves
  lightbench models add anthropic --model MODEL      with the key in the variable ANTHROPIC_API_KEY
  lightbench models --check ollama"
)]
pub struct Models {
    /// The command; without one the models are listed.
    #[command(subcommand)]
    pub action: Option<ModelsAction>,

    /// Check that this model answers in the form that searches need, with a small kernel; costs some hundred tokens.
    #[arg(long, value_name = "NAME")]
    pub check: Option<String>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// A command about models.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the help text of each stands at its arguments")]
pub enum ModelsAction {
    Add(AddModel),
}

/// Add a model or an agent command to your settings, and check it.
///
/// An existing entry is unchanged. A key is never stored: the entry names the variable or the keyring entry that holds
/// it.
///
/// Exit status 0 if the model answers as searches need it, 2 if the entry cannot be written, 3 if it is written and the
/// model does not answer.
#[derive(Debug, Args)]
pub struct AddModel {
    /// The kind of server or program.
    #[arg(value_enum, value_name = "KIND")]
    pub kind: ModelKind,

    /// The name of the entry [default: the kind].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The server's model [default: its only one].
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// The server's base address with the version [default: the standard one of the kind].
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,

    /// The environment variable that holds the key [default: the standard one of the kind].
    #[arg(long, value_name = "VARIABLE", conflicts_with = "keyring")]
    pub key_variable: Option<String>,

    /// The keyring entry that holds the key.
    #[arg(long, value_name = "ENTRY")]
    pub keyring: Option<String>,

    /// The prices of a million tokens of input and of output; a money budget needs both.
    #[arg(long, value_name = "AMOUNT", num_args = 2)]
    pub prices: Option<Vec<f64>>,

    /// Do not check the model.
    #[arg(long)]
    pub no_check: bool,
}

/// The kind of a server or program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelKind {
    /// Ollama on this machine.
    Ollama,
    /// vLLM on this machine.
    Vllm,
    /// The OpenAI API.
    Openai,
    /// The Anthropic API.
    Anthropic,
    /// The program `claude`.
    ClaudeCode,
    /// The program `codex`.
    Codex,
}
