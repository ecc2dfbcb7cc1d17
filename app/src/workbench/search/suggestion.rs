//! Suggestion of one change to the current kernel: the applicable rewrite rules, the most promising first.

use std::sync::Arc;

use lightbench_core::project::{Kernel, Project};
use lightbench_core::search::SearchState;
use lightbench_core::search::operators::{Draft, Operator as _, ParentVariant};
use lightbench_core::search::prompt::single_kernel_state;
use lightbench_core::search::rules::Rules;
use lightbench_core::strategies::Action;
use lightbench_core::suggest::knowledge::Knowledge;
use lightbench_core::suggest::rewrite;

/// The suggested change, if there is one.
#[derive(Clone, Debug, Default)]
pub enum Suggestion {
    /// Not requested.
    #[default]
    None,
    Shown(Box<ShownSuggestion>),
    /// No rule applies, for this reason.
    Nothing(String),
}

/// A suggested change.
#[derive(Clone, Debug)]
pub struct ShownSuggestion {
    project: Arc<Project>,
    /// The kernel at the time of the request.
    pub kernel: Arc<Kernel>,
    /// All applicable actions, the most promising first.
    actions: Vec<Action>,
    /// Index of the shown action.
    pub at: usize,
    /// The changed text.
    pub draft: Draft,
    /// Why the change may help.
    pub reason: String,
    /// The expected speedup factor.
    pub gain: f64,
}

impl Suggestion {
    /// The most promising change of a kernel, from the verdict's advice and the knowledge about techniques.
    #[must_use]
    pub fn most_promising(
        project: &Arc<Project>,
        kernel: &Arc<Kernel>,
        advised: &[(String, f64)],
    ) -> Self {
        let knowledge = Knowledge::seed();
        let story = single_kernel_state(project, kernel, "", "");
        let subject = subject((project, kernel), advised, &knowledge, &story);
        let mut actions = Rules.actions(&subject);
        actions.sort_by(|a, b| b.expected_gain.total_cmp(&a.expected_gain));
        let nothing = || {
            let name = &kernel.name;
            Self::Nothing(format!(
                "no rewrite rule applies to `{name}`: `lightbench suggest` lists the reasons"
            ))
        };
        first(project, kernel, actions, 0).map_or_else(nothing, |found| Self::Shown(found.into()))
    }
}

impl ShownSuggestion {
    /// The next suggestion; wraps around after the last.
    #[must_use]
    pub fn next(self) -> Self {
        let at = (self.at + 1) % self.actions.len();
        first(&self.project, &self.kernel, self.actions.clone(), at).unwrap_or(self)
    }

    /// The number of suggestions.
    #[must_use]
    pub fn count(&self) -> usize {
        self.actions.len()
    }
}

/// The kernel as the root of a search; rules read only its text.
fn subject<'a>(
    (project, kernel): (&'a Arc<Project>, &'a Arc<Kernel>),
    advised: &'a [(String, f64)],
    knowledge: &'a Knowledge,
    story: &'a SearchState,
) -> ParentVariant<'a> {
    ParentVariant { project, kernel, bottleneck: None, advised, knowledge, story, variant: 0 }
}

/// The first action from an index on that can be applied.
fn first(
    project: &Arc<Project>,
    kernel: &Arc<Kernel>,
    actions: Vec<Action>,
    from: usize,
) -> Option<ShownSuggestion> {
    let knowledge = Knowledge::seed();
    let story = single_kernel_state(project, kernel, "", "");
    let subject = subject((project, kernel), &[], &knowledge, &story);
    let made = (from..actions.len()).find_map(|at| {
        Some((at, Rules.propose(&subject, &actions[at], &mut |_| Ok(String::new())).ok()?))
    });
    let (at, draft) = made?;
    let gain = actions[at].expected_gain.exp();
    let id = actions[at].key.trim_start_matches("rule:").split('#').next().unwrap_or_default();
    let reason = rewrite::rule(id).map(|rule| rule.reason).unwrap_or_default().to_owned();
    let (project, kernel) = (Arc::clone(project), Arc::clone(kernel));
    Some(ShownSuggestion { project, kernel, actions, at, draft, reason, gain })
}
