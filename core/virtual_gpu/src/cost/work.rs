//! The arithmetic work of an operation: FLOP by type, integer operations, special functions.

use super::super::isa::approximate::{Approximate, ApproximateType};
use super::super::isa::float::{Float, FloatFormat};
use super::super::isa::half::{Half, HalfType};
use super::super::lower::code::Code;
use super::Counts;

/// Adds the work of an operation in a number of threads.
pub(super) fn add_work(counts: &mut Counts, code: Code) {
    let threads = counts.thread_instructions;
    match code {
        Code::Float(what) => add_float(counts, what, threads),
        Code::Half(what) => add_half(counts, what, threads),
        Code::Approximate(what) => counts.special_operations += elements(what) * threads,
        Code::Integer(_) | Code::Extended(_) | Code::Logic(_) => {
            counts.integer_operations += threads;
        }
        Code::Compare(_)
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
        | Code::Hint => {}
    }
}

/// The kind of arithmetic, for any type.
enum Kind {
    Add,
    Multiply,
    MultiplyAdd,
    Division,
}

fn add_float(counts: &mut Counts, what: Float, threads: u64) {
    let (format, kind) = match what {
        Float::Add(format, _) | Float::Subtract(format, _) => (format, Kind::Add),
        Float::Multiply(format, _) => (format, Kind::Multiply),
        Float::MultiplyAdd(format, _) => (format, Kind::MultiplyAdd),
        Float::Divide(format, _) | Float::Reciprocal(format, _) | Float::SquareRoot(format, _) => {
            (format, Kind::Division)
        }
        Float::Absolute(_)
        | Float::Negate(_)
        | Float::Minimum(..)
        | Float::Maximum(..)
        | Float::CopySign(_)
        | Float::Test(..) => return,
    };
    let (is_double, operations) = match format {
        FloatFormat::F32(..) => (false, threads),
        FloatFormat::F32x2(_) => (false, 2 * threads),
        FloatFormat::F64 => (true, threads),
    };
    let field = match (kind, is_double) {
        (Kind::Add, false) => &mut counts.single_adds,
        (Kind::Add, true) => &mut counts.double_adds,
        (Kind::Multiply, false) => &mut counts.single_multiplies,
        (Kind::Multiply, true) => &mut counts.double_multiplies,
        (Kind::MultiplyAdd, false) => &mut counts.single_multiply_adds,
        (Kind::MultiplyAdd, true) => &mut counts.double_multiply_adds,
        (Kind::Division, false) => &mut counts.single_divisions,
        (Kind::Division, true) => &mut counts.double_divisions,
    };
    *field += operations;
}

fn add_half(counts: &mut Counts, what: Half, threads: u64) {
    let (format, kind) = match what {
        Half::Add(format) | Half::Subtract(format) => (format, Kind::Add),
        Half::Multiply(format) => (format, Kind::Multiply),
        Half::MultiplyAdd(format) => (format, Kind::MultiplyAdd),
        Half::Absolute(_) | Half::Negate(_) | Half::Minimum(..) | Half::Maximum(..) => return,
    };
    let (is_bfloat, operations) = match format.ty {
        HalfType::F16 => (false, threads),
        HalfType::F16x2 => (false, 2 * threads),
        HalfType::Bf16 => (true, threads),
        HalfType::Bf16x2 => (true, 2 * threads),
    };
    let field = match (kind, is_bfloat) {
        (Kind::Add, false) => &mut counts.half_adds,
        (Kind::Add, true) => &mut counts.bfloat_adds,
        (Kind::Multiply, false) => &mut counts.half_multiplies,
        (Kind::Multiply, true) => &mut counts.bfloat_multiplies,
        (Kind::MultiplyAdd, false) => &mut counts.half_multiply_adds,
        (Kind::MultiplyAdd, true) => &mut counts.bfloat_multiply_adds,
        // These types have no division.
        (Kind::Division, _) => return,
    };
    *field += operations;
}

/// Results per thread.
const fn elements(what: Approximate) -> u64 {
    let ty = match what {
        Approximate::BinaryExponential(ty, _) | Approximate::HyperbolicTangent(ty) => ty,
        Approximate::Divide(_)
        | Approximate::DivideFull(_)
        | Approximate::Reciprocal(_)
        | Approximate::ReciprocalDouble
        | Approximate::SquareRoot(_)
        | Approximate::ReciprocalSquareRoot(_)
        | Approximate::ReciprocalSquareRootDouble(_)
        | Approximate::Sine(_)
        | Approximate::Cosine(_)
        | Approximate::BinaryLogarithm(_) => return 1,
    };
    match ty {
        ApproximateType::F16x2 | ApproximateType::Bf16x2 => 2,
        ApproximateType::F32 | ApproximateType::F16 | ApproximateType::Bf16 => 1,
    }
}
