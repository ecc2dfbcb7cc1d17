//! Variants whose evaluation the device or the machine ended: neither failures nor successes.

use super::*;

/// Of `vector-add` these look faster, and every check finds that they are wrong.
fn is_streamed(kernel: &Kernel) -> bool {
    kernel.source.contains("__ldcs")
}

/// The first look at each variant but the first is ended.
fn each_once(kernel: &Kernel, part: Part) -> usize {
    usize::from(part == Part::Look && kernel.name != "naive")
}

#[test]
fn a_variant_that_was_not_judged_is_evaluated_once_more_and_counts_then() {
    let check = |name: &str, interrupts: Interrupts| {
        let usual = Setting { evaluations: 200, ..USUAL };
        let undisturbed = usual.run();
        let story = Setting { interrupts, ..usual }.run();
        let again: Vec<&Variant> =
            story.variants.iter().filter(|variant| variant.not_judged > 0).collect();
        assert!(!again.is_empty(), "{name}: the script ends some");
        for variant in again {
            assert_eq!(variant.not_judged, 1, "{name}");
            assert!(!variant.is_not_judged(), "{name}: {:?}", variant.decision);
        }
        assert_eq!(story.ended, Some(End::NothingLeft), "{name}");
        let best = |story: &SearchState| source(story, story.best).to_owned();
        assert_eq!(best(&story), best(&undisturbed), "{name}");
    };
    check("each look", each_once);
    check("looks at streamed loads", |kernel, part| {
        usize::from(part == Part::Look && is_streamed(kernel))
    });
    check("checks of streamed loads", |kernel, part| {
        usize::from(part == Part::Checks && is_streamed(kernel))
    });
}

#[test]
fn what_is_never_judged_is_tried_twice_and_teaches_nothing() {
    let check = |interrupts: Interrupts| {
        let setting = Setting { evaluations: 200, interrupts, ..USUAL };
        let project = project(setting.project);
        let laboratory = setting.laboratory(&project, usize::MAX);
        let order = setting.order(&project);
        let explorer = Explorer::begin(order, laboratory, None, no_listeners()).unwrap();
        let (story, learnt) = explorer.run();
        let never: Vec<usize> = (0..story.variants.len())
            .filter(|variant| story.variants[*variant].not_judged > 0)
            .collect();
        assert!(!never.is_empty(), "{:#?}", gist(&story));
        for variant in &never {
            let known = &story.variants[*variant];
            assert_eq!((known.not_judged, known.is_not_judged()), (2, true));
        }
        // The script has no other failure.
        assert!(learnt.seen.iter().all(|seen| seen.failures == 0), "{learnt:?}");
        let mut parents = story.variants.iter().filter_map(|variant| variant.proposal.parent);
        assert!(parents.all(|parent| !never.contains(&parent)), "nothing is made of them");
        let nodes = replay::archive(setting.order(&project), story.clone()).nodes().len();
        assert_eq!(nodes, story.variants.len() - never.len(), "the archive has the others");
    };
    check(|kernel, part| 99 * usize::from(part == Part::Look && is_streamed(kernel)));
    check(|kernel, part| 99 * usize::from(part == Part::Checks && is_streamed(kernel)));
}

#[test]
fn what_the_device_does_not_support_is_not_tried_again() {
    let reason = NotJudged::NotSupported { reason: "tensor cores".to_owned() };
    let look = ScreeningResult::from_verdict(&Err(reason.into()));
    let story = Setting { evaluations: 2, ..USUAL }.run();
    let mut variant = story.variants[0].clone();
    (variant.verdict, variant.not_judged) = (None, 1);
    variant.decision = Some(Decision::NotJudged { why: "tensor cores".to_owned() });
    variant.look = Some(look);
    assert!(variant.is_not_judged() && !variant.is_due_again());
    variant.look = Some(ScreeningResult::from_verdict(&Err(lost())));
    assert!(variant.is_due_again());
}

#[test]
fn a_kernel_to_begin_with_that_is_not_judged_is_not_called_wrong() {
    let check = |interrupts: Interrupts, expected: Option<&str>| {
        let story = Setting { interrupts, ..USUAL }.run();
        match (&story.ended, expected) {
            (Some(End::Impossible(why)), Some(expected)) => {
                assert!(why.contains(expected), "{why}");
            }
            (ended, None) => assert!(!matches!(ended, Some(End::Impossible(_))), "{ended:?}"),
            (ended, Some(_)) => panic!("{ended:?}"),
        }
    };
    check(|kernel, _| usize::from(kernel.name == "naive"), None);
    check(|kernel, _| 2 * usize::from(kernel.name == "naive"), Some("was not judged"));
}

#[test]
fn journals_of_earlier_versions_open() {
    let failed = r#"{"failed":{"kind":"device_lost","sentence":"it was lost"}}"#;
    let look: ScreeningResult = serde_json::from_str(failed).unwrap();
    assert!(matches!(look, ScreeningResult::Failed(ref reason) if !reason.is_judged()));
    let new = serde_json::to_string(&ScreeningResult::from_verdict(&Err(lost()))).unwrap();
    assert!(new.starts_with(r#"{"not_judged":{"kind":"device_lost""#), "{new}");
}
