//! What was measured of the run that panels show: times under each condition, energy, and what the device did meanwhile.

use lightbench_core::history::StoredRun;
use lightbench_core::history::timing as kept;
use lightbench_core::measure::{Clock, Conditions, Energy, Mode, NoEnergy, Timing};
use lightbench_core::units::Seconds;
use lightbench_core::verify::verdict::WorkloadTiming;

use super::Workbench;
use super::errand::Errand;
use super::evaluations::Evaluated;
use super::runs::TimeSource;

/// What a record calls the clock of the multiprocessors.
pub(crate) const LOWEST_CLOCK: &str = "sm, lowest";
pub(crate) const HIGHEST_CLOCK: &str = "sm, highest";

/// What was measured on the workload that numbers are shown for.
#[derive(Clone, Debug)]
pub struct Measurements {
    /// One for each condition, the score first.
    pub times: Vec<TimeOfMode>,
    /// What an execution costs, or why nobody can say; none where nobody asked.
    pub energy: Option<Result<Energy, NoEnergy>>,
    /// What the device did; of a run of the history its clock, where that was recorded.
    pub conditions: Option<Conditions>,
    /// What nobody recorded of that, in words.
    pub unrecorded: Option<&'static str>,
}

/// The time under one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeOfMode {
    /// The condition; none where whoever recorded it did not say.
    pub mode: Option<Mode>,
    /// The median.
    pub median: Seconds,
    /// Where the median is 95 times in 100; of a model the band that is expected.
    pub interval: Option<(Seconds, Seconds)>,
    /// Where it comes from.
    pub source: TimeSource,
    /// What speaks against it, in sentences.
    pub taint: Vec<String>,
}

impl Workbench {
    /// What was measured of the run that panels show.
    #[must_use]
    pub fn measurements(&self) -> Option<Measurements> {
        let live = self.shown_verdict().and_then(|evaluated| {
            let timings = &evaluated.run.verdict.as_ref().ok()?.timings;
            self.told(timings).map(Measurements::of_verdict)
        });
        live.or_else(|| {
            let read = self.selection.read.as_ref();
            let number = self.shown_run()?.number;
            let shown = read.filter(|run| run.number == number)?;
            Measurements::of_run(shown, &self.opened.as_ref()?.workload)
        })
    }

    /// Has the run that panels show read, once: rows hold no more than its score.
    pub(super) fn read_shown(&mut self) {
        let shown = self.shown_run().map(|row| row.number);
        if shown == self.selection.asked || self.shown_verdict().is_some() {
            return;
        }
        self.selection.asked = shown;
        if let (Some(number), Some(opened)) = (shown, &self.opened) {
            self.clerk.hand(Errand::ReadRun(opened.project.root.clone(), number));
        }
    }

    /// The newest verdict, where that is what panels show.
    #[must_use]
    pub fn shown_verdict(&self) -> Option<&Evaluated> {
        let opened = self.opened.as_ref()?;
        let evaluated = self.evaluations.of(&opened.kernel)?.evaluated.as_ref()?;
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
            source: TimeSource::of(&timing.clock, run.provenance),
            taint: timing.taint.clone(),
        }
    }
}
