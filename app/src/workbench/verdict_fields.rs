//! The verdict on the shown run as short fields; each names the place of its evidence.

use lightbench_core::history::RunNumber;
use lightbench_core::history::comparison_runs::WorkloadComparison;
use lightbench_core::measure::Mode;
use lightbench_core::report::document::PassedReport;
use lightbench_core::report::document::checks::ReportedSizeCheck;
use lightbench_core::report::document::timing::{
    ReportedStanding, ReportedTiming, ReportedWorkloadTiming,
};
use lightbench_core::speed_of_light::time_comparison::TimeComparison;
use lightbench_core::units::{Fraction, Seconds};

use super::Workbench;
use super::command::Command;
use super::panel::Panel;
use super::run_details::RunDetails;
use super::runs::TimeSource;
use super::search::SearchCommand;

/// A part of a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictField {
    /// What the value is.
    pub label: String,
    pub value: String,
    /// The value in full, and how it is defined.
    pub explanation: String,
    /// Shows the evidence.
    pub evidence: Command,
    /// The source of the number, if it is a time.
    pub source: Option<TimeSource>,
}

impl VerdictField {
    fn new(label: &str, value: String, explanation: String, evidence: Command) -> Self {
        Self { label: label.to_owned(), value, explanation, evidence, source: None }
    }
}

impl Workbench {
    /// The fields of the verdict on the shown run, if it passed and its evidence is known.
    #[must_use]
    pub fn verdict_fields(&self) -> Option<Vec<VerdictField>> {
        let details = self.shown_details()?;
        let passed = details.evidence.passed()?;
        let timed = self.shown_times();
        let mut fields = vec![self.state(details, passed, timed)];
        let Some(timed) = timed else { return Some(fields) };
        fields.extend(self.time(details, timed));
        let standing = timed.standing.as_ref();
        fields.extend(standing.and_then(achieved));
        fields.extend(standing.and_then(bound_fraction));
        fields.extend(standing.map(limiter));
        fields.extend(standing.and_then(next));
        Some(fields)
    }

    fn state(
        &self,
        details: &RunDetails,
        passed: &PassedReport,
        timed: Option<&ReportedWorkloadTiming>,
    ) -> VerdictField {
        let is_of = |workload: &str| timed.is_some_and(|timed| timed.workload == workload);
        let size = passed.timed_sizes.iter().find(|size| is_of(&size.workload));
        let value = match size.map(|size| &size.check) {
            Some(ReportedSizeCheck::Sampled { .. }) => "correct in sampled blocks",
            Some(ReportedSizeCheck::NotChecked { .. }) => "correct, not checked at this size",
            Some(ReportedSizeCheck::Whole) | None => "correct",
        };
        let number = self.shown_number().map(|number| format!("#{number} ")).unwrap_or_default();
        let kernel = self.shown_kernel().unwrap_or_default();
        let text = if self.shows_earlier_text() { ", another text" } else { "" };
        let explanation = details.evidence.sentence.clone();
        let evidence = Command::Show(Panel::Result);
        VerdictField::new(
            &format!("{number}{kernel}{text}"),
            value.to_owned(),
            explanation,
            evidence,
        )
    }

    /// The time, and its comparison with the previous and the best run.
    fn time(&self, details: &RunDetails, timed: &ReportedWorkloadTiming) -> Vec<VerdictField> {
        let cold = timed.timings.iter().find(|timing| timing.mode == Mode::Cold);
        let Some(cold) = cold else {
            let why = timed.withheld.clone().unwrap_or_else(|| "It was not measured".to_owned());
            let evidence = Command::Show(Panel::Timing);
            return vec![VerdictField::new("time", "none".to_owned(), why, evidence)];
        };
        let source = TimeSource::new(&cold.clock, details.provenance);
        let explanation = format!("The cold time of {}: {}", timed.workload, interval(cold));
        let is_recorded_model = source == TimeSource::Recorded && cold.samples == 0;
        let label = if is_recorded_model { "recorded, modelled" } else { source.word() };
        let mut time = VerdictField::new(
            label,
            Seconds(cold.median_seconds).to_string(),
            explanation,
            Command::Show(Panel::Timing),
        );
        time.value += &spread(cold);
        time.source = Some(source);
        let compared = details.comparisons.get(&timed.workload).copied().unwrap_or_default();
        let WorkloadComparison { previous, best } = compared;
        let against = |name: &str, of: Option<(RunNumber, TimeComparison)>| {
            let (number, than) = of?;
            let explanation = than.words(&format!("the {name} run, #{number}"));
            let evidence = Command::CompareWith(number);
            Some(VerdictField::new(name, than.to_string(), explanation, evidence))
        };
        let is_best = || {
            let row = self.shown_run().filter(|row| self.runs.is_best(row))?;
            let explanation = "No comparable run is faster".to_owned();
            let evidence = Command::SelectRun(row.number);
            Some(VerdictField::new("best", "this run".to_owned(), explanation, evidence))
        };
        let best = is_best().or_else(|| against("best", best));
        [Some(time), against("previous", previous), best].into_iter().flatten().collect()
    }

    /// The number of the shown run, once the history has it.
    fn shown_number(&self) -> Option<RunNumber> {
        match self.shown_verdict() {
            Some(evaluated) => evaluated.number,
            None => Some(self.shown_run()?.number),
        }
    }

    fn shown_kernel(&self) -> Option<&str> {
        match self.shown_verdict() {
            Some(evaluated) => Some(&evaluated.kernel.name),
            None => Some(&self.shown_run()?.kernel),
        }
    }
}

fn interval(timing: &ReportedTiming) -> String {
    let [low, high] = timing.interval_seconds.map(Seconds);
    match timing.samples {
        0 => format!("measured times are expected from {low} to {high}"),
        samples => format!("95 % confidence interval {low} to {high}, {samples} samples"),
    }
}

fn spread(timing: &ReportedTiming) -> String {
    let [low, high] = timing.interval_seconds.map(Seconds);
    match timing.samples {
        0 => format!(" ({low} to {high})"),
        _ => {
            let half = (high.0 - low.0) / 2.0 / timing.median_seconds;
            format!(" ± {}", Fraction(half))
        }
    }
}

fn achieved(standing: &ReportedStanding) -> Option<VerdictField> {
    let achieved = standing.achieved.as_ref()?;
    let fraction = Fraction(achieved.fraction);
    let explanation = format!(
        "{fraction} of {}: all bytes or operations of the task, divided by the time. The bound counts the least that any correct kernel must do",
        achieved.ceiling
    );
    let value = format!("{}, {fraction}", achieved.rate);
    Some(VerdictField::new("achieved", value, explanation, Command::Show(Panel::Roofline)))
}

fn bound_fraction(standing: &ReportedStanding) -> Option<VerdictField> {
    let evidence = Command::Show(Panel::SpeedOfLight);
    let (Some(fraction), Some(bound)) = (standing.fraction, &standing.bound) else {
        let why = standing.finding.clone()?;
        return Some(VerdictField::new("of the bound", "none".to_owned(), why, evidence));
    };
    let range = standing
        .fraction_interval
        .map(|[low, high]| format!(" ({} to {})", Fraction(low), Fraction(high)));
    let explanation = format!(
        "No correct kernel takes less than {} ({}, {}): the bound divided by the time{}.\n{}",
        Seconds(bound.seconds),
        bound.limited_by,
        bound.basis,
        range.unwrap_or_default(),
        bound.assumptions.join("\n")
    );
    Some(VerdictField::new("of the bound", Fraction(fraction).to_string(), explanation, evidence))
}

fn limiter(standing: &ReportedStanding) -> VerdictField {
    let explanation = match standing.limiter_evidence.as_slice() {
        [] => "What the time is spent on".to_owned(),
        evidence => evidence.join("\n"),
    };
    let evidence = Command::Show(Panel::Counters);
    VerdictField::new("limited by", standing.limited_by.clone(), explanation, evidence)
}

fn next(standing: &ReportedStanding) -> Option<VerdictField> {
    let technique = standing.technique.clone()?;
    let evidence = Command::Search(SearchCommand::Suggest);
    Some(VerdictField::new("next", technique, standing.advice.clone(), evidence))
}
