//! Compiles a kernel and its reference for every workload that will run.

mod attribution;
mod whole_domain;

use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::element;
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_tensors::case::Case;

use super::compilations::{Compilations, NoFacts};
use super::scalar_variations::{self, VariedWorkload};
use super::wide_index_workload::WideIndexWorkload;
use super::{Evaluation, PolicyUse, f32_reference, long_reduction};
use crate::compile::Compiler;
use crate::compile::error::CompileError;
use crate::compile::facts::{Facts, FactsError};
use crate::compile::occupancy::Occupancy;
use crate::device::{DeviceName, LocalDevice};
use crate::project::candidate::CandidateHash;
use crate::project::manifest::OperationKind;
use crate::project::workload::Workload;
use crate::project::{Definition, Purpose, Reference};
use crate::speed_of_light::code_mix::CodeMix;
use crate::units::Bytes;
use crate::verify::compiled_candidate::{
    CompiledCandidate, CompiledReference, CompiledWorkload, Extent, Origins,
};
use crate::verify::device_session::{ModuleImage, Side};
use crate::verify::evidence::{self, Found, Provenance};
use crate::verify::not_judged::NotJudged;
use crate::verify::program::Program;
use crate::verify::reference_source::{Precision, PythonCall, ReferenceSource};
use crate::verify::verdict::{Failure, NotRun, Refused, TimingUse, Wrong};
use crate::verify::verification::Stop;
use attribution::{of_candidate, of_program, of_reference};
use whole_domain::{small_workloads, varied_workloads};

/// The largest work of a workload on a virtual device, in operations and words moved: seconds, not minutes.
const VIRTUAL_WORK: f64 = 33_554_432.0;

/// The largest size of all tensors of a workload on a virtual device, in bytes.
const VIRTUAL_BYTES: u64 = 256 << 20;

/// Compiling the harness kernels takes a second.
const TRUSTED_LIMIT: Duration = Duration::from_secs(60);

/// The subject, or why the candidate is not run at all.
pub(super) fn build(
    evaluation: &Evaluation<'_>,
    scope: Scope,
    compiler: &mut Compiler,
    cancellation: &Cancellation,
    candidate: &mut Option<CandidateHash>,
) -> Result<CompiledCandidate, Stop> {
    let alone = std::slice::from_ref(evaluation);
    let built = build_all(alone, scope, compiler, cancellation)?.into_iter().next();
    let nothing = || Stop::Request("no workload is selected for building".to_owned());
    let (found, subject) = built.ok_or_else(nothing)?;
    *candidate = found;
    subject
}

/// A compiled candidate with its hash.
pub(super) type Built = (Option<CandidateHash>, Result<CompiledCandidate, Stop>);

/// Builds several candidates of one project and device; all are compiled before the first is checked.
pub(super) fn build_all(
    evaluations: &[Evaluation<'_>],
    scope: Scope,
    compiler: &mut Compiler,
    cancellation: &Cancellation,
) -> Result<Vec<Built>, Stop> {
    let Some(first) = evaluations.first() else { return Ok(Vec::new()) };
    let (fit, not_run) = fit(first, scope)?;
    let (twin, varied, far) = match scope {
        Scope::Everything => {
            let definition = &first.project.definition;
            let small = small_workloads(&fit);
            let mut varied = scalar_variations::scalar_variations(
                definition,
                &varied_workloads(&small),
                first.seed,
            );
            varied.extend(long_reduction::find(definition, &small, least_work));
            let twin = first.project.reference.kernel().and_then(|kernel| {
                f32_reference::narrowed_reference(kernel, definition.subnormals)
            });
            (twin, varied, WideIndexWorkload::find(first, &small))
        }
        Scope::Screening => (None, Vec::new(), WideIndexWorkload::NotPermitted),
    };
    let others = varied.iter().map(|varied| &varied.workload).chain(far.workload());
    let all: Vec<&Workload> = fit.iter().copied().chain(others).collect();
    let trusted = match first.device.local {
        LocalDevice::Cuda(_) => Some(trusted(first, compiler, cancellation)?),
        LocalDevice::Virtual(_) => None,
    };
    let verifies = scope == Scope::Everything;
    let mut compiles =
        Compilations::new(evaluations, (&all, twin.as_ref(), verifies), compiler, cancellation);
    let each = evaluations.iter().enumerate().map(|(index, evaluation)| {
        let mut builder = Builder {
            evaluation,
            index,
            compiles: &mut compiles,
            has_twin: twin.is_some(),
            candidate: Modules::default(),
            reference: Modules::default(),
            evidence: Vec::new(),
        };
        let empty = CompiledCandidate {
            candidate: Vec::new(),
            preceding_modules: 0,
            origins: Vec::new(),
            reference: CompiledReference::Modules(Vec::new()),
            harness_kernels: trusted.clone(),
            workloads: Vec::new(),
            varied: Vec::new(),
            on_few_multiprocessors: Vec::new(),
            not_varied: Vec::new(),
            large_indices: None,
            measured: Vec::new(),
            held_out: Vec::new(),
            not_run: not_run.clone(),
            evidence: Vec::new(),
            limits: evaluation.project.definition.limits,
            block_order: evaluation.project.definition.block_order,
        };
        let subject = builder.subject(&fit, (&varied, &far), empty);
        (builder.candidate.hashes.first().copied(), subject)
    });
    Ok(each.collect())
}

/// The harness kernels for a GPU. If they do not compile, Lightbench or the machine is at fault.
fn trusted(
    evaluation: &Evaluation<'_>,
    compiler: &mut Compiler,
    cancellation: &Cancellation,
) -> Result<ModuleImage, Stop> {
    let job = crate::verify::harness_kernels::job(evaluation.sheet.capability.compute_capability);
    let artifact = match compiler.compile(&job, TRUSTED_LIMIT, cancellation) {
        Ok(compiled) => compiled.artifact,
        Err(CompileError::Cancelled) => return Err(NotJudged::Cancelled.into()),
        Err(error) => return Err(Stop::Broken(format!("the comparison kernels: {error}"))),
    };
    Ok(ModuleImage { ptx: artifact.ptx, cubin: artifact.cubin })
}

/// The workloads of a project that are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Every requested workload that runs on the device.
    Everything,
    /// The workloads for screening: the timed ones and, if these run only in a model, the first one too.
    Screening,
}

/// The workloads to build for, and those that will not run.
fn fit<'a>(
    evaluation: &Evaluation<'a>,
    scope: Scope,
) -> Result<(Vec<&'a Workload>, Vec<NotRun>), Stop> {
    let (mut fit, mut not_run) = (Vec::new(), Vec::new());
    for workload in selected(evaluation, scope)? {
        if workload.purpose == Purpose::Measure && evaluation.timing == TimingUse::Skip {
            continue;
        }
        match unfit(evaluation.device, workload) {
            None => fit.push(workload),
            Some(reason) => {
                let held_out = workload.purpose == Purpose::HeldOut;
                let name = (!held_out).then(|| workload.name.clone());
                not_run.push(NotRun { workload: name, reason });
            }
        }
    }
    match scope {
        Scope::Everything => {}
        Scope::Screening => {
            let runs = |workload: &&Workload| match workload.purpose {
                Purpose::Verify => true,
                Purpose::Measure => matches!(evaluation.device.local, LocalDevice::Cuda(_)),
                Purpose::HeldOut => false,
            };
            let timed_for_real =
                fit.iter().any(|each| each.purpose == Purpose::Measure && runs(each));
            let first = fit.iter().position(|each| !timed_for_real && runs(each));
            let mut index = 0..;
            fit.retain(|each| index.next() == first || each.purpose == Purpose::Measure);
        }
    }
    Ok((fit, not_run))
}

/// The requested workloads, visible ones first.
fn selected<'a>(evaluation: &Evaluation<'a>, scope: Scope) -> Result<Vec<&'a Workload>, Stop> {
    let project = evaluation.project;
    let of = |purpose| project.workloads.iter().filter(move |each| each.purpose == purpose);
    if let Some(name) = evaluation.workload {
        let workload = project.workload(name).map_err(|error| Stop::Request(error.to_string()))?;
        return match workload.purpose {
            Purpose::HeldOut => Err(Stop::Request(format!(
                "`{name}` is held out: it runs only together with all other workloads, and its only published result is passed or failed"
            ))),
            // Timed in a model, it needs another one to be right on.
            Purpose::Measure if scope == Scope::Screening => {
                Ok(of(Purpose::Verify).chain([workload]).collect())
            }
            Purpose::Verify | Purpose::Measure => Ok(vec![workload]),
        };
    }
    Ok(of(Purpose::Verify).chain(of(Purpose::Measure)).chain(of(Purpose::HeldOut)).collect())
}

/// The reason why a workload does not run on a device; `None` if it does.
fn unfit(device: &DeviceName, workload: &Workload) -> Option<String> {
    match (device.local, workload.purpose) {
        (LocalDevice::Cuda(_), _) => None,
        // Blocks of them are sampled where they are too large.
        (LocalDevice::Virtual(_), Purpose::Measure | Purpose::HeldOut) => None,
        (LocalDevice::Virtual(_), Purpose::Verify) => match extent(workload) {
            Extent::Small => None,
            Extent::Large => Some("too large for a virtual device".to_owned()),
        },
    }
}

fn extent(workload: &Workload) -> Extent {
    let bytes: u64 = workload.extents.iter().map(|extent| extent.bytes).sum();
    let too_large = bytes > VIRTUAL_BYTES || least_work(workload) > VIRTUAL_WORK;
    if too_large { Extent::Large } else { Extent::Small }
}

/// The reason why tensors and scratch memory of a workload exceed the project's limit or the device memory; `None` if they
/// fit.
fn too_large(needed: u64, allowed: u64, room: Option<Bytes>) -> Option<String> {
    if needed > allowed {
        return Some(format!("{needed} bytes of device memory; the project allows {allowed}"));
    }
    let Bytes(room) = room?;
    (needed > room).then(|| format!("{needed} bytes of device memory; the device has {room}"))
}

/// Operations and words moved.
fn least_work(workload: &Workload) -> f64 {
    let operations: f64 = workload.work.operations.iter().map(|(_, count)| count).sum();
    operations + workload.work.bytes / 4.0
}

/// Modules, each once.
#[derive(Default)]
struct Modules {
    hashes: Vec<CandidateHash>,
    images: Vec<ModuleImage>,
    origins: Vec<Origins>,
}

impl Modules {
    /// The index of the compiled module, and whether it is new.
    fn index(&mut self, facts: &Facts) -> (usize, bool) {
        let hash = facts.candidate.hash;
        if let Some(known) = self.hashes.iter().position(|known| *known == hash) {
            return (known, false);
        }
        self.hashes.push(hash);
        let (ptx, cubin) = (facts.artifact.ptx.clone(), facts.artifact.cubin.clone());
        self.images.push(ModuleImage { ptx, cubin });
        self.origins.push(Origins::from_facts(facts));
        (self.hashes.len() - 1, true)
    }
}

struct Builder<'a, 'b> {
    evaluation: &'b Evaluation<'a>,
    /// The index of the candidate.
    index: usize,
    compiles: &'b mut Compilations<'a>,
    candidate: Modules,
    reference: Modules,
    evidence: Vec<Found>,
    /// The f32 variant of the reference, if there is one.
    has_twin: bool,
}

impl Builder<'_, '_> {
    /// Fills a subject.
    fn subject(
        &mut self,
        fit: &[&Workload],
        (varied, far): (&[VariedWorkload], &WideIndexWorkload),
        mut subject: CompiledCandidate,
    ) -> Result<CompiledCandidate, Stop> {
        self.keeps_subnormals()?;
        for (index, workload) in fit.iter().enumerate() {
            let trial = self.trial(index, workload);
            match (workload.purpose, trial) {
                (Purpose::Verify, trial) => {
                    let trial = trial?;
                    self.on_few_multiprocessors(index, &trial, &mut subject)?;
                    subject.workloads.push(trial);
                }
                (Purpose::Measure, trial) => subject.measured.push(trial?),
                (Purpose::HeldOut, Ok(trial)) => subject.held_out.push(Some(trial)),
                (Purpose::HeldOut, Err(Stop::NotJudged(reason))) => return Err(reason.into()),
                (Purpose::HeldOut, Err(Stop::Failure(_))) => subject.held_out.push(None),
                (Purpose::HeldOut, Err(_)) => {
                    let message = "a held-out workload could not be built";
                    return Err(Stop::Broken(message.to_owned()));
                }
            }
        }
        for (index, varied) in (fit.len()..).zip(varied) {
            self.vary(index, varied, &mut subject)?;
        }
        self.reach(fit.len() + varied.len(), far, &mut subject)?;
        let measured_in_earnest = matches!(self.evaluation.device.local, LocalDevice::Cuda(_));
        if subject.workloads.is_empty() && (subject.measured.is_empty() || !measured_in_earnest) {
            return Err(Stop::Request(self.nothing_to_verify()));
        }
        subject.candidate = std::mem::take(&mut self.candidate.images);
        subject.origins = std::mem::take(&mut self.candidate.origins);
        subject.reference = match &self.evaluation.project.reference {
            Reference::Kernel(_) => {
                CompiledReference::Modules(std::mem::take(&mut self.reference.images))
            }
            Reference::Python(python) => CompiledReference::Python(python.clone()),
        };
        subject.evidence = std::mem::take(&mut self.evidence);
        Ok(subject)
    }

    /// The reason why no verdict is possible: only verified kernels are timed, and only small workloads run completely on
    /// this device.
    fn nothing_to_verify(&self) -> String {
        let Evaluation { project, device, workload: only, .. } = *self.evaluation;
        let verified = project.workloads.iter().filter(|each| each.purpose == Purpose::Verify);
        let names: Vec<&str> = verified.map(|each| each.name.as_str()).collect();
        let names = names.join(", ");
        match only {
            Some(name) => format!(
                "the workload `{name}` is not one to verify, and on {device} nothing else says whether a kernel is right: only \
                 those are run whole there; leave `--workload` out, or name one of {names}"
            ),
            None => {
                format!("no workload of the project runs on {device}; those to verify are {names}")
            }
        }
    }

    fn trial(&mut self, index: usize, workload: &Workload) -> Result<CompiledWorkload, Stop> {
        let Evaluation { project, kernel, .. } = *self.evaluation;
        let definition = &project.definition;
        let candidate = self
            .compiles
            .facts((self.index, index), Side::Candidate)
            .map_err(|missing| because(missing, of_candidate))
            .map_err(|stop| without_sizes(workload.purpose, stop))?;
        permitted(&candidate, workload)?;
        let (module, is_new) = self.candidate.index(&candidate);
        if is_new {
            self.look(&candidate)?;
        }
        let program = Program::from_facts(module, definition, kernel, &candidate)
            .map_err(|error| of_program(&error))?;
        let exact = match &project.reference {
            Reference::Kernel(kernel) => {
                let facts = self.compiles.facts((self.index, index), Side::Reference);
                let facts =
                    facts.map_err(|missing| because(missing, |error| of_reference(&error)))?;
                let (module, _) = self.reference.index(&facts);
                let program = Program::from_facts(module, definition, kernel, &facts)
                    .map_err(|error| Stop::Broken(format!("the reference: {error}")))?;
                ReferenceSource::Program(program)
            }
            Reference::Python(_) => {
                ReferenceSource::Python(python_call(definition, workload, Precision::Exact))
            }
        };
        let case =
            Case::new(definition, workload).map_err(|error| Stop::Broken(error.to_string()))?;
        let admission = self.admission(index, workload)?;
        let as_written = self.reference_as_written(workload);
        let kinds = workload.work.operations.iter().map(|(kind, _)| *kind);
        let symbols: Vec<&str> =
            candidate.launches.iter().map(|launch| launch.kernel.symbol.as_str()).collect();
        let code = CodeMix::from_ptx(&candidate.artifact.ptx, &symbols);
        let trial = CompiledWorkload {
            case,
            candidate: program,
            reference: exact,
            work: least_work(workload),
            extent: extent(workload),
            admission,
            as_written,
            summation: definition.summation,
            code,
            launches: candidate.launches,
            adds_and_multiplies: kinds.clone().count() > 0 && kinds.into_iter().all(is_exact),
        };
        let room = match self.evaluation.device.local {
            LocalDevice::Cuda(_) => self.evaluation.sheet.dram.get(),
            // A virtual device uses host memory, and reports when it is insufficient.
            LocalDevice::Virtual(_) => None,
        };
        match too_large(trial.bytes(), definition.limits.device_bytes, room) {
            None => Ok(trial),
            Some(reason) => {
                let message = format!("workload `{}`: {reason}", workload.name);
                Err(Failure::Refused(Refused::Memory(message)).into())
            }
        }
    }

    /// Static evidence of the code.
    fn look(&mut self, facts: &Facts) -> Result<(), Stop> {
        let entries: Vec<&str> =
            facts.launches.iter().map(|launch| launch.kernel.symbol.as_str()).collect();
        let provenance = Provenance::from_candidate(&facts.candidate);
        let found = evidence::find(&facts.artifact.ptx, &entries, &provenance)
            .map_err(|error| Failure::Refused(Refused::Load(error.to_string())))?;
        let policy = &self.evaluation.project.definition.policy;
        let refused: Vec<Found> = evidence::refusals(&found, policy).cloned().collect();
        if self.evaluation.policy == PolicyUse::Refuse && !refused.is_empty() {
            return Err(Failure::Refused(Refused::Evidence(refused)).into());
        }
        for each in found {
            if !self.evidence.contains(&each) {
                self.evidence.push(each);
            }
        }
        Ok(())
    }
}

/// A call of a Python reference with the axes and scalars of a workload; scalars have the precision of their type.
pub(super) fn python_call(
    definition: &Definition,
    workload: &Workload,
    precision: Precision,
) -> PythonCall {
    let axes = definition.axes.iter().zip(&workload.axes);
    let axes = axes.map(|(axis, value)| (axis.name.clone(), ScalarValue::Integer((*value).into())));
    let scalars = definition.scalars.iter().zip(&workload.scalars);
    let scalars =
        scalars.map(|(scalar, value)| (scalar.name.clone(), rounded(scalar.dtype, *value)));
    PythonCall { precision, values: axes.chain(scalars).collect() }
}

/// The value that a kernel gets.
fn rounded(dtype: Dtype, value: ScalarValue) -> ScalarValue {
    match value {
        ScalarValue::Real(real) => {
            ScalarValue::Real(element::real(dtype, element::nearest(dtype, real)))
        }
        value @ (ScalarValue::Boolean(_) | ScalarValue::Integer(_)) => value,
    }
}

/// Whether results can be exact: sums and products of integers are, if they are small.
fn is_exact(kind: OperationKind) -> bool {
    match kind {
        OperationKind::Arithmetic | OperationKind::Contraction => true,
        OperationKind::Special | OperationKind::Integer | OperationKind::Compare => false,
    }
}

fn because(missing: NoFacts, whose: impl FnOnce(FactsError) -> Stop) -> Stop {
    match missing {
        NoFacts::Because(error) => whose(error),
        // The message must not reveal more than one bit about held-out workloads.
        NoFacts::AlreadyReported => Failure::Wrong(Box::new(Wrong::HeldOut)).into(),
    }
}

/// Why a candidate stops at a workload, without the numbers in a request where the workload is held out: that a plan fails
/// for its sizes is the same bit as that results are wrong for them.
fn without_sizes(purpose: Purpose, stop: Stop) -> Stop {
    match (purpose, stop) {
        (Purpose::HeldOut, Stop::Request(_)) => Failure::Wrong(Box::new(Wrong::HeldOut)).into(),
        (Purpose::HeldOut | Purpose::Verify | Purpose::Measure, stop) => stop,
    }
}

/// The failure of a candidate that was compiled for one workload; none if it can run, or if its compilation shows nothing
/// about it.
#[must_use]
pub fn compile_failure(
    compiled: Result<Facts, FactsError>,
    workload: &Workload,
) -> Option<Failure> {
    match compiled.map_err(of_candidate).and_then(|facts| permitted(&facts, workload)) {
        Err(Stop::Failure(failure)) => Some(failure),
        Ok(()) | Err(_) => None,
    }
}

/// Whether the compiled kernels and the device permit the launches.
fn permitted(facts: &Facts, workload: &Workload) -> Result<(), Stop> {
    let mut problems = Vec::new();
    for launch in &facts.launches {
        problems.extend(launch.problems.iter().map(ToString::to_string));
        if let Some(Occupancy::CannotLaunch(obstacles)) = &launch.occupancy {
            problems.extend(obstacles.iter().map(ToString::to_string));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let workload = workload.name.clone();
    Err(Failure::Refused(Refused::Launch { workload, problems }).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::expression::{ExpressionError, Reason};
    use crate::project::launch::plan::PlanError;

    #[test]
    fn what_finds_no_room_is_refused_with_what_it_needs_and_what_there_is() {
        let check = |needed, allowed, room: Option<u64>, expected: Option<&str>| {
            assert_eq!(too_large(needed, allowed, room.map(Bytes)).as_deref(), expected);
        };
        check(100, 100, Some(100), None);
        check(100, 100, None, None);
        check(101, 200, Some(100), Some("101 bytes of device memory; the device has 100"));
        check(101, 100, Some(200), Some("101 bytes of device memory; the project allows 100"));
    }

    /// Whether the message of a reason can contain a number computed from sizes. Every new reason must be classified here.
    const fn carries_sizes(reason: &Reason) -> bool {
        match reason {
            Reason::DivisionByZero { .. }
            | Reason::Inexact { .. }
            | Reason::Overflow { .. }
            | Reason::BadExponent { .. }
            | Reason::OutOfDomain { .. } => true,
            Reason::Empty
            | Reason::TooLong { .. }
            | Reason::TooDeep
            | Reason::UnexpectedCharacter(_)
            | Reason::ForeignOperator { .. }
            | Reason::NumberTooLarge
            | Reason::NumberWithLetters
            | Reason::UnclosedText
            | Reason::UnexpectedEnd { .. }
            | Reason::Unexpected { .. }
            | Reason::ChainedComparison
            | Reason::UnknownFunction { .. }
            | Reason::WrongArgumentCount { .. }
            | Reason::UnknownName { .. }
            | Reason::DeviceFactHere { .. }
            | Reason::OccupancyHere
            | Reason::UnknownKernel { .. }
            | Reason::RealName { .. }
            | Reason::DecimalHere
            | Reason::RealFunctionHere { .. }
            | Reason::WrongKind { .. }
            | Reason::NoValue { .. }
            | Reason::NoOccupancy { .. } => false,
        }
    }

    #[test]
    fn a_plan_that_fails_for_a_held_out_workload_is_one_bit() {
        let reasons = [
            Reason::DivisionByZero { left: "104729".to_owned(), operator: "//" },
            Reason::Inexact { left: 104_729, right: 2 },
            Reason::Overflow { left: "104729".to_owned(), operator: "*", right: "8".to_owned() },
            Reason::BadExponent { exponent: 104_729 },
            Reason::OutOfDomain { function: "log2", value: "-104729".to_owned() },
        ];
        let expressions = reasons.map(|reason| {
            assert!(carries_sizes(&reason), "{reason}");
            let error = ExpressionError { span: 0..1, reason };
            PlanError::Expression { text: "rows".to_owned(), error }
        });
        let out_of_range = PlanError::OutOfRange {
            field: "grid",
            text: "rows".to_owned(),
            found: "104729".to_owned(),
            expected: "from 1 to 65535".to_owned(),
        };
        for error in expressions.into_iter().chain([out_of_range]) {
            let stop = |purpose| {
                without_sizes(purpose, of_candidate(FactsError::Plan(Box::new(error.clone()))))
            };
            let hidden = stop(Purpose::HeldOut);
            let is_one_bit = |stop: &Stop| matches!(stop, Stop::Failure(Failure::Wrong(wrong)) if matches!(**wrong, Wrong::HeldOut));
            assert!(is_one_bit(&hidden), "{hidden:?}");
            let Stop::Request(told) = stop(Purpose::Verify) else { panic!("{error}") };
            assert!(told.contains("104729"), "{told}");
        }
    }
}
