//! One launch: what is asked for, what is refused, what comes of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::super::cost::{
    Blocks, BlocksRun, CacheSizes, Caches, Counters, Counts, Trace, TraceUse,
};
use super::super::error::Place;
use super::super::lower::Unsupported;
use super::super::lower::{self, Program};
use super::super::module::{Function, FunctionId, FunctionKind, Module};
use super::super::semantics::approximate::Approximation;
use super::block_order::BlockOrder;
use super::cluster::Clusters;
use super::cooperative;
use super::fault::Fault;
use super::lanes::Pool;
use super::layout::{place_objects, place_parameters, pool};
use super::limit::Deadline;
use super::memory::Addresses;
use super::parallel::{self, Common};
use super::race::{self, Accepted, LaunchRaces};
use super::recording::Recording;
use super::run::Launch;
pub(super) use super::schedule::Schedule;
use super::schedule::{is_parallel, numbering, order, threads};
use super::shared::SharedLayout;
use super::tensor::TensorModel;
use super::trace::Tracing;
use super::watch::{Found, Watch};
use super::{BufferId, Machine};

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The address of a buffer.
    Buffer(BufferId),
    /// The bytes of a value, as many as the parameter has.
    Bytes(Vec<u8>),
}

/// What is looked for beyond bounds, alignment and rights, which always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Values that nothing wrote.
    pub uninitialized: bool,
    /// Accesses of several threads that nothing orders.
    pub races: Races,
}

/// By which rules accesses of several threads are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Races {
    /// They are not.
    Ignored,
    /// What working CUDA code relies on is accepted: `volatile` flags, a fence before an atomic counter.
    CudaIdiom,
    /// The happens-before of the PTX memory model, with scopes.
    Strict,
    /// As [`Races::CudaIdiom`], and strong reads of global memory return older values that the memory model permits.
    Replayed {
        /// Zero returns the oldest permitted value; any other number decides at random.
        seed: u64,
    },
}

/// What happens after a fault that need not end the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// The lane goes on: its load gives zero, its store is dropped.
    Continue,
    /// The launch ends.
    Stop,
}

/// What a launch asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes for shared arrays without a size.
    pub dynamic_shared: u32,
    /// Blocks of a cluster, unless the kernel says so itself.
    pub cluster: Option<[u32; 3]>,
    /// One for each parameter.
    pub arguments: Vec<Argument>,
    /// What is looked for.
    pub checks: Checks,
    /// In which order threads go.
    pub schedule: Schedule,
    /// How tensor cores round.
    pub tensor: TensorModel,
    /// Where approximate functions lie in the interval that the ISA documents.
    pub approximation: Approximation,
    /// Whether all blocks must be there at once, and may wait for each other (`cudaLaunchCooperativeKernel`).
    pub cooperative: bool,
    /// What happens after a fault.
    pub on_fault: OnFault,
    /// Whether instructions and accesses are counted.
    pub counters: bool,
    /// Caches whose traffic is counted too, at a price in time; nothing without `counters`.
    pub caches: Option<CacheSizes>,
    /// What is kept of some blocks step by step; nothing without `counters`, nor on several threads.
    pub trace: Option<TraceUse>,
    /// Which blocks run.
    pub blocks: Blocks,
    /// In which order blocks start; on several threads of the host they start by their number.
    pub block_order: BlockOrder,
    /// Blocks that run at once, where they shall be fewer than the device holds; not on several threads of the host.
    pub most_resident: Option<NonZeroU32>,
    /// Warp instructions after which the launch is ended.
    pub max_steps: u64,
    /// Time on the host's clock after which the launch is ended.
    pub time_limit: Option<Duration>,
}

impl LaunchConfig {
    /// Warp instructions of a launch unless it asks for another limit: more than a kernel of a test takes, and minutes
    /// at the 20 to 100 million steps that a processor takes in a second. A limit of time ends a launch earlier.
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
            blocks: Blocks::All,
            block_order: BlockOrder::Ascending,
            most_resident: None,
            max_steps: Self::MAX_STEPS,
            time_limit: None,
        }
    }
}

/// What came of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What was found wrong, in the order in which it happened.
    pub faults: Vec<Fault>,
    /// What [`Races::CudaIdiom`] accepted that [`Races::Strict`] would not, by rule and instruction.
    pub accepted: Vec<Accepted>,
    /// Instructions whose strong reads met a write that nothing orders before them, so that the memory model permits
    /// an older value: where there are any, a launch with [`Races::Replayed`] may have another result.
    pub stale_reads: usize,
    /// What was done, if it was counted.
    pub counters: Option<Counters>,
    /// What the kernel printed.
    pub printed: String,
    /// Warp instructions.
    pub steps: u64,
    /// How much of the grid ran; with a sample, buffers hold a part of the result.
    pub blocks: BlocksRun,
    /// Whether a fault ended it early.
    pub stopped: bool,
    /// In which order threads really went.
    pub schedule: Schedule,
    /// Why that is not the order that was asked for.
    pub schedule_note: Option<&'static str>,
}

/// Why a launch is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The module has no such kernel.
    #[error("the module has no kernel `{0}`")]
    UnknownKernel(String),
    /// The size of the grid or the block is not possible.
    #[error("{what} of {size:?}; {reason}")]
    Size {
        /// Grid or block.
        what: &'static str,
        /// What was asked for.
        size: [u32; 3],
        /// What is possible.
        reason: String,
    },
    /// Too much shared memory.
    #[error("{bytes} bytes of shared memory in a block; the device has {limit}")]
    Shared {
        /// What the kernel needs, with what the launch adds.
        bytes: u64,
        /// What a block may have.
        limit: u32,
    },
    /// Arguments that do not fit the parameters.
    #[error("the kernel takes {expected} arguments; {found} were given")]
    ArgumentCount {
        /// Parameters.
        expected: usize,
        /// Arguments.
        found: usize,
    },
    /// An argument that does not fit its parameter.
    #[error("argument {position} has {found} bytes; parameter `{name}` has {expected}")]
    Argument {
        /// Counted from one.
        position: usize,
        /// The parameter.
        name: String,
        /// Its size.
        expected: u64,
        /// What was given.
        found: u64,
    },
    /// A buffer of another machine.
    #[error("argument {0} is a buffer that this machine does not have")]
    UnknownBuffer(usize),
    /// Something of the launch that this machine cannot do.
    #[error("{0} is not supported")]
    Unavailable(&'static str),
    /// A part of the grid was asked for, but blocks may wait for each other.
    #[error(
        "the kernel cannot run on a sample of its blocks: the load at PTX {0} looks at what other blocks write"
    )]
    Sample(Place),
    /// Instructions that this machine does not execute.
    #[error("{} instructions are not supported, the first at line {}: {}", .0.len(), .0.first().map_or(0, |u| u.place.line), .0.first().map_or("", |u| &u.operation))]
    Unsupported(Vec<Unsupported>),
    /// The module's variables need more memory than there is.
    #[error("the variables of the module need {bytes} bytes; the device has {limit}")]
    Variables {
        /// What they need.
        bytes: u64,
        /// What there is.
        limit: u64,
    },
}

/// Limits of all devices since compute capability 3.0 (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability").
const MOST_THREADS: u64 = 1024;
const LARGEST_BLOCK: [u32; 3] = [1024, 1024, 64];
const LARGEST_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

impl Machine {
    /// Runs a kernel.
    ///
    /// # Errors
    ///
    /// The launch is impossible, or the kernel has instructions that are not supported. Faults of the kernel are no
    /// errors: they are in the report.
    pub fn launch(
        &mut self,
        module: &Module,
        kernel: &str,
        config: &LaunchConfig,
    ) -> Result<Report, LaunchError> {
        self.watched_launch(module, kernel, config, None).map(|done| done.report)
    }

    /// How what a block writes may depend on other blocks of the same launch: atomics, fences, strong accesses, clocks.
    /// None where it cannot, unless plain accesses race.
    ///
    /// # Errors
    ///
    /// The module has no such kernel, or the kernel has instructions that are not supported.
    pub fn block_coupling(
        module: &Module,
        kernel: &str,
    ) -> Result<Option<&'static str>, LaunchError> {
        let (id, _) = find_kernel(module, kernel)?;
        let program = lower::program(module, id).map_err(LaunchError::Unsupported)?;
        Ok(parallel::has_meeting_blocks(&program))
    }

    /// Runs a kernel until it ends or what is watched for happens.
    ///
    /// A launch that pauses leaves its variables among the buffers, to be looked at; its machine ends with it.
    pub(super) fn watched_launch(
        &mut self,
        module: &Module,
        kernel: &str,
        config: &LaunchConfig,
        watch: Option<Watch>,
    ) -> Result<Watched, LaunchError> {
        let (id, function) = find_kernel(module, kernel)?;
        check_sizes(function, config)?;
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
        let clusters = Clusters::of(function, config)?;
        let parameters = self.parameters(function, config)?;
        let mut addresses = place_objects(
            &mut self.memory,
            &mut self.variables,
            module,
            &program,
            &shared,
            self.shape.memory_bytes,
        )?;
        // Variables of a module stay as long as it is loaded; what is placed from here on belongs to the launch.
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
        let prepared = Prepared { pool, shared, clusters, environment, watch: watch.map(Box::new) };
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
        prepared: Prepared,
    ) -> (Report, Option<Box<Watch>>) {
        let counts = if config.counters { program.ops.len() } else { 0 };
        let blocks = config.blocks.of(config.grid.iter().map(|size| u64::from(*size)).product());
        let (shape, Prepared { pool, shared, clusters, environment, watch }) =
            (self.shape, prepared);
        let resident = shape.resident_blocks(program, config.block.iter().product(), shared.bytes);
        let new = |memory, common| Launch {
            module,
            program,
            kernel: kernel.to_owned(),
            heap_left: shape.heap_bytes,
            memory,
            pool: pool.clone(),
            shared: shared.clone(),
            shape,
            grid: config.grid,
            clusters,
            block: config.block,
            dynamic_shared: config.dynamic_shared,
            checks: config.checks,
            on_fault: config.on_fault,
            environment,
            approximation: config.approximation,
            accumulation: super::tensor::accumulation(config.tensor, module),
            counts: vec![Counts::default(); counts],
            caches: config.caches.filter(|_| config.counters).map(Caches::new),
            blocks,
            faults: Vec::new(),
            seen: BTreeMap::new(),
            steps: 0,
            max_steps: config.max_steps,
            deadline: config.time_limit.map(Deadline::new),
            block_order: config.block_order,
            most_resident: config.most_resident,
            beyond_residency: None,
            numbering: numbering(config),
            accepted: BTreeSet::new(),
            changes: 0,
            stopped: false,
            printed: String::new(),
            heap: HashMap::new(),
            races: LaunchRaces::new(config.checks.races, program),
            order: order(config.schedule),
            common,
            counted_steps: 0,
            watch: None,
            trace: None,
        };
        let mut report = Report { schedule: config.schedule, blocks, ..Report::default() };
        let (mut caches, mut watched, mut traced) = (None, None, Vec::new());
        let counts = if let Some(threads) = threads(config.schedule, program, &mut report) {
            let common = Common::new(resident.div_ceil(threads.get()));
            let mut memories: Vec<_> = (0..threads.get()).map(|_| self.memory.share()).collect();
            let outcome = parallel::run(new, &common, &mut memories);
            memories.iter().for_each(|memory| self.memory.add_touched(memory));
            (report.steps, report.stopped) = (outcome.steps, outcome.stopped);
            report.faults = outcome.faults.into_iter().map(|recorded| recorded.fault).collect();
            outcome.counts
        } else {
            let mut launch = new(&mut self.memory, None);
            launch.watch = watch;
            let wanted = config.trace.filter(|_| config.counters);
            launch.trace = wanted.map(|wanted| Box::new(Tracing::new(wanted, blocks)));
            launch.run();
            traced = launch.trace.take().map_or_else(Vec::new, |trace| trace.blocks());
            (report.accepted, report.stale_reads) = launch.finish_races();
            report.accepted.extend(launch.accepted_places());
            watched = launch.watch.take();
            caches = launch.caches.take().map(|caches| caches.traffic());
            (report.steps, report.stopped) = (launch.steps, launch.stopped);
            report.faults = launch.faults.into_iter().map(|recorded| recorded.fault).collect();
            report.printed = launch.printed;
            launch.counts
        };
        report.counters = config.counters.then(|| {
            let counters = self.counters(module, program, &counts);
            let trace = (!traced.is_empty())
                .then(|| Arc::new(Trace::new((module, program), &counts, blocks, traced)));
            Counters { caches, blocks, trace, ..counters }
        });
        (report, watched)
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

    /// The bytes of all parameters, at their offsets.
    fn parameters(
        &self,
        function: &Function,
        config: &LaunchConfig,
    ) -> Result<Vec<u8>, LaunchError> {
        let (expected, found) = (function.parameters.len(), config.arguments.len());
        if expected != found {
            return Err(LaunchError::ArgumentCount { expected, found });
        }
        let end = function.parameters.last().map_or(0, |last| last.offset + last.bytes);
        let mut bytes = vec![0; end as usize];
        for (index, (parameter, argument)) in
            function.parameters.iter().zip(&config.arguments).enumerate()
        {
            let position = index + 1;
            let value = match argument {
                Argument::Bytes(value) => value.clone(),
                Argument::Buffer(buffer) if buffer.0 < self.memory.regions.len() => {
                    self.address(*buffer).to_le_bytes().to_vec()
                }
                Argument::Buffer(_) => return Err(LaunchError::UnknownBuffer(position)),
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
        Ok(bytes)
    }
}

/// What is made from the arguments before the launch.
struct Prepared {
    pool: Pool,
    shared: SharedLayout,
    clusters: Clusters,
    environment: [u32; 32],
    watch: Option<Box<Watch>>,
}

/// What came of a launch that may have been watched.
pub(super) struct Watched {
    pub(super) report: Report,
    /// The pause, if there was one.
    pub(super) found: Option<Found>,
    /// What one warp accessed, if that was asked for.
    pub(super) recording: Option<Recording>,
    pub(super) program: Arc<Program>,
    pub(super) addresses: Addresses,
    /// Bytes of shared memory of a block.
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

/// How many there are of something in three dimensions.
fn product(size: [u32; 3]) -> u64 {
    size.iter().fold(1, |all, side| all.saturating_mul(u64::from(*side)))
}

fn check_sizes(function: &Function, config: &LaunchConfig) -> Result<(), LaunchError> {
    let refuse = |what, size, reason: String| Err(LaunchError::Size { what, size, reason });
    let beyond = |size: [u32; 3], limit: [u32; 3]| {
        size.iter().zip(limit).any(|(size, limit)| *size == 0 || *size > limit)
    };
    if beyond(config.grid, LARGEST_GRID) {
        return refuse(
            "a grid",
            config.grid,
            format!("each side is between 1 and {LARGEST_GRID:?}"),
        );
    }
    let threads = product(config.block);
    if beyond(config.block, LARGEST_BLOCK) || threads > MOST_THREADS {
        let reason = format!("a block has 1 to {MOST_THREADS} threads, at most {LARGEST_BLOCK:?}");
        return refuse("a block", config.block, reason);
    }
    if let Some(required) = function.bounds.required_threads
        && required != config.block
    {
        return refuse("a block", config.block, format!("the kernel requires {required:?}"));
    }
    if let Some(most) = function.bounds.max_threads {
        let most = product(most);
        if threads > most {
            return refuse("a block", config.block, format!("the kernel allows {most} threads"));
        }
    }
    Ok(())
}

/// Blocks that wait for a block that is left out would wait for ever; caches need an order of blocks.
fn check_counting(
    module: &Module,
    program: &Program,
    config: &LaunchConfig,
) -> Result<(), LaunchError> {
    if config.caches.is_some() && is_parallel(config.schedule) {
        return Err(LaunchError::Unavailable("a cache model on a parallel schedule"));
    }
    if config.block_order != BlockOrder::Ascending && is_parallel(config.schedule) {
        return Err(LaunchError::Unavailable("another order of blocks on a parallel schedule"));
    }
    match config.blocks {
        Blocks::All => Ok(()),
        Blocks::Sampled { .. } | Blocks::Range { .. } => {
            match super::traffic::first_poll(program) {
                Some(pc) => Err(LaunchError::Sample(program.place(module, pc).0)),
                None => Ok(()),
            }
        }
    }
}
