//! What is said to a model about a kernel. Pure: the same situation gives the same text.
//!
//! ```text
//!  Subjected ──► Situation (parts, bounded, fenced) ──► assets/prompts/*.md ──► Conversation
//!  what the search knows    never a held-out workload      minijinja, strict
//! ```
//!
//! The words are in `assets/prompts`; what is put into them is a value and never read as a template. Text that is not ours
//! (titles, sources, errors of compilers, what models said) stands in fences that it cannot end.

mod alone;
mod definition;
mod fence;
mod situation;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

pub use self::alone::alone;
pub use self::fence::{fenced, one_line};
use self::situation::Situation;
use crate::device::DeviceSheet;
use crate::models::Conversation;
use crate::search::operators::Subjected;
use crate::speed_of_light::playbook::Technique;

/// The templates by name.
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

/// Bytes of a plan that one model made for another.
const PLAN: usize = 6 << 10;
/// Bytes of a sentence about an answer.
const PROBLEM: usize = 1500;

/// What a prompt is about.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The variant and its search.
    pub subject: &'a Subjected<'a>,
    /// What the device is.
    pub sheet: &'a DeviceSheet,
    /// Other variants that are shown with their numbers, at most.
    pub contrast: usize,
}

/// What is to be done with the kernel.
#[derive(Clone, Copy, Debug)]
pub enum Task<'a> {
    /// Exactly this.
    Technique(&'a Technique),
    /// Whatever promises most.
    Free,
}

/// Whom a question is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// Writes the kernel.
    Coder,
    /// Names a bottleneck, a method and a plan.
    Judge,
    /// Writes a plan.
    Planner,
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The templates are ours, so that it does not happen.
    #[error("a template of prompts is wrong: {0}")]
    Template(#[from] minijinja::Error),
    /// The search counts a workload that nobody may be told of.
    #[error("the search counts a held-out workload, of which no model may be told")]
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

/// The question for one of them; a coder is told the plan of another, where there is one.
///
/// # Errors
/// See [`PromptError`].
pub fn conversation(
    setting: &Setting<'_>,
    task: Task<'_>,
    voice: Voice,
    plan: Option<&str>,
) -> Result<Conversation, PromptError> {
    if !situation::is_told_of_open_ones(setting) {
        return Err(PromptError::HeldOut);
    }
    let templates = templates()?;
    let situation = Situation::of(setting);
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

/// What is said to an answer that cannot be used.
///
/// # Errors
/// See [`PromptError`].
pub fn again(problem: &str, voice: Voice) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Problem<'a> {
        problem: String,
        form: &'a str,
    }
    let form = match voice {
        Voice::Coder => "one line `idea: …`, then the kernel file or edits of it in a fenced block",
        Voice::Judge => "one JSON object with the texts `bottleneck`, `method` and `plan`",
        Voice::Planner => "numbered steps",
    };
    let problem = Problem { problem: one_line(problem, PROBLEM), form };
    Ok(templates()?.get_template("again.md")?.render(Serde(&problem))?)
}

impl Voice {
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
    // A line with nothing but a block of the template's own leaves no empty line.
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

#[cfg(test)]
mod tests;
