//! Comparison and selection. PTX ISA, sections "Comparison and Selection Instructions" and "Half Precision
//! Comparison Instructions".

use super::float::{Subnormals, subnormals};
use super::keyword::{keywords, scalar_subset};
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

scalar_subset! {
    /// Untyped bits, compared for equality.
    BitsType: "a type of bits" { B16, B32, B64 }
}
scalar_subset! {
    ComparedInteger: "an integer type" { U16, U32, U64, S16, S32, S64 }
}
scalar_subset! {
    /// Floating-point numbers.
    ComparedFloat: "a floating-point type" { F16, F16x2, Bf16, Bf16x2, F32, F64 }
}
scalar_subset! {
    /// The result types of `set`: all ones (or 1.0) and zero.
    SetType: "a type for the result" { U16, S16, U32, S32, F16, F16x2, Bf16, Bf16x2, F32 }
}
scalar_subset! {
    /// The operand types of `selp` and `slct`.
    SelectType: "a type to choose from" {
        B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64
    }
}
scalar_subset! {
    /// The type of the selector of `slct`.
    SelectorType: "the type of the selector" { S32, F32 }
}
keywords! {
    Equality: "`.eq` or `.ne`" { Equal = "eq", NotEqual = "ne" }
}
keywords! {
    /// Integer comparisons; `.lo` to `.hs` are the unsigned ones.
    IntegerComparison: "a comparison of integers" {
        Equal = "eq", NotEqual = "ne", Less = "lt", LessEqual = "le", Greater = "gt",
        GreaterEqual = "ge", Lower = "lo", LowerSame = "ls", Higher = "hi", HigherSame = "hs",
    }
}
keywords! {
    /// Floating-point comparisons; those with `u` are also true if an operand is NaN.
    FloatComparison: "a comparison of floating-point numbers" {
        Equal = "eq", NotEqual = "ne", Less = "lt", LessEqual = "le", Greater = "gt",
        GreaterEqual = "ge", EqualUnordered = "equ", NotEqualUnordered = "neu",
        LessUnordered = "ltu", LessEqualUnordered = "leu", GreaterUnordered = "gtu",
        GreaterEqualUnordered = "geu", BothNumbers = "num", AnyNan = "nan",
    }
}
keywords! {
    /// The combination of the result with a predicate.
    Combine: "`.and`, `.or` or `.xor`" { And = "and", Or = "or", Xor = "xor" }
}

/// A comparison with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Bits(Equality, BitsType),
    Integer(IntegerComparison, ComparedInteger),
    /// Floating-point numbers.
    Float(FloatComparison, ComparedFloat, Subnormals),
}

/// Comparison and selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// A predicate (and its complement), optionally combined with another one. A pair of halves gives one predicate
    /// per half.
    SetPredicate(Comparison, Option<Combine>),
    /// All ones (or 1.0) where the comparison is true, zero elsewhere.
    Set(Comparison, Option<Combine>, SetType),
    /// `p ? a : b`.
    Select(SelectType),
    /// `c >= 0 ? a : b`.
    SelectBySign(SelectType, SelectorType, Subnormals),
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("setp", set_predicate),
    Row::any("set", set),
    Row::any("selp", |m| {
        let ty: SelectType = m.required()?;
        let (write, read) = (Role::Write(ty.into(), Fit::Exact), Role::Read(ty.into(), Fit::Exact));
        let signature = Signature::new(&[write, read, read, Role::ReadPredicate]);
        Ok((Operation::Compare(Compare::Select(ty)), signature))
    }),
    Row::any("slct", |m| {
        let ty: SelectType = m.required()?;
        let selector: SelectorType = m.required()?;
        let flush = match selector {
            SelectorType::F32 => subnormals(m),
            SelectorType::S32 => Subnormals::Keep,
        };
        let operation = Compare::SelectBySign(ty, selector, flush);
        let (ty, selector) = (ty.into(), selector.into());
        let signature = super::signature::mixed(ty, &[ty, ty, selector]);
        Ok((Operation::Compare(operation), signature))
    }),
];

/// The type, then the comparison that this type has.
fn comparison(m: &mut Modifiers<'_>) -> Result<(Comparison, ScalarType), Refusal> {
    if let Some(ty) = m.optional::<BitsType>() {
        return Ok((Comparison::Bits(m.required()?, ty), ty.into()));
    }
    if let Some(ty) = m.optional::<ComparedInteger>() {
        let operator = m.required()?;
        let by_name = matches!(
            operator,
            IntegerComparison::Lower
                | IntegerComparison::LowerSame
                | IntegerComparison::Higher
                | IntegerComparison::HigherSame
        );
        let is_signed =
            matches!(ty, ComparedInteger::S16 | ComparedInteger::S32 | ComparedInteger::S64);
        if by_name && is_signed {
            return Err(m.combination("`.lo`, `.ls`, `.hi` and `.hs` take unsigned types"));
        }
        return Ok((Comparison::Integer(operator, ty), ty.into()));
    }
    let ty: ComparedFloat = m.required()?;
    let operator = m.required()?;
    let subnormals = match ty {
        ComparedFloat::F16 | ComparedFloat::F16x2 | ComparedFloat::F32 => subnormals(m),
        ComparedFloat::Bf16 | ComparedFloat::Bf16x2 | ComparedFloat::F64 => Subnormals::Keep,
    };
    Ok((Comparison::Float(operator, ty, subnormals), ty.into()))
}

fn combined(combine: Option<Combine>, roles: [Role; 3]) -> Signature {
    let [result, a, b] = roles;
    match combine {
        Some(_) => Signature::new(&[result, a, b, Role::ReadPredicate]),
        None => Signature::new(&[result, a, b]),
    }
}

fn set_predicate(m: &mut Modifiers<'_>) -> Decoded {
    let (comparison, ty) = comparison(m)?;
    let combine = m.optional();
    let read = Role::Read(ty, Fit::Exact);
    let signature = combined(combine, [Role::WritePredicates, read, read]);
    Ok((Operation::Compare(Compare::SetPredicate(comparison, combine)), signature))
}

fn set(m: &mut Modifiers<'_>) -> Decoded {
    let result: SetType = m.required()?;
    let (comparison, ty) = comparison(m)?;
    let combine = m.optional();
    let read = Role::Read(ty, Fit::Exact);
    let signature = combined(combine, [Role::Write(result.into(), Fit::Exact), read, read]);
    Ok((Operation::Compare(Compare::Set(comparison, combine, result)), signature))
}
