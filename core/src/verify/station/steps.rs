//! Running the steps of a program on a device.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::StationFailure;
use super::bound::of_device;
use super::trusted::{Trusted, constant};
use crate::device::{Argument, BufferId, Device, Launch, LaunchFault, ModuleId, Outcome};
use crate::project::launch::Buffer;
use crate::trusted::making::Making;
use crate::verify::program::{ArgumentCase, LaunchStep, Program, Step};
use crate::virtual_gpu::Initial;

/// What all launches of a run left behind.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) faults: Vec<LaunchFault>,
    pub(super) printed: String,
    pub(super) accepted: usize,
    pub(super) not_checked: Vec<&'static str>,
    pub(super) warp_instructions: Option<u64>,
    /// How long all launches took by the host's clock.
    pub(super) elapsed: Duration,
}

/// Printed text that is kept.
const PRINTED_BYTES: usize = 4096;

pub(super) struct Runner<'a> {
    pub(super) device: &'a mut dyn Device,
    pub(super) module: ModuleId,
    pub(super) names: BTreeMap<Buffer, BufferId>,
    /// Bytes of each buffer, for fills.
    pub(super) sizes: BTreeMap<BufferId, u64>,
    pub(super) trusted: Option<Trusted>,
    /// Inputs that the device made, with their names.
    pub(super) made: &'a BTreeMap<BufferId, (String, Making)>,
    pub(super) trace: Trace,
}

impl Runner<'_> {
    /// Runs all steps, or those up to the first launch that does something wrong.
    pub(super) fn run(&mut self, program: &Program) -> Result<(), StationFailure> {
        self.steps(&program.steps)
    }

    /// Whether a kernel changed any input that the device made.
    fn look_at_inputs(&mut self, kernel: &str) -> Result<(), StationFailure> {
        let Some(trusted) = self.trusted else { return Ok(()) };
        for (buffer, (name, making)) in self.made {
            if let Some(offset) = trusted.first_change(self.device, *buffer, making)? {
                self.trace.faults.push(LaunchFault::input_changed(kernel, name, offset));
            }
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step]) -> Result<(), StationFailure> {
        for step in steps {
            if !self.trace.faults.is_empty() {
                break;
            }
            match step {
                Step::Launch(launch) => self.launch(launch)?,
                Step::Fill { buffer, element } => self.fill(*buffer, element)?,
                Step::Repeat { count, swap, steps } => {
                    for _ in 0..*count {
                        self.steps(steps)?;
                        for (left, right) in swap {
                            self.swap(*left, *right)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn buffer(&self, buffer: Buffer) -> Result<BufferId, StationFailure> {
        let known = self.names.get(&buffer).copied();
        known.ok_or_else(|| StationFailure::Order("a step names no buffer of its case".to_owned()))
    }

    fn swap(&mut self, left: Buffer, right: Buffer) -> Result<(), StationFailure> {
        let (old_left, old_right) = (self.buffer(left)?, self.buffer(right)?);
        self.names.insert(left, old_right);
        self.names.insert(right, old_left);
        Ok(())
    }

    fn fill(&mut self, buffer: Buffer, element: &[u8]) -> Result<(), StationFailure> {
        let id = self.buffer(buffer)?;
        let bytes = self.sizes.get(&id).copied().unwrap_or(0);
        if let Some(trusted) = self.trusted
            && let Some(making) = constant(bytes, element)
        {
            return trusted.make(self.device, id, &making);
        }
        let count = usize::try_from(bytes).unwrap_or(0) / element.len().max(1);
        self.device
            .set(id, Initial::Bytes(element.repeat(count)))
            .map_err(|error| of_device(&error))
    }

    fn launch(&mut self, step: &LaunchStep) -> Result<(), StationFailure> {
        let argument = |argument: &ArgumentCase| match argument {
            ArgumentCase::Bytes(bytes) => Ok(Argument::Bytes(bytes.clone())),
            ArgumentCase::Buffer(buffer) => self.buffer(*buffer).map(Argument::Buffer),
        };
        let launch = Launch {
            module: self.module,
            kernel: step.kernel.clone(),
            grid: step.grid,
            block: step.block,
            dynamic_shared: step.dynamic_shared,
            cooperative: step.cooperative,
            arguments: step.arguments.iter().map(argument).collect::<Result<_, _>>()?,
        };
        let started = Instant::now();
        let outcome = self.device.launch(&launch).map_err(|error| of_device(&error))?;
        self.trace.elapsed += started.elapsed();
        // A GPU that faulted has lost its context.
        let is_alive = outcome.faults.is_empty();
        self.trace.add(outcome);
        if is_alive { self.look_at_inputs(&step.kernel) } else { Ok(()) }
    }
}

impl Trace {
    fn add(&mut self, outcome: Outcome) {
        self.faults.extend(outcome.faults);
        let room = PRINTED_BYTES.saturating_sub(self.printed.len());
        self.printed.extend(outcome.printed.chars().take(room));
        self.accepted += outcome.accepted.len();
        for unchecked in outcome.not_checked {
            if !self.not_checked.contains(&unchecked) {
                self.not_checked.push(unchecked);
            }
        }
        let counted = outcome.counters.map(|counters| counters.total.warp_instructions);
        self.warp_instructions = match (self.warp_instructions, counted) {
            (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
            (known, more) => known.or(more),
        };
    }
}
