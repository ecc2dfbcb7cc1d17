//! Integers of several registers. PTX ISA 9.7.2 "Extended-Precision Integer Arithmetic Instructions".
//!
//! Signed and unsigned forms give the same bits; the carry is that of the unsigned sum. Differences
//! take and give a borrow here; the carry flag holds its complement, which is the machine's affair.

use super::Part;

/// A result and the carry flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried<T> {
    /// The bits that fit.
    pub value: T,
    /// Whether one more was needed; a borrow for differences.
    pub carry: bool,
}

/// The widths that carry.
pub trait Limb: Copy {
    /// `a + b + carry`.
    #[must_use]
    fn sum(self, other: Self, carry: bool) -> Carried<Self>;
    /// `a - b - borrow`.
    #[must_use]
    fn difference(self, other: Self, borrow: bool) -> Carried<Self>;
    /// Half of the unsigned or signed product.
    #[must_use]
    fn product(self, other: Self, part: ProductPart) -> Self;
}

/// Which half of which product `mad.cc` and `madc` add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProductPart {
    /// The lower one, which has no sign.
    Low,
    /// The upper one of unsigned numbers.
    HighUnsigned,
    /// The upper one of signed numbers.
    HighSigned,
}

macro_rules! limbs {
    ($($ty:ty, $signed:ty);+) => {$(
        impl Limb for $ty {
            #[inline]
            fn sum(self, other: Self, carry: bool) -> Carried<Self> {
                let (partial, first) = self.overflowing_add(other);
                let (value, second) = partial.overflowing_add(Self::from(carry));
                Carried { value, carry: first | second }
            }
            #[inline]
            fn difference(self, other: Self, borrow: bool) -> Carried<Self> {
                let (partial, first) = self.overflowing_sub(other);
                let (value, second) = partial.overflowing_sub(Self::from(borrow));
                Carried { value, carry: first | second }
            }
            #[inline]
            fn product(self, other: Self, part: ProductPart) -> Self {
                match part {
                    ProductPart::Low => self.wrapping_mul(other),
                    ProductPart::HighUnsigned => super::multiply(self, other, Part::High),
                    ProductPart::HighSigned => {
                        super::multiply(self as $signed, other as $signed, Part::High) as Self
                    }
                }
            }
        }
    )+};
}

limbs!(u32, i32; u64, i64);

/// `a + b + carry`; `add.cc` passes no carry. PTX ISA 9.7.2.1 "add.cc" and 9.7.2.2 "addc".
#[inline]
#[must_use]
pub fn add_with_carry<T: Limb>(a: T, b: T, carry: bool) -> Carried<T> {
    a.sum(b, carry)
}

/// `a - b - borrow`; `sub.cc` passes no borrow. PTX ISA 9.7.2.3 "sub.cc" and 9.7.2.4 "subc".
#[inline]
#[must_use]
pub fn subtract_with_borrow<T: Limb>(a: T, b: T, borrow: bool) -> Carried<T> {
    a.difference(b, borrow)
}

/// Half of `a * b`, plus `c`, plus the carry; `mad.cc` passes no carry. PTX ISA 9.7.2.5 "mad.cc" and 9.7.2.6
/// "madc".
#[inline]
#[must_use]
pub fn multiply_add_with_carry<T: Limb>(
    a: T,
    b: T,
    c: T,
    part: ProductPart,
    carry: bool,
) -> Carried<T> {
    a.product(b, part).sum(c, carry)
}
