//! Measurements of the shown run: times under each condition, energy, and the state of the device.

use lightbench_core::history::StoredRun;
use lightbench_core::history::timing as kept;
use lightbench_core::measure::{Clock, Conditions, Energy, EnergyError, Mode, Timing};
use lightbench_core::units::Seconds;
use lightbench_core::verify::verdict::WorkloadTiming;

use super::Workbench;
use super::background_task::BackgroundTask;
use super::evaluations::Evaluated;
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
    pub energy: Option<Result<Energy, EnergyError>>,
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
    /// Reasons not to trust the time, as sentences.
    pub taint: Vec<String>,
}

impl Workbench {
    /// Measurements of the shown run.
    #[must_use]
    pub fn measurements(&self) -> Option<Measurements> {
        let live = self.shown_verdict().and_then(|evaluated| {
            let timings = &evaluated.run.verdict.as_ref().ok()?.timings;
            self.summary_timing(timings).map(Measurements::of_verdict)
        });
        live.or_else(|| {
            let read = self.selection.read.as_ref();
            let number = self.shown_run()?.number;
            let shown = read.filter(|run| run.number == number)?;
            Measurements::of_run(shown, &self.opened.as_ref()?.workload)
        })
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

    /// The latest verdict, if panels show it.
    #[must_use]
    pub fn shown_verdict(&self) -> Option<&Evaluated> {
        let opened = self.opened.as_ref()?;
        let evaluated = self.evaluations.kernel(&opened.kernel)?.evaluated.as_ref()?;
        let chosen = self.selection.run;
        (chosen.is_none() || chosen == evaluated.number).then_some(evaluated)
    }
}

impl Measurements {
    fn of_verdict(timing: &WorkloadTiming) -> Self {
        let time = |timing: &Timing| TimeOfMode {
            mode: Some(timing.mode),
            median: timing.summary.median,
            interval: Some(timing.summary.interval),
            source: match timing.clock {
                Clock::Events { .. } | Clock::Cupti { .. } => TimeSource::Measured,
                Clock::Modelled => TimeSource::Modelled,
            },
            taint: timing.taint.iter().map(ToString::to_string).collect(),
        };
        let cold = timing.timings.iter().find(|timing| timing.mode == Mode::Cold);
        Self {
            times: timing.timings.iter().map(time).collect(),
            energy: timing.energy,
            conditions: cold.map(|timing| timing.conditions.clone()),
            unrecorded: None,
        }
    }

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
            energy: energy.map(|(_, energy)| Ok(*energy)),
            conditions: sm_clock
                .map(|clocks| Conditions { sm_clock: Some(clocks), ..Conditions::default() }),
        })
    }
}

impl TimeOfMode {
    fn of_record(timing: &kept::RecordedTiming, run: &StoredRun) -> Self {
        let both = |(low, high): (kept::Duration, kept::Duration)| (low.seconds(), high.seconds());
        Self {
            mode: match timing.mode {
                kept::Mode::Cold => Some(Mode::Cold),
                kept::Mode::Warm => Some(Mode::Warm),
                kept::Mode::Graph => Some(Mode::Graph),
                kept::Mode::Server => Some(Mode::Server),
                kept::Mode::Unstated => None,
            },
            median: timing.median.seconds(),
            interval: timing.spread.map(|spread| both(spread.interval)),
            source: TimeSource::from_clock(&timing.clock, run.provenance),
            taint: timing.taint.clone(),
        }
    }
}
