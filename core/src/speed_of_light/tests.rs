//! Bounds, comparisons with bounds, scores, rooflines, the playbook and the verdict sentence, on plain numbers.

mod bound_comparisons;
mod bound_fractions;
mod bounds;
mod calibrations;
mod confirmations;
mod extrapolated_counters;
mod lines;
mod playbooks;
mod properties;
mod rooflines;
mod scores;

use super::bound::{CacheState, PhysicalBound};
use super::calibration::{Calibration, MemoryPath, SCHEMA};
use super::ceilings::{Basis, Ceilings};
use super::fixture::calibration;
use super::minimal_work::{ByteCount, MinimalWork, Operands};
use crate::device::{DeviceSheet, Pipe};
use crate::project::manifest::{Accuracy, OperationKind};
use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Hertz, Seconds};

const F32: Operands = Operands::Floats { widest: 24, narrowest: 24 };

/// Work of f32 accuracy on f32 inputs that moves so much.
fn work(read: u64, written: u64, operations: &[(OperationKind, f64)]) -> MinimalWork {
    MinimalWork {
        read: Bytes(read),
        written: Bytes(written),
        bytes: ByteCount::Tensors,
        working_set: Bytes(read.saturating_add(written)),
        operations: operations.iter().map(|(kind, count)| (*kind, Flops(*count))).collect(),
        accuracy: Accuracy::F32,
        operands: F32,
        broadcast: 0.0,
    }
}

fn h200() -> &'static DeviceSheet {
    DeviceSheet::named("h200").unwrap()
}

fn sheet_ceilings() -> Ceilings {
    Ceilings::new(h200(), None, Basis::Sheet)
}

/// The physical bound on the sheet's peaks, cold.
fn bound(work: &MinimalWork) -> PhysicalBound {
    PhysicalBound::new(work, &sheet_ceilings(), CacheState::Cold).unwrap()
}
