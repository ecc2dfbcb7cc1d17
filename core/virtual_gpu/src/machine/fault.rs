//! What is found wrong with a kernel while it runs.

use std::fmt;

use super::super::error::Place;
use super::super::module::SourceLine;

/// Which rule a kernel broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// An access outside of everything, or partly outside of what it begins in.
    OutOfBounds,
    /// An address that is no multiple of the size of the access.
    Misaligned,
    /// A value that nothing wrote reached a branch, an address or an output.
    UninitializedRead,
    /// A store to an input or to constants.
    ReadOnlyWrite,
    /// Accesses of two threads to the same bytes, at least one a write, that nothing orders.
    DataRace,
    /// Bytes of an asynchronous copy that nothing waited for.
    MissingWait,
    /// A barrier that not all threads reach, or not together.
    BarrierDivergence,
    /// A warp-wide operation whose mask does not name the lanes that are there.
    WarpSync,
    /// Threads wait for each other, and none can go on.
    Deadlock,
    /// Threads go on for ever without getting anywhere.
    Livelock,
    /// Blocks wait for blocks that cannot start, because the device holds no more blocks at once.
    Residency,
    /// The kernel ended itself.
    Trap,
    /// An assertion of the kernel does not hold.
    Assertion,
    /// The launch took more steps than it may.
    StepLimit,
    /// The launch took more time on the host than it may.
    TimeLimit,
    /// A call to something that is no function, or more frames than a thread has memory for.
    Call,
}

impl FaultKind {
    /// Its name in reports for programs.
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
            Self::WarpSync => "warp_sync",
            Self::Deadlock => "deadlock",
            Self::Livelock => "livelock",
            Self::Residency => "residency",
            Self::Trap => "trap",
            Self::Assertion => "assertion",
            Self::StepLimit => "step_limit",
            Self::TimeLimit => "time_limit",
            Self::Call => "call",
        }
    }

    /// Whether the launch ends with it in any case.
    pub(super) const fn is_fatal(self) -> bool {
        match self {
            Self::OutOfBounds
            | Self::Misaligned
            | Self::UninitializedRead
            | Self::ReadOnlyWrite
            | Self::DataRace
            | Self::MissingWait
            | Self::WarpSync => false,
            Self::BarrierDivergence
            | Self::Deadlock
            | Self::Livelock
            | Self::Residency
            | Self::Trap
            | Self::Assertion
            | Self::StepLimit
            | Self::TimeLimit
            | Self::Call => true,
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// One fault: the first thread that was seen to commit it at this instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which rule.
    pub kind: FaultKind,
    /// The kernel.
    pub kernel: String,
    /// The block.
    pub block: [u32; 3],
    /// The thread within the block.
    pub thread: [u32; 3],
    /// Where in the PTX.
    pub place: Place,
    /// Where in the source, if the PTX says so.
    pub source_line: Option<SourceLine>,
    /// The address, of accesses.
    pub address: Option<u64>,
    /// The buffer or variable that was meant or hit.
    pub buffer: Option<String>,
    /// The other side, of faults that take two.
    pub other: Option<OtherSide>,
    /// What happened, in a sentence.
    pub details: String,
}

/// The thread whose access met the one of the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherSide {
    /// Its block.
    pub block: [u32; 3],
    /// The thread within the block.
    pub thread: [u32; 3],
    /// Where in the PTX.
    pub place: Place,
    /// Where in the source, if the PTX says so.
    pub source_line: Option<SourceLine>,
    /// What it did: `read`, `write`, `atomic`, `asynchronous copy`.
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

/// A fault before it is told where it happened.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) kind: FaultKind,
    pub(super) lane: u32,
    pub(super) address: Option<u64>,
    pub(super) buffer: Option<String>,
    pub(super) other: Option<OtherSide>,
    pub(super) details: String,
}

impl Finding {
    pub(super) fn new(kind: FaultKind, lane: u32, details: impl Into<String>) -> Self {
        Self { kind, lane, address: None, buffer: None, other: None, details: details.into() }
    }
}
