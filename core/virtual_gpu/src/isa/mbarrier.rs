//! Barrier objects in shared memory. PTX ISA, section "mbarrier" of "Parallel Synchronization and Communication
//! Instructions".

use super::keyword::keywords;
use super::memory::{Scope, Space, space};
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

keywords! {
    /// The memory ordering of an arrival or a wait.
    MbarrierOrder: "an order" { Acquire = "acquire", Release = "release", Relaxed = "relaxed" }
}

/// How a wait identifies the phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// By the state that an arrival returned.
    State,
    /// By its parity.
    Parity,
}

/// The operand of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The number of arrivals; by default one.
    Count,
    /// The number of arrivals, which the program guarantees not to complete the phase (`.noComplete`).
    CountWithoutCompletion,
    /// The number of bytes that the phase expects in addition; the thread arrives once.
    Expect,
}

/// A change of the transaction count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionChange {
    /// The phase expects additional bytes (`expect_tx`).
    Expect,
    /// Bytes have arrived (`complete_tx`).
    Complete,
}

/// Whether the thread participates in later phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Participation {
    /// It participates.
    Stay,
    /// It does not (`arrive_drop`).
    Leave,
}

/// The blocking behaviour of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Does not block (`test_wait`).
    None,
    /// May suspend the thread for a limited time (`try_wait`).
    Bounded,
}

/// Memory ordering and scope; by default release or acquire at block scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synchronisation {
    /// The memory ordering.
    pub order: MbarrierOrder,
    pub scope: Scope,
}

/// Operations on barrier objects in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mbarrier {
    /// Initialises an object with a number of expected arrivals.
    Initialise(Space),
    /// Invalidates an object, so that its memory can be reused.
    Invalidate(Space),
    /// Arrives; returns the state of the phase.
    Arrive(Space, Participation, Arrival, Synchronisation),
    /// Expects or completes transactions, in bytes, without an arrival.
    Transactions(Space, TransactionChange),
    /// Tests whether a phase has completed.
    Wait(Space, Patience, Phase, Synchronisation),
    /// Returns the number of pending arrivals of a state.
    PendingCount,
}

pub(crate) const TABLE: &[Row] = &[
    Row::with("mbarrier", "init", |m| {
        m.flag("init");
        let (space, address) = place(m)?;
        done(Mbarrier::Initialise(space), &[address, COUNT], 0)
    }),
    Row::with("mbarrier", "inval", |m| {
        m.flag("inval");
        let (space, address) = place(m)?;
        done(Mbarrier::Invalidate(space), &[address], 0)
    }),
    Row::with("mbarrier", "arrive", |m| {
        m.flag("arrive");
        arrive(m, Participation::Stay)
    }),
    Row::with("mbarrier", "arrive_drop", |m| {
        m.flag("arrive_drop");
        arrive(m, Participation::Leave)
    }),
    Row::with("mbarrier", "expect_tx", |m| {
        m.flag("expect_tx");
        transactions(m, TransactionChange::Expect)
    }),
    Row::with("mbarrier", "complete_tx", |m| {
        m.flag("complete_tx");
        transactions(m, TransactionChange::Complete)
    }),
    Row::with("mbarrier", "test_wait", |m| {
        m.flag("test_wait");
        wait(m, Patience::None)
    }),
    Row::with("mbarrier", "try_wait", |m| {
        m.flag("try_wait");
        wait(m, Patience::Bounded)
    }),
    Row::with("mbarrier", "pending_count", |m| {
        m.flag("pending_count");
        m.require_flag("b64", ".b64")?;
        let count = Role::Write(ScalarType::U32, Fit::Exact);
        done(Mbarrier::PendingCount, &[count, STATE], 0)
    }),
];

const COUNT: Role = Role::Read(ScalarType::U32, Fit::Exact);
const STATE: Role = Role::Read(ScalarType::B64, Fit::Exact);

fn done(operation: Mbarrier, roles: &[Role], optional: u8) -> Decoded {
    Ok((Operation::Mbarrier(operation), Signature::new(roles).optional(optional)))
}

fn place(m: &mut Modifiers<'_>) -> Result<(Space, Role), Refusal> {
    let space = space(m);
    let is_remote =
        m.has("arrive") || m.has("arrive_drop") || m.has("expect_tx") || m.has("complete_tx");
    if space == Space::SharedCluster && !is_remote {
        return Err(m.combination("only an arrival or a transaction supports `.shared::cluster`"));
    }
    m.require_flag("b64", ".b64")?;
    Ok((space, Role::Address(space)))
}

fn synchronisation(m: &mut Modifiers<'_>, order: MbarrierOrder) -> Synchronisation {
    let order = m.optional().unwrap_or(order);
    Synchronisation { order, scope: m.optional().unwrap_or(Scope::Cta) }
}

fn arrive(m: &mut Modifiers<'_>, participation: Participation) -> Decoded {
    let arrival = if m.flag("expect_tx") {
        Arrival::Expect
    } else if m.flag("noComplete") {
        Arrival::CountWithoutCompletion
    } else {
        Arrival::Count
    };
    let synchronisation = synchronisation(m, MbarrierOrder::Release);
    let (space, address) = place(m)?;
    let state = Role::Write(ScalarType::B64, Fit::Exact);
    let operation = Mbarrier::Arrive(space, participation, arrival, synchronisation);
    let optional = u8::from(arrival == Arrival::Count);
    done(operation, &[state, address, COUNT], optional)
}

/// Changes of the transaction count are relaxed.
fn transactions(m: &mut Modifiers<'_>, change: TransactionChange) -> Decoded {
    m.flag("relaxed");
    let _: Option<Scope> = m.optional();
    let (space, address) = place(m)?;
    done(Mbarrier::Transactions(space, change), &[address, COUNT], 0)
}

fn wait(m: &mut Modifiers<'_>, patience: Patience) -> Decoded {
    let phase = if m.flag("parity") { Phase::Parity } else { Phase::State };
    let synchronisation = synchronisation(m, MbarrierOrder::Acquire);
    let (space, address) = place(m)?;
    let complete = Role::Write(ScalarType::Pred, Fit::Exact);
    let which = match phase {
        Phase::State => STATE,
        Phase::Parity => COUNT,
    };
    let operation = Mbarrier::Wait(space, patience, phase, synchronisation);
    match patience {
        Patience::None => done(operation, &[complete, address, which], 0),
        Patience::Bounded => done(operation, &[complete, address, which, COUNT], 1),
    }
}
