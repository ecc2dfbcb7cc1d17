//! The compilations of an evaluation: each distinct job once, several in parallel.

use std::collections::BTreeMap;

use lightbench_primitives::cancellation::Cancellation;

use super::Evaluation;
use crate::compile::compiler::BatchJob;
use crate::compile::error::CompileError;
use crate::compile::facts::{Facts, FactsError, Prepared, Setting};
use crate::compile::job::Build;
use crate::compile::{Compiled, Compiler};
use crate::project::workload::Workload;
use crate::project::{Kernel, Purpose};
use crate::verify::device_session::Side;
use crate::worker::pool::FollowingWork;

/// Numbers of multiprocessors for which launches are planned a second time. A grid of `device.sms / 2` has no block on one.
const FEW_MULTIPROCESSORS: [u32; 3] = [1, 2, 4];

/// Sides of each candidate and workload: those of kernels, then one for each of these numbers.
const SIDES_OF_KERNELS: usize = 3;
const SIDES: usize = SIDES_OF_KERNELS + FEW_MULTIPROCESSORS.len();

static NOTHING_CHOSEN: BTreeMap<String, i64> = BTreeMap::new();

/// The compilations that the candidate and the reference of several workloads need, with their results.
#[derive(Debug)]
pub(super) struct Compilations<'a> {
    /// For each candidate and workload: the candidate, the reference, the f32 reference, and the candidate planned for few
    /// multiprocessors; `None` once its facts are taken.
    sides: Vec<Option<Result<Prepared<'a>, FactsError>>>,
    /// The index of each compilation, if there is one.
    jobs: Vec<Option<usize>>,
    compiled: Vec<Attempt>,
    workloads: usize,
}

/// The result of one compilation.
#[derive(Debug)]
enum Attempt {
    /// Cancelled, or an earlier failure is reported first.
    NotBegun,
    Done(Box<Compiled>),
    Failed(CompileError),
    /// The compilation failed, and its error was reported.
    AlreadyReported,
}

/// Why there are no facts.
#[derive(Debug)]
pub(super) enum NoFacts {
    /// The error.
    Because(FactsError),
    /// The same compilation failed for another workload, which reported the error.
    AlreadyReported,
}

impl<'a> Compilations<'a> {
    /// Compiles everything; for a single candidate, stops when the compilation of a visible workload fails. Launches for few
    /// multiprocessors are planned only where the candidates are verified.
    pub(super) fn new(
        evaluations: &[Evaluation<'a>],
        (workloads, twin, verifies): (&[&'a Workload], Option<&'a Kernel>, bool),
        compiler: &mut Compiler,
        cancellation: &Cancellation,
    ) -> Self {
        let alone = evaluations.len() == 1;
        // In the order in which facts are taken: the first failure in this order is reported.
        let mut sides = Vec::new();
        for evaluation in evaluations {
            for workload in workloads {
                let purpose = workload.purpose;
                // A reference in Python is not compiled.
                let reference = evaluation.project.reference.kernel();
                let prepare = |kernel, few| prepare(evaluation, kernel, workload, few);
                for kernel in [Some(evaluation.kernel), reference] {
                    let on_failure =
                        if alone { afterwards(purpose) } else { FollowingWork::Continue };
                    sides.push((on_failure, kernel.map(|kernel| prepare(kernel, None))));
                }
                // A reference without a twin is no reason to end anything, and neither is a launch that needs more
                // multiprocessors.
                let twin = twin.filter(|_| purpose == Purpose::Verify).or(reference);
                let others = [twin.map(|kernel| prepare(kernel, None))];
                let few = FEW_MULTIPROCESSORS.map(|count| {
                    let is_verified = verifies && purpose == Purpose::Verify;
                    (is_verified && depends(evaluation.kernel))
                        .then(|| prepare(evaluation.kernel, Some(count)))
                });
                let others = others.into_iter().chain(few);
                sides.extend(others.map(|prepared| (FollowingWork::Continue, prepared)));
            }
        }
        let mut orders: Vec<BatchJob<'_>> = Vec::new();
        let mut jobs = Vec::new();
        for (on_failure, prepared) in &sides {
            let Some(Ok(prepared)) = prepared else {
                jobs.push(None);
                continue;
            };
            let known = orders.iter().position(|order| order.job == prepared.job());
            jobs.push(Some(known.unwrap_or(orders.len())));
            if known.is_none() {
                orders.push(BatchJob {
                    job: prepared.job(),
                    limit: prepared.limit(),
                    on_failure: *on_failure,
                });
            }
        }
        let compiled = compiler.compile_all(&orders, cancellation);
        let compiled = compiled.into_iter().map(|outcome| match outcome {
            None => Attempt::NotBegun,
            Some(Ok(compiled)) => Attempt::Done(Box::new(compiled)),
            Some(Err(error)) => Attempt::Failed(error),
        });
        let compiled = compiled.collect();
        let sides = sides.into_iter().map(|(_, side)| side).collect();
        Self { sides, jobs, compiled, workloads: workloads.len() }
    }

    /// The compile facts of one side of a candidate's workload.
    pub(super) fn facts(
        &mut self,
        (candidate, workload): (usize, usize),
        side: Side,
    ) -> Result<Facts, NoFacts> {
        let pair = candidate * self.workloads + workload;
        let index = match side {
            Side::Candidate => SIDES * pair,
            Side::Reference => SIDES * pair + 1,
        };
        self.of_index(index)
    }

    /// The compile facts of the f32 reference.
    pub(super) fn twin(&mut self, (candidate, workload): (usize, usize)) -> Result<Facts, NoFacts> {
        self.of_index(SIDES * (candidate * self.workloads + workload) + 2)
    }

    /// The compile facts of a candidate whose launches are planned for few multiprocessors, with their number: the fewest
    /// for which there is a plan. `Ok(None)`: its launches depend on no number of multiprocessors.
    pub(super) fn few_multiprocessors(
        &mut self,
        (candidate, workload): (usize, usize),
    ) -> Result<Option<(u32, Facts)>, NoFacts> {
        let first = SIDES * (candidate * self.workloads + workload) + SIDES_OF_KERNELS;
        let mut last = None;
        for (index, count) in (first..).zip(FEW_MULTIPROCESSORS) {
            if self.sides.get(index).is_none_or(Option::is_none) {
                return Ok(None);
            }
            match self.of_index(index) {
                Ok(facts) => return Ok(Some((count, facts))),
                Err(error) => last = Some(error),
            }
        }
        last.map_or(Ok(None), Err)
    }

    fn of_index(&mut self, index: usize) -> Result<Facts, NoFacts> {
        let prepared =
            self.sides.get_mut(index).and_then(Option::take).ok_or(NoFacts::AlreadyReported)?;
        let prepared = prepared.map_err(NoFacts::Because)?;
        let job = self.jobs.get(index).copied().flatten().ok_or(NoFacts::AlreadyReported)?;
        let compiled = self.compiled.get_mut(job).ok_or(NoFacts::AlreadyReported)?.take()?;
        prepared.facts(compiled).map_err(NoFacts::Because)
    }
}

impl Attempt {
    fn take(&mut self) -> Result<Compiled, NoFacts> {
        match self {
            Self::Done(compiled) => return Ok(compiled.as_ref().clone()),
            Self::NotBegun => return Err(NoFacts::Because(CompileError::Cancelled.into())),
            Self::AlreadyReported | Self::Failed(_) => {}
        }
        match std::mem::replace(self, Self::AlreadyReported) {
            Self::Failed(error) => Err(NoFacts::Because(error.into())),
            Self::NotBegun | Self::Done(_) | Self::AlreadyReported => Err(NoFacts::AlreadyReported),
        }
    }
}

/// Whether launches of a kernel may depend on the number of multiprocessors.
fn depends(kernel: &Kernel) -> bool {
    kernel.source.contains("device.sms")
}

fn prepare<'a>(
    evaluation: &Evaluation<'a>,
    kernel: &'a Kernel,
    workload: &'a Workload,
    multiprocessors: Option<u32>,
) -> Result<Prepared<'a>, FactsError> {
    let Evaluation { project, chosen, sheet, .. } = *evaluation;
    let is_candidate = kernel.name == evaluation.kernel.name;
    let chosen = if is_candidate { chosen } else { &NOTHING_CHOSEN };
    let build = Build::Optimised;
    let setting = Setting { project, workload, chosen, sheet, multiprocessors, build };
    Prepared::new(kernel, &setting)
}

fn afterwards(purpose: Purpose) -> FollowingWork {
    match purpose {
        Purpose::Verify | Purpose::Measure => FollowingWork::Cancel,
        // A verdict about visible workloads comes first.
        Purpose::HeldOut => FollowingWork::Continue,
    }
}
