//! Timing in a device session: the same buffers as in a run, but without checks while the kernel runs.
//!
//! The outputs of the last sample are judged; its inputs differ from those of all samples before. The number of samples
//! depends on noise and on the seed, so that a kernel cannot detect which sample is the last.

use std::path::PathBuf;

use lightbench_device::{
    BufferId, BufferRequest, DeviceKind, LaunchFault, ModelledOperation, Operation, Placement,
    Sampling, Timed, Timekeeping, Work,
};
use lightbench_measure::energy::{Energy, EnergyError};
use lightbench_measure::protocol::{ClockUse, Protocol};
use lightbench_measure::timing::{Clock, Mode, Reading, Stopped};
use lightbench_project::manifest::Init;
use lightbench_project::tensor::Role;
use lightbench_speed_of_light::performance_data::Profile;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::InputSpec;
use lightbench_units::Seconds;
use lightbench_virtual_gpu::cost::time::Modelled;
use lightbench_virtual_gpu::{Access, InitialContent};
use serde::{Deserialize, Serialize};

use super::bound::{Bound, failure_from_device_error, fill_with_tensor};
use super::sampling::{MEAN_PAUSE, Sample, energy, sampled, timed};
use super::session::DeviceSession;
use super::steps::{fill_constants, flattened};
use super::{BufferPlacement, SessionFailure, Side};
use crate::fault_report::FaultReport;
use crate::program::Program;

/// Buffers begin where memory does, as an allocation would.
const PLACEMENT: Placement = Placement::Left;

/// Timing of the programs of one or more candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureRequest {
    /// The sizes.
    pub case: Case,
    /// The programs to time; if there are several, every round runs all of them in a shuffled order.
    pub programs: Vec<Program>,
    /// The inputs.
    pub recipe: InputSpec,
    /// The inputs of the last sample of the first program, whose outputs are handed over. None for a screening: then no
    /// outputs are handed over and no launch floor is measured.
    pub last: Option<InputSpec>,
    /// What the caches hold.
    pub mode: Mode,
    /// How many samples.
    pub protocol: Protocol,
    /// The seed of the shuffled orders and of the number of extra rounds.
    pub seed: u64,
    /// A first execution slower than this ends the timing.
    pub abandon_above: Option<Seconds>,
    /// An existing folder for what the first program leaves in its outputs.
    pub outputs: Option<PathBuf>,
    /// Where the library of the driver's time stamps may lie.
    pub cupti: Vec<PathBuf>,
    /// What is measured.
    pub quantity: Quantity,
}

/// What is measured: never two of them at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quantity {
    /// Samples of time.
    Time,
    /// What an execution of the first program costs in energy, in seconds of nothing else.
    Energy,
}

/// The result of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MeasureReport {
    /// The device ran it.
    Samples(Samples),
    /// A model of the device: one for each program, or why there is no number.
    Modelled(Vec<ModelledProgram>),
    /// The energy of the first program, or why it cannot be measured.
    Energy(Result<Energy, EnergyError>),
    /// A kernel did something wrong.
    Faulted(Vec<FaultReport>),
    /// The first measured execution took this long, which exceeds the limit of the screening.
    Abandoned(Seconds),
}

/// Samples of each program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The clock.
    pub clock: Clock,
    /// For each program executions in a sample.
    pub batches: Vec<u32>,
    /// For each program its rounds of samples.
    pub rounds: Vec<Vec<Vec<Seconds>>>,
    /// Why there are no more.
    pub stopped: Stopped,
    /// What the device did meanwhile.
    pub readings: Vec<Reading>,
    /// Buffers that must be zero after a run and are not.
    pub left_dirty: Vec<String>,
    /// What empty kernels of the shape of the first program's take by the same clock; cold times have it.
    pub launch_floor: Option<Seconds>,
}

/// The modelled time and counters of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelledProgram {
    /// Its time, or why there is no number.
    pub time: Result<ModelledTime, String>,
    /// The counters of its launches.
    pub profile: Profile,
}

/// The bound of a program in a model of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelledTime {
    /// No run can be faster.
    pub bound: Seconds,
    /// Real runs are expected between these multiples of it.
    pub band: (f64, f64),
    /// What decides most of it.
    pub limit: String,
    /// What has to hold.
    pub assumptions: Vec<String>,
}

impl DeviceSession {
    /// Times programs.
    ///
    /// # Errors
    /// The device cannot run them. What a candidate does wrong is in the report.
    pub fn measure(&mut self, order: &MeasureRequest) -> Result<MeasureReport, SessionFailure> {
        self.require_side(Side::Candidate)?;
        if let Some(before) = self.take_bound() {
            before.free(self.device())?;
        }
        match self.description().kind {
            DeviceKind::Virtual if order.quantity == Quantity::Energy => {
                Ok(MeasureReport::Energy(Err(EnergyError::Virtual)))
            }
            DeviceKind::Virtual => self.modelled(order),
            DeviceKind::Cuda { .. } => self.measured(order),
        }
    }

    fn measured(&mut self, order: &MeasureRequest) -> Result<MeasureReport, SessionFailure> {
        if let Some(instruments) = self.device().instruments() {
            instruments.keep_time(&match order.protocol.clock {
                ClockUse::Events => Timekeeping::Events,
                ClockUse::Best | ClockUse::Cupti => Timekeeping::Cupti(order.cupti.clone()),
            });
        }
        let mut contenders: Vec<Contender> = Vec::new();
        for program in &order.programs {
            let contender = match contenders.first() {
                None => self.contender(order, program)?,
                Some(first) => {
                    let bound = first.bound.beside(self.device(), program, PLACEMENT)?;
                    let restore = first.work.restore.clone();
                    let work = self.work(&bound, restore, (order, program))?;
                    Contender { bound, work, pristine: Vec::new() }
                }
            };
            contenders.push(contender);
        }
        if order.quantity == Quantity::Energy {
            let energy = energy(self.device(), &contenders)?;
            for contender in contenders {
                self.give_back(contender)?;
            }
            return Ok(MeasureReport::Energy(energy));
        }
        match sampled(self.device(), order, &contenders) {
            Ok(mut samples) => {
                let last = order
                    .last
                    .map_or(Ok(()), |last| self.last((order, last), &mut contenders, &mut samples));
                match last {
                    Ok(()) => self.ended(order, contenders, samples),
                    Err(stop) => stop.reported(),
                }
            }
            Err(Stop::Abandoned(after)) => {
                for contender in contenders {
                    self.give_back(contender)?;
                }
                Ok(MeasureReport::Abandoned(after))
            }
            Err(stop) => stop.reported(),
        }
    }

    /// One program after the other: a model needs them not side by side, and the host has less memory than a GPU.
    fn modelled(&mut self, order: &MeasureRequest) -> Result<MeasureReport, SessionFailure> {
        let mut times = Vec::new();
        let once = Sampling::single(order.mode, 1);
        for program in &order.programs {
            let contender = match self.contender(order, program) {
                Ok(contender) => contender,
                Err(SessionFailure::Memory(reason)) => {
                    let profile = Profile::default();
                    times.push(ModelledProgram { time: Err(reason), profile });
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let timed = self.device().time(&contender.work, once);
            match timed.map_err(|error| failure_from_device_error(&error))? {
                Timed::Modelled(parts) => {
                    let (time, profile) = (together(&parts), profile(&parts));
                    times.push(ModelledProgram { time, profile });
                }
                Timed::Samples { .. } | Timed::Faulted(_) => {
                    let message = "a virtual device measured time";
                    return Err(SessionFailure::Order(message.to_owned()));
                }
            }
            self.give_back(contender)?;
        }
        Ok(MeasureReport::Modelled(times))
    }

    fn give_back(&mut self, contender: Contender) -> Result<(), SessionFailure> {
        contender.bound.free(self.device())?;
        for (_, copy) in contender.pristine {
            self.device().free(copy).map_err(|error| failure_from_device_error(&error))?;
        }
        Ok(())
    }

    fn contender(
        &mut self,
        order: &MeasureRequest,
        program: &Program,
    ) -> Result<Contender, SessionFailure> {
        let (sides, memory) =
            ((&order.case, program, Side::Candidate), BufferPlacement::Fresh(PLACEMENT));
        let trusted = self.harness_kernels();
        let bound = Bound::prepare(self.device(), None, sides, order.recipe, memory, trusted)?;
        let (mut pristine, mut restore) = (Vec::new(), Vec::new());
        for (tensor, buffer) in bound.inouts(&order.case) {
            let request = BufferRequest::new(
                &format!("{} as it was", order.case.tensors[tensor].name),
                order.case.tensors[tensor].bytes,
                Access::ReadWrite,
                InitialContent::Uninitialised,
            );
            let copy = self
                .device()
                .allocate(request)
                .map_err(|error| failure_from_device_error(&error))?;
            let content = (&order.case, tensor, order.recipe);
            fill_with_tensor(self.device(), trusted, copy, content)?;
            restore.push((copy, buffer));
            pristine.push((tensor, copy));
        }
        let work = self.work(&bound, restore, (order, program))?;
        Ok(Contender { bound, work, pristine })
    }

    /// What is timed of a program whose buffers are there; its constant arrays are filled.
    fn work(
        &mut self,
        bound: &Bound,
        restore: Vec<(BufferId, BufferId)>,
        (order, program): (&MeasureRequest, &Program),
    ) -> Result<Work, SessionFailure> {
        let walk = self.walk(bound, program);
        fill_constants(self.device(), &walk, program)?;
        let mut work = bound.work(&order.case, program);
        work.restore = restore;
        work.timed.extend(flattened(walk, program)?);
        Ok(work)
    }

    /// One more sample of the first program, on new inputs.
    fn last(
        &mut self,
        (order, inputs): (&MeasureRequest, InputSpec),
        contenders: &mut [Contender],
        samples: &mut Samples,
    ) -> Result<(), Stop> {
        let (Some(contender), Some(program)) = (contenders.first_mut(), order.programs.first())
        else {
            return Err(SessionFailure::Order("nothing was measured".to_owned()).into());
        };
        let trusted = self.harness_kernels();
        let walk = self.walk(&contender.bound, program);
        let device = self.device();
        contender.bound.set(device, (&order.case, program, Side::Candidate), inputs)?;
        fill_constants(device, &walk, program)?;
        for (tensor, copy) in &contender.pristine {
            fill_with_tensor(device, trusted, *copy, (&order.case, *tensor, inputs))?;
        }
        let batch = samples.batches.first().copied().unwrap_or(1);
        let sampling = Sampling { batch, pause: MEAN_PAUSE, ..Sampling::single(order.mode, 1) };
        let Sample { clock, times, .. } = timed(device, &contender.work, sampling)?;
        let last = samples.rounds.first_mut().and_then(|rounds| rounds.last_mut());
        if let Some(round) = last.filter(|_| clock.is_comparable_with(&samples.clock)) {
            round.extend(times);
        }
        Ok(())
    }

    /// Writes the outputs of the last sample for the reference's worker, and frees all buffers.
    fn ended(
        &mut self,
        order: &MeasureRequest,
        contenders: Vec<Contender>,
        mut samples: Samples,
    ) -> Result<MeasureReport, SessionFailure> {
        if let Some(contender) = contenders.first() {
            if let (Some(folder), Some(_)) = (&order.outputs, order.last) {
                self.hand_over(&contender.bound, &order.case, Some(folder))?;
            }
            samples.left_dirty = contender.bound.left_dirty(self.device())?;
        }
        for contender in contenders {
            self.give_back(contender)?;
        }
        Ok(MeasureReport::Samples(samples))
    }
}

/// A program with buffers of its own.
#[derive(Debug)]
pub(super) struct Contender {
    bound: Bound,
    pub(super) work: Work,
    /// Copies of tensors that are read and written, as they were.
    pristine: Vec<(usize, BufferId)>,
}

/// Why there are no samples.
pub(super) enum Stop {
    Failed(SessionFailure),
    Faulted(Vec<LaunchFault>),
    Abandoned(Seconds),
}

impl From<SessionFailure> for Stop {
    fn from(failure: SessionFailure) -> Self {
        Self::Failed(failure)
    }
}

impl Stop {
    fn reported(self) -> Result<MeasureReport, SessionFailure> {
        match self {
            Self::Failed(failure) => Err(failure),
            Self::Faulted(faults) => {
                Ok(MeasureReport::Faulted(faults.into_iter().map(Into::into).collect()))
            }
            Self::Abandoned(after) => Ok(MeasureReport::Abandoned(after)),
        }
    }
}

/// The bounds of all launches one after the other; what decides the most of it decides.
fn together(parts: &[ModelledOperation]) -> Result<ModelledTime, String> {
    let mut whole = Seconds(0.0);
    let mut limits: Vec<(String, Seconds)> = Vec::new();
    let mut assumptions: Vec<String> = Vec::new();
    let (mut low, mut high) = (Seconds(0.0), Seconds(0.0));
    for ModelledOperation { executions, modelled, .. } in parts {
        let bound = match modelled {
            Modelled::Bound(bound) => bound,
            Modelled::Withheld(reason) => return Err(reason.to_string()),
        };
        let time = bound.time * (*executions as f64);
        whole = whole + time;
        let limit = bound.decided_by();
        match limits.iter_mut().find(|(known, _)| *known == limit) {
            Some((_, sum)) => *sum = *sum + time,
            None => limits.push((limit, time)),
        }
        for assumption in bound.assumptions.iter().map(ToString::to_string) {
            if !assumptions.contains(&assumption) {
                assumptions.push(assumption);
            }
        }
        (low, high) = (low + time * bound.band.0, high + time * bound.band.1);
    }
    let most = limits.into_iter().max_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
    let (limit, _) = most.ok_or_else(|| "the program launches nothing".to_owned())?;
    let band = ((low / whole).0, (high / whole).0);
    Ok(ModelledTime { bound: whole, band, limit, assumptions })
}

fn profile(parts: &[ModelledOperation]) -> Profile {
    Profile::from_launches(parts.iter().map(|part| {
        let ModelledOperation { executions, modelled, counters } = part;
        (*executions, counters.as_ref(), modelled)
    }))
}

impl Bound {
    /// What is put right before each sample, and what every execution begins with.
    fn work(&self, case: &Case, program: &Program) -> Work {
        let mut work = Work::default();
        for (buffer, init) in self.begins(case, program) {
            match init {
                Init::Undefined => work.poison.push(buffer),
                Init::ZeroEachLaunch => {
                    work.timed.push(Operation::Fill { buffer, element: vec![0] });
                }
                Init::ZeroOnce => work.clear.push(buffer),
            }
        }
        work
    }

    /// The tensors that are read and written.
    fn inouts(&self, case: &Case) -> Vec<(usize, BufferId)> {
        let all = case.tensors.iter().enumerate();
        all.filter(|(_, tensor)| matches!(tensor.role, Role::Inout { .. }))
            .filter_map(|(index, _)| Some((index, self.tensor(index)?)))
            .collect()
    }
}
