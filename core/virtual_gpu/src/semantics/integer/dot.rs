//! Dot products of packed bytes. PTX ISA 9.7.1.23 "dp4a" and 9.7.1.24 "dp2a".

/// The extension of packed numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// Zero extension (`.u32`).
    Unsigned,
    /// Sign extension (`.s32`).
    Signed,
}

/// The two bytes of `b` that `dp2a` multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DotPart {
    /// Bytes 0 and 1 (`.lo`).
    Low,
    /// Bytes 2 and 3 (`.hi`).
    High,
}

/// `c` plus the products of four bytes, wrapped. PTX ISA 9.7.1.23 "dp4a".
#[inline]
#[must_use]
pub fn dot_product_4(a: u32, b: u32, c: u32, a_type: Signedness, b_type: Signedness) -> u32 {
    (0..4).fold(c, |sum, index| {
        sum.wrapping_add(byte(a, index, a_type).wrapping_mul(byte(b, index, b_type)))
    })
}

/// `c` plus the products of two 16-bit numbers and two bytes, wrapped. PTX ISA 9.7.1.24 "dp2a".
#[inline]
#[must_use]
pub fn dot_product_2(
    operands: [u32; 3],
    part: DotPart,
    a_type: Signedness,
    b_type: Signedness,
) -> u32 {
    let [a, b, c] = operands;
    let first = match part {
        DotPart::Low => 0,
        DotPart::High => 2,
    };
    (0..2).fold(c, |sum, index| {
        sum.wrapping_add(short(a, index, a_type).wrapping_mul(byte(b, first + index, b_type)))
    })
}

#[inline]
pub(super) fn byte(word: u32, index: u32, signedness: Signedness) -> u32 {
    let bits = (word >> (8 * index)) as u8;
    match signedness {
        Signedness::Unsigned => u32::from(bits),
        Signedness::Signed => i32::from(bits as i8) as u32,
    }
}

#[inline]
fn short(word: u32, index: u32, signedness: Signedness) -> u32 {
    let bits = (word >> (16 * index)) as u16;
    match signedness {
        Signedness::Unsigned => u32::from(bits),
        Signedness::Signed => i32::from(bits as i16) as u32,
    }
}
