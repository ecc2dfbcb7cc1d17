//! Random programs, and a second implementation to compare the machine with.
//!
//! Bytes become a kernel (`program`), which the machine runs with a warp and `reference` runs thread by thread with
//! arithmetic of its own. The tests of the crate and the fuzz target both include this folder; it uses only the
//! public interface of the virtual GPU.

mod arithmetic;
mod program;
mod reference;
mod video;
mod whole;

pub(crate) use program::text;

use super::virtual_gpu::{
    Access, Argument, BufferId, DeviceShape, InitialContent, LaunchConfig, Machine, Module,
};

/// Threads of the launch: more than one warp, the second one not full.
const THREADS: u32 = 40;
/// Bytes that each thread may read and write.
const SLICE: u32 = 64;
/// Bytes of results of each thread.
const RESULTS: u32 = 128;

/// Why a program cannot be compared, or where the two differ.
#[derive(Debug)]
pub(crate) struct Difference(pub(crate) String);

/// Runs the program that some bytes stand for in both ways and compares all that they leave in memory.
pub(crate) fn compare(bytes: &[u8]) -> Result<(), Difference> {
    let text = text(bytes);
    let fail = |what: String| Difference(format!("{what}\n{text}"));
    let module = Module::load(&text).map_err(|errors| fail(format!("{errors:#?}")))?;
    let input: Vec<u8> = (0..THREADS * SLICE).map(byte).collect();
    let mut machine = Machine::new(DeviceShape::default());
    let make = |machine: &mut Machine, name, content: Vec<u8>| {
        let length = content.len() as u64;
        let made = machine.buffer(name, length, Access::ReadWrite, InitialContent::Bytes(content));
        made.map_err(|error| fail(error.to_string()))
    };
    let slices = make(&mut machine, "slices", input.clone())?;
    let results = make(&mut machine, "results", vec![0; (THREADS * RESULTS) as usize])?;
    let mut memory = reference::Memory::default();
    memory.add(machine.address(slices), input);
    memory.add(machine.address(results), vec![0; (THREADS * RESULTS) as usize]);
    let parameters = [machine.address(slices), machine.address(results)];
    for thread in 0..THREADS {
        reference::run(&module, parameters, thread, &mut memory).map_err(&fail)?;
    }
    let arguments = vec![Argument::Buffer(slices), Argument::Buffer(results)];
    let mut config = LaunchConfig::new([1; 3], [THREADS, 1, 1], arguments);
    config.max_steps = 1 << 22;
    let report = machine.launch(&module, "k", &config).map_err(|error| fail(error.to_string()))?;
    if let Some(fault) = report.faults.first() {
        return Err(fail(fault.to_string()));
    }
    same(&machine, results, &memory, RESULTS).map_err(&fail)?;
    same(&machine, slices, &memory, SLICE).map_err(&fail)
}

/// The first word of a buffer that differs.
fn same(
    machine: &Machine,
    buffer: BufferId,
    memory: &reference::Memory,
    each: u32,
) -> Result<(), String> {
    let found = machine.read(buffer);
    let expected = memory.bytes(machine.address(buffer));
    let words = found.chunks(4).zip(expected.chunks(4)).enumerate();
    for (index, (found, expected)) in words {
        if found != expected {
            let (thread, offset) = (4 * index as u32 / each, 4 * index as u32 % each);
            return Err(format!(
                "thread {thread}, byte {offset}: {found:02x?} by the machine, {expected:02x?} by the reference"
            ));
        }
    }
    Ok(())
}

/// The initial content of memory: numbers of all sizes, including special values.
fn byte(index: u32) -> u8 {
    let word = index / 4;
    let special = [0x3f80_0000, 0x7f80_0000, 0xffff_ffff, 0x8000_0000, 0x0000_0001, 0x7fc0_0000];
    let mixed = (word ^ 0x5bd1).wrapping_mul(0x9e37_79b1).rotate_left(word % 31);
    let value: u32 = match word % 5 {
        0 => special[(word / 5 % 6) as usize],
        1 => mixed % 64,
        _ => mixed,
    };
    value.to_le_bytes()[(index % 4) as usize]
}
