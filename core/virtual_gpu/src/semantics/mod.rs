//! The results of PTX instructions: pure functions on bit patterns, without state, input or output.
//!
//! Each function cites its clause of the PTX ISA (sections as numbered in version 9.0). Where the ISA does not
//! specify a value (NaN payloads, division by zero), the function returns what an NVIDIA H200 (driver 580)
//! returned, and its comment says so. Functions that the interpreter calls for every lane are `#[inline]` and have
//! no branches on operands, so that a loop over 32 lanes vectorises once the modes, which do not depend on the
//! lane, are known outside the loop.

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
pub mod texture;

/// Rounding modes. PTX ISA 9.7.3, table "Summary of Floating-Point Instructions".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To nearest even (`.rn`).
    NearestEven,
    /// Towards zero (`.rz`).
    TowardZero,
    /// Towards negative infinity (`.rm`).
    Down,
    /// Towards positive infinity (`.rp`).
    Up,
}

/// Treatment of subnormal inputs and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subnormals {
    /// Subnormal numbers are supported.
    Keep,
    /// Subnormal numbers are flushed to zero of the same sign (`.ftz`).
    Flush,
}

/// Clamping of floating-point results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clamp {
    /// No clamping.
    None,
    /// The result is clamped to [0, 1]; NaN becomes +0 (`.sat`).
    Unit,
}

/// Clamping of half-precision results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfClamp {
    /// No clamping.
    None,
    /// The result is clamped to [0, 1]; NaN becomes +0 (`.sat`).
    Unit,
    /// A negative result becomes +0; NaN becomes the canonical NaN (`.relu`).
    Negative,
}

/// Treatment of integer overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// The result wraps.
    Wrap,
    /// The result saturates (`.sat`, `.satfinite`).
    Saturate,
}

/// Treatment of negative results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Negative {
    /// They are kept.
    Keep,
    /// They become zero (`.relu`).
    Zero,
}

/// The result of minimum and maximum if one operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NanRule {
    /// The other operand.
    Number,
    /// The canonical NaN (`.NaN`).
    Propagate,
}

/// The sign of the result of minimum and maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignRule {
    /// The sign of the selected operand.
    Winner,
    /// Magnitudes are compared, the sign is the product of both signs (`.xorsign.abs`).
    Product,
    /// Magnitudes are compared, the result is a magnitude (`.abs`).
    Absolute,
}

/// Minimum or maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The minimum (`min`).
    Minimum,
    /// The maximum (`max`).
    Maximum,
}
