//! Barriers of a block or a warp, and fences. PTX ISA, sections "bar, barrier", "bar.warp.sync" and "membar, fence"
//! of "Parallel Synchronization and Communication Instructions".

use super::keyword::keywords;
use super::memory::Scope;
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

keywords! {
    /// The reduction of a barrier.
    Vote: "`.popc`, `.and` or `.or`" { Count = "popc", All = "and", Any = "or" }
}
keywords! {
    /// The semantics of a fence.
    FenceOrder: "`.sc`, `.acq_rel`, `.acquire` or `.release`" {
        SequentiallyConsistent = "sc", AcquireRelease = "acq_rel", Acquire = "acquire",
        Release = "release",
    }
}
keywords! {
    MembarScope: "`.cta`, `.gl` or `.sys`" { Block = "cta", Gpu = "gl", System = "sys" }
}

/// The convergence that the program guarantees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Lanes may arrive separately.
    Any,
    /// All lanes of the warp execute the same instruction (`.aligned`).
    Aligned,
}

/// A way of accessing memory that a proxy fence orders with generic accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// Accesses by other virtual addresses.
    Alias,
    /// Asynchronous operations, on both kinds of memory.
    Asynchronous,
    /// Asynchronous operations on global memory.
    AsynchronousGlobal,
    /// Asynchronous operations on shared memory.
    AsynchronousShared,
}

/// Barriers and fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Waits until all threads (or the given number) have arrived.
    Synchronise(Alignment),
    /// Arrives without waiting.
    Arrive(Alignment),
    /// Waits, and returns the number of threads whose predicate is true, or whether all or any are.
    Reduce(Vote, Alignment),
    /// Waits for the lanes of a mask.
    SynchroniseWarp,
    Fence(FenceOrder, Scope),
    /// A fence between the generic proxy and another one (`fence.proxy`).
    ProxyFence(Proxy),
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
    Row::with("fence", "proxy", |m| {
        m.flag("proxy");
        if m.flag("async::generic") {
            restricted(m)?;
            return done(Barrier::ProxyFence(Proxy::AsynchronousShared), &[], 0);
        }
        done(Barrier::ProxyFence(proxy(m)?), &[], 0)
    }),
    Row::any("fence", |m| {
        if m.has("sync_restrict::shared::cta") || m.has("sync_restrict::shared::cluster") {
            let order = restricted(m)?;
            return done(Barrier::Fence(order, Scope::Cluster), &[], 0);
        }
        let order = m.optional().unwrap_or(FenceOrder::AcquireRelease);
        let scope = m.required()?;
        done(Barrier::Fence(order, scope), &[], 0)
    }),
];

const NUMBER: Role = Role::Read(ScalarType::U32, Fit::Exact);

fn done(operation: Barrier, roles: &[Role], optional: u8) -> Decoded {
    Ok((Operation::Barrier(operation), Signature::new(roles).optional(optional)))
}

/// The order of a fence that applies to objects in shared memory only: it releases those of the block, or acquires those
/// of the cluster. The race check lets it order all memory.
fn restricted(m: &mut Modifiers<'_>) -> Result<FenceOrder, Refusal> {
    let order = m.required()?;
    let restriction = match order {
        FenceOrder::Release => "sync_restrict::shared::cta",
        FenceOrder::Acquire => "sync_restrict::shared::cluster",
        FenceOrder::SequentiallyConsistent | FenceOrder::AcquireRelease => {
            return Err(m.missing("`.acquire` or `.release`"));
        }
    };
    m.require_flag(
        restriction,
        "`.sync_restrict::shared::cta` to release, `::cluster` to acquire",
    )?;
    m.require_flag("cluster", "`.cluster`")?;
    Ok(order)
}

fn proxy(m: &mut Modifiers<'_>) -> Result<Proxy, Refusal> {
    if m.flag("alias") {
        return Ok(Proxy::Alias);
    }
    m.require_flag("async", "`.alias` or `.async`")?;
    if m.flag("global") {
        return Ok(Proxy::AsynchronousGlobal);
    }
    let is_shared = m.flag("shared::cta") || m.flag("shared::cluster");
    Ok(if is_shared { Proxy::AsynchronousShared } else { Proxy::Asynchronous })
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
    // The thread count is the middle operand and optional.
    if m.operands() == 4 {
        return done(
            Barrier::Reduce(vote, alignment),
            &[result, NUMBER, NUMBER, Role::ReadPredicate],
            0,
        );
    }
    done(Barrier::Reduce(vote, alignment), &[result, NUMBER, Role::ReadPredicate], 0)
}
