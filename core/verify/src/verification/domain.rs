//! Inputs from the whole domain of tensors and scalars, on small workloads.
//!
//! Every input tensor has every class of values once. Where a combination is not fair to a correct kernel, each tensor
//! has its class alone. The reference decides before the candidate runs, because a candidate may fault on inputs for
//! which the task has no result. Races are not checked again.

use std::collections::BTreeSet;

use lightbench_device::Placement;
use lightbench_project::compare::Comparator;
use lightbench_project::definition::Summation;
use lightbench_project::tensor::Role;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::{Along, Class, DomainInput, InputMode, InputSpec, varies};

use super::stop::stop_from_reference_error;
use super::{Attempt, REFERENCE_LIMIT, Stop, Verification};
use crate::compiled_candidate::{CompiledVariation, CompiledWorkload};
use crate::device_session::{Admission, BufferPlacement, GridPart, JudgeRequest, Scrutiny};
use crate::verdict::{Failure, Step, Wrong};

/// Tensors with their classes: all that were drawn, and those on which a candidate was judged.
#[derive(Default)]
struct Coverage {
    drawn: BTreeSet<(usize, Class)>,
    judged: BTreeSet<(usize, Class)>,
}

/// One round: the inputs, and which kernels they must be fair to.
#[derive(Clone, Copy)]
struct Round<'a> {
    trial: &'a CompiledWorkload,
    draw: DomainInput,
    fair_to: FairTo,
}

/// Which order of additions the tolerance of the admission permits, where rounding errors have one sign.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FairTo {
    /// Every order that the definition permits.
    Permitted,
    /// One chain of additions: the twin adds so, whatever the definition demands of kernels.
    Chains,
}

impl Verification<'_> {
    /// Values of every class, then other scalars and sizes.
    ///
    /// # Errors
    /// The candidate is wrong on some of them.
    pub(super) fn domain(&mut self) -> Result<(), Stop> {
        let subject = self.subject;
        let mut trials: Vec<&CompiledWorkload> = subject.workloads.iter().collect();
        trials.retain(|trial| trial.admission.is_some());
        trials.sort_by(|one, other| one.work.total_cmp(&other.work));
        if trials.is_empty() {
            let reason = "errors on inputs from the whole domain (the reference has no f32 twin, \
                          which decides what inputs are fair)";
            if !subject.workloads.is_empty() {
                self.checks.not_checked.push(reason.to_owned());
            }
            return Ok(());
        }
        let mut coverage = Coverage::default();
        for round in dealt(&trials, self.seed) {
            self.timed(Step::Distributions, Some(&round.trial.case.workload), |this| {
                this.on_classes(round, &mut coverage)
            })?;
        }
        self.report(&trials[0].case, &coverage);
        for varied in &subject.varied {
            self.timed(Step::Distributions, Some(&varied.trial.case.workload), |this| {
                this.on_varied(varied)
            })?;
        }
        Ok(())
    }

    /// One round; each tensor alone where the round is not fair.
    fn on_classes(&mut self, round: Round<'_>, coverage: &mut Coverage) -> Result<(), Stop> {
        let classes: Vec<(usize, Class)> = round.draw.classes(&round.trial.case).collect();
        coverage.drawn.extend(&classes);
        if self.on_domain(round)? {
            coverage.judged.extend(classes);
            return Ok(());
        }
        if classes.len() < 2 {
            return Ok(());
        }
        for (tensor, class) in classes {
            let draw = DomainInput { alone: u8::try_from(tensor).ok(), ..round.draw };
            if self.on_domain(Round { draw, ..round })? {
                coverage.judged.insert((tensor, class));
            }
        }
        Ok(())
    }

    /// Whether a candidate was judged on such inputs.
    fn on_domain(&mut self, round: Round<'_>) -> Result<bool, Stop> {
        let Round { trial, draw, fair_to } = round;
        let which = format!("domain-{}-{:?}-{:?}", draw.round, draw.alone, draw.along);
        let recipe = self.recipe(&trial.case, InputMode::Domain(draw), &which);
        self.judge_admissible_inputs(trial, recipe, fair_to)
    }

    /// A scalar for which the reference has no result that f32 arithmetic can compute is passed over: a definition need not
    /// exclude it. A long reduction is named.
    fn on_varied(&mut self, varied: &CompiledVariation) -> Result<(), Stop> {
        let CompiledVariation { trial, what, draw } = varied;
        let recipe = self.recipe(&trial.case, *draw, what);
        let judged = self.judge_admissible_inputs(trial, recipe, FairTo::Chains);
        if !judged.map_err(|stop| with_change(stop, what))? && matches!(draw, InputMode::Domain(_))
        {
            let line = format!("errors with {what} (beyond f32 arithmetic)");
            self.checks.not_checked.push(line);
        }
        Ok(())
    }

    /// Runs and judges where the inputs are fair to a correct kernel.
    fn judge_admissible_inputs(
        &mut self,
        trial: &CompiledWorkload,
        recipe: InputSpec,
        fair_to: FairTo,
    ) -> Result<bool, Stop> {
        let Some(admission) = &trial.admission else { return Ok(false) };
        let case = |summation| tolerant_case(trial, recipe, summation);
        let admitted = match fair_to {
            FairTo::Permitted => case(trial.summation),
            FairTo::Chains => case(Summation::Any),
        };
        if !self.is_fair(trial, &admitted, recipe, admission)? {
            self.checks.domain_inputs.inadmissible += 1;
            return Ok(false);
        }
        let judged = CompiledWorkload { case: case(trial.summation), ..trial.clone() };
        let memory = BufferPlacement::Fresh(Placement::Right);
        let attempt = Attempt { trial: &judged, recipe, step: Step::Distributions, memory };
        self.run_and_judge(&attempt, Scrutiny::Memory)?;
        self.checks.domain_inputs.passed += 1;
        self.count_run(trial);
        Ok(true)
    }

    fn is_fair(
        &mut self,
        trial: &CompiledWorkload,
        case: &Case,
        recipe: InputSpec,
        admission: &Admission,
    ) -> Result<bool, Stop> {
        let order = JudgeRequest {
            case: case.clone(),
            reference: trial.reference.clone(),
            supplied: Vec::new(),
            recipe,
            outputs: std::path::PathBuf::new(),
            part: GridPart::Whole,
            admission: Some(admission.clone()),
        };
        let report = self.workers.judge(order, REFERENCE_LIMIT, self.cancellation);
        let report = report.map_err(|error| {
            stop_from_reference_error(error, Step::Distributions, &trial.case.workload)
        })?;
        Ok(report.inadmissible.is_none())
    }

    /// Reports the classes for which no inputs were admissible.
    fn report(&mut self, case: &Case, coverage: &Coverage) {
        for (tensor, class) in coverage.drawn.difference(&coverage.judged) {
            let name = case.tensors.get(*tensor).map_or("", |tensor| tensor.name.as_str());
            let class = class.name();
            let line = format!("errors on `{name}` with {class} (beyond f32 arithmetic)");
            self.checks.not_checked.push(line);
        }
    }
}

/// The rounds, each with the workload that it runs on: one maximum comes on the most terms, too, and equal integers on
/// every workload; everything else on workloads of little work.
fn dealt<'a>(trials: &[&'a CompiledWorkload], seed: u64) -> Vec<Round<'a>> {
    let (one, other) = cheapest(trials);
    let largest = trials[trials.len() - 1];
    let mut dealt = Vec::new();
    let mut deal =
        |trial: &'a CompiledWorkload, draw, fair_to| dealt.push(Round { trial, draw, fair_to });
    let first_is_other = (seed & 1) as usize;
    for (round, class) in Class::ALL.into_iter().enumerate() {
        let draw = |along| DomainInput { round: round as u8, alone: None, along };
        let pair =
            if (round + first_is_other).is_multiple_of(2) { [one, other] } else { [other, one] };
        deal(pair[0], draw(Along::Last), FairTo::Permitted);
        // With the step from one input to the next, other inputs have classes with lines in other rounds.
        let lines = draw(Along::First).classes(&pair[1].case);
        let crosses = |(tensor, class): (usize, Class)| {
            let dims = &pair[1].case.tensors[tensor].dims;
            class.has_lines() && dims.len() > 1 && dims[0] > 1
        };
        if lines.into_iter().any(crosses) {
            deal(pair[1], draw(Along::First), FairTo::Permitted);
        }
        // What counts overflows only at some size.
        let one_bin = draw(Along::Last).classes(&largest.case).any(|(tensor, class)| {
            class == Class::Equal && largest.case.tensors[tensor].dtype.is_integer()
        });
        let others = trials.iter().filter(|trial| !std::ptr::eq(**trial, pair[0]));
        let on_others = others.filter(|trial| {
            one_bin || (class == Class::OneMaximum && std::ptr::eq(**trial, largest))
        });
        for trial in on_others {
            deal(trial, draw(Along::Last), FairTo::Permitted);
        }
    }
    for tensor in 0..one.case.tensors.len() {
        if let Some(draw) = DomainInput::alone(&one.case, tensor, Class::Subnormal) {
            deal(one, draw, FairTo::Permitted);
        }
    }
    let equal = DomainInput::equal_terms(&largest.case);
    if let (Summation::Blocked(_), Some((_, draw))) = (largest.summation, equal) {
        deal(largest, draw, FairTo::Chains);
    }
    dealt.retain(|round| round.trial.case.tensors.iter().any(varies));
    dealt
}

/// The two workloads of least work in which an input has lines, or enough elements to be more than a remainder;
/// `trials` is sorted by work.
fn cheapest<'a>(trials: &[&'a CompiledWorkload]) -> (&'a CompiledWorkload, &'a CompiledWorkload) {
    let has_structure = |trial: &&CompiledWorkload| {
        let mut inputs = trial.case.tensors.iter().filter(|tensor| varies(tensor));
        inputs.any(|tensor| match tensor.dims.as_slice() {
            [] => false,
            [elements] => *elements >= LINE,
            [lines @ .., length] => lines.iter().product::<u64>() >= 2 && *length >= LINE,
        })
    };
    let mut structured = trials.iter().copied().filter(has_structure);
    let middle = trials.len() / 2;
    let one = structured.next().unwrap_or(trials[middle.saturating_sub(1)]);
    let other = structured.next().unwrap_or(trials[middle]);
    (one, other)
}

/// Elements of a line that is longer than a warp.
const LINE: u64 = 33;

/// The case with the tolerance of chains of additions, where these inputs give their rounding errors one sign.
fn tolerant_case(trial: &CompiledWorkload, recipe: InputSpec, summation: Summation) -> Case {
    let mut case = trial.case.clone();
    let InputMode::Domain(draw) = recipe.draw else { return case };
    if !draw.classes(&trial.case).any(|(_, class)| class.has_biased_rounding()) {
        return case;
    }
    for tensor in &mut case.tensors {
        let compare = match &mut tensor.role {
            Role::Output { compare, .. } | Role::Inout { compare, .. } => compare,
            Role::Input { .. } => continue,
        };
        if let Comparator::Elementwise { terms, rms, .. } = compare {
            *terms = summation.chain_terms(*terms);
            // Its scale is that of random errors. A chain of equal terms that cancel afterwards, as those of a mean that
            // is subtracted do, has errors of the size of the bound in all elements of a line.
            *rms = false;
        }
    }
    case
}

/// A wrong result or a fault with the scalar or the size that led to it.
pub(super) fn with_change(stop: Stop, what: &str) -> Stop {
    match stop {
        Stop::Failure(Failure::Wrong(mut wrong)) => {
            if let Wrong::Seen { details, .. } = wrong.as_mut() {
                *details = Some(format!("with {what}"));
            }
            Stop::Failure(Failure::Wrong(wrong))
        }
        Stop::Failure(Failure::Fault(mut fault)) => {
            for fault in &mut fault.faults {
                fault.details = format!("with {what}: {}", fault.details);
            }
            Stop::Failure(Failure::Fault(fault))
        }
        stop @ (Stop::Failure(_)
        | Stop::NotJudged(_)
        | Stop::ReferenceTooLarge(_)
        | Stop::WorkerEnded(_)
        | Stop::Request(_)
        | Stop::Broken(_)) => stop,
    }
}
