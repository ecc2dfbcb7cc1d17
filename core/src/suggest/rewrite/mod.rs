//! Rewrite rules: edits of a kernel file on its syntax tree, each with what it needs and why it may help.
//!
//! ```text
//!  kernel file, definition ──► Subject ──► Rule ──► Rewrites (edits), or NotApplicable (what is missing, and where)
//!                                                      │ Rewrite::apply
//!                                                      ▼
//!                                             text ──► Project::draft ──► Kernel
//! ```
//!
//! Everything here is pure. A rewrite compiles and keeps the meaning up to rounding; whether the rounding is within the
//! tolerance is for the verifier to say. `docs/rewrite-rules.md` lists the rules.

mod bounds;
mod canonical;
mod condition;
mod edit;
mod function;
mod known_functions;
mod launch_block;
mod loops;
mod number;
mod pointers;
mod refusal;
mod rules;
mod subject;
mod syntax;
mod thread_index;

use crate::project::{Kernel, Problem, Project};
use crate::speed_of_light::playbook::{Technique, playbook};

pub use edit::{Edit, Rewrite};
pub use refusal::{Missing, NotApplicable, Refusal};
pub use subject::Subject;

/// One way of changing kernels.
#[derive(Debug)]
pub struct Rule {
    /// Its name in commands.
    pub id: &'static str,
    /// What it does, as an order.
    pub title: &'static str,
    /// Why that may help.
    pub reason: &'static str,
    /// What it needs.
    pub needs: &'static str,
    /// The technique of the playbook that it carries out: tier and expected gain are that one's.
    pub technique: &'static str,
    apply: fn(&Subject<'_>) -> Result<Vec<Rewrite>, NotApplicable>,
}

impl Rule {
    /// Every place where it applies, in the order of the text; at least one.
    ///
    /// # Errors
    /// What is missing, and where.
    pub fn rewrites(&self, subject: &Subject<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
        (self.apply)(subject)
    }

    /// The technique of the playbook; none only if the playbook has lost it, which a test would see.
    #[must_use]
    pub fn playbook(&self) -> Option<&'static Technique> {
        playbook().techniques.iter().find(|technique| technique.id == self.technique)
    }
}

/// All rules, in the order in which they are offered: by tier.
#[must_use]
pub fn rules() -> &'static [Rule] {
    rules::ALL
}

/// The rule with this name.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().iter().find(|rule| rule.id == id)
}

/// The kernel that a rewrite makes of another one of the project, under a name of its own.
///
/// # Errors
/// What is wrong with the new text: a fault of the rule.
pub fn rewritten(
    project: &Project,
    kernel: &Kernel,
    rewrite: &Rewrite,
    name: &str,
) -> Result<Kernel, Vec<Problem>> {
    project.draft(name, rewrite.apply(&kernel.source))
}

#[cfg(test)]
mod tests;
