//! A calibration to test with.

use lightbench_core::speed_of_light::calibration::Calibration;

/// Of one H200; some numbers were not measured.
pub(in crate::commands) fn calibration() -> Calibration {
    Calibration::from_json(TEXT).unwrap()
}

const TEXT: &str = r#"{
  "schema": 1,
  "device": {
    "title": "NVIDIA H200",
    "uuid": "00112233445566778899aabbccddeeff",
    "compute_capability": "9.0"
  },
  "date": "2026-11-21T19:00:00Z",
  "driver": "580.159.04, CUDA 13.0",
  "clocks": { "multiprocessors": 1.98e9, "memory": 3.2e9, "control": "free" },
  "memory": {
    "dram_read": {
      "median": 4.4e12, "low": 4.3e12, "high": 4.45e12, "samples": 100, "method": "16-byte loads"
    },
    "l2_read": {
      "median": 9.0e12, "low": 8.8e12, "high": 9.1e12, "samples": 100, "method": "past L1"
    }
  },
  "pipes": {
    "fp32": {
      "median": 60e12, "low": 59e12, "high": 61e12, "samples": 80, "method": "fma.f32"
    }
  },
  "special": null,
  "retained_writes": null,
  "launch_floor": null,
  "event_offset": {
    "median": 1.2e-6, "low": 1.2e-6, "high": 1.2e-6, "samples": 1, "method": "an empty kernel"
  }
}"#;
