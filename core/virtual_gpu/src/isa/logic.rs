//! Bits: logic, shifts, fields, counts, permutations. PTX ISA, sections "Logic and Shift Instructions", and
//! the bit operations of "Integer Arithmetic Instructions" (`popc` to `szext`).

use super::keyword::{keywords, scalar_subset};
use super::scalar::ScalarType;
use super::signature::{mixed, uniform};
use super::{Decoded, Modifiers, Operation, Row};

scalar_subset! {
    /// What logic takes.
    LogicType: "a type of bits or .pred" { Pred, B16, B32, B64 }
}
scalar_subset! {
    /// What is shifted to the left.
    ShiftType: "a type of bits" { B16, B32, B64 }
}
scalar_subset! {
    /// What is shifted to the right; a signed type copies its sign.
    RightShiftType: "a type of bits or an integer type" {
        B16, B32, B64, U16, U32, U64, S16, S32, S64
    }
}
scalar_subset! {
    /// What is counted, reversed or inserted.
    WideBits: ".b32 or .b64" { B32, B64 }
}
scalar_subset! {
    /// What is searched or extracted.
    FieldType: "a 32- or 64-bit integer type" { U32, U64, S32, S64 }
}
scalar_subset! {
    /// What `szext` extends.
    ExtendType: "a 32-bit integer type" { U32, S32 }
}
keywords! {
    /// Into which direction a funnel shifts.
    Direction: "`.l` or `.r`" { Left = "l", Right = "r" }
}
keywords! {
    /// What happens to an amount or position that is too large.
    Excess: "`.clamp` or `.wrap`" { Clamp = "clamp", Wrap = "wrap" }
}
keywords! {
    /// Fixed patterns of `prmt`.
    PermuteMode: "a mode of prmt" {
        Forward4 = "f4e", Backward4 = "b4e", Replicate8 = "rc8", EdgeLeft = "ecl",
        EdgeRight = "ecr", Replicate16 = "rc16",
    }
}
keywords! {
    /// How `lop3` joins a predicate.
    Join: "`.and` or `.or`" { And = "and", Or = "or" }
}

/// What `bfind` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBit {
    /// The position of the bit.
    Position,
    /// How far to shift left until it is the topmost (`.shiftamt`).
    ShiftAmount,
}

/// Operations on bits.
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
    /// Any function of three bits; its table is the last operand.
    Table3,
    /// The same, and `d != 0` joined with a predicate: `d|p, a, b, c, table, q`.
    Table3Predicate(Join),
    /// `a << b`; amounts beyond the width count as the width.
    ShiftLeft(ShiftType),
    /// `a >> b`; amounts beyond the width count as the width.
    ShiftRight(RightShiftType),
    /// 32 bits of a shifted pair.
    Funnel(Direction, Excess),
    /// How many bits are set; the result is a u32.
    PopulationCount(WideBits),
    /// How many zeros lead; the result is a u32.
    LeadingZeros(WideBits),
    /// The bits in the other order.
    Reverse(WideBits),
    /// The topmost bit that is not a sign; the result is a u32.
    FindLeading(FieldType, FoundBit),
    /// A field: position and length are u32.
    Extract(FieldType),
    /// A field put into `b`: position and length are u32.
    Insert(WideBits),
    /// A run of ones: position and length are u32.
    Mask(Excess),
    /// The sign or zero extension of the lowest bits.
    Extend(Excess, ExtendType),
    /// The n-th bit that is set.
    FindNth,
    /// Bytes of a pair in any order, chosen by the last operand, or by a fixed pattern.
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
