//! The kinds of synchronisation in a program that order the threads of a block. They decide which reads may stand
//! for other reads.

use super::super::super::cost::{InstructionClass, class};
use super::super::super::isa::atomic::{Atomic, AtomicOrder};
use super::super::super::isa::memory::{Ordering, Space};
use super::super::super::lower::Program;
use super::super::super::lower::code::{Code, Op};
use super::conflict::MemoryKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockSync {
    /// Barriers of the whole block and of warps only.
    WholeBlock,
    /// Synchronisation that may order some warps of the block and not others.
    Partial,
    /// Read-modify-writes.
    Atomics,
}

impl BlockSync {
    /// The synchronisation that orders accesses of one kind of memory.
    pub(super) fn from_program(program: &Program, memory: MemoryKind) -> Self {
        // Relaxed atomics of the other kind of memory order nothing here without a release.
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

/// Whether a program has operations that order other accesses through memory: fences, releases, acquires.
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

/// Whether an operation is a relaxed read-modify-write of the other kind of memory.
fn is_beside(op: &Op, memory: MemoryKind) -> bool {
    let is_other = |space: Space| match memory {
        MemoryKind::Shared => space == Space::Global,
        MemoryKind::Global => space.is_shared(),
    };
    atomic(op).is_some_and(|atomic| is_other(atomic.space) && atomic.order == AtomicOrder::Relaxed)
}

/// Whether an operation may order some warps of a block and not others.
fn orders_some(op: &Op) -> bool {
    match class(op.code) {
        InstructionClass::Atomic => true,
        InstructionClass::Barrier => {
            let synchronises = matches!(op.code, Code::Synchronise(_) | Code::Reduce(..));
            let whole_block = synchronises && op.b.is_none();
            // A proxy fence orders accesses that a barrier must order as well.
            !whole_block && !matches!(op.code, Code::SynchroniseWarp | Code::ProxyFence(_))
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
