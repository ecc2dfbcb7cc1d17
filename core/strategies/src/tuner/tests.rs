//! Every tuner on small spaces: what holds whatever a space looks like.

use std::collections::BTreeSet;

use super::{TrialOutcome, TunerKind};
use crate::space::{Dimension, Restriction, Space};

fn space(sizes: &[i64]) -> Space {
    Space::build(dimensions(sizes), &[], 100_000).unwrap()
}

fn dimensions(sizes: &[i64]) -> Vec<Dimension> {
    let named = |(place, &size): (usize, &i64)| Dimension {
        name: format!("P{place}"),
        values: (0..size).collect(),
    };
    sizes.iter().enumerate().map(named).collect()
}

/// Dimensions of which the first two may not be large together.
fn restricted(sizes: &[i64]) -> Space {
    let bounded = Restriction {
        dimensions: vec![0, 1],
        holds: Box::new(|values| values[0] * values[1] <= 20 && values[0] != 3),
    };
    Space::build(dimensions(sizes), &[bounded], 100_000).unwrap()
}

/// What a kernel does at some values.
type Behaviour = fn(&[i64]) -> TrialOutcome;

fn bowl(values: &[i64]) -> TrialOutcome {
    let away = values.iter().map(|value| (value - 4) * (value - 4)).sum::<i64>();
    TrialOutcome::Time(1e-6 * (1.0 + away as f64))
}

fn mostly_failing(values: &[i64]) -> TrialOutcome {
    if values.iter().sum::<i64>() % 7 == 0 { bowl(values) } else { TrialOutcome::Failed }
}

fn abandoning(values: &[i64]) -> TrialOutcome {
    match bowl(values) {
        TrialOutcome::Time(time) if time > 1e-5 => TrialOutcome::Abandoned { at_least: 1e-5 },
        told @ (TrialOutcome::Time(_)
        | TrialOutcome::Abandoned { .. }
        | TrialOutcome::Failed
        | TrialOutcome::NotJudged) => told,
    }
}

/// Everything asked for, in order, when each batch is answered before the next.
fn run(
    kind: TunerKind,
    space: &Space,
    seed: u64,
    batch: usize,
    behaviour: Behaviour,
) -> Vec<usize> {
    let mut tuner = kind.start(space, seed, space.len().checked_sub(1));
    let mut asked = Vec::new();
    loop {
        let questions = tuner.ask(batch);
        if questions.is_empty() {
            return asked;
        }
        assert!(questions.len() <= batch, "{kind} asked for {}", questions.len());
        for configuration in questions {
            asked.push(configuration);
            tuner.tell(configuration, behaviour(&space.values(configuration)));
        }
    }
}

/// Every tuner asks for all of a space, once each, the same way each time, and begins as told.
fn check(name: &str, space: &Space, behaviour: Behaviour) {
    for &kind in TunerKind::ALL {
        for batch in [1, 7] {
            let asked = run(kind, space, 3, batch, behaviour);
            let distinct: BTreeSet<usize> = asked.iter().copied().collect();
            assert_eq!(asked.len(), distinct.len(), "{name}: {kind} repeats, batch {batch}");
            assert_eq!(asked.len(), space.len(), "{name}: {kind} stops early, batch {batch}");
            assert_eq!(asked.first().copied(), space.len().checked_sub(1), "{name}: {kind}");
            let again = run(kind, space, 3, batch, behaviour);
            assert_eq!(asked, again, "{name}: {kind} is not deterministic, batch {batch}");
        }
    }
}

#[test]
fn tuners_cope_with_every_space() {
    let none = Restriction { dimensions: vec![], holds: Box::new(|_| false) };
    let empty = Space::build(dimensions(&[3, 3]), &[none], 10).unwrap();
    check("empty", &empty, bowl);
    check("without dimensions", &space(&[]), bowl);
    check("one configuration", &space(&[1, 1]), bowl);
    check("one dimension", &space(&[20]), bowl);
    check("bowl", &space(&[7, 5, 3]), bowl);
    check("restricted", &restricted(&[7, 5, 3]), bowl);
}

#[test]
fn tuners_cope_with_every_answer() {
    let space = space(&[6, 5, 3]);
    check("all fail", &space, |_| TrialOutcome::Failed);
    check("no number", &space, |_| TrialOutcome::Time(f64::NAN));
    check("no time", &space, |values| TrialOutcome::Time(-(values[0] as f64)));
    check("endless", &space, |_| TrialOutcome::Time(f64::INFINITY));
    check("all alike", &space, |_| TrialOutcome::Time(2.0));
    check("most fail", &space, mostly_failing);
    check("slow ones abandoned", &space, abandoning);
    check("all abandoned", &space, |_| TrialOutcome::Abandoned { at_least: 1.0 });
}

#[test]
fn seeds_make_a_difference() {
    let space = space(&[7, 5, 3]);
    for &kind in TunerKind::ALL {
        let differ = run(kind, &space, 1, 1, bowl) != run(kind, &space, 2, 1, bowl);
        assert_eq!(differ, kind != TunerKind::Exhaustive, "{kind}");
    }
}

#[test]
fn what_was_told_before_is_never_asked_for() {
    let space = space(&[7, 5, 3]);
    for &kind in TunerKind::ALL {
        let mut tuner = kind.start(&space, 1, Some(0));
        for configuration in (0..space.len()).step_by(2) {
            tuner.tell(configuration, bowl(&space.values(configuration)));
            tuner.tell(configuration, TrialOutcome::Failed);
        }
        tuner.tell(space.len(), TrialOutcome::Failed);
        let mut left = 0;
        while let [configuration] = tuner.ask(1)[..] {
            assert_eq!(configuration % 2, 1, "{kind}");
            tuner.tell(configuration, bowl(&space.values(configuration)));
            left += 1;
        }
        assert_eq!(left, space.len() / 2, "{kind}");
    }
}

#[test]
fn answers_that_never_come_stop_nobody() {
    let space = space(&[7, 5, 3]);
    for &kind in TunerKind::ALL {
        let mut tuner = kind.start(&space, 1, None);
        assert!(tuner.ask(0).is_empty(), "{kind}");
        let mut asked = BTreeSet::new();
        loop {
            let questions = tuner.ask(3);
            if questions.is_empty() {
                break;
            }
            assert!(questions.into_iter().all(|question| asked.insert(question)), "{kind}");
        }
        assert_eq!(asked.len(), space.len(), "{kind}");
    }
}

#[test]
fn names_are_read_as_they_are_written() {
    for &kind in TunerKind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
        assert!(!kind.description().is_empty());
    }
    assert!("bogus".parse::<TunerKind>().is_err());
}
