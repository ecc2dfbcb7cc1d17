//! Tests of diffs by keyboard and label, and of their pictures.

use egui_kittest::kittest::Queryable as _;

use super::*;
use crate::testing;
use crate::theme::ThemeName;

const OLD: &str = include_str!("../../../../../../sample-projects/softmax/kernels/warp-per-row.cu");
const NEW: &str = include_str!("../../../../../../sample-projects/softmax/kernels/registers.cu");

fn harness(theme: ThemeName, diff: Diff) -> egui_kittest::Harness<'static, (Diff, DiffView)> {
    let view = DiffView::new("Comparison", Language::Cuda);
    testing::harness(theme, [1000.0, 560.0], (diff, view), |ui, (diff, view)| {
        view.show(ui, diff, ["warp-per-row.cu", "registers.cu"]);
    })
}

#[test]
fn changes_are_gone_through_and_folds_opened() {
    let old: Vec<String> = (0..300).map(|line| format!("int a{line};")).collect();
    let mut new = old.clone();
    "int b = 1;".clone_into(&mut new[100]);
    "int c = 1;".clone_into(&mut new[200]);
    let diff = Diff::from_texts(&old.join("\n"), &new.join("\n"));
    let mut harness = harness(ThemeName::Dark, diff);
    harness.get_by_label("2 changes");
    harness.get_by_label("Next change").click();
    harness.run();
    harness.get_by_label("1 of 2 changes");
    harness.get_by_label("Previous change").click();
    harness.run();
    harness.get_by_label("2 of 2 changes");
    harness.get_by_label("Show 93 unchanged lines").click();
    harness.run();
    assert!(harness.query_by_label("Show 93 unchanged lines").is_none());
    harness.get_by_label("Comparison").focus();
    harness.run();
    harness.key_press(Key::F7);
    harness.run();
    harness.get_by_label("1 of 2 changes");
}

#[test]
fn what_is_the_same_says_so() {
    let harness = harness(ThemeName::Light, Diff::from_texts(OLD, OLD));
    harness.get_by_label("No differences");
    harness.get_by_label("No changes");
}

#[test]
fn it_looks_like_this() {
    for theme in ThemeName::ALL {
        let mut harness = harness(theme, Diff::from_texts(OLD, NEW));
        harness.get_by_label("Next change").click();
        harness.run();
        testing::snapshot(&harness, "diff");
        if theme == ThemeName::Dark {
            // The colours of changed lines and words have no names.
            testing::as_stored(&mut harness, "stored-diff");
        }
    }
}
