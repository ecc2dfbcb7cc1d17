//! Tests of the catch matrix: requested, cancelled, shown.

use lightbench_core::audit::{Cell, Cheat, Matrix, Outcome, Sensitivity};
use lightbench_core::dtype::Dtype;

use super::*;

fn matrix() -> Matrix {
    let cell = |name: Cheat, outcome: Outcome| {
        let sentence = format!("{name} is wrong on llama-8b-decode: 4096 of 4096 elements of y");
        Cell { name, outcome, sentence }
    };
    let other = |name: &str| Cell {
        name: name.to_owned(),
        outcome: Outcome::Good,
        sentence: format!("{name} is as it should be"),
    };
    Matrix {
        gaps: Vec::new(),
        cheats: vec![
            cell(Cheat::Zeros, Outcome::Good),
            cell(Cheat::Constant, Outcome::Good),
            cell(Cheat::Mean, Outcome::NotApplicable),
        ],
        wrong: vec![other("no-epsilon")],
        honest: vec![other("naive"), other("vector16")],
        sensitivity: vec![Sensitivity {
            output: "y".to_owned(),
            dtype: Dtype::Bf16,
            exponent: Some(7),
        }],
        not_generated: None,
    }
}

#[test]
fn the_checker_is_tried_where_somebody_asks_and_what_it_catches_is_shown() {
    for theme in ThemeName::ALL {
        let (mut harness, script) = shown(theme, [SIZE[0], 1200.0]);
        harness.state_mut().window.carry_out(Command::Show(Panel::Result), NOW);
        harness.run();
        script.handed();
        harness.get_by_label("Audit the checker").click();
        harness.run();
        let handed = script.handed();
        let trial = handed
            .iter()
            .find_map(|task| {
                if let BackgroundTask::AuditChecker(trial) = task { Some(trial) } else { None }
            })
            .expect("it is handed over");
        harness.get_by_label_contains("Evaluating every cheat");
        assert!(!trial.cancellation.is_cancelled());
        script.find(TaskResult::CheckerAudited(folder(), Ok(matrix())));
        harness.run();
        harness.get_by_label("The checker has no hole here");
        harness.get_by_label("2 cheats caught, 1 gives the correct result bit for bit");
        harness.get_by_label("Of y, a relative error of 2^-7 of all elements is still caught");
        testing::snapshot(&harness, "flow-catches");
    }
}

#[test]
fn whoever_stops_it_hears_no_more_of_it() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    harness.state_mut().window.carry_out(Command::AuditChecker, NOW);
    harness.run();
    let handed = script.handed();
    let unwanted = handed
        .iter()
        .find_map(|task| {
            if let BackgroundTask::AuditChecker(trial) = task {
                Some(&trial.cancellation)
            } else {
                None
            }
        })
        .expect("it is handed over");
    harness.get_by_label("Stop trying").click();
    harness.run();
    assert!(unwanted.is_cancelled());
    script.find(TaskResult::CheckerAudited(folder(), Err("cancelled".to_owned())));
    harness.run();
    assert!(harness.query_by_label_contains("Cancelled").is_none());
    harness.get_by_label("Audit the checker");
}
