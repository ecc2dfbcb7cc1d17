//! Integer arithmetic against wider integers of the host.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn wide_products_agree_with_128_bits(a: i64, b: i64, c: i64) {
        let product = i128::from(a) * i128::from(b);
        prop_assert_eq!(multiply(a, b, Part::Low), product as i64);
        prop_assert_eq!(multiply(a, b, Part::High), (product >> 64) as i64);
        prop_assert_eq!(multiply_add(a, b, c, Part::High), ((product >> 64) as i64).wrapping_add(c));
        let product = u128::from(a as u64) * u128::from(b as u64);
        prop_assert_eq!(multiply(a as u64, b as u64, Part::High), (product >> 64) as u64);
    }

    #[test]
    fn chains_of_carries_add_and_subtract_128_bits(a: u128, b: u128) {
        let (low, high) = (a as u64, (a >> 64) as u64);
        let (b_low, b_high) = (b as u64, (b >> 64) as u64);
        let sum = add_with_carry(low, b_low, false);
        let top = add_with_carry(high, b_high, sum.carry);
        let (expected, carry) = a.overflowing_add(b);
        prop_assert_eq!(u128::from(top.value) << 64 | u128::from(sum.value), expected);
        prop_assert_eq!(top.carry, carry);
        let difference = subtract_with_borrow(low, b_low, false);
        let top = subtract_with_borrow(high, b_high, difference.carry);
        let (expected, borrow) = a.overflowing_sub(b);
        prop_assert_eq!(u128::from(top.value) << 64 | u128::from(difference.value), expected);
        prop_assert_eq!(top.carry, borrow);
    }

    /// The example of the ISA under `madc`: a product of two 64-bit numbers in words.
    #[test]
    fn multiplication_by_words_gives_the_whole_product(a: u64, b: u64) {
        let ([a0, a1], [b0, b1]) = ([a as u32, (a >> 32) as u32], [b as u32, (b >> 32) as u32]);
        let (low, high) = (ProductPart::Low, ProductPart::HighUnsigned);
        let r0 = multiply(a0, b0, Part::Low);
        let r1 = multiply(a0, b0, Part::High);
        let r1 = multiply_add_with_carry(a1, b0, r1, low, false);
        let r2 = multiply_add_with_carry(a1, b0, 0, high, r1.carry);
        let r1 = multiply_add_with_carry(a0, b1, r1.value, low, false);
        let r2 = multiply_add_with_carry(a0, b1, r2.value, high, r1.carry);
        let r3 = add_with_carry(0, 0, r2.carry);
        let r2 = multiply_add_with_carry(a1, b1, r2.value, low, false);
        let r3 = multiply_add_with_carry(a1, b1, r3.value, high, r2.carry);
        let words = [r0, r1.value, r2.value, r3.value];
        let product = words.iter().rev().fold(0_u128, |sum, word| sum << 32 | u128::from(*word));
        prop_assert_eq!(product, u128::from(a) * u128::from(b));
    }

    #[test]
    fn dot_products_agree_with_plain_sums(a: [i8; 4], b: [u8; 4], c: i32) {
        let expected = a.iter().zip(b).fold(c, |sum, (a, b)| sum.wrapping_add(i32::from(*a) * i32::from(b)));
        let word = u32::from_le_bytes(a.map(|byte| byte as u8));
        let result = dot_product_4(
            word, u32::from_le_bytes(b), c as u32, Signedness::Signed, Signedness::Unsigned,
        );
        prop_assert_eq!(result as i32, expected);
    }
}

#[test]
fn division_has_no_undefined_cases() {
    assert_eq!(divide(i32::MIN, -1), i32::MIN);
    assert_eq!(remainder(i32::MIN, -1), 0);
    assert_eq!(divide(5_u32, 0), u32::MAX);
    assert_eq!(divide(5_i64, 0), -1);
    assert_eq!(remainder(5_i32, 0), -1);
    assert_eq!(divide(-7, 2), -3);
    assert_eq!(remainder(-7, 2), -1);
    assert_eq!(remainder(7, -2), 1);
}

#[test]
fn extremes_of_range_wrap_or_saturate() {
    assert_eq!(absolute(i16::MIN), i16::MIN);
    assert_eq!(negate(i64::MIN), i64::MIN);
    assert_eq!(add_saturating(i32::MAX, 1), i32::MAX);
    assert_eq!(subtract_saturating(i32::MIN, 1), i32::MIN);
    assert_eq!(add(i32::MAX, 1), i32::MIN);
    assert_eq!(multiply_add_saturating(i32::MIN, i32::MIN, i32::MAX), i32::MAX);
    assert_eq!(sum_of_absolute_differences(i32::MIN, i32::MAX, 0), -1);
    assert_eq!(extreme(-3, -5, Extreme::Maximum, Negative::Zero), 0);
    assert_eq!(add_packed(0xffff_ffff, 0x0001_0001), 0);
}

#[test]
fn video_results_are_exact_until_they_are_limited_or_cut() {
    let unsigned = [Signedness::Unsigned; 2];
    let product = |sign, overflow, shift, parts| VideoProduct {
        sources: unsigned,
        parts,
        sign,
        shift,
        overflow,
    };
    let check = |sign, overflow, shift, part, expected| {
        let what = product(sign, overflow, shift, [part; 2]);
        assert_eq!(video_product(u32::MAX, u32::MAX, 100, what), expected, "{what:?}");
    };
    let word = VideoPart::Word;
    // (2^32 - 1)^2 + 100 = 2^64 - 2^33 + 101.
    check(ProductSign::Plain, Overflow::Saturate, 0, word, u32::MAX);
    check(ProductSign::NegatedProduct, Overflow::Saturate, 0, word, 0x8000_0000);
    check(ProductSign::NegatedSum, Overflow::Saturate, 0, word, 0x7fff_ffff);
    check(ProductSign::Plain, Overflow::Wrap, 0, word, 101);
    // (65535 * 65535 + 100) >> 7 = (2^32 - 2^17 + 101) >> 7.
    check(ProductSign::Plain, Overflow::Wrap, 7, VideoPart::Half(0), 0x01ff_fc00);
}

#[test]
fn video_merges_replace_one_part() {
    let check = |part, expected| {
        let secondary = Secondary::Merge(part);
        let function = VideoFunction::Add;
        let result = Signedness::Unsigned;
        let (sources, parts) = ([result; 2], [VideoPart::Half(0), VideoPart::Half(1)]);
        let overflow = Overflow::Wrap;
        let what = ScalarVideo { function, result, sources, parts, overflow, secondary };
        // 0x7f01 + 0x0102 = 0x8003.
        assert_eq!(scalar_video(0x7f01, 0x0102_0000, 0x1122_3344, what), expected, "{part:?}");
    };
    check(VideoPart::Half(0), 0x1122_8003);
    check(VideoPart::Half(1), 0x8003_3344);
    check(VideoPart::Byte(0), 0x1122_3303);
    check(VideoPart::Byte(3), 0x0322_3344);
}
