//! A calibration for tests.

use std::collections::BTreeMap;

use super::calibration::{
    CalibratedClocks, CalibratedDevice, Calibration, ClockControl, Measured, MemoryPath, SCHEMA,
};
use crate::device::{ComputeCapability, Pipe};
use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond, Hertz, Seconds};

fn measured<T: Copy>(median: T, low: T, high: T) -> Measured<T> {
    Measured { median, low, high, samples: 30, method: "float4".to_owned() }
}

/// A calibration of one H200.
pub(crate) fn calibration() -> Calibration {
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
