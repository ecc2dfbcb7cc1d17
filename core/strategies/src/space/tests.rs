//! The builder against brute force, and neighbours against their definition.

use proptest::prelude::*;

use super::{Dimension, Neighbourhood, Restriction, Space, SpaceError};

fn dimensions(sizes: &[usize]) -> Vec<Dimension> {
    let named = |(place, &size): (usize, &usize)| Dimension {
        name: format!("P{place}"),
        values: (0..size as i64).map(|value| 100 * value + place as i64).collect(),
    };
    sizes.iter().enumerate().map(named).collect()
}

/// A restriction as data, so that brute force can apply it too.
#[derive(Clone, Debug)]
struct Rule {
    dimensions: Vec<usize>,
    modulus: i64,
    rest: i64,
}

impl Rule {
    fn holds(&self, values: &[i64]) -> bool {
        values.iter().sum::<i64>() % self.modulus != self.rest
    }
}

fn restriction(rule: &Rule) -> Restriction<'_> {
    Restriction {
        dimensions: rule.dimensions.clone(),
        holds: Box::new(move |values| rule.holds(values)),
    }
}

fn brute_force(dimensions: &[Dimension], rules: &[Rule]) -> Vec<Vec<i64>> {
    let mut rows = vec![Vec::new()];
    for dimension in dimensions {
        let extend = |row: &Vec<i64>| {
            let row = row.clone();
            dimension.values.iter().map(move |value| [row.clone(), vec![*value]].concat())
        };
        rows = rows.iter().flat_map(extend).collect::<Vec<_>>();
    }
    rows.retain(|row| {
        rules.iter().all(|rule| {
            let read: Vec<i64> = rule.dimensions.iter().map(|place| row[*place]).collect();
            rule.holds(&read)
        })
    });
    rows
}

proptest! {
    #[test]
    fn the_builder_finds_what_brute_force_finds(
        sizes in prop::collection::vec(0_usize..5, 0..5),
        drawn in prop::collection::vec(
            (prop::collection::vec(0_usize..8, 0..4), 2_i64..7, 0_i64..7), 0..4),
    ) {
        let dimensions = dimensions(&sizes);
        let rule = |(places, modulus, rest): &(Vec<usize>, i64, i64)| Rule {
            dimensions: places.iter().filter(|_| !sizes.is_empty())
                .map(|place| place % sizes.len().max(1)).collect(),
            modulus: *modulus,
            rest: *rest,
        };
        let rules: Vec<Rule> = drawn.iter().map(rule).collect();
        let restrictions: Vec<Restriction<'_>> = rules.iter().map(restriction).collect();
        let space = Space::build(dimensions.clone(), &restrictions, 10_000).expect("small");
        let rows: Vec<Vec<i64>> = (0..space.len()).map(|index| space.values(index)).collect();
        prop_assert_eq!(&rows, &brute_force(&dimensions, &rules));
        for (index, row) in rows.iter().enumerate() {
            prop_assert_eq!(space.index_of(space.get(index)), Some(index));
            prop_assert_eq!(space.index_of_values(row), Some(index));
            let any = space.neighbours(index, Neighbourhood::AnyValue);
            let apart = |other: &usize| {
                row.iter().zip(&rows[*other]).filter(|(left, right)| left != right).count()
            };
            let expected: usize = (0..rows.len()).filter(|other| apart(other) == 1).count();
            prop_assert_eq!(any.len(), expected);
            prop_assert!(any.iter().all(|other| apart(other) == 1));
            let adjacent = space.neighbours(index, Neighbourhood::Adjacent);
            prop_assert!(adjacent.iter().all(|other| any.contains(other)));
        }
    }
}

#[test]
fn excluded_combinations_are_never_completed() {
    // 16 dimensions of 16 values: 2⁶⁴ combinations, of which each must equal its forerunner.
    let rules: Vec<Restriction<'_>> = (1..16)
        .map(|place| Restriction {
            dimensions: vec![place - 1, place],
            holds: Box::new(|values| values[0] / 100 == values[1] / 100),
        })
        .collect();
    let space = Space::build(dimensions(&[16; 16]), &rules, 100).expect("sixteen are valid");
    assert_eq!(space.len(), 16);
}

#[test]
fn adjacent_steps_over_what_is_excluded() {
    let odd_only =
        [Restriction { dimensions: vec![0], holds: Box::new(|values| (values[0] / 100) % 2 == 1) }];
    let space = Space::build(dimensions(&[8]), &odd_only, 100).expect("small");
    assert_eq!(space.values(1), [300]);
    assert_eq!(space.neighbours(1, Neighbourhood::Adjacent), [0, 2]);
    assert_eq!(space.neighbours(1, Neighbourhood::AnyValue), [0, 2, 3]);
}

#[test]
fn declarations_that_cannot_be_are_errors() {
    let never_early = |width: usize| Restriction {
        dimensions: (0..width).collect(),
        holds: Box::new(|_: &[i64]| false),
    };
    let unknown = Restriction { dimensions: vec![3], holds: Box::new(|_| true) };
    for (sizes, restrictions, expected) in [
        (vec![11, 10], vec![], SpaceError::TooMany { most: 100 }),
        (vec![2], vec![unknown], SpaceError::UnknownDimension { dimension: 3, dimensions: 1 }),
        (vec![70_000], vec![], SpaceError::TooManyValues { name: "P0".to_owned(), values: 70_000 }),
        (vec![10; 9], vec![never_early(9)], SpaceError::TooSparse { steps: 10_010_001, found: 0 }),
    ] {
        assert_eq!(Space::build(dimensions(&sizes), &restrictions, 100), Err(expected));
    }
}

#[test]
fn no_dimensions_are_one_configuration() {
    let space = Space::build(Vec::new(), &[], 1).expect("one");
    assert_eq!((space.len(), space.values(0)), (1, Vec::new()));
    assert!(space.neighbours(0, Neighbourhood::AnyValue).is_empty());
}
