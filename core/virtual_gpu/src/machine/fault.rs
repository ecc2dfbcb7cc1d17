//! Faults of a kernel, found while it runs.

use std::fmt;

use super::super::error::PtxLocation;
use super::super::module::SourceLine;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// An access outside of any buffer or variable, or partly outside of the one in which it begins.
    OutOfBounds,
    /// An address that is not a multiple of the size of the access.
    Misaligned,
    /// An uninitialised value reached a branch, an address or an output.
    UninitializedRead,
    /// A store to an input or to constants.
    ReadOnlyWrite,
    /// Two unordered accesses of different threads to the same bytes, at least one of them a write.
    DataRace,
    /// An access to bytes of an asynchronous copy, or to registers of an asynchronous product, that no wait has
    /// completed.
    MissingWait,
    /// Not all threads of the block reach a barrier, or not by the same instruction.
    BarrierDivergence,
    /// In another order of the warps, an arrival at a barrier or a test of it meets another phase.
    BarrierPhase,
    /// The mask of a warp-wide operation does not match the lanes that execute it.
    WarpSync,
    /// Threads wait for each other.
    Deadlock,
    /// Threads wait for a value that no thread writes.
    Livelock,
    /// Resident blocks wait for blocks that cannot start, because the device holds no more blocks at once.
    Residency,
    /// The kernel executed `trap`.
    Trap,
    /// An assertion of the kernel failed.
    Assertion,
    /// The launch reached its limit of steps.
    StepLimit,
    /// The launch reached its limit of time on the host.
    TimeLimit,
    /// A call of an address that is no matching function, or a recursion that exhausts the memory of a thread.
    Call,
    /// A tensor copy whose map is absent or does not fit to the instruction.
    TensorMap,
    /// A texture or surface instruction whose object is absent or does not fit to the instruction.
    Texture,
}

impl FaultKind {
    /// The stable name in JSON and reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out_of_bounds",
            Self::Misaligned => "misaligned",
            Self::UninitializedRead => "uninitialized_read",
            Self::ReadOnlyWrite => "read_only_write",
            Self::DataRace => "data_race",
            Self::MissingWait => "missing_wait",
            Self::BarrierDivergence => "barrier_divergence",
            Self::BarrierPhase => "barrier_phase",
            Self::WarpSync => "warp_sync",
            Self::Deadlock => "deadlock",
            Self::Livelock => "livelock",
            Self::Residency => "residency",
            Self::Trap => "trap",
            Self::Assertion => "assertion",
            Self::StepLimit => "step_limit",
            Self::TimeLimit => "time_limit",
            Self::Call => "call",
            Self::TensorMap => "tensor_map",
            Self::Texture => "texture",
        }
    }

    /// Whether the fault always ends the launch.
    pub(super) const fn is_fatal(self) -> bool {
        match self {
            Self::OutOfBounds
            | Self::Misaligned
            | Self::UninitializedRead
            | Self::ReadOnlyWrite
            | Self::DataRace
            | Self::MissingWait
            | Self::BarrierPhase
            | Self::WarpSync => false,
            Self::BarrierDivergence
            | Self::Deadlock
            | Self::Livelock
            | Self::Residency
            | Self::Trap
            | Self::Assertion
            | Self::StepLimit
            | Self::TimeLimit
            | Self::Call
            | Self::TensorMap
            | Self::Texture => true,
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// A fault: the first thread that committed it at this instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub kernel: String,
    pub block: [u32; 3],
    /// Index within the block.
    pub thread: [u32; 3],
    /// Location in the PTX.
    pub place: PtxLocation,
    /// Location in the source, if the PTX has line information.
    pub source_line: Option<SourceLine>,
    /// The address, if the fault is an access.
    pub address: Option<u64>,
    /// The buffer or variable that the access was probably meant for, or that it hit.
    pub buffer: Option<String>,
    /// The second access, if the fault involves two.
    pub other: Option<ConflictingAccess>,
    /// A sentence that describes the fault.
    pub details: String,
}

/// The access that conflicts with the access of the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictingAccess {
    pub block: [u32; 3],
    /// Index within the block.
    pub thread: [u32; 3],
    /// Location in the PTX.
    pub place: PtxLocation,
    /// Location in the source, if the PTX has line information.
    pub source_line: Option<SourceLine>,
    /// The kind of access: `read`, `write`, `atomic`, `asynchronous copy`.
    pub access: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bx, by, bz] = self.block;
        let [x, y, z] = self.thread;
        write!(formatter, "{} in {} at PTX {}", self.kind, self.kernel, self.place)?;
        if let Some(line) = &self.source_line {
            write!(formatter, " ({line})")?;
        }
        write!(formatter, ", block ({bx}, {by}, {bz}), thread ({x}, {y}, {z}): {}", self.details)?;
        let Some(other) = &self.other else { return Ok(()) };
        write!(formatter, "; the {} is at PTX {}", other.access, other.place)?;
        match &other.source_line {
            Some(line) => write!(formatter, " ({line})"),
            None => Ok(()),
        }
    }
}

/// A fault whose location is not resolved yet.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) kind: FaultKind,
    pub(super) lane: u32,
    pub(super) address: Option<u64>,
    pub(super) buffer: Option<String>,
    pub(super) other: Option<ConflictingAccess>,
    pub(super) details: String,
}

impl Finding {
    pub(super) fn new(kind: FaultKind, lane: u32, details: impl Into<String>) -> Self {
        Self { kind, lane, address: None, buffer: None, other: None, details: details.into() }
    }
}

/// An instruction that may do something else than intended, although it commits no fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// Location in the PTX.
    pub place: PtxLocation,
    /// Location in the source, if the PTX has line information.
    pub source_line: Option<SourceLine>,
    /// What it does.
    pub text: String,
}
