//! Extended-precision integers. PTX ISA 9.7.2 "Extended-Precision Integer Arithmetic Instructions".
//!
//! Signed and unsigned forms give the same bits; the carry is that of the unsigned sum. Subtractions take and
//! return a borrow; the carry flag holds its complement, which the machine converts.

use super::Part;

/// A result and the carry flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried<T> {
    /// The low bits of the result.
    pub value: T,
    /// The carry-out; for differences the borrow-out.
    pub carry: bool,
}

/// The integer types with carry.
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

/// The half of a product in `mad.cc` and `madc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProductPart {
    /// The lower half, the same for both signs.
    Low,
    /// The upper half of an unsigned product.
    HighUnsigned,
    /// The upper half of a signed product.
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
