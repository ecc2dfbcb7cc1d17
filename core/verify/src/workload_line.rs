//! The line of a verdict about one timed workload.

use lightbench_measure::{Mode, Timing};
use lightbench_speed_of_light::time_comparison::TimeComparison;
use lightbench_speed_of_light::verdict_line::{Performance, Time, VerdictLine};

use super::baseline::BaselineTiming;
use super::verdict::{SizeCheck, WorkloadTiming};

impl WorkloadTiming {
    /// The time with cold caches, which determines the score.
    #[must_use]
    pub fn cold(&self) -> Option<&Timing> {
        self.timings.iter().find(|timing| timing.mode == Mode::Cold)
    }

    /// The name of the first library that was measured, and the comparison with its time.
    fn baseline_comparison(&self) -> Option<(String, TimeComparison)> {
        let measured = self.baselines.iter().find_map(BaselineTiming::measured)?;
        Some((measured.used.name.clone(), TimeComparison::new(self.cold()?, measured.cold()?)))
    }

    /// Writes the line of the verdict again, with the comparisons with the previous and the best run where they are known.
    pub fn update_line(&mut self, previous: Option<TimeComparison>, best: Option<TimeComparison>) {
        let Some(stands) = &self.standing else { return };
        let baseline = self.baseline_comparison();
        let baseline = baseline.as_ref().map(|(name, than)| (name.as_str(), *than));
        let performance = Performance {
            time: time_or_reason(self.cold(), self.withheld.as_deref()),
            previous,
            best,
            baseline,
            achieved: stands.achieved.as_ref(),
            standing: stands.standing.as_ref(),
            limiter: Some(&stands.limiter),
            advice: Some(&stands.advice),
        };
        let line = match self.check {
            SizeCheck::Whole => VerdictLine::Correct(performance),
            SizeCheck::Sampled { .. } => VerdictLine::Sampled(performance),
            SizeCheck::NotChecked(_) => VerdictLine::NotChecked(performance),
        }
        .sentence();
        if let Some(stands) = &mut self.standing {
            stands.line = line;
        }
    }
}

fn time_or_reason<'a>(timing: Option<&'a Timing>, withheld: Option<&'a str>) -> Time<'a> {
    match timing {
        Some(timing) => Time::Taken(timing),
        None => Time::None(withheld.unwrap_or("it was not measured")),
    }
}
