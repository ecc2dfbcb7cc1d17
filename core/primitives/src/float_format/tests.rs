//! The formats against the standards' tables, against the host's types, and against the virtual GPU's own formats.

use lightbench_virtual_gpu::semantics::exact::{Format, Specials as VirtualSpecials};

use super::*;
use crate::dtype::Dtype;

/// `expected`: bias, largest number, smallest normal and smallest positive number.
fn check(format: FloatFormat, expected: (i32, f64, f64, f64)) {
    let seen = (
        format.bias(),
        format.largest_number(),
        format.smallest_normal(),
        format.smallest_positive(),
    );
    assert_eq!(seen, expected, "{format:?}");
}

#[test]
fn limits_are_those_of_the_standards() {
    check(FloatFormat::F64, (1023, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1)));
    let single = (f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE), f64::from(f32::from_bits(1)));
    check(FloatFormat::F32, (127, single.0, single.1, single.2));
    check(FloatFormat::F16, (15, 65504.0, 6.103_515_625e-5, 5.960_464_477_539_063e-8));
    let brain = (f64::from(f32::from_bits(0x7f7f_0000)), f64::from(f32::from_bits(0x0001_0000)));
    check(FloatFormat::BF16, (127, brain.0, f64::from(f32::MIN_POSITIVE), brain.1));
    check(FloatFormat::E5M2, (15, 57344.0, 6.103_515_625e-5, 1.525_878_906_25e-5));
    check(FloatFormat::E4M3, (7, 448.0, 0.015_625, 0.001_953_125));
    check(FloatFormat::E2M1, (1, 6.0, 1.0, 0.5));
}

#[test]
fn encodings_are_those_of_the_virtual_gpu() {
    for (format, other) in [
        (FloatFormat::F64, Format::F64),
        (FloatFormat::F32, Format::F32),
        (FloatFormat::F16, Format::F16),
        (FloatFormat::BF16, Format::BF16),
        (FloatFormat::E5M2, Format::E5M2),
        (FloatFormat::E4M3, Format::E4M3),
        (FloatFormat::E2M1, Format::E2M1),
    ] {
        let specials = match other.specials {
            VirtualSpecials::InfinityAndNan => Specials::InfinityAndNan,
            VirtualSpecials::NanOnly => Specials::NanOnly,
            VirtualSpecials::Neither => Specials::Neither,
        };
        assert_eq!(format.specials, specials, "{format:?}");
        assert_eq!(format.sign_bit(), other.sign_bit(), "{format:?}");
        assert_eq!(format.largest_finite(), other.largest_finite(), "{format:?}");
        assert_eq!(format.canonical_nan(), other.canonical_nan(), "{format:?}");
        assert_eq!(format.smallest_exponent(), other.smallest_exponent(), "{format:?}");
        let infinity = (specials == Specials::InfinityAndNan).then(|| other.infinity());
        assert_eq!(format.infinity(), infinity, "{format:?}");
    }
}

#[test]
fn every_floating_point_dtype_has_a_format_of_its_width() {
    for dtype in Dtype::ALL {
        let bits = dtype.float_format().map(|format| u64::from(format.sign_bit().ilog2()) + 1);
        assert_eq!(bits, dtype.is_float().then(|| dtype.bits()), "{}", dtype.name());
    }
}
