//! Strategies on made-up landscapes: what holds of all, and what makes each what it is.

use super::StrategyKind;
use crate::archive::{Action, Archive, Finding, Origin, Outcome};

/// A made-up project: a candidate is a set of switches, an action turns one on.
struct World {
    switches: usize,
    /// The gain of a set of switches; none where it fails.
    gain: fn(usize) -> Option<f64>,
    /// What is expected of turning a switch on.
    expected: fn(usize) -> f64,
}

/// Every switch gives a little.
const SMOOTH: World =
    World { switches: 5, gain: |set| Some(0.1 * set.count_ones() as f64), expected: |_| 0.1 };

/// Switch 0 gives something at once and makes all others useless; 1 alone loses, but 1 and 2
/// together give most. Most is expected of switch 0.
const DECEPTIVE: World = World {
    switches: 4,
    gain: |set| {
        Some(match (set & 1 > 0, set & 2 > 0, set & 4 > 0) {
            (true, ..) => 0.3 - 0.01 * (set.count_ones() as f64 - 1.0),
            (false, true, true) => 1.0,
            (false, true, false) => -0.2,
            (false, false, _) => 0.0,
        })
    },
    expected: |switch| if switch == 0 { 0.3 } else { 0.05 },
};

/// Everything fails.
const HOPELESS: World =
    World { switches: 3, gain: |set| (set == 0).then_some(0.0), expected: |_| f64::NAN };

impl World {
    fn finding(&self, set: usize) -> Finding {
        let outcome = match (self.gain)(set) {
            Some(gain) => Outcome::Right { gain, regressed: gain < 0.0 },
            None => Outcome::Failed,
        };
        let off = (0..self.switches).filter(|switch| set & (1 << switch) == 0);
        let level = |switch: usize| u8::from(set & (1 << switch) > 0);
        Finding {
            outcome,
            cell: [level(0), level(1), level(2), level(3)],
            fingerprint: (0..self.switches).map(|switch| f64::from(level(switch))).collect(),
            actions: off
                .map(|switch| Action {
                    key: format!("switch:{switch}"),
                    operator: "rule".to_owned(),
                    expected_gain: (self.expected)(switch),
                    repeatable: false,
                    evaluations: 1,
                    tried: 0,
                })
                .collect(),
        }
    }

    /// Runs a strategy to its end or to the budget, and holds each choice against the rules.
    fn run(&self, kind: StrategyKind, seed: u64, budget: usize) -> (Archive, Vec<Origin>) {
        let mut strategy = kind.start(seed);
        let mut archive = Archive::new();
        archive.add(None, self.finding(0));
        let mut sets = vec![0];
        let mut choices = Vec::new();
        while choices.len() < budget {
            let Some(choice) = strategy.choose(&archive) else { break };
            let origin = choice.origin();
            let action = &archive.nodes()[choice.node].actions[choice.action];
            assert!(action.is_open(), "{kind} chose `{}`, which is used up", action.key);
            assert!(!choice.reason.is_empty() && !choice.reason.ends_with('.'), "{kind}");
            let switch: usize = action.key.trim_start_matches("switch:").parse().unwrap();
            let attempt = archive.mark_tried(origin);
            let set = sets[choice.node] | 1 << switch;
            sets.push(set);
            archive.add(Some(attempt), self.finding(set));
            choices.push(origin);
        }
        (archive, choices)
    }

    fn best(&self, kind: StrategyKind, seed: u64, budget: usize) -> f64 {
        let (archive, _) = self.run(kind, seed, budget);
        archive.incumbent().and_then(|node| node.outcome.sound_gain()).unwrap()
    }
}

#[test]
fn every_strategy_climbs_a_smooth_landscape() {
    for &kind in StrategyKind::ALL {
        let best = SMOOTH.best(kind, 1, if kind == StrategyKind::Random { 400 } else { 60 });
        assert!((best - 0.5).abs() < 1e-12, "{kind}: {best}");
    }
}

#[test]
fn greedy_gets_stuck_where_others_do_not() {
    for &kind in StrategyKind::ALL {
        let best = DECEPTIVE.best(kind, 1, 64);
        let expected = if kind == StrategyKind::Greedy { 0.3 } else { 1.0 };
        assert!((best - expected).abs() < 1e-12, "{kind}: {best}");
    }
}

#[test]
fn strategies_end_when_nothing_is_left() {
    for (world, all) in [(&HOPELESS, 15), (&DECEPTIVE, 64)] {
        for &kind in StrategyKind::ALL {
            let (_, choices) = world.run(kind, 2, 1000);
            let mut distinct = choices.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), choices.len(), "{kind} repeats");
            if kind != StrategyKind::Greedy {
                assert_eq!(choices.len(), all, "{kind} leaves something");
            }
        }
    }
}

#[test]
fn choices_follow_from_archive_and_seed() {
    for &kind in StrategyKind::ALL {
        let (archive, choices) = DECEPTIVE.run(kind, 5, 20);
        assert_eq!(DECEPTIVE.run(kind, 5, 20).1, choices, "{kind}");
        let text = serde_json::to_string(&archive).unwrap();
        let read: Archive = serde_json::from_str(&text).unwrap();
        let next = |archive: &Archive| kind.start(5).choose(archive);
        assert_eq!(next(&read), next(&archive), "{kind} decides otherwise after a restart");
        assert!(kind.start(5).choose(&Archive::new()).is_none(), "{kind}");
    }
}

#[test]
fn what_regressed_is_never_the_incumbent() {
    let mut archive = Archive::new();
    for (gain, regressed) in [(0.0, false), (2.0, true), (f64::NAN, false), (0.5, false)] {
        let finding = Finding { outcome: Outcome::Right { gain, regressed }, ..SMOOTH.finding(0) };
        archive.add(None, finding);
    }
    archive.add(None, Finding { outcome: Outcome::Failed, ..SMOOTH.finding(0) });
    assert_eq!(archive.incumbent().map(|node| node.id), Some(3));
    assert_eq!(archive.elites().into_values().map(|node| node.id).collect::<Vec<_>>(), [3]);
    let order: Vec<usize> = archive.open_nodes().iter().map(|node| node.id).collect();
    assert_eq!(order, [3, 0, 1, 2, 4]);
}

#[test]
fn attempts_may_end_in_another_order() {
    let mut archive = Archive::new();
    archive.add(None, SMOOTH.finding(0));
    let [first, second] = [0, 1].map(|action| archive.mark_tried(Origin { node: 0, action }));
    let late = archive.add(Some(second), SMOOTH.finding(2));
    let early = archive.add(Some(first), SMOOTH.finding(1));
    for (id, attempt, action) in [(late, 1, 1), (early, 0, 0)] {
        let node = &archive.nodes()[id];
        assert_eq!((node.attempt, node.origin), (attempt, Some(Origin { node: 0, action })));
    }
    assert_eq!(archive.nodes()[0].children, [late, early]);
    assert_eq!(archive.root_of(early), 0);
}

#[test]
fn an_action_that_can_be_repeated_is_until_it_is_used_up() {
    let mut finding = SMOOTH.finding(0);
    finding.actions.truncate(1);
    finding.actions[0].repeatable = true;
    for &kind in StrategyKind::ALL {
        let mut archive = Archive::new();
        archive.add(None, finding.clone());
        let mut strategy = kind.start(1);
        for _ in 0..10 {
            let origin = strategy.choose(&archive).unwrap().origin();
            assert_eq!(origin, Origin { node: 0, action: 0 }, "{kind}");
            archive.mark_tried(origin);
        }
        archive.use_up(Origin { node: 0, action: 0 });
        assert!(strategy.choose(&archive).is_none(), "{kind}");
    }
}

/// An archive from a table: parent and action, gain.
fn archive(root: &Finding, rows: &[(usize, usize, Option<f64>)]) -> Archive {
    let mut archive = Archive::new();
    archive.add(None, root.clone());
    for &(node, action, gain) in rows {
        let origin = Origin { node, action };
        let attempt = archive.mark_tried(origin);
        let outcome =
            gain.map_or(Outcome::Failed, |gain| Outcome::Right { gain, regressed: gain < 0.0 });
        archive.add(Some(attempt), Finding { outcome, ..root.clone() });
    }
    archive
}

fn root_expecting(expected: &[f64]) -> Finding {
    let action = |(place, &expected_gain): (usize, &f64)| Action {
        key: format!("switch:{place}"),
        operator: format!("operator {place}"),
        expected_gain,
        repeatable: false,
        evaluations: 1,
        tried: 0,
    };
    let actions = expected.iter().enumerate().map(action).collect();
    Finding { actions, ..SMOOTH.finding(0) }
}

#[test]
fn tree_search_weighs_what_a_branch_gave_against_how_little_it_is_known() {
    // Rewards are shares of what the incumbent saves, here half: 1 for the good branch. Visited
    // three times with one success its bound is ⅓ + 0.3 √(ln 4 / 3) ≈ 0.54; unopened, 0.3 is
    // predicted, which saves 0.26 of 0.5, so its bound is 0.52 + 0.3 √(ln 4) ≈ 0.87.
    let half = 2.0_f64.ln();
    for (name, expected, rows, chosen) in [
        ("unopened: the highest prediction", vec![0.0, 0.7], vec![], (0, 1)),
        (
            "the branch that gave most",
            vec![0.0, 0.0, 0.0],
            vec![(0, 0, Some(half)), (0, 1, None)],
            (1, 0),
        ),
        (
            "but not for ever",
            vec![0.3, 0.3],
            vec![(0, 0, Some(half)), (1, 0, None), (1, 1, None)],
            (0, 1),
        ),
    ] {
        let archive = archive(&root_expecting(&expected), &rows);
        let choice = StrategyKind::Tree.start(0).choose(&archive).unwrap();
        assert_eq!((choice.node, choice.action), chosen, "{name}: {}", choice.reason);
    }
}

#[test]
fn tree_search_visits_good_branches_most_and_bad_ones_still() {
    // Two repeatable actions, of which one always saves half and one about a third.
    let mut root = root_expecting(&[0.5, 0.5]);
    root.actions.iter_mut().for_each(|action| action.repeatable = true);
    let mut archive = archive(&root, &[]);
    let leaf = |gain: f64| Finding {
        outcome: Outcome::Right { gain, regressed: false },
        actions: root.actions[..1].to_vec(),
        ..root.clone()
    };
    let mut tree = StrategyKind::Tree.start(0);
    let mut roots_children = [0, 0];
    let mut branch = vec![0];
    for _ in 0..400 {
        let origin = tree.choose(&archive).unwrap().origin();
        let attempt = archive.mark_tried(origin);
        let of = if origin.node == 0 { origin.action } else { branch[origin.node] };
        branch.push(of);
        roots_children[of] += 1;
        archive.add(Some(attempt), leaf(if of == 0 { 0.45 } else { 0.7 }));
    }
    assert!(roots_children[1] > 4 * roots_children[0], "{roots_children:?}");
    assert!(roots_children[0] > 3, "{roots_children:?}");
}

#[test]
fn map_elites_keeps_slower_kinds_and_develops_them_all() {
    let cell = |level: u8, gain: f64, id: usize| {
        let mut finding = root_expecting(&[0.1]);
        finding.actions[0].repeatable = true;
        finding.cell = [level, 0, 0, 0];
        finding.outcome = Outcome::Right { gain, regressed: false };
        (finding, id)
    };
    let mut archive = Archive::new();
    for (finding, id) in [cell(0, 0.0, 0), cell(1, 1.0, 1), cell(1, 0.5, 2), cell(2, -0.1, 3)] {
        assert_eq!(archive.add(None, finding), id);
    }
    let mut strategy = StrategyKind::MapElites.start(7);
    let mut chosen = [0_usize; 4];
    for _ in 0..300 {
        let origin = strategy.choose(&archive).unwrap().origin();
        archive.mark_tried(origin);
        chosen[origin.node] += 1;
    }
    assert_eq!(chosen[2], 0, "not the best of its cell: {chosen:?}");
    assert!(chosen[1] > chosen[0] && chosen[1] > chosen[3], "{chosen:?}");
    assert!(chosen[0] > 30 && chosen[3] > 30, "{chosen:?}");
}

#[test]
fn the_plan_learns_from_what_actions_gave() {
    for (name, expected, rows, chosen) in [
        ("the highest promise", vec![0.1, 0.5], vec![], (0, 1)),
        // Switch 0 failed once: half of 0.5 by average, half of that by its operator.
        ("discounted after a failure", vec![0.5, 0.2, 0.1], vec![(0, 0, None)], (0, 1)),
        ("what gave much is done again", vec![0.1, 0.3], vec![(0, 0, Some(0.9))], (1, 0)),
        // A base that gained 0.4 goes first although less is promised on it.
        ("on a good base", vec![0.5, 0.3], vec![(0, 0, Some(0.4))], (1, 0)),
    ] {
        let archive = archive(&root_expecting(&expected), &rows);
        let choice = StrategyKind::Plan.start(0).choose(&archive).unwrap();
        assert_eq!((choice.node, choice.action), chosen, "{name}: {}", choice.reason);
    }
}

#[test]
fn best_of_stays_for_a_round() {
    let root = root_expecting(&[0.1; 6]);
    for (attempts, node) in [(1, 0), (3, 0), (4, 1), (5, 1)] {
        let rows: Vec<_> = (0..attempts).map(|action| (0, action, Some(0.2))).collect();
        let archive = archive(&root, &rows);
        let choice = StrategyKind::BestOf(4).start(0).choose(&archive).unwrap();
        assert_eq!(choice.node, node, "after {attempts}: {}", choice.reason);
    }
}

#[test]
fn the_net_leaves_out_what_is_nearly_the_same() {
    let mut archive = Archive::new();
    for (gain, place) in [(0.0, 0.0), (0.9, 1.0), (0.8, 1.05), (0.7, 2.0)] {
        let mut finding = root_expecting(&[0.1; 20]);
        finding.fingerprint = vec![place];
        finding.outcome = Outcome::Right { gain, regressed: false };
        archive.add(None, finding);
    }
    let mut strategy = StrategyKind::EpsilonNet.start(0);
    let mut chosen = [0; 4];
    for _ in 0..30 {
        let origin = strategy.choose(&archive).unwrap().origin();
        archive.mark_tried(origin);
        chosen[origin.node] += 1;
    }
    assert!(chosen[2] == 0 && chosen[1] > chosen[3] && chosen[3] > 0, "{chosen:?}");
}

#[test]
fn islands_take_turns_and_migrate() {
    let (archive, _) = SMOOTH.run(StrategyKind::Islands, 3, 40);
    let from_abroad = |node: &&crate::archive::Node| {
        let parent = node.parent().map(|parent| &archive.nodes()[parent]);
        parent
            .is_some_and(|parent| parent.origin.is_some() && parent.attempt % 4 != node.attempt % 4)
    };
    let migrants: Vec<usize> =
        archive.nodes().iter().filter(from_abroad).map(|node| node.attempt / 4).collect();
    assert!(migrants.contains(&4), "{migrants:?}");
    assert!(!migrants.iter().any(|round| *round < 4), "{migrants:?}");
}

#[test]
fn names_are_read_as_they_are_written() {
    for &kind in StrategyKind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
        assert!(!kind.description().is_empty());
    }
    for (name, expected) in [
        ("best-of", Some(StrategyKind::BestOf(4))),
        ("best-of-9", Some(StrategyKind::BestOf(9))),
        ("best-of-0", None),
        ("best-off", None),
        ("bogus", None),
    ] {
        assert_eq!(name.parse::<StrategyKind>().ok(), expected, "{name}");
    }
}
