//! Cells and best marks of a run matrix.

use lightbench_core::history::Provenance;
use lightbench_core::history::numbers::RecordedNumbers;
use lightbench_core::history::timing::RecordedStanding;

use super::*;
use crate::workbench::tests::{WORKLOAD, stored};

fn timing(run: &mut StoredRun) -> &mut RecordedTiming {
    let Outcome::Passed { timings, .. } = &mut run.record.outcome else { panic!("it passed") };
    &mut timings[0]
}

fn needs(run: &mut StoredRun) -> &mut RecordedNumbers {
    let name = timing(run).workload.clone();
    let Outcome::Passed { numbers, .. } = &mut run.record.outcome else { panic!("it passed") };
    numbers.entry(name).or_default()
}

fn with_conflicts(mut run: StoredRun, conflicts: u64, at: CountedLocation) -> StoredRun {
    *needs(&mut run) = RecordedNumbers {
        registers: Some(40),
        counted: Some(RecordedCounts {
            at,
            warp_instructions: 1_234_567,
            active_lanes: Some(31.5),
            touched: None,
            asked: Bytes(64),
            bank_conflicts: conflicts,
            divergent_branches: 0,
        }),
        ..RecordedNumbers::default()
    };
    run
}

/// Checks the cells of a row; the best are marked with a star.
fn check(runs: &[StoredRun], name: &str, expected: &[&str]) {
    let runs: Vec<&StoredRun> = runs.iter().collect();
    let matrix = RunMatrix::from_runs(&runs, WORKLOAD);
    let row = matrix.rows.iter().find(|row| row.name == name);
    let row = row.unwrap_or_else(|| panic!("{name}: {matrix:?}"));
    let star = |rank| if rank == Rank::Best { "*" } else { "" };
    let found: Vec<String> =
        row.cells.iter().map(|cell| format!("{}{}", cell.text, star(cell.rank))).collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn the_best_is_marked_among_numbers_of_one_kind() {
    let time = format!("time, {WORKLOAD}");
    let run = |number, seconds| stored(number, "a", 0, Some(seconds));
    check(&[run(1, 1e-4), run(2, 2e-4), run(3, 1.5e-4)], &time, &["100 µs*", "200 µs", "150 µs"]);
    // The intervals of the first two overlap.
    check(
        &[run(1, 1e-4), run(2, 1.001e-4), run(3, 2e-4)],
        &time,
        &["100 µs*", "100 µs*", "200 µs"],
    );
    check(&[run(1, 1e-4), run(2, 1.001e-4), run(3, 1e-4)], &time, &["100 µs", "100 µs", "100 µs"]);
    let mut modelled = run(3, 1e-5);
    timing(&mut modelled).clock = Clock::Modelled;
    check(&[run(1, 1e-4), run(2, 2e-4), modelled], &time, &["100 µs", "200 µs", "10.0 µs"]);
    let mut recorded = run(3, 1e-5);
    recorded.provenance = Provenance::Recorded;
    check(&[run(1, 1e-4), run(2, 2e-4), recorded], &time, &["100 µs", "200 µs", "10.0 µs"]);
    check(
        &[run(1, 1e-4), stored(2, "b", 0, None), run(3, 2e-4)],
        &time,
        &["100 µs*", "", "200 µs"],
    );
}

#[test]
fn counts_of_different_places_have_no_best_and_registers_never() {
    let run = |number| stored(number, "a", 0, Some(1e-4));
    let there =
        |number, conflicts| with_conflicts(run(number), conflicts, CountedLocation::SameWorkload);
    check(&[there(1, 8), there(2, 0), there(3, 8)], "bank conflicts", &["8", "0*", "8"]);
    check(&[there(1, 8), there(2, 8), there(3, 8)], "bank conflicts", &["8", "8", "8"]);
    let beside = CountedLocation::SmallerWorkload {
        device: "virtual:h200".to_owned(),
        workload: "w".to_owned(),
    };
    let other = with_conflicts(run(3), 0, beside);
    let places = ["on this workload", "on this workload", "on virtual:h200 in w"];
    check(&[there(1, 8), there(2, 4), other.clone()], "counted", &places);
    check(&[there(1, 8), there(2, 4), other], "bank conflicts", &["8", "4", "0"]);
    let mut fewer = there(3, 8);
    needs(&mut fewer).registers = Some(20);
    check(&[there(1, 8), there(2, 8), fewer], "registers", &["40", "40", "20"]);
    check(&[run(1), there(2, 8), there(3, 9)], "bank conflicts", &["", "8*", "9"]);
    check(&[there(1, 8), there(2, 8), there(3, 9)], "warp instructions", &["1,234,567"; 3]);
}

#[test]
fn a_time_that_is_withheld_says_why_and_its_counts_are_there() {
    let mut run = with_conflicts(stored(1, "a", 0, Some(1e-4)), 8, CountedLocation::SameWorkload);
    let Outcome::Passed { timings, withheld, .. } = &mut run.record.outcome else {
        panic!("it passed")
    };
    let name = timings.remove(0).workload;
    withheld.insert(name, "waiting decides".to_owned());
    let runs = [run, stored(2, "b", 0, Some(1e-4))];
    check(&runs, &format!("time, {WORKLOAD}"), &["no time", "100 µs"]);
    check(&runs, "bank conflicts", &["8", ""]);
}

#[test]
fn a_bound_is_the_tasks_and_known_of_a_run_without_a_time() {
    let mut runs = [1, 2].map(|number| stored(number, "a", 0, Some(1e-4)));
    let bound = timing(&mut runs[0]).median;
    timing(&mut runs[0]).standing = Some(RecordedStanding {
        bound,
        fraction: lightbench_core::units::Fraction(1.0),
        limiter: "DRAM".to_owned(),
        peaks: "sheet".to_owned(),
    });
    let Outcome::Passed { timings, .. } = &mut runs[1].record.outcome else { panic!("it passed") };
    timings.clear();
    check(&runs, "bound", &["100 µs", "100 µs"]);
    check(&runs, "of the speed of light", &["100 %", ""]);
    runs[1].record.device.name = "another".to_owned();
    check(&runs, "bound", &["100 µs", ""]);
}

#[test]
fn a_table_says_how_each_number_came_about() {
    let mut runs = [1, 2, 3].map(|number| stored(number, "a|b", 0, Some(1e-4 * number as f64)));
    timing(&mut runs[2]).clock = Clock::Modelled;
    let table = RunMatrix::from_runs(&runs.iter().collect::<Vec<_>>(), WORKLOAD).markdown();
    let expected = "|  | A #1 a\\|b | B #2 a\\|b | C #3 a\\|b |\n| --- | --- | --- | --- |\n\
                    | verdict | passed | passed | passed |\n";
    assert!(table.starts_with(expected), "{table}");
    assert!(table.contains("| 100 µs (measured by events, 99.8 µs to 100 µs) |"), "{table}");
    assert!(table.contains("| 300 µs (modelled, 299 µs to 301 µs) |"), "{table}");
}
