//! What a program has that orders the threads of a block: it decides which reads may stand for others.

use super::super::super::cost::{InstructionClass, class};
use super::super::super::isa::atomic::{Atomic, AtomicOrder};
use super::super::super::isa::memory::{Ordering, Space};
use super::super::super::lower::Program;
use super::super::super::lower::code::{Code, Op};
use super::judge::MemoryKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// Barriers of the whole block, and of warps.
    WholeBlock,
    /// Something that may order some of its warps and not others.
    Partial,
    /// Read-modify-writes.
    Atomics,
}

impl Means {
    /// What orders accesses of one kind of memory.
    pub(super) fn of(program: &Program, memory: MemoryKind) -> Self {
        // Relaxed ones of other memory order nothing here, where nothing releases.
        let foreign = |op: &Op| is_beside(op, memory);
        if program.ops.iter().all(|op| !orders_some(op) || foreign(op)) {
            Self::WholeBlock
        } else if program.ops.iter().any(|op| atomic(op).is_some()) {
            Self::Atomics
        } else {
            Self::Partial
        }
    }
}

/// Whether a program has what makes the order of one memory access that of others: fences, releases, acquires.
pub(super) fn releases(program: &Program) -> bool {
    program.ops.iter().any(|op| {
        if let Code::Load { access, .. } | Code::Store { access, .. } = op.code {
            return matches!(access.ordering, Ordering::Acquire(_) | Ordering::Release(_));
        }
        let ordered = |atomic: Atomic| atomic.order != AtomicOrder::Relaxed;
        matches!(op.code, Code::Fence(..)) || atomic(op).is_some_and(ordered)
    })
}

fn atomic(op: &Op) -> Option<Atomic> {
    if let Code::Atomic { atomic, .. } | Code::AtomicVector { atomic, .. } = op.code {
        return Some(atomic);
    }
    None
}

/// Whether an operation is a relaxed read-modify-write of another kind of memory.
fn is_beside(op: &Op, memory: MemoryKind) -> bool {
    let other = match memory {
        MemoryKind::Shared => Space::Global,
        MemoryKind::Global => Space::Shared,
    };
    atomic(op).is_some_and(|atomic| atomic.space == other && atomic.order == AtomicOrder::Relaxed)
}

/// Whether an operation may order some warps of a block and not others.
fn orders_some(op: &Op) -> bool {
    match class(op.code) {
        InstructionClass::Atomic => true,
        InstructionClass::Barrier => {
            let synchronises = matches!(op.code, Code::Synchronise(_) | Code::Reduce(..));
            let whole_block = synchronises && op.b.is_none();
            !whole_block && op.code != Code::SynchroniseWarp
        }
        InstructionClass::GlobalLoad
        | InstructionClass::GlobalStore
        | InstructionClass::Shared
        | InstructionClass::Local => {
            let (Code::Load { access, .. } | Code::Store { access, .. }) = op.code else {
                return false;
            };
            access.ordering != Ordering::Weak
        }
        InstructionClass::Integer
        | InstructionClass::Float
        | InstructionClass::Special
        | InstructionClass::Conversion
        | InstructionClass::Move
        | InstructionClass::Comparison
        | InstructionClass::Tensor
        | InstructionClass::AsyncCopy
        | InstructionClass::Control
        | InstructionClass::Warp
        | InstructionClass::Other => false,
    }
}
