//! `lightbench calibrate`: measures and stores the ceilings of a GPU.

#[cfg(test)]
pub(super) mod fixture;
mod text;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lightbench_core::calibrate::{
    BENCHMARKS, CalibrateError, Calibrated, CalibrationTarget, Calibrations, calibrate,
};
use lightbench_core::device::{DeviceName, LocalDevice};
use lightbench_core::evaluate::EvaluateError;
use serde_json::{Value, json};

use super::evaluation_setup::{self, ChosenDevice, ChosenGpu};
use super::progress;
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;

/// Measures, stores and reports the ceilings.
pub fn run(session: &Session, arguments: &args::Calibrate) -> Outcome {
    calibrated(session, arguments).unwrap_or_else(|outcome| outcome)
}

fn calibrated(session: &Session, arguments: &args::Calibrate) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let device = DeviceName::parse(&arguments.device).map(|device| device.local);
    match device.map_err(|error| report::request(&error, as_json))? {
        LocalDevice::Virtual(_) => {
            return Err(failed(&CalibrateError::Virtual, as_json));
        }
        LocalDevice::Cuda(_) => {}
    }
    let Some(state) = session.state.as_deref() else {
        let message =
            "this machine has no state folder for a calibration; name one with `--state DIR`";
        return Err(report::environment(&message, as_json));
    };
    let measured = measured(session, arguments)?;
    let kept = Calibrations::in_state_folder(state).store(&measured.calibrated.calibration);
    let file = kept.map_err(|error| {
        let folder = state.display();
        report::environment(&format!("cannot store the calibration in {folder}: {error}"), as_json)
    })?;
    let output = if as_json {
        document(&value(&measured, &file))
    } else {
        text::report_text(&measured.calibrated, measured.chosen.sheet, &file)
    };
    Ok(Outcome::passed(output))
}

/// A calibration and its device.
struct Measurement {
    chosen: ChosenDevice,
    calibrated: Calibrated,
}

fn measured(session: &Session, arguments: &args::Calibrate) -> Result<Measurement, Outcome> {
    let as_json = arguments.json;
    let environment = |error: &dyn std::fmt::Display| report::environment(&error, as_json);
    let why = "only a GPU has ceilings to measure";
    let (mut bench, chosen) = evaluation_setup::open_gpu(session, &arguments.device, why, as_json)?;
    let Some(ChosenGpu { description, identity, .. }) = &chosen.gpu else {
        return Err(failed(&CalibrateError::Virtual, as_json));
    };
    let folder = tempfile::tempdir().map_err(|error| environment(&error))?;
    let place = CalibrationTarget {
        device: &chosen.device,
        description,
        identity: Some(identity),
        sheet: chosen.sheet,
        date: &Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        folder: folder.path(),
        seed: evaluation_setup::fresh_seed().map_err(|error| environment(&error))?,
    };
    let mut begun = 0;
    let calibrated = calibrate(&place, &mut bench, &session.cancellation, &mut |benchmark| {
        begun += 1;
        progress::show(&format!("{begun} of {}: {} …", BENCHMARKS.len(), benchmark.quantity));
    });
    progress::clear();
    let calibrated = calibrated.map_err(|error| failed(&error, as_json))?;
    Ok(Measurement { chosen, calibrated })
}

fn failed(error: &CalibrateError, as_json: bool) -> Outcome {
    match error {
        CalibrateError::Virtual | CalibrateError::Evaluate(EvaluateError::Request(_)) => {
            report::request(error, as_json)
        }
        CalibrateError::Cancelled => Outcome::failed(Status::Interrupted, error),
        CalibrateError::Io(_)
        | CalibrateError::Project { .. }
        | CalibrateError::Evaluate(EvaluateError::Environment(_))
        | CalibrateError::Nothing(_)
        | CalibrateError::Unsound(_) => report::environment(error, as_json),
    }
}

fn value(measured: &Measurement, file: &Path) -> Value {
    let Measurement { chosen, calibrated } = measured;
    let left_out = calibrated.left_out.iter();
    let left_out =
        left_out.map(|(what, why)| json!({ "ceiling": what.to_string(), "reason": why }));
    json!({
        "schema": "lightbench.calibrate/1",
        "device": chosen.device.to_string(),
        "file": PathBuf::from(file).display().to_string(),
        "calibration": calibrated.calibration,
        "left_out": left_out.collect::<Vec<_>>(),
    })
}
