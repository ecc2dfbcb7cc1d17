//! What PTX instructions compute: pure functions on bit patterns, without state, input or output.
//!
//! Each function cites its clause of the PTX ISA (sections as numbered in version 9.0). Where the ISA leaves
//! a value open (NaN payloads, division by zero), the function gives what an NVIDIA H200 (driver 580)
//! gave, and says so. Functions that the interpreter calls for every lane are `#[inline]` and free of
//! branches on operands, so that a loop over 32 lanes becomes vector code once the modes, which do not
//! depend on the lane, are known outside it.

pub mod approximate;
pub mod atomic;
pub mod bits;
pub mod compare;
pub mod convert;
pub mod exact;
pub mod float;
pub mod half;
#[cfg(test)]
mod hardware;
pub mod integer;
pub mod matrix;
pub mod shuffle;

/// How a result is rounded to its type. PTX ISA 9.7.3, table "Summary of Floating-Point Instructions".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest value, halfway cases to the even one (`.rn`).
    NearestEven,
    /// Towards zero (`.rz`).
    TowardZero,
    /// Towards negative infinity (`.rm`).
    Down,
    /// Towards positive infinity (`.rp`).
    Up,
}

/// What happens to subnormal inputs and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subnormals {
    /// They are numbers like others.
    Keep,
    /// They become zero of the same sign (`.ftz`).
    Flush,
}

/// What happens to a floating-point result outside [0, 1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clamp {
    /// It stays.
    None,
    /// It is clamped, and NaN becomes +0 (`.sat`).
    Unit,
}

/// What happens to half-precision results outside a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfClamp {
    /// They stay.
    None,
    /// They are clamped to [0, 1], and NaN becomes +0 (`.sat`).
    Unit,
    /// Negative ones become +0, and NaN the canonical one (`.relu`).
    Negative,
}

/// What happens to an integer result outside the range of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// It wraps.
    Wrap,
    /// It becomes the nearest value of the type (`.sat`, `.satfinite`).
    Saturate,
}

/// What happens to a negative result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Negative {
    /// It stays.
    Keep,
    /// It becomes zero (`.relu`).
    Zero,
}

/// What minimum and maximum make of NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NanRule {
    /// The other operand wins.
    Number,
    /// NaN wins, as the canonical one (`.NaN`).
    Propagate,
}

/// Which sign the result of minimum and maximum has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignRule {
    /// That of the winner.
    Winner,
    /// Magnitudes are compared, signs are multiplied (`.xorsign.abs`).
    Product,
    /// Magnitudes are compared, the result is one (`.abs`).
    Absolute,
}

/// Which of its operands an extreme is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The smaller one (`min`).
    Minimum,
    /// The larger one (`max`).
    Maximum,
}
