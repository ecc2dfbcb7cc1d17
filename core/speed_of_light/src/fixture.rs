//! Work, bounds and a calibration for tests.
#![allow(clippy::unwrap_used, reason = "only tests use these values")]

use std::collections::BTreeMap;

use lightbench_device::{ComputeCapability, DeviceSheet, Pipe};
use lightbench_project::manifest::{Accuracy, OperationKind};
use lightbench_units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Hertz, Seconds};

use super::bound::{CacheState, PhysicalBound};
use super::calibration::{
    CalibratedClocks, CalibratedDevice, Calibration, ClockControl, Measured, MemoryPath, SCHEMA,
};

use super::ceilings::{Basis, Ceilings};
use super::minimal_work::{ByteCount, MinimalWork, Operands};

fn measured<T: Copy>(median: T, low: T, high: T) -> Measured<T> {
    Measured { median, low, high, samples: 30, method: "float4".to_owned() }
}

/// A calibration of one H200.
#[must_use]
pub fn calibration() -> Calibration {
    let rate = |rate: f64| {
        measured(BytesPerSecond(rate), BytesPerSecond(rate * 0.99), BytesPerSecond(rate * 1.01))
    };
    Calibration {
        schema: SCHEMA,
        device: CalibratedDevice {
            title: "NVIDIA H200".to_owned(),
            uuid: "00112233445566778899aabbccddeeff".to_owned(),
            compute_capability: ComputeCapability(9, 0),
        },
        date: "2026-11-21T19:00:00Z".to_owned(),
        driver: "580.159.04".to_owned(),
        clocks: CalibratedClocks {
            multiprocessors: Hertz(1.98e9),
            memory: Some(Hertz(3.201e9)),
            control: ClockControl::Free,
        },
        memory: BTreeMap::from([
            (MemoryPath::DramRead, rate(4.4e12)),
            (MemoryPath::DramWrite, rate(4.1e12)),
            (MemoryPath::DramCopy, rate(4.2e12)),
            (MemoryPath::L2Read, rate(9.0e12)),
        ]),
        pipes: BTreeMap::from([(
            Pipe::Fp32,
            measured(FlopsPerSecond(60e12), FlopsPerSecond(59e12), FlopsPerSecond(61e12)),
        )]),
        special: Some(measured(
            FlopsPerSecond(4e12),
            FlopsPerSecond(3.9e12),
            FlopsPerSecond(4.1e12),
        )),
        retained_writes: Some(measured(Bytes(30 << 20), Bytes(28 << 20), Bytes(32 << 20))),
        launch_floor: Some(measured(Seconds(1.5e-6), Seconds(1.4e-6), Seconds(1.9e-6))),
        event_offset: None,
    }
}

/// Operations on f32.
pub const F32: Operands = Operands::Floats { widest: 24, narrowest: 24 };

/// Work of f32 accuracy on f32 inputs that moves so much.
#[must_use]
pub fn work(read: u64, written: u64, operations: &[(OperationKind, f64)]) -> MinimalWork {
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

#[must_use]
pub fn h200() -> &'static DeviceSheet {
    DeviceSheet::named("h200").unwrap()
}

#[must_use]
pub fn sheet_ceilings() -> Ceilings {
    Ceilings::new(h200(), None, Basis::Sheet)
}

/// The physical bound on the sheet's peaks, cold.
#[must_use]
pub fn bound(work: &MinimalWork) -> PhysicalBound {
    PhysicalBound::new(work, &sheet_ceilings(), CacheState::Cold).unwrap()
}
