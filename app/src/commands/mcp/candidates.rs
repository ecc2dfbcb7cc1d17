//! The candidates of one server process: texts that agents proposed, by their hash.

use std::collections::BTreeMap;

use lightbench_core::project::{Kernel, Problem, Project};

use crate::commands::accept::stored::name_of;

/// Candidates that are remembered; the oldest makes room.
const MAX_CANDIDATES: usize = 512;

/// Maximum bytes of a text: as of a project's file.
const MAX_SOURCE_BYTES: usize = 1 << 20;

/// Proposed texts.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    sources: BTreeMap<String, String>,
    /// Names, the oldest first.
    order: Vec<String>,
}

/// Why a text does not become a candidate.
#[derive(Debug)]
pub(super) enum Refused {
    TooLarge,
    Problems(Vec<Problem>),
}

impl Candidates {
    /// Makes a text a candidate, if it is a kernel of the project.
    pub(super) fn propose(&mut self, project: &Project, source: String) -> Result<Kernel, Refused> {
        if source.len() > MAX_SOURCE_BYTES {
            return Err(Refused::TooLarge);
        }
        let name = name_of(&source);
        let kernel = project.draft(&name, source.clone()).map_err(Refused::Problems)?;
        if self.sources.insert(name.clone(), source).is_none() {
            self.order.push(name);
        }
        if self.order.len() > MAX_CANDIDATES {
            let oldest = self.order.remove(0);
            self.sources.remove(&oldest);
        }
        Ok(kernel)
    }

    /// The text of a candidate.
    pub(super) fn source(&self, name: &str) -> Option<&str> {
        self.sources.get(name).map(String::as_str)
    }

    /// The names, the newest first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.order.iter().rev().map(String::as_str)
    }

    /// Adds the candidate of this name, if it exists, to the project's kernels.
    pub(super) fn add_to(&self, project: &mut Project, name: &str) {
        let Some(source) = self.source(name) else { return };
        // The project's file may have changed since the proposal; then the kernel is unknown.
        if let Ok(kernel) = project.draft(name, source.to_owned())
            && !project.kernels.iter().any(|known| known.name == name)
        {
            project.kernels.push(kernel);
        }
    }
}
