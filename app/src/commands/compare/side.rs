//! The sides of a comparison: a kernel, a recorded run, or a library that the project names as a baseline.

use std::sync::Arc;

use lightbench_core::engine::{AskedBy, Work};
use lightbench_core::evaluate::Run;
use lightbench_core::evaluate::compare::Pair;
use lightbench_core::history::definition_hash::definition_hash;
use lightbench_core::history::record::Scope;
use lightbench_core::history::{HistoryError, OpenedHistory, RunNumber, StoredRun};
use lightbench_core::project::library::Gemm;
use lightbench_core::project::policy::Baseline;
use lightbench_core::project::{Kernel, KernelRole, Project};

use crate::commands::evaluation_setup::ChosenDevice;
use crate::commands::history::{HistoryCommandError, existing};
use crate::commands::run::EvaluationInput;
use crate::session::Session;

/// One of the two compared candidates.
pub(super) enum Side {
    /// A kernel file as it is now.
    Kernel(Box<Kernel>),
    /// A recorded run, whose kernel is compiled again from its stored texts.
    Run(Box<RecordedRun>),
    Library(Gemm),
}

/// A stored run.
pub(super) struct RecordedRun {
    run: StoredRun,
    project: Arc<Project>,
    kernel: Arc<Kernel>,
}

/// The title of cuBLAS.
pub(super) const LIBRARY: &str = "cuBLAS";

impl Side {
    /// Resolves a name: a kernel first, then the number of a run, then a library.
    pub(super) fn parse(
        session: &Session,
        project: &Project,
        name: &str,
    ) -> Result<Self, HistoryCommandError> {
        let unknown = match project.kernel(name) {
            Ok(kernel) if kernel.role == KernelRole::Reference => {
                let text = "both sides are compared with the reference already; name two kernels";
                return Err(HistoryCommandError::Request(text.to_owned()));
            }
            Ok(kernel) => return Ok(Self::Kernel(Box::new(kernel.clone()))),
            Err(unknown) => unknown,
        };
        if let Ok(number) = name.parse() {
            return read_run(session, project, RunNumber(number))
                .map(|past| Self::Run(Box::new(past)));
        }
        library(project, name).unwrap_or_else(|| {
            let libraries = libraries(project).map(|_| format!(", or {LIBRARY}"));
            let more = libraries.collect::<String>();
            Err(HistoryCommandError::Request(format!(
                "{unknown}; the number of a run is accepted too{more}"
            )))
        })
    }

    /// The title in tables.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Kernel(kernel) => kernel.name.clone(),
            Self::Run(past) => format!("{} of run {}", past.kernel.name, past.run.number),
            Self::Library(_) => LIBRARY.to_owned(),
        }
    }

    /// The run's number.
    pub(super) fn number(&self) -> Option<RunNumber> {
        match self {
            Self::Run(past) => Some(past.run.number),
            Self::Kernel(_) | Self::Library(_) => None,
        }
    }

    /// The work to evaluate; a library has none.
    fn work(&self, asked: &EvaluationInput) -> Result<Work, &Gemm> {
        match self {
            Self::Kernel(kernel) => Ok(asked.for_kernel(kernel).0),
            Self::Run(past) => Ok(Work {
                project: Arc::clone(&past.project),
                kernel: Arc::clone(&past.kernel),
                chosen: past.run.record.parameters.clone(),
                asked_by: AskedBy::Person,
            }),
            Self::Library(gemm) => Err(gemm),
        }
    }

    /// Differences between now and the recorded run; empty for other sides.
    pub(super) fn differences_since_run(
        &self,
        project: &Project,
        (run, chosen, compiler): (&Run, &ChosenDevice, &str),
    ) -> Vec<String> {
        let Self::Run(past) = self else { return Vec::new() };
        let record = &past.run.record;
        let mut differences = Vec::new();
        let mut differ = |what: &str, then: Option<&str>, now: Option<&str>| {
            if let (Some(then), Some(now)) = (then, now)
                && then != now
            {
                differences.push(format!("{what} {then} then, {now} now"));
            }
        };
        let version = |name| record.environment.versions.get(name).map(String::as_str);
        let gpu = chosen.gpu.as_ref();
        differ("device", Some(&record.device.title), Some(&chosen.title));
        differ("compiler", version("compiler"), Some(compiler));
        differ("driver", version("driver"), gpu.map(|gpu| gpu.identity.driver.as_str()));
        if record.definition.as_ref().is_some_and(|hash| *hash != definition_hash(project)) {
            differences.push("the project's definition has changed".to_owned());
        }
        let candidate = run.candidate.map(|hash| format!("{hash:#}"));
        if record.scope == Scope::Whole && candidate.is_some() && candidate != record.candidate {
            differences.push("its stored texts compile to a different candidate now".to_owned());
        }
        differences
    }
}

/// The pair that the engine compares.
pub(super) fn pair(
    [a, b]: &[Side; 2],
    asked: &EvaluationInput,
) -> Result<Pair<Work>, HistoryCommandError> {
    match (a.work(asked), b.work(asked)) {
        (Ok(a), Ok(b)) => Ok(Pair::Kernels([a, b])),
        (Ok(kernel), Err(gemm)) => Ok(Pair::KernelAndLibrary(kernel, gemm.clone())),
        (Err(gemm), Ok(kernel)) => Ok(Pair::LibraryAndKernel(gemm.clone(), kernel)),
        (Err(_), Err(_)) => Err(HistoryCommandError::Request(
            "at least one side must be a kernel or a run".to_owned(),
        )),
    }
}

/// Reads the run with this number, and its kernel from the stored texts.
fn read_run(
    session: &Session,
    project: &Project,
    number: RunNumber,
) -> Result<RecordedRun, HistoryCommandError> {
    let Some(OpenedHistory { store, .. }) = existing(session, &project.root)? else {
        return Err(HistoryError::NoSuchRun(number).into());
    };
    let run = store.run(number)?.ok_or(HistoryError::NoSuchRun(number))?;
    let restored = store.restore(project, &run.record);
    let (project, kernel) = restored.map_err(|lost| {
        HistoryCommandError::Request(format!("run {number} cannot be compiled again: {lost}"))
    })?;
    Ok(RecordedRun { run, project: Arc::new(project), kernel: Arc::new(kernel) })
}

/// The products by cuBLAS that a project names as baselines.
fn libraries(project: &Project) -> impl Iterator<Item = &Gemm> {
    project.definition.baselines.iter().filter_map(|baseline| match baseline {
        Baseline::CublasGemm(gemm) => Some(gemm),
        Baseline::Kernel(_) | Baseline::Pytorch(_) | Baseline::Recorded { .. } => None,
    })
}

/// The library with this name; `None` if there is no such library.
fn library(project: &Project, name: &str) -> Option<Result<Side, HistoryCommandError>> {
    if !name.eq_ignore_ascii_case(LIBRARY) {
        return None;
    }
    let title = &project.definition.title;
    let gemm = libraries(project).next().ok_or_else(|| {
        HistoryCommandError::Request(format!(
            "`{title}` has no {LIBRARY} baseline; docs/project-format.md describes how to add one"
        ))
    });
    Some(gemm.map(|gemm| Side::Library(gemm.clone())))
}
