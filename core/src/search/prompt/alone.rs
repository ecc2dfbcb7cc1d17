//! The story of a kernel that nobody searched with yet: what a single question is about.

use crate::history::record::definition_hash;
use crate::project::{Kernel, Project, Purpose};
use crate::search::entry::{Entry, Header, Proposal, SCHEMA};
use crate::search::roles::Roles;
use crate::search::{Budget, Forecasting, Story};

/// A story whose one variant is this kernel, as it is. Nothing of it is ever written down.
#[must_use]
pub fn alone(project: &Project, kernel: &Kernel, device: &str, device_title: &str) -> Story {
    let counts = project.workloads.iter().filter(|each| each.purpose == Purpose::Measure);
    let mut story = Story::new(Header {
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
        forecast: Forecasting::Off,
        contrast: 0,
        budget: Budget::default(),
        seed: 0,
        program: String::new(),
        knowledge: None,
    });
    let first = Proposal::first(kernel, "it is what the question is about");
    let first = Entry::Proposed(Box::new(first));
    let added = story.add(&first);
    debug_assert!(added.is_ok(), "the first variant follows from nothing");
    story
}
