//! Inputs from the whole domain of tensors and scalars, on small workloads.
//!
//! Every input tensor has every class of values once. Where a combination is not fair to a correct kernel, each tensor
//! has its class alone. The reference decides before the candidate runs, because a candidate may fault on inputs for
//! which the task has no result.

use std::collections::BTreeSet;

use super::stop::of_judge;
use super::{Attempt, REFERENCE_LIMIT, Stop, Verification};
use crate::device::Placement;
use crate::project::compare::Comparator;
use crate::project::manifest::Distribution;
use crate::project::tensor::Role;
use crate::verify::case::Case;
use crate::verify::inputs::{Along, Class, DomainDraw, Draw, Recipe, varies};
use crate::verify::station::{Admission, GridPart, JudgeOrder, MemoryOrder, Scrutiny};
use crate::verify::subject::{Trial, VariedTrial};
use crate::verify::verdict::{Failure, Step, Wrong};

/// What a class of values of a tensor is known by.
type Asked = BTreeSet<(usize, Class)>;

/// The tensors and classes that were asked for, and those that a candidate was judged on.
#[derive(Default)]
struct Coverage {
    asked: Asked,
    used: Asked,
}

impl Verification<'_> {
    /// Values of every class, then other scalars.
    ///
    /// # Errors
    /// The candidate is wrong on some of them.
    pub(super) fn domain(&mut self) -> Result<(), Stop> {
        let subject = self.subject;
        let mut trials: Vec<&Trial> = subject.trials.iter().collect();
        trials.retain(|trial| trial.admission.is_some());
        trials.sort_by(|one, other| one.work.total_cmp(&other.work));
        if trials.is_empty() {
            let reason = "errors on inputs from the whole domain (the reference has no f32 twin, \
                          which decides what inputs are fair)";
            if !subject.trials.is_empty() {
                self.checks.not_checked.push(reason.to_owned());
            }
            return Ok(());
        }
        let mut coverage = Coverage::default();
        for (trial, draw) in dealt(&trials, self.seed) {
            self.timed(Step::Distributions, Some(&trial.case.workload), |this| {
                this.on_classes(trial, draw, &mut coverage)
            })?;
        }
        self.report(&trials[0].case, &coverage);
        for varied in &subject.varied {
            self.timed(Step::Distributions, Some(&varied.trial.case.workload), |this| {
                this.on_scalar(varied)
            })?;
        }
        Ok(())
    }

    /// One round; each tensor alone where the round is not fair.
    fn on_classes(
        &mut self,
        trial: &Trial,
        draw: DomainDraw,
        coverage: &mut Coverage,
    ) -> Result<(), Stop> {
        coverage.asked.extend(draw.classes(&trial.case));
        if self.on_domain(trial, draw)? {
            coverage.used.extend(draw.classes(&trial.case));
            return Ok(());
        }
        let classes: Vec<(usize, Class)> = draw.classes(&trial.case).collect();
        if classes.len() < 2 {
            return Ok(());
        }
        for (tensor, class) in classes {
            let alone = DomainDraw { alone: u8::try_from(tensor).ok(), ..draw };
            if self.on_domain(trial, alone)? {
                coverage.used.insert((tensor, class));
            }
        }
        Ok(())
    }

    /// Whether a candidate was judged on such inputs.
    fn on_domain(&mut self, trial: &Trial, draw: DomainDraw) -> Result<bool, Stop> {
        let biased = draw.classes(&trial.case).any(|(_, class)| class.has_biased_rounding());
        let chained;
        let trial = if biased {
            chained = Trial { case: chained_case(trial), ..trial.clone() };
            &chained
        } else {
            trial
        };
        let which = format!("domain-{}-{:?}-{:?}", draw.round, draw.alone, draw.along);
        let recipe = self.recipe(&trial.case, Draw::Domain(draw), &which);
        self.right_where_fair(trial, recipe)
    }

    fn on_scalar(&mut self, varied: &VariedTrial) -> Result<(), Stop> {
        let draw = Draw::Distribution(Distribution::AsDeclared);
        let recipe = self.recipe(&varied.trial.case, draw, &varied.what);
        let judged = self.right_where_fair(&varied.trial, recipe);
        judged.map(drop).map_err(|stop| with_scalar(stop, &varied.what))
    }

    /// Runs and judges where the inputs are fair to a correct kernel.
    fn right_where_fair(&mut self, trial: &Trial, recipe: Recipe) -> Result<bool, Stop> {
        let Some(admission) = &trial.admission else { return Ok(false) };
        if !self.is_fair(trial, recipe, admission)? {
            self.checks.domain_inputs.inadmissible += 1;
            return Ok(false);
        }
        let memory = MemoryOrder::Fresh(Placement::Right);
        let attempt = Attempt { trial, recipe, step: Step::Distributions, memory };
        self.right(&attempt, Scrutiny::Memory)?;
        self.checks.domain_inputs.passed += 1;
        self.count_run(trial);
        Ok(true)
    }

    fn is_fair(
        &mut self,
        trial: &Trial,
        recipe: Recipe,
        admission: &Admission,
    ) -> Result<bool, Stop> {
        let order = JudgeOrder {
            case: trial.case.clone(),
            program: trial.reference.clone(),
            recipe,
            outputs: std::path::PathBuf::new(),
            part: GridPart::Whole,
            admission: Some(admission.clone()),
        };
        let report = self.stations.judge(order, REFERENCE_LIMIT, self.cancellation);
        let report =
            report.map_err(|error| of_judge(error, Step::Distributions, &trial.case.workload))?;
        Ok(report.inadmissible.is_none())
    }

    /// Names the classes of which no inputs were fair.
    fn report(&mut self, case: &Case, coverage: &Coverage) {
        for (tensor, class) in coverage.asked.difference(&coverage.used) {
            let name = case.tensors.get(*tensor).map_or("", |tensor| tensor.name.as_str());
            let class = class.name();
            let line = format!("errors on `{name}` with {class} (beyond f32 arithmetic)");
            self.checks.not_checked.push(line);
        }
    }
}

/// The rounds, each with the workload that it runs on: one maximum comes on the most terms, too, and equal integers on
/// every workload; everything else on workloads of little work.
fn dealt<'a>(trials: &[&'a Trial], seed: u64) -> Vec<(&'a Trial, DomainDraw)> {
    let middle = trials.len() / 2;
    let (one, other) = (trials[middle.saturating_sub(1)], trials[middle]);
    let largest = trials[trials.len() - 1];
    let mut dealt = Vec::new();
    let first_is_other = (seed & 1) as usize;
    for (round, class) in Class::ALL.into_iter().enumerate() {
        let draw = |along| DomainDraw { round: round as u8, alone: None, along };
        let pair =
            if (round + first_is_other).is_multiple_of(2) { [one, other] } else { [other, one] };
        dealt.push((pair[0], draw(Along::Last)));
        // With the step from one input to the next, other inputs have classes with lines in other rounds.
        let lines = draw(Along::First).classes(&pair[1].case);
        let crosses = |(tensor, class): (usize, Class)| {
            let dims = &pair[1].case.tensors[tensor].dims;
            class.has_lines() && dims.len() > 1 && dims[0] > 1
        };
        if lines.into_iter().any(crosses) {
            dealt.push((pair[1], draw(Along::First)));
        }
        // What counts overflows only at some size.
        let one_bin = draw(Along::Last).classes(&largest.case).any(|(tensor, class)| {
            class == Class::Equal && largest.case.tensors[tensor].dtype.is_integer()
        });
        let others = trials.iter().filter(|trial| !std::ptr::eq(**trial, pair[0]));
        let on_others = others.filter(|trial| {
            one_bin || (class == Class::OneMaximum && std::ptr::eq(**trial, largest))
        });
        dealt.extend(on_others.map(|trial| (*trial, draw(Along::Last))));
    }
    dealt.retain(|(trial, _)| trial.case.tensors.iter().any(varies));
    dealt
}

/// The case with the tolerance of a chain of additions whose rounding errors have one sign.
fn chained_case(trial: &Trial) -> Case {
    let mut case = trial.case.clone();
    for tensor in &mut case.tensors {
        let compare = match &mut tensor.role {
            Role::Output { compare, .. } | Role::Inout { compare, .. } => compare,
            Role::Input { .. } => continue,
        };
        if let Comparator::Elementwise { terms, .. } = compare {
            *terms = trial.summation.chain_terms(*terms);
        }
    }
    case
}

/// A wrong result with the scalar that led to it.
fn with_scalar(stop: Stop, what: &str) -> Stop {
    match stop {
        Stop::Failure(Failure::Wrong(mut wrong)) => {
            if let Wrong::Seen { details, .. } = wrong.as_mut() {
                *details = Some(format!("with {what}"));
            }
            Stop::Failure(Failure::Wrong(wrong))
        }
        stop @ (Stop::Failure(_)
        | Stop::NotJudged(_)
        | Stop::WorkerEnded(_)
        | Stop::Request(_)
        | Stop::Broken(_)) => stop,
    }
}
