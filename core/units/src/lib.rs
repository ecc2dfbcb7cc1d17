//! Quantities with units; only the products and quotients that mean something exist.
//!
//! A time, a size and a rate are all numbers, and every wrong roofline begins with two of them
//! mixed up. The inner number is public: code that formats or serialises reads it, code that
//! computes should not need to.

use std::iter::Sum;
use std::ops::{Add, Div, Mul, Sub};

use serde::{Deserialize, Serialize};

mod display;

pub use display::{counted, grouped};

/// Declares a floating-point quantity with what every quantity can do: be added to its like, be
/// scaled by a plain number, and be compared with its like as a [`Fraction`].
macro_rules! quantity {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl Div for $name {
            type Output = Fraction;
            fn div(self, whole: Self) -> Fraction {
                Fraction(self.0 / whole.0)
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
                Self(parts.map(|part| part.0).sum())
            }
        }
    };
}

/// Declares `a * b = c` and with it `b * a = c`, `c / a = b` and `c / b = a`.
macro_rules! product {
    ($a:ident * $b:ident = $c:ident) => {
        impl Mul<$b> for $a {
            type Output = $c;
            fn mul(self, other: $b) -> $c {
                $c(self.0 * other.0)
            }
        }

        impl Mul<$a> for $b {
            type Output = $c;
            fn mul(self, other: $a) -> $c {
                $c(self.0 * other.0)
            }
        }

        impl Div<$a> for $c {
            type Output = $b;
            fn div(self, other: $a) -> $b {
                $b(self.0 / other.0)
            }
        }

        impl Div<$b> for $c {
            type Output = $a;
            fn div(self, other: $b) -> $a {
                $a(self.0 / other.0)
            }
        }
    };
}

quantity! {
    /// A span of time.
    Seconds
}
quantity! {
    /// Floating-point operations; a fused multiply-add is two. Integer operations of tensor cores
    /// are counted the same way.
    Flops
}
quantity! {
    /// Clock cycles, or transfers of one memory pin, per second.
    Hertz
}
quantity! {
    /// A rate of moving data.
    BytesPerSecond
}
quantity! {
    /// A rate of computing.
    FlopsPerSecond
}
quantity! {
    /// Arithmetic intensity: operations per byte moved.
    Intensity
}
quantity! {
    /// Power.
    Watts
}

product!(FlopsPerSecond * Seconds = Flops);
product!(Intensity * BytesPerSecond = FlopsPerSecond);

/// A ratio of two like quantities. Never clamped: 1.07 is a finding, not an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fraction(pub f64);

/// A size in bytes, exact.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// So many times 1024 bytes.
    #[must_use]
    pub const fn from_kib(kib: u64) -> Self {
        Self(kib * 1024)
    }

    /// So many times 2³⁰ bytes.
    #[must_use]
    pub const fn from_gib(gib: u64) -> Self {
        Self(gib << 30)
    }

    /// The next multiple of `unit` that is not below this size. A `unit` of zero changes nothing.
    #[must_use]
    pub const fn round_up_to(self, unit: Self) -> Self {
        match unit.0 {
            0 => self,
            unit => Self(self.0.div_ceil(unit) * unit),
        }
    }

    /// The difference, or `None` where `other` is larger.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(difference) => Some(Self(difference)),
            None => None,
        }
    }

    /// As a number to divide by a rate: exact below 2⁵³ bytes.
    fn as_float(self) -> f64 {
        self.0 as f64
    }
}

impl Hertz {
    /// How long so many cycles take at this clock.
    #[must_use]
    pub fn time_of(self, cycles: f64) -> Seconds {
        Seconds(cycles / self.0)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, count: u64) -> Self {
        Self(self.0 * count)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        Self(parts.map(|part| part.0).sum())
    }
}

impl Div for Bytes {
    type Output = Fraction;
    fn div(self, whole: Self) -> Fraction {
        Fraction(self.as_float() / whole.as_float())
    }
}

impl Div<BytesPerSecond> for Bytes {
    type Output = Seconds;
    fn div(self, rate: BytesPerSecond) -> Seconds {
        Seconds(self.as_float() / rate.0)
    }
}

impl Div<Seconds> for Bytes {
    type Output = BytesPerSecond;
    fn div(self, time: Seconds) -> BytesPerSecond {
        BytesPerSecond(self.as_float() / time.0)
    }
}

impl Div<Bytes> for Flops {
    type Output = Intensity;
    fn div(self, moved: Bytes) -> Intensity {
        Intensity(self.0 / moved.as_float())
    }
}

impl Mul<Bytes> for Intensity {
    type Output = Flops;
    fn mul(self, moved: Bytes) -> Flops {
        Flops(self.0 * moved.as_float())
    }
}

#[cfg(test)]
mod tests;
