//! The on-disk project format: parsed files, validated types, and the validation between them.
//!
//! [`manifest`] and [`launch::written`] contain the parsed files; [`Definition`], [`Workload`] and [`Launch`] are valid
//! by construction and need no further checks. `docs/project-format.md` is the specification.

pub mod argument;
mod block;
mod broken;
pub mod candidate;
pub mod compare;
pub mod definition;
pub mod device_files;
mod drawn;
pub mod environment;
pub mod expression;
pub mod extent;
pub mod fill;
pub mod guesses;
pub mod includes;
pub mod kernel;
pub mod language;
pub mod launch;
pub mod library;
mod literal;
mod load;
pub mod locate;
pub mod manifest;
pub mod names;
pub mod nearest;
pub mod new_folder;
pub mod policy;
pub mod prelude;
pub mod problem;
pub mod read;
mod reference;
mod resized;
pub mod ron_text;
pub mod scaffold;
pub mod scalar;
pub mod tensor;
pub mod work;
pub mod workload;
pub mod written;

use std::path::PathBuf;

pub use broken::{BrokenFile, Part};
pub use candidate::{Candidate, CandidateHash};
pub use definition::Definition;
pub use device_files::{DeviceFiles, LocalHeader, local_headers};
pub use drawn::DRAWN_WORKLOADS;
pub use environment::{DeviceFacts, Environment};
pub use kernel::{Kernel, StandaloneKernel};
pub use language::Language;
pub use launch::{
    KernelRole, Launch,
    plan::{Footprint, Plan, PlanError, PlannedArgument, PlannedLaunch, PlannedStep, Selection},
};
pub use load::MANIFEST;
pub use locate::Located;
pub use manifest::Purpose;
pub use problem::{Problem, ProjectError, ReadError};
pub use reference::{PythonReference, PythonText, Reference};
pub use workload::Workload;

/// A loaded and validated project: a definition, its reference, its workloads, its kernels, and the files that could
/// not be parsed, which do not affect the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// The folder.
    pub root: PathBuf,
    /// The text of `project.ron`.
    pub manifest: String,
    /// The computation.
    pub definition: Definition,
    /// The workloads, in the order in which they are written.
    pub workloads: Vec<Workload>,
    /// The kernels, by name.
    pub kernels: Vec<Kernel>,
    /// Kernels that must be rejected, by name.
    pub wrong: Vec<Kernel>,
    /// What defines the correct results.
    pub reference: Reference,
    /// Device code that the kernels share, by path.
    pub includes: Vec<IncludeFile>,
    /// The texts of the baselines in PyTorch.
    pub pytorch: Vec<PythonText>,
    /// Files of kernels and includes that are not understood, by path.
    pub broken: Vec<BrokenFile>,
    /// Where the held-out workloads come from.
    pub held_out: HeldOutSource,
}

/// Where the held-out workloads of a project come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldOutSource {
    /// From its definition.
    Declared,
    /// They are drawn for one verification.
    Drawn,
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
#[error("unknown {what} `{}`; expected one of {}{}", lightbench_primitives::display_text::visible(name), known.join(", "), nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
pub struct UnknownName {
    /// The kind of the unknown name.
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// The existing names.
    pub known: Vec<String>,
    /// The most similar existing name.
    pub nearest: Option<String>,
}

/// A kernel that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelUnavailable {
    /// The project has no kernel of this name.
    #[error(transparent)]
    Unknown(UnknownName),
    /// The kernel's file could not be parsed.
    #[error("the kernel `{}` is not understood: {}", _0.name(), _0.problem_list())]
    Broken(BrokenFile),
}

impl UnknownName {
    fn new(what: &'static str, name: &str, known: Vec<String>) -> Self {
        let nearest = nearest::nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        Self { what, name: name.to_owned(), known, nearest }
    }
}

impl Project {
    /// The kernel with this name: below `kernels/` or `wrong/`, or the reference as `reference` if it is a kernel.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, KernelUnavailable> {
        let all = || self.kernels.iter().chain(&self.wrong).chain(self.reference.kernel());
        if let Some(kernel) = all().find(|kernel| kernel.name == name) {
            return Ok(kernel);
        }
        if let Some(broken) = self.broken_kernel(name) {
            return Err(KernelUnavailable::Broken(broken.clone()));
        }
        let known = all().map(|kernel| kernel.name.clone()).collect();
        Err(KernelUnavailable::Unknown(UnknownName::new("kernel", name, known)))
    }

    /// The file of a kernel of this name that is not understood.
    #[must_use]
    pub fn broken_kernel(&self, name: &str) -> Option<&BrokenFile> {
        self.broken.iter().find(|broken| broken.part != Part::Include && broken.name() == name)
    }

    /// The workload with this name. The error lists the workloads that are not held out.
    pub fn workload(&self, name: &str) -> Result<&Workload, UnknownName> {
        self.workloads.iter().find(|workload| workload.name == name).ok_or_else(|| {
            let shown = self.workloads.iter().filter(|each| each.purpose != Purpose::HeldOut);
            let known = shown.map(|workload| workload.name.clone()).collect();
            UnknownName::new("workload", name, known)
        })
    }

    /// The values of axes and scalars in one of the workloads.
    pub fn environment(&self, workload: &Workload) -> Environment<'_> {
        self.definition.environment(workload)
    }
}

#[cfg(test)]
mod tests;
