//! Atomic updates.

use super::*;

#[test]
fn global_f32_sums_flush_and_shared_ones_do_not() {
    assert_eq!(add_f32_in(1, 2, Memory::Global), 0);
    assert_eq!(add_f32_in(1, 2, Memory::Shared), 3);
    assert_eq!(add_f32_in(0x8000_0001, 0x8000_0001, Memory::Global), 0x8000_0000);
}

#[test]
fn counters_wrap_at_their_limit() {
    assert_eq!(increment(3, 4), 4);
    assert_eq!(increment(4, 4), 0);
    assert_eq!(increment(u32::MAX, 4), 0);
    assert_eq!(decrement(0, 4), 4);
    assert_eq!(decrement(5, 4), 4);
    assert_eq!(decrement(4, 4), 3);
}

#[test]
fn halves_keep_subnormals_and_swaps_compare_bits() {
    assert_eq!(add_half(1, 2, HalfFormat::F16), 3);
    assert_eq!(extreme_half(0x8001, 0x7fff, Extreme::Maximum, HalfFormat::Bf16), 0x8001);
    assert_eq!(compare_and_swap(5, 5, 6), 6);
    assert_eq!(compare_and_swap(4, 5, 6), 4);
    assert_eq!(add_double(1_f64.to_bits(), 2_f64.to_bits()), 3_f64.to_bits());
}
