//! Tests of differences to the pinned run, and of placeholders.

use std::sync::Arc;

use lightbench_core::history::StoredRun;
use lightbench_core::history::numbers::RecordedNumbers;
use lightbench_core::history::record::{FailureKind, Outcome};
use lightbench_core::speed_of_light::performance_data::Profile;
use lightbench_core::units::{Bytes, Fraction, Hertz};
use lightbench_core::verify::verdict::Passed;

use super::*;
use crate::workbench::measurements::{HIGHEST_CLOCK, LOWEST_CLOCK};
use crate::workbench::run_details::{ReadRun, RunDetails};

fn with_numbers(number: i64, registers: u32) -> StoredRun {
    let mut run = stored(number, "naive", 0, Some(1e-4));
    let workload = run.record.timings()[0].workload.clone();
    let known = RecordedNumbers {
        registers: Some(registers),
        spilled: Some(Bytes(0)),
        shared: Some(Bytes(1024)),
        occupancy: Some(Fraction(0.5)),
        counted: None,
    };
    let Outcome::Passed { numbers, .. } = &mut run.record.outcome else { panic!("it passed") };
    numbers.insert(workload, known);
    run
}

/// The run as it is read, with evidence of these bank conflicts.
fn with_counters(run: &StoredRun, conflicts: u64) -> TaskResult {
    let mut profile = Profile::default();
    profile.counted.total.shared_bank_conflicts = conflicts;
    let mut evaluation = passed(0, 1e-4);
    let Ok(Passed { timings, .. }) = &mut evaluation.verdict else { panic!("it passed") };
    timings[0].profile = Ok(profile);
    let details = Some(Arc::new(RunDetails::new("naive", &evaluation)));
    TaskResult::Run(folder(), ReadRun { run: Arc::new(run.clone()), source: None, details })
}

/// The window with one run shown and another one pinned.
fn pinned(theme: ThemeName, panel: Panel) -> Harness<'static, State> {
    let (mut harness, script) = shown(theme, SIZE);
    let window = &mut harness.state_mut().window;
    window.carry_out(Command::Show(panel), NOW);
    window.carry_out(Command::Pin(RunNumber(4)), NOW);
    window.carry_out(Command::SelectRun(RunNumber(1)), NOW);
    harness.run();
    let asked = script.handed();
    for (run, conflicts) in [(with_numbers(4, 32), 2048), (with_numbers(1, 40), 512)] {
        let is_asked = |task: &BackgroundTask| matches!(task, BackgroundTask::ReadRun(_, number) if *number == run.number);
        assert!(asked.iter().any(is_asked), "#{} is read", run.number);
        script.find(with_counters(&run, conflicts));
    }
    harness.run();
    harness
}

#[test]
fn counters_and_resources_stand_beside_those_of_the_pinned_run() {
    for theme in ThemeName::ALL {
        for (panel, words, text) in [
            (Panel::Resources, "registers: 8 more than #4, which has 32", "+8"),
            (Panel::Resources, "occupancy: the same as of #4", "same"),
            (
                Panel::Counters,
                "shared_bank_conflicts: 75.0 % less than #4, which has 2\u{2009}048",
                "-75.0 %",
            ),
        ] {
            let mut harness = pinned(theme, panel);
            harness.get_by_label(words);
            testing::snapshot(&harness, &format!("pinned-{}", panel.title()));
            harness.state_mut().window.carry_out(Command::Pin(RunNumber(4)), NOW);
            harness.run();
            assert!(harness.query_by_label(words).is_none(), "nothing is pinned: {text}");
        }
    }
}

/// A run that failed.
fn failed(number: i64) -> StoredRun {
    let mut run = stored(number, "naive", 0, None);
    run.record.outcome = Outcome::Failed {
        word: FailureKind::Wrong,
        sentence: "naive is wrong: row 3".to_owned(),
        evidence: serde_json::Value::Null,
    };
    run
}

/// A run that passed without a recorded time.
fn withheld(number: i64) -> StoredRun {
    let mut run = stored(number, "naive", 0, None);
    let timed = stored(number, "naive", 0, Some(1e-4));
    let workload = timed.record.timings()[0].workload.clone();
    let Outcome::Passed { withheld, .. } = &mut run.record.outcome else { panic!("it passed") };
    withheld.insert(workload, "waiting decides".to_owned());
    run
}

#[test]
fn panels_without_anything_say_why() {
    const ABOUT_TIMES: [Panel; 4] =
        [Panel::SpeedOfLight, Panel::Roofline, Panel::Timing, Panel::Workloads];
    let check = |run: Option<StoredRun>, panels: &[Panel], words: &[&str]| {
        for panel in panels {
            let (mut harness, script) = shown(ThemeName::Dark, SIZE);
            let window = &mut harness.state_mut().window;
            window.bench.runs.clear();
            window.carry_out(Command::Show(*panel), NOW);
            if let Some(run) = &run {
                window.bench.runs.add(std::slice::from_ref(run));
                harness.run();
                script.find(read(run, None));
            }
            harness.run();
            harness.run();
            for words in words {
                let found = harness.query_all_by_label_contains(words).count();
                assert!(found > 0, "{panel:?} does not say {words}");
            }
            let name = words[0].replace([' ', '#'], "-");
            testing::snapshot(&harness, &format!("absent-{name}-{}", panel.title()));
        }
    };
    let both = [&ABOUT_TIMES[..], &[Panel::Counters]].concat();
    check(None, &both, &["No run of naive yet", "Save it, or press F5"]);
    check(Some(failed(7)), &both, &["Run #7 failed", "Naive is wrong: row 3"]);
    check(Some(withheld(7)), &ABOUT_TIMES, &["The time of run #7 is withheld", "Waiting decides"]);
    let untimed = stored(7, "naive", 0, None);
    check(Some(untimed), &ABOUT_TIMES, &["Run #7 passed and was not timed"]);
    let mut recorded = stored(7, "naive", 0, Some(1e-4));
    recorded.provenance = lightbench_core::history::Provenance::Recorded;
    let kept = "The samples of this run were not recorded";
    check(Some(recorded.clone()), &[Panel::Timing], &[kept]);
    check(Some(recorded.clone()), &[Panel::Counters], &["No counters were recorded for run #7"]);
    check(Some(recorded.clone()), &[Panel::Resources], &["naive was not compiled"]);
    let all = "clock, power, temperature and free memory of the shown run were not recorded";
    check(Some(recorded.clone()), &[Panel::Device], &[all]);
    for name in [LOWEST_CLOCK, HIGHEST_CLOCK] {
        recorded.record.environment.clocks.insert(name.to_owned(), Hertz(1.98e9));
    }
    let most = "power, temperature and free memory of the shown run were not recorded";
    check(Some(recorded), &[Panel::Device], &[most, "1.98 GHz"]);
}
