//! Warp-level operations. PTX ISA, sections "shfl.sync", "vote.sync", "match.sync", "activemask" and "redux.sync"
//! of "Parallel Synchronization and Communication Instructions", "shfl.sync" of "Data Movement".

use super::float::NanRule;
use super::keyword::{keywords, scalar_subset};
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Row};

keywords! {
    /// The source lane of a shuffle.
    Shuffle: "`.up`, `.down`, `.bfly` or `.idx`" {
        Up = "up", Down = "down", Butterfly = "bfly", Index = "idx",
    }
}
keywords! {
    /// Vote modes.
    VoteKind: "`.all`, `.any`, `.uni` or `.ballot`" {
        All = "all", Any = "any", Uniform = "uni", Ballot = "ballot",
    }
}
keywords! {
    /// Match modes.
    MatchKind: "`.any` or `.all`" { Any = "any", All = "all" }
}
keywords! {
    IntegerReduction: "`.add`, `.min` or `.max`" { Add = "add", Minimum = "min", Maximum = "max" }
}
keywords! {
    /// Bitwise reductions.
    BitReduction: "`.and`, `.or` or `.xor`" { And = "and", Or = "or", Xor = "xor" }
}
keywords! {
    /// Floating-point reductions.
    FloatReduction: "`.min` or `.max`" { Minimum = "min", Maximum = "max" }
}
scalar_subset! {
    MatchType: ".b32 or .b64" { B32, B64 }
}
scalar_subset! {
    /// The types of integer reductions.
    ReducedInteger: ".u32 or .s32" { U32, S32 }
}

/// How floating-point numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Magnitude {
    /// By value.
    Signed,
    /// By absolute value (`.abs`).
    Absolute,
}

/// Warp-level operations; a mask names the participating lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warp {
    /// A value from another lane.
    Shuffle(Shuffle),
    /// A vote on a predicate.
    Vote(VoteKind),
    /// The lanes with the same value.
    Match(MatchKind, MatchType),
    /// A reduction of integers over the lanes.
    ReduceInteger(IntegerReduction, ReducedInteger),
    /// A bitwise reduction over the lanes.
    ReduceBits(BitReduction),
    /// A reduction of f32 over the lanes.
    ReduceFloat(FloatReduction, Magnitude, NanRule),
    /// The active lanes.
    ActiveMask,
    /// One lane of the mask (`elect`).
    Elect,
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("shfl", |m| {
        m.flag("sync");
        let kind = m.required()?;
        m.require_flag("b32", ".b32")?;
        let roles = [Role::WriteWithPredicate(B32), WORD, WORD, WORD, WORD];
        done(Warp::Shuffle(kind), &roles)
    }),
    Row::any("vote", |m| {
        m.flag("sync");
        let kind: VoteKind = m.required()?;
        let result = match kind {
            VoteKind::All | VoteKind::Any | VoteKind::Uniform => ScalarType::Pred,
            VoteKind::Ballot => B32,
        };
        m.require_flag(result.word(), "the type of the result")?;
        let roles = [Role::Write(result, Fit::Exact), Role::ReadPredicate, WORD];
        done(Warp::Vote(kind), &roles)
    }),
    Row::any("match", |m| {
        m.require_flag("sync", "`.sync`")?;
        let (kind, ty): (_, MatchType) = (m.required()?, m.required()?);
        let result = match kind {
            MatchKind::Any => Role::Write(B32, Fit::Exact),
            MatchKind::All => Role::WriteWithPredicate(B32),
        };
        done(Warp::Match(kind, ty), &[result, Role::Read(ty.into(), Fit::Exact), WORD])
    }),
    Row::any("redux", reduce),
    Row::any("elect", |m| {
        m.require_flag("sync", "`.sync`")?;
        done(Warp::Elect, &[Role::WriteWithPredicate(B32), WORD])
    }),
    Row::any("activemask", |m| {
        m.require_flag("b32", ".b32")?;
        done(Warp::ActiveMask, &[Role::Write(B32, Fit::Exact)])
    }),
];

const B32: ScalarType = ScalarType::B32;
const WORD: Role = Role::Read(ScalarType::B32, Fit::Exact);

fn done(operation: Warp, roles: &[Role]) -> Decoded {
    Ok((Operation::Warp(operation), Signature::new(roles)))
}

fn reduce(m: &mut Modifiers<'_>) -> Decoded {
    m.require_flag("sync", "`.sync`")?;
    let (operation, ty) = if m.flag("b32") {
        (Warp::ReduceBits(m.required()?), B32)
    } else if m.flag("f32") {
        let kind = m.required()?;
        let magnitude = if m.flag("abs") { Magnitude::Absolute } else { Magnitude::Signed };
        let nan = if m.flag("NaN") { NanRule::Propagate } else { NanRule::Number };
        (Warp::ReduceFloat(kind, magnitude, nan), ScalarType::F32)
    } else {
        let ty: ReducedInteger = m.required()?;
        (Warp::ReduceInteger(m.required()?, ty), ty.into())
    };
    done(operation, &[Role::Write(ty, Fit::Exact), Role::Read(ty, Fit::Exact), WORD])
}
