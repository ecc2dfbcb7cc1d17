//! Faults of a kernel, with the thread and the place in the code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::project::launch::expectation::FaultKind;
use crate::tensors::inputs::InputSpec;
use crate::verify::fault_report::{CodePlace, FaultReport, OtherReport, Seen};
use crate::verify::verdict::{Fault, Step};

/// The faults of one launch, with what led to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedFaults {
    /// The rule that the first fault broke.
    #[schemars(with = "Option<String>")]
    pub kind: Option<FaultKind>,
    /// The workload.
    pub workload: String,
    /// Seed and mode of the inputs.
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub recipe: InputSpec,
    /// The step of verification.
    #[schemars(with = "String")]
    pub step: Step,
    /// Every fault, in the order of observation.
    pub faults: Vec<ReportedFault>,
    /// The beginning of what the kernel printed.
    pub printed: String,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedFault {
    /// The rule that it broke.
    #[schemars(with = "String")]
    pub kind: FaultKind,
    /// The kernel's symbol.
    pub kernel: String,
    /// The buffer that was meant or hit.
    pub buffer: Option<String>,
    /// What happened, in a sentence.
    pub details: String,
    /// The thread and the place, if the device observed the fault.
    #[serde(flatten)]
    pub thread: Option<FaultingThread>,
    /// The conflicting access, of faults that take two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<ReportedAccess>,
}

/// The thread that caused a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultingThread {
    /// The block.
    pub block: [u32; 3],
    /// The thread within the block.
    pub thread: [u32; 3],
    /// The address, of memory accesses.
    pub address: Option<u64>,
    /// The place in the code.
    #[serde(flatten)]
    pub place: ReportedCodePlace,
}

/// The access of another thread that a fault conflicts with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedAccess {
    /// The block.
    pub block: [u32; 3],
    /// The thread within the block.
    pub thread: [u32; 3],
    /// `read`, `write`, `atomic` or `asynchronous copy`.
    pub access: String,
    /// The place in the code.
    #[serde(flatten)]
    pub place: ReportedCodePlace,
}

/// A place in the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedCodePlace {
    /// The line of the PTX, from 1; 0 if only machine code is known.
    pub ptx_line: u32,
    /// The column of the PTX, from 1; 0 if only machine code is known.
    pub ptx_column: u32,
    /// The source, if the PTX has line information.
    #[serde(flatten)]
    pub source: Option<ReportedSource>,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSource {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 for a whole line.
    pub column: u32,
}

impl From<&Fault> for ReportedFaults {
    fn from(fault: &Fault) -> Self {
        Self {
            kind: fault.faults.first().map(|first| first.kind),
            workload: fault.workload.clone(),
            recipe: fault.recipe,
            step: fault.step,
            faults: fault.faults.iter().map(Into::into).collect(),
            printed: fault.printed.clone(),
        }
    }
}

impl From<&FaultReport> for ReportedFault {
    fn from(fault: &FaultReport) -> Self {
        let FaultReport { kind, kernel, seen, buffer, other, details } = fault;
        Self {
            kind: *kind,
            kernel: kernel.clone(),
            buffer: buffer.clone(),
            details: details.clone(),
            thread: seen.as_ref().map(Into::into),
            other: other.as_ref().map(Into::into),
        }
    }
}

impl From<&Seen> for FaultingThread {
    fn from(seen: &Seen) -> Self {
        let Seen { block, thread, place, address } = seen;
        Self { block: *block, thread: *thread, address: *address, place: place.into() }
    }
}

impl From<&OtherReport> for ReportedAccess {
    fn from(other: &OtherReport) -> Self {
        let OtherReport { block, thread, place, access } = other;
        Self { block: *block, thread: *thread, access: access.clone(), place: place.into() }
    }
}

impl From<&CodePlace> for ReportedCodePlace {
    fn from(place: &CodePlace) -> Self {
        let source = place.source.clone();
        Self {
            ptx_line: place.ptx.0,
            ptx_column: place.ptx.1,
            source: source.map(|(file, line, column)| ReportedSource { file, line, column }),
        }
    }
}
