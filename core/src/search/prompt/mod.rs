//! Prompts about a kernel. The same input gives the same text.
//!
//! ```text
//!  Subjected ──► Situation (parts, bounded, fenced) ──► assets/prompts/*.md ──► Conversation
//!  what the search knows    never a held-out workload      minijinja, strict
//! ```
//!
//! The templates are in `assets/prompts`; values are inserted and never read as templates. Text from outside (titles,
//! sources, compiler errors, replies of models) is enclosed in fences that it cannot end.

mod definition;
mod fence;
mod single_kernel;
mod situation;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

pub use self::fence::{fenced, one_line};
pub use self::single_kernel::{add_run, single_kernel_state};
use self::situation::Situation;
use crate::device::DeviceSheet;
use crate::models::Conversation;
use crate::search::operators::ParentVariant;
use crate::search::state::SearchState;
use crate::speed_of_light::playbook::Technique;

/// Templates by name.
const TEMPLATES: &[(&str, &str)] = &[
    ("coder.md", include_str!("../../../../assets/prompts/coder.md")),
    ("judge.md", include_str!("../../../../assets/prompts/judge.md")),
    ("planner.md", include_str!("../../../../assets/prompts/planner.md")),
    ("situation.md", include_str!("../../../../assets/prompts/situation.md")),
    ("task.md", include_str!("../../../../assets/prompts/task.md")),
    ("judge-task.md", include_str!("../../../../assets/prompts/judge-task.md")),
    ("planner-task.md", include_str!("../../../../assets/prompts/planner-task.md")),
    ("again.md", include_str!("../../../../assets/prompts/again.md")),
];

/// Most bytes of a plan.
const PLAN: usize = 6 << 10;
/// Most characters of the description of a problem.
const PROBLEM: usize = 1500;

/// Input of a prompt.
#[derive(Clone, Copy)]
pub struct PromptContext<'a> {
    /// The variant to change, and its search.
    pub subject: &'a ParentVariant<'a>,
    /// Data sheet of the device.
    pub sheet: &'a DeviceSheet,
    /// Most other variants in the prompt.
    pub contrast: usize,
}

/// The change that is requested.
#[derive(Clone, Copy, Debug)]
pub enum Task<'a> {
    /// Apply this technique.
    Technique(&'a Technique),
    /// Any change; the model chooses.
    Free,
}

/// Role of the model that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelRole {
    /// Writes the kernel.
    Coder,
    /// Names a bottleneck, a method and a plan.
    Judge,
    /// Writes a plan.
    Planner,
}

/// Why a prompt cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A template is invalid: a defect of Lightbench.
    #[error("a defect of Lightbench: a prompt template is invalid: {0}")]
    Template(#[from] minijinja::Error),
    /// The search times a held-out workload, which no prompt may contain.
    #[error(
        "the search times a held-out workload, which no model may see; choose a workload with purpose `measure`"
    )]
    HeldOut,
}

#[derive(Serialize)]
struct Asked<'a> {
    situation: String,
    technique: Option<Advised<'a>>,
    plan: Option<String>,
}

#[derive(Serialize)]
struct Advised<'a> {
    id: &'a str,
    title: &'a str,
    how: &'a str,
}

/// The messages for a model in this role; the coder receives the plan of a judge or planner, if there is one.
///
/// # Errors
/// See [`PromptError`].
pub fn conversation(
    setting: &PromptContext<'_>,
    task: Task<'_>,
    voice: ModelRole,
    plan: Option<&str>,
) -> Result<Conversation, PromptError> {
    if !situation::has_no_held_out_workload(setting) {
        return Err(PromptError::HeldOut);
    }
    let templates = templates()?;
    let situation = Situation::from_context(setting);
    let situation = templates.get_template("situation.md")?.render(Serde(&situation))?;
    let technique = match task {
        Task::Technique(Technique { id, title, how, .. }) => Some(Advised { id, title, how }),
        Task::Free => None,
    };
    let plan = plan.map(|plan| fenced(plan, "text", PLAN));
    let asked = Asked { situation, technique, plan };
    let (system, question) = voice.templates();
    let system = templates.get_template(system)?.render(())?;
    let question = templates.get_template(question)?.render(Serde(&asked))?;
    Ok(Conversation::new(system, question))
}

/// Table of all variants of a search.
pub(super) fn variants(story: &SearchState) -> String {
    situation::table(story, 0)
}

/// Text, results and outcome of a variant; none if there is no such variant.
pub(super) fn variant(story: &SearchState, number: usize) -> Option<String> {
    situation::variant(story, number)
}

/// The message that returns an unusable reply for correction.
///
/// # Errors
/// See [`PromptError`].
pub fn correction(problem: &str, voice: ModelRole) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Problem<'a> {
        problem: String,
        form: &'a str,
    }
    let form = match voice {
        ModelRole::Coder => {
            "one line `idea: …`, then the kernel file or edits of it in a fenced block"
        }
        ModelRole::Judge => "one JSON object with the texts `bottleneck`, `method` and `plan`",
        ModelRole::Planner => "numbered steps",
    };
    let problem = Problem { problem: one_line(problem, PROBLEM), form };
    Ok(templates()?.get_template("again.md")?.render(Serde(&problem))?)
}

impl ModelRole {
    const fn templates(self) -> (&'static str, &'static str) {
        match self {
            Self::Coder => ("coder.md", "task.md"),
            Self::Judge => ("judge.md", "judge-task.md"),
            Self::Planner => ("planner.md", "planner-task.md"),
        }
    }
}

fn templates() -> Result<Environment<'static>, PromptError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // A line that contains only a template block leaves no empty line.
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

#[cfg(test)]
mod tests;
