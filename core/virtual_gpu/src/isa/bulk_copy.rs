//! Bulk copies between global and shared memory. PTX ISA, section "Data Movement and Conversion Instructions: Bulk
//! copy", without tensors.

use super::atomic::{self, AddType, ExtremeType, Update};
use super::memory::Space;
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

/// Bulk copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkCopy {
    /// `[shared] = [global]`: completes transactions of a barrier object.
    Load,
    /// The same with a mask of destination blocks (`.multicast::cluster`).
    LoadMulticast,
    /// `[shared::cluster] = [shared::cta]`: completes transactions of a barrier object of the destination block.
    ToCluster,
    /// `[global] = [shared]`: completes with its group.
    Store,
    /// A store that combines each element with the one in global memory.
    Reduce(Update),
    /// Commits the stores since the last group as a group.
    CommitGroup,
    /// Waits until at most a given number of groups is pending.
    WaitGroup(Awaited),
    /// A prefetch to the L2 cache.
    Prefetch,
}

/// The accesses of a group that a wait completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The reads of shared memory (`.read`).
    Reads,
    /// The reads and the writes of global memory.
    Writes,
}

const SIZE: Role = Role::Read(ScalarType::U32, Fit::Exact);
const POLICY: Role = Role::Read(ScalarType::B64, Fit::Exact);
const SHARED: Role = Role::Address(Space::Shared);
const GLOBAL: Role = Role::Address(Space::Global);
const CLUSTER: Role = Role::Address(Space::SharedCluster);

pub(crate) const TABLE: &[Row] = &[Row::with("cp", "bulk", decode)];

fn decode(m: &mut Modifiers<'_>) -> Decoded {
    m.flag("bulk");
    m.require_flag("async", "`.async`")?;
    if m.flag("commit_group") {
        return done(BulkCopy::CommitGroup, &[], false);
    }
    if m.flag("wait_group") {
        let awaited = if m.flag("read") { Awaited::Reads } else { Awaited::Writes };
        let groups = Role::Constant { largest: u64::MAX };
        return done(BulkCopy::WaitGroup(awaited), &[groups], false);
    }
    let policy = m.flag("L2::cache_hint");
    if m.flag("prefetch") {
        m.require_flag("L2", "`.L2`")?;
        m.require_flag("global", "`.global`")?;
        return done(BulkCopy::Prefetch, &[GLOBAL, SIZE], policy);
    }
    if m.has("shared::cta") && m.has("shared::cluster") {
        m.flag("shared::cta");
        m.flag("shared::cluster");
        let completion = "mbarrier::complete_tx::bytes";
        m.require_flag(completion, "`.mbarrier::complete_tx::bytes`")?;
        return done(BulkCopy::ToCluster, &[CLUSTER, SHARED, SIZE, CLUSTER], policy);
    }
    let is_shared = m.flag("shared::cta") || m.flag("shared::cluster");
    m.require_flag("global", "`.global`")?;
    let is_reduction = m.flag("reduce");
    if m.flag("bulk_group") {
        let operation = if is_reduction { reduction(m)? } else { BulkCopy::Store };
        return done(operation, &[GLOBAL, SHARED, SIZE], policy);
    }
    m.require_flag(
        "mbarrier::complete_tx::bytes",
        "`.bulk_group` or `.mbarrier::complete_tx::bytes`",
    )?;
    if !is_shared {
        return Err(m.missing("`.shared::cluster`, the destination"));
    }
    if m.flag("multicast::cluster") {
        let blocks = Role::Read(ScalarType::U16, Fit::Exact);
        return done(BulkCopy::LoadMulticast, &[CLUSTER, GLOBAL, SIZE, CLUSTER, blocks], policy);
    }
    done(BulkCopy::Load, &[SHARED, GLOBAL, SIZE, SHARED], policy)
}

fn reduction(m: &mut Modifiers<'_>) -> Result<BulkCopy, Refusal> {
    let (update, _) = atomic::update(m)?;
    let is_supported = match update {
        Update::And(_) | Update::Or(_) | Update::Xor(_) => true,
        Update::Increment | Update::Decrement => true,
        Update::Add(ty) => !matches!(ty, AddType::S64 | AddType::F16x2 | AddType::Bf16x2),
        Update::Minimum(ty) | Update::Maximum(ty) => {
            !matches!(ty, ExtremeType::F16x2 | ExtremeType::Bf16x2)
        }
        Update::Exchange(_) | Update::CompareAndSwap(_) => false,
    };
    if is_supported {
        Ok(BulkCopy::Reduce(update))
    } else {
        Err(m.combination("bulk reductions do not have this operation for this type"))
    }
}

fn done(operation: BulkCopy, roles: &[Role], policy: bool) -> Decoded {
    let roles: Vec<Role> = roles.iter().copied().chain(policy.then_some(POLICY)).collect();
    Ok((Operation::BulkCopy(operation), Signature::new(&roles)))
}
