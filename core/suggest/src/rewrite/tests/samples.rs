//! Every rewrite of every rule on every kernel of the sample projects.

use std::collections::BTreeSet;

use lightbench_project::{Kernel, Language, Project};

use super::{folder, sample};
use crate::rewrite::{KernelSource, NotApplicable, Rewrite, Rule, rewritten, rules};

/// Rules that, once applied to a place, have nothing more to do there.
const ONCE: &[&str] = &[
    "restrict",
    "launch-bounds",
    "resident-blocks",
    "register-limit",
    "read-only-loads",
    "streamed-loads",
    "streamed-stores",
    "pad-shared",
    "axis-constant",
    "narrow-index",
    "fast-functions",
    "fast-division",
    "reciprocal-root",
    "single-literals",
    "block-parameter",
    "unroll",
    "warp-per-row",
    "block-per-row",
    "row-in-registers",
    "neighbouring-elements",
    "serial-sums",
    "running-maximum",
    "tiled-stores",
    "tiled-loads",
    "shared-tiles",
    "register-tiles",
    "warpgroup-tiles",
    "private-counts",
];

fn projects() -> Vec<Project> {
    let folders = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap());
    let folders = folders.filter(|entry| entry.path().join("project.ron").is_file());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names.iter().map(|name| sample(name)).collect()
}

fn each(mut see: impl FnMut(&Project, &Kernel, &'static Rule, &Rewrite)) {
    for project in projects() {
        for kernel in project.kernels.iter().filter(|kernel| kernel.language == Language::Cuda) {
            let subject = match KernelSource::from_kernel(&project, kernel) {
                // Its code depends on the architecture.
                Err(NotApplicable::Several { .. }) => continue,
                read => read.unwrap(),
            };
            for rule in rules() {
                for rewrite in rule.rewrites(&subject).unwrap_or_default() {
                    see(&project, kernel, rule, &rewrite);
                }
            }
        }
    }
}

#[test]
fn every_rewrite_is_a_kernel_again_and_touches_its_own_places_only() {
    let mut count = 0;
    each(|project, kernel, rule, rewrite| {
        let place =
            format!("{}/{}: {}: {}", project.definition.name, kernel.name, rule.id, rewrite.what);
        assert!(rewrite.is_orderly(), "{place}: {:?}", rewrite.edits);
        let inside = |range: &std::ops::Range<usize>| kernel.source.get(range.clone()).is_some();
        assert!(rewrite.edits.iter().all(|edit| inside(&edit.range)), "{place}");
        assert!(!rewrite.edits.is_empty() && !rewrite.what.ends_with('.'), "{place}");
        let lines = kernel.source.lines().count();
        assert!((1..=lines).contains(&rewrite.line), "{place}");
        let text = rewrite.apply(&kernel.source);
        assert_ne!(text, kernel.source, "{place}");
        if let Err(problems) = rewritten(project, kernel, rewrite, "rewritten") {
            panic!("{place}: {problems:?}\n{text}");
        }
        count += 1;
    });
    assert!(count > 400, "only {count} rewrites");
}

#[test]
fn what_is_done_is_not_offered_again() {
    each(|project, kernel, rule, rewrite| {
        if !ONCE.contains(&rule.id) {
            return;
        }
        let kernel = rewritten(project, kernel, rewrite, "rewritten").unwrap();
        let subject = KernelSource::from_kernel(project, &kernel).unwrap();
        let again = rule.rewrites(&subject).unwrap_or_default();
        let what = |each: &Rewrite| {
            each.edits.iter().map(|edit| edit.replacement.clone()).collect::<Vec<_>>()
        };
        let same =
            again.iter().find(|other| other.what == rewrite.what && what(other) == what(rewrite));
        assert!(same.is_none(), "{}: {}: {same:?}\n{}", rule.id, rewrite.what, kernel.source);
    });
}

#[test]
fn rewrites_come_in_the_same_order_each_time() {
    let all = || {
        let mut seen = Vec::new();
        each(|_, _, rule, rewrite| seen.push((rule.id, rewrite.what.clone())));
        seen
    };
    assert_eq!(all(), all());
}

#[test]
fn every_rule_is_complete_and_has_its_technique() {
    let ids: BTreeSet<&str> = rules().iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), rules().len(), "every id once");
    for rule in rules() {
        assert!(rule.playbook().is_some(), "{}: {}", rule.id, rule.technique);
        for text in [rule.title, rule.reason, rule.needs] {
            assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text}", rule.id);
        }
    }
    let tiers: Vec<_> = rules().iter().filter_map(Rule::playbook).map(|each| each.tier).collect();
    assert!(tiers.is_sorted(), "tier by tier: {tiers:?}");
}
