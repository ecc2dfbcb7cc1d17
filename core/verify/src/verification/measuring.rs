//! Timing of a candidate that passed the checks so far: each measured workload, cold and warm; the outputs of a timed
//! launch are judged.

use std::time::Duration;

use lightbench_device::Placement;
use lightbench_measure::energy::{Energy, EnergyError};
use lightbench_measure::protocol::{EnergyUse, Protocol};
use lightbench_measure::timing::{Mode, Timing};
use lightbench_project::launch::expectation::WrongKind;
use lightbench_speed_of_light::performance_data::Profile;
use lightbench_tensors::inputs::InputSpec;
use lightbench_units::{Hertz, Seconds};

use super::checks_at_timed_size::Extras;
use super::stop::stop_from_worker_error;
use super::{Attempt, BufferPlacement, LONGEST, RunReport, Stop, Verification};
use crate::compiled_candidate::CompiledWorkload;
use crate::device_session::{
    MeasureReport, MeasureRequest, ModelledProgram, ModelledTime, Quantity, Samples,
};
use crate::reference_source::ReferenceTooLarge;
use crate::verdict::{ScreenedTiming, ScreeningTiming, SizeCheck, Step, WorkloadTiming};

/// How long measuring energy may take; it takes four seconds.
const ENERGY_LIMIT: Duration = Duration::from_secs(30);

/// Limits of a timing.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScreeningLimits {
    pub(super) protocol: Protocol,
    /// A first execution slower than this ends the timing.
    pub(super) abandon_above: Option<Seconds>,
}

impl ScreeningLimits {
    fn none(protocol: Protocol) -> Self {
        Self { protocol, abandon_above: None }
    }
}

impl Verification<'_> {
    /// Sampled blocks and the modelled time of one workload.
    pub(super) fn sampled_and_modelled(
        &mut self,
        trial: &CompiledWorkload,
        protocol: Protocol,
    ) -> Result<WorkloadTiming, Stop> {
        if !self.workers.has_siblings() {
            // The next request to another host must not depend on a report.
            let check = self.check_sampled_blocks(trial)?;
            return self.modelled(trial, protocol, |_, _| Ok(check));
        }
        self.modelled(trial, protocol, |this, profile| {
            this.check_counted_sample(trial, &profile.counted.total)
        })
    }

    /// The times of one workload on a real device; the outputs at this size are judged too.
    pub(super) fn measured(
        &mut self,
        trial: &CompiledWorkload,
        protocol: Protocol,
        seen: &[RunReport],
    ) -> Result<WorkloadTiming, Stop> {
        if let Some(unjudged) = self.judge_timed_size(trial, Extras::Probes)? {
            return Ok(WorkloadTiming::not_judged(&trial.case.workload, &unjudged));
        }
        let timings = self.timings(trial, protocol)?;
        let energy = match protocol.energy {
            EnergyUse::Skip => None,
            EnergyUse::Measure => Some(self.energy(trial, protocol)?),
        };
        let profile = self.profile_from_checker(trial, seen);
        Ok(WorkloadTiming {
            workload: trial.case.workload.clone(),
            timings,
            withheld: None,
            check: SizeCheck::Whole,
            profile,
            energy,
            standing: None,
            baselines: Vec::new(),
        })
    }

    /// Checks the results of a workload before it is timed on a real device. Returns why they cannot be judged, if the
    /// reference is too slow or needs too much memory at this size: then there is no time either.
    fn judge_timed_size(
        &mut self,
        trial: &CompiledWorkload,
        extras: Extras,
    ) -> Result<Option<ReferenceTooLarge>, Stop> {
        match self.check_timed_size(trial, extras) {
            Ok(()) => Ok(None),
            Err(Stop::ReferenceTooLarge(unjudged)) => Ok(Some(unjudged)),
            Err(stop) => Err(stop),
        }
    }

    /// The times of one workload; the outputs of each timed launch are judged.
    pub(super) fn timings(
        &mut self,
        trial: &CompiledWorkload,
        protocol: Protocol,
    ) -> Result<Vec<Timing>, Stop> {
        let mut timings = Vec::new();
        let mut modes: Vec<Mode> = protocol.besides.modes().collect();
        // The driver takes no launch into a graph whose blocks wait for each other.
        modes.retain(|mode| *mode != Mode::Graph || !trial.candidate.is_cooperative());
        for mode in modes {
            timings.push(self.timed(Step::Measure, Some(&trial.case.workload), |this| {
                let (report, last) = this.sampled(trial, mode, ScreeningLimits::none(protocol))?;
                this.revalidated(trial, last, report, mode)
            })?);
        }
        for timing in &mut timings {
            timing.conditions.locked = protocol.locked.map(|mhz| Hertz(f64::from(mhz) * 1e6));
        }
        Ok(timings)
    }

    /// The energy of one execution, measured after all times.
    fn energy(
        &mut self,
        trial: &CompiledWorkload,
        protocol: Protocol,
    ) -> Result<Result<Energy, EnergyError>, Stop> {
        let name = trial.case.workload.as_str();
        self.timed(Step::Measure, Some(name), |this| {
            let (mut order, _) =
                this.measure_request(trial, Mode::Warm, ScreeningLimits::none(protocol));
            order.quantity = Quantity::Energy;
            match this.measure(trial, order)? {
                MeasureReport::Energy(energy) => Ok(energy),
                MeasureReport::Samples(_)
                | MeasureReport::Modelled(_)
                | MeasureReport::Faulted(_)
                | MeasureReport::Abandoned(_) => {
                    Err(Stop::Broken("time was measured instead of energy".to_owned()))
                }
            }
        })
    }

    /// A screening timing of one workload: cold only, abandoned where the first execution is clearly too slow.
    pub(super) fn screening_timing(
        &mut self,
        trial: &CompiledWorkload,
        hurry: ScreeningLimits,
    ) -> Result<ScreenedTiming, Stop> {
        let workload = trial.case.workload.clone();
        if self.workers.models_time() {
            let reason = "a screening models its time only".to_owned();
            let unchecked = |_: &mut Self, _: &Profile| Ok(SizeCheck::NotChecked(reason));
            let modelled = self.modelled(trial, hurry.protocol, unchecked)?;
            let between = modelled.profile.ok().and_then(|profile| profile.between);
            let glance = match (modelled.timings.into_iter().next(), modelled.withheld) {
                (Some(time), _) => ScreeningTiming::Taken(time),
                (None, reason) => {
                    ScreeningTiming::Withheld { reason: reason.unwrap_or_default(), between }
                }
            };
            return Ok(ScreenedTiming { workload, timing: glance });
        }
        if let Some(unjudged) = self.judge_timed_size(trial, Extras::None)? {
            let reason = unjudged.to_string();
            let timing = ScreeningTiming::Withheld { reason, between: None };
            return Ok(ScreenedTiming { workload, timing });
        }
        let glance = self.timed(Step::Measure, Some(&workload), |this| {
            let (order, inputs) = this.measure_request(trial, Mode::Cold, hurry);
            let report = this.measure(trial, MeasureRequest { last: None, ..order })?;
            if let MeasureReport::Abandoned(after) = report {
                return Ok(ScreeningTiming::Abandoned { after });
            }
            let samples = this.accept_samples(&Attempt::timed(trial, inputs), report)?;
            timing(samples, Mode::Cold).map(ScreeningTiming::Taken)
        })?;
        Ok(ScreenedTiming { workload, timing: glance })
    }

    /// The modelled time of a workload, and how `check` checked it, which gets the counters of the model.
    fn modelled(
        &mut self,
        trial: &CompiledWorkload,
        protocol: Protocol,
        check: impl FnOnce(&mut Self, &Profile) -> Result<SizeCheck, Stop>,
    ) -> Result<WorkloadTiming, Stop> {
        let name = trial.case.workload.as_str();
        let ModelledProgram { time, profile } = self.timed(Step::Measure, Some(name), |this| {
            let (report, _) = this.sampled(trial, Mode::Cold, ScreeningLimits::none(protocol))?;
            match report {
                MeasureReport::Modelled(programs) => {
                    let nothing = || Stop::Broken("nothing was modelled".to_owned());
                    programs.into_iter().next().ok_or_else(nothing)
                }
                MeasureReport::Samples(_)
                | MeasureReport::Energy(_)
                | MeasureReport::Faulted(_)
                | MeasureReport::Abandoned(_) => {
                    Err(Stop::Broken("a virtual device measured time".to_owned()))
                }
            }
        })?;
        let check = check(self, &profile)?;
        let (timings, withheld) = match time {
            Ok(ModelledTime { bound, band, limit, assumptions }) => {
                (vec![Timing::modelled(bound, band, limit, assumptions)], None)
            }
            Err(reason) => (Vec::new(), Some(reason)),
        };
        let energy = match protocol.energy {
            EnergyUse::Skip => None,
            EnergyUse::Measure => Some(Err(EnergyError::Virtual)),
        };
        Ok(WorkloadTiming {
            workload: name.to_owned(),
            timings,
            withheld,
            check,
            profile: Ok(profile),
            energy,
            standing: None,
            baselines: Vec::new(),
        })
    }

    fn sampled(
        &mut self,
        trial: &CompiledWorkload,
        mode: Mode,
        hurry: ScreeningLimits,
    ) -> Result<(MeasureReport, InputSpec), Stop> {
        let (order, last) = self.measure_request(trial, mode, hurry);
        Ok((self.measure(trial, order)?, last))
    }

    fn measure_request(
        &self,
        trial: &CompiledWorkload,
        mode: Mode,
        ScreeningLimits { protocol, abandon_above }: ScreeningLimits,
    ) -> (MeasureRequest, InputSpec) {
        let (declared, word) = (self.workers.timed_input_mode(), mode.word());
        let protocol = protocol.under(mode);
        let last = self.recipe(&trial.case, declared, &format!("{word} last"));
        let order = MeasureRequest {
            case: trial.case.clone(),
            programs: vec![trial.candidate.clone()],
            recipe: self.recipe(&trial.case, declared, word),
            last: Some(last),
            mode,
            protocol,
            seed: self.recipe(&trial.case, declared, &format!("{word} order")).seed,
            abandon_above,
            outputs: None,
            cupti: Vec::new(),
            quantity: Quantity::Time,
        };
        (order, last)
    }

    fn measure(
        &mut self,
        trial: &CompiledWorkload,
        order: MeasureRequest,
    ) -> Result<MeasureReport, Stop> {
        let more = match order.quantity {
            Quantity::Time => order.protocol.longest * 4,
            Quantity::Energy => ENERGY_LIMIT,
        };
        let limit = self.limit(trial).saturating_mul(4).saturating_add(more);
        let report = self.workers.measure(order, limit.min(LONGEST), self.cancellation);
        let name = Some(trial.case.workload.as_str());
        report.map_err(|error| stop_from_worker_error(error, Step::Measure, name))
    }

    /// The timing, if the outputs of the last timed launch are correct.
    fn revalidated(
        &mut self,
        trial: &CompiledWorkload,
        last: InputSpec,
        report: MeasureReport,
        mode: Mode,
    ) -> Result<Timing, Stop> {
        let attempt = Attempt::timed(trial, last);
        let samples = self.accept_samples(&attempt, report)?;
        let judged = self.judge(&attempt)?;
        self.accept(&attempt, judged, Some(WrongKind::StateDependent))?;
        timing(samples, mode)
    }

    /// The samples of a GPU, if no launch had a fault and all buffers that must be zero are.
    fn accept_samples(
        &self,
        attempt: &Attempt<'_>,
        report: MeasureReport,
    ) -> Result<Samples, Stop> {
        match report {
            MeasureReport::Samples(samples) => {
                self.require_left_zero(attempt, &samples.left_dirty)?;
                Ok(samples)
            }
            MeasureReport::Faulted(faults) => Err(self.faulted(attempt, faults, String::new())),
            MeasureReport::Modelled(_) | MeasureReport::Energy(_) | MeasureReport::Abandoned(_) => {
                Err(Stop::Broken("a GPU gave no samples".to_owned()))
            }
        }
    }
}

impl<'a> Attempt<'a> {
    /// The run that a timing ends with.
    fn timed(trial: &'a CompiledWorkload, recipe: InputSpec) -> Self {
        let memory = BufferPlacement::Fresh(Placement::Left);
        Attempt { trial, recipe, step: Step::Measure, memory }
    }
}

/// The timing of the first program.
fn timing(samples: Samples, mode: Mode) -> Result<Timing, Stop> {
    let Samples { clock, batches, rounds, stopped, readings, launch_floor, .. } = samples;
    let batch = batches.first().copied().unwrap_or(1);
    let rounds = rounds.into_iter().next().unwrap_or_default();
    let timing = Timing::measured(clock, mode, rounds, (batch, stopped), &readings);
    let timing = timing.map(|timing| Timing { launch_floor, ..timing });
    timing.ok_or_else(|| Stop::Broken("the clock returned no times".to_owned()))
}
