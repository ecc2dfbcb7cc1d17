//! Barriers of a block or warp, and fences. PTX ISA, sections "bar, barrier", "bar.warp.sync" and "membar,
//! fence" of "Parallel Synchronization and Communication Instructions".

use super::keyword::keywords;
use super::memory::Scope;
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Row};

keywords! {
    /// What a block's barrier computes on the way.
    Vote: "`.popc`, `.and` or `.or`" { Count = "popc", All = "and", Any = "or" }
}
keywords! {
    /// How strong a fence is.
    FenceOrder: "`.sc`, `.acq_rel`, `.acquire` or `.release`" {
        SequentiallyConsistent = "sc", AcquireRelease = "acq_rel", Acquire = "acquire",
        Release = "release",
    }
}
keywords! {
    /// The scopes of the old spelling.
    MembarScope: "`.cta`, `.gl` or `.sys`" { Block = "cta", Gpu = "gl", System = "sys" }
}

/// What the program promises about the lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Each may come on its own.
    Any,
    /// All come to the same instruction together.
    Aligned,
}

/// Barriers and fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Wait until all threads (or the given number) are there.
    Synchronise(Alignment),
    /// Be counted and go on.
    Arrive(Alignment),
    /// Wait, and learn how many threads (all, any) had the predicate.
    Reduce(Vote, Alignment),
    /// Wait for the lanes of a mask.
    SynchroniseWarp,
    /// Order of memory accesses.
    Fence(FenceOrder, Scope),
}

pub(crate) const TABLE: &[Row] = &[
    Row::with("bar", "warp", |m| {
        m.flag("warp");
        m.require_flag("sync", "`.sync`")?;
        done(Barrier::SynchroniseWarp, &[NUMBER], 0)
    }),
    Row::any("bar", |m| block_barrier(m, Alignment::Aligned)),
    Row::any("barrier", |m| {
        let aligned = m.flag("aligned");
        block_barrier(m, if aligned { Alignment::Aligned } else { Alignment::Any })
    }),
    Row::any("membar", |m| {
        let scope = match m.required()? {
            MembarScope::Block => Scope::Cta,
            MembarScope::Gpu => Scope::Gpu,
            MembarScope::System => Scope::System,
        };
        // "membar is a synonym for fence.sc", by the ISA.
        done(Barrier::Fence(FenceOrder::SequentiallyConsistent, scope), &[], 0)
    }),
    Row::any("fence", |m| {
        let order = m.optional().unwrap_or(FenceOrder::AcquireRelease);
        let scope = m.required()?;
        done(Barrier::Fence(order, scope), &[], 0)
    }),
];

const NUMBER: Role = Role::Read(ScalarType::U32, Fit::Exact);

fn done(operation: Barrier, roles: &[Role], optional: u8) -> Decoded {
    Ok((Operation::Barrier(operation), Signature::new(roles).optional(optional)))
}

fn block_barrier(m: &mut Modifiers<'_>, alignment: Alignment) -> Decoded {
    m.flag("cta");
    if m.flag("sync") {
        return done(Barrier::Synchronise(alignment), &[NUMBER, NUMBER], 1);
    }
    if m.flag("arrive") {
        return done(Barrier::Arrive(alignment), &[NUMBER, NUMBER], 0);
    }
    m.require_flag("red", "`.sync`, `.arrive` or `.red`")?;
    let vote = m.required()?;
    let result = match vote {
        Vote::Count => ScalarType::U32,
        Vote::All | Vote::Any => ScalarType::Pred,
    };
    m.require_flag(result.word(), "the type of the result")?;
    let result = Role::Write(result, Fit::Exact);
    // The number of threads stands in the middle and may be left out.
    if m.operands() == 4 {
        return done(
            Barrier::Reduce(vote, alignment),
            &[result, NUMBER, NUMBER, Role::ReadPredicate],
            0,
        );
    }
    done(Barrier::Reduce(vote, alignment), &[result, NUMBER, Role::ReadPredicate], 0)
}
