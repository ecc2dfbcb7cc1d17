//! A fault as it passes between processes and is shown: every text owned, every place by name.

use lightbench_device::LaunchFault;
use lightbench_project::launch::expectation;
use lightbench_tensors::case::Case;
use lightbench_virtual_gpu::machine::Suspicion;
use lightbench_virtual_gpu::module::SourceLine;
use lightbench_virtual_gpu::{ConflictingAccess, FaultKind};
use serde::{Deserialize, Serialize};

use super::compiled_candidate::Origins;

/// What a kernel did wrong while it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultReport {
    /// Which rule it broke.
    pub kind: expectation::FaultKind,
    /// The kernel's symbol.
    pub kernel: String,
    /// The thread and the place, if the device observed the fault.
    pub seen: Option<Seen>,
    /// The buffer that was meant or hit.
    pub buffer: Option<String>,
    /// The other side, of faults that take two.
    pub other: Option<OtherReport>,
    /// What happened, in a sentence.
    pub details: String,
}

/// The thread that broke a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The block.
    pub block: [u32; 3],
    /// The thread within the block.
    pub thread: [u32; 3],
    /// Where.
    pub place: CodePlace,
    /// The address, of accesses.
    pub address: Option<u64>,
}

/// A place in the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePlace {
    /// Line and column of the PTX; 0 where only machine code is known.
    pub ptx: (u32, u32),
    /// File, line and column of the source, if the PTX has line information; column 0 stands for a whole line.
    pub source: Option<(String, u32, u32)>,
}

/// An instruction that may do something else than intended, although it commits no fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspicionReport {
    /// Where.
    pub place: CodePlace,
    /// What it does.
    pub text: String,
}

impl From<Suspicion> for SuspicionReport {
    fn from(suspicion: Suspicion) -> Self {
        let Suspicion { place: at, source_line, text } = suspicion;
        Self { place: place((at.line, at.column), source_line), text }
    }
}

/// The thread whose access conflicts with that of the fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherReport {
    /// Its block.
    pub block: [u32; 3],
    /// The thread within the block.
    pub thread: [u32; 3],
    /// Where.
    pub place: CodePlace,
    /// What it did: `read`, `write`, `atomic`, `asynchronous copy`.
    pub access: String,
}

/// Faults with one cause: the first of them, and their number.
pub type Cause<'a, T> = (&'a T, usize);

/// Joins equal causes, which faults of many threads and of many executions of a line have.
pub fn causes<T, K: PartialEq>(faults: &[T], cause: impl Fn(&T) -> K) -> Vec<Cause<'_, T>> {
    let mut causes: Vec<(K, Cause<'_, T>)> = Vec::new();
    for fault in faults {
        let own = cause(fault);
        match causes.iter_mut().find(|(known, _)| *known == own) {
            Some((_, (_, count))) => *count += 1,
            None => causes.push((own, (fault, 1))),
        }
    }
    causes.into_iter().map(|(_, cause)| cause).collect()
}

impl FaultReport {
    /// The faults of a launch by cause: the rule, the line and the buffer.
    #[must_use]
    pub fn causes(faults: &[Self]) -> Vec<Cause<'_, Self>> {
        causes(faults, |fault| {
            let place = fault.seen.as_ref().map(|seen| &seen.place);
            let line = place.map(|place| match &place.source {
                Some((file, line, _)) => (Some(file.clone()), *line),
                None => (None, place.ptx.0),
            });
            (fault.kind, line, fault.buffer.clone())
        })
    }

    /// Replaces compiler names and PTX places by those of the source.
    pub fn settle(&mut self, origins: &Origins) {
        self.details = origins.names.with_display_names(&self.details);
        self.places_mut().for_each(|place| origins.settle(place));
    }

    /// Distinguishes a write to one of the task's inputs from a write to constants.
    pub(super) fn name_inputs(&mut self, case: &Case) {
        let is_input = |name: &String| case.tensors.iter().any(|tensor| tensor.name == *name);
        if self.kind == expectation::FaultKind::ReadOnlyWrite
            && self.buffer.as_ref().is_some_and(is_input)
        {
            self.kind = expectation::FaultKind::InputModified;
        }
    }

    /// The places of both sides.
    fn places_mut(&mut self) -> impl Iterator<Item = &mut CodePlace> {
        let own = self.seen.as_mut().map(|seen| &mut seen.place);
        own.into_iter().chain(self.other.as_mut().map(|other| &mut other.place))
    }
}

impl From<LaunchFault> for FaultReport {
    fn from(fault: LaunchFault) -> Self {
        match fault {
            LaunchFault::Seen(fault) => Self {
                kind: kind(fault.kind),
                kernel: fault.kernel,
                seen: Some(Seen {
                    block: fault.block,
                    thread: fault.thread,
                    place: place((fault.place.line, fault.place.column), fault.source_line),
                    address: fault.address,
                }),
                buffer: fault.buffer,
                other: fault.other.map(other),
                details: fault.details,
            },
            LaunchFault::Reported { kind: rule, kernel, buffer, details } => {
                Self { kind: kind(rule), kernel, seen: None, buffer, other: None, details }
            }
        }
    }
}

fn other(other: ConflictingAccess) -> OtherReport {
    OtherReport {
        block: other.block,
        thread: other.thread,
        place: place((other.place.line, other.place.column), other.source_line),
        access: other.access.to_owned(),
    }
}

fn place(ptx: (u32, u32), source: Option<SourceLine>) -> CodePlace {
    CodePlace { ptx, source: source.map(|source| (source.file, source.line, source.column)) }
}

fn kind(kind: FaultKind) -> expectation::FaultKind {
    use expectation::FaultKind as Named;
    match kind {
        FaultKind::OutOfBounds => Named::OutOfBounds,
        FaultKind::Misaligned => Named::Misaligned,
        FaultKind::UninitializedRead => Named::UninitializedRead,
        FaultKind::ReadOnlyWrite => Named::ReadOnlyWrite,
        FaultKind::DataRace => Named::DataRace,
        FaultKind::MissingWait => Named::MissingWait,
        FaultKind::BarrierDivergence => Named::BarrierDivergence,
        FaultKind::BarrierPhase => Named::BarrierPhase,
        FaultKind::WarpSync => Named::WarpSync,
        FaultKind::Deadlock => Named::Deadlock,
        FaultKind::Livelock => Named::Livelock,
        FaultKind::Residency => Named::Residency,
        FaultKind::Assertion => Named::Assertion,
        FaultKind::StepLimit => Named::StepLimit,
        FaultKind::TimeLimit => Named::TimeLimit,
        FaultKind::TensorMap => Named::TensorMap,
        FaultKind::Texture => Named::Texture,
        // A GPU that calls what is no function stops as at a trap.
        FaultKind::Trap | FaultKind::Call => Named::Trap,
    }
}
