//! Execution of described launches on the machine alone.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::described::{Described, Given, Rights};
use crate::machine::{
    Access, Approximation, Argument, BufferId, DeviceShape, InitialContent, LaunchConfig, Machine,
    Races, Report, Schedule,
};
use crate::module::Module;
use crate::tensor_map;

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

fn approximation(text: &str) -> Approximation {
    match text {
        "nearest" => Approximation::Nearest,
        "low" => Approximation::Lowest,
        "high" => Approximation::Highest,
        other => panic!("{other}"),
    }
}

/// Executes the launch in the comments of a file, with a race check.
pub(super) fn launch(text: &str, races: Races) -> Done {
    launch_by(text, Schedule::Deterministic, races)
}

/// The same by a schedule.
pub(super) fn launch_by(text: &str, schedule: Schedule, races: Races) -> Done {
    let described = Described::from_text(text);
    let module = module(text);
    let mut machine = Machine::new(DeviceShape::default());
    let mut config = LaunchConfig::new(described.grid, described.block, Vec::new());
    config.dynamic_shared = described.dynamic_shared;
    config.schedule = schedule;
    config.max_steps = described.steps.unwrap_or(1 << 20);
    config.checks.races = races;
    if let Some(name) = &described.approximations {
        config.approximation = approximation(name);
    }
    let mut buffers: Vec<(String, BufferId)> = Vec::new();
    for given in described.arguments {
        config.arguments.push(match given {
            Given::Value(bytes) => Argument::Bytes(bytes),
            Given::Buffer { name, length, access, content } => {
                let access = match access {
                    Rights::Read => Access::ReadOnly,
                    Rights::Write => Access::ReadWrite,
                };
                let initial = content.map_or(InitialContent::Uninitialised, InitialContent::Bytes);
                let id = machine.buffer(&name, length, access, initial).unwrap();
                buffers.push((name, id));
                Argument::Buffer(id)
            }
            Given::TensorMap { buffer, map } => {
                let (_, id) = buffers.iter().find(|(name, _)| *name == buffer).unwrap();
                map.check(machine.read(*id).len() as u64).unwrap();
                Argument::Bytes(tensor_map::encode(&map, machine.address(*id)).to_vec())
            }
            Given::Texture { buffer, object } => {
                let (_, id) = buffers.iter().find(|(name, _)| *name == buffer).unwrap();
                object.check(machine.read(*id).len() as u64).unwrap();
                Argument::Texture { buffer: *id, object }
            }
        });
    }
    let report = machine.launch(&module, &described.kernel, &config);
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    Done { machine, report, buffers, expected: described.expected }
}

/// Schedules by which every kernel without a defect gives the same: twenty seeds, and several threads.
pub(super) fn other_schedules() -> Vec<Schedule> {
    let seeds = (0..20).map(|seed| Schedule::Adversarial { seed });
    let threads = [1, 2, 5].into_iter().filter_map(NonZeroUsize::new);
    seeds.chain(threads.map(|threads| Schedule::Parallel { threads })).collect()
}
