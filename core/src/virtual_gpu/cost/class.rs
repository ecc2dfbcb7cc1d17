//! What kind of instruction an operation is, and how many floating-point operations it stands for.

use super::super::isa::float::{Float, FloatFormat};
use super::super::isa::half::{Half, HalfType};
use super::super::isa::memory::Space;
use super::super::lower::code::Code;
use super::FlopCounts;

/// Kinds of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstructionClass {
    /// Whole numbers, bits, comparisons of them.
    Integer,
    /// f32, f64, f16, bf16.
    Float,
    /// Approximated functions.
    Special,
    /// Conversions.
    Conversion,
    /// Moves and addresses.
    Move,
    /// Comparisons and selections.
    Comparison,
    /// Loads of global or generic memory, and of constants.
    GlobalLoad,
    /// Stores to global or generic memory.
    GlobalStore,
    /// Loads and stores of shared memory.
    Shared,
    /// Loads and stores of a thread's own memory and of parameters.
    Local,
    /// Read-modify-writes.
    Atomic,
    /// Branches, calls, ends.
    Control,
    /// Barriers and fences.
    Barrier,
    /// Shuffles, votes, matches, reductions.
    Warp,
    /// Hints and sleeping.
    Other,
}

/// What kind of instruction an operation is.
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
        | Code::IsInSpace(_) => InstructionClass::Move,
        Code::Load { access, .. } => match access.space {
            Space::Generic | Space::Global | Space::Const => InstructionClass::GlobalLoad,
            Space::Shared => InstructionClass::Shared,
            Space::Local | Space::Param => InstructionClass::Local,
        },
        Code::Store { access, .. } => match access.space {
            Space::Generic | Space::Global | Space::Const => InstructionClass::GlobalStore,
            Space::Shared => InstructionClass::Shared,
            Space::Local | Space::Param => InstructionClass::Local,
        },
        Code::Atomic { .. } => InstructionClass::Atomic,
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
        | Code::Fence(..) => InstructionClass::Barrier,
        Code::Warp(_) => InstructionClass::Warp,
        Code::Sleep | Code::Hint => InstructionClass::Other,
    }
}

/// How many floating-point operations one thread does with it.
pub(crate) fn flops(code: Code) -> FlopCounts {
    let mut flops = FlopCounts::default();
    match code {
        Code::Float(what) => {
            let (format, count) = match what {
                Float::MultiplyAdd(format, _) => (format, 2),
                Float::Add(format, _)
                | Float::Subtract(format, _)
                | Float::Multiply(format, _)
                | Float::Divide(format, _)
                | Float::Reciprocal(format, _)
                | Float::SquareRoot(format, _) => (format, 1),
                Float::Absolute(format)
                | Float::Negate(format)
                | Float::Minimum(format, _)
                | Float::Maximum(format, _) => (format, 0),
                Float::CopySign(_) | Float::Test(..) => return flops,
            };
            match format {
                FloatFormat::F32(..) => flops.single = count,
                FloatFormat::F32x2(_) => flops.single = 2 * count,
                FloatFormat::F64 => flops.double = count,
            }
        }
        Code::Half(what) => {
            let (format, count) = match what {
                Half::MultiplyAdd(format) => (format, 2),
                Half::Add(format) | Half::Subtract(format) | Half::Multiply(format) => (format, 1),
                Half::Absolute(_) | Half::Negate(_) | Half::Minimum(..) | Half::Maximum(..) => {
                    return flops;
                }
            };
            flops.half = match format.ty {
                HalfType::F16 | HalfType::Bf16 => count,
                HalfType::F16x2 | HalfType::Bf16x2 => 2 * count,
            };
        }
        Code::Approximate(_) => flops.single = 1,
        Code::Integer(_)
        | Code::Extended(_)
        | Code::Compare(_)
        | Code::Logic(_)
        | Code::Convert { .. }
        | Code::Copy32
        | Code::Copy64
        | Code::CopyPredicate
        | Code::Pack { .. }
        | Code::Unpack { .. }
        | Code::FrameAddress
        | Code::ToGeneric(_)
        | Code::FromGeneric(_)
        | Code::Special(_)
        | Code::IsInSpace(_)
        | Code::Load { .. }
        | Code::Store { .. }
        | Code::Atomic { .. }
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
        | Code::Sleep
        | Code::Hint => {}
    }
    flops
}
