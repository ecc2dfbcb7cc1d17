//! The flat program: one entry per instruction, with operands resolved to slots.

use super::super::isa::approximate::Approximate;
use super::super::isa::async_copy::Pending;
use super::super::isa::atomic::{Atomic, Update};
use super::super::isa::barrier::{Alignment, FenceOrder, Proxy, Vote};
use super::super::isa::bulk_copy::Awaited;
use super::super::isa::cluster::Cluster;
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
use super::super::isa::system::RegisterChange;
use super::super::isa::tensor_copy::Reduction;
use super::super::isa::tensor_map::MapField;
use super::super::isa::texture::Texture;
use super::super::isa::warp::Warp;
use super::super::module::{FunctionId, VariableId};

/// The location of an operand: a register of the frame, or a constant of the launch that all lanes share.
///
/// The bank (32 bits, 64 bits, predicates) follows from the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot(u32);

const SHARED_VALUE: u32 = 1 << 31;
const NEGATED: u32 = 1 << 30;

impl Slot {
    /// No source, or a result that is dropped.
    pub(crate) const NONE: Self = Self(u32::MAX);

    pub(crate) const fn register(index: u32) -> Self {
        Self(index)
    }

    pub(crate) const fn pool(index: u32) -> Self {
        Self(index | SHARED_VALUE)
    }

    /// The complement of a predicate.
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
    pub(crate) code: Code,
    /// The guard predicate, or none.
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
    /// A fourth source; the combined predicate of operations on predicates.
    pub(crate) f: Slot,
    /// The offset of an address, or a constant.
    pub(crate) immediate: i64,
    /// Elements of vectors: the index in the program's list, and their number.
    pub(crate) list: (u32, u8),
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BaseKind {
    /// A 64-bit register or constant.
    Wide,
    /// A 32-bit register or constant.
    Narrow,
    /// The frame of the thread.
    Frame,
}

/// An operation, with everything that is known before the launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Code {
    Integer(Integer),
    Extended(Extended),
    Float(Float),
    Half(Half),
    Approximate(Approximate),
    Compare(Compare),
    Logic(Logic),
    /// `wide` if the source is in the 64-bit bank; the result has `register_bits` bits.
    Convert {
        convert: Convert,
        wide_source: bool,
        register_bits: u8,
    },
    Copy32,
    Copy64,
    CopyPredicate,
    /// Low bits first, with the sizes of a piece and of the whole in bits.
    Pack {
        piece_bits: u8,
        whole_bits: u8,
    },
    Unpack {
        piece_bits: u8,
        whole_bits: u8,
    },
    Special(SpecialRegister),
    /// The address of a variable in the frame.
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
    /// Several values, or one of 128 bits: the list holds results and operands, each one word or 64 bits.
    AtomicVector {
        atomic: Atomic,
        base: BaseKind,
    },
    /// The list holds the registers of all fragments; `immediate` of a product is its index among the program's
    /// products.
    Matrix {
        matrix: Matrix,
        base: BaseKind,
    },
    /// The index of an asynchronous copy of the program.
    CopyAsync(u32),
    /// The index of a bulk copy of the program.
    CopyBulk(u32),
    /// The index of a tensor copy of the program.
    CopyTensor(u32),
    /// Commits the bulk stores since the last group.
    CommitBulk,
    /// Waits until at most this number of groups of bulk stores is pending.
    WaitBulk {
        pending: u32,
        awaited: Awaited,
    },
    /// Commits the copies since the last group.
    CommitCopies,
    /// Waits until at most this number of groups is pending.
    WaitCopies(u32),
    /// Waits until no copy is pending.
    WaitAllCopies,
    /// The copies so far arrive at a barrier object when they complete.
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
    /// The index of a call of the program.
    Call(u32),
    Return,
    Exit,
    Trap,
    Synchronise(Alignment),
    Arrive(Alignment),
    Reduce(Vote, Alignment),
    SynchroniseWarp,
    Warp(Warp),
    /// A fence: schedules execute accesses in a total order, the race check uses the fence.
    Fence(FenceOrder, Scope),
    /// Orders generic accesses with those of asynchronous operations.
    ProxyFence(Proxy),
    /// An operation between the blocks of a cluster.
    Cluster(Cluster),
    /// The index of an asynchronous write to shared memory of the cluster.
    WriteToCluster(u32),
    /// An operation on tensor maps.
    TensorMap(u32),
    /// The index of a texture or surface instruction of the program.
    Texture {
        site: u32,
        is_store: bool,
    },
    Sleep,
    /// No instruction of the kernel: the next one accesses registers of asynchronous products; `immediate` is its
    /// index among the tracked accesses of the program.
    TrackRegisters,
    /// Changes the registers of the threads to `immediate`.
    Registers(RegisterChange),
    /// A hint without an effect on values.
    Hint,
}

/// An asynchronous copy from global to shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopySite {
    pub(crate) to: AddressSlot,
    pub(crate) from: AddressSlot,
    /// The size in bytes: 4, 8 or 16.
    pub(crate) bytes: u8,
    pub(crate) length: CopyLength,
}

/// A bulk copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BulkSite {
    pub(crate) to: AddressSlot,
    pub(crate) from: AddressSlot,
    /// The size in bytes: a word.
    pub(crate) bytes: Slot,
    /// The barrier object of a load; none for a store.
    pub(crate) barrier: Option<AddressSlot>,
    pub(crate) effect: StoreEffect,
}

/// What a bulk store does with each element in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreEffect {
    /// Replaces it.
    Write,
    /// Combines it with the stored element.
    Reduce(Update),
}

/// A copy of a box of a tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorSite {
    /// The generic address of the tensor map.
    pub(crate) map: AddressSlot,
    /// The coordinates, words: elements of the program's list, the innermost first.
    pub(crate) coordinates: (u32, u8),
    /// For a column of pixels, its offsets in the same form, of which a store has none; none for a box.
    pub(crate) offsets: Option<(u32, u8)>,
    /// The box in shared memory.
    pub(crate) shared: AddressSlot,
    pub(crate) direction: TensorDirection,
}

/// The direction of a tensor copy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorDirection {
    /// To shared memory; with a mask of ranks, to that of several blocks.
    Load { barrier: AddressSlot, ranks: Option<Slot> },
    /// To global memory.
    Store,
    /// To global memory, combined with the elements there.
    Reduce(Reduction),
}

/// An operation on tensor maps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorMapSite {
    /// Replaces a field by a value, of a dimension where the field has one value for each.
    Replace {
        field: MapField,
        dimension: u8,
        space: Space,
        map: AddressSlot,
        value: Slot,
    },
    /// Copies a map from shared to global memory and releases it.
    Publish {
        to: AddressSlot,
        from: AddressSlot,
    },
    /// Acquires a map at a generic address.
    Acquire {
        map: AddressSlot,
    },
    Release,
}

/// A texture or surface instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureSite {
    pub(crate) texture: Texture,
    /// The value of the object.
    pub(crate) object: AddressSlot,
    /// The coordinates: elements of the program's list.
    pub(crate) coordinates: (u32, u8),
    /// The results, or the values of a store, likewise.
    pub(crate) values: (u32, u8),
}

/// An asynchronous write to shared memory of the cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterWriteSite {
    /// The destination, in the window `shared::cluster`.
    pub(crate) to: AddressSlot,
    /// The barrier object, in the same block.
    pub(crate) barrier: AddressSlot,
    pub(crate) source: ClusterSource,
}

/// What an asynchronous write writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClusterSource {
    /// The values of registers, of 64 bits each if `is_wide`, else of 32 bits; the list has their slots.
    Registers { list: (u32, u8), is_wide: bool },
    /// A read-modify-write with the value of a register.
    Update { atomic: Atomic, value: Slot },
    /// Bytes of global memory, to the blocks of a mask.
    Global { from: AddressSlot, bytes: Slot, ranks: Slot },
    /// Bytes of the shared memory of the block.
    Shared { from: AddressSlot, bytes: Slot },
}

/// The parts of an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressSlot {
    pub(crate) base: BaseKind,
    pub(crate) slot: Slot,
    pub(crate) offset: i64,
}

/// The number of bytes that a copy reads; the others are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyLength {
    /// All bytes.
    Whole,
    /// The number in a word.
    Bytes(Slot),
    /// All bytes, or none if a predicate is true.
    Unless(Slot),
}

/// A constant of the launch, which all lanes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PoolValue {
    Bits(u64),
    /// The address of an object, plus an offset in bytes.
    Address(Object, i64),
    /// A parameter of the kernel: offset, size in bytes, sign extension, bits of the register.
    Parameter {
        offset: u32,
        bytes: u8,
        signed: bool,
        register_bits: u8,
    },
}

/// An object whose address the launch determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Object {
    /// A variable of the module.
    Variable(VariableId),
    /// A shared variable declared in a function.
    FunctionShared(FunctionId, u32),
    /// A global or constant variable declared in a function.
    FunctionStatic(FunctionId, u32),
    /// The parameters of the kernel.
    Parameters,
    Function(FunctionId),
}

/// A call, with the location of its arguments in the frames.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    pub(crate) target: Target,
    /// Offset in the caller's frame, and size, in bytes.
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

/// The callee.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Function(FunctionId),
    /// The address is in a 64-bit slot.
    Address(Slot),
    Builtin(Builtin),
}

/// Functions of the driver.
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
    /// Its first instruction; none if it has no body.
    pub(crate) entry: Option<u32>,
    /// The number of slots of each bank.
    pub(crate) words: u32,
    pub(crate) doubles: u32,
    pub(crate) predicates: u32,
    /// The size of a frame in bytes: parameters, results, variables.
    pub(crate) frame_bytes: u32,
    /// Offset and size of each of them, in bytes, in order.
    pub(crate) extents: Vec<(u32, u32)>,
    /// Offset and size of each parameter and result in the frame, in bytes.
    pub(crate) parameters: Vec<(u32, u32)>,
    pub(crate) returns: Vec<(u32, u32)>,
}

/// The origin of an instruction of the flat program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) function: FunctionId,
    /// Its index in the body; past the end for the implicit return at the end of a body.
    pub(crate) instruction: u32,
}

/// The bank of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bank {
    Words,
    Doubles,
    Predicates,
}
