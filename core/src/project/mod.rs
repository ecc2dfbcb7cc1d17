//! The on-disk project format: what was written, what it means, and the one step between that checks.
//!
//! [`manifest`] and [`launch::written`] hold what files say; [`Definition`], [`Workload`] and [`Launch`] what they
//! mean. Whoever holds the latter need not check anything again. `docs/project-format.md` is the specification.

pub mod argument;
mod block;
pub mod candidate;
pub mod compare;
pub mod definition;
pub mod dtype;
pub mod environment;
pub mod expression;
pub mod extent;
pub mod fill;
pub mod kernel;
pub mod launch;
pub mod library;
mod literal;
mod load;
pub(crate) mod locate;
pub mod manifest;
pub mod names;
pub mod nearest;
pub mod policy;
pub mod problem;
pub mod read;
pub(crate) mod ron_text;
pub mod scaffold;
pub mod scalar;
pub mod tensor;
pub mod work;
pub mod workload;
pub mod written;

use std::path::PathBuf;

pub use candidate::{Candidate, CandidateHash};
pub use definition::Definition;
pub use environment::{DeviceFacts, Environment};
pub use kernel::{Kernel, Language, StandaloneKernel};
pub use launch::{
    KernelRole, Launch,
    plan::{Footprint, Plan, PlanError, PlannedArgument, PlannedLaunch, PlannedStep, Selection},
};
pub use load::Survey;
pub(crate) use locate::Located;
pub use manifest::Purpose;
pub use problem::{Problem, ProjectError, ReadError};
pub use workload::Workload;

/// A folder, loaded and checked: one thing to compute, its reference, its workloads, its kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// The folder.
    pub root: PathBuf,
    /// The text of `project.ron`.
    pub manifest: String,
    /// What must be computed.
    pub definition: Definition,
    /// The workloads, in the order in which they are written.
    pub workloads: Vec<Workload>,
    /// The kernels, by name.
    pub kernels: Vec<Kernel>,
    /// Kernels that must be rejected, by name.
    pub wrong: Vec<Kernel>,
    /// The kernel that defines what is right.
    pub reference: Kernel,
    /// Device code that the kernels share, by path.
    pub includes: Vec<IncludeFile>,
}

/// A file below `include/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncludeFile {
    /// Relative to the project folder.
    pub file: PathBuf,
    /// The whole text.
    pub source: String,
}

/// A name that the project does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{}`; expected one of {}{}", crate::display_text::visible(name), known.join(", "), nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
pub struct UnknownName {
    /// What was looked for.
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<String>,
    /// The one that was probably meant.
    pub nearest: Option<String>,
}

impl UnknownName {
    fn new(what: &'static str, name: &str, known: Vec<String>) -> Self {
        let nearest = nearest::nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        Self { what, name: name.to_owned(), known, nearest }
    }
}

impl Project {
    /// The kernel with this name: below `kernels/` or `wrong/`, or the reference as `reference`.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, UnknownName> {
        let all = || self.kernels.iter().chain(&self.wrong).chain([&self.reference]);
        all().find(|kernel| kernel.name == name).ok_or_else(|| {
            UnknownName::new("kernel", name, all().map(|kernel| kernel.name.clone()).collect())
        })
    }

    /// The workload with this name.
    pub fn workload(&self, name: &str) -> Result<&Workload, UnknownName> {
        self.workloads.iter().find(|workload| workload.name == name).ok_or_else(|| {
            UnknownName::new(
                "workload",
                name,
                self.workloads.iter().map(|workload| workload.name.clone()).collect(),
            )
        })
    }

    /// The values of axes and scalars in one of the workloads.
    pub fn environment(&self, workload: &Workload) -> Environment<'_> {
        self.definition.environment(workload)
    }
}

#[cfg(test)]
mod tests;
