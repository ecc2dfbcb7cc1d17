//! Bit operations against the loops in the text of the ISA.

use proptest::prelude::*;

use super::*;

/// The ISA's own loop for `bfe`.
fn extract_slowly(a: u64, position: u32, length: u32, msb: u32, signed: bool) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let bit = |index: u32| a >> index & 1;
    let sign = if signed && length != 0 { bit((position + length - 1).min(msb)) } else { 0 };
    (0..=msb).fold(0, |result, index| {
        let inside = index < length && position + index <= msb;
        result | (if inside { bit(position + index) } else { sign }) << index
    })
}

proptest! {
    #[test]
    fn extraction_follows_the_loop_of_the_isa(a: u64, position in 0_u32..300, length in 0_u32..300) {
        let word = u64::from(a as u32);
        prop_assert_eq!(u64::from(extract_32(a as u32, position, length)), extract_slowly(word, position, length, 31, false));
        prop_assert_eq!(extract_64(a, position, length), extract_slowly(a, position, length, 63, false));
        prop_assert_eq!(extract_signed_32(a as i32, position, length) as u32, extract_slowly(word, position, length, 31, true) as u32);
        prop_assert_eq!(extract_signed_64(a as i64, position, length) as u64, extract_slowly(a, position, length, 63, true));
    }

    #[test]
    fn insertion_follows_the_loop_of_the_isa(a: u64, b: u64, position in 0_u32..300, length in 0_u32..300) {
        let (start, count) = (position & 0xff, length & 0xff);
        let slowly = |msb: u32| (0..count).take_while(|index| start + index <= msb).fold(b, |result, index| {
            let at = start + index;
            (result & !(1 << at)) | (a >> index & 1) << at
        });
        prop_assert_eq!(insert_64(a, b, position, length), slowly(63));
        prop_assert_eq!(insert_32(a as u32, b as u32, position, length), slowly(31) as u32);
    }

    #[test]
    fn tables_of_three_bits_are_looked_up(a: u32, b: u32, c: u32, table: u8) {
        let result = table_3(a, b, c, table);
        for bit in 0..32 {
            let index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1);
            prop_assert_eq!(result >> bit & 1, u32::from(table) >> index & 1);
        }
    }

    #[test]
    fn masks_follow_the_formula_of_the_isa(position in 0_u32..70, width in 0_u32..70) {
        for excess in [Excess::Clamp, Excess::Wrap] {
            let (start, count) = (position & 31, width & 31);
            let clamped = excess == Excess::Clamp;
            let first = if clamped && position >= 32 { 0 } else { u32::MAX << start };
            let second = if start + count >= 32 || (clamped && (position >= 32 || width >= 32)) {
                0
            } else if count == 0 {
                u32::MAX
            } else {
                u32::MAX << (start + count)
            };
            prop_assert_eq!(mask(position, width, excess), first & !second);
        }
    }
}

#[test]
fn shifts_beyond_the_width_leave_nothing_or_the_sign() {
    for count in [32, 33, 255, u32::MAX] {
        assert_eq!(shift_left(u32::MAX, count), 0);
        assert_eq!(shift_right(u32::MAX, count), 0);
        assert_eq!(shift_right(i32::MIN, count), -1);
        assert_eq!(shift_right(i32::MAX, count), 0);
    }
    assert_eq!(shift_left(1_u16, 16), 0);
    assert_eq!(shift_right(u64::MAX, 63), 1);
}

#[test]
fn funnels_clamp_or_wrap() {
    let check = |count, direction, excess, expected| {
        assert_eq!(funnel(0x1111_1111, 0x2222_2222, count, direction, excess), expected);
    };
    check(32, Direction::Left, Excess::Clamp, 0x1111_1111);
    check(32, Direction::Left, Excess::Wrap, 0x2222_2222);
    check(40, Direction::Right, Excess::Clamp, 0x2222_2222);
    check(4, Direction::Right, Excess::Wrap, 0x2111_1111);
}

#[test]
fn the_examples_of_fns_hold() {
    let check = |base, offset, expected| {
        assert_eq!(find_nth_set(0xaaaa_aaaa, base, offset), expected);
    };
    check(3, 1, 3);
    check(3, -1, 3);
    check(2, 1, 3);
    check(2, -1, 1);
    check(2, 0, u32::MAX);
    check(31, 2, u32::MAX);
    check(0, i32::MIN, u32::MAX);
}

#[test]
fn found_bits_differ_from_the_sign() {
    assert_eq!(find_32(0, FoundBit::Position), u32::MAX);
    assert_eq!(find_signed_32(-1, FoundBit::Position), u32::MAX);
    assert_eq!(find_signed_32(-2, FoundBit::ShiftAmount), 31);
    assert_eq!(find_64(1 << 40, FoundBit::Position), 40);
}

#[test]
fn permutation_copies_bytes_or_their_signs() {
    assert_eq!(permute(0x8081_0203, 0x0405_0607, 0x7654), 0x0405_0607);
    assert_eq!(permute(0x8081_0203, 0, 0xba98), 0xffff_0000);
    assert_eq!(permute_by_mode(0x0302_0100, 0x0706_0504, 2, PermuteMode::Forward4), 0x0504_0302);
    assert_eq!(permute_by_mode(0x0302_0100, 0x0706_0504, 1, PermuteMode::Backward4), 0x0607_0001);
}
