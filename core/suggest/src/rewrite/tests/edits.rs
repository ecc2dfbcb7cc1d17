//! Edits as such: applied together, out of place, one after the other.

use crate::rewrite::edit::{Edit, Rewrite};

#[test]
fn edits_are_made_together_and_what_is_not_of_the_text_is_left_out() {
    let check = |edits: &[(usize, usize, &str)], expected: &str| {
        let edits = edits.iter().map(|(start, end, text)| Edit::replace(*start..*end, *text));
        assert_eq!(Rewrite::new("", 1, edits.collect()).apply("one two"), expected);
    };
    check(&[], "one two");
    check(&[(4, 7, "three")], "one three");
    check(&[(4, 7, "2"), (0, 3, "1")], "1 2");
    check(&[(0, 0, "a"), (0, 0, "b")], "abone two");
    check(&[(5, 99, "x")], "one two");
    check(&[(0, 5, "x"), (3, 7, "y")], "xwo");
}

#[test]
fn what_overlaps_is_noticed() {
    let orderly = |edits: Vec<Edit>| Rewrite::new("", 1, edits).is_orderly();
    assert!(orderly(vec![Edit::insert(3, "a"), Edit::replace(3..5, "b"), Edit::insert(5, "c")]));
    assert!(!orderly(vec![Edit::replace(0..4, "a"), Edit::replace(3..5, "b")]));
}
