//! What the user typed about language models.

use clap::Args;

/// List the language models and agent commands that your settings name.
///
/// And where their keys come from. They stand in `settings.ron` in the state folder, never in a project; docs/models.md
/// shows how. Keys are never shown.
///
/// Exit status 0 if all is well, 2 if the settings are wrong, 3 if a model that is checked does not answer.
#[derive(Debug, Args)]
pub struct Models {
    /// Ask this model for one word: costs a few tokens.
    #[arg(long, value_name = "NAME")]
    pub check: Option<String>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}
