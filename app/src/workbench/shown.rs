//! The run that panels show, as its new verdict or as the history has it.

use std::sync::Arc;

use lightbench_core::report::document::RunOutcome;
use lightbench_core::report::document::timing::ReportedWorkloadTiming;
use lightbench_core::report::evidence::RunEvidence;
use lightbench_core::speed_of_light::performance_data::Profile;

use super::evaluations::Evaluated;
use super::problem::{self, Problem};
use super::run_details::{ReadRun, RunDetails};
use super::{UiEffect, Workbench};

impl Workbench {
    /// The latest verdict, if panels show it.
    #[must_use]
    pub fn shown_verdict(&self) -> Option<&Evaluated> {
        let opened = self.opened.as_ref()?;
        let evaluated = self.evaluations.kernel(&opened.kernel)?.evaluated.as_ref()?;
        let chosen = self.selection.run;
        (chosen.is_none() || chosen == evaluated.number).then_some(evaluated)
    }

    /// The shown run as it was read from the history, unless this window evaluated it.
    #[must_use]
    pub fn shown_record(&self) -> Option<&ReadRun> {
        let read = self.selection.read.as_ref().filter(|_| self.shown_verdict().is_none())?;
        (read.run.number == self.shown_run()?.number).then_some(read)
    }

    /// Whether the shown run is a run of the current kernel with its present source, so that its lines can be marked.
    #[must_use]
    pub fn shows_present_source(&self) -> bool {
        let kernel = self.opened.as_ref().map(|opened| opened.project.kernel(&opened.kernel));
        let Some(Ok(kernel)) = kernel else { return false };
        self.shown_verdict().is_some()
            || self.shown_record().is_some_and(|read| {
                read.run.record.kernel == kernel.name
                    && read.source.as_deref() == Some(kernel.source.as_str())
            })
    }

    /// Whether the shown run is a run of the current kernel with another source than the present one.
    #[must_use]
    pub fn shows_earlier_text(&self) -> bool {
        let is_of_kernel =
            self.shown_record().zip(self.opened.as_ref()).is_some_and(|(read, opened)| {
                read.source.is_some() && read.run.record.kernel == opened.kernel
            });
        is_of_kernel && !self.shows_present_source()
    }

    /// The problems of the current kernel by the shown run of the history, if the kernel has the text that ran.
    #[must_use]
    pub fn recorded_problems(&self) -> Vec<Problem> {
        let read = self.shown_record().filter(|_| self.shows_present_source());
        let evidence = read.and_then(|read| Some(&read.details.as_ref()?.evidence));
        match (evidence, &self.opened) {
            (
                Some(RunEvidence { outcome: RunOutcome::NotPassed(reason), sentence, .. }),
                Some(opened),
            ) => problem::from_verdict(reason, sentence, &opened.project),
            (Some(_) | None, _) => Vec::new(),
        }
    }

    /// Marks the problems of the shown run of the history in the text of its kernel.
    pub(super) fn mark_recorded_problems(&mut self) {
        let problems = self.recorded_problems();
        let kernel = self.opened.as_ref().map(|opened| opened.project.kernel(&opened.kernel));
        let Some(Ok(kernel)) = kernel.filter(|_| !problems.is_empty()) else { return };
        let (file, source) = (kernel.file.clone(), kernel.source.clone());
        let Some(document) = self.documents.get_mut(&file) else { return };
        let is_here =
            |problem: &Problem| problem.place.as_ref().is_some_and(|place| place.file == file);
        document.problems = problems.into_iter().filter(is_here).collect();
        document.checked = source;
    }

    /// The details of the shown run.
    #[must_use]
    pub fn shown_details(&self) -> Option<&Arc<RunDetails>> {
        match self.shown_verdict() {
            Some(evaluated) => Some(&evaluated.details),
            None => self.shown_record()?.details.as_ref(),
        }
    }

    /// Copies the verdict, and the command that reproduces it.
    pub(super) fn copy_verdict(&mut self) {
        let mut text = self.verdict_line().text;
        if let Some(command) = self.reproduction() {
            text = format!("{text}\n{command}");
        }
        self.effects.push(UiEffect::Copy(text));
    }

    /// The command that evaluates the kernel of the shown run again, on the same inputs if their seed is known.
    #[must_use]
    pub fn reproduction(&self) -> Option<String> {
        let (root, row) = (self.root()?.to_string_lossy(), self.shown_run()?);
        let seed = match self.shown_verdict() {
            Some(evaluated) => Some(evaluated.run.seed),
            None => self.shown_record()?.run.record.seed,
        };
        let device = self.device().map(|device| device.name.to_string()).unwrap_or_default();
        let mut words = vec!["lightbench", "run", &root, "--kernel", &row.kernel];
        words.extend(["--device", &device]);
        let seed = seed.map(|seed| seed.to_string());
        words.extend(seed.iter().flat_map(|seed| ["--seed", seed]));
        // A path with a null character cannot be opened either.
        shlex::try_join(words).ok()
    }

    /// The times of the shown run for the selected workload, else for its first one.
    #[must_use]
    pub fn shown_times(&self) -> Option<&ReportedWorkloadTiming> {
        self.shown_details()?.times(&self.opened.as_ref()?.workload)
    }

    /// The counters of the shown run for the workload of [`Self::shown_times`], or why there are none.
    #[must_use]
    pub fn shown_counters(&self) -> Option<(&str, Result<&Profile, &str>)> {
        let workload = self.shown_times()?.workload.as_str();
        let counters = self.shown_details()?.evidence.counters.get(workload)?;
        Some((workload, counters.as_ref().map_err(String::as_str)))
    }
}
