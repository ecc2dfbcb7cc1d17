//! Code of ours that GPUs run (`assets/bench`): on the virtual GPU it must do what the host does, bit for bit.

use std::time::Duration;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::{Build, CompileJob, Compiler};
use lightbench_core::device::{
    BufferId, BufferRequest, ComputeCapability, Device, DeviceSheet, Image, Launch, ModuleId,
    VirtualDevice, Watch,
};
use lightbench_core::dtype::Dtype;
use lightbench_core::project::compare::Comparator;
use lightbench_core::project::definition::Subnormals;
use lightbench_core::project::fill::Fill;
use lightbench_core::project::manifest::{Accuracy, Distribution, Init};
use lightbench_core::project::tensor::{Domain, Role};
use lightbench_core::project::{Candidate, Kernel, Purpose};
use lightbench_core::tensors::{Case, TensorCase};
use lightbench_core::virtual_gpu::{Access, Checks, InitialContent, Races, Schedule};
use lightbench_core::worker::command::WorkerCommand;

use crate::compiler;
use crate::program::shared_cache;
use crate::virtual_gpu::nothing_chosen;

mod comparing;
mod looking;
mod making;
mod stations;

const CAPABILITY: ComputeCapability = ComputeCapability(9, 0);
const LIMIT: Duration = Duration::from_secs(60);

const DISTRIBUTIONS: [Distribution; 5] = [
    Distribution::AsDeclared,
    Distribution::Scaled,
    Distribution::Shifted,
    Distribution::HeavyTail,
    Distribution::Exact,
];

/// Where it looks for nothing but faults, so that many launches take little time.
const WATCH: Watch = Watch {
    checks: Checks { uninitialized: true, races: Races::Ignored },
    schedule: Schedule::Deterministic,
    trace: false,
    counters: false,
    max_steps: 1 << 30,
    ..Watch::ALL
};

/// The PTX of our code; none where there is no compiler.
fn trusted_ptx() -> Option<String> {
    compiled(&lightbench_core::verify::harness_kernels::job(CAPABILITY))
}

/// The PTX of a kernel file with this text.
fn kernel_ptx(text: &str) -> Option<String> {
    compiler::required()?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.cu");
    std::fs::write(&file, text).unwrap();
    let kernel = Kernel::load_standalone(&file).unwrap();
    let candidate = Candidate::standalone(&kernel, nothing_chosen()).unwrap();
    compiled(&CompileJob::new(&candidate, CAPABILITY, Build::Optimised))
}

fn compiled(job: &CompileJob) -> Option<String> {
    let found = compiler::required()?;
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
    let cache = Some(shared_cache().to_owned());
    let mut compiler = Compiler::new(found.toolchain.clone(), command, cache);
    let compiled = compiler.compile(job, LIMIT, &Cancellation::new());
    Some(compiled.unwrap_or_else(|error| panic!("{error}")).artifact.ptx)
}

/// A virtual device with our code.
struct Machine {
    device: VirtualDevice,
    module: ModuleId,
}

impl Machine {
    fn new() -> Option<Self> {
        let ptx = trusted_ptx()?;
        let sheet = DeviceSheet::named("h200").unwrap();
        let mut device = VirtualDevice::new(sheet, WATCH).unwrap();
        let module = device.load(Image { ptx: &ptx, cubin: None }).unwrap();
        Some(Self { device, module })
    }

    fn buffer(&mut self, bytes: &[u8]) -> BufferId {
        let initial = InitialContent::Bytes(bytes.to_vec());
        let length = bytes.len() as u64;
        self.device.allocate(BufferRequest::new("b", length, Access::ReadWrite, initial)).unwrap()
    }

    fn run(&mut self, launch: &Launch) {
        let outcome = self.device.launch(launch).unwrap();
        assert!(outcome.faults.is_empty(), "{}: {:?}", launch.kernel, outcome.faults);
    }

    /// What a buffer holds, all of it written, before it is given back.
    fn take(&mut self, buffer: BufferId) -> Vec<u8> {
        let content = self.device.read(buffer).unwrap();
        self.device.free(buffer).unwrap();
        assert!(content.unwritten.is_empty());
        content.bytes
    }
}

fn case(accuracy: Accuracy, tensors: Vec<TensorCase>) -> Case {
    let subnormals = Subnormals::default();
    Case { workload: "test".to_owned(), purpose: Purpose::Verify, accuracy, subnormals, tensors }
}

fn input(dtype: Dtype, dims: &[u64], fill: Fill<u64>) -> TensorCase {
    tensor("x", dtype, dims, Role::Input { fill })
}

fn output(dtype: Dtype, dims: &[u64], compare: Comparator<u64>) -> TensorCase {
    tensor("y", dtype, dims, Role::Output { init: Init::Undefined, compare })
}

fn tensor(name: &str, dtype: Dtype, dims: &[u64], role: Role<u64>) -> TensorCase {
    let mut strides = vec![1; dims.len()];
    for index in (1..dims.len()).rev() {
        strides[index - 1] = strides[index] * dims[index];
    }
    let elements = dims.iter().product();
    TensorCase {
        name: name.to_owned(),
        dtype,
        dims: dims.to_vec(),
        strides,
        elements,
        span: elements,
        bytes: (elements * dtype.bits()).div_ceil(8),
        align: 256,
        role,
        domain: Domain::Any,
        distributions: DISTRIBUTIONS.to_vec(),
        scales: None,
    }
}

/// The same with other strides.
fn strided(tensor: TensorCase, strides: &[u64]) -> TensorCase {
    let reach: u64 = tensor.dims.iter().zip(strides).map(|(dim, stride)| (dim - 1) * stride).sum();
    let span = reach + 1;
    let bytes = (span * tensor.dtype.bits()).div_ceil(8);
    TensorCase { strides: strides.to_vec(), span, bytes, ..tensor }
}
