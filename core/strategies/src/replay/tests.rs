//! Replays of made-up spaces: records survive being written, and what learns needs no more
//! evaluations than chance.

use super::{Goal, RecordError, Recorded, RecordedSpace, Replay, Spread, candidates};
use crate::archive::{Action, Archive, Finding, Origin, Outcome};
use crate::space::{Dimension, Restriction, Space};
use crate::strategy::StrategyKind;
use crate::tuner::{TrialOutcome, TunerKind};

const GOAL: Goal = Goal { within: 0.05, most: 2000 };
const SEEDS: u64 = 30;
const LEARNING: [TunerKind; 4] =
    [TunerKind::LocalSearch, TunerKind::Annealing, TunerKind::Genetic, TunerKind::Surrogate];

fn dimension(name: &str, values: &[i64]) -> Dimension {
    Dimension { name: name.to_owned(), values: values.to_vec() }
}

/// A bowl in logarithms: one optimum, every dimension on its own.
fn bowl() -> Replay {
    let steps: Vec<i64> = (0..8).collect();
    let names = ["A", "B", "C", "D"];
    let dimensions = names.iter().map(|name| dimension(name, &steps)).collect();
    let space = Space::build(dimensions, &[], 10_000).unwrap();
    replay(&space, |values| {
        let away = |(value, best): (&i64, i64)| ((value - best) as f64 / 3.0).powi(2);
        let logarithm: f64 = values.iter().zip([5, 2, 6, 1]).map(away).sum();
        TrialOutcome::Time(1e-5 * logarithm.exp())
    })
}

/// Tiles as in a matrix product: powers of two that depend on each other, too many threads or too
/// much shared memory is not valid, too many registers fails.
fn tiles() -> Replay {
    let dimensions = vec![
        dimension("TILE_M", &[16, 32, 64, 128, 256]),
        dimension("TILE_N", &[16, 32, 64, 128, 256]),
        dimension("TILE_K", &[8, 16, 32, 64]),
        dimension("THREAD_M", &[1, 2, 4, 8, 16]),
        dimension("THREAD_N", &[1, 2, 4, 8, 16]),
        dimension("UNROLL", &[1, 2, 4]),
    ];
    let threads = Restriction {
        dimensions: vec![0, 1, 3, 4],
        holds: Box::new(|v| (32..=1024).contains(&(v[0] / v[2] * (v[1] / v[3])))),
    };
    let shared = Restriction {
        dimensions: vec![0, 1, 2],
        holds: Box::new(|v| (v[0] + v[1]) * v[2] * 4 <= 49_152),
    };
    let space = Space::build(dimensions, &[threads, shared], 10_000).unwrap();
    replay(&space, |values| {
        let v: Vec<f64> = values.iter().map(|&value| value as f64).collect();
        let registers = v[3] * v[4] + v[3] + v[4] + 8.0 * v[5];
        if registers > 200.0 {
            return TrialOutcome::Failed;
        }
        let traffic = 1.0 / v[0] + 1.0 / v[1];
        let reuse = 1.0 / v[3] + 1.0 / v[4];
        let threads = v[0] / v[3] * v[1] / v[4];
        let latency = (256.0 / threads).max(1.0).ln() + (threads / 512.0).max(1.0).ln();
        let pipeline = 0.1 * (v[2] / 16.0).ln().abs() + 0.05 * (v[5] / 4.0).ln().abs();
        TrialOutcome::Time(1e-4 * (20.0 * traffic).max(reuse) * (0.4 * latency + pipeline).exp())
    })
}

/// Several valleys, and whatever is odd in one of the dimensions fails.
fn rugged() -> Replay {
    let steps: Vec<i64> = (0..12).collect();
    let dimensions =
        vec![dimension("A", &steps), dimension("B", &steps), dimension("C", &steps[..9])];
    let space = Space::build(dimensions, &[], 10_000).unwrap();
    replay(&space, |values| {
        if values[2] % 2 == 1 {
            return TrialOutcome::Failed;
        }
        let waves = |value: i64, best: i64| {
            let away = (value - best) as f64;
            0.02 * away * away + 0.3 * (1.0 - (2.0 * away).cos())
        };
        let logarithm = waves(values[0], 8) + waves(values[1], 3) + waves(values[2], 4);
        TrialOutcome::Time(1e-6 * logarithm.exp())
    })
}

fn replay(space: &Space, told: impl Fn(&[i64]) -> TrialOutcome) -> Replay {
    let record = RecordedSpace::new(space, |index| Some(told(&space.values(index))));
    Replay::new(&record).unwrap()
}

#[test]
fn what_learns_needs_no_more_evaluations_than_chance() {
    for (name, replay) in [("bowl", bowl()), ("tiles", tiles()), ("rugged", rugged())] {
        let random = replay.spread(TunerKind::Random, SEEDS, GOAL);
        let chance = random.median().unwrap();
        for kind in LEARNING {
            let median = replay.spread(kind, SEEDS, GOAL).median();
            println!("{name}: {kind} {median:?}, random {chance}");
            assert!(median.is_some_and(|median| median <= chance), "{name}: {kind} {median:?}");
        }
    }
}

#[test]
fn a_record_survives_being_written() {
    let space = Space::build(vec![dimension("A", &[1, 2]), dimension("B", &[7, 9, 11])], &[], 10);
    let told = [
        Some(TrialOutcome::Time(1.5e-6)),
        Some(TrialOutcome::Abandoned { at_least: 3.0 }),
        None,
        Some(TrialOutcome::Time(f64::NAN)),
        Some(TrialOutcome::Failed),
        Some(TrialOutcome::Time(0.1 + 0.2)),
    ];
    let record = RecordedSpace::new(&space.unwrap(), |index| told[index]);
    let text = serde_json::to_string(&record).unwrap();
    assert!(text.contains(r#"{"values":[1,7],"told":{"time":1.5e-6}}"#), "{text}");
    assert!(text.contains(r#"{"values":[1,9],"told":{"abandoned":{"at_least":3.0}}}"#), "{text}");
    assert!(text.contains(r#"{"values":[2,7],"told":"failed"}"#), "{text}");
    let read: RecordedSpace = serde_json::from_str(&text).unwrap();
    assert_eq!(read, record);
    let replay = Replay::new(&read).unwrap();
    assert_eq!((replay.space().len(), replay.best()), (5, 1.5e-6));
    assert_eq!(replay.told(4), TrialOutcome::Time(0.1 + 0.2));
}

#[test]
fn records_that_cannot_be_are_errors() {
    let result = |values: &[i64], told: TrialOutcome| Recorded { values: values.to_vec(), told };
    let time = TrialOutcome::Time(1.0);
    for (results, expected) in [
        (vec![], RecordError::NoTime),
        (vec![result(&[1], TrialOutcome::Failed)], RecordError::NoTime),
        (vec![result(&[3], time)], RecordError::UnknownValues { result: 0, values: vec![3] }),
        (
            vec![result(&[1], time), result(&[1, 2], time)],
            RecordError::UnknownValues { result: 1, values: vec![1, 2] },
        ),
        (
            vec![result(&[1], time), result(&[1], time)],
            RecordError::Twice { result: 1, values: vec![1] },
        ),
    ] {
        let record = RecordedSpace { dimensions: vec![dimension("A", &[1, 2])], results };
        assert_eq!(Replay::new(&record).map(|_| ()), Err(expected));
    }
}

#[test]
fn quartiles_are_those_of_the_sorted_numbers() {
    for (needed, expected) in [
        (vec![], [None; 3]),
        (vec![Some(4)], [Some(4); 3]),
        (vec![Some(4), Some(1), Some(3), Some(2)], [Some(2), Some(3), Some(4)]),
        (vec![None, Some(1), None, Some(2)], [Some(2), None, None]),
    ] {
        let spread = Spread::from_evaluations(needed.into_iter());
        let quartiles = [spread.lower_quartile(), spread.median(), spread.upper_quartile()];
        assert_eq!(quartiles, expected, "{spread:?}");
    }
}

/// A recorded search: six actions of the root gave a candidate each, and so did each of theirs;
/// the best lies behind the most promising action of the most promising candidate.
fn recorded_tree() -> Archive {
    let actions = |node: usize| -> Vec<Action> {
        let action = |place: usize| Action {
            key: format!("rule:{place}"),
            operator: "rule".to_owned(),
            expected_gain: if place == 4 { 0.3 } else { 0.05 },
            repeatable: false,
            evaluations: 1,
            tried: 0,
        };
        // The last one was never tried.
        if node <= 6 { (0..7).map(action).collect() } else { Vec::new() }
    };
    let mut record = Archive::new();
    let finding = |node: usize, gain: f64| Finding {
        outcome: Outcome::Right { gain, regressed: false },
        cell: [(node % 4) as u8, 0, 0, 0],
        fingerprint: vec![node as f64],
        actions: actions(node),
    };
    record.add(None, finding(0, 0.0));
    for node in 0..=6 {
        for action in 0..6 {
            let origin = Origin { node, action };
            let attempt = record.mark_tried(origin);
            let own = if action == 4 { 0.3 } else { 0.02 };
            let so_far = record.nodes()[node].outcome.gain().unwrap();
            record.add(Some(attempt), finding(record.nodes().len(), so_far + own));
        }
    }
    record
}

#[test]
fn strategies_are_replayed_on_what_was_recorded() {
    let record = recorded_tree();
    let goal = Goal { within: 0.01, most: 100 };
    let chance = candidates::spread(&record, StrategyKind::Random, SEEDS, goal).median().unwrap();
    for &kind in StrategyKind::ALL {
        let spread = candidates::spread(&record, kind, SEEDS, goal);
        let median = spread.median();
        println!("{kind}: {median:?}, random {chance}");
        assert!(median.is_some_and(|median| median <= chance), "{kind}: {spread:?}");
    }
    assert_eq!(candidates::evaluations(&record, StrategyKind::Greedy, 0, goal), Some(2));
    let hasty = Goal { most: 1, ..goal };
    assert_eq!(candidates::evaluations(&record, StrategyKind::Greedy, 0, hasty), None);
    assert_eq!(candidates::evaluations(&Archive::new(), StrategyKind::Plan, 0, goal), None);
}

#[test]
fn what_was_repeated_is_repeated_as_often() {
    let action = Action {
        key: "model".to_owned(),
        operator: "model".to_owned(),
        expected_gain: 0.1,
        repeatable: true,
        evaluations: 1,
        tried: 0,
    };
    let finding = |gain: f64, actions: Vec<Action>| Finding {
        outcome: Outcome::Right { gain, regressed: false },
        cell: [0; 4],
        fingerprint: Vec::new(),
        actions,
    };
    let mut record = Archive::new();
    record.add(None, finding(0.0, vec![action]));
    let origin = Origin { node: 0, action: 0 };
    // The first attempt gave two, the second one, the third nothing.
    for gains in [vec![0.1, 0.2], vec![0.5], vec![]] {
        let attempt = record.mark_tried(origin);
        for gain in gains {
            record.add(Some(attempt), finding(gain, Vec::new()));
        }
    }
    for (within, expected) in [(0.0, Some(2)), (0.35, Some(1)), (0.7, Some(0))] {
        let goal = Goal { within, most: 100 };
        let needed = candidates::evaluations(&record, StrategyKind::EpsilonNet, 0, goal);
        assert_eq!(needed, expected, "within {within}");
    }
}
