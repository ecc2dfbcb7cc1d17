//! What the user named to compare: a kernel, a run of the history, or a library that the project names as a baseline.

use std::sync::Arc;

use lightbench_core::engine::{AskedBy, Work};
use lightbench_core::evaluate::Run;
use lightbench_core::evaluate::compare::Pair;
use lightbench_core::history::record::{Scope, definition_hash};
use lightbench_core::history::{HistoryError, Opened, RunNumber, StoredRun};
use lightbench_core::project::library::{Gemm, Library};
use lightbench_core::project::policy::Baseline;
use lightbench_core::project::{Kernel, Project};

use crate::commands::bench::Chosen;
use crate::commands::history::{Refused, existing};
use crate::commands::run::Asked;
use crate::session::Session;

/// One of the two that are compared.
pub(super) enum Side {
    /// A kernel as its file is.
    Kernel(Box<Kernel>),
    /// A run, whose kernel is made again of the texts that it had.
    Run(Box<Past>),
    /// A library.
    Library(Gemm),
}

/// A run of the history.
pub(super) struct Past {
    run: StoredRun,
    project: Arc<Project>,
    kernel: Arc<Kernel>,
}

/// What cuBLAS is called wherever it is named.
pub(super) const LIBRARY: &str = "cuBLAS";

impl Side {
    /// What somebody means by a name: a kernel first, then a run's number, then a library.
    pub(super) fn named(session: &Session, project: &Project, name: &str) -> Result<Self, Refused> {
        let unknown = match project.kernel(name) {
            Ok(kernel) if kernel.name == project.reference.name => {
                let text = "both sides are held against the reference; name two kernels";
                return Err(Refused::Request(text.to_owned()));
            }
            Ok(kernel) => return Ok(Self::Kernel(Box::new(kernel.clone()))),
            Err(unknown) => unknown,
        };
        if let Ok(number) = name.parse() {
            return past(session, project, RunNumber(number)).map(|past| Self::Run(Box::new(past)));
        }
        library(project, name).unwrap_or_else(|| {
            let libraries = libraries(project).map(|library| format!(", or {}", library.name()));
            let more = libraries.collect::<String>();
            Err(Refused::Request(format!("{unknown}; the number of a run is taken too{more}")))
        })
    }

    /// What it is called in a table.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Kernel(kernel) => kernel.name.clone(),
            Self::Run(past) => format!("{} of run {}", past.kernel.name, past.run.number),
            Self::Library(_) => LIBRARY.to_owned(),
        }
    }

    /// The run that it is.
    pub(super) fn number(&self) -> Option<RunNumber> {
        match self {
            Self::Run(past) => Some(past.run.number),
            Self::Kernel(_) | Self::Library(_) => None,
        }
    }

    /// What is to be evaluated; nothing of a library.
    fn work(&self, asked: &Asked) -> Result<Work, &Gemm> {
        match self {
            Self::Kernel(kernel) => Ok(asked.of(kernel).0),
            Self::Run(past) => Ok(Work {
                project: Arc::clone(&past.project),
                kernel: Arc::clone(&past.kernel),
                chosen: past.run.record.parameters.clone(),
                asked_by: AskedBy::Person,
            }),
            Self::Library(gemm) => Err(gemm),
        }
    }

    /// What is not as it was when the run was made; nothing of others.
    pub(super) fn since(
        &self,
        project: &Project,
        (run, chosen, compiler): (&Run, &Chosen, &str),
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
            differences.push("the project asks for something else now".to_owned());
        }
        let candidate = run.candidate.map(|hash| format!("{hash:#}"));
        if record.scope == Scope::Whole && candidate.is_some() && candidate != record.candidate {
            differences.push("its texts make another candidate now".to_owned());
        }
        differences
    }
}

/// What the engine is to hold against each other.
pub(super) fn pair([a, b]: &[Side; 2], asked: &Asked) -> Result<Pair<Work>, Refused> {
    match (a.work(asked), b.work(asked)) {
        (Ok(a), Ok(b)) => Ok(Pair::Kernels([a, b])),
        (Ok(kernel), Err(gemm)) => Ok(Pair::KernelAndLibrary(kernel, gemm.clone())),
        (Err(gemm), Ok(kernel)) => Ok(Pair::LibraryAndKernel(gemm.clone(), kernel)),
        (Err(_), Err(_)) => {
            Err(Refused::Request("one of the two is to be a kernel or a run".to_owned()))
        }
    }
}

/// The run of that number, with its kernel as it was.
fn past(session: &Session, project: &Project, number: RunNumber) -> Result<Past, Refused> {
    let Some(Opened { store, .. }) = existing(session, &project.root)? else {
        return Err(HistoryError::NoSuchRun(number).into());
    };
    let run = store.run(number)?.ok_or(HistoryError::NoSuchRun(number))?;
    let restored = store.restored(project, &run.record);
    let (project, kernel) = restored
        .map_err(|lost| Refused::Request(format!("run {number} cannot be repeated: {lost}")))?;
    Ok(Past { run, project: Arc::new(project), kernel: Arc::new(kernel) })
}

/// The libraries that a project names.
fn libraries(project: &Project) -> impl Iterator<Item = &Library> {
    project.definition.baselines.iter().filter_map(|baseline| match baseline {
        Baseline::Library(library) => Some(library),
        Baseline::Kernel(_) | Baseline::UserCommand(_) | Baseline::Recorded { .. } => None,
    })
}

/// The library of that name; nothing if no library is called so.
fn library(project: &Project, name: &str) -> Option<Result<Side, Refused>> {
    let is_meant = |library: &&Library| library.name().eq_ignore_ascii_case(name);
    let refused = match libraries(project).find(is_meant) {
        Some(Library::CublasGemm(gemm)) => return Some(Ok(Side::Library(gemm.clone()))),
        Some(other @ (Library::Cub | Library::Cudnn)) => {
            format!("Lightbench has no runner for {}", other.name())
        }
        None if name.eq_ignore_ascii_case(LIBRARY) => {
            let title = &project.definition.title;
            format!(
                "`{title}` names no {LIBRARY} among its baselines; docs/project-format.md says how a project does"
            )
        }
        None => return None,
    };
    Some(Err(Refused::Request(refused)))
}
