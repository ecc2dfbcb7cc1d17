//! Rewrite rules: edits of a kernel file on its syntax tree, each with its requirements and its expected benefit.
//!
//! ```text
//!  kernel file, definition ──► KernelSource ──► Rule ──► Rewrites (edits), or NotApplicable (missing requirement, place)
//!                                                      │ Rewrite::apply
//!                                                      ▼
//!                                             text ──► Project::draft ──► Kernel
//! ```
//!
//! Rules have no side effects. A rewritten kernel compiles and computes the same function up to rounding; the verifier
//! decides whether the rounding is within the tolerance. `docs/rewrite-rules.md` lists the rules.

mod bounds;
mod by_shape;
mod canonical;
mod condition;
mod edit;
mod function;
mod kernel_source;
mod known_functions;
mod launch_block;
mod loops;
mod members;
mod pointers;
mod refusal;
mod rules;
mod scalar_type;
mod syntax;
mod thread_index;

use lightbench_project::{Kernel, Problem, Project};
use lightbench_speed_of_light::playbook::{Technique, playbook};

pub use by_shape::by_shape;
pub use edit::{Edit, Rewrite};
pub use kernel_source::KernelSource;
pub use refusal::{Missing, NotApplicable, Refusal};

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Name in commands.
    pub id: &'static str,
    /// The change, as an imperative sentence.
    pub title: &'static str,
    /// Why the change may reduce the time.
    pub reason: &'static str,
    /// Requirements on the kernel.
    pub needs: &'static str,
    /// Identifier of the technique of the playbook, which has the tier and the expected gain.
    pub technique: &'static str,
    apply: fn(&KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable>,
}

impl Rule {
    /// A rewrite for each place where the rule applies, in the order of the text; at least one.
    ///
    /// # Errors
    /// The missing requirement and its place.
    pub fn rewrites(&self, subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
        (self.apply)(subject)
    }

    /// The technique of the playbook; a test checks that it exists.
    #[must_use]
    pub fn playbook(&self) -> Option<&'static Technique> {
        playbook().techniques.iter().find(|technique| technique.id == self.technique)
    }
}

/// All rules, by tier.
#[must_use]
pub fn rules() -> &'static [Rule] {
    rules::ALL
}

/// The rule with this name.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().iter().find(|rule| rule.id == id)
}

/// The rewritten kernel, as a kernel of this name in the project.
///
/// # Errors
/// The problems of the new text: a defect of the rule.
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
