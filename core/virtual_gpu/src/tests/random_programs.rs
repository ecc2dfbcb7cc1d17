//! Random programs leave the same memory as the second implementation, thread by thread.

use proptest::prelude::*;

use super::generated::{compare, text};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn the_machine_agrees_with_the_reference(bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
        if let Err(difference) = compare(&bytes) {
            prop_assert!(false, "{}", difference.0);
        }
    }
}

#[test]
fn long_inputs_make_branches_and_loops() {
    let bytes: Vec<u8> =
        (0..4000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 19) as u8).collect();
    let text = text(&bytes);
    assert!(text.matches("bra L").count() > 4, "{text}");
    assert!(text.lines().count() > 100, "{text}");
}
