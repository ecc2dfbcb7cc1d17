//! One launch: its configuration, the reasons to reject it, and its report.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use lightbench_primitives::texture::TextureObject;

use super::super::cost::{
    BlockSelection, BlocksRun, CacheSizes, CacheTraffic, Caches, Counters, Counts, Trace, TraceUse,
    TracedBlock,
};
use super::super::error::PtxLocation;
use super::super::lower::Unsupported;
use super::super::lower::{self, Program};
use super::super::module::{Function, FunctionId, FunctionKind, Module};
use super::super::semantics::approximate::Approximation;
use super::block_order::BlockOrder;
use super::cluster::Clusters;
use super::cooperative;
use super::copies;
use super::fault::{Fault, Suspicion};
use super::lanes::Pool;
use super::launch_size::{self, InvalidSize};
use super::layout::{place_objects, place_parameters, pool};
use super::limit::Deadline;
use super::memory::Addresses;
use super::parallel::{self, ParallelLaunch};
use super::peers::Peers;
use super::race::{self, Accepted, LaunchRaces};
use super::recording::Recording;
use super::run::Launch;
pub(super) use super::schedule::Schedule;
use super::schedule::{is_parallel, numbering, order, threads};
use super::selection::SelectedClusters;
use super::shared::SharedLayout;
use super::tensor::TensorModel;
use super::texture_object::{BoundTexture, object_value};
use super::trace::Tracing;
use super::watch::{PausedWarp, Watch};
use super::{BufferId, Machine};

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The address of a buffer.
    Buffer(BufferId),
    /// The bytes of a value, as many as the parameter has.
    Bytes(Vec<u8>),
    /// A texture or surface object of a buffer.
    Texture { buffer: BufferId, object: TextureObject },
}

/// Optional checks. Bounds, alignment and write permission are always checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Check the use of uninitialised values.
    pub uninitialized: bool,
    /// Check for data races.
    pub races: Races,
}

/// The rules of the race check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Races {
    /// No check.
    Ignored,
    /// Accept idioms of working CUDA code: `volatile` flags, a fence before an atomic counter.
    CudaIdiom,
    /// Happens-before as the PTX memory model defines it, with scopes.
    Strict,
    /// As [`Races::CudaIdiom`]; strong reads of global memory return older values that the memory model permits.
    Replayed {
        /// Zero returns the oldest permitted value; any other number selects at random.
        seed: u64,
    },
}

/// The behaviour after a fault that does not end the launch by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// The lane continues: its load returns zero, its store is dropped.
    Continue,
    /// The launch ends.
    Stop,
}

/// The configuration of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in each dimension.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// Blocks of a cluster, unless the kernel specifies them.
    pub cluster: Option<[u32; 3]>,
    /// One argument for each parameter.
    pub arguments: Vec<Argument>,
    pub checks: Checks,
    /// The order of blocks, warps and lanes.
    pub schedule: Schedule,
    /// The summation model of tensor cores.
    pub tensor: TensorModel,
    /// The position of the results of approximate functions in the interval that the ISA documents.
    pub approximation: Approximation,
    /// A cooperative launch: all blocks must be resident at once, and may wait for each other
    /// (`cudaLaunchCooperativeKernel`).
    pub cooperative: bool,
    pub on_fault: OnFault,
    /// Count instructions and accesses.
    pub counters: bool,
    /// Cache sizes; if given, cache traffic is counted too, which takes time. Ignored without `counters`.
    pub caches: Option<CacheSizes>,
    /// Blocks whose steps are recorded. Ignored without `counters`, and with several host threads.
    pub trace: Option<TraceUse>,
    /// The blocks that run.
    pub blocks: BlockSelection,
    /// The order in which blocks start; with several host threads it is ascending.
    pub block_order: BlockOrder,
    /// A limit on the number of resident blocks, below that of the device. Ignored with several host threads.
    pub most_resident: Option<NonZeroU32>,
    /// The limit of warp instructions.
    pub max_steps: u64,
    /// The limit of time on the host's clock.
    pub time_limit: Option<Duration>,
}

impl LaunchConfig {
    /// The default limit of warp instructions: more than the kernels of tests execute, and minutes at the 20 to 100
    /// million steps per second of one processor. A time limit ends a launch earlier.
    pub const MAX_STEPS: u64 = 1 << 32;

    /// A launch with all checks and counters.
    #[must_use]
    pub const fn new(grid: [u32; 3], block: [u32; 3], arguments: Vec<Argument>) -> Self {
        Self {
            grid,
            block,
            dynamic_shared: 0,
            cluster: None,
            arguments,
            checks: Checks { uninitialized: true, races: Races::Ignored },
            schedule: Schedule::Deterministic,
            tensor: TensorModel::OfTarget,
            approximation: Approximation::Nearest,
            cooperative: false,
            on_fault: OnFault::Continue,
            counters: true,
            caches: None,
            trace: None,
            blocks: BlockSelection::All,
            block_order: BlockOrder::Ascending,
            most_resident: None,
            max_steps: Self::MAX_STEPS,
            time_limit: None,
        }
    }
}

/// The result of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Faults, in the order in which they occurred.
    pub faults: Vec<Fault>,
    /// Accesses that [`Races::CudaIdiom`] accepts and [`Races::Strict`] would not, by rule and instruction.
    pub accepted: Vec<Accepted>,
    /// What may be wrong without being a fault; a wrong result makes it a likely cause.
    pub suspicions: Vec<Suspicion>,
    /// The number of instructions whose strong reads returned a write that is not ordered before them, so that the
    /// memory model permits an older value: if it is not zero, a launch with [`Races::Replayed`] may have another
    /// result.
    pub stale_reads: usize,
    /// Counters, if they were requested.
    pub counters: Option<Counters>,
    /// The output of `printf` in the kernel.
    pub printed: String,
    /// Executed warp instructions, of which products weigh more.
    pub steps: u64,
    /// Executed warp instructions.
    pub warp_instructions: u64,
    /// The number of blocks that ran; with a sample, buffers hold a part of the result.
    pub blocks: BlocksRun,
    /// Whether a fault ended the launch early.
    pub stopped: bool,
    /// The schedule that was used.
    pub schedule: Schedule,
    /// The reason why it differs from the requested schedule.
    pub schedule_note: Option<&'static str>,
}

/// Why a launch is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The module has no kernel of this name.
    #[error("the module has no kernel `{0}`")]
    UnknownKernel(String),
    /// The size of the grid, the block or the cluster is invalid.
    #[error("{what} of {size:?}; {reason}")]
    Size {
        /// The size that is invalid: of the grid, a block or a cluster.
        what: &'static str,
        /// The requested size.
        size: [u32; 3],
        /// The valid sizes.
        reason: String,
    },
    /// The kernel needs more shared memory than a block may have.
    #[error("{bytes} bytes of shared memory in a block; the device has {limit}")]
    Shared {
        /// Static and dynamic shared memory in bytes.
        bytes: u64,
        /// The limit of the device in bytes.
        limit: u32,
    },
    /// The number of arguments differs from the number of parameters.
    #[error("the kernel takes {expected} arguments; {found} were given")]
    ArgumentCount { expected: usize, found: usize },
    /// The size of an argument differs from that of its parameter.
    #[error("argument {position} has {found} bytes; parameter `{name}` has {expected}")]
    Argument {
        /// Counted from one.
        position: usize,
        name: String,
        /// In bytes.
        expected: u64,
        /// In bytes.
        found: u64,
    },
    /// The buffer belongs to another machine.
    #[error("argument {0} is a buffer of another machine")]
    UnknownBuffer(usize),
    /// A feature of the launch that the machine does not support.
    #[error("{0} is not supported")]
    Unavailable(&'static str),
    /// A sample of the grid was requested, but blocks may wait for each other.
    #[error(
        "the kernel cannot run on a sample of its blocks: the instruction at PTX {0} depends on other blocks"
    )]
    Sample(PtxLocation),
    /// The kernel has instructions that the machine does not support.
    #[error("{} instructions are not supported, the first at line {}: {}", .0.len(), .0.first().map_or(0, |u| u.place.line), .0.first().map_or("", |u| &u.operation))]
    Unsupported(Vec<Unsupported>),
    /// The variables of the module do not fit into the memory of the device.
    #[error(
        "the variables of the module need {bytes} bytes; the device has {limit} bytes of free memory"
    )]
    Variables {
        /// In bytes.
        bytes: u64,
        /// Free memory in bytes.
        limit: u64,
    },
}

impl Machine {
    /// Runs a kernel.
    ///
    /// # Errors
    ///
    /// The launch is invalid, or the kernel has unsupported instructions. Faults of the kernel are not errors; the
    /// report lists them.
    pub fn launch(
        &mut self,
        module: &Module,
        kernel: &str,
        config: &LaunchConfig,
    ) -> Result<Report, LaunchError> {
        self.watched_launch(module, kernel, config, None).map(|done| done.report)
    }

    /// The sizes of the groups of blocks that run independently of each other: of the clusters of a launch. None, with
    /// the operation by which clusters depend on each other: an atomic, a fence, a strong access or a clock. Races of
    /// plain accesses do not count.
    ///
    /// # Errors
    ///
    /// The module has no such kernel, the launch has an invalid cluster size, or the kernel has unsupported
    /// instructions.
    pub fn independent_blocks(
        module: &Module,
        kernel: &str,
        config: &LaunchConfig,
    ) -> Result<Result<[u32; 3], &'static str>, LaunchError> {
        let (id, function) = find_kernel(module, kernel)?;
        let program = lower::program(module, id).map_err(LaunchError::Unsupported)?;
        let clusters = Clusters::from_launch(function, config)?;
        Ok(parallel::has_meeting_clusters(&program).map_or(Ok(clusters.size), Err))
    }

    /// Runs a kernel until it ends or pauses.
    ///
    /// A launch that pauses leaves its variables among the buffers for inspection; the machine cannot launch again.
    pub(super) fn watched_launch(
        &mut self,
        module: &Module,
        kernel: &str,
        config: &LaunchConfig,
        watch: Option<Watch>,
    ) -> Result<Watched, LaunchError> {
        let (id, function) = find_kernel(module, kernel)?;
        launch_size::check(function, config.grid, config.block).map_err(
            |InvalidSize { what, size, reason }| LaunchError::Size { what, size, reason },
        )?;
        let program = lower::program(module, id).map_err(LaunchError::Unsupported)?;
        check_counting(module, &program, config)?;
        race::refuse(config, &program)?;
        let too_much = |bytes| LaunchError::Shared { bytes, limit: self.shape.shared_per_block };
        let Some(shared) = SharedLayout::new(module, &program, config.dynamic_shared) else {
            return Err(too_much(super::shared::LARGEST));
        };
        if shared.bytes > self.shape.shared_per_block {
            return Err(too_much(u64::from(shared.bytes)));
        }
        cooperative::check(self.shape, &program, shared.bytes, config)?;
        let clusters = Clusters::from_launch(function, config)?;
        clusters.check_variables(shared.variables.len())?;
        let (parameters, textures) = self.parameters(function, config)?;
        if !program.tensor_copies.is_empty() {
            copies::refuse_tensor_maps(function, &parameters)?;
        }
        let mut addresses = place_objects(
            &mut self.memory,
            &mut self.variables,
            module,
            &program,
            &shared,
            self.shape.memory_bytes,
        )?;
        // The variables of a module exist as long as it is loaded; regions that are added from here on belong to the
        // launch.
        let lasting = self.memory.regions.len();
        for region in &mut self.memory.regions {
            region.read_sectors.clear();
            region.written_sectors.clear();
            region.changes.clear();
        }
        place_parameters(&mut self.memory, &program, &parameters, &mut addresses)?;
        let pool = pool(&program, &addresses, &parameters);
        let shared_bytes = shared.bytes;
        let environment = cooperative::environment(&mut self.memory, config);
        let watch = watch.map(Box::new);
        let textures = textures.into();
        let prepared = Prepared { pool, shared, clusters, environment, textures, watch };
        let (report, watch) = self.run(module, &program, kernel, config, prepared);
        let (found, recording) = watch.map_or((None, None), |watch| (watch.found, watch.recording));
        if found.is_none() {
            self.memory.regions.truncate(lasting);
        }
        Ok(Watched { report, found, recording, program, addresses, shared_bytes })
    }

    fn run(
        &mut self,
        module: &Module,
        program: &Program,
        kernel: &str,
        config: &LaunchConfig,
        Prepared { pool, shared, clusters, environment, textures, watch }: Prepared,
    ) -> (Report, Option<Box<Watch>>) {
        let selected = SelectedClusters::new(config.blocks, clusters, config.grid);
        let blocks = selected.blocks();
        let shape = self.shape;
        let resident = shape.resident_blocks(program, config.block.iter().product(), shared.bytes);
        let new = |memory, common| Launch {
            module,
            program,
            kernel: kernel.to_owned(),
            heap_left: shape.heap_bytes,
            memory,
            pool: pool.clone(),
            textures: Arc::clone(&textures),
            shared: shared.clone(),
            shape,
            grid: config.grid,
            clusters,
            peers: Peers::default(),
            block: config.block,
            dynamic_shared: config.dynamic_shared,
            checks: config.checks,
            on_fault: config.on_fault,
            environment,
            approximation: config.approximation,
            tensor_cores: super::tensor::cores(config.tensor, module),
            target: super::tensor::target(module),
            operand_plans: HashMap::new(),
            counts: counts_of(config, program),
            caches: config.caches.filter(|_| config.counters).map(Caches::new),
            selected,
            faults: Vec::new(),
            seen: BTreeMap::new(),
            steps: 0,
            product_steps: 0,
            max_steps: config.max_steps,
            deadline: config.time_limit.map(Deadline::new),
            block_order: config.block_order,
            most_resident: config.most_resident,
            beyond_residency: None,
            numbering: numbering(config),
            accepted: BTreeSet::new(),
            suspicions: BTreeMap::new(),
            changes: 0,
            stopped: false,
            printed: String::new(),
            heap: HashMap::new(),
            races: LaunchRaces::from_config(config, program, clusters),
            order: order(config.schedule),
            common,
            counted_steps: 0,
            watch: None,
            trace: None,
        };
        let mut report = Report { schedule: config.schedule, blocks, ..Report::default() };
        let (mut caches, mut watched, mut traced) = (None, None, Vec::new());
        let threads = threads(config.schedule, program, &mut report);
        let (counts, faults, product_steps) = if let Some(threads) = threads {
            let common =
                ParallelLaunch::new(clusters.resident_clusters(resident).div_ceil(threads.get()));
            let mut memories: Vec<_> = (0..threads.get()).map(|_| self.memory.share()).collect();
            let outcome = parallel::run(new, &common, &mut memories);
            memories.iter().for_each(|memory| self.memory.add_touched(memory));
            (report.steps, report.stopped) = (outcome.steps, outcome.stopped);
            (outcome.counts, outcome.faults, outcome.product_steps)
        } else {
            let mut launch = new(&mut self.memory, None);
            launch.watch = watch;
            launch.trace = tracing(config, selected);
            launch.run();
            traced = launch.trace.take().map_or_else(Vec::new, |trace| trace.blocks());
            launch.finish(&mut report);
            watched = launch.watch.take();
            caches = launch.caches.take().map(|caches| caches.traffic());
            (launch.counts, launch.faults, launch.product_steps)
        };
        report.warp_instructions = report.steps - product_steps;
        report.faults = faults.into_iter().map(|recorded| recorded.fault).collect();
        let ran = (&counts[..], blocks, traced);
        report.counters =
            config.counters.then(|| self.traced_counters(module, program, ran, caches));
        (report, watched)
    }

    fn traced_counters(
        &self,
        module: &Module,
        program: &Program,
        (counts, blocks, traced): (&[Counts], BlocksRun, Vec<TracedBlock>),
        caches: Option<CacheTraffic>,
    ) -> Counters {
        let counters = self.counters(module, program, counts);
        let trace = (!traced.is_empty())
            .then(|| Arc::new(Trace::new((module, program), counts, blocks, traced)));
        Counters { blocks, trace, caches, ..counters }
    }

    fn counters(&self, module: &Module, program: &Program, counts: &[Counts]) -> Counters {
        let mut counters = Counters::gather(module, program, counts);
        let sectors = |bits: &[u64]| bits.iter().map(|b| u64::from(b.count_ones())).sum::<u64>();
        for region in &self.memory.regions {
            counters.compulsory_read_bytes += 32 * sectors(&region.read_sectors);
            counters.compulsory_written_bytes += 32 * sectors(&region.written_sectors);
            let most = &mut counters.total.atomic_place_passes;
            *most = region.changes.most().max(*most);
            let most = &mut counters.total.atomic_sums_at_one_address;
            *most = region.changes.most_sums().max(*most);
        }
        counters
    }

    /// The bytes of all parameters, at their offsets, and the objects among the arguments.
    fn parameters(
        &self,
        function: &Function,
        config: &LaunchConfig,
    ) -> Result<(Vec<u8>, Vec<BoundTexture>), LaunchError> {
        let (expected, found) = (function.parameters.len(), config.arguments.len());
        if expected != found {
            return Err(LaunchError::ArgumentCount { expected, found });
        }
        let end = function.parameters.last().map_or(0, |last| last.offset + last.bytes);
        let mut bytes = vec![0; end as usize];
        let mut textures = Vec::new();
        for (index, (parameter, argument)) in
            function.parameters.iter().zip(&config.arguments).enumerate()
        {
            let position = index + 1;
            let value = match argument {
                Argument::Bytes(value) => value.clone(),
                Argument::Buffer(buffer) if buffer.0 < self.memory.regions.len() => {
                    self.address(*buffer).to_le_bytes().to_vec()
                }
                Argument::Texture { buffer, object } if buffer.0 < self.memory.regions.len() => {
                    let (address, object) = (self.address(*buffer), object.clone());
                    textures.push(BoundTexture { address, object });
                    object_value(textures.len() - 1).to_le_bytes().to_vec()
                }
                Argument::Buffer(_) | Argument::Texture { .. } => {
                    return Err(LaunchError::UnknownBuffer(position));
                }
            };
            if value.len() as u64 != parameter.bytes {
                return Err(LaunchError::Argument {
                    position,
                    name: parameter.name.clone(),
                    expected: parameter.bytes,
                    found: value.len() as u64,
                });
            }
            let start = parameter.offset as usize;
            bytes[start..start + value.len()].copy_from_slice(&value);
        }
        Ok((bytes, textures))
    }
}

fn counts_of(config: &LaunchConfig, program: &Program) -> Vec<Counts> {
    vec![Counts::default(); if config.counters { program.ops.len() } else { 0 }]
}

fn tracing(config: &LaunchConfig, selected: SelectedClusters) -> Option<Box<Tracing>> {
    let wanted = config.trace.filter(|_| config.counters)?;
    Some(Box::new(Tracing::new(wanted, selected.middles(wanted.blocks))))
}

/// The state that is prepared from the arguments before the launch.
struct Prepared {
    pool: Pool,
    shared: SharedLayout,
    clusters: Clusters,
    environment: [u32; 32],
    textures: Arc<[BoundTexture]>,
    watch: Option<Box<Watch>>,
}

/// The result of a launch that may have been watched.
pub(super) struct Watched {
    pub(super) report: Report,
    /// The pause, if the launch paused.
    pub(super) found: Option<PausedWarp>,
    /// The recorded accesses of one warp, if requested.
    pub(super) recording: Option<Recording>,
    pub(super) program: Arc<Program>,
    pub(super) addresses: Addresses,
    /// Shared memory of a block in bytes.
    pub(super) shared_bytes: u32,
}

fn find_kernel<'m>(
    module: &'m Module,
    name: &str,
) -> Result<(FunctionId, &'m Function), LaunchError> {
    let functions = module.functions.iter().enumerate();
    functions
        .filter(|(_, function)| function.kind == FunctionKind::Entry && function.body.is_some())
        .find(|(_, function)| function.name == name)
        .map(|(index, function)| (FunctionId(index as u32), function))
        .ok_or_else(|| LaunchError::UnknownKernel(name.to_owned()))
}

/// Checks the options of counting: a block that waits for a block outside the sample would wait for ever, and caches
/// need a fixed order of blocks.
fn check_counting(
    module: &Module,
    program: &Program,
    config: &LaunchConfig,
) -> Result<(), LaunchError> {
    if config.caches.is_some() && is_parallel(config.schedule) {
        return Err(LaunchError::Unavailable("a cache model with a parallel schedule"));
    }
    if config.block_order != BlockOrder::Ascending && is_parallel(config.schedule) {
        return Err(LaunchError::Unavailable(
            "a block order other than ascending with a parallel schedule",
        ));
    }
    match config.blocks {
        BlockSelection::All => Ok(()),
        BlockSelection::Sampled { .. } | BlockSelection::Range { .. } => {
            match super::traffic::first_poll(program) {
                Some(pc) => Err(LaunchError::Sample(program.place(module, pc).0)),
                None => Ok(()),
            }
        }
    }
}
