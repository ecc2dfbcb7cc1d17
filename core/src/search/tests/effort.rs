//! What a search does not verify, does not compare, and tunes at once.

use super::*;
use crate::search::operators::TUNE;

fn run(script: Script) -> (SearchState, Scripted) {
    let setting = Setting { script, evaluations: 12, ..USUAL };
    let project = project(setting.project);
    let laboratory = setting.laboratory(&project, usize::MAX);
    let kept = laboratory.clone();
    let order = setting.order(&project);
    (Explorer::begin(order, laboratory, None, no_listeners()).unwrap().run().0, kept)
}

/// The time of a kernel that is faster by a factor if its text has a word.
fn faster(kernel: &Kernel, word: &str, factor: f64) -> Option<f64> {
    Some(if kernel.source.contains(word) { factor * 1e-3 } else { 1e-3 })
}

#[test]
fn what_seems_a_little_faster_is_screened_again_beside_the_best() {
    let check = |script: Script, again: bool, comparisons: bool| {
        let (story, laboratory) = run(script);
        let first = laboratory.seen.lock().unwrap().iter().filter(|name| *name == "naive").count();
        assert_eq!(first > 1, again, "{:?}", gist(&story));
        assert_eq!(*laboratory.compared.lock().unwrap() > 0, comparisons, "{:?}", gist(&story));
        assert!(story.best.is_some_and(|best| best > 0), "{:?}", gist(&story));
    };
    check(|kernel, _| faster(kernel, "PARAM_VECTOR", 0.95), true, true);
    check(|kernel, _| faster(kernel, "PARAM_VECTOR", 0.5), false, false);
}

#[test]
fn what_is_clearly_faster_on_average_is_compared_if_a_workload_is_not() {
    let (story, laboratory) = run(|kernel, workload| {
        let factor = if workload == "stream" { 1.2 } else { 0.2 };
        faster(kernel, "PARAM_VECTOR", factor)
    });
    assert!(*laboratory.compared.lock().unwrap() > 0, "{:?}", gist(&story));
    assert_eq!(story.best, Some(0));
}

#[test]
fn new_parameters_of_a_much_faster_variant_are_tuned_at_once() {
    let check = |script: Script, tuned: bool| {
        let (story, _) = run(script);
        let made = story.variants.iter().position(|variant| {
            variant.proposal.technique.is_some() && variant.proposal.source.contains("PARAM_VECTOR")
        });
        let made = made.unwrap_or_else(|| panic!("{:?}", gist(&story)));
        let next = story.attempts.iter().find(|attempt| attempt.parent == made);
        let is_tuned = next.is_some_and(|attempt| attempt.action == TUNE);
        assert_eq!(is_tuned, tuned, "{:?}", gist(&story));
    };
    check(|kernel, _| faster(kernel, "PARAM_VECTOR", 0.5), true);
    check(|kernel, _| faster(kernel, "PARAM_VECTOR", 0.9), false);
}
