//! Asynchronous copies from global to shared memory. PTX ISA, section "Data Movement and Conversion Instructions:
//! Asynchronous copy", the non-bulk forms of `cp.async`.

use super::keyword::keywords;
use super::memory::{PrefetchSize, Space};
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Row};

keywords! {
    /// The cache level of a copy.
    CopyCache: "`.ca` or `.cg`" { AllLevels = "ca", Global = "cg" }
}

/// Whether a completed copy increments the pending arrivals of the barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// The pending count is incremented when the instruction executes.
    Increment,
    /// The pending count is not incremented (`.noinc`).
    Keep,
}

/// Asynchronous copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncCopy {
    /// `[shared] = [global]`: 4, 8 or 16 bytes, of which fewer may be read; the rest is zero. The operand after the
    /// size is the number of bytes that are read, or a predicate that disables the read.
    Copy(CopyCache, Option<PrefetchSize>),
    /// Commits all copies since the last group as a group.
    CommitGroup,
    /// Waits until at most a given number of groups is pending.
    WaitGroup,
    /// Waits until no copy is pending.
    WaitAll,
    /// The thread's earlier copies arrive at a barrier object when they complete.
    ArriveOnCompletion(Space, Pending),
}

pub(crate) const TABLE: &[Row] = &[
    Row::with("cp", "commit_group", |m| {
        m.flag("commit_group");
        done(m, AsyncCopy::CommitGroup, &[])
    }),
    Row::with("cp", "wait_group", |m| {
        m.flag("wait_group");
        done(m, AsyncCopy::WaitGroup, &[Role::Constant { largest: u64::MAX }])
    }),
    Row::with("cp", "wait_all", |m| {
        m.flag("wait_all");
        done(m, AsyncCopy::WaitAll, &[])
    }),
    Row::with("cp", "mbarrier", |m| {
        m.flag("mbarrier");
        m.require_flag("arrive", "`.arrive`")?;
        let pending = if m.flag("noinc") { Pending::Keep } else { Pending::Increment };
        let space = super::memory::space(m);
        m.require_flag("b64", ".b64")?;
        done(m, AsyncCopy::ArriveOnCompletion(space, pending), &[Role::Address(space)])
    }),
    Row::any("cp", copy),
];

fn done(m: &mut Modifiers<'_>, operation: AsyncCopy, roles: &[Role]) -> Decoded {
    m.require_flag("async", "`.async`")?;
    Ok((Operation::AsyncCopy(operation), Signature::new(roles)))
}

fn copy(m: &mut Modifiers<'_>) -> Decoded {
    let cache = m.required()?;
    if !m.flag("shared") {
        m.require_flag("shared::cta", "`.shared`, the destination")?;
    }
    m.require_flag("global", "`.global`, the source")?;
    let policy = m.flag("L2::cache_hint");
    let operation = AsyncCopy::Copy(cache, m.optional());
    let size = Role::Constant { largest: 16 };
    let read = Role::ReadOrPredicate(ScalarType::U32);
    let policy_value = Role::Read(ScalarType::B64, Fit::Exact);
    let (to, from) = (Role::Address(Space::Shared), Role::Address(Space::Global));
    match (policy, m.operands()) {
        (false, 4) => done(m, operation, &[to, from, size, read]),
        (true, 4) => done(m, operation, &[to, from, size, policy_value]),
        (true, _) => done(m, operation, &[to, from, size, read, policy_value]),
        (false, _) => done(m, operation, &[to, from, size]),
    }
}
