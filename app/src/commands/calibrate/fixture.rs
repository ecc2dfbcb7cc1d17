//! A calibration for tests.

use lightbench_core::speed_of_light::calibration::Calibration;

/// The calibration of an H200 with some numbers missing.
pub(in crate::commands) fn calibration() -> Calibration {
    Calibration::from_json(TEXT).unwrap()
}

const TEXT: &str = include_str!("../../../../tests/data/calibration.json");
