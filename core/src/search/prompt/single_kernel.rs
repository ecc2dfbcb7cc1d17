//! State of a search with a single kernel, for one question to a model outside a search.

use crate::history::definition_hash::definition_hash;
use crate::project::{Kernel, Project, Purpose};
use crate::search::entry::{Entry, Header, Proposal, SCHEMA};
use crate::search::roles::Roles;
use crate::search::{Budget, SearchState};

/// A state whose only variant is this kernel, unchanged. It has no journal.
#[must_use]
pub fn single_kernel_state(
    project: &Project,
    kernel: &Kernel,
    device: &str,
    device_title: &str,
) -> SearchState {
    let counts = project.workloads.iter().filter(|each| each.purpose == Purpose::Measure);
    let mut story = SearchState::new(Header {
        schema: SCHEMA.to_owned(),
        id: String::new(),
        began_at: jiff::Timestamp::UNIX_EPOCH,
        project: project.definition.name.clone(),
        definition: definition_hash(project),
        kernel: kernel.name.clone(),
        device: device.to_owned(),
        device_title: device_title.to_owned(),
        workloads: counts.map(|workload| workload.name.clone()).collect(),
        strategy: String::new(),
        tuner: String::new(),
        operators: Vec::new(),
        roles: Roles::default(),
        contrast: 0,
        budget: Budget::default(),
        seed: 0,
        program: String::new(),
        knowledge: None,
    });
    let first = Proposal::first(kernel, "the kernel that the question is about");
    let first = Entry::Proposed(Box::new(first));
    let added = story.add(&first);
    debug_assert!(added.is_ok(), "the first variant has no parent");
    story
}
