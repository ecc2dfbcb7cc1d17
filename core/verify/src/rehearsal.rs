//! A rehearsal of a part of a verification: it collects the requests for a device on another host, which carries them out
//! without waiting for this machine after each reply.
//!
//! A rehearsal assumes that everything is right. Its reports serve to find the next request and are then dropped. The host
//! stops at the first report that is another one.

use lightbench_measure::energy::EnergyError;
use lightbench_measure::timing::{Clock, Stopped};
use lightbench_speed_of_light::performance_data::Profile;
use lightbench_units::Seconds;

use crate::device_session::{
    GridPart, JudgeReport, JudgeRequest, MeasureReport, MeasureRequest, ModelledProgram, Quantity,
    RunReport, RunRequest, Sampled, Samples,
};

/// The report of a run without a fault.
pub(crate) fn run_report(order: &RunRequest) -> RunReport {
    let sampled = match order.part {
        GridPart::Whole => None,
        GridPart::Sampled { .. } => Some(Sampled::Ran { blocks: 1, of: 1 }),
    };
    RunReport { sampled, ..RunReport::default() }
}

/// Whether a run has neither a fault nor another finding.
pub(crate) fn is_clean(report: &RunReport) -> bool {
    let is_sampled = match report.sampled {
        None | Some(Sampled::Ran { .. }) => true,
        Some(Sampled::Unwritten { .. } | Sampled::Impossible(_)) => false,
    };
    report.faults.is_empty() && report.left_dirty.is_empty() && is_sampled
}

/// The report on correct outputs, or on admissible inputs.
pub(crate) fn judge_report(order: &JudgeRequest) -> JudgeReport {
    let sampled = match order.part {
        GridPart::Whole => None,
        GridPart::Sampled { .. } => Some(Ok(1)),
    };
    JudgeReport { comparisons: Vec::new(), exact: true, sampled, inadmissible: None }
}

/// Whether the outputs are correct, or the inputs admissible.
pub(crate) fn is_accepted(report: &JudgeReport) -> bool {
    let is_right = report.comparisons.iter().all(|comparison| comparison.wrong.is_none());
    let is_sampled = report.sampled.as_ref().is_none_or(Result::is_ok);
    is_right && is_sampled && report.inadmissible.is_none()
}

/// The report of a measurement.
pub(crate) fn measure_report(order: &MeasureRequest, models_time: bool) -> MeasureReport {
    match order.quantity {
        Quantity::Energy => MeasureReport::Energy(Err(EnergyError::NoCounter)),
        Quantity::Time if models_time => {
            let time = Err("rehearsed".to_owned());
            let profile = Profile::default();
            MeasureReport::Modelled(vec![ModelledProgram { time, profile }])
        }
        Quantity::Time => MeasureReport::Samples(Samples {
            clock: Clock::Modelled,
            batches: Vec::new(),
            rounds: vec![vec![vec![Seconds(1.0)]]],
            stopped: Stopped::Budget,
            readings: Vec::new(),
            left_dirty: Vec::new(),
            launch_floor: None,
        }),
    }
}

/// Whether a measurement found nothing wrong.
pub(crate) fn is_measured(report: &MeasureReport) -> bool {
    match report {
        MeasureReport::Samples(samples) => samples.left_dirty.is_empty(),
        MeasureReport::Modelled(_) | MeasureReport::Energy(_) => true,
        MeasureReport::Faulted(_) | MeasureReport::Abandoned(_) => false,
    }
}
