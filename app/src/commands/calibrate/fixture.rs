//! A calibration to test with.

use lightbench_core::speed_of_light::calibration::Calibration;

/// Of one H200; some numbers were not measured.
pub(in crate::commands) fn calibration() -> Calibration {
    Calibration::from_json(TEXT).unwrap()
}

const TEXT: &str = include_str!("../../../../tests/data/calibration.json");
