//! What the user typed about language models.

use clap::{Args, Subcommand, ValueEnum};

/// List the language models and agent commands that your settings name.
///
/// And where their keys come from. They stand in `settings.ron` in the state folder, never in a project; docs/models.md
/// shows how. Keys are never shown.
///
/// Exit status 0 if all is well, 2 if the settings are wrong, 3 if a model that is checked does not answer as it should.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  lightbench models add ollama                       the one model that a local Ollama serves
  lightbench models add anthropic --model MODEL      with the key in the variable ANTHROPIC_API_KEY
  lightbench models --check ollama"
)]
pub struct Models {
    /// What to do; without it models are listed.
    #[command(subcommand)]
    pub action: Option<ModelsAction>,

    /// Ask this model for a small kernel with a random name, in the form that searches need: costs some hundred tokens.
    #[arg(long, value_name = "NAME")]
    pub check: Option<String>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// What to do with models.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the help text of each stands at its arguments")]
pub enum ModelsAction {
    Add(AddModel),
}

/// Write a model or an agent command into your settings, and check it.
///
/// An entry that is there stays as it is. A key is never written: the entry names the variable or the keyring entry that
/// holds it.
///
/// Exit status 0 if the model answers as searches need it, 2 if the entry cannot be written, 3 if it is written and the
/// model does not answer.
#[derive(Debug, Args)]
pub struct AddModel {
    /// What serves the model.
    #[arg(value_enum, value_name = "KIND")]
    pub kind: ModelKind,

    /// What the entry is called [default: the kind].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Which model of the server [default: its only one].
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// The server's base address with the version [default: the usual one of the kind].
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,

    /// The variable of the environment that holds the key [default: the usual one of the kind].
    #[arg(long, value_name = "VARIABLE", conflicts_with = "keyring")]
    pub key_variable: Option<String>,

    /// The keyring entry that holds the key.
    #[arg(long, value_name = "ENTRY")]
    pub keyring: Option<String>,

    /// What a million tokens of input and of output cost; a budget of money needs both.
    #[arg(long, value_name = "AMOUNT", num_args = 2)]
    pub prices: Option<Vec<f64>>,

    /// Do not ask the model anything.
    #[arg(long)]
    pub no_check: bool,
}

/// What serves a model.
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
