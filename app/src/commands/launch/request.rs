//! The launch request, validated against the device.

use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use lightbench_core::arguments::{Spec, SpecKind, buffer_of};
use lightbench_core::device::{Content, Device, DeviceError, LocalDevice, Watch};
use lightbench_core::report::document::error::ErrorKind;
use lightbench_core::virtual_gpu::machine::{Approximation, BlockOrder};
use lightbench_core::virtual_gpu::{Checks, Races, Schedule};

use super::variables::Variable;
use super::{PrintedBuffer, refused};
use crate::args::{Approximations, Blocks, CheckSet, Launch, Order};
use crate::outcome::Outcome;
use crate::report;

/// Default time limit of a launch on a virtual device.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The launch request.
pub(super) struct LaunchRequest {
    pub(super) specs: Vec<Spec>,
    pub(super) variables: Vec<Variable>,
    pub(super) device: LocalDevice,
    pub(super) watch: Watch,
}

impl LaunchRequest {
    /// Parses everything that needs neither the file nor the device.
    pub(super) fn from_arguments(arguments: &Launch) -> Result<Self, Outcome> {
        let device = LocalDevice::parse(&arguments.device)
            .map_err(|error| report::request(&error, arguments.json))?;
        let mut specs = Vec::new();
        let mut wrong = Vec::new();
        for text in &arguments.arguments {
            match Spec::parse(text) {
                Ok(spec) => specs.push(spec),
                Err(error) => wrong.push(error.to_string()),
            }
        }
        let mut variables = Vec::new();
        for text in &arguments.variables {
            match Variable::parse(text) {
                Ok(variable) => variables.push(variable),
                Err(error) => wrong.push(error),
            }
        }
        if !wrong.is_empty() {
            return Err(refused(ErrorKind::Arguments, &wrong.join("\n"), arguments));
        }
        let request = Self { specs, variables, device, watch: watch(arguments) };
        for index in &arguments.prints {
            if request.buffer(*index).is_none() {
                let message = request.no_buffer(*index);
                return Err(refused(ErrorKind::Arguments, &message, arguments));
            }
        }
        request.only_virtual(arguments)?;
        Ok(request)
    }

    pub(super) fn open(&self, arguments: &Launch) -> Result<Box<dyn Device>, Outcome> {
        self.device.open(self.watch).map_err(|error| {
            if error.is_environment() {
                report::environment(&error, arguments.json)
            } else {
                report::request(&error, arguments.json)
            }
        })
    }

    /// Total size of all buffers, in bytes.
    pub(super) fn buffer_bytes(&self) -> u64 {
        let size = |spec: &Spec| match &spec.kind {
            SpecKind::Buffer(buffer) => buffer.size(),
            SpecKind::Same(_) | SpecKind::Null | SpecKind::Value { .. } | SpecKind::Bytes(_) => 0,
        };
        self.specs.iter().fold(0, |sum, spec| sum.saturating_add(size(spec)))
    }

    /// The buffers to print, with their contents.
    pub(super) fn prints<'a>(
        &'a self,
        arguments: &Launch,
        names: &'a [String],
        mut read: impl FnMut(usize) -> Result<Content, DeviceError>,
    ) -> Vec<PrintedBuffer<'a>> {
        let print = |index: &usize| {
            let (buffer, name) = (self.buffer(*index)?, names.get(*index)?);
            Some(PrintedBuffer { index: *index, buffer, name, content: read(*index) })
        };
        arguments.prints.iter().filter_map(print).collect()
    }

    fn buffer(&self, index: usize) -> Option<&lightbench_core::arguments::Buffer> {
        buffer_of(&self.specs, index)
    }

    fn no_buffer(&self, index: usize) -> String {
        match self.specs.get(index) {
            Some(spec) => format!(
                "`--print {index}`: argument {index} is `{}`, not a buffer (arguments count from 0)",
                spec.text
            ),
            None => format!(
                "`--print {index}`: there are {} arguments, counted from 0",
                self.specs.len()
            ),
        }
    }

    /// Refuses counters and checks on a GPU, where their silence would look like a clean result.
    fn only_virtual(&self, arguments: &Launch) -> Result<(), Outcome> {
        let LocalDevice::Cuda(_) = self.device else { return Ok(()) };
        let given = [
            ("--checks", arguments.checks.is_some()),
            ("--schedule", arguments.schedule.is_some()),
            ("--counters", arguments.counters),
            ("--assumptions", arguments.assumptions),
            ("--approximations", arguments.approximations.is_some()),
            ("--block-order", arguments.block_order.is_some()),
            ("--resident-blocks", arguments.resident_blocks.is_some()),
            ("--max-steps", arguments.max_steps.is_some()),
            ("--time-limit", arguments.time_limit.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => {
                let message =
                    format!("`{option}` needs a virtual device: a GPU does not support it");
                Err(report::request(&message, arguments.json))
            }
        }
    }
}

fn watch(arguments: &Launch) -> Watch {
    let (uninitialized, races) = match arguments.checks.unwrap_or(CheckSet::All) {
        CheckSet::All => (true, Races::CudaIdiom),
        CheckSet::Strict => (true, Races::Strict),
        CheckSet::Memory => (true, Races::Ignored),
        CheckSet::None => (false, Races::Ignored),
    };
    let schedule = match arguments.schedule.unwrap_or(Order::Deterministic) {
        Order::Deterministic => Schedule::Deterministic,
        Order::Parallel => {
            Schedule::Parallel { threads: available_parallelism().unwrap_or(NonZeroUsize::MIN) }
        }
        Order::Adversarial(seed) => Schedule::Adversarial { seed },
    };
    Watch {
        checks: Checks { uninitialized, races },
        schedule,
        counters: arguments.counters,
        trace: arguments.counters,
        approximation: match arguments.approximations.unwrap_or(Approximations::Nearest) {
            Approximations::Nearest => Approximation::Nearest,
            Approximations::Low => Approximation::Lowest,
            Approximations::High => Approximation::Highest,
        },
        block_order: match arguments.block_order.unwrap_or(Blocks::Ascending) {
            Blocks::Ascending => BlockOrder::Ascending,
            Blocks::Descending => BlockOrder::Descending,
            Blocks::Random(seed) => BlockOrder::Random { seed },
        },
        most_resident: arguments.resident_blocks,
        max_steps: arguments.max_steps.unwrap_or(Watch::MOST_STEPS),
        time_limit: Some(arguments.time_limit.unwrap_or(TIME_LIMIT)),
    }
}

/// Reads at most `limit` bytes of a file, because a pipe or a device may be endless.
pub(super) fn read_bytes(path: &str, limit: u64) -> Result<Vec<u8>, String> {
    let is_file = std::fs::metadata(path).map_err(|error| error.to_string())?.is_file();
    if !is_file {
        return Err("not a file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
