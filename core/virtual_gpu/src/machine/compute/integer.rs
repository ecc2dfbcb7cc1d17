//! Integer arithmetic.

use super::super::super::isa::integer::{
    ExtremeType, Integer, IntegerType, Negative, Overflow, PackedType, Part, SignedType, WideType,
};
use super::super::super::isa::video::Video;
use super::super::super::lower::code::Op;
use super::super::super::semantics::Extreme;
use super::super::super::semantics::integer as s;
use super::super::lanes::Lanes;
use super::modes;

/// Two operands of any integer type.
macro_rules! two {
    ($lanes:ident, $op:ident, $ty:expr, $f:expr) => {
        two!($lanes.words_2, $lanes.doubles_2, $op, $ty, $f)
    };
    ($lanes:ident.$words:ident, $same:ident.$doubles:ident, $op:ident, $ty:expr, $f:expr) => {
        match $ty {
            IntegerType::U16 => $lanes.$words($op, |a, b| u32::from($f(a as u16, b as u16))),
            IntegerType::S16 => $lanes.$words($op, |a, b| u32::from($f(a as i16, b as i16) as u16)),
            IntegerType::U32 => $lanes.$words($op, |a, b| $f(a, b)),
            IntegerType::S32 => $lanes.$words($op, |a, b| $f(a as i32, b as i32) as u32),
            IntegerType::U64 => $lanes.$doubles($op, |a, b| $f(a, b)),
            IntegerType::S64 => $lanes.$doubles($op, |a, b| $f(a as i64, b as i64) as u64),
        }
    };
}

/// Three operands of any integer type.
macro_rules! three {
    ($lanes:ident, $op:ident, $ty:expr, $f:expr) => {
        match $ty {
            IntegerType::U16 => {
                $lanes.words_3($op, |a, b, c| u32::from($f(a as u16, b as u16, c as u16)));
            }
            IntegerType::S16 => {
                $lanes.words_3($op, |a, b, c| u32::from($f(a as i16, b as i16, c as i16) as u16));
            }
            IntegerType::U32 => $lanes.words_3($op, |a, b, c| $f(a, b, c)),
            IntegerType::S32 => {
                $lanes.words_3($op, |a, b, c| $f(a as i32, b as i32, c as i32) as u32);
            }
            IntegerType::U64 => $lanes.doubles_3($op, |a, b, c| $f(a, b, c)),
            IntegerType::S64 => {
                $lanes.doubles_3($op, |a, b, c| $f(a as i64, b as i64, c as i64) as u64);
            }
        }
    };
}

#[inline(always)]
pub(super) fn execute(lanes: &mut Lanes<'_>, op: &Op, what: Integer) {
    match what {
        Integer::Add(ty, Overflow::Wrap) => two!(lanes, op, ty, s::add),
        Integer::Add(_, Overflow::Saturate) => {
            lanes.words_2(op, |a, b| s::add_saturating(a as i32, b as i32) as u32);
        }
        Integer::Subtract(ty, Overflow::Wrap) => two!(lanes, op, ty, s::subtract),
        Integer::Subtract(_, Overflow::Saturate) => {
            lanes.words_2(op, |a, b| s::subtract_saturating(a as i32, b as i32) as u32);
        }
        Integer::AddPacked(PackedType::U16x2 | PackedType::S16x2) => {
            lanes.words_2(op, s::add_packed);
        }
        Integer::Multiply(Part::Low, ty) => {
            two!(lanes, op, ty, |a, b| s::multiply(a, b, s::Part::Low));
        }
        Integer::Multiply(Part::High, ty) => {
            two!(lanes, op, ty, |a, b| s::multiply(a, b, s::Part::High));
        }
        Integer::MultiplyWide(ty) => multiply_wide(lanes, op, ty),
        Integer::MultiplyAdd(Part::Low, ty, _) => {
            three!(lanes, op, ty, |a, b, c| s::multiply_add(a, b, c, s::Part::Low));
        }
        Integer::MultiplyAdd(Part::High, ty, Overflow::Wrap) => {
            three!(lanes, op, ty, |a, b, c| s::multiply_add(a, b, c, s::Part::High));
        }
        Integer::MultiplyAdd(Part::High, _, Overflow::Saturate) => lanes
            .words_3(op, |a, b, c| s::multiply_add_saturating(a as i32, b as i32, c as i32) as u32),
        Integer::MultiplyAddWide(ty) => multiply_add_wide(lanes, op, ty),
        Integer::Divide(ty) => {
            two!(lanes.costly_words_2, lanes.costly_doubles_2, op, ty, s::divide);
        }
        Integer::Remainder(ty) => {
            two!(lanes.costly_words_2, lanes.costly_doubles_2, op, ty, s::remainder);
        }
        Integer::Absolute(ty) => match ty {
            SignedType::S16 => lanes.words_1(op, |a| u32::from(s::absolute(a as i16) as u16)),
            SignedType::S32 => lanes.words_1(op, |a| s::absolute(a as i32) as u32),
            SignedType::S64 => lanes.doubles_1(op, |a| s::absolute(a as i64) as u64),
        },
        Integer::Negate(ty) => match ty {
            SignedType::S16 => lanes.words_1(op, |a| u32::from(s::negate(a as i16) as u16)),
            SignedType::S32 => lanes.words_1(op, |a| s::negate(a as i32) as u32),
            SignedType::S64 => lanes.doubles_1(op, |a| s::negate(a as i64) as u64),
        },
        Integer::Minimum(ty, negative) => extreme(lanes, op, ty, Extreme::Minimum, negative),
        Integer::Maximum(ty, negative) => extreme(lanes, op, ty, Extreme::Maximum, negative),
        Integer::Multiply24(..)
        | Integer::MultiplyAdd24(..)
        | Integer::SumOfAbsoluteDifferences(_)
        | Integer::DotProduct4(..)
        | Integer::DotProduct2(..)
        | Integer::Video(_) => rare(lanes, op, what),
    }
}

#[inline(always)]
fn multiply_wide(lanes: &mut Lanes<'_>, op: &Op, ty: WideType) {
    match ty {
        WideType::U16 => lanes.words_2(op, |a, b| s::multiply_wide(a as u16, b as u16)),
        WideType::S16 => lanes.words_2(op, |a, b| s::multiply_wide(a as i16, b as i16) as u32),
        WideType::U32 => lanes.widening_2(op, s::multiply_wide),
        WideType::S32 => lanes.widening_2(op, |a, b| s::multiply_wide(a as i32, b as i32) as u64),
    }
}

#[inline(always)]
fn multiply_add_wide(lanes: &mut Lanes<'_>, op: &Op, ty: WideType) {
    match ty {
        WideType::U16 => {
            lanes.words_3(op, |a, b, c| s::multiply_add_wide(a as u16, b as u16, c));
        }
        WideType::S16 => {
            lanes.words_3(op, |a, b, c| s::multiply_add_wide(a as i16, b as i16, c as i32) as u32);
        }
        WideType::U32 => lanes.widening_3(op, s::multiply_add_wide),
        WideType::S32 => lanes
            .widening_3(op, |a, b, c| s::multiply_add_wide(a as i32, b as i32, c as i64) as u64),
    }
}

#[inline(always)]
fn extreme(lanes: &mut Lanes<'_>, op: &Op, ty: ExtremeType, extreme: Extreme, negative: Negative) {
    let negative = modes::negative(negative);
    macro_rules! of {
        ($ty:expr) => {
            two!(lanes, op, $ty, |a, b| s::extreme(a, b, extreme, negative))
        };
    }
    match ty {
        ExtremeType::U16 => of!(IntegerType::U16),
        ExtremeType::U32 => of!(IntegerType::U32),
        ExtremeType::U64 => of!(IntegerType::U64),
        ExtremeType::S16 => of!(IntegerType::S16),
        ExtremeType::S32 => of!(IntegerType::S32),
        ExtremeType::S64 => of!(IntegerType::S64),
        ExtremeType::U16x2 => lanes
            .words_2(op, |a, b| s::extreme_packed(a, b, s::PackedType::U16x2, extreme, negative)),
        ExtremeType::S16x2 => lanes
            .words_2(op, |a, b| s::extreme_packed(a, b, s::PackedType::S16x2, extreme, negative)),
    }
}

fn rare(lanes: &mut Lanes<'_>, op: &Op, what: Integer) {
    match what {
        Integer::Multiply24(part, ty) => {
            let (part, ty) = (modes::part(part), modes::signedness(ty));
            lanes.words_2(op, |a, b| s::multiply_24(a, b, part, ty));
        }
        Integer::MultiplyAdd24(part, ty, overflow) => {
            let (part, ty) = (modes::part(part), modes::signedness(ty));
            let overflow = modes::overflow(overflow);
            lanes.words_3(op, |a, b, c| s::multiply_add_24([a, b, c], part, ty, overflow));
        }
        Integer::SumOfAbsoluteDifferences(ty) => {
            three!(lanes, op, ty, s::sum_of_absolute_differences);
        }
        Integer::DotProduct4(a_type, b_type) => {
            let (a_type, b_type) = (modes::signedness(a_type), modes::signedness(b_type));
            lanes.words_3(op, |a, b, c| s::dot_product_4(a, b, c, a_type, b_type));
        }
        Integer::DotProduct2(part, a_type, b_type) => {
            let (a_type, b_type) = (modes::signedness(a_type), modes::signedness(b_type));
            let part = match part {
                Part::Low => s::DotPart::Low,
                Part::High => s::DotPart::High,
            };
            lanes.words_3(op, |a, b, c| s::dot_product_2([a, b, c], part, a_type, b_type));
        }
        Integer::Video(Video::Scalar(video)) if video.secondary == s::Secondary::None => {
            lanes.words_2(op, |a, b| s::scalar_video(a, b, 0, video));
        }
        Integer::Video(Video::Scalar(video)) => {
            lanes.words_3(op, |a, b, c| s::scalar_video(a, b, c, video));
        }
        Integer::Video(Video::Product(video)) => {
            lanes.words_3(op, |a, b, c| s::video_product(a, b, c, video));
        }
        Integer::Video(Video::Packed(video)) => {
            lanes.words_3(op, |a, b, c| s::packed_video(a, b, c, video));
        }
        Integer::Add(..)
        | Integer::Subtract(..)
        | Integer::AddPacked(_)
        | Integer::Multiply(..)
        | Integer::MultiplyWide(_)
        | Integer::MultiplyAdd(..)
        | Integer::MultiplyAddWide(_)
        | Integer::Divide(_)
        | Integer::Remainder(_)
        | Integer::Absolute(_)
        | Integer::Negate(_)
        | Integer::Minimum(..)
        | Integer::Maximum(..) => {}
    }
}
