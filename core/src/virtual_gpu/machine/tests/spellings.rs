//! The whole way from text to result, for every spelling that a GPU has answered.

use crate::virtual_gpu::machine::{
    Access, Argument, DeviceShape, Initial, LaunchConfig, Machine, Report,
};
use crate::virtual_gpu::module::Module;
use crate::virtual_gpu::semantics::hardware::kernel::{self, Case};

fn run(module: &Module, index: usize, case: &Case<'_>) -> (Report, bool) {
    let mut machine = Machine::new(DeviceShape::default());
    let results = 8 * u64::from(kernel::GRID * kernel::BLOCK);
    let out = machine.buffer("out", results, Access::ReadWrite, Initial::Unwritten).unwrap();
    let operands = case.operands();
    let length = operands.len() as u64;
    let given = machine.buffer("in", length, Access::ReadOnly, Initial::Bytes(operands)).unwrap();
    let arguments = vec![Argument::Buffer(out), Argument::Buffer(given)];
    let grid = [kernel::GRID, 1, 1];
    let config = LaunchConfig::new(grid, [kernel::BLOCK, 1, 1], arguments);
    let report = machine.launch(module, &format!("k{index}"), &config).unwrap();
    let agrees = case.agrees(&machine.read(out));
    (report, agrees)
}

#[test]
fn every_spelling_gives_what_a_gpu_gave() {
    let module = Module::load(&kernel::module()).unwrap_or_else(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{} refused:\n{}", errors.len(), errors.join("\n"))
    });
    let mut wrong = Vec::new();
    for (index, case) in Case::all().enumerate() {
        let (report, agrees) = run(&module, index, &case);
        if !agrees || !report.faults.is_empty() {
            wrong.push(format!("{} {:?}", case.spelling, report.faults.first()));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
