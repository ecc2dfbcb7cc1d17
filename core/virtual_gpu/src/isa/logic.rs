//! Logic, shifts, bit fields, bit counts and permutations. PTX ISA, section "Logic and Shift Instructions", and the
//! bit operations of "Integer Arithmetic Instructions" (`popc` to `szext`).

use super::keyword::{keywords, scalar_subset};
use super::scalar::ScalarType;
use super::signature::{mixed, uniform};
use super::{Decoded, Modifiers, Operation, Row};

scalar_subset! {
    /// The types of logic operations.
    LogicType: "a type of bits or .pred" { Pred, B16, B32, B64 }
}
scalar_subset! {
    /// The types of left shifts.
    ShiftType: "a type of bits" { B16, B32, B64 }
}
scalar_subset! {
    /// The types of right shifts; a signed type shifts in its sign.
    RightShiftType: "a type of bits or an integer type" {
        B16, B32, B64, U16, U32, U64, S16, S32, S64
    }
}
scalar_subset! {
    /// The types of bit counts, reversals and insertions.
    WideBits: ".b32 or .b64" { B32, B64 }
}
scalar_subset! {
    /// The types of bit searches and extractions.
    FieldType: "a 32- or 64-bit integer type" { U32, U64, S32, S64 }
}
scalar_subset! {
    /// The types of `szext`.
    ExtendType: "a 32-bit integer type" { U32, S32 }
}
keywords! {
    /// The direction of a funnel shift.
    Direction: "`.l` or `.r`" { Left = "l", Right = "r" }
}
keywords! {
    /// Treatment of an amount or position that is too large.
    Excess: "`.clamp` or `.wrap`" { Clamp = "clamp", Wrap = "wrap" }
}
keywords! {
    /// The fixed modes of `prmt`.
    PermuteMode: "a mode of prmt" {
        Forward4 = "f4e", Backward4 = "b4e", Replicate8 = "rc8", EdgeLeft = "ecl",
        EdgeRight = "ecr", Replicate16 = "rc16",
    }
}
keywords! {
    /// The combination of `lop3` with a predicate.
    Join: "`.and` or `.or`" { And = "and", Or = "or" }
}

/// The result of `bfind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBit {
    /// The position of the bit.
    Position,
    /// The left shift that moves the bit to the top (`.shiftamt`).
    ShiftAmount,
}

/// Bit operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// `a & b`.
    And(LogicType),
    /// `a | b`.
    Or(LogicType),
    /// `a ^ b`.
    Xor(LogicType),
    /// `~a`.
    Not(LogicType),
    /// One if `a` is zero, else zero.
    LogicalNot(ShiftType),
    /// Any function of three bits; the last operand is its truth table.
    Table3,
    /// `Table3`, and `d != 0` combined with a predicate: `d|p, a, b, c, table, q`.
    Table3Predicate(Join),
    /// `a << b`; larger amounts are clamped to the width.
    ShiftLeft(ShiftType),
    /// `a >> b`; larger amounts are clamped to the width.
    ShiftRight(RightShiftType),
    /// 32 bits of a shifted register pair.
    Funnel(Direction, Excess),
    /// The number of one bits, as u32.
    PopulationCount(WideBits),
    /// The number of leading zeros, as u32.
    LeadingZeros(WideBits),
    /// Bit reversal.
    Reverse(WideBits),
    /// The most significant bit that is not a sign bit, as u32.
    FindLeading(FieldType, FoundBit),
    /// Extraction of a bit field; position and length are u32.
    Extract(FieldType),
    /// Insertion of a bit field into `b`; position and length are u32.
    Insert(WideBits),
    /// A mask of consecutive ones; position and length are u32.
    Mask(Excess),
    /// The sign or zero extension of the low bits.
    Extend(Excess, ExtendType),
    /// The position of the n-th one bit.
    FindNth,
    /// A permutation of the bytes of a register pair, selected by the last operand or a fixed mode.
    Permute(Option<PermuteMode>),
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("and", |m| logic(m, Logic::And, 2)),
    Row::any("or", |m| logic(m, Logic::Or, 2)),
    Row::any("xor", |m| logic(m, Logic::Xor, 2)),
    Row::any("not", |m| logic(m, Logic::Not, 1)),
    Row::any("cnot", |m| {
        let ty = m.required()?;
        done(Logic::LogicalNot(ty), uniform(ty, 1))
    }),
    Row::any("lop3", table3),
    Row::any("shl", |m| {
        let ty: ShiftType = m.required()?;
        done(Logic::ShiftLeft(ty), mixed(ty.into(), &[ty.into(), B32]))
    }),
    Row::any("shr", |m| {
        let ty: RightShiftType = m.required()?;
        done(Logic::ShiftRight(ty), mixed(ty.into(), &[ty.into(), B32]))
    }),
    Row::any("shf", |m| {
        let (direction, excess) = (m.required()?, m.required()?);
        m.require_flag("b32", ".b32")?;
        done(Logic::Funnel(direction, excess), uniform(B32, 3))
    }),
    Row::any("popc", |m| count(m, Logic::PopulationCount)),
    Row::any("clz", |m| count(m, Logic::LeadingZeros)),
    Row::any("brev", |m| {
        let ty = m.required()?;
        done(Logic::Reverse(ty), uniform(ty, 1))
    }),
    Row::any("bfind", |m| {
        let found = if m.flag("shiftamt") { FoundBit::ShiftAmount } else { FoundBit::Position };
        let ty: FieldType = m.required()?;
        done(Logic::FindLeading(ty, found), mixed(ScalarType::U32, &[ty.into()]))
    }),
    Row::any("bfe", |m| {
        let ty: FieldType = m.required()?;
        done(Logic::Extract(ty), mixed(ty.into(), &[ty.into(), B32, B32]))
    }),
    Row::any("bfi", |m| {
        let ty: WideBits = m.required()?;
        done(Logic::Insert(ty), mixed(ty.into(), &[ty.into(), ty.into(), B32, B32]))
    }),
    Row::any("bmsk", |m| {
        let excess = m.required()?;
        m.require_flag("b32", ".b32")?;
        done(Logic::Mask(excess), uniform(B32, 2))
    }),
    Row::any("szext", |m| {
        let (excess, ty): (_, ExtendType) = (m.required()?, m.required()?);
        done(Logic::Extend(excess, ty), mixed(ty.into(), &[ty.into(), B32]))
    }),
    Row::any("fns", |m| {
        m.require_flag("b32", ".b32")?;
        done(Logic::FindNth, mixed(B32, &[B32, B32, ScalarType::S32]))
    }),
    Row::any("prmt", |m| {
        let mode = m.optional();
        m.require_flag("b32", ".b32")?;
        done(Logic::Permute(mode), uniform(B32, 3))
    }),
];

const B32: ScalarType = ScalarType::B32;

fn done(operation: Logic, signature: super::Signature) -> Decoded {
    Ok((Operation::Logic(operation), signature))
}

fn logic(m: &mut Modifiers<'_>, operation: fn(LogicType) -> Logic, sources: usize) -> Decoded {
    let ty = m.required()?;
    done(operation(ty), uniform(ty, sources))
}

fn count(m: &mut Modifiers<'_>, operation: fn(WideBits) -> Logic) -> Decoded {
    let ty: WideBits = m.required()?;
    done(operation(ty), mixed(ScalarType::U32, &[ty.into()]))
}

fn table3(m: &mut Modifiers<'_>) -> Decoded {
    use super::scalar::Fit;
    use super::signature::{Role, Signature};
    let join = m.optional();
    m.require_flag("b32", ".b32")?;
    let read = Role::Read(B32, Fit::Exact);
    let table = Role::Constant { largest: 255 };
    Ok(match join {
        None => {
            let roles = [Role::Write(B32, Fit::Exact), read, read, read, table];
            (Operation::Logic(Logic::Table3), Signature::new(&roles))
        }
        Some(join) => {
            let result = Role::WriteWithPredicate(B32);
            let roles = [result, read, read, read, table, Role::ReadPredicate];
            (Operation::Logic(Logic::Table3Predicate(join)), Signature::new(&roles))
        }
    })
}
