//! One number in every view: a new verdict, the same run read from the history, and the report for scripts.

use lightbench_core::history::StoredRun;
use lightbench_core::history::record::Outcome;
use lightbench_core::measure::Timing;
use lightbench_core::report::evidence::RunEvidence;
use lightbench_core::speed_of_light::achieved::Achieved;
use lightbench_core::speed_of_light::advice::Advice;
use lightbench_core::speed_of_light::bound::{CacheState, PhysicalBound};
use lightbench_core::speed_of_light::bound_comparison::{Bounds, compare_with_bounds};
use lightbench_core::speed_of_light::bound_fraction::ComparableTime;
use lightbench_core::speed_of_light::ceilings::{Basis, Ceilings};
use lightbench_core::speed_of_light::limiter::{Bottleneck, Limiter};
use lightbench_core::speed_of_light::minimal_work::MinimalWork;
use lightbench_core::speed_of_light::performance_data::Profile;
use lightbench_core::units::Seconds;
use lightbench_core::verify::verdict::{WorkloadStanding, WorkloadTiming};
use lightbench_core::virtual_gpu::cost::time::LimitingResource;

use super::*;
use crate::workbench::run_details::{ReadRun, RunDetails};

const SEED: u64 = 9;

/// A modelled run with counters and a standing.
fn evaluated() -> lightbench_core::evaluate::Run {
    let mut run = passed(SEED, 1e-4);
    let timed = &mut run.verdict.as_mut().unwrap().timings[0];
    timed.timings =
        vec![Timing::modelled(Seconds(1.1e-4), (1.0, 2.0), "DRAM".to_owned(), Vec::new())];
    let mut profile = Profile {
        units: vec![
            (LimitingResource::Dram, Seconds(8e-5)),
            (LimitingResource::Single, Seconds(3e-5)),
        ],
        ..Profile::default()
    };
    profile.counted.total.warp_instructions = 123_456;
    profile.counted.total.shared_bank_conflicts = 789;
    timed.profile = Ok(profile);
    timed.standing = Some(standing(timed));
    run
}

fn standing(timed: &WorkloadTiming) -> WorkloadStanding {
    let project = project();
    let work = MinimalWork::new(&project.definition, project.workload(WORKLOAD).unwrap());
    let (opened, _) = opened();
    let sheet = opened.device().unwrap().sheet;
    let ceilings = Ceilings::new(sheet, None, Basis::Sheet).on_virtual_device();
    let physical = PhysicalBound::new(&work, &ceilings, CacheState::Cold).unwrap();
    let time = ComparableTime::from(&timed.timings[0]);
    let limiter = Limiter {
        bottleneck: Bottleneck::Unknown,
        busy: None,
        counted_at: None,
        evidence: vec!["evidence of the limiter".to_owned()],
    };
    WorkloadStanding {
        bound: Some(physical.bound().clone()),
        achieved: Achieved::new(&work, physical.bound(), &ceilings, time.time),
        standing: Some(compare_with_bounds(time, &[Bounds { physical: &physical, method: None }])),
        limiter,
        advice: Advice::Nothing,
        facts: BTreeMap::new(),
        launch: None,
        line: "Correct".to_owned(),
    }
}

/// The same run as the history stores it.
fn recorded(run: &lightbench_core::evaluate::Run) -> StoredRun {
    let mut stored = stored(5, "naive", SEED, Some(1e-4));
    let passed = run.verdict.as_ref().unwrap();
    let standing = passed.timings[0].standing.as_ref().unwrap();
    let Outcome::Passed { timings, .. } = &mut stored.record.outcome else { panic!("it passed") };
    let name = timings[0].workload.clone();
    let timing = &passed.timings[0].timings[0];
    let mut texts = lightbench_core::history::text::Texts::default();
    let timing =
        lightbench_core::history::timing::RecordedTiming::from_timing(name, timing, &mut texts);
    let mut timing = timing.unwrap();
    timing.stand(standing.standing.as_ref().unwrap()).unwrap();
    timing.hold_back(&standing.limiter);
    timings[0] = timing;
    stored
}

#[test]
fn a_run_of_the_history_has_the_numbers_of_its_new_verdict_and_of_its_report() {
    let run = evaluated();
    let (stored, evidence) = (recorded(&run), RunEvidence::new("naive", &run));
    let kept = RunEvidence::from_compressed(&evidence.compressed().unwrap()).unwrap();
    assert_eq!(kept, evidence, "what a history keeps is what was shown");
    let report = &evidence.passed().unwrap().times[0];
    let standing = report.standing.as_ref().unwrap();
    let fraction = Fraction(standing.fraction.unwrap());
    let achieved = standing.achieved.as_ref().unwrap();
    for panel in
        [Panel::Result, Panel::Counters, Panel::SpeedOfLight, Panel::Timing, Panel::Roofline]
    {
        let (mut live, script) = shown(ThemeName::Dark, SIZE);
        press(&mut live, Modifiers::NONE, Key::F5);
        settled(
            &mut live,
            |seed| {
                let mut run = evaluated();
                run.seed = seed;
                Ending::Evaluated(Box::new(run))
            },
            &script,
        );
        let seed = evaluations(&script).pop().unwrap().2;
        let mut recorded = stored.clone();
        recorded.record.seed = Some(seed);
        let compared = RunComparisons::default();
        script.find(TaskResult::Recorded(folder(), Box::new(recorded), compared));
        live.state_mut().window.carry_out(Command::Show(panel), NOW);
        live.run();

        let (mut later, script) = shown(ThemeName::Dark, SIZE);
        script.find(TaskResult::History(folder(), vec![stored.clone()], HistoryPart::Last));
        later.state_mut().window.carry_out(Command::ChooseKernel("naive".to_owned()), NOW);
        later.state_mut().window.carry_out(Command::Show(panel), NOW);
        later.run();
        let mut details = RunDetails::new("naive", &run);
        details.evidence = kept.clone();
        let details = Some(std::sync::Arc::new(details));
        let run = std::sync::Arc::new(stored.clone());
        script.find(TaskResult::Run(folder(), ReadRun { run, source: None, details }));
        later.run();

        let (live, later) = (testing::elements(&live), testing::elements(&later));
        for element in live.symmetric_difference(&later) {
            // The name of a key is no number.
            let words = element.replace("F5", "");
            let has_number = words.chars().any(|letter| letter.is_ascii_digit());
            assert!(!has_number || element.contains("of the history"), "{panel:?}: {element}");
        }
        let has = |text: &str| live.iter().any(|element| element.contains(text));
        assert!(has(&format!("of the bound: {fraction}")), "{panel:?}: {fraction}");
        assert!(has(&format!("achieved: {}", achieved.rate)), "{panel:?}: {achieved:?}");
        if panel == Panel::SpeedOfLight {
            assert!(has(&format!("{fraction}")), "{fraction}");
            assert!(has(&Fraction(achieved.fraction).to_string()), "{achieved:?}");
        }
    }
}

#[test]
fn a_verdict_on_another_text_of_the_kernel_is_named_as_such() {
    let check = |source: Option<&str>, expected: &str| {
        let (mut harness, script) = shown(ThemeName::Dark, SIZE);
        let run = stored(5, "naive", SEED, Some(1e-4));
        script.find(TaskResult::History(folder(), vec![run.clone()], HistoryPart::Last));
        harness.state_mut().window.carry_out(Command::ChooseKernel("naive".to_owned()), NOW);
        harness.run();
        let details = Some(std::sync::Arc::new(RunDetails::new("naive", &passed(SEED, 1e-4))));
        let (run, source) = (std::sync::Arc::new(run), source.map(Into::into));
        script.find(TaskResult::Run(folder(), ReadRun { run, source, details }));
        harness.run();
        harness.get_by_label(expected);
    };
    let project = project();
    let present = &project.kernel("naive").unwrap().source;
    check(Some(present), "#5 naive: correct");
    check(Some("// before"), "#5 naive, another text: correct");
    check(None, "#5 naive: correct");
}
