//! Tests of labels, grouping and keyboard selection in the history.

use super::*;
use crate::workbench::runs::Runs;

/// A history with two families.
fn families(theme: ThemeName) -> (Harness<'static, State>, Script) {
    let (mut harness, script) = shown(theme, SIZE);
    let bench = &mut harness.state_mut().window.bench;
    bench.runs = Runs::default();
    let runs = [
        (1, "naive", None, 6.2e-4),
        (2, "warp-shuffle", None, 1.61e-4),
        (3, "naive", Some(1), 5.9e-4),
        (4, "vector16", None, 1.31e-4),
        (5, "naive-wide", Some(3), 1.7e-4),
        (6, "vector16", Some(4), 1.29e-4),
    ];
    for (number, kernel, parent, seconds) in runs {
        let mut run = stored(number, kernel, 0, Some(seconds));
        run.record.parent = parent.map(|parent: i64| format!("{parent:0<64x}"));
        bench.runs.add(&[run]);
    }
    harness.run();
    (harness, script)
}

fn type_text(harness: &mut Harness<'static, State>, text: &str) {
    harness.event(egui::Event::Text(text.to_owned()));
    harness.run();
}

#[test]
fn a_run_is_labelled_and_found_by_its_label_with_keys_alone() {
    let (mut harness, script) = families(ThemeName::Dark);
    harness.get_by_label_contains("#5 naive-wide").focus();
    press(&mut harness, Modifiers::NONE, Key::Enter);
    script.handed();
    press(&mut harness, Modifiers::NONE, Key::F2);
    type_text(&mut harness, "four words at once");
    testing::snapshot(&harness, "history-labelling");
    press(&mut harness, Modifiers::NONE, Key::Enter);
    let handed = script.handed();
    let [BackgroundTask::Label(_, RunNumber(5), Some(label))] = handed.as_slice() else {
        panic!("{handed:?}")
    };
    assert_eq!(label.as_str(), "four words at once");
    assert!(harness.query_by_label("Label of run 5").is_none());
    script.find(TaskResult::Labelled(folder(), RunNumber(5), Some(label.clone())));
    harness.run();
    harness.get_by_label_contains("four words at once");
    harness.get_by_role_and_label(egui::accesskit::Role::TextInput, "Filter runs").focus();
    harness.run();
    type_text(&mut harness, "words");
    assert!(harness.query_by_label_contains("#6 vector16").is_none());
    harness.get_by_label_contains("#5 naive-wide");
}

#[test]
fn leaving_the_field_labels_nothing_and_too_long_a_label_cannot_be_typed() {
    let (mut harness, script) = families(ThemeName::Light);
    script.handed();
    press(&mut harness, Modifiers::NONE, Key::F2);
    type_text(&mut harness, &"long ".repeat(30));
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(script.handed().is_empty());
    harness.state_mut().window.carry_out(Command::Label(RunNumber(1), "a\nb".to_owned()), NOW);
    let notices = &harness.state().window.bench.notices;
    assert!(notices.newest().any(|notice| notice.text.contains("one line")));
    assert!(script.handed().is_empty());
}

#[test]
fn families_are_folded_and_walked_through_with_keys() {
    for theme in ThemeName::ALL {
        let (mut harness, _) = families(theme);
        let label = lightbench_core::history::label::Label::typed("two rows").unwrap();
        harness.state_mut().window.bench.runs.label(RunNumber(3), label.as_ref());
        harness.state_mut().window.carry_out(Command::GroupRuns, NOW);
        harness.run();
        testing::snapshot(&harness, "history-families");
        let head = "Family naive, 3 runs, best #5";
        harness.get_by_label_contains(head).focus();
        harness.run();
        press(&mut harness, Modifiers::NONE, Key::ArrowDown);
        press(&mut harness, Modifiers::NONE, Key::ArrowDown);
        let shown = |harness: &Harness<'static, State>| {
            harness.state().window.bench.shown_run().map(|row| row.number.0)
        };
        assert_eq!(shown(&harness), Some(3));
        press(&mut harness, Modifiers::NONE, Key::ArrowUp);
        assert_eq!(shown(&harness), Some(5));
        press(&mut harness, Modifiers::NONE, Key::ArrowUp);
        press(&mut harness, Modifiers::NONE, Key::Enter);
        assert!(harness.query_by_label_contains("#3 naive").is_none());
        harness.get_by_label_contains("#6 vector16");
        testing::snapshot(&harness, "history-folded");
    }
}

#[test]
fn arrow_keys_scroll_a_long_history() {
    let (mut harness, _) = families(ThemeName::Dark);
    let bench = &mut harness.state_mut().window.bench;
    bench.runs = Runs::default();
    let runs: Vec<_> = (1..=400).map(|number| stored(number, "naive", 0, Some(1e-4))).collect();
    bench.runs.add(&runs);
    harness.run();
    harness.get_by_label_contains("#400 naive").focus();
    harness.run();
    for _ in 0..120 {
        press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    }
    assert_eq!(harness.state().window.bench.selection.run, Some(RunNumber(280)));
    harness.get_by_label_contains("#280 naive");
}
