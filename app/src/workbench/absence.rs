//! The explanation that a panel shows instead of numbers: the kernel failed, was not timed, was recorded on another
//! machine, or never ran.

use lightbench_core::history::StoredRun;
use lightbench_core::history::record::{FailureKind, Outcome};

use super::Workbench;
use super::evaluations::{KernelState, MachineState};
use super::runs::RunRow;

/// A missing number, with its reason or remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absence {
    /// What is missing.
    pub what: String,
    /// The reason, or what the user can do.
    pub advice: String,
}

impl Absence {
    #[must_use]
    pub fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }
}

impl Workbench {
    /// Why the shown run has no time; `None` if it has one.
    #[must_use]
    pub fn without_time(&self) -> Option<Absence> {
        let Some(row) = self.shown_run() else { return Some(self.without_run()) };
        if !row.times.is_empty() {
            return None;
        }
        Some(self.failed(row).unwrap_or_else(|| self.untimed(row)))
    }

    /// Why the shown run has no counters.
    #[must_use]
    pub fn without_counts(&self) -> Absence {
        let Some(row) = self.shown_run() else { return self.without_run() };
        let uncounted = self.shown_counters().and_then(|(_, counters)| counters.err());
        match (self.failed(row), uncounted) {
            (Some(failed), _) => failed,
            (None, Some(why)) => Absence::new(format!("Run #{} has no counters", row.number), why),
            (None, None) => Absence::new(
                format!("No counters were recorded for run #{}", row.number),
                "Press F5 to evaluate again: the virtual GPU counts, alone or beside a GPU",
            ),
        }
    }

    /// Why the current kernel has no compiled code.
    #[must_use]
    pub fn without_code(&self) -> Absence {
        let Some(kernel) = self.opened.as_ref().map(|opened| &opened.kernel) else {
            return self.without_run();
        };
        let known = self.evaluations.kernel(kernel);
        let is_refused = |known: &KernelState| {
            let verdict = known.evaluated.as_ref().map(|evaluated| &evaluated.run.verdict);
            let failure = verdict.and_then(|verdict| verdict.as_ref().err());
            failure.and_then(FailureKind::from_not_passed) == Some(FailureKind::Compile)
                || !known.compile_problems.is_empty()
        };
        match known {
            Some(known) if known.running.is_none() && is_refused(known) => Absence::new(
                format!("{kernel} does not compile"),
                "The Problems panel shows the errors",
            ),
            Some(_) | None if self.shown_run().is_some() => Absence::new(
                format!("{kernel} was not compiled since the window opened"),
                "Save it, or press F5",
            ),
            Some(_) | None => self.without_run(),
        }
    }

    /// Why the resource use of the shown run is unknown.
    #[must_use]
    pub fn without_resources(&self) -> Absence {
        match self.selection.run.and_then(|number| self.runs.get(number)) {
            Some(row) if self.shown_verdict().is_none() => {
                let why = "Registers, shared memory and occupancy are not recorded for runs before November 2026, imported runs and failed runs";
                let what = format!("The resource use of run #{} was not recorded", row.number);
                Absence::new(what, why)
            }
            Some(_) | None => self.without_code(),
        }
    }

    /// Why the current kernel has no run.
    fn without_run(&self) -> Absence {
        let Some(kernel) = self.opened.as_ref().map(|opened| &opened.kernel) else {
            return Absence::new("No project is open", "Open one to begin");
        };
        if let MachineState::Unusable(why) = &self.evaluations.machine {
            return Absence::new("Nothing can run on this machine yet", why);
        }
        match self.evaluations.kernel(kernel) {
            Some(known) if known.running.is_some() => Absence::new(
                format!("{kernel} is being evaluated"),
                "The stages at the top show its progress",
            ),
            Some(KernelState { obstacle: Some(why), .. }) => {
                Absence::new(format!("{kernel} could not be evaluated"), why)
            }
            Some(known) if known.facts.is_some() => Absence::new(
                format!("{kernel} was compiled and not run"),
                "Select everything beside On save, and press F5",
            ),
            Some(_) | None => {
                Absence::new(format!("No run of {kernel} yet"), "Save it, or press F5")
            }
        }
    }

    fn failed(&self, row: &RunRow) -> Option<Absence> {
        row.failure?;
        let what = format!("Run #{} failed", row.number);
        let why = row.sentence.as_deref().unwrap_or(row.verdict());
        let where_to = if self.shown_details().is_some() {
            "The Result panel shows the evidence"
        } else {
            "Press F5 to evaluate again"
        };
        Some(Absence::new(what, format!("{why}. Only kernels that pass are timed. {where_to}")))
    }

    fn untimed(&self, row: &RunRow) -> Absence {
        let number = row.number;
        let known = self.shown_times().and_then(|times| times.withheld.clone());
        let recorded = || withheld(&self.shown_record()?.run, &self.opened.as_ref()?.workload);
        match known.or_else(recorded) {
            Some(why) => Absence::new(format!("The time of run #{number} is withheld"), why),
            None => Absence::new(
                format!("Run #{number} passed and was not timed"),
                "Select everything beside On save, and press F5 to time it",
            ),
        }
    }
}

/// Why a recorded run has no time for a workload.
fn withheld(run: &StoredRun, workload: &str) -> Option<String> {
    match &run.record.outcome {
        Outcome::Passed { withheld, .. } => {
            let named = withheld.iter().find(|(name, _)| name.as_str() == workload);
            named.or_else(|| withheld.iter().next()).map(|(_, why)| why.clone())
        }
        Outcome::Failed { .. } => None,
    }
}
