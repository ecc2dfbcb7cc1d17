//! Tests of compared runs: two, then more, as numbers, texts and machine code.

use std::collections::BTreeSet;

use lightbench_core::history::StoredRun;
use lightbench_core::history::numbers::{CountedLocation, RecordedCounts, RecordedNumbers};
use lightbench_core::history::record::Outcome;
use lightbench_core::history::timing::Clock;
use lightbench_core::units::{Bytes, Fraction};

use super::*;
use crate::workbench::UiEffect;

#[test]
fn two_runs_are_two_clicks_apart() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    harness.run();
    script.handed();
    harness.get_by_label_contains("#4 vector16").click();
    harness.run();
    press(&mut harness, Modifiers::COMMAND, Key::D);
    let numbers: BTreeSet<i64> = script
        .handed()
        .iter()
        .filter_map(|task| {
            if let BackgroundTask::ReadRun(_, number) = task { Some(number.0) } else { None }
        })
        .collect();
    assert_eq!(numbers.len(), 2, "{numbers:?}");
    for number in numbers {
        let (kernel, seconds) = if number == 4 { ("vector16", 1.31e-4) } else { ("naive", 6.2e-4) };
        let run = stored(number, kernel, 0, Some(seconds));
        script.find(read(&run, Some(format!("// {kernel}\nvoid f();\n"))));
    }
    harness.run();
    assert!(harness.query_by_label("Nothing to compare yet").is_none());
    harness.get_by_label("Swap sides");
    testing::snapshot(&harness, "flow-compare");
}

/// A run with numbers of its kernel.
fn numbered(number: i64, kernel: &str, seconds: f64, conflicts: u64) -> StoredRun {
    let mut run = stored(number, kernel, 0, Some(seconds));
    let Outcome::Passed { timings, numbers, .. } = &mut run.record.outcome else {
        panic!("it passed")
    };
    let own = RecordedNumbers {
        registers: Some(28 + number as u32),
        spilled: Some(Bytes(0)),
        shared: Some(Bytes(1024)),
        occupancy: Some(Fraction(0.5 + conflicts as f64 / 1e6)),
        counted: Some(RecordedCounts {
            at: CountedLocation::SameWorkload,
            warp_instructions: 41_943_040 / number as u64,
            active_lanes: Some(31.75),
            touched: Some(Bytes(536_887_296)),
            asked: Bytes(805_322_752),
            bank_conflicts: conflicts,
            divergent_branches: 16_384,
        }),
    };
    numbers.insert(timings[0].workload.clone(), own);
    run
}

/// Three compared runs, selected by keyboard.
fn three(theme: ThemeName) -> (Harness<'static, State>, Script) {
    let (mut harness, script) = shown(theme, [1440.0, 900.0]);
    for number in ["#4 vector16", "#2 warp-shuffle", "#1 naive"] {
        harness.get_by_label_contains(number).focus();
        press(&mut harness, Modifiers::NONE, Key::Enter);
        press(&mut harness, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::D);
    }
    let mut last = numbered(1, "naive", 6.2e-4, 9000);
    let Outcome::Passed { timings, .. } = &mut last.record.outcome else { panic!("it passed") };
    timings[0].clock = Clock::Modelled;
    let runs =
        [numbered(4, "vector16", 1.31e-4, 0), numbered(2, "warp-shuffle", 1.61e-4, 4096), last];
    for run in runs {
        let source = Some(format!("// {}\nvoid f();\n", run.record.kernel));
        script.find(read(&run, source));
    }
    press(&mut harness, Modifiers::COMMAND, Key::Num2);
    script.handed();
    (harness, script)
}

#[test]
fn more_than_two_runs_are_a_matrix_with_the_best_marked() {
    for theme in ThemeName::ALL {
        let (mut harness, _) = three(theme);
        harness.get_by_label("bank conflicts of A: 0, best");
        harness.get_by_label("registers of B: 30");
        // A modelled time is not comparable with measured ones.
        harness.get_by_label(&format!("time, {WORKLOAD} of A: 131 µs"));
        let said = "Different clock: measured by events (A, B) and modelled (C)";
        harness.get_by_label(said);
        testing::snapshot(&harness, "compare-matrix");
        harness.state_mut().window.carry_out(Command::CopyComparison, NOW);
        let wishes = harness.state_mut().window.bench.take_effects();
        let [UiEffect::Copy(text)] = wishes.as_slice() else { panic!("{wishes:?}") };
        assert!(text.contains("| bank conflicts | **0** (on this workload) | 4"), "{text}");
        assert!(text.contains("different clock"), "{text}");
    }
}

#[test]
fn two_devices_are_compared_in_amber_and_neither_is_best() {
    let (mut harness, script) = shown(ThemeName::Dark, [1440.0, 900.0]);
    for number in ["#4 vector16", "#2 warp-shuffle"] {
        harness.get_by_label_contains(number).focus();
        press(&mut harness, Modifiers::NONE, Key::Enter);
        press(&mut harness, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::D);
    }
    let mut other = numbered(2, "warp-shuffle", 1.61e-4, 4096);
    other.record.device.name = "virtual:t4".to_owned();
    for run in [numbered(4, "vector16", 1.31e-4, 0), other] {
        script.find(read(&run, Some("void f();\n".to_owned())));
    }
    press(&mut harness, Modifiers::COMMAND, Key::Num2);
    harness.get_by_label("Different device: virtual:h200 and virtual:t4");
    harness.get_by_label(&format!("time, {WORKLOAD} of A: 131 µs"));
    harness.get_by_label(&format!("time, {WORKLOAD} of B: 161 µs"));
    testing::snapshot(&harness, "flow-two-devices");
}

#[test]
fn a_run_leaves_the_matrix_as_it_came() {
    let (mut harness, _) = three(ThemeName::Dark);
    harness.state_mut().window.carry_out(Command::AddToComparison(Some(RunNumber(1))), NOW);
    harness.run();
    assert!(harness.query_by_label_contains("C #1").is_none());
    harness.get_by_label("B against A");
    harness.state_mut().window.carry_out(Command::AddToComparison(Some(RunNumber(4))), NOW);
    let notices = &harness.state().window.bench.notices;
    assert!(notices.newest().any(|notice| notice.text.contains("already in the comparison")));
}

#[test]
fn machine_code_of_two_runs_is_asked_for_once_and_compared() {
    let (mut harness, script) = three(ThemeName::Light);
    harness.get_by_label("Machine code").focus();
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.run();
    harness.get_by_label_contains("Being compiled");
    let asked: Vec<i64> = script
        .handed()
        .iter()
        .filter_map(|task| {
            if let BackgroundTask::DisassembleRun { run, .. } = task {
                Some(run.number.0)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(asked, [4, 2]);
    let code = |width: &str| format!("f:\n    LDG.E.{width} R2, desc[UR4][R2.64]\n    EXIT \n");
    script.find(TaskResult::RunCode(folder(), RunNumber(4), Ok(code("128"))));
    harness.run();
    let why = "the stored texts compile to a different candidate today";
    script.find(TaskResult::RunCode(folder(), RunNumber(2), Err(why.to_owned())));
    harness.run();
    harness.get_by_label_contains(why);
    script.find(TaskResult::RunCode(folder(), RunNumber(2), Ok(code("32"))));
    harness.run();
    assert!(harness.query_by_label_contains(why).is_none());
    testing::snapshot(&harness, "compare-machine-code");
}
