//! Groups of operations that expand to about the same number of machine instructions: the columns of the
//! calibration.

use serde::{Deserialize, Serialize};

use super::super::isa::approximate::Approximate;
use super::super::isa::cluster::Cluster;
use super::super::isa::convert::Convert;
use super::super::isa::float::{Float, FloatFormat};
use super::super::isa::integer::Integer;
use super::super::isa::logic::Logic;
use super::super::isa::matrix::Matrix;
use super::super::isa::memory::Space;
use super::super::isa::scalar::ScalarType;
use super::super::isa::video::Video;
use super::super::lower::code::Code;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $key:literal,)*) => {
        /// The kind of an operation, for the number of its machine instructions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Kind {
            $($(#[$doc])* #[serde(rename = $key)] $name,)*
        }

        impl Kind {
            /// All kinds, in the order of the columns of the calibration.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name in files.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$name => $key,)*
                }
            }
        }
    };
}

kinds! {
    /// Additions, minima and maxima of up to 32 bits.
    Integer32 = "integer_32",
    /// Additions, minima and maxima of 64 bits.
    Integer64 = "integer_64",
    /// Products of up to 32 bits, dot products.
    Multiply32 = "multiply_32",
    /// Wide products.
    MultiplyWide = "multiply_wide",
    /// Products of 64 bits.
    Multiply64 = "multiply_64",
    /// Quotients and remainders of up to 32 bits.
    Divide32 = "divide_32",
    /// Quotients and remainders of 64 bits.
    Divide64 = "divide_64",
    /// Extended-precision arithmetic.
    Carry = "carry",
    /// Bit operations of up to 32 bits.
    Logic32 = "logic_32",
    /// Bit operations of 64 bits.
    Logic64 = "logic_64",
    /// Comparisons and selections.
    Compare = "compare",
    /// Additions, products, multiply-adds, minima and maxima of f32.
    Single = "single",
    /// Pairs of f32.
    SinglePair = "single_pair",
    /// Division, reciprocal and square root of f32 with exact rounding.
    SingleDivide = "single_divide",
    /// Additions, products, multiply-adds, minima and maxima of f64.
    Double = "double",
    /// Division, reciprocal and square root of f64 with exact rounding.
    DoubleDivide = "double_divide",
    /// f16 and bf16.
    Half = "half",
    /// Approximate functions.
    Special = "special",
    /// Approximate division with two operands, and approximations of f64.
    SpecialDivide = "special_divide",
    /// Conversions between integers.
    ConvertInteger = "convert_integer",
    /// Conversions from or to floating-point numbers.
    ConvertReal = "convert_real",
    /// Moves and address conversions.
    Move = "move",
    SpecialRegister = "special_register",
    /// Global and generic memory.
    Global = "global",
    /// Constant memory at addresses in registers.
    Constant = "constant",
    /// Shared memory.
    Shared = "shared",
    /// Local memory.
    Local = "local",
    /// Read-modify-writes.
    Atomic = "atomic",
    /// Branches, returns, exits.
    Branch = "branch",
    Call = "call",
    /// Barriers and fences.
    Barrier = "barrier",
    /// Shuffles, votes, matches, reductions.
    Warp = "warp",
    /// `nanosleep`.
    Other = "other",
    /// Hints without a machine instruction.
    Hint = "hint",
}

impl Kind {
    /// The kind with this name in files.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.key() == key)
    }
}

/// The kind of an operation.
pub(crate) fn kind(code: Code) -> Kind {
    match code {
        Code::Integer(what) => integer(what),
        Code::Extended(_) => Kind::Carry,
        Code::Logic(what) => by_width(logic_type(what), Kind::Logic32, Kind::Logic64),
        Code::Compare(_) => Kind::Compare,
        Code::Float(what) => float(what),
        Code::Half(_) => Kind::Half,
        Code::Approximate(what) => special(what),
        Code::Convert { convert, .. } => match convert {
            Convert::IntegerToInteger { .. } | Convert::PackIntegers { .. } => Kind::ConvertInteger,
            Convert::IntegerToReal { .. }
            | Convert::RealToInteger { .. }
            | Convert::RealToReal { .. }
            | Convert::ToTf32 { .. }
            | Convert::PackHalves { .. }
            | Convert::PackNarrow { .. }
            | Convert::UnpackNarrow { .. } => Kind::ConvertReal,
        },
        Code::Copy32
        | Code::Copy64
        | Code::CopyPredicate
        | Code::Pack { .. }
        | Code::Unpack { .. }
        | Code::FrameAddress
        | Code::ToGeneric(_)
        | Code::FromGeneric(_)
        | Code::IsInSpace(_)
        | Code::Cluster(Cluster::MapShared(..) | Cluster::RankOf(..)) => Kind::Move,
        Code::Special(_) => Kind::SpecialRegister,
        Code::Load { access, .. } | Code::Store { access, .. } => match access.space {
            Space::Generic | Space::Global => Kind::Global,
            Space::Const => Kind::Constant,
            Space::Shared | Space::SharedCluster => Kind::Shared,
            Space::Local | Space::Param => Kind::Local,
        },
        Code::Atomic { .. } | Code::AtomicVector { .. } => Kind::Atomic,
        // Tensor products and asynchronous copies are not calibrated yet: each counts as one machine instruction.
        Code::Matrix { matrix, .. } => match matrix {
            Matrix::Multiply(_) | Matrix::WarpMultiply(_) | Matrix::Warpgroup(_) => Kind::Other,
            Matrix::Transpose => Kind::Warp,
            Matrix::Load(..)
            | Matrix::Store(..)
            | Matrix::WarpLoad(_, _, _, Space::Shared)
            | Matrix::WarpStore(_, _, _, Space::Shared) => Kind::Shared,
            Matrix::WarpLoad(..) | Matrix::WarpStore(..) => Kind::Global,
        },
        Code::CopyAsync(_) | Code::CopyBulk(_) | Code::CopyTensor(_) | Code::Texture { .. } => {
            Kind::Global
        }
        Code::WriteToCluster(_) | Code::TensorMap(_) => Kind::Shared,
        Code::CommitCopies
        | Code::CommitBulk
        | Code::WaitCopies(_)
        | Code::WaitBulk { .. }
        | Code::WaitAllCopies => Kind::Other,
        Code::ArriveAfterCopies { .. } | Code::Mbarrier { .. } => Kind::Atomic,
        Code::Branch { .. } | Code::BranchIndexed | Code::Return | Code::Exit | Code::Trap => {
            Kind::Branch
        }
        Code::Call(_) => Kind::Call,
        Code::Synchronise(_)
        | Code::Arrive(_)
        | Code::Reduce(..)
        | Code::SynchroniseWarp
        | Code::Fence(..)
        | Code::ProxyFence(_)
        | Code::Cluster(Cluster::Arrive(..) | Cluster::Wait(_) | Cluster::InitialisationFence) => {
            Kind::Barrier
        }
        Code::Warp(_) => Kind::Warp,
        Code::Sleep => Kind::Other,
        Code::TrackRegisters | Code::Registers(_) | Code::Hint => Kind::Hint,
    }
}

fn by_width(ty: ScalarType, narrow: Kind, wide: Kind) -> Kind {
    if ty.bits() > 32 { wide } else { narrow }
}

fn integer(what: Integer) -> Kind {
    match what {
        Integer::Add(ty, _) | Integer::Subtract(ty, _) | Integer::SumOfAbsoluteDifferences(ty) => {
            by_width(ty.into(), Kind::Integer32, Kind::Integer64)
        }
        Integer::Minimum(ty, _) | Integer::Maximum(ty, _) => {
            by_width(ty.into(), Kind::Integer32, Kind::Integer64)
        }
        Integer::Absolute(ty) | Integer::Negate(ty) => {
            by_width(ty.into(), Kind::Integer32, Kind::Integer64)
        }
        // Several machine instructions since Volta; counted as one it remains a bound.
        Integer::AddPacked(_) => Kind::Integer32,
        Integer::Video(Video::Product(_)) => Kind::Multiply32,
        Integer::Video(Video::Scalar(_) | Video::Packed(_)) => Kind::Integer32,
        Integer::Multiply(_, ty) | Integer::MultiplyAdd(_, ty, _) => {
            by_width(ty.into(), Kind::Multiply32, Kind::Multiply64)
        }
        Integer::MultiplyWide(_) | Integer::MultiplyAddWide(_) => Kind::MultiplyWide,
        Integer::Multiply24(..)
        | Integer::MultiplyAdd24(..)
        | Integer::DotProduct4(..)
        | Integer::DotProduct2(..) => Kind::Multiply32,
        Integer::Divide(ty) | Integer::Remainder(ty) => {
            by_width(ty.into(), Kind::Divide32, Kind::Divide64)
        }
    }
}

fn logic_type(what: Logic) -> ScalarType {
    match what {
        Logic::And(ty) | Logic::Or(ty) | Logic::Xor(ty) | Logic::Not(ty) => ty.into(),
        Logic::LogicalNot(ty) | Logic::ShiftLeft(ty) => ty.into(),
        Logic::ShiftRight(ty) => ty.into(),
        Logic::PopulationCount(ty)
        | Logic::LeadingZeros(ty)
        | Logic::Reverse(ty)
        | Logic::Insert(ty) => ty.into(),
        Logic::FindLeading(ty, _) | Logic::Extract(ty) => ty.into(),
        Logic::Table3
        | Logic::Table3Predicate(_)
        | Logic::Funnel(..)
        | Logic::Mask(_)
        | Logic::Extend(..)
        | Logic::FindNth
        | Logic::Permute(_) => ScalarType::B32,
    }
}

fn float(what: Float) -> Kind {
    let by_format = |format, single, pair, double| match format {
        FloatFormat::F32(..) => single,
        FloatFormat::F32x2(_) => pair,
        FloatFormat::F64 => double,
    };
    match what {
        Float::Add(format, _)
        | Float::Subtract(format, _)
        | Float::Multiply(format, _)
        | Float::MultiplyAdd(format, _)
        | Float::Absolute(format)
        | Float::Negate(format)
        | Float::Minimum(format, _)
        | Float::Maximum(format, _) => {
            by_format(format, Kind::Single, Kind::SinglePair, Kind::Double)
        }
        Float::Divide(format, _) | Float::Reciprocal(format, _) | Float::SquareRoot(format, _) => {
            by_format(format, Kind::SingleDivide, Kind::SingleDivide, Kind::DoubleDivide)
        }
        Float::CopySign(ty) | Float::Test(_, ty) => by_width(ty.into(), Kind::Single, Kind::Double),
    }
}

const fn special(what: Approximate) -> Kind {
    match what {
        Approximate::Divide(_)
        | Approximate::DivideFull(_)
        | Approximate::ReciprocalDouble
        | Approximate::ReciprocalSquareRootDouble(_) => Kind::SpecialDivide,
        Approximate::Reciprocal(_)
        | Approximate::SquareRoot(_)
        | Approximate::ReciprocalSquareRoot(_)
        | Approximate::Sine(_)
        | Approximate::Cosine(_)
        | Approximate::BinaryLogarithm(_)
        | Approximate::BinaryExponential(..)
        | Approximate::HyperbolicTangent(_) => Kind::Special,
    }
}
