//! A comparison as a document.

use lightbench_core::evaluate::LibraryUnusable;
use lightbench_core::report::document::compare::{
    CompareReport, CompareSchema, LibraryVerdict, ReportedSide,
};
use lightbench_core::report::document::{ReportedStatus, verdict_word};
use lightbench_core::verify::sentence;

use super::{ComparisonReport, SideResult, text};

pub(super) fn report(told: &ComparisonReport<'_>) -> CompareReport {
    CompareReport {
        schema: CompareSchema::V3,
        device: told.chosen.reported(),
        mode: told.mode.word().to_owned(),
        sides: [side(told, 0), side(told, 1)],
        workloads: told.done.workloads.iter().flatten().map(Into::into).collect(),
    }
}

fn side(told: &ComparisonReport<'_>, side: usize) -> ReportedSide {
    let title = told.sides[side].title();
    match &told.done.found[side] {
        SideResult::Kernel(run) => ReportedSide::Kernel {
            run: told.sides[side].number().map(|number| number.0),
            not_as_when_it_ran: told.since(side),
            candidate: run.candidate.map(|hash| format!("{hash:#}")),
            seed: run.seed,
            sentence: sentence::verdict(&title, &run.verdict),
            verdict: verdict_word(&run.verdict).to_owned(),
            status: ReportedStatus::from_verdict(&run.verdict),
            kernel: title,
        },
        SideResult::Library(asked) => {
            let (verdict, sentence) = match asked {
                None => (LibraryVerdict::NotAsked, None),
                Some(Ok(times)) => (LibraryVerdict::Passed, Some(text::library(times))),
                Some(Err(unusable @ LibraryUnusable::Unusable(_))) => {
                    (LibraryVerdict::Unusable, Some(unusable.to_string()))
                }
                Some(Err(wrong @ LibraryUnusable::Wrong(_))) => {
                    (LibraryVerdict::Wrong, Some(wrong.to_string()))
                }
            };
            let used = asked.as_ref().and_then(|asked| asked.as_ref().ok()?.used.clone());
            ReportedSide::Library { library: title, used, sentence, verdict }
        }
    }
}
