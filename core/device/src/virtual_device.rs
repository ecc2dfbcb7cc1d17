//! A device simulated on the host: the virtual GPU with the numbers of a device sheet.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;
use std::time::Duration;

use lightbench_units::Bytes;
use lightbench_virtual_gpu::cost::time::{LaunchStart, ModelError, Modelled, Timeline, timeline};
use lightbench_virtual_gpu::machine;
use lightbench_virtual_gpu::machine::{
    Accesses, Approximation, BlockOrder, OnFault, TensorModel, WarpId,
};
use lightbench_virtual_gpu::tensor_map::encode;
use lightbench_virtual_gpu::{
    BlockSelection, Checks, DeviceShape, InitialContent, LaunchConfig, LaunchError, Machine,
    Module, Races, Schedule, TraceUse,
};

use super::error::{DeviceError, OpenError};
use super::execution::{
    Argument, BufferId, BufferRequest, Content, Description, Device, DeviceKind, Image, Launch,
    LaunchFault, MemoryLimit, ModuleId, Outcome, PartialLaunch, Placement,
};
use super::library::LibraryError;
use super::modelled_launch;
use super::sheet::DeviceSheet;
use super::tensor_map;
use super::timing::{ModelledOperation, Operation, Residence, Sampling, Timed, Work};

/// Buffers live in the host's memory, so a virtual device has at most this much, regardless of its sheet, if every byte
/// may be accessed.
const MOST_MEMORY: u64 = 4 << 30;

/// Tables of pages take a four-thousandth of it, and each buffer must be smaller than the distance of two: 2^40 bytes.
const MOST_SAMPLED_MEMORY: u64 = 1 << 39;

/// Default size of the heap for device-side `malloc` (CUDA C++ Programming Guide, "Heap Memory Allocation").
const HEAP_BYTES: u64 = 8 << 20;

/// Checks, scheduling and recording of a virtual device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Checks beyond bounds, alignment and access rights, which are always on.
    pub checks: Checks,
    /// In which order threads go.
    pub schedule: Schedule,
    /// Whether instructions and accesses are counted.
    pub counters: bool,
    /// Whether some blocks are recorded step by step, which a modelled time needs; no effect without `counters`.
    pub trace: bool,
    /// Position of approximate functions in the error interval that the ISA documents.
    pub approximation: Approximation,
    /// In which order blocks start.
    pub block_order: BlockOrder,
    /// Limit on resident blocks, if it is lower than the device's.
    pub most_resident: Option<NonZeroU32>,
    /// Warp instructions after which a launch is ended.
    pub max_steps: u64,
    /// Time on the host's clock after which a launch is ended.
    pub time_limit: Option<Duration>,
}

impl Watch {
    /// Default limit of warp instructions of a launch.
    pub const MOST_STEPS: u64 = LaunchConfig::MAX_STEPS;

    /// Every check, and counters.
    pub const ALL: Self = Self {
        checks: Checks { uninitialized: true, races: Races::CudaIdiom },
        schedule: Schedule::Deterministic,
        counters: true,
        trace: false,
        approximation: Approximation::Nearest,
        block_order: BlockOrder::Ascending,
        most_resident: None,
        max_steps: Self::MOST_STEPS,
        time_limit: None,
    };
}

/// The virtual GPU playing a device sheet.
#[derive(Debug)]
pub struct VirtualDevice {
    description: Description,
    sheet: DeviceSheet,
    watch: Watch,
    machine: Machine,
    modules: Vec<Module>,
    /// By number, which no later buffer gets.
    buffers: BTreeMap<usize, Buffer>,
    next_buffer: usize,
}

/// A buffer that is not freed.
#[derive(Debug)]
struct Buffer {
    buffer: machine::BufferId,
    bytes: Bytes,
}

impl VirtualDevice {
    /// A device without buffers.
    ///
    /// # Errors
    ///
    /// The sheet lacks a number that running needs.
    pub fn new(sheet: &DeviceSheet, watch: Watch) -> Result<Self, OpenError> {
        let shape = shape(sheet)?;
        let description = Description {
            name: sheet.virtual_name(),
            title: format!("virtual {}", sheet.title),
            capability: sheet.capability.compute_capability,
            memory_bytes: shape.memory_bytes,
            kind: DeviceKind::Virtual,
        };
        let (machine, sheet) = (Machine::new(shape), sheet.clone());
        let (modules, buffers) = (Vec::new(), BTreeMap::new());
        Ok(Self { description, sheet, watch, machine, modules, buffers, next_buffer: 0 })
    }

    /// Runs a kernel to its end and records the accesses of one of its warps, up to the first `most`.
    ///
    /// # Errors
    ///
    /// The launch is invalid.
    pub fn record(
        &mut self,
        launch: &Launch,
        (of, most): (WarpId, usize),
    ) -> Result<Accesses, DeviceError> {
        let config = self.config(launch)?;
        let module = launched_module(&self.modules, launch)?;
        Ok(self.machine.record(module, &launch.kernel, &config, (of, most))?)
    }

    /// The timeline of a block of a launch, or why its time is not modelled. The buffers hold only a part of the result
    /// afterwards.
    ///
    /// # Errors
    ///
    /// The launch is invalid.
    pub fn timeline(
        &mut self,
        launch: &Launch,
        residence: Option<Residence>,
    ) -> Result<Result<Timeline, ModelError>, DeviceError> {
        let launched = self.model(launch, residence, LaunchStart::First)?;
        if let Modelled::Withheld(reason) = launched.modelled {
            return Ok(Err(reason));
        }
        let (counted, rates) = (launched.counted.as_ref(), self.sheet.rates());
        let counted = counted.zip(rates.as_ref());
        let recorded =
            counted.and_then(|((counters, shape), rates)| timeline(counters, shape, rates));
        Ok(recorded.ok_or(ModelError::NotRecorded))
    }

    /// Models a launch.
    fn model(
        &mut self,
        launch: &Launch,
        residence: Option<Residence>,
        begins: LaunchStart,
    ) -> Result<modelled_launch::ModelledLaunch, DeviceError> {
        let config = self.config(launch)?;
        let module = launched_module(&self.modules, launch)?;
        let kernel = (module, launch.kernel.as_str());
        let room = self.buffers.values().map(|buffer| buffer.bytes).sum();
        let grid = modelled_launch::Grid { config, residence, room, begins };
        Ok(modelled_launch::launch(&mut self.machine, kernel, &grid, &self.sheet)?)
    }

    /// A launch executed several times: later executions may find the data of the first one in L2.
    fn executed(
        &self,
        executions: u64,
        launched: modelled_launch::ModelledLaunch,
    ) -> Vec<ModelledOperation> {
        let again = if executions > 1 { launched.repeated(&self.sheet) } else { None };
        let modelled_launch::ModelledLaunch { modelled, counted } = launched;
        let counters = counted.map(|(counters, _)| counters);
        let Some(again) = again else {
            return vec![ModelledOperation { executions, modelled, counters }];
        };
        let first = ModelledOperation { executions: 1, modelled, counters: counters.clone() };
        let executions = executions - 1;
        vec![first, ModelledOperation { executions, modelled: again, counters }]
    }

    fn known(&self, buffer: BufferId) -> Result<&Buffer, DeviceError> {
        self.buffers.get(&buffer.0).ok_or(DeviceError::Unknown("buffer"))
    }

    fn buffer(&self, buffer: BufferId) -> Result<machine::BufferId, DeviceError> {
        Ok(self.known(buffer)?.buffer)
    }

    fn config(&self, launch: &Launch) -> Result<LaunchConfig, DeviceError> {
        let arguments = launch.arguments.iter().enumerate();
        let arguments = arguments
            .map(|(index, argument)| self.argument(index + 1, argument))
            .collect::<Result<_, _>>()?;
        Ok(LaunchConfig {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            cooperative: launch.cooperative,
            cluster: launch.cluster,
            tensor: TensorModel::OfTarget,
            approximation: self.watch.approximation,
            arguments,
            checks: self.watch.checks,
            schedule: self.watch.schedule,
            on_fault: OnFault::Continue,
            counters: self.watch.counters,
            caches: None,
            trace: self.watch.trace.then(|| self.trace(launch)),
            blocks: BlockSelection::All,
            block_order: self.watch.block_order,
            most_resident: self.watch.most_resident,
            max_steps: self.watch.max_steps,
            time_limit: self.watch.time_limit,
        })
    }

    /// Recorded accesses of a launch whose resident blocks the compiler did not report; the number of threads
    /// determines them.
    fn trace(&self, launch: &Launch) -> TraceUse {
        let count = |size: [u32; 3]| size.iter().fold(1_u64, |all, side| all * u64::from(*side));
        let limits = self.sheet.capability.sm_limits().ok();
        let threads = limits.map_or(2048, |limits| limits.max_warps * limits.warp_size);
        let fitting = u64::from(threads) / count(launch.block).max(1);
        let blocks = u32::try_from(fitting).unwrap_or(u32::MAX).max(1);
        let residence = Residence { blocks, shared: Bytes(0) };
        self.sheet.trace_use((modelled_launch::TRACED, count(launch.grid)), residence)
    }

    fn argument(
        &self,
        position: usize,
        argument: &Argument,
    ) -> Result<machine::Argument, DeviceError> {
        let known = |buffer: &BufferId| {
            self.buffers.get(&buffer.0).ok_or(LaunchError::UnknownBuffer(position))
        };
        Ok(match argument {
            Argument::Bytes(bytes) => machine::Argument::Bytes(bytes.clone()),
            Argument::Buffer(buffer) => machine::Argument::Buffer(known(buffer)?.buffer),
            Argument::TensorMap { buffer, map } => {
                let Buffer { buffer, bytes } = known(buffer)?;
                let (address, bytes) = (self.machine.address(*buffer), bytes.0);
                tensor_map::check(&self.description, (position, map), (address, bytes))?;
                machine::Argument::Bytes(encode(map, address).to_vec())
            }
            Argument::Texture { buffer, object } => {
                let Buffer { buffer, bytes } = known(buffer)?;
                object.check(bytes.0).map_err(|error| DeviceError::Texture { position, error })?;
                machine::Argument::Texture { buffer: *buffer, object: object.clone() }
            }
        })
    }
}

impl Device for VirtualDevice {
    fn description(&self) -> &Description {
        &self.description
    }

    fn load(&mut self, image: Image<'_>) -> Result<ModuleId, DeviceError> {
        self.modules.push(Module::load_supported(image.ptx).map_err(DeviceError::Load)?);
        Ok(ModuleId(self.modules.len() - 1))
    }

    fn allocate(&mut self, request: BufferRequest) -> Result<BufferId, DeviceError> {
        let BufferRequest { name, bytes, access, initial, align, placement } = request;
        // Every byte outside a buffer is checked, so both placements are equivalent.
        let start = match placement {
            Placement::Left | Placement::Right => 0,
            Placement::OddMultiple => align,
        };
        let buffer = self.machine.buffer_behind(start, &name, bytes, access, initial)?;
        let number = self.next_buffer;
        self.next_buffer += 1;
        self.buffers.insert(number, Buffer { buffer, bytes: Bytes(bytes) });
        Ok(BufferId(number))
    }

    fn set(&mut self, buffer: BufferId, initial: InitialContent) -> Result<(), DeviceError> {
        let buffer = self.buffer(buffer)?;
        self.machine.set(buffer, initial);
        Ok(())
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        let freed = self.buffers.remove(&buffer.0).ok_or(DeviceError::Unknown("buffer"))?;
        self.machine.free(freed.buffer);
        Ok(())
    }

    fn watch(&mut self, watch: Watch) {
        self.watch = watch;
    }

    fn fill_variable(
        &mut self,
        module: ModuleId,
        symbol: &str,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        let module = self.modules.get(module.0).ok_or(DeviceError::Unknown("module"))?;
        Ok(self.machine.set_variable(module, symbol, bytes)?)
    }

    fn launch(&mut self, launch: &Launch) -> Result<Outcome, DeviceError> {
        let config = self.config(launch)?;
        let module = launched_module(&self.modules, launch)?;
        run(&mut self.machine, module, &launch.kernel, config)
    }

    fn time(&mut self, work: &Work, _sampling: Sampling) -> Result<Timed, DeviceError> {
        let mut known: Vec<(&Operation, u64, modelled_launch::ModelledLaunch)> = Vec::new();
        for operation in &work.timed {
            if let Some((_, executions, _)) =
                known.iter_mut().find(|(known, ..)| is_repeated(known, operation))
            {
                *executions += 1;
                continue;
            }
            let begins =
                if known.is_empty() { LaunchStart::First } else { LaunchStart::AfterOthers };
            let launched = match operation {
                Operation::Launch { launch, residence } => {
                    self.model(launch, *residence, begins)?
                }
                Operation::Fill { buffer, .. } => {
                    let modelled = modelled_launch::fill(&self.sheet, self.known(*buffer)?.bytes);
                    modelled_launch::ModelledLaunch { modelled, counted: None }
                }
                Operation::Library(_) => return Err(LibraryError::NoGpu.into()),
            };
            known.push((operation, 1, launched));
        }
        let parts = known
            .into_iter()
            .flat_map(|(_, executions, launched)| self.executed(executions, launched));
        Ok(Timed::Modelled(parts.collect()))
    }

    fn read(&mut self, buffer: BufferId) -> Result<Content, DeviceError> {
        let buffer = self.buffer(buffer)?;
        let unwritten = self.machine.uninitialised(buffer);
        Ok(Content { bytes: self.machine.read(buffer), unwritten })
    }

    fn partial_launch(&mut self) -> Option<&mut dyn PartialLaunch> {
        Some(self)
    }
}

impl PartialLaunch for VirtualDevice {
    fn limit_memory(&mut self, limit: MemoryLimit) {
        self.machine.limit_memory(match limit {
            MemoryLimit::Host => self.description.memory_bytes,
            MemoryLimit::Sampled => MOST_SAMPLED_MEMORY,
        });
    }

    fn launch_part(
        &mut self,
        launch: &Launch,
        blocks: BlockSelection,
    ) -> Result<Outcome, DeviceError> {
        let config = LaunchConfig { blocks, ..self.config(launch)? };
        let module = launched_module(&self.modules, launch)?;
        run(&mut self.machine, module, &launch.kernel, config)
    }

    fn independent_blocks(
        &self,
        launch: &Launch,
    ) -> Result<Result<[u32; 3], &'static str>, DeviceError> {
        let module = launched_module(&self.modules, launch)?;
        Ok(Machine::independent_blocks(module, &launch.kernel, &self.config(launch)?)?)
    }

    fn written(&self, buffer: BufferId) -> Result<Vec<Range<usize>>, DeviceError> {
        Ok(self.machine.initialised(self.buffer(buffer)?))
    }

    fn read_range(&self, buffer: BufferId, range: Range<usize>) -> Result<Vec<u8>, DeviceError> {
        let bytes = self.machine.read_range(self.buffer(buffer)?, range);
        bytes.ok_or(DeviceError::Unknown("range of a buffer"))
    }
}

/// The module of a launch, if the virtual GPU supports the instructions of the kernel.
fn launched_module<'m>(modules: &'m [Module], launch: &Launch) -> Result<&'m Module, DeviceError> {
    let module = modules.get(launch.module.0).ok_or(DeviceError::Unknown("module"))?;
    match module.refusal(&launch.kernel) {
        [] => Ok(module),
        refusal => Err(DeviceError::Load(refusal.to_vec())),
    }
}

/// Whether two operations do the same, but for which buffers they do it to.
fn is_repeated(known: &Operation, operation: &Operation) -> bool {
    match (known, operation) {
        (Operation::Launch { launch: known, .. }, Operation::Launch { launch, .. }) => {
            let size = |launch: &Launch| (launch.grid, launch.block, launch.dynamic_shared);
            let mut arguments = known.arguments.iter().zip(&launch.arguments);
            known.kernel == launch.kernel
                && size(known) == size(launch)
                && known.arguments.len() == launch.arguments.len()
                && arguments.all(|(known, argument)| has_same_value(known, argument))
        }
        (Operation::Fill { buffer: known, .. }, Operation::Fill { buffer, .. }) => known == buffer,
        (Operation::Library(known), Operation::Library(run)) => known == run,
        (Operation::Launch { .. } | Operation::Fill { .. } | Operation::Library(_), _) => false,
    }
}

/// Whether two arguments are equal, but for the buffers that they refer to.
fn has_same_value(known: &Argument, argument: &Argument) -> bool {
    match (known, argument) {
        (Argument::Bytes(known), Argument::Bytes(bytes)) => known == bytes,
        (Argument::Buffer(_), Argument::Buffer(_)) => true,
        (Argument::TensorMap { map: known, .. }, Argument::TensorMap { map, .. }) => known == map,
        (Argument::Texture { object: known, .. }, Argument::Texture { object, .. }) => {
            known == object
        }
        (
            Argument::Bytes(_)
            | Argument::Buffer(_)
            | Argument::TensorMap { .. }
            | Argument::Texture { .. },
            _,
        ) => false,
    }
}

/// Runs a kernel with the requested checks, as far as a launch supports them.
fn run(
    machine: &mut Machine,
    module: &Module,
    kernel: &str,
    config: LaunchConfig,
) -> Result<Outcome, DeviceError> {
    match machine.launch(module, kernel, &config) {
        // Blocks on several host threads: the race check is off, the other checks are on, and the outcome lists it.
        Err(LaunchError::Unavailable(_)) if config.checks.races != Races::Ignored => {
            let checks = Checks { races: Races::Ignored, ..config.checks };
            let done = machine.launch(module, kernel, &LaunchConfig { checks, ..config })?;
            Ok(outcome(done, vec!["data races"]))
        }
        done => Ok(outcome(done?, Vec::new())),
    }
}

fn outcome(report: machine::Report, not_checked: Vec<&'static str>) -> Outcome {
    let faults = report.faults.into_iter().map(|fault| LaunchFault::Seen(Box::new(fault)));
    Outcome {
        faults: faults.collect(),
        counters: report.counters,
        steps: Some(report.steps),
        warp_instructions: Some(report.warp_instructions),
        printed: report.printed,
        accepted: report.accepted,
        stale_reads: report.stale_reads,
        suspicions: report.suspicions,
        not_checked,
    }
}

/// The numbers of a sheet that decide how a kernel runs.
fn shape(sheet: &DeviceSheet) -> Result<DeviceShape, OpenError> {
    let incomplete = |missing| OpenError::Incomplete { sheet: sheet.name.clone(), missing };
    let limits = sheet.capability.sm_limits().map_err(incomplete)?;
    let sms = sheet.sms.get().ok_or_else(|| incomplete(vec!["sms"]))?;
    let dram = sheet.dram.get().ok_or_else(|| incomplete(vec!["dram"]))?;
    let whole = limits.carveouts.last().copied().unwrap_or(limits.max_shared_per_block);
    let small = |bytes: Bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX);
    Ok(DeviceShape {
        multiprocessors: sms,
        warps_per_multiprocessor: limits.max_warps,
        blocks_per_multiprocessor: limits.max_blocks,
        shared_per_multiprocessor: small(whole),
        shared_per_block: small(limits.max_shared_per_block),
        memory_bytes: dram.0.min(MOST_MEMORY),
        heap_bytes: HEAP_BYTES,
    })
}
