//! One change of the current kernel: what the rewrite rules could do with it, the most promising first.

use std::sync::Arc;

use lightbench_core::project::{Kernel, Project};
use lightbench_core::search::Story;
use lightbench_core::search::operators::{Draft, Operator as _, Rules, Subjected};
use lightbench_core::strategies::Action;
use lightbench_core::suggest::knowledge::Knowledge;
use lightbench_core::suggest::prompt::alone;
use lightbench_core::suggest::rewrite;

/// A change that is suggested, if one is.
#[derive(Clone, Debug, Default)]
pub enum Suggestion {
    /// Nobody asked.
    #[default]
    None,
    /// This one.
    Shown(Box<Suggested>),
    /// There is none, and why.
    Nothing(String),
}

/// A change that is suggested.
#[derive(Clone, Debug)]
pub struct Suggested {
    project: Arc<Project>,
    /// The kernel as it was when somebody asked.
    pub kernel: Arc<Kernel>,
    /// All that could be done, the most promising first.
    actions: Vec<Action>,
    /// Which of them it is.
    pub at: usize,
    /// The changed text.
    pub draft: Draft,
    /// Why it may help.
    pub reason: String,
    /// Times as fast that is expected.
    pub gain: f64,
}

impl Suggestion {
    /// The most promising change of a kernel, by what a verdict advises and what is known of techniques.
    #[must_use]
    pub fn of(project: &Arc<Project>, kernel: &Arc<Kernel>, advised: &[(String, f64)]) -> Self {
        let knowledge = Knowledge::seed();
        let story = alone(project, kernel, "", "");
        let subject = subject((project, kernel), advised, &knowledge, &story);
        let mut actions = Rules.actions(&subject);
        actions.sort_by(|a, b| b.expected_gain.total_cmp(&a.expected_gain));
        let nothing = || {
            let name = &kernel.name;
            Self::Nothing(format!(
                "no rewrite rule applies to `{name}`: `lightbench suggest` says why of each"
            ))
        };
        first(project, kernel, actions, 0).map_or_else(nothing, |found| Self::Shown(found.into()))
    }
}

impl Suggested {
    /// What promises next; the first again after the last.
    #[must_use]
    pub fn next(self) -> Self {
        let at = (self.at + 1) % self.actions.len();
        first(&self.project, &self.kernel, self.actions.clone(), at).unwrap_or(self)
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.actions.len()
    }
}

/// A kernel that stands in no search; rules look at nothing but its text.
fn subject<'a>(
    (project, kernel): (&'a Arc<Project>, &'a Arc<Kernel>),
    advised: &'a [(String, f64)],
    knowledge: &'a Knowledge,
    story: &'a Story,
) -> Subjected<'a> {
    Subjected { project, kernel, bottleneck: None, advised, knowledge, story, variant: 0 }
}

/// The first change from a place on that can be made.
fn first(
    project: &Arc<Project>,
    kernel: &Arc<Kernel>,
    actions: Vec<Action>,
    from: usize,
) -> Option<Suggested> {
    let knowledge = Knowledge::seed();
    let story = alone(project, kernel, "", "");
    let subject = subject((project, kernel), &[], &knowledge, &story);
    let made = (from..actions.len())
        .find_map(|at| Some((at, Rules.propose(&subject, &actions[at]).ok()?)));
    let (at, draft) = made?;
    let gain = actions[at].expected_gain.exp();
    let id = actions[at].key.trim_start_matches("rule:").split('#').next().unwrap_or_default();
    let reason = rewrite::rule(id).map(|rule| rule.reason).unwrap_or_default().to_owned();
    let (project, kernel) = (Arc::clone(project), Arc::clone(kernel));
    Some(Suggested { project, kernel, actions, at, draft, reason, gain })
}
