//! One lane's access of one element: its effect on the happens-before order, and its races.

use super::super::super::isa::atomic::AtomicOrder;
use super::super::super::isa::memory::Ordering;
use super::clock::Thread;
use super::conflict::{ConflictCheck, ConflictResult, MemoryKind, Rules};
use super::happens_before::{HappensBefore, Reach};
use super::shadow::{Entry, PackedAccess, Record, Shadow, Strength};
use super::{reach, releases};

/// The kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Role {
    Read,
    Write,
    /// A read-modify-write.
    Update,
    /// A read-modify-write whose old value the thread does not see: an arrival at a barrier object.
    Arrival,
}

impl Role {
    pub(super) const fn writes(self) -> bool {
        match self {
            Self::Read => false,
            Self::Write | Self::Update | Self::Arrival => true,
        }
    }

    const fn reads(self) -> bool {
        match self {
            Self::Write | Self::Arrival => false,
            Self::Read | Self::Update => true,
        }
    }
}

/// The accesses of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct InstructionAccess {
    pub(super) pc: u32,
    pub(super) strength: Strength,
    pub(super) role: Role,
    pub(super) order: AtomicOrder,
    /// Elements per lane.
    pub(super) count: usize,
}

/// One lane's access of one element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) thread: Thread,
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) region: Option<usize>,
    pub(super) offset: usize,
}

impl InstructionAccess {
    /// The accesses of a load or store.
    pub(super) fn new(pc: u32, ordering: Ordering, role: Role, count: usize) -> Self {
        let (strength, order) = match ordering {
            Ordering::Weak => (Strength::Weak, AtomicOrder::Relaxed),
            Ordering::Volatile => (Strength::Volatile, AtomicOrder::Relaxed),
            Ordering::Relaxed(scope) => (Strength::Relaxed(reach(scope)), AtomicOrder::Relaxed),
            Ordering::Acquire(scope) => (Strength::Relaxed(reach(scope)), AtomicOrder::Acquire),
            Ordering::Release(scope) => (Strength::Relaxed(reach(scope)), AtomicOrder::Release),
        };
        Self { pc, strength, role, order, count }
    }
}

/// The result of an access.
#[derive(Debug, Default)]
pub(super) struct ElementResult {
    /// The words with findings.
    pub(super) conflicts: Vec<(Entry, ConflictResult)>,
    /// Rules of the idiom mode that accepted the access.
    pub(super) accepted: Vec<u8>,
    /// The access is a strong read of an unordered strong write: the memory model also permits the value before that
    /// write.
    pub(super) may_be_stale: bool,
}

/// Checks an access and records it.
pub(super) fn access(
    order: &mut HappensBefore,
    shadow: &mut Shadow,
    rules: Rules<'_>,
    mut visit: InstructionAccess,
    element: &Element,
    mut is_same: impl FnMut() -> bool,
) -> ElementResult {
    let mut outcome = ElementResult::default();
    let me = element.thread;
    let fence =
        if visit.role.writes() && rules.lenient { order.take_fresh_fence(me) } else { None };
    let flag = fence == Some(Reach::Device)
        && visit.strength == Strength::Weak
        && visit.count == 1
        && element.bytes >= 4;
    if flag {
        visit.strength = Strength::Flag;
    }
    if visit.role.reads()
        && let Some(reach) = visit.strength.reach()
        && let Some(location) = shadow.locations.get(&element.offset)
        && order.observe(me, location, reach, visit.order)
    {
        outcome.accepted.push(21);
    }
    let time = order.now(me.warp());
    let memory = if element.region.is_some() { MemoryKind::Global } else { MemoryKind::Shared };
    let judge = ConflictCheck { order, rules, memory };
    for (word, bytes) in element.words() {
        let what = PackedAccess::new(visit.pc, bytes, visit.strength, element.wide());
        let record = Record { thread: me, time, access: what };
        let lanes = 1 << me.lane();
        let entry =
            Entry { record, lanes, writes: visit.role.writes(), sees: visit.role == Role::Read };
        let verdict = judge.access(shadow, word, entry, &mut is_same);
        outcome.may_be_stale |= verdict.may_be_stale;
        if flag && verdict.strong_together {
            outcome.accepted.push(22);
        }
        if verdict.has_findings() {
            outcome.conflicts.push((entry, verdict));
        }
    }
    if visit.role.writes() {
        publish(order, shadow, me, visit, element);
    }
    outcome
}

impl Element {
    /// The base-2 logarithm of the size in words.
    fn wide(&self) -> u32 {
        (self.bytes / 4).max(1).trailing_zeros()
    }

    /// The words, and the accessed bytes of each.
    fn words(&self) -> impl Iterator<Item = (usize, u32)> + use<> {
        let (first, bytes) = (self.offset / 4, self.bytes);
        let part = ((1 << bytes.min(4)) - 1) << (self.offset % 4);
        (first..first + (bytes as usize).div_ceil(4)).map(move |word| (word, part))
    }
}

/// Publishes a write at its location (rules 11 and 13).
fn publish(
    order: &mut HappensBefore,
    shadow: &mut Shadow,
    me: Thread,
    visit: InstructionAccess,
    element: &Element,
) {
    let Some(reach) = visit.strength.reach() else {
        shadow.forget_locations(element.offset, element.bytes as usize);
        return;
    };
    if !order.has_lane_orders && !releases(visit.order) && shadow.locations.is_empty() {
        return;
    }
    let mut location = shadow.locations.remove(&element.offset).unwrap_or_default();
    location.bytes = element.bytes;
    if visit.role == Role::Write {
        location.restart();
    }
    order.publish(me, &mut location, reach, visit.order);
    if !location.is_forgettable() {
        shadow.locations.insert(element.offset, location);
    }
}
