//! A device session: opens a device, and carries out requests.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::thread::available_parallelism;

use lightbench_device::{
    BufferId, Content, Description, Device, Image, LocalDevice, ModuleId, Watch,
};
use lightbench_project::launch::Buffer;
use lightbench_tensors::case::{Case, TensorCase};
use lightbench_tensors::compare::{Expected, InadmissibleInputs, OnDevice, admits};
use lightbench_tensors::inputs::InputSpec;
use lightbench_tensors::layout::{Layout, Run};
use lightbench_virtual_gpu::machine::BlockOrder;
use lightbench_virtual_gpu::{Checks, Races, Schedule};

use super::admitted::Admitted;
use super::bound::{Bound, failure_from_device_error};
use super::harness_kernels::HarnessKernels;
use super::reference_results::{
    self, Exact, Fetched, ReferenceResults, Results, StoredBytes, forget,
};
use super::steps::{self, Trace, Walk, Watched};
use super::{
    Admission, CountsUse, GridPart, Inadmissibility, JudgeReport, JudgeRequest, OpenRequest,
    RunReport, RunRequest, Scrutiny, SessionFailure, Side, StartOrder, judging, outputs,
};
use crate::program::Program;
use crate::reference_source::ReferenceSource;

/// A device with the modules of one side.
#[derive(Debug)]
pub struct DeviceSession {
    side: Side,
    device: Box<dyn Device>,
    max_steps: u64,
    modules: Vec<ModuleId>,
    harness_kernels: Option<HarnessKernels>,
    bound: Option<Bound>,
    known: Vec<ReferenceResults>,
    admitted: Admitted,
}

impl DeviceSession {
    /// Opens the device and loads the modules.
    ///
    /// # Errors
    /// There is no such device, or it cannot load a module.
    pub fn open(opening: &OpenRequest) -> Result<Self, SessionFailure> {
        let open = |error: lightbench_device::OpenError| SessionFailure::Open(error.to_string());
        let name = LocalDevice::parse(&opening.device).map_err(open)?;
        let device = name.open(Watch::ALL).map_err(open)?;
        Self::with_device(device, opening)
    }

    /// A session on a device that is already open.
    ///
    /// # Errors
    /// The device cannot load a module.
    pub fn with_device(
        mut device: Box<dyn Device>,
        opening: &OpenRequest,
    ) -> Result<Self, SessionFailure> {
        let mut modules = Vec::new();
        for module in &opening.modules {
            let image = Image { ptx: &module.ptx, cubin: module.cubin.as_deref() };
            modules.push(device.load(image).map_err(|error| failure_from_device_error(&error))?);
        }
        let trusted = match &opening.harness_kernels {
            Some(image) => HarnessKernels::load(device.as_mut(), image)?,
            None => None,
        };
        let (side, max_steps) = (opening.side, opening.max_steps);
        let (known, admitted) = (Vec::new(), Admitted::default());
        Ok(Self {
            side,
            device,
            max_steps,
            modules,
            harness_kernels: trusted,
            bound: None,
            known,
            admitted,
        })
    }

    /// What the device is.
    #[must_use]
    pub fn description(&self) -> &Description {
        self.device.description()
    }

    /// Runs a candidate.
    ///
    /// # Errors
    /// The device cannot run it. What the candidate does wrong is in the report.
    pub fn run(&mut self, order: &RunRequest) -> Result<RunReport, SessionFailure> {
        self.require_side(Side::Candidate)?;
        if let GridPart::Sampled { seed } = order.part {
            return self.run_sample(order, seed);
        }
        let before = self.bound.take();
        let sides = (&order.case, &order.program, Side::Candidate);
        let device = self.device.as_mut();
        let bound = Bound::prepare(
            device,
            before,
            sides,
            order.recipe,
            order.memory,
            self.harness_kernels,
        )?;
        let counters = order.counts == CountsUse::Report;
        self.device.watch(Watch { counters, ..self.watch(order.scrutiny) });
        let sides = (&order.program, &order.case, Side::Candidate);
        let trace = self.steps(&bound, sides, order.counts)?;
        let faulty = !trace.faults.is_empty();
        let mut report = RunReport {
            faults: trace.faults.into_iter().map(Into::into).collect(),
            warp_instructions: trace.warp_instructions,
            counted: trace.counted,
            printed: trace.printed,
            accepted: trace.accepted,
            stale_reads: trace.stale_reads,
            suspicions: trace.suspicions,
            not_checked: trace.not_checked.into_iter().map(str::to_owned).collect(),
            elapsed: trace.elapsed,
            library: trace.library,
            ..RunReport::default()
        };
        // A GPU that faulted has lost its context, and nothing of it can be read any more.
        if !faulty {
            report.digest = self.hand_over(&bound, &order.case, order.outputs.as_deref())?;
            report.left_dirty = bound.left_dirty(self.device.as_mut())?;
            self.bound = Some(bound);
        }
        Ok(report)
    }

    /// Judges what a candidate left in a folder by what the reference computes.
    ///
    /// # Errors
    /// The reference cannot be run, or the outputs are not there.
    pub fn judge(&mut self, order: &JudgeRequest) -> Result<JudgeReport, SessionFailure> {
        self.require_side(Side::Reference)?;
        if let Some(admission) = &order.admission {
            return self.admits(order, admission);
        }
        if let GridPart::Sampled { .. } = order.part {
            return self.judge_sample(order);
        }
        self.compute(order)?;
        let known = self.known.last().ok_or_else(|| order_error("nothing was computed"))?;
        judging::judge(self.device.as_mut(), self.harness_kernels, order, &known.results)
    }

    /// Whether the inputs of a request are admissible. The answer is the same for every candidate.
    fn admits(
        &mut self,
        order: &JudgeRequest,
        admission: &Admission,
    ) -> Result<JudgeReport, SessionFailure> {
        let inadmissible = match self.admitted.find(order, admission) {
            Some(known) => known.clone(),
            None => {
                let inadmissible = self.inadmissible(order, admission)?;
                self.admitted.keep(order, admission, inadmissible.clone());
                inadmissible
            }
        };
        Ok(JudgeReport { comparisons: Vec::new(), exact: false, sampled: None, inadmissible })
    }

    /// Why the inputs of a request are not admissible; none where they are.
    fn inadmissible(
        &mut self,
        order: &JudgeRequest,
        admission: &Admission,
    ) -> Result<Option<Inadmissibility>, SessionFailure> {
        match self.compute(order) {
            Err(SessionFailure::Reference(reason)) => {
                return Ok(Some(Inadmissibility::Fault(reason)));
            }
            computed => computed?,
        }
        let twin = match admission {
            Admission::ByReference => None,
            Admission::ByTwin(twin) => match self.results(order, twin) {
                Err(SessionFailure::Reference(reason)) => {
                    return Ok(Some(Inadmissibility::Fault(reason)));
                }
                results => Some(results?),
            },
        };
        let device = self.device.as_mut();
        let known = self.known.last().ok_or_else(|| order_error("nothing was computed"))?;
        let reference = fetched(device, &known.results)?;
        let other = twin.as_ref().map(|twin| fetched(device, twin)).transpose()?;
        if let Some(twin) = twin {
            reference_results::free(twin, device)?;
        }
        let other = other.as_deref().map(expected);
        match admits(&order.case, &expected(&reference), other.as_deref()) {
            Ok(Ok(())) => Ok(None),
            Ok(Err(InadmissibleInputs(output))) => Ok(Some(Inadmissibility::Output(output))),
            Err(error) => Err(order_error(&error.to_string())),
        }
    }

    pub(super) fn require_side(&self, side: Side) -> Result<(), SessionFailure> {
        let (ours, theirs) = (self.side, side);
        let wrong = || {
            SessionFailure::Order(format!(
                "a session of side {ours:?} got a request for side {theirs:?}"
            ))
        };
        (ours == theirs).then_some(()).ok_or_else(wrong)
    }

    /// Moves or adds the reference's results for these inputs to the end of the kept results.
    pub(super) fn compute(&mut self, order: &JudgeRequest) -> Result<(), SessionFailure> {
        let JudgeRequest { case, recipe, .. } = order;
        let recipe = *recipe;
        let same = |known: &ReferenceResults| known.recipe == recipe && known.case == *case;
        if let Some(position) = self.known.iter().position(same) {
            self.known[position..].rotate_left(1);
            return Ok(());
        }
        let results = self.results(order, &order.reference)?;
        self.known.push(ReferenceResults { case: case.clone(), recipe, results });
        forget(&mut self.known, self.device.as_mut())
    }

    /// What a reference, or its twin, computes for the inputs of a request.
    fn results(
        &mut self,
        order: &JudgeRequest,
        source: &ReferenceSource,
    ) -> Result<Results, SessionFailure> {
        let call = match source {
            ReferenceSource::Program(program) => {
                return self.computed(&order.case, program, order.recipe);
            }
            ReferenceSource::Python(call) => call,
        };
        let mut supplied = order.supplied.iter();
        let supplied = supplied
            .find(|supplied| supplied.precision == call.precision)
            .ok_or(SessionFailure::ResultsNeeded(call.precision))?;
        let on_device = self.harness_kernels.is_some();
        reference_results::read(self.device.as_mut(), on_device, &order.case, &supplied.folder)
    }

    /// What a program computes for these inputs.
    fn computed(
        &mut self,
        case: &Case,
        program: &Program,
        recipe: InputSpec,
    ) -> Result<Results, SessionFailure> {
        let before = self.bound.take();
        let memory = super::BufferPlacement::Fresh(lightbench_device::Placement::Left);
        let sides = (case, program, Side::Reference);
        let device = self.device.as_mut();
        let mut bound =
            Bound::prepare(device, before, sides, recipe, memory, self.harness_kernels)?;
        self.device.watch(self.watch_reference());
        let trace = self.steps(&bound, (program, case, Side::Reference), CountsUse::Drop)?;
        if let Some(fault) = trace.faults.into_iter().next() {
            let fault = super::FaultReport::from(fault);
            // A GPU that faulted has lost its context with all buffers.
            if self.harness_kernels.is_none() {
                bound.free(self.device.as_mut())?;
            }
            return Err(SessionFailure::Reference(fault.details));
        }
        let mut results = Vec::new();
        for (index, tensor) in case.tensors.iter().enumerate() {
            results.push(match self.kept_there(&mut bound, case, index)? {
                Some(exact) => Some(exact),
                None => self.exact(&bound, index, tensor)?,
            });
        }
        bound.free(self.device.as_mut())?;
        Ok(results)
    }

    /// Results that the device compares stay where they are.
    fn kept_there(
        &self,
        bound: &mut Bound,
        case: &Case,
        index: usize,
    ) -> Result<Option<Exact>, SessionFailure> {
        let on_device = self.harness_kernels.and_then(|_| OnDevice::new(case, index));
        let (Some(tensor), Some(_)) = (case.tensors.get(index), on_device) else {
            return Ok(None);
        };
        let wide = tensor.span.saturating_mul(8);
        let bytes = if tensor.dtype.is_float() { wide } else { tensor.bytes };
        let values = StoredBytes::OnDevice { buffer: bound.keep(Buffer::Tensor(index))?, bytes };
        let magnitudes = match tensor.has_magnitude() {
            true => {
                let buffer = bound.keep(Buffer::Magnitude(index))?;
                Some(StoredBytes::OnDevice { buffer, bytes: wide })
            }
            false => None,
        };
        Ok(Some(Exact { values, magnitudes }))
    }

    fn exact(
        &mut self,
        bound: &Bound,
        index: usize,
        tensor: &TensorCase,
    ) -> Result<Option<Exact>, SessionFailure> {
        if tensor.role.compare().is_none() {
            return Ok(None);
        }
        let device = self.device.as_mut();
        let values = bound.read(device, Buffer::Tensor(index))?;
        if let Some(hole) = first_hole(tensor, &values)? {
            let message = format!("it does not write element {hole} of `{}`", tensor.name);
            return Err(SessionFailure::Reference(message));
        }
        let magnitudes = match tensor.has_magnitude() {
            true => Some(bound.read(device, Buffer::Magnitude(index))?.bytes),
            false => None,
        };
        let (values, magnitudes) =
            (StoredBytes::OnHost(values.bytes), magnitudes.map(StoredBytes::OnHost));
        Ok(Some(Exact { values, magnitudes }))
    }

    /// The results for an output that were computed last.
    pub(super) fn fetch_output(&mut self, tensor: usize) -> Result<Fetched, SessionFailure> {
        let exact = self.known.last().and_then(|known| known.results.get(tensor)?.as_ref());
        let exact = exact.ok_or_else(|| order_error("an output of no tensor"))?;
        exact.fetch(self.device.as_mut())
    }

    fn steps(
        &mut self,
        bound: &Bound,
        (program, case, side): (&Program, &Case, Side),
        counts: CountsUse,
    ) -> Result<Trace, SessionFailure> {
        let walk = self.walk(bound, program);
        let sizes = sizes(&walk.names, program, case, side);
        let watched = Watched { trusted: self.harness_kernels, made: bound.made() };
        steps::run(self.device.as_mut(), walk, &sizes, program, (watched, counts))
    }

    /// The beginning of a walk through the steps of a program.
    pub(super) fn walk(&self, bound: &Bound, program: &Program) -> Walk {
        let module = self.modules.get(program.module).copied();
        Walk { module, names: bound.names() }
    }

    pub(super) fn device(&mut self) -> &mut dyn Device {
        self.device.as_mut()
    }

    /// The harness kernels that the device has loaded.
    pub(super) fn harness_kernels(&self) -> Option<HarnessKernels> {
        self.harness_kernels
    }

    /// The buffers of the previous run.
    pub(super) fn take_bound(&mut self) -> Option<Bound> {
        self.bound.take()
    }

    /// Writes the outputs for the reference's worker; returns a digest of them.
    pub(super) fn hand_over(
        &mut self,
        bound: &Bound,
        case: &Case,
        folder: Option<&Path>,
    ) -> Result<String, SessionFailure> {
        let Some(trusted) = self.harness_kernels else {
            let contents = self.outputs(bound, case)?;
            if let Some(folder) = folder {
                outputs::write(folder, &contents)?;
            }
            return Ok(digest(&contents));
        };
        let device = self.device.as_mut();
        let (mut buffers, mut hasher) = (Vec::new(), blake3::Hasher::new());
        for (index, tensor) in case.tensors.iter().enumerate() {
            if tensor.role.compare().is_none() {
                continue;
            }
            let buffer = bound.buffer(Buffer::Tensor(index))?;
            buffers.push((index, buffer, tensor.bytes));
            // The device's digest of all bytes is hashed with the rest.
            let words = trusted.digest(device, buffer, tensor.bytes)?;
            for word in [index as u64, tensor.bytes].into_iter().chain(words) {
                hasher.update(&word.to_le_bytes());
            }
        }
        if let Some(folder) = folder {
            outputs::write_from(folder, device, &buffers)?;
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn outputs(
        &mut self,
        bound: &Bound,
        case: &Case,
    ) -> Result<Vec<(usize, Content)>, SessionFailure> {
        let written = case.tensors.iter().enumerate();
        let written = written.filter(|(_, tensor)| tensor.role.compare().is_some());
        let device = self.device.as_mut();
        written.map(|(index, _)| Ok((index, bound.read(device, Buffer::Tensor(index))?))).collect()
    }

    fn watch(&self, scrutiny: Scrutiny) -> Watch {
        let races = match scrutiny {
            Scrutiny::Full => Races::CudaIdiom,
            Scrutiny::Replayed { seed } => Races::Replayed { seed },
            Scrutiny::Memory | Scrutiny::Shuffled { .. } | Scrutiny::OneBlock(_) => Races::Ignored,
        };
        let schedule = match scrutiny {
            Scrutiny::Full | Scrutiny::Replayed { .. } | Scrutiny::OneBlock(_) => {
                Schedule::Deterministic
            }
            Scrutiny::Memory => independent(),
            Scrutiny::Shuffled { seed } => Schedule::Adversarial { seed },
        };
        let checks = Checks { uninitialized: true, races };
        let watch = Watch { checks, schedule, max_steps: self.max_steps, ..Watch::ALL };
        match scrutiny {
            Scrutiny::OneBlock(order) => Watch {
                block_order: order.into(),
                most_resident: Some(NonZeroU32::MIN),
                max_steps: self.max_steps.min(MOST_STEPS_OF_ONE_BLOCK),
                ..watch
            },
            Scrutiny::Full
            | Scrutiny::Memory
            | Scrutiny::Shuffled { .. }
            | Scrutiny::Replayed { .. } => watch,
        }
    }

    /// The reference is trusted; reads of uninitialised memory are checked because the check is cheap.
    fn watch_reference(&self) -> Watch {
        let checks = Checks { uninitialized: true, races: Races::Ignored };
        let (schedule, max_steps) = (independent(), self.max_steps);
        Watch { checks, schedule, counters: false, max_steps, ..Watch::ALL }
    }
}

/// Warp instructions of a launch with one resident block. Only small workloads run so, and a launch that waits in a way that
/// is not recognised as a livelock ends here.
const MOST_STEPS_OF_ONE_BLOCK: u64 = 1 << 26;

impl From<StartOrder> for BlockOrder {
    fn from(order: StartOrder) -> Self {
        match order {
            StartOrder::Ascending => Self::Ascending,
            StartOrder::Descending => Self::Descending,
            StartOrder::Random { seed } => Self::Random { seed },
        }
    }
}

/// Threads of a launch whose blocks cannot see each other: each takes some of the address space of the process.
const MOST_THREADS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

/// Blocks on several processors where that changes nothing.
pub(super) fn independent() -> Schedule {
    let processors = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Schedule::Independent { threads: processors.min(MOST_THREADS) }
}

fn fetched(
    device: &mut dyn Device,
    results: &Results,
) -> Result<Vec<Option<Fetched>>, SessionFailure> {
    results
        .iter()
        .map(|exact| exact.as_ref().map(|exact| exact.fetch(device)).transpose())
        .collect()
}

fn expected(results: &[Option<Fetched>]) -> Vec<Option<Expected<'_>>> {
    results.iter().map(|one| one.as_ref().map(Fetched::expected)).collect()
}

fn order_error(message: &str) -> SessionFailure {
    SessionFailure::Order(message.to_owned())
}

/// Bytes of each buffer that a step may fill.
pub(super) fn sizes(
    names: &BTreeMap<Buffer, BufferId>,
    program: &Program,
    case: &Case,
    side: Side,
) -> BTreeMap<BufferId, u64> {
    let bytes = |buffer: &Buffer| match buffer {
        Buffer::Scratch(index) => program.scratch.get(*index).map(|scratch| scratch.bytes),
        Buffer::Magnitude(index) => case.tensors.get(*index).map(|tensor| tensor.span * 8),
        Buffer::Tensor(index) => case.tensors.get(*index).map(|tensor| {
            let exact = side == Side::Reference
                && tensor.dtype.is_float()
                && tensor.role.compare().is_some();
            if exact { tensor.span * 8 } else { tensor.bytes }
        }),
    };
    names.iter().filter_map(|(buffer, id)| Some((*id, bytes(buffer)?))).collect()
}

/// The first element that nothing wrote; gaps between elements need not be written.
fn first_hole(tensor: &TensorCase, content: &Content) -> Result<Option<u64>, SessionFailure> {
    if content.unwritten.is_empty() {
        return Ok(None);
    }
    let layout = Layout::new(tensor).map_err(|error| order_error(&error.to_string()))?;
    let size = content.bytes.len() / layout.span;
    let is_hole = |place: usize| !content.is_written(&(place * size..(place + 1) * size));
    let places = layout.runs().flat_map(Run::places);
    Ok((0..).zip(places).find(|(_, place)| is_hole(*place)).map(|(element, _)| element))
}

/// A hash of what outputs hold; bytes that nothing wrote differ from zeros.
fn digest(outputs: &[(usize, Content)]) -> String {
    let mut hasher = blake3::Hasher::new();
    for (tensor, content) in outputs {
        hasher.update(&tensor.to_le_bytes());
        hasher.update(&content.bytes.len().to_le_bytes());
        hasher.update(&content.bytes);
        for hole in &content.unwritten {
            hasher.update(&hole.start.to_le_bytes());
            hasher.update(&hole.end.to_le_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}
