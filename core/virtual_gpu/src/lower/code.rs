//! The flat program: one entry per instruction, with operands resolved to slots.

use super::super::isa::approximate::Approximate;
use super::super::isa::async_copy::Pending;
use super::super::isa::atomic::Atomic;
use super::super::isa::barrier::{Alignment, FenceOrder, Vote};
use super::super::isa::compare::Compare;
use super::super::isa::convert::Convert;
use super::super::isa::extended::Extended;
use super::super::isa::float::Float;
use super::super::isa::half::Half;
use super::super::isa::integer::Integer;
use super::super::isa::logic::Logic;
use super::super::isa::matrix::Matrix;
use super::super::isa::mbarrier::Mbarrier;
use super::super::isa::memory::{Access, Scope, Space};
use super::super::isa::special_register::SpecialRegister;
use super::super::isa::warp::Warp;
use super::super::module::{FunctionId, VariableId};

/// Where an operand lies: a register of the frame, or a value of the launch that all lanes share.
///
/// The bank (32 bits, 64 bits, predicates) follows from the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot(u32);

const SHARED_VALUE: u32 = 1 << 31;
const NEGATED: u32 = 1 << 30;

impl Slot {
    /// Nothing is read, or the result is dropped.
    pub(crate) const NONE: Self = Self(u32::MAX);

    pub(crate) const fn register(index: u32) -> Self {
        Self(index)
    }

    pub(crate) const fn pool(index: u32) -> Self {
        Self(index | SHARED_VALUE)
    }

    /// The opposite of a predicate.
    pub(crate) const fn negated(self) -> Self {
        Self(self.0 ^ NEGATED)
    }

    pub(crate) const fn is_none(self) -> bool {
        self.0 == u32::MAX
    }

    #[inline]
    pub(crate) const fn is_pool(self) -> bool {
        self.0 & SHARED_VALUE != 0
    }

    #[inline]
    pub(crate) const fn is_negated(self) -> bool {
        self.0 & NEGATED != 0
    }

    #[inline]
    pub(crate) const fn index(self) -> usize {
        (self.0 & !(SHARED_VALUE | NEGATED)) as usize
    }
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    /// What it does.
    pub(crate) code: Code,
    /// The predicate that lets a lane execute it, or none.
    pub(crate) guard: Slot,
    /// The result.
    pub(crate) d: Slot,
    /// A second result: `d|p`.
    pub(crate) e: Slot,
    /// The first source, or the base of an address.
    pub(crate) a: Slot,
    /// The second source.
    pub(crate) b: Slot,
    /// The third source.
    pub(crate) c: Slot,
    /// A fourth source; of predicates the combined one.
    pub(crate) f: Slot,
    /// What is added to an address, or a constant.
    pub(crate) immediate: i64,
    /// Elements of vectors: where in the program's list, and how many.
    pub(crate) list: (u32, u8),
}

/// How the address of an access is formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BaseKind {
    /// A 64-bit register or value.
    Wide,
    /// A 32-bit register or value.
    Narrow,
    /// The thread's frame.
    Frame,
}

/// What an operation does, with all that is known before the launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Code {
    Integer(Integer),
    Extended(Extended),
    Float(Float),
    Half(Half),
    Approximate(Approximate),
    Compare(Compare),
    Logic(Logic),
    /// The source lies in the 64-bit bank or not; the result has so many bits of register.
    Convert {
        convert: Convert,
        wide_source: bool,
        register_bits: u8,
    },
    Copy32,
    Copy64,
    CopyPredicate,
    /// Low bits first; each piece and the whole have so many bits.
    Pack {
        piece_bits: u8,
        whole_bits: u8,
    },
    Unpack {
        piece_bits: u8,
        whole_bits: u8,
    },
    Special(SpecialRegister),
    /// The address of something in the thread's frame.
    FrameAddress,
    ToGeneric(Space),
    FromGeneric(Space),
    IsInSpace(Space),
    Load {
        access: Access,
        base: BaseKind,
        register_bits: u8,
        read_only: bool,
    },
    Store {
        access: Access,
        base: BaseKind,
    },
    Atomic {
        atomic: Atomic,
        base: BaseKind,
    },
    /// Several values, or one of 128 bits: the list holds results and operands, 64 bits or a word each.
    AtomicVector {
        atomic: Atomic,
        base: BaseKind,
    },
    /// The list holds the registers of all fragments; `immediate` of a product is its place among the program's.
    Matrix {
        matrix: Matrix,
        base: BaseKind,
    },
    /// A place among the program's asynchronous copies.
    CopyAsync(u32),
    /// The copies since the last group are one.
    CommitCopies,
    /// Until at most so many groups are pending.
    WaitCopies(u32),
    /// Until no copy is pending.
    WaitAllCopies,
    /// The copies so far arrive at a barrier in memory when they complete.
    ArriveAfterCopies {
        space: Space,
        pending: Pending,
        base: BaseKind,
    },
    Mbarrier {
        mbarrier: Mbarrier,
        base: BaseKind,
    },
    Branch {
        target: u32,
    },
    /// The list holds the targets.
    BranchIndexed,
    /// A place among the program's calls.
    Call(u32),
    Return,
    Exit,
    Trap,
    Synchronise(Alignment),
    Arrive(Alignment),
    Reduce(Vote, Alignment),
    SynchroniseWarp,
    Warp(Warp),
    /// Order of memory accesses: schedules have a total one, races are judged by it.
    Fence(FenceOrder, Scope),
    Sleep,
    /// A hint without effect on values.
    Hint,
}

/// A copy from global to shared memory that completes later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopySite {
    pub(crate) to: AddressSlot,
    pub(crate) from: AddressSlot,
    /// Bytes that are written: 4, 8 or 16.
    pub(crate) bytes: u8,
    pub(crate) length: CopyLength,
}

/// The parts of an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressSlot {
    pub(crate) base: BaseKind,
    pub(crate) slot: Slot,
    pub(crate) offset: i64,
}

/// How many bytes of a copy are read; the others are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyLength {
    /// All of them.
    Whole,
    /// As many as a word says.
    Bytes(Slot),
    /// All, or none where a predicate holds.
    Unless(Slot),
}

/// A value that all lanes share and that the launch makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PoolValue {
    /// Bits.
    Bits(u64),
    /// The address of something, and bytes behind it.
    Address(Object, i64),
    /// A parameter of the kernel: offset, size in bytes, whether it extends its sign, bits of the register.
    Parameter { offset: u32, bytes: u8, signed: bool, register_bits: u8 },
}

/// Something that has an address which the launch decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Object {
    /// A variable of the module.
    Variable(VariableId),
    /// A shared variable that a function declares.
    FunctionShared(FunctionId, u32),
    /// A global or constant variable that a function declares.
    FunctionStatic(FunctionId, u32),
    /// The parameters of the kernel.
    Parameters,
    /// A function.
    Function(FunctionId),
}

/// A call, with where its arguments lie in the frames.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    pub(crate) target: Target,
    /// (offset in the caller's frame, bytes)
    pub(crate) arguments: Vec<(u32, u32)>,
    pub(crate) returns: Vec<(u32, u32)>,
}

impl LoweredFunction {
    /// Whether all bytes from an offset in the frame on belong to one variable.
    pub(crate) fn holds(&self, offset: u32, bytes: u32) -> bool {
        let behind = self.extents.partition_point(|(start, _)| *start <= offset);
        let found = behind.checked_sub(1).and_then(|index| self.extents.get(index));
        found.is_some_and(|(start, length)| {
            u64::from(offset - start) + u64::from(bytes) <= u64::from(*length)
        })
    }
}

/// What is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Function(FunctionId),
    /// The address lies in a 64-bit slot.
    Address(Slot),
    Builtin(Builtin),
}

/// Functions that the driver provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Print,
    AssertFail,
    Allocate,
    Free,
    Trap,
}

/// A function of the flat program.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoweredFunction {
    /// Its first instruction, or none where it has no body.
    pub(crate) entry: Option<u32>,
    /// Slots of the three banks.
    pub(crate) words: u32,
    pub(crate) doubles: u32,
    pub(crate) predicates: u32,
    /// Bytes of a frame: parameters, results, variables.
    pub(crate) frame_bytes: u32,
    /// (offset, bytes) of each of them, in order.
    pub(crate) extents: Vec<(u32, u32)>,
    /// (offset, bytes) of each parameter and result in the frame.
    pub(crate) parameters: Vec<(u32, u32)>,
    pub(crate) returns: Vec<(u32, u32)>,
}

/// Where an instruction of the flat program comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) function: FunctionId,
    /// Its position in the body; past the end for the return that every body ends with.
    pub(crate) instruction: u32,
}

/// Why a register is of interest: its bank and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bank {
    Words,
    Doubles,
    Predicates,
}
