//! Measurements of the shown run: times under each condition, energy, and the state of the device.

use lightbench_core::history::timing as kept;
use lightbench_core::history::{Provenance, StoredRun};
use lightbench_core::measure::{Conditions, Mode};
use lightbench_core::report::document::timing::{
    ReportedClock, ReportedEnergy, ReportedTiming, ReportedWorkloadTiming,
};
use lightbench_core::units::Seconds;

use super::Workbench;
use super::background_task::BackgroundTask;
use super::runs::TimeSource;

/// The recorded name of the lowest multiprocessor clock.
pub(crate) const LOWEST_CLOCK: &str = "sm, lowest";
pub(crate) const HIGHEST_CLOCK: &str = "sm, highest";

/// Measurements on the selected workload.
#[derive(Clone, Debug)]
pub struct Measurements {
    /// One per condition, the scored one first.
    pub times: Vec<TimeOfMode>,
    /// Energy per execution, or why it is unknown; `None` if it was not requested.
    pub energy: Option<ReportedEnergy>,
    /// State of the device; for a recorded run its clock, if recorded.
    pub conditions: Option<Conditions>,
    /// Which conditions were not recorded, as text.
    pub unrecorded: Option<&'static str>,
}

/// The time under one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeOfMode {
    /// The condition; `None` if the record does not name it.
    pub mode: Option<Mode>,
    pub median: Seconds,
    /// The 95 % confidence interval of the median; for a modelled time the expected band.
    pub interval: Option<(Seconds, Seconds)>,
    pub source: TimeSource,
    /// Whether a model gave the time, on this or another machine: it has a band instead of an interval.
    pub is_modelled: bool,
    /// Reasons not to trust the time, as sentences.
    pub taint: Vec<String>,
}

impl Workbench {
    /// Measurements of the shown run.
    #[must_use]
    pub fn measurements(&self) -> Option<Measurements> {
        if let (Some(details), Some(times)) = (self.shown_details(), self.shown_times()) {
            return Some(Measurements::new(times, details.provenance));
        }
        Measurements::of_run(&self.shown_record()?.run, &self.opened.as_ref()?.workload)
    }

    /// Requests the stored record of the shown run, once; rows hold only its score.
    pub(super) fn read_shown(&mut self) {
        let shown = self.shown_run().map(|row| row.number);
        if shown == self.selection.asked || self.shown_verdict().is_some() {
            return;
        }
        self.selection.asked = shown;
        if let (Some(number), Some(opened)) = (shown, &self.opened) {
            self.background.submit(BackgroundTask::ReadRun(opened.project.root.clone(), number));
        }
    }
}

impl Measurements {
    fn new(timed: &ReportedWorkloadTiming, provenance: Provenance) -> Self {
        let time = |timing: &ReportedTiming| {
            let [low, high] = timing.interval_seconds;
            TimeOfMode {
                mode: Some(timing.mode),
                median: Seconds(timing.median_seconds),
                interval: Some((Seconds(low), Seconds(high))),
                source: TimeSource::new(&timing.clock, provenance),
                is_modelled: timing.clock == ReportedClock::Modelled,
                taint: timing.taint.iter().map(ToString::to_string).collect(),
            }
        };
        let cold = timed.timings.iter().find(|timing| timing.mode == Mode::Cold);
        Self {
            times: timed.timings.iter().map(time).collect(),
            energy: timed.energy.clone(),
            conditions: cold.map(|timing| timing.conditions.clone()),
            unrecorded: None,
        }
    }

    /// The measurements that a record without evidence holds.
    fn of_run(run: &StoredRun, workload: &str) -> Option<Self> {
        let all = run.record.timings();
        let first = all.first().map(|timing| timing.workload.as_str());
        let named = all.iter().find(|timing| timing.workload.as_str() == workload);
        let workload = named.map(|timing| timing.workload.as_str()).or(first)?;
        let own = all.iter().filter(|timing| timing.workload.as_str() == workload);
        let energy = run.record.energy().find(|(name, _)| name.as_str() == workload);
        let times: Vec<_> = own.map(|timing| TimeOfMode::of_record(timing, run)).collect();
        let of_device = |time: &TimeOfMode| match time.source {
            TimeSource::Measured | TimeSource::Recorded => true,
            TimeSource::Modelled => false,
        };
        let clocks = &run.record.environment.clocks;
        let sm_clock = clocks.get(LOWEST_CLOCK).copied().zip(clocks.get(HIGHEST_CLOCK).copied());
        let unrecorded = match sm_clock {
            Some(_) => "power, temperature and free memory",
            None => "clock, power, temperature and free memory",
        };
        Some(Self {
            unrecorded: times.iter().any(of_device).then_some(unrecorded),
            times,
            energy: energy.map(|(_, energy)| energy.into()),
            conditions: sm_clock
                .map(|clocks| Conditions { sm_clock: Some(clocks), ..Conditions::default() }),
        })
    }
}

impl TimeOfMode {
    fn of_record(timing: &kept::RecordedTiming, run: &StoredRun) -> Self {
        let both = |(low, high): (kept::Duration, kept::Duration)| (low.seconds(), high.seconds());
        Self {
            mode: timing.mode.known(),
            median: timing.median.seconds(),
            interval: timing.spread.map(|spread| both(spread.interval)),
            source: TimeSource::from_clock(&timing.clock, run.provenance),
            is_modelled: timing.clock == kept::Clock::Modelled,
            taint: timing.taint.clone(),
        }
    }
}
