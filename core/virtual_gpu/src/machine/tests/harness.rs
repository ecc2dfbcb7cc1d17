//! Launches written as comments: `// launch: kernel grid=1 block=32 shared=0`, then one `// arg: …` for each parameter
//! and `// expect: name values…`.
//!
//! An argument is `u32 5`, or `in NAME u32 1,2,3`, or `out NAME u32 8` (never written), or `zero NAME u32 8`. Values may
//! be `iota:N`; numbers may be hexadecimal bits.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::machine::{
    Access, Approximation, Argument, BufferId, DeviceShape, Initial, LaunchConfig, Machine, Races,
    Report, Schedule,
};
use crate::module::Module;

pub(super) fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx").join(name)
}

pub(super) fn module(text: &str) -> Module {
    match Module::load(text) {
        Ok(module) => module,
        Err(errors) => {
            let list: Vec<_> = errors.iter().map(ToString::to_string).collect();
            panic!("{}", list.join("\n"));
        }
    }
}

/// A launch that a file describes, done.
pub(super) struct Done {
    pub(super) machine: Machine,
    pub(super) report: Report,
    pub(super) buffers: Vec<(String, BufferId)>,
    pub(super) expected: Vec<(String, Vec<u8>)>,
}

fn bytes_of(ty: &str, text: &str) -> Vec<u8> {
    let one = |text: &str| -> Vec<u8> {
        let text = text.trim();
        let float = |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("number {text}"));
        let integer = |text: &str| -> u64 {
            let (negative, digits) =
                text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
            let value = match digits.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
                None => digits.parse().unwrap_or_else(|_| panic!("number {text}")),
            };
            if negative { value.wrapping_neg() } else { value }
        };
        let is_bits = text.starts_with("0x");
        match ty {
            "u8" | "s8" => vec![integer(text) as u8],
            "u16" | "s16" | "b16" => (integer(text) as u16).to_le_bytes().to_vec(),
            "f32" if !is_bits => (float(text) as f32).to_le_bytes().to_vec(),
            "f64" if !is_bits => float(text).to_le_bytes().to_vec(),
            "u32" | "s32" | "b32" | "f32" => (integer(text) as u32).to_le_bytes().to_vec(),
            "u64" | "s64" | "b64" | "f64" => integer(text).to_le_bytes().to_vec(),
            other => panic!("type {other}"),
        }
    };
    if let Some(count) = text.strip_prefix("iota:") {
        let count: u32 = count.trim().parse().unwrap();
        return (0..count).flat_map(|index| one(&index.to_string())).collect();
    }
    text.split(',')
        .flat_map(|value| match value.split_once('*') {
            Some((value, count)) => one(value).repeat(count.trim().parse().unwrap()),
            None => one(value),
        })
        .collect()
}

fn size(text: &str) -> [u32; 3] {
    let mut size = [1; 3];
    for (slot, part) in size.iter_mut().zip(text.split(',')) {
        *slot = part.parse().unwrap();
    }
    size
}

fn approximation(text: &str) -> Approximation {
    match text {
        "nearest" => Approximation::Nearest,
        "low" => Approximation::Lowest,
        "high" => Approximation::Highest,
        other => panic!("{other}"),
    }
}

/// Does what the comments of a file say, and looks for races.
pub(super) fn launch(text: &str, races: Races) -> Done {
    launch_by(text, Schedule::Deterministic, races)
}

/// The same by a schedule.
pub(super) fn launch_by(text: &str, schedule: Schedule, races: Races) -> Done {
    let module = module(text);
    let mut machine = Machine::new(DeviceShape::default());
    let mut config = LaunchConfig::new([1; 3], [32, 1, 1], Vec::new());
    config.schedule = schedule;
    config.max_steps = 1 << 20;
    config.checks.races = races;
    let mut kernel = String::new();
    let mut buffers: Vec<(String, BufferId)> = Vec::new();
    let mut expected = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("// launch: ") {
            let mut words = rest.split_whitespace();
            kernel = words.next().unwrap().to_owned();
            for word in words {
                let (key, value) = word.split_once('=').unwrap();
                match key {
                    "grid" => config.grid = size(value),
                    "block" => config.block = size(value),
                    "shared" => config.dynamic_shared = value.parse().unwrap(),
                    "approximations" => config.approximation = approximation(value),
                    "steps" => config.max_steps = value.parse().unwrap(),
                    other => panic!("{other}"),
                }
            }
        } else if let Some(rest) = line.strip_prefix("// arg: ") {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let argument = match words[..] {
                ["in" | "inout", name, ty, values] => {
                    let bytes = bytes_of(ty, values);
                    let access =
                        if words[0] == "in" { Access::ReadOnly } else { Access::ReadWrite };
                    let length = bytes.len() as u64;
                    let id = machine.buffer(name, length, access, Initial::Bytes(bytes)).unwrap();
                    buffers.push((name.to_owned(), id));
                    Argument::Buffer(id)
                }
                [kind @ ("out" | "zero"), name, ty, count] => {
                    let length = bytes_of(ty, "0").len() as u64 * count.parse::<u64>().unwrap();
                    let initial = match kind {
                        "out" => Initial::Unwritten,
                        _ => Initial::Bytes(vec![0; length as usize]),
                    };
                    let id = machine.buffer(name, length, Access::ReadWrite, initial).unwrap();
                    buffers.push((name.to_owned(), id));
                    Argument::Buffer(id)
                }
                [ty, value] => Argument::Bytes(bytes_of(ty, value)),
                _ => panic!("{rest}"),
            };
            config.arguments.push(argument);
        } else if let Some(rest) = line.strip_prefix("// expect: ") {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let [name, ty, values] = words[..] else { panic!("{rest}") };
            expected.push((name.to_owned(), bytes_of(ty, values)));
        }
    }
    let report =
        machine.launch(&module, &kernel, &config).unwrap_or_else(|error| panic!("{error}"));
    Done { machine, report, buffers, expected }
}

/// Schedules by which every kernel without a defect gives the same: twenty seeds, and several threads.
pub(super) fn other_schedules() -> Vec<Schedule> {
    let seeds = (0..20).map(|seed| Schedule::Adversarial { seed });
    let threads = [1, 2, 5].into_iter().filter_map(NonZeroUsize::new);
    seeds.chain(threads.map(|threads| Schedule::Parallel { threads })).collect()
}
