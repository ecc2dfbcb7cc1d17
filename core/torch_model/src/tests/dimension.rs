//! Arithmetic of sizes.

use crate::dimension::{Dimension, Sizes};

fn axis(name: &str) -> Dimension {
    Dimension::axis(name)
}

#[test]
fn equal_sizes_are_equal_values() {
    let left = axis("a").plus(&axis("b")).unwrap().times(&axis("a")).unwrap();
    let right = axis("a").times(&axis("a")).unwrap();
    let right = right.plus(&axis("b").times(&axis("a")).unwrap()).unwrap();
    assert_eq!(left, right);
    assert_eq!(left.minus(&right).unwrap().constant(), Some(0));
    assert_eq!(left.to_string(), "a * a + a * b");
}

#[test]
fn quotients_keep_what_divides() {
    let size = axis("h").times(&Dimension::from(4)).unwrap().plus(&Dimension::from(-3)).unwrap();
    assert_eq!(size.floor_divide(2).unwrap().to_string(), "2 * h - 2");
    let odd = axis("h").plus(&Dimension::from(-3)).unwrap();
    assert_eq!(odd.floor_divide(2).unwrap().to_string(), "((h + 1) // 2) - 2");
    let area = axis("h").times(&axis("w")).unwrap();
    assert_eq!(area.divide_exactly(&axis("h")), Some(axis("w")));
    assert_eq!(area.divide_exactly(&axis("c")), None);
    assert_eq!(axis("h").floor_divide(0), None);
}

#[test]
fn values_follow_the_sizes() {
    let sizes = Sizes::from([("h".to_owned(), 9), ("w".to_owned(), 4)]);
    let odd = axis("h").plus(&Dimension::from(-3)).unwrap().floor_divide(4).unwrap();
    assert_eq!(odd.times(&axis("w")).unwrap().value(&sizes), Some(4));
    assert_eq!(axis("c").value(&sizes), None);
}
