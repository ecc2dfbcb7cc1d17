//! Video instructions. PTX ISA, sections "Scalar Video Instructions" and "SIMD Video Instructions".
//!
//! Selectors (`%r2.h1`) and signs (`-%r3`) are written at operands but belong to the operation, so that operands
//! are plain registers as in other instructions. The operations are the types of `semantics`, which have no PTX
//! keyword of their own.

use super::super::semantics::Overflow;
use super::super::semantics::bits::Excess;
use super::super::semantics::compare::Order;
use super::super::semantics::integer::{
    Elements, Join, PackedVideo, ProductSign, ScalarVideo, Secondary, Signedness, VideoFunction,
    VideoPart, VideoProduct,
};
use super::integer::{Integer, WordType};
use super::keyword::keywords;
use super::scalar::ScalarType;
use super::signature::uniform;
use super::{Decoded, Modifiers, Operation, Refusal, Row};

keywords! {
    PartWord: "`.b0` to `.b3`, `.h0` or `.h1`" {
        Byte0 = "b0", Byte1 = "b1", Byte2 = "b2", Byte3 = "b3", Half0 = "h0", Half1 = "h1",
    }
}
keywords! {
    /// The operation with the third source.
    SecondaryWord: "`.add`, `.min` or `.max`" { Add = "add", Minimum = "min", Maximum = "max" }
}
keywords! {
    /// Treatment of a shift amount beyond 32.
    ExcessWord: "`.clamp` or `.wrap`" { Clamp = "clamp", Wrap = "wrap" }
}
keywords! {
    ComparisonWord: "a comparison (.eq, .ne, .lt, .le, .gt, .ge)" {
        Equal = "eq", NotEqual = "ne", Less = "lt", LessEqual = "le", Greater = "gt",
        GreaterEqual = "ge",
    }
}
keywords! {
    /// The right shift of a multiply-add.
    ScaleWord: "`.shr7` or `.shr15`" { By7 = "shr7", By15 = "shr15" }
}

/// Arithmetic on bytes and halves of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Video {
    /// One result.
    Scalar(ScalarVideo),
    /// `a * b + c`.
    Product(VideoProduct),
    /// One result for each half or byte.
    Packed(PackedVideo),
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("vadd", |m| arithmetic(m, VideoFunction::Add)),
    Row::any("vsub", |m| arithmetic(m, VideoFunction::Subtract)),
    Row::any("vabsdiff", |m| arithmetic(m, VideoFunction::AbsoluteDifference)),
    Row::any("vmin", |m| arithmetic(m, VideoFunction::Minimum)),
    Row::any("vmax", |m| arithmetic(m, VideoFunction::Maximum)),
    Row::any("vshl", |m| shift(m, VideoFunction::ShiftLeft)),
    Row::any("vshr", |m| shift(m, VideoFunction::ShiftRight)),
    Row::any("vset", |m| {
        let (a, b) = (word(m)?, word(m)?);
        let function = VideoFunction::Compare(comparison(m)?);
        scalar(m, function, [Signedness::Unsigned, a, b])
    }),
    Row::any("vmad", product),
    Row::any("vadd2", |m| packed(m, VideoFunction::Add, Elements::Halves)),
    Row::any("vsub2", |m| packed(m, VideoFunction::Subtract, Elements::Halves)),
    Row::any("vavrg2", |m| packed(m, VideoFunction::Average, Elements::Halves)),
    Row::any("vabsdiff2", |m| packed(m, VideoFunction::AbsoluteDifference, Elements::Halves)),
    Row::any("vmin2", |m| packed(m, VideoFunction::Minimum, Elements::Halves)),
    Row::any("vmax2", |m| packed(m, VideoFunction::Maximum, Elements::Halves)),
    Row::any("vset2", |m| packed_comparison(m, Elements::Halves)),
    Row::any("vadd4", |m| packed(m, VideoFunction::Add, Elements::Bytes)),
    Row::any("vsub4", |m| packed(m, VideoFunction::Subtract, Elements::Bytes)),
    Row::any("vavrg4", |m| packed(m, VideoFunction::Average, Elements::Bytes)),
    Row::any("vabsdiff4", |m| packed(m, VideoFunction::AbsoluteDifference, Elements::Bytes)),
    Row::any("vmin4", |m| packed(m, VideoFunction::Minimum, Elements::Bytes)),
    Row::any("vmax4", |m| packed(m, VideoFunction::Maximum, Elements::Bytes)),
    Row::any("vset4", |m| packed_comparison(m, Elements::Bytes)),
];

/// Whether the operands of an opcode may have selectors and signs.
pub(crate) fn has_selectors(opcode: &str) -> bool {
    TABLE.iter().any(|row| row.name == opcode)
}

fn done(video: Video, sources: usize) -> Decoded {
    Ok((Operation::Integer(Integer::Video(video)), uniform(ScalarType::B32, sources)))
}

fn word(m: &mut Modifiers<'_>) -> Result<Signedness, Refusal> {
    Ok(match m.required()? {
        WordType::U32 => Signedness::Unsigned,
        WordType::S32 => Signedness::Signed,
    })
}

fn overflow(m: &mut Modifiers<'_>) -> Overflow {
    if m.flag("sat") { Overflow::Saturate } else { Overflow::Wrap }
}

fn comparison(m: &mut Modifiers<'_>) -> Result<Order, Refusal> {
    Ok(match m.required()? {
        ComparisonWord::Equal => Order::Equal,
        ComparisonWord::NotEqual => Order::NotEqual,
        ComparisonWord::Less => Order::Less,
        ComparisonWord::LessEqual => Order::LessEqual,
        ComparisonWord::Greater => Order::Greater,
        ComparisonWord::GreaterEqual => Order::GreaterEqual,
    })
}

fn arithmetic(m: &mut Modifiers<'_>, function: VideoFunction) -> Decoded {
    let types = [word(m)?, word(m)?, word(m)?];
    scalar(m, function, types)
}

fn shift(m: &mut Modifiers<'_>, function: fn(Excess) -> VideoFunction) -> Decoded {
    let (result, a) = (word(m)?, word(m)?);
    m.require_flag("u32", "`.u32`, the type of the amount")?;
    let excess = match m.required()? {
        ExcessWord::Clamp => Excess::Clamp,
        ExcessWord::Wrap => Excess::Wrap,
    };
    scalar(m, function(excess), [result, a, Signedness::Unsigned])
}

fn scalar(m: &mut Modifiers<'_>, function: VideoFunction, types: [Signedness; 3]) -> Decoded {
    let [result, a, b] = types;
    no_sign(m)?;
    let secondary = match (m.optional(), m.selector(0)) {
        (None, None) => Secondary::None,
        (None, Some(_)) => Secondary::Merge(part(m, 0)?),
        (Some(SecondaryWord::Add), None) => Secondary::Add,
        (Some(SecondaryWord::Minimum), None) => Secondary::Minimum,
        (Some(SecondaryWord::Maximum), None) => Secondary::Maximum,
        (Some(_), Some(_)) => {
            return Err(m.combination(
                "a selector of the result and a secondary operation exclude each other",
            ));
        }
    };
    let parts = [part(m, 1)?, part(m, 2)?];
    no_third_selector(m)?;
    let (sources, overflow) = ([a, b], overflow(m));
    let video = ScalarVideo { function, result, sources, parts, overflow, secondary };
    done(Video::Scalar(video), if secondary == Secondary::None { 2 } else { 3 })
}

fn product(m: &mut Modifiers<'_>) -> Decoded {
    // The type of the result is not needed: its sign follows from the factors.
    let (_, a, b) = (word(m)?, word(m)?, word(m)?);
    let plus_one = m.flag("po");
    let product = m.is_negated(1) ^ m.is_negated(2);
    let any = m.is_negated(1) || m.is_negated(2) || m.is_negated(3);
    let sign = match (plus_one, product, m.is_negated(3)) {
        (true, ..) if any => return Err(m.combination("`.po` takes no negated operand")),
        (_, true, true) => {
            return Err(m.combination("either the product or the last operand is negated"));
        }
        (true, ..) => ProductSign::PlusOne,
        (false, true, false) => ProductSign::NegatedProduct,
        (false, false, true) => ProductSign::NegatedSum,
        (false, false, false) => ProductSign::Plain,
    };
    let shift = match m.optional() {
        None => 0,
        Some(ScaleWord::By7) => 7,
        Some(ScaleWord::By15) => 15,
    };
    if m.selector(0).is_some() {
        return Err(m.combination("the result of `vmad` has no selector"));
    }
    let parts = [part(m, 1)?, part(m, 2)?];
    no_third_selector(m)?;
    let overflow = overflow(m);
    done(Video::Product(VideoProduct { sources: [a, b], parts, sign, shift, overflow }), 3)
}

fn packed(m: &mut Modifiers<'_>, function: VideoFunction, elements: Elements) -> Decoded {
    let types = [word(m)?, word(m)?, word(m)?];
    let overflow = overflow(m);
    packed_with(m, function, elements, types, overflow)
}

fn packed_comparison(m: &mut Modifiers<'_>, elements: Elements) -> Decoded {
    let (a, b) = (word(m)?, word(m)?);
    let function = VideoFunction::Compare(comparison(m)?);
    packed_with(m, function, elements, [Signedness::Unsigned, a, b], Overflow::Wrap)
}

fn packed_with(
    m: &mut Modifiers<'_>,
    function: VideoFunction,
    elements: Elements,
    types: [Signedness; 3],
    overflow: Overflow,
) -> Decoded {
    let [result, a, b] = types;
    no_sign(m)?;
    no_third_selector(m)?;
    let join = if m.flag("add") { Join::Sum } else { Join::Elements };
    if join == Join::Sum && overflow == Overflow::Saturate {
        return Err(m.combination("`.sat` and `.add` exclude each other"));
    }
    let (all, first, second) = match elements {
        Elements::Halves => ("h10", "h10", "h32"),
        Elements::Bytes => ("b3210", "b3210", "b7654"),
    };
    let mask = mask(m, m.selector(0).unwrap_or(all), elements)?;
    let selected = [
        selected(m, m.selector(1).unwrap_or(first), elements)?,
        selected(m, m.selector(2).unwrap_or(second), elements)?,
    ];
    let sources = [a, b];
    let video = PackedVideo { function, elements, result, sources, selected, mask, overflow, join };
    done(Video::Packed(video), 3)
}

/// The selected part of an operand; the whole word without a selector.
fn part(m: &Modifiers<'_>, operand: usize) -> Result<VideoPart, Refusal> {
    use super::keyword::Keyword as _;
    let Some(selector) = m.selector(operand) else { return Ok(VideoPart::Word) };
    let part = PartWord::from_spelling(selector).ok_or_else(|| m.missing(PartWord::WHAT))?;
    Ok(match part {
        PartWord::Byte0 => VideoPart::Byte(0),
        PartWord::Byte1 => VideoPart::Byte(1),
        PartWord::Byte2 => VideoPart::Byte(2),
        PartWord::Byte3 => VideoPart::Byte(3),
        PartWord::Half0 => VideoPart::Half(0),
        PartWord::Half1 => VideoPart::Half(1),
    })
}

fn no_sign(m: &Modifiers<'_>) -> Result<(), Refusal> {
    match (0..4).any(|operand| m.is_negated(operand)) {
        true => Err(m.combination("only operands of `vmad` are negated")),
        false => Ok(()),
    }
}

fn no_third_selector(m: &Modifiers<'_>) -> Result<(), Refusal> {
    match m.selector(3) {
        Some(_) => Err(m.combination("the last operand has no selector")),
        None => Ok(()),
    }
}

/// The digits of `.h10` or `.b3210`, the last one first, each below a limit.
fn digits(
    m: &Modifiers<'_>,
    selector: &str,
    elements: Elements,
    limit: u32,
) -> Result<Vec<u32>, Refusal> {
    let (letter, wanted) = match elements {
        Elements::Halves => ('h', "a selector of halves (`.h10`)"),
        Elements::Bytes => ('b', "a selector of bytes (`.b3210`)"),
    };
    let digits = selector.strip_prefix(letter).filter(|digits| !digits.is_empty());
    let number = |digit: char| digit.to_digit(10).filter(|digit| *digit < limit);
    let numbers = digits.and_then(|digits| digits.chars().rev().map(number).collect());
    numbers.ok_or_else(|| m.missing(wanted))
}

/// `.b20`: the results that are written, each named once and the highest first.
fn mask(m: &Modifiers<'_>, selector: &str, elements: Elements) -> Result<u8, Refusal> {
    let numbers = digits(m, selector, elements, elements.count())?;
    if !numbers.is_sorted_by(|low, high| low < high) {
        return Err(m.combination("a mask names each element once, the highest first"));
    }
    Ok(numbers.into_iter().fold(0, |mask, number| mask | 1 << number))
}

/// `.h32`: for each result, one element of the pair `{b, a}`.
fn selected(m: &Modifiers<'_>, selector: &str, elements: Elements) -> Result<u16, Refusal> {
    let numbers = digits(m, selector, elements, 2 * elements.count())?;
    if numbers.len() != elements.count() as usize {
        return Err(m.combination("a selector names one element for each result"));
    }
    Ok(numbers.into_iter().rev().fold(0, |all, number| all << 4 | number as u16))
}
