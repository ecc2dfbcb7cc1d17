//! State of a search with a single kernel, for one question to a model outside a search.

use crate::history::definition_hash::definition_hash;
use crate::history::record::{FailureKind, Outcome, RunRecord};
use crate::history::timing::{Clock, Mode, RecordedTiming};
use crate::project::{Kernel, Project, Purpose};
use crate::search::entry::{
    Basis, Entry, FailureRecord, Header, Proposal, SCHEMA, Verdict, WorkloadTime,
};
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

/// Adds the result of a run of the kernel to its state: cold times that are reliable, or the failure.
pub fn add_run(story: &mut SearchState, run: &RunRecord) {
    let verdict = match &run.outcome {
        Outcome::Passed { timings, .. } => {
            let cold = |each: &&RecordedTiming| each.mode == Mode::Cold && each.taint.is_empty();
            let cold: Vec<&RecordedTiming> = timings.iter().filter(cold).collect();
            Verdict::Passed {
                times: cold.iter().filter_map(|each| time(each)).collect(),
                lines: cold.iter().map(|each| standing(each, &run.device.title)).collect(),
                bottleneck: None,
                advised: Vec::new(),
                not_checked: Vec::new(),
            }
        }
        Outcome::Failed { word, sentence, .. } => failed(*word, sentence),
    };
    let added = story.add(&Entry::Judged { variant: 0, verdict });
    debug_assert!(added.is_ok(), "the first variant exists");
}

fn time(timing: &RecordedTiming) -> Option<WorkloadTime> {
    let basis = match timing.clock {
        Clock::Measured { .. } => Basis::Measured,
        Clock::Modelled => Basis::Modelled,
        Clock::Unstated => return None,
    };
    Some(WorkloadTime {
        workload: timing.workload.as_str().to_owned(),
        seconds: timing.median.into(),
        basis,
    })
}

/// The time against its bound, and the limiter.
fn standing(timing: &RecordedTiming, device: &str) -> String {
    let share = timing.share().zip(timing.standing.as_ref()).map(|(share, standing)| {
        let percent = 100.0 * share.middle.0;
        format!("{percent:.0} % of the speed of light ({}, {})", standing.limiter, standing.peaks)
    });
    let limiter = timing.limiter.as_ref().map(|limiter| format!("limited by {}", limiter.words));
    let told: Vec<String> = share.into_iter().chain(limiter).collect();
    format!("{}: on {device}, {}", timing.workload.as_str(), told.join("; "))
}

fn failed(kind: FailureKind, sentence: &str) -> Verdict {
    let record = FailureRecord { kind: kind.as_str().to_owned(), sentence: sentence.to_owned() };
    if kind.is_judged() { Verdict::Failed(record) } else { Verdict::NotJudged(record) }
}
