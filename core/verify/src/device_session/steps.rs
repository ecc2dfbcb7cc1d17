//! The steps of a program as operations of a device, and running them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use lightbench_device::{
    Argument, BufferId, Device, Launch, LaunchFault, LibraryRun, LibraryUsed, ModuleId, Operation,
    Outcome,
};
use lightbench_project::launch::Buffer;
use lightbench_speed_of_light::extrapolated_counters;
use lightbench_speed_of_light::extrapolated_counters::LaunchCounts;
use lightbench_tensors::encoding::input::InputEncoding;
use lightbench_virtual_gpu::InitialContent;
use lightbench_virtual_gpu::cost::Counters;

use super::bound::failure_from_device_error;
use super::harness_kernels::{HarnessKernels, constant};
use super::{CountsUse, SessionFailure};
use crate::fault_report::SuspicionReport;
use crate::program::{ArgumentCase, ConstantCase, LaunchStep, LibraryStep, Program, Step};

/// What all launches of a run left behind.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) faults: Vec<LaunchFault>,
    pub(super) printed: String,
    pub(super) accepted: BTreeMap<u8, usize>,
    pub(super) stale_reads: usize,
    pub(super) suspicions: Vec<SuspicionReport>,
    pub(super) not_checked: Vec<&'static str>,
    pub(super) warp_instructions: Option<u64>,
    pub(super) counted: Vec<LaunchCounts>,
    /// How long all launches took by the host's clock.
    pub(super) elapsed: Duration,
    /// Which library ran, if one did.
    pub(super) library: Option<LibraryUsed>,
}

/// Suspicions that are kept.
const MOST_SUSPICIONS: usize = 4;

/// Printed text that is kept.
const PRINTED_BYTES: usize = 4096;

/// Operations of a program that is timed: more take longer to start than to run.
const MOST_OPERATIONS: usize = 100_000;

/// The names of a program's buffers and what they stand for, step by step.
pub(super) struct Walk {
    /// Where its kernels are; none of a program without any.
    pub(super) module: Option<ModuleId>,
    pub(super) names: BTreeMap<Buffer, BufferId>,
}

type Visit<'a> = &'a mut dyn FnMut(Operation) -> Result<ControlFlow<()>, SessionFailure>;

impl Walk {
    /// Every operation, in order, until the visitor breaks.
    pub(super) fn visit(
        &mut self,
        steps: &[Step],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>, SessionFailure> {
        for step in steps {
            let flow = match step {
                Step::Launch(launch) => visit(self.launch(launch)?)?,
                Step::Fill { buffer, element } => {
                    let (buffer, element) = (self.buffer(*buffer)?, element.clone());
                    visit(Operation::Fill { buffer, element })?
                }
                Step::Library(step) => visit(self.library(step)?)?,
                Step::Repeat { count, swap, steps } => self.repeat(*count, swap, steps, visit)?,
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn repeat(
        &mut self,
        count: u64,
        swap: &[(Buffer, Buffer)],
        steps: &[Step],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>, SessionFailure> {
        for _ in 0..count {
            if self.visit(steps, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            for (left, right) in swap {
                self.swap(*left, *right)?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn buffer(&self, buffer: Buffer) -> Result<BufferId, SessionFailure> {
        let known = self.names.get(&buffer).copied();
        known.ok_or_else(|| SessionFailure::Order("a step names no buffer of its case".to_owned()))
    }

    fn swap(&mut self, left: Buffer, right: Buffer) -> Result<(), SessionFailure> {
        let (old_left, old_right) = (self.buffer(left)?, self.buffer(right)?);
        self.names.insert(left, old_right);
        self.names.insert(right, old_left);
        Ok(())
    }

    fn library(&self, step: &LibraryStep) -> Result<Operation, SessionFailure> {
        let [a, b, c] = step.buffers;
        let buffers = [self.buffer(a)?, self.buffer(b)?, self.buffer(c)?];
        let (product, files) = (step.product.clone(), step.files.clone());
        Ok(Operation::Library(LibraryRun { product, files, buffers }))
    }

    fn launch(&self, step: &LaunchStep) -> Result<Operation, SessionFailure> {
        let argument = |argument: &ArgumentCase| match argument {
            ArgumentCase::Bytes(bytes) => Ok(Argument::Bytes(bytes.clone())),
            ArgumentCase::Buffer(buffer) => self.buffer(*buffer).map(Argument::Buffer),
            ArgumentCase::TensorMap { buffer, map } => {
                Ok(Argument::TensorMap { buffer: self.buffer(*buffer)?, map: map.clone() })
            }
            ArgumentCase::Texture { buffer, object } => {
                Ok(Argument::Texture { buffer: self.buffer(*buffer)?, object: object.clone() })
            }
        };
        let module =
            self.module.ok_or_else(|| SessionFailure::Order("no such module".to_owned()))?;
        let launch = Launch {
            module,
            kernel: step.kernel.clone(),
            grid: step.grid,
            block: step.block,
            dynamic_shared: step.dynamic_shared,
            cooperative: step.cooperative,
            cluster: step.cluster,
            arguments: step.arguments.iter().map(argument).collect::<Result<_, _>>()?,
        };
        Ok(Operation::Launch { launch, residence: step.residence })
    }
}

/// What the device made, and can see whether it changed.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    pub(super) trusted: Option<HarnessKernels>,
    /// Inputs, with their names.
    pub(super) made: &'a BTreeMap<BufferId, (String, InputEncoding)>,
}

impl Watched<'_> {
    /// Inputs that a kernel changed.
    fn changed(
        self,
        device: &mut dyn Device,
        kernel: &str,
    ) -> Result<Vec<LaunchFault>, SessionFailure> {
        let mut faults = Vec::new();
        let Some(trusted) = self.trusted else { return Ok(faults) };
        for (buffer, (name, making)) in self.made {
            if let Some(offset) = trusted.first_change(device, *buffer, making)? {
                faults.push(LaunchFault::input_changed(kernel, name, offset));
            }
        }
        Ok(faults)
    }

    /// Sets a buffer of so many bytes to one value.
    pub(super) fn fill(
        self,
        device: &mut dyn Device,
        (buffer, bytes): (BufferId, u64),
        element: &[u8],
    ) -> Result<(), SessionFailure> {
        if let Some(trusted) = self.trusted
            && let Some(making) = constant(bytes, element)
        {
            return trusted.make(device, buffer, &making);
        }
        let count = usize::try_from(bytes).unwrap_or(0) / element.len().max(1);
        let filled = device.set(buffer, InitialContent::Bytes(element.repeat(count)));
        filled.map_err(|error| failure_from_device_error(&error))
    }
}

/// Fills the variables that a program begins with.
pub(super) fn fill_constants(
    device: &mut dyn Device,
    walk: &Walk,
    program: &Program,
) -> Result<(), SessionFailure> {
    for ConstantCase { symbol, buffer } in &program.constants {
        let content = device
            .read(walk.buffer(*buffer)?)
            .map_err(|error| failure_from_device_error(&error))?;
        let module =
            walk.module.ok_or_else(|| SessionFailure::Order("no such module".to_owned()))?;
        let filled = device.fill_variable(module, symbol, &content.bytes);
        filled.map_err(|error| failure_from_device_error(&error))?;
    }
    Ok(())
}

/// Runs all steps, or those up to the first launch that does something wrong. `sizes` are those of buffers that a step may
/// fill.
pub(super) fn run(
    device: &mut dyn Device,
    mut walk: Walk,
    sizes: &BTreeMap<BufferId, u64>,
    program: &Program,
    (watched, counts): (Watched<'_>, CountsUse),
) -> Result<Trace, SessionFailure> {
    fill_constants(device, &walk, program)?;
    let mut trace = Trace::default();
    let mut visit = |operation| {
        match operation {
            Operation::Launch { launch, .. } => {
                let started = Instant::now();
                let outcome =
                    device.launch(&launch).map_err(|error| failure_from_device_error(&error))?;
                trace.elapsed += started.elapsed();
                // A GPU that faulted has lost its context.
                let is_alive = outcome.faults.is_empty();
                match (counts, &outcome.counters) {
                    (CountsUse::Report, Some(counters)) => trace.count(&launch, counters),
                    (CountsUse::Report, None) | (CountsUse::Drop, _) => {}
                }
                trace.add(outcome);
                if is_alive {
                    trace.faults.extend(watched.changed(device, &launch.kernel)?);
                }
            }
            Operation::Library(run) => {
                let started = Instant::now();
                let outcome =
                    device.library(&run).map_err(|error| failure_from_device_error(&error))?;
                trace.elapsed += started.elapsed();
                let is_alive = outcome.faults.is_empty();
                trace.faults.extend(outcome.faults);
                if is_alive {
                    trace.faults.extend(watched.changed(device, &outcome.used.name)?);
                }
                trace.library = Some(outcome.used);
            }
            Operation::Fill { buffer, element } => {
                let bytes = sizes.get(&buffer).copied().unwrap_or(0);
                watched.fill(device, (buffer, bytes), &element)?;
            }
        }
        Ok(if trace.faults.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    };
    walk.visit(&program.steps, &mut visit).map(|_| trace)
}

/// All operations in a list.
pub(super) fn flattened(
    mut walk: Walk,
    program: &Program,
) -> Result<Vec<Operation>, SessionFailure> {
    let mut all = Vec::new();
    let mut visit = |operation| {
        if all.len() == MOST_OPERATIONS {
            let message = format!("more than {MOST_OPERATIONS} launches and fills");
            return Err(SessionFailure::Launch(message));
        }
        all.push(operation);
        Ok(ControlFlow::Continue(()))
    };
    walk.visit(&program.steps, &mut visit).map(|_| all)
}

impl Trace {
    fn count(&mut self, launch: &Launch, counters: &Counters) {
        extrapolated_counters::add_launch(
            &mut self.counted,
            (&launch.kernel, launch.grid, launch.block),
            counters,
        );
    }

    fn add(&mut self, outcome: Outcome) {
        self.faults.extend(outcome.faults);
        let room = PRINTED_BYTES.saturating_sub(self.printed.len());
        self.printed.extend(outcome.printed.chars().take(room));
        for accepted in &outcome.accepted {
            *self.accepted.entry(accepted.rule).or_default() += 1;
        }
        self.stale_reads += outcome.stale_reads;
        let room = MOST_SUSPICIONS.saturating_sub(self.suspicions.len());
        self.suspicions.extend(outcome.suspicions.into_iter().take(room).map(Into::into));
        for unchecked in outcome.not_checked {
            if !self.not_checked.contains(&unchecked) {
                self.not_checked.push(unchecked);
            }
        }
        self.warp_instructions = match (self.warp_instructions, outcome.warp_instructions) {
            (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
            (known, more) => known.or(more),
        };
    }
}
