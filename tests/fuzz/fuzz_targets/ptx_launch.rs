//! The virtual GPU: any text that loads can be launched, and ends within the limit of steps.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::virtual_gpu::{
    Access, Argument, DeviceShape, InitialContent, LaunchConfig, Machine, Module,
};

/// Instructions of a warp that a launch may take.
const STEPS: u64 = 4000;

fuzz_target!(|text: &str| {
    let module = match Module::load(text) {
        Ok(module) => module,
        Err(errors) => {
            assert!(errors.iter().all(|error| !error.to_string().is_empty()));
            return;
        }
    };
    let shape = DeviceShape {
        multiprocessors: 1,
        memory_bytes: 4 << 20,
        heap_bytes: 64 << 10,
        ..DeviceShape::default()
    };
    for kernel in module.kernels().take(2) {
        let mut machine = Machine::new(shape);
        let bytes = InitialContent::Bytes(vec![1; 1024]);
        let Ok(buffer) = machine.buffer("b", 1024, Access::ReadWrite, bytes) else { return };
        let parameters = kernel.parameters.iter();
        let arguments = parameters.map(|parameter| match parameter.bytes {
            8 => Argument::Buffer(buffer),
            bytes => Argument::Bytes(vec![2; bytes as usize]),
        });
        let mut config = LaunchConfig::new([2, 1, 1], [40, 1, 1], arguments.collect());
        config.max_steps = STEPS;
        if let Ok(report) = machine.launch(&module, &kernel.name, &config) {
            assert!(report.faults.iter().all(|fault| !fault.to_string().is_empty()));
        }
    }
});
