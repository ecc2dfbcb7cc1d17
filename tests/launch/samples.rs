//! Every kernel of the sample projects that take any numbers as inputs and need neither scratch nor fills, their
//! references among them, runs without a fault on the virtual H200. The others need what `lightbench run` makes.

use std::collections::BTreeMap;

use lightbench_core::arguments::{Spec, SpecKind};
use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::facts::{Facts, LaunchFacts, Setting, facts};
use lightbench_core::compile::{Build, Compiler};
use lightbench_core::device::{
    Argument, BufferId, BufferRequest, Device as _, DeviceSheet, Image, Launch, VirtualDevice,
    Watch,
};
use lightbench_core::project::launch::Buffer;
use lightbench_core::project::scalar::ScalarValue;
use lightbench_core::project::tensor::Role;
use lightbench_core::project::{Kernel, KernelRole, PlannedArgument, Project, Purpose, Workload};
use lightbench_core::virtual_gpu::{Access, Initial};
use lightbench_core::worker::command::WorkerCommand;

use super::*;
use crate::program::shared_cache;

const PROJECTS: [&str; 6] =
    ["vector-add", "rmsnorm", "softmax-f32", "softmax-bf16", "layernorm", "sgemm"];

#[test]
fn every_sample_kernel_runs_clean() {
    let Some(found) = compiler::required() else { return };
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
    let cache = Some(shared_cache().to_owned());
    let mut compiler = Compiler::new(found.toolchain.clone(), command, cache);
    let (mut problems, mut count) = (Vec::new(), 0);
    for name in PROJECTS {
        let project = Project::load(&repository().join("sample-projects").join(name)).unwrap();
        let small = |workload: &&Workload| workload.purpose == Purpose::Verify;
        let workload = project.workloads.iter().find(small).unwrap();
        for kernel in project.kernels.iter().chain([&project.reference]) {
            count += 1;
            let told = run(&mut compiler, &project, workload, kernel);
            problems.extend(
                told.map(|told| format!("{} {}: {told}", project.definition.name, kernel.name)),
            );
        }
    }
    assert!(count >= 20, "{count} kernels");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The first fault of any launch of the kernel.
fn run(
    compiler: &mut Compiler,
    project: &Project,
    workload: &Workload,
    kernel: &Kernel,
) -> Option<String> {
    let sheet = DeviceSheet::named("virtual:h200").unwrap();
    let chosen = BTreeMap::new();
    let setting = Setting { project, workload, chosen: &chosen, sheet, build: Build::Optimised };
    let Facts { artifact, launches, .. } =
        facts(compiler, kernel, &setting, &Cancellation::new()).unwrap();
    let mut device = VirtualDevice::new(sheet, Watch::ALL).unwrap();
    let module =
        device.load(Image { ptx: &artifact.ptx, cubin: artifact.cubin.as_deref() }).unwrap();
    let mut buffers = BTreeMap::new();
    for LaunchFacts { planned, kernel: compiled, .. } in &launches {
        let arguments = planned.arguments.iter().map(|argument| match argument {
            PlannedArgument::Buffer(buffer) => {
                let key = format!("{buffer:?}");
                let make = || allocate(&mut device, project, workload, (kernel.role, *buffer));
                Argument::Buffer(*buffers.entry(key).or_insert_with(make))
            }
            PlannedArgument::Value { c_type, value, .. } => {
                let text = match value {
                    ScalarValue::Boolean(value) => value.to_string(),
                    ScalarValue::Integer(value) => value.to_string(),
                    ScalarValue::Real(value) => format!("{value:?}"),
                };
                let spec = Spec::parse(&format!("{}:{text}", c_type.name())).unwrap();
                let SpecKind::Value { bytes, .. } = spec.kind else { panic!("a value") };
                Argument::Bytes(bytes)
            }
            PlannedArgument::TensorMap(_)
            | PlannedArgument::Texture(_)
            | PlannedArgument::Struct { .. }
            | PlannedArgument::Outside(_) => panic!("no sample passes {argument:?}"),
        });
        let launch = Launch {
            module,
            kernel: compiled.symbol.clone(),
            grid: planned.grid,
            block: planned.block,
            dynamic_shared: u32::try_from(planned.shared_bytes).unwrap(),
            cooperative: planned.cooperative,
            arguments: arguments.collect(),
        };
        let outcome = match device.launch(&launch) {
            Ok(outcome) => outcome,
            Err(error) => return Some(error.to_string()),
        };
        if let Some(fault) = outcome.faults.first() {
            return Some(format!("{fault:?}"));
        }
    }
    None
}

/// Inputs as their dtype allows, outputs that nothing wrote; the reference computes in f64.
fn allocate(
    device: &mut VirtualDevice,
    project: &Project,
    workload: &Workload,
    (role, buffer): (KernelRole, Buffer),
) -> BufferId {
    let (index, is_magnitude) = match buffer {
        Buffer::Tensor(index) => (index, false),
        Buffer::Magnitude(index) => (index, true),
        Buffer::Scratch(_) => panic!("no sample has scratch"),
    };
    let (tensor, extent) = (&project.definition.tensors[index], &workload.extents[index]);
    match tensor.role {
        Role::Input { .. } => {
            let spec = format!("in:{}[{}]=normal", tensor.dtype.name(), extent.span_elements);
            let SpecKind::Buffer(made) = Spec::parse(&spec).unwrap().kind else {
                panic!("a buffer")
            };
            let initial = made.initial(1, index as u32, |_, _| Err(String::new())).unwrap();
            device
                .allocate(BufferRequest::new(&tensor.name, made.size(), Access::ReadOnly, initial))
                .unwrap()
        }
        Role::Output { .. } | Role::Inout { .. } => {
            let wide = is_magnitude || (role == KernelRole::Reference && tensor.dtype.is_float());
            let bytes = if wide { 8 * extent.span_elements } else { extent.bytes };
            device
                .allocate(BufferRequest::new(
                    &tensor.name,
                    bytes,
                    Access::ReadWrite,
                    Initial::Unwritten,
                ))
                .unwrap()
        }
    }
}
