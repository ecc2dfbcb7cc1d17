//! Bounds, standings, scores, rooflines, the playbook and the sentence, on plain numbers.

mod bound_comparisons;
mod bounds;
mod calibrations;
mod confirmations;
mod extrapolated_counters;
mod lines;
mod playbooks;
mod properties;
mod rooflines;
mod scores;

use lightbench_device::{DeviceSheet, Pipe};
use lightbench_project::manifest::{Accuracy, OperationKind};
use lightbench_units::{Bytes, BytesPerSecond, FlopsPerSecond, Hertz, Seconds};

use super::bound::{CacheState, PhysicalBound};
use super::calibration::{Calibration, MemoryPath, SCHEMA};
use super::ceilings::{Basis, Ceilings};
use super::fixture::{bound, calibration, h200, sheet_ceilings, work};
use super::minimal_work::{MinimalWork, Operands};
