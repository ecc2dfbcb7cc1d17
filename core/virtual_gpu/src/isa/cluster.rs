//! Operations between the blocks of a cluster: addresses of shared memory of other blocks, the barrier of the cluster
//! and its fence. PTX ISA, sections "mapa", "getctarank", "barrier.cluster" and "membar, fence".

use super::barrier::Alignment;
use super::keyword::keywords;
use super::moves::AddressType;
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Row};

keywords! {
    /// The memory ordering of an arrival at the barrier of the cluster.
    ArrivalOrder: "`.release` or `.relaxed`" { Release = "release", Relaxed = "relaxed" }
}

/// The kind of address that an instruction takes and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// A generic address.
    Generic,
    /// An address of the window of shared memory (`.shared::cluster`).
    Shared,
}

/// Operations between the blocks of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cluster {
    /// The address of the same variable in the shared memory of the block with a given rank (`mapa`).
    MapShared(AddressKind, AddressType),
    /// The rank of the block whose shared memory contains an address (`getctarank`).
    RankOf(AddressKind, AddressType),
    /// Arrives at the barrier of the cluster without waiting.
    Arrive(ArrivalOrder, Alignment),
    /// Waits until all threads of the cluster that have not exited have arrived.
    Wait(Alignment),
    /// Makes barrier objects that the thread has initialised visible to the cluster (`fence.mbarrier_init`).
    InitialisationFence,
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("mapa", |m| {
        let (kind, ty) = address(m)?;
        let value = ScalarType::from(ty);
        let rank = Role::Read(ScalarType::U32, Fit::Exact);
        done(
            Cluster::MapShared(kind, ty),
            &[Role::Write(value, Fit::Exact), Role::MoveSource(value), rank],
        )
    }),
    Row::any("getctarank", |m| {
        let (kind, ty) = address(m)?;
        let rank = Role::Write(ScalarType::U32, Fit::Exact);
        done(Cluster::RankOf(kind, ty), &[rank, Role::MoveSource(ty.into())])
    }),
    Row::with("barrier", "cluster", |m| {
        m.flag("cluster");
        if m.flag("arrive") {
            let order = m.optional().unwrap_or(ArrivalOrder::Release);
            return done(Cluster::Arrive(order, alignment(m)), &[]);
        }
        m.require_flag("wait", "`.arrive` or `.wait`")?;
        // The default.
        m.flag("acquire");
        done(Cluster::Wait(alignment(m)), &[])
    }),
    Row::with("fence", "mbarrier_init", |m| {
        m.flag("mbarrier_init");
        m.require_flag("release", "`.release`")?;
        m.require_flag("cluster", "`.cluster`")?;
        done(Cluster::InitialisationFence, &[])
    }),
];

fn done(operation: Cluster, roles: &[Role]) -> Decoded {
    Ok((Operation::Cluster(operation), Signature::new(roles)))
}

fn address(m: &mut Modifiers<'_>) -> Result<(AddressKind, AddressType), super::Refusal> {
    let is_shared = m.flag("shared::cluster");
    let kind = if is_shared { AddressKind::Shared } else { AddressKind::Generic };
    Ok((kind, m.required()?))
}

fn alignment(m: &mut Modifiers<'_>) -> Alignment {
    if m.flag("aligned") { Alignment::Aligned } else { Alignment::Any }
}
