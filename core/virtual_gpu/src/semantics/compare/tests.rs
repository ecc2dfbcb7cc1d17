//! NaN, zeros and predicates.

use super::super::half::HalfFormat;
use super::*;

#[test]
fn unordered_comparisons_hold_for_nan_and_ordered_ones_do_not() {
    let one = 1_f32.to_bits();
    let orders = [
        Order::Equal,
        Order::NotEqual,
        Order::Less,
        Order::LessEqual,
        Order::Greater,
        Order::GreaterEqual,
    ];
    for nan in [0x7fc0_0000, 0x7f80_0001, 0xffff_ffff] {
        for order in orders {
            for (a, b) in [(nan, one), (one, nan), (nan, nan)] {
                let holds = |order| compare_f32(a, b, order, Subnormals::Keep);
                assert!(!holds(FloatOrder::Ordered(order)));
                assert!(holds(FloatOrder::Unordered(order)));
                assert!(holds(FloatOrder::AnyNan));
                assert!(!holds(FloatOrder::BothNumbers));
            }
        }
    }
}

#[test]
fn zeros_are_equal_and_flushed_subnormals_are_zeros() {
    let equal = FloatOrder::Ordered(Order::Equal);
    assert!(compare_f32(0, 0x8000_0000, equal, Subnormals::Keep));
    assert!(!compare_f32(0, 1, equal, Subnormals::Keep));
    assert!(compare_f32(0x8000_0000, 1, equal, Subnormals::Flush));
    assert!(compare_half(0x8001, 1, equal, HalfFormat::F16, Subnormals::Flush));
    assert!(!compare_half(0x8001, 1, equal, HalfFormat::F16, Subnormals::Keep));
    assert!(compare_f64(0, 1 << 63, equal));
}

#[test]
fn slct_takes_negative_zero_for_zero_and_nan_for_negative() {
    let check = |c, subnormals, expected| {
        assert_eq!(select_by_f32('a', 'b', c, subnormals), expected);
    };
    check(0x8000_0000, Subnormals::Keep, 'a');
    check(0x8000_0001, Subnormals::Keep, 'b');
    check(0x8000_0001, Subnormals::Flush, 'a');
    check(0x7fff_ffff, Subnormals::Keep, 'b');
    assert_eq!(select_by_s32('a', 'b', -1), 'b');
}

#[test]
fn predicates_are_combined() {
    for (holds, predicate) in [(false, false), (false, true), (true, false), (true, true)] {
        assert_eq!(combine(holds, predicate, Combine::And), holds && predicate);
        assert_eq!(combine(holds, predicate, Combine::Or), holds || predicate);
        assert_eq!(combine(holds, predicate, Combine::Xor), holds != predicate);
    }
    assert_eq!(set(true, u32::MAX), u32::MAX);
    assert_eq!(set(false, u32::MAX), 0);
    assert_eq!(select(1, 2, true), 1);
}
