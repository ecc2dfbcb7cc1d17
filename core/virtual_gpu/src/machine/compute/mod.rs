//! Register operations: one file per family, each calling `semantics` for every lane.
//!
//! Modes that do not depend on the lane are matched outside the loop over lanes.

mod approximate;
mod bitwise;
mod compare;
mod convert;
mod extended;
mod float;
mod half;
mod integer;
mod logic;
pub(super) mod modes;
mod moves;

use multiversion::target_features::TargetFeatures;

use super::super::lower::code::{Code, Op};
use super::super::semantics::approximate::Approximation;
use super::lanes::Lanes;

/// How `a * b + c` is computed with one rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fused {
    /// By an instruction of the processor.
    Hardware,
    /// In software, with the same results.
    Software,
}

impl Fused {
    /// Whether code compiled for these features has the instruction.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    pub(super) const fn from_features(features: TargetFeatures) -> Self {
        use multiversion::target_features::x86_64;
        if features.contains(x86_64::FMA) { Self::Hardware } else { Self::Software }
    }

    /// Whether code for this architecture has the instruction.
    #[inline(always)]
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) const fn from_features(_: TargetFeatures) -> Self {
        // Every processor with this architecture has it.
        if cfg!(target_arch = "aarch64") { Self::Hardware } else { Self::Software }
    }
}

/// Executes a register operation; returns false for any other operation.
#[inline(always)]
pub(super) fn execute(
    lanes: &mut Lanes<'_>,
    op: &Op,
    lists: &[super::super::lower::code::Slot],
    fused: Fused,
    approximation: Approximation,
) -> bool {
    match op.code {
        Code::Integer(what) => integer::execute(lanes, op, what),
        Code::Extended(what) => extended::execute(lanes, op, what),
        Code::Float(what) => float::execute(lanes, op, what, fused),
        Code::Half(what) => half::execute(lanes, op, what),
        Code::Approximate(what) => approximate::execute(lanes, op, what, approximation),
        Code::Compare(what) => compare::execute(lanes, op, what),
        Code::Logic(what) => logic::execute(lanes, op, what),
        Code::Convert { convert, wide_source, register_bits } => {
            convert::execute(lanes, op, convert, wide_source, register_bits);
        }
        Code::Copy32 => bitwise::copy(lanes, op),
        Code::Copy64 => bitwise::copy_double(lanes, op),
        Code::CopyPredicate => {
            let (value, undefined) = (lanes.predicate(op.a), lanes.predicate_undefined(op.a));
            lanes.set_predicate(op.d, value, undefined);
        }
        Code::Pack { piece_bits, whole_bits } => {
            moves::pack(lanes, op, lists, piece_bits, whole_bits);
        }
        Code::Unpack { piece_bits, whole_bits } => {
            moves::unpack(lanes, op, lists, piece_bits, whole_bits);
        }
        Code::FrameAddress => moves::frame_address(lanes, op),
        Code::ToGeneric(space) => moves::to_generic(lanes, op, space),
        Code::FromGeneric(space) => moves::from_generic(lanes, op, space),
        Code::Special(_)
        | Code::IsInSpace(_)
        | Code::Load { .. }
        | Code::Store { .. }
        | Code::Atomic { .. }
        | Code::AtomicVector { .. }
        | Code::Matrix { .. }
        | Code::CopyAsync(_)
        | Code::CopyBulk(_)
        | Code::CopyTensor(_)
        | Code::CommitBulk
        | Code::WaitBulk { .. }
        | Code::CommitCopies
        | Code::WaitCopies(_)
        | Code::WaitAllCopies
        | Code::ArriveAfterCopies { .. }
        | Code::Mbarrier { .. }
        | Code::Branch { .. }
        | Code::BranchIndexed
        | Code::Call(_)
        | Code::Return
        | Code::Exit
        | Code::Trap
        | Code::Synchronise(_)
        | Code::Arrive(_)
        | Code::Reduce(..)
        | Code::SynchroniseWarp
        | Code::Warp(_)
        | Code::Fence(..)
        | Code::ProxyFence(_)
        | Code::Cluster(_)
        | Code::WriteToCluster(_)
        | Code::TensorMap(_)
        | Code::Texture { .. }
        | Code::Sleep
        | Code::TrackRegisters
        | Code::Registers(_)
        | Code::Hint => return false,
    }
    true
}
