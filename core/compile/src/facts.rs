//! The compile facts of one kernel: its launches with their resources and their occupancy.

use std::collections::BTreeMap;
use std::time::Duration;

use lightbench_device::{ComputeCapability, DeviceSheet, SmLimits, Sourced};
use lightbench_primitives::cancellation::Cancellation;
use lightbench_project::candidate::Candidate;
use lightbench_project::includes::Refusal;
use lightbench_project::launch::plan::{
    Footprint, Plan, PlanError, PlannedLaunch, PlannedScratch, PlannedStep, Selection,
};
use lightbench_project::{DeviceFacts, Environment, Kernel, PlannedArgument, Project, Workload};
use lightbench_units::Bytes;

use super::compiler::{Compiled, Compiler};
use super::copied_parameter::copies_descriptor;
use super::diagnostics::{Diagnostic, bidirectional_text};
use super::error::CompileError;
use super::job::{Build, CompileJob};
use super::launch_arguments::LaunchContext;
use super::occupancy::{BlockDemand, Carveout, Occupancy, occupancy};
use super::signature::{self, Mismatch};
use super::{Artifact, KernelFacts, Origin};

/// Bytes of local memory of a thread, on every device since compute capability 2.0 (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
const LOCAL_BYTES: u64 = 512 << 10;

/// Project, workload, parameters and device for which a kernel is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The project that the kernel belongs to.
    pub project: &'a Project,
    /// The sizes that decide grids and constants.
    pub workload: &'a Workload,
    /// Parameter values that replace the kernel's defaults.
    pub chosen: &'a BTreeMap<String, i64>,
    /// The device.
    pub sheet: &'a DeviceSheet,
    /// Plans the launches for another number of multiprocessors than the device has.
    pub multiprocessors: Option<u32>,
    /// Optimised or not.
    pub build: Build,
}

impl Setting<'_> {
    fn device_facts(&self) -> DeviceFacts {
        let facts = device_facts(self.sheet);
        let sms = self.multiprocessors.map(u64::from).or(facts.sms);
        DeviceFacts { sms, ..facts }
    }
}

/// All compile facts of a kernel.
#[derive(Debug)]
pub struct Facts {
    /// The candidate.
    pub candidate: Candidate,
    /// The compiled module.
    pub artifact: Artifact,
    /// Whether the artifact came from the compiler or from the cache.
    pub origin: Origin,
    /// Its launch block with every number.
    pub plan: Plan,
    /// Its launches, in order; a repeated launch counts once.
    pub launches: Vec<LaunchFacts>,
}

impl LaunchFacts {
    /// The launch with the most threads. Other launches usually prepare its inputs or finish its outputs.
    #[must_use]
    pub fn main(launches: &[Self]) -> Option<&Self> {
        let threads = |launch: &&Self| {
            let sizes = launch.planned.grid.iter().chain(&launch.planned.block);
            sizes.fold(1_u128, |product, size| product.saturating_mul(u128::from(*size)))
        };
        launches.iter().max_by_key(threads)
    }
}

/// One launch and the compiled kernel that it starts.
#[derive(Clone, Debug)]
pub struct LaunchFacts {
    /// The launch with its numbers.
    pub planned: PlannedLaunch,
    /// The compiled kernel.
    pub kernel: KernelFacts,
    /// Occupancy; `None` if the device sheet or the assembler lacks a number.
    pub occupancy: Option<Occupancy>,
    /// Resources of a block, to compute the effect of reducing them.
    pub demand: Option<BlockDemand>,
    /// Why the driver would refuse the launch, besides a block that does not fit.
    pub problems: Vec<LaunchProblem>,
}

/// A property of a launch that the compiled kernel or the device does not permit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchProblem {
    /// More threads than `__launch_bounds__` promised the compiler.
    #[error("a block of {threads} threads exceeds the kernel's `__launch_bounds__` of {limit}")]
    Bounds {
        /// Launched.
        threads: u32,
        /// Promised.
        limit: u32,
    },
    /// Another block than the kernel requires.
    #[error("a block of {block:?} threads; the kernel requires {required:?}")]
    RequiredBlock {
        /// Launched.
        block: [u32; 3],
        /// Required.
        required: [u32; 3],
    },
    /// A cluster on a device that has none.
    #[error("clusters need compute capability 9.0, the device has {0}")]
    NoClusters(ComputeCapability),
    /// A tensor map on a device without the Tensor Memory Accelerator.
    #[error("tensor maps need compute capability 9.0, the device has {0}")]
    NoTensorMaps(ComputeCapability),
    /// The kernel copies a tensor map to local memory, where the copy instructions cannot read it.
    #[error(
        "the kernel copies the tensor map `{name}` to local memory; declare its parameter as `const __grid_constant__ \
         CUtensorMap {name}`"
    )]
    CopiedTensorMap {
        /// The map.
        name: String,
    },
    /// A cluster of another size than the kernel was compiled for.
    #[error("a cluster of {cluster:?} blocks; the kernel was compiled for {required:?}")]
    RequiredCluster {
        /// Launched.
        cluster: [u32; 3],
        /// Compiled for.
        required: [u32; 3],
    },
    /// A grid that is no whole number of clusters.
    #[error("a grid of {grid:?} blocks is not a whole number of clusters of {cluster:?}")]
    PartialCluster {
        /// Launched.
        grid: [u32; 3],
        /// The cluster.
        cluster: [u32; 3],
    },
    /// The kernel needs more local memory than the limit of a thread.
    #[error("{bytes} bytes of local memory for each thread; the limit is {LOCAL_BYTES}")]
    Local {
        /// What the kernel needs with all it calls.
        bytes: u64,
    },
    /// A cooperative grid whose blocks do not fit on the device at once.
    #[error("a cooperative grid of {blocks} blocks; the device holds {resident} at once")]
    Cooperative {
        /// Launched.
        blocks: u64,
        /// At once.
        resident: u64,
    },
}

/// Why a kernel has no facts.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    /// The workload and the chosen parameters give the launch no numbers: the request is wrong.
    #[error(transparent)]
    Plan(Box<PlanError>),
    /// The kernel includes what must not be compiled.
    #[error("{}", lines(.0))]
    Include(Vec<Refusal>),
    /// The compiled kernel declares other parameters than it would be given.
    #[error("`{kernel}`: {}", lines(mismatches))]
    Arguments {
        /// The kernel as its launch names it.
        kernel: String,
        /// All that differs.
        mismatches: Vec<Mismatch>,
    },
    /// A launch names a kernel that the compiled code lacks.
    #[error("the compiled code has no kernel `{kernel}`; it has {}", compiled.join(", "))]
    NoSuchKernel {
        /// The kernel as its launch names it.
        kernel: String,
        /// The kernels that there are.
        compiled: Vec<String>,
    },
    /// It gave no artifact.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// How many times the usual time a kernel with libraries of headers may take to compile.
const LIBRARY_FACTOR: u32 = 4;

/// Compiles a kernel of a project and computes its facts.
///
/// # Errors
/// See [`FactsError`].
pub fn facts(
    compiler: &mut Compiler,
    kernel: &Kernel,
    setting: &Setting<'_>,
    cancellation: &Cancellation,
) -> Result<Facts, FactsError> {
    let prepared = Prepared::new(kernel, setting)?;
    let compiled = compiler.compile(prepared.job(), prepared.limit(), cancellation)?;
    prepared.facts(compiled)
}

/// A kernel with all inputs of its compilation.
#[derive(Debug)]
pub struct Prepared<'a> {
    kernel: &'a Kernel,
    setting: Setting<'a>,
    candidate: Candidate,
    job: CompileJob,
}

impl<'a> Prepared<'a> {
    /// Prepares the compilation of a kernel.
    ///
    /// # Errors
    /// [`FactsError::Plan`] and [`FactsError::Include`].
    pub fn new(kernel: &'a Kernel, setting: &Setting<'a>) -> Result<Self, FactsError> {
        let selection = selection(kernel, setting)?;
        let candidate =
            Candidate::new(setting.project, kernel, selection).map_err(FactsError::Include)?;
        let job =
            CompileJob::new(&candidate, setting.sheet.capability.compute_capability, setting.build);
        Ok(Self { kernel, setting: *setting, candidate, job })
    }

    /// What is compiled.
    #[must_use]
    pub const fn candidate(&self) -> &Candidate {
        &self.candidate
    }

    /// The compile.
    #[must_use]
    pub fn job(&self) -> &CompileJob {
        &self.job
    }

    /// How long it may take. The templates of a library alone take longer than a usual kernel.
    #[must_use]
    pub fn limit(&self) -> Duration {
        let limit = Duration::from_secs(self.setting.project.definition.limits.compile_secs);
        let with_libraries = !self.candidate.libraries.is_empty();
        if with_libraries { limit * LIBRARY_FACTOR } else { limit }
    }

    /// Computes the facts from the compiled artifact.
    ///
    /// # Errors
    /// The compiled code is not what the launch needs.
    pub fn facts(self, compiled: Compiled) -> Result<Facts, FactsError> {
        let Self { kernel, setting, candidate, .. } = self;
        let Compiled { mut artifact, origin, libraries } = compiled;
        let candidate = candidate.with_library_versions(&libraries);
        artifact.diagnostics.extend(direction_warnings(&candidate));
        let device = setting.device_facts();
        let environment = setting.project.environment(setting.workload);
        let planner =
            Planner { kernel, setting: &setting, environment, device, artifact: &artifact };
        let (plan, launches) = planner.launches(&candidate.selection)?;
        Ok(Facts { candidate, artifact, origin, plan, launches })
    }
}

/// Warnings about bidirectional control characters, which the compiler does not report.
fn direction_warnings(candidate: &Candidate) -> Vec<Diagnostic> {
    let kernel = (candidate.file.display().to_string(), candidate.text.as_str());
    let included = candidate.includes.iter();
    let included = included.map(|file| (format!("include/{}", file.name), file.text.as_str()));
    let texts = std::iter::once(kernel).chain(included);
    texts.flat_map(|(file, text)| bidirectional_text::warnings(&file, text)).collect()
}

/// The parameters, constants and options with which a kernel is compiled.
///
/// # Errors
/// [`FactsError::Plan`]: the workload and the chosen parameters permit nothing.
pub fn selection(kernel: &Kernel, setting: &Setting<'_>) -> Result<Selection, FactsError> {
    let environment = setting.project.environment(setting.workload);
    let select = |chosen: &BTreeMap<String, i64>, device: &DeviceFacts| {
        kernel.launch.select(&environment, chosen, device).map_err(plan_error)
    };
    let other = setting.device_facts();
    if setting.multiprocessors.is_some() {
        // The same code, if its parameters are permitted there.
        let own = select(setting.chosen, &device_facts(setting.sheet))?;
        if let Ok(same) = select(&own.parameters.into_iter().collect(), &other) {
            return Ok(same);
        }
    }
    select(setting.chosen, &other)
}

struct Planner<'a> {
    kernel: &'a Kernel,
    setting: &'a Setting<'a>,
    environment: Environment<'a>,
    device: DeviceFacts,
    artifact: &'a Artifact,
}

impl Planner<'_> {
    fn launches(&self, selection: &Selection) -> Result<(Plan, Vec<LaunchFacts>), FactsError> {
        let launch = &self.kernel.launch;
        let footprints =
            launch.footprints(&self.environment, selection, &self.device).map_err(plan_error)?;
        let resident = self.resident_blocks(&footprints)?;
        let mut plan = launch
            .plan(&self.environment, selection, &self.device, &resident)
            .map_err(plan_error)?;
        self.apply_triton(&mut plan.steps, &mut plan.scratch)?;
        let launches = planned_launches(&plan).into_iter();
        let launches = launches
            .map(|planned| self.launch_facts(planned, &plan.scratch))
            .collect::<Result<_, _>>()?;
        Ok((plan, launches))
    }

    /// Replaces the numbers of launches that Triton decides, and adds the scratch memory that it asks for.
    fn apply_triton(
        &self,
        steps: &mut [PlannedStep],
        scratch: &mut Vec<PlannedScratch>,
    ) -> Result<(), FactsError> {
        for step in steps {
            match step {
                PlannedStep::Launch(planned) => {
                    let kernel = self.compiled(&planned.name_expression)?;
                    if let Some(triton) = &kernel.triton {
                        triton
                            .apply(planned, kernel.parameters.len(), scratch)
                            .map_err(plan_error)?;
                    }
                }
                PlannedStep::Repeat { steps, .. } => self.apply_triton(steps, scratch)?,
                PlannedStep::Fill { .. } => {}
            }
        }
        Ok(())
    }

    /// Resident blocks on the whole device, for launches whose size depends on them.
    fn resident_blocks(
        &self,
        footprints: &[Footprint],
    ) -> Result<BTreeMap<String, u64>, FactsError> {
        let mut resident = BTreeMap::new();
        for footprint in footprints {
            let kernel = self.compiled(&footprint.name_expression)?;
            let (block, shared) = match &kernel.triton {
                Some(triton) => (triton.block(), triton.shared),
                None => (footprint.block, footprint.shared_bytes),
            };
            let demand = demand(kernel, block, shared, footprint.carveout);
            let Some(sms) = self.setting.sheet.sms.get() else { continue };
            let blocks = match self.occupancy(demand) {
                Some(Occupancy::Resident(fit)) => u64::from(fit.blocks) * u64::from(sms),
                Some(Occupancy::CannotLaunch(_)) => 0,
                // Without an assembler the registers are unknown.
                None => continue,
            };
            // Launches of one name may differ in block, shared memory and, in Triton, in code.
            let least = resident.entry(footprint.kernel.clone()).or_insert(blocks);
            *least = blocks.min(*least);
        }
        Ok(resident)
    }

    fn launch_facts(
        &self,
        planned: PlannedLaunch,
        scratch: &[PlannedScratch],
    ) -> Result<LaunchFacts, FactsError> {
        let kernel = self.compiled(&planned.name_expression)?.clone();
        let buffers = LaunchContext {
            definition: &self.setting.project.definition,
            launch: &self.kernel.launch,
            scratch,
            role: self.kernel.role,
        };
        let arguments = buffers.launch_arguments(&planned.arguments);
        let types = signature::parameters(&kernel.symbol);
        let mismatches =
            signature::match_arguments(&arguments, &kernel.parameters, types.as_deref());
        if !mismatches.is_empty() {
            return Err(FactsError::Arguments { kernel: planned.name_expression, mismatches });
        }
        let demand = demand(&kernel, planned.block, planned.shared_bytes, planned.carveout);
        let occupancy = self.occupancy(demand);
        let problems = self.problems(&planned, &kernel, occupancy.as_ref());
        Ok(LaunchFacts { planned, kernel, occupancy, demand, problems })
    }

    fn problems(
        &self,
        planned: &PlannedLaunch,
        kernel: &KernelFacts,
        occupancy: Option<&Occupancy>,
    ) -> Vec<LaunchProblem> {
        let (block, grid) = (planned.block, planned.grid);
        let threads: u32 = block.iter().product();
        let mut problems = Vec::new();
        if let Some(bounds) = kernel.max_threads {
            let limit = bounds.iter().product();
            problems.extend((threads > limit).then_some(LaunchProblem::Bounds { threads, limit }));
        }
        if let Some(required) = kernel.required_threads.filter(|required| *required != block) {
            problems.push(LaunchProblem::RequiredBlock { block, required });
        }
        problems.extend(self.cluster_problems(planned, kernel.required_cluster));
        let is_map = |argument: &PlannedArgument| matches!(argument, PlannedArgument::TensorMap(_));
        let capability = self.setting.sheet.capability.compute_capability;
        if capability < ComputeCapability(9, 0) && planned.arguments.iter().any(is_map) {
            problems.push(LaunchProblem::NoTensorMaps(capability));
        }
        problems.extend(self.copied_maps(planned, kernel));
        let local = kernel.resources.and_then(|resources| resources.stack).map(|stack| stack.0);
        let too_much = local.filter(|bytes| *bytes > LOCAL_BYTES);
        problems.extend(too_much.map(|bytes| LaunchProblem::Local { bytes }));
        let sms = self.setting.sheet.sms.get().map(u64::from);
        if let (true, Some(Occupancy::Resident(fit)), Some(sms)) =
            (planned.cooperative, occupancy, sms)
        {
            let blocks = grid.iter().map(|size| u64::from(*size)).product();
            let resident = u64::from(fit.blocks) * sms;
            let exceeds = blocks > resident;
            problems.extend(exceeds.then_some(LaunchProblem::Cooperative { blocks, resident }));
        }
        problems
    }

    fn cluster_problems(
        &self,
        planned: &PlannedLaunch,
        required: Option<[u32; 3]>,
    ) -> Vec<LaunchProblem> {
        let Some(cluster) = planned.cluster.or(required) else { return Vec::new() };
        let capability = self.setting.sheet.capability.compute_capability;
        let mut problems = Vec::new();
        if capability < ComputeCapability(9, 0) {
            problems.push(LaunchProblem::NoClusters(capability));
        }
        if let Some(required) = required.filter(|required| *required != cluster) {
            problems.push(LaunchProblem::RequiredCluster { cluster, required });
        }
        let grid = planned.grid;
        if grid.iter().zip(cluster).any(|(blocks, cluster)| cluster == 0 || blocks % cluster != 0) {
            problems.push(LaunchProblem::PartialCluster { grid, cluster });
        }
        problems
    }

    /// Tensor maps whose parameters lack `__grid_constant__`.
    fn copied_maps(&self, planned: &PlannedLaunch, kernel: &KernelFacts) -> Vec<LaunchProblem> {
        let Artifact { ptx, module, .. } = self.artifact;
        let Some(entry) = module.entries.iter().find(|entry| entry.name == kernel.symbol) else {
            return Vec::new();
        };
        let arguments = planned.arguments.iter().zip(&kernel.parameters);
        let copied = arguments.filter_map(|(argument, parameter)| match argument {
            PlannedArgument::TensorMap(index) => {
                let name = &self.kernel.launch.tensor_maps.get(*index)?.name;
                copies_descriptor(ptx, entry, &parameter.name)
                    .then(|| LaunchProblem::CopiedTensorMap { name: name.clone() })
            }
            PlannedArgument::Buffer(_)
            | PlannedArgument::Value { .. }
            | PlannedArgument::Struct { .. }
            | PlannedArgument::Texture(_)
            | PlannedArgument::Null
            | PlannedArgument::Outside(_) => None,
        });
        copied.collect()
    }

    fn occupancy(&self, demand: Option<BlockDemand>) -> Option<Occupancy> {
        let limits: SmLimits = self.setting.sheet.capability.sm_limits().ok()?;
        Some(occupancy(&limits, &demand?))
    }

    fn compiled(&self, expression: &str) -> Result<&KernelFacts, FactsError> {
        find(&self.artifact.kernels, expression).ok_or_else(|| FactsError::NoSuchKernel {
            kernel: expression.to_owned(),
            compiled: self.artifact.kernels.iter().map(|kernel| kernel.symbol.clone()).collect(),
        })
    }
}

fn plan_error(error: PlanError) -> FactsError {
    FactsError::Plan(Box::new(error))
}

/// The device properties that launch expressions may use.
#[must_use]
pub fn device_facts(sheet: &DeviceSheet) -> DeviceFacts {
    let capability = &sheet.capability;
    let bytes = |fact: &Sourced<Bytes>| fact.get().map(|bytes| bytes.0);
    let count = |fact: &Sourced<u32>| fact.get().map(u64::from);
    DeviceFacts {
        sms: count(&sheet.sms),
        l2_bytes: bytes(&sheet.l2),
        max_shared_per_block: bytes(&capability.max_shared_per_block),
        shared_per_sm: bytes(&capability.shared_per_sm),
        warp_size: count(&capability.warp_size),
        max_threads_per_sm: count(&capability.max_threads_per_sm),
    }
}

/// By the expression that asked for it, or by its symbol, which is all that PTX has.
fn find<'a>(kernels: &'a [KernelFacts], expression: &str) -> Option<&'a KernelFacts> {
    let asked = |kernel: &&KernelFacts| kernel.expression.as_deref() == Some(expression);
    kernels.iter().find(asked).or_else(|| kernels.iter().find(|kernel| kernel.symbol == expression))
}

/// Resources of a block of a compiled kernel; `None` without machine code.
#[must_use]
pub fn demand(
    kernel: &KernelFacts,
    block: [u32; 3],
    dynamic_shared: u64,
    carveout: Option<u8>,
) -> Option<BlockDemand> {
    let resources = kernel.resources?;
    Some(BlockDemand {
        threads: block.iter().product(),
        registers_per_thread: resources.registers,
        static_shared: resources.static_shared,
        dynamic_shared: Bytes(dynamic_shared),
        barriers: resources.barriers,
        carveout: carveout.map_or(Carveout::Default, Carveout::Percent),
    })
}

fn planned_launches(plan: &Plan) -> Vec<PlannedLaunch> {
    fn collect(steps: &[PlannedStep], launches: &mut Vec<PlannedLaunch>) {
        for step in steps {
            match step {
                PlannedStep::Launch(launch) => launches.push(launch.clone()),
                PlannedStep::Repeat { steps, .. } => collect(steps, launches),
                PlannedStep::Fill { .. } => {}
            }
        }
    }
    let mut launches = Vec::new();
    collect(&plan.steps, &mut launches);
    launches
}

fn lines(items: &[impl std::fmt::Display]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
