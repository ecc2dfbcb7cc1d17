//! A kernel of a sample project, compiled, run and counted on the virtual GPU, as the situation that advice is made of.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::facts::{Facts, LaunchFacts, Setting, facts};
use lightbench_core::compile::occupancy::Occupancy;
use lightbench_core::compile::{Build, Compiler};
use lightbench_core::device::{
    Argument, BufferId, BufferRequest, Device as _, DeviceSheet, Image, Launch, ModuleId,
    VirtualDevice, Watch,
};
use lightbench_core::project::Project;
use lightbench_core::project::launch::Buffer;
use lightbench_core::project::manifest::{Distribution, Init};
use lightbench_core::project::tensor::Role;
use lightbench_core::speed_of_light::minimal_work::MinimalWork;
use lightbench_core::speed_of_light::performance_data::PerformanceData;
use lightbench_core::tensors::inputs::{InputMode, InputSpec, generate};
use lightbench_core::tensors::{Case, TensorCase};
use lightbench_core::verify::program::{ArgumentCase, LaunchStep, Program, Step};
use lightbench_core::virtual_gpu::cost::expansion::Expansion;
use lightbench_core::virtual_gpu::cost::time::{LaunchShape, LaunchStart, modelled};
use lightbench_core::virtual_gpu::{Access, Checks, InitialContent, Races};
use lightbench_core::worker::command::WorkerCommand;

use crate::compiler;
use crate::program::{repository, shared_cache};

/// The workload that is added to a sample project.
const WORKLOAD: &str = "counted";

/// A sample project with one more workload, and what compiles its kernels.
pub(super) struct Sample {
    pub(super) project: Project,
    compiler: Compiler,
    sheet: &'static DeviceSheet,
}

impl Sample {
    /// The project with a workload of these axes and fills; none where there is no compiler.
    pub(super) fn new(name: &str, device: &str, workload: &str) -> Option<Self> {
        let found = compiler::required()?;
        let folder = tempfile::tempdir().unwrap();
        let places = ["sample-projects", "tests/data"];
        let places = places.map(|place| repository().join(place).join(name));
        copy(places.iter().find(|place| place.exists()).unwrap(), folder.path());
        let manifest = folder.path().join("project.ron");
        let text = fs::read_to_string(&manifest).unwrap();
        let workload = format!("(name: \"{WORKLOAD}\", purpose: measure, {workload}),");
        let list = "    workloads: [\n";
        assert!(text.contains(list), "{name}");
        fs::write(&manifest, text.replacen(list, &format!("{list}{workload}\n"), 1)).unwrap();
        let project = Project::load(folder.path()).unwrap();
        let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
        let cache = Some(shared_cache().to_owned());
        let compiler = Compiler::new(found.toolchain.clone(), command, cache);
        Some(Self { project, compiler, sheet: DeviceSheet::named(device).unwrap() })
    }

    /// Runs a kernel and looks at what is then known of it.
    pub(super) fn look<R>(
        &mut self,
        kernel: &str,
        look: impl FnOnce(&PerformanceData<'_>) -> R,
    ) -> R {
        let facts = self.facts(kernel);
        let workload = self.project.workload(WORKLOAD).unwrap();
        let work = MinimalWork::new(&self.project.definition, workload);
        let own = self.project.kernel(kernel).unwrap();
        let program = Program::from_facts(0, &self.project.definition, own, &facts).unwrap();
        let case = Case::new(&self.project.definition, workload).unwrap();
        let situation = PerformanceData::compiled(self.sheet, &work, &facts);
        let mut run = Run::new(self.sheet, &facts, &case, &program, situation);
        run.steps(&program.steps);
        look(&run.situation)
    }

    fn facts(&mut self, kernel: &str) -> Facts {
        let setting = Setting {
            project: &self.project,
            workload: self.project.workload(WORKLOAD).unwrap(),
            chosen: &BTreeMap::new(),
            sheet: self.sheet,
            multiprocessors: None,
            build: Build::Optimised,
        };
        let kernel = self.project.kernel(kernel).unwrap();
        facts(&mut self.compiler, kernel, &setting, &Cancellation::new()).unwrap()
    }
}

/// A run of a program on the virtual GPU.
struct Run<'a> {
    device: VirtualDevice,
    module: ModuleId,
    sheet: &'static DeviceSheet,
    launches: &'a [LaunchFacts],
    names: BTreeMap<Buffer, BufferId>,
    sizes: BTreeMap<BufferId, usize>,
    situation: PerformanceData<'a>,
}

impl<'a> Run<'a> {
    fn new(
        sheet: &'static DeviceSheet,
        facts: &'a Facts,
        case: &Case,
        program: &Program,
        situation: PerformanceData<'a>,
    ) -> Self {
        let checks = Checks { uninitialized: true, races: Races::Ignored };
        let mut device = VirtualDevice::new(sheet, Watch { checks, ..Watch::ALL }).unwrap();
        let module = device.load(Image { ptx: &facts.artifact.ptx, cubin: None }).unwrap();
        let launches = &facts.launches;
        let (names, sizes) = (BTreeMap::new(), BTreeMap::new());
        let mut run = Self { device, module, sheet, launches, names, sizes, situation };
        run.allocate(case, program);
        run
    }

    fn allocate(&mut self, case: &Case, program: &Program) {
        let recipe = InputSpec { seed: 1, draw: InputMode::Distribution(Distribution::AsDeclared) };
        let contents = generate(case, recipe).unwrap();
        for ((index, tensor), content) in case.tensors.iter().enumerate().zip(contents) {
            let (access, initial) = tensor_start(tensor, content);
            self.buffer(Buffer::Tensor(index), &tensor.name, tensor.bytes, (access, initial));
        }
        for (index, scratch) in program.scratch.iter().enumerate() {
            let start = (Access::ReadWrite, start(scratch.init, scratch.bytes));
            self.buffer(Buffer::Scratch(index), &scratch.name, scratch.bytes, start);
        }
    }

    fn buffer(&mut self, buffer: Buffer, name: &str, bytes: u64, start: (Access, InitialContent)) {
        let id = self.device.allocate(BufferRequest::new(name, bytes, start.0, start.1)).unwrap();
        self.names.insert(buffer, id);
        self.sizes.insert(id, usize::try_from(bytes).unwrap());
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Launch(launch) => self.launch(launch),
                Step::Fill { buffer, element } => {
                    let id = self.names[buffer];
                    let content = element.repeat(self.sizes[&id] / element.len());
                    self.device.set(id, InitialContent::Bytes(content)).unwrap();
                }
                Step::Library(_) => panic!("a kernel is looked at"),
                Step::Repeat { count, swap, steps } => {
                    for _ in 0..*count {
                        self.steps(steps);
                        for (left, right) in swap {
                            let (old_left, old_right) = (self.names[left], self.names[right]);
                            self.names.insert(*left, old_right);
                            self.names.insert(*right, old_left);
                        }
                    }
                }
            }
        }
    }

    fn launch(&mut self, step: &LaunchStep) {
        let argument = |argument: &ArgumentCase| match argument {
            ArgumentCase::Bytes(bytes) => Argument::Bytes(bytes.clone()),
            ArgumentCase::Buffer(buffer) => Argument::Buffer(self.names[buffer]),
            ArgumentCase::TensorMap { buffer, map } => {
                Argument::TensorMap { buffer: self.names[buffer], map: map.clone() }
            }
            ArgumentCase::Texture { buffer, object } => {
                Argument::Texture { buffer: self.names[buffer], object: object.clone() }
            }
        };
        let launch = Launch {
            module: self.module,
            kernel: step.kernel.clone(),
            grid: step.grid,
            block: step.block,
            dynamic_shared: step.dynamic_shared,
            cooperative: step.cooperative,
            cluster: step.cluster,
            arguments: step.arguments.iter().map(argument).collect(),
        };
        let outcome = self.device.launch(&launch).unwrap();
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        let counters = outcome.counters.unwrap();
        let capability = self.sheet.capability.compute_capability;
        let expansion =
            Expansion::from_compute_capability((capability.major(), capability.minor()));
        let modelled =
            modelled(&counters, &self.shape(step), &self.sheet.rates().unwrap(), expansion);
        self.situation.add_modelled(&modelled);
        self.situation.add_counted(&counters);
    }

    fn shape(&self, step: &LaunchStep) -> LaunchShape {
        let same = |launch: &&LaunchFacts| launch.kernel.symbol == step.kernel;
        let resident = match &self.launches.iter().find(same).unwrap().occupancy {
            Some(Occupancy::Resident(resident)) => resident.blocks,
            other => panic!("{other:?}"),
        };
        LaunchShape {
            blocks: step.grid.iter().map(|size| u64::from(*size)).product(),
            warps_per_block: step.block.iter().product::<u32>().div_ceil(32),
            resident_blocks: resident,
            dram: None,
            begins: LaunchStart::First,
        }
    }
}

fn tensor_start(tensor: &TensorCase, content: Option<Vec<u8>>) -> (Access, InitialContent) {
    match &tensor.role {
        Role::Input { .. } => (Access::ReadOnly, InitialContent::Bytes(content.unwrap())),
        Role::Inout { .. } => (Access::ReadWrite, InitialContent::Bytes(content.unwrap())),
        Role::Output { init, .. } => (Access::ReadWrite, start(*init, tensor.bytes)),
    }
}

fn start(init: Init, bytes: u64) -> InitialContent {
    match init {
        Init::Undefined => InitialContent::Uninitialised,
        Init::ZeroEachLaunch | Init::ZeroOnce => {
            InitialContent::Bytes(vec![0; usize::try_from(bytes).unwrap()])
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
