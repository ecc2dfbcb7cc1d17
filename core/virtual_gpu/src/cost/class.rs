//! The class of an instruction, as tables of instruction counts show it.

use serde::{Deserialize, Serialize};

use super::super::isa::cluster::Cluster;
use super::super::isa::matrix::Matrix;
use super::super::isa::memory::Space;
use super::super::lower::code::Code;

/// Classes of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionClass {
    /// Integer arithmetic and bit operations.
    Integer,
    /// f32, f64, f16, bf16.
    Float,
    /// Special functions.
    Special,
    Conversion,
    /// Moves and address conversions.
    Move,
    /// Comparisons and selections.
    Comparison,
    /// Loads of global or generic memory, and of constants.
    GlobalLoad,
    /// Stores to global or generic memory.
    GlobalStore,
    /// Loads and stores of shared memory.
    Shared,
    /// Loads and stores of local memory and of parameters.
    Local,
    /// Read-modify-writes.
    Atomic,
    /// Tensor-core products.
    Tensor,
    /// Asynchronous copies and waits.
    AsyncCopy,
    /// Branches, calls, exits.
    Control,
    /// Barriers and fences.
    Barrier,
    /// Shuffles, votes, matches, reductions.
    Warp,
    /// Hints and `nanosleep`.
    Other,
}

/// The class of an operation.
pub(crate) fn class(code: Code) -> InstructionClass {
    match code {
        Code::Integer(_) | Code::Extended(_) | Code::Logic(_) => InstructionClass::Integer,
        Code::Float(_) | Code::Half(_) => InstructionClass::Float,
        Code::Approximate(_) => InstructionClass::Special,
        Code::Compare(_) => InstructionClass::Comparison,
        Code::Convert { .. } => InstructionClass::Conversion,
        Code::Copy32
        | Code::Copy64
        | Code::CopyPredicate
        | Code::Pack { .. }
        | Code::Unpack { .. }
        | Code::Special(_)
        | Code::FrameAddress
        | Code::ToGeneric(_)
        | Code::FromGeneric(_)
        | Code::IsInSpace(_)
        | Code::Cluster(Cluster::MapShared(..) | Cluster::RankOf(..)) => InstructionClass::Move,
        Code::Load { access, .. } => match access.space {
            Space::Generic | Space::Global | Space::Const => InstructionClass::GlobalLoad,
            Space::Shared | Space::SharedCluster => InstructionClass::Shared,
            Space::Local | Space::Param => InstructionClass::Local,
        },
        Code::Store { access, .. } => match access.space {
            Space::Generic | Space::Global | Space::Const => InstructionClass::GlobalStore,
            Space::Shared | Space::SharedCluster => InstructionClass::Shared,
            Space::Local | Space::Param => InstructionClass::Local,
        },
        Code::Atomic { .. } | Code::AtomicVector { .. } => InstructionClass::Atomic,
        Code::Matrix { matrix, .. } => match matrix {
            Matrix::Multiply(_) | Matrix::WarpMultiply(_) | Matrix::Warpgroup(_) => {
                InstructionClass::Tensor
            }
            Matrix::Transpose => InstructionClass::Warp,
            Matrix::Load(..)
            | Matrix::Store(..)
            | Matrix::WarpLoad(_, _, _, Space::Shared)
            | Matrix::WarpStore(_, _, _, Space::Shared) => InstructionClass::Shared,
            Matrix::WarpLoad(..) => InstructionClass::GlobalLoad,
            Matrix::WarpStore(..) => InstructionClass::GlobalStore,
        },
        Code::Texture { is_store: false, .. } => InstructionClass::GlobalLoad,
        Code::Texture { is_store: true, .. } => InstructionClass::GlobalStore,
        Code::CopyAsync(_)
        | Code::CopyBulk(_)
        | Code::CopyTensor(_)
        | Code::WriteToCluster(_)
        | Code::TensorMap(_)
        | Code::CommitCopies
        | Code::CommitBulk
        | Code::WaitCopies(_)
        | Code::WaitBulk { .. }
        | Code::WaitAllCopies => InstructionClass::AsyncCopy,
        Code::ArriveAfterCopies { .. } | Code::Mbarrier { .. } => InstructionClass::Barrier,
        Code::Branch { .. }
        | Code::BranchIndexed
        | Code::Call(_)
        | Code::Return
        | Code::Exit
        | Code::Trap => InstructionClass::Control,
        Code::Synchronise(_)
        | Code::Arrive(_)
        | Code::Reduce(..)
        | Code::SynchroniseWarp
        | Code::Fence(..)
        | Code::ProxyFence(_)
        | Code::Cluster(Cluster::Arrive(..) | Cluster::Wait(_) | Cluster::InitialisationFence) => {
            InstructionClass::Barrier
        }
        Code::Warp(_) => InstructionClass::Warp,
        Code::Sleep | Code::TrackRegisters | Code::Registers(_) | Code::Hint => {
            InstructionClass::Other
        }
    }
}
