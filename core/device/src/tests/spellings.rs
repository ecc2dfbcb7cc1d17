//! Every spelling whose results are recorded, asked of every device that is present.

use super::*;
use kernel::Case;

mod kernel;

#[path = "../../../virtual_gpu/src/semantics/hardware/recorded/mod.rs"]
mod recorded;

fn agrees(device: &mut dyn Device, module: ModuleId, index: usize, case: &Case<'_>) -> bool {
    let results = 8 * u64::from(kernel::GRID * kernel::BLOCK);
    let out = device
        .allocate(BufferRequest::new(
            "out",
            results,
            Access::ReadWrite,
            InitialContent::Uninitialised,
        ))
        .unwrap();
    let operands = case.operands();
    let length = operands.len() as u64;
    let given = InitialContent::Bytes(operands);
    let given = device.allocate(BufferRequest::new("in", length, Access::ReadOnly, given)).unwrap();
    let launch = Launch {
        module,
        kernel: format!("k{index}"),
        grid: [kernel::GRID, 1, 1],
        block: [kernel::BLOCK, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
        arguments: vec![Argument::Buffer(out), Argument::Buffer(given)],
    };
    let outcome = device.launch(&launch).unwrap();
    outcome.faults.is_empty() && case.agrees(&device.read(out).unwrap().bytes)
}

#[test]
fn every_spelling_gives_what_is_recorded() {
    check(|device| {
        let text = kernel::module();
        let module = device.load(Image { ptx: &text, cubin: None }).unwrap();
        let wrong: Vec<&str> = Case::all()
            .enumerate()
            .filter(|(index, case)| !agrees(device, module, *index, case))
            .map(|(_, case)| case.spelling)
            .collect();
        let name = &device.description().title;
        println!("{} spellings on {name}, {} differ", Case::all().count(), wrong.len());
        assert!(wrong.is_empty(), "on {name}: {wrong:?}");
    });
}
