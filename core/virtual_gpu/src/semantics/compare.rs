//! Comparison and selection. PTX ISA 9.7.6 "Comparison and Selection Instructions", 9.7.7 "Half Precision
//! Comparison Instructions", and 9.3 "Comparison operators".

use super::Subnormals;
use super::float::flush_f32;

#[cfg(test)]
mod tests;

/// Integer comparisons. For unsigned types `.lo`, `.ls`, `.hi` and `.hs` are the same as `.lt` to `.ge`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// `.eq`
    Equal,
    /// `.ne`
    NotEqual,
    /// `.lt`, `.lo`
    Less,
    /// `.le`, `.ls`
    LessEqual,
    /// `.gt`, `.hi`
    Greater,
    /// `.ge`, `.hs`
    GreaterEqual,
}

/// Floating-point comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatOrder {
    /// False if an operand is NaN (`.eq` to `.ge`).
    Ordered(Order),
    /// True if an operand is NaN (`.equ` to `.geu`).
    Unordered(Order),
    /// Neither is NaN (`.num`).
    BothNumbers,
    /// One is NaN (`.nan`).
    AnyNan,
}

/// The combination of the result with a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    And,
    Or,
    Xor,
}

/// Compares integers or bits. PTX ISA 9.3.1 "Integer and Bit-Size Comparisons".
#[inline]
#[must_use]
pub fn compare<T: PartialOrd + Copy>(a: T, b: T, order: Order) -> bool {
    match order {
        Order::Equal => a == b,
        Order::NotEqual => a != b,
        Order::Less => a < b,
        Order::LessEqual => a <= b,
        Order::Greater => a > b,
        Order::GreaterEqual => a >= b,
    }
}

/// Compares f32. PTX ISA 9.3.2 "Floating Point Comparisons".
#[inline]
#[must_use]
pub fn compare_f32(a: u32, b: u32, order: FloatOrder, subnormals: Subnormals) -> bool {
    let number = |bits| match subnormals {
        Subnormals::Keep => f32::from_bits(bits),
        Subnormals::Flush => f32::from_bits(flush_f32(bits)),
    };
    compare_floats(number(a), number(b), order)
}

/// Compares f64. PTX ISA 9.3.2 "Floating Point Comparisons".
#[inline]
#[must_use]
pub fn compare_f64(a: u64, b: u64, order: FloatOrder) -> bool {
    compare_floats(f64::from_bits(a), f64::from_bits(b), order)
}

/// Compares f16 or bf16; only f16 flushes. PTX ISA 9.7.7 "Half Precision Comparison Instructions".
#[inline]
#[must_use]
pub fn compare_half(
    a: u16,
    b: u16,
    order: FloatOrder,
    format: super::half::HalfFormat,
    subnormals: Subnormals,
) -> bool {
    let number = |bits: u16| match subnormals {
        Subnormals::Flush if bits & format.infinity() == 0 => 0.0,
        Subnormals::Flush | Subnormals::Keep => format.to_f32(bits),
    };
    compare_floats(number(a), number(b), order)
}

#[inline]
fn compare_floats<T: PartialOrd + Copy>(a: T, b: T, order: FloatOrder) -> bool {
    #[expect(clippy::eq_op, reason = "a number equals itself, NaN does not")]
    let numbers = (a == a) & (b == b);
    match order {
        FloatOrder::Ordered(order) => numbers & compare(a, b, order),
        FloatOrder::Unordered(order) => !numbers | compare(a, b, order),
        FloatOrder::BothNumbers => numbers,
        FloatOrder::AnyNan => !numbers,
    }
}

#[expect(clippy::fn_params_excessive_bools, reason = "predicates are what it is about")]
/// Combines a comparison with a predicate. PTX ISA 9.7.6.1 "set" and 9.7.6.2 "setp": the second predicate of `setp`
/// combines the complement.
#[inline]
#[must_use]
pub fn combine(holds: bool, predicate: bool, combine: Combine) -> bool {
    match combine {
        Combine::And => holds & predicate,
        Combine::Or => holds | predicate,
        Combine::Xor => holds ^ predicate,
    }
}

/// The result of `set`: all ones for integers, or the encoding of 1.0, if the comparison is true. PTX ISA 9.7.6.1
/// "set".
#[inline]
#[must_use]
pub fn set(holds: bool, truth: u32) -> u32 {
    if holds { truth } else { 0 }
}

/// `p ? a : b`. PTX ISA 9.7.6.3 "selp".
#[inline]
#[must_use]
pub fn select<T>(a: T, b: T, predicate: bool) -> T {
    if predicate { a } else { b }
}

/// `c >= 0 ? a : b`. PTX ISA 9.7.6.4 "slct", `.s32`.
#[inline]
#[must_use]
pub fn select_by_s32<T>(a: T, b: T, c: i32) -> T {
    if c >= 0 { a } else { b }
}

/// `c >= 0 ? a : b`; NaN selects `b`, -0 selects `a`. PTX ISA 9.7.6.4 "slct", `.f32`.
#[inline]
#[must_use]
pub fn select_by_f32<T>(a: T, b: T, c: u32, subnormals: Subnormals) -> T {
    let zero = FloatOrder::Ordered(Order::GreaterEqual);
    if compare_f32(c, 0, zero, subnormals) { a } else { b }
}
