//! A device that runs no code: it holds buffers, and each launch performs the next action of a script.
//!
//! It tests the code around devices: the result of a verification if a device returns wrong results, faults, fails,
//! hangs, or kills its process. It has no name, so that no command can open it.

use std::collections::VecDeque;
use std::ops::Range;

use lightbench_primitives::compute_capability::ComputeCapability;
use lightbench_virtual_gpu::machine::VariableError;
use lightbench_virtual_gpu::{FaultKind, InitialContent, LaunchError};
use serde::{Deserialize, Serialize};

use super::error::{DeviceError, DriverError};
use super::execution::{
    Argument, BufferId, BufferRequest, Content, Description, Device, DeviceKind, Image, Launch,
    LaunchFault, ModuleId, Outcome,
};
use super::tensor_map;
use super::timing::{Sampling, Timed, Work};
use super::virtual_device::Watch;

/// The action of one launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScriptedLaunch {
    /// Writes these bytes to the start of buffers, identified by argument position.
    Write(Vec<(usize, Vec<u8>)>),
    /// The kernel traps.
    Trap,
    /// The driver fails.
    Fail,
    /// The launch never ends.
    Hang,
    /// The process ends.
    Die,
}

/// A device that plays a script.
#[derive(Debug)]
pub struct ScriptedDevice {
    description: Description,
    script: VecDeque<ScriptedLaunch>,
    modules: usize,
    /// `None` after it was freed.
    buffers: Vec<Option<Content>>,
}

impl ScriptedDevice {
    /// A device whose launches do these things, one after another. A launch beyond the end of the script is an error.
    pub fn new(script: impl IntoIterator<Item = ScriptedLaunch>) -> Self {
        let description = Description {
            name: "scripted".to_owned(),
            title: "scripted device".to_owned(),
            capability: ComputeCapability(9, 0),
            memory_bytes: 1 << 30,
            // The buffers are on the host, with tracked initialisation.
            kind: DeviceKind::Virtual,
        };
        Self { description, script: script.into_iter().collect(), modules: 0, buffers: Vec::new() }
    }

    fn buffer(&mut self, buffer: BufferId) -> Result<&mut Content, DeviceError> {
        let known = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        known.ok_or(DeviceError::Unknown("buffer"))
    }

    fn write(
        &mut self,
        launch: &Launch,
        writes: Vec<(usize, Vec<u8>)>,
    ) -> Result<Outcome, DeviceError> {
        for (position, bytes) in writes {
            let Some(Argument::Buffer(buffer)) = launch.arguments.get(position) else {
                return Err(LaunchError::UnknownBuffer(position + 1).into());
            };
            let content = self.buffer(*buffer)?;
            let written = 0..bytes.len().min(content.bytes.len());
            content.bytes.splice(written.clone(), bytes);
            content.unwritten = without(&content.unwritten, &written);
        }
        Ok(Outcome::default())
    }
}

impl Device for ScriptedDevice {
    fn description(&self) -> &Description {
        &self.description
    }

    fn load(&mut self, _image: Image<'_>) -> Result<ModuleId, DeviceError> {
        self.modules += 1;
        Ok(ModuleId(self.modules - 1))
    }

    fn allocate(&mut self, request: BufferRequest) -> Result<BufferId, DeviceError> {
        let bytes = usize::try_from(request.bytes).unwrap_or(usize::MAX);
        self.buffers.push(Some(content(bytes, request.initial)));
        Ok(BufferId(self.buffers.len() - 1))
    }

    fn set(&mut self, buffer: BufferId, initial: InitialContent) -> Result<(), DeviceError> {
        let known = self.buffer(buffer)?;
        *known = content(known.bytes.len(), initial);
        Ok(())
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        self.buffer(buffer)?;
        self.buffers[buffer.0] = None;
        Ok(())
    }

    fn watch(&mut self, _watch: Watch) {}

    fn fill_variable(
        &mut self,
        _module: ModuleId,
        symbol: &str,
        _bytes: &[u8],
    ) -> Result<(), DeviceError> {
        Err(VariableError::Unknown(symbol.to_owned()).into())
    }

    /// A device without code has no time.
    fn time(&mut self, _work: &Work, _sampling: Sampling) -> Result<Timed, DeviceError> {
        Err(DeviceError::Unknown("time in its script"))
    }

    #[expect(clippy::infinite_loop, reason = "a launch that never ends is what is asked for")]
    fn launch(&mut self, launch: &Launch) -> Result<Outcome, DeviceError> {
        if launch.module.0 >= self.modules {
            return Err(DeviceError::Unknown("module"));
        }
        for (position, argument) in launch.arguments.iter().enumerate() {
            let unknown = |_| LaunchError::UnknownBuffer(position + 1);
            match argument {
                Argument::Bytes(_) => {}
                Argument::Buffer(buffer) => {
                    self.buffer(*buffer).map_err(unknown)?;
                }
                Argument::TensorMap { buffer, map } => {
                    // The device has no addresses: every buffer begins at 0.
                    let bytes = self.buffer(*buffer).map_err(unknown)?.bytes.len() as u64;
                    tensor_map::check(&self.description, (position + 1, map), (0, bytes))?;
                }
                Argument::Texture { buffer, object } => {
                    let bytes = self.buffer(*buffer).map_err(unknown)?.bytes.len() as u64;
                    let position = position + 1;
                    object
                        .check(bytes)
                        .map_err(|error| DeviceError::Texture { position, error })?;
                }
            }
        }
        let act = self.script.pop_front().ok_or(DeviceError::Unknown("launch in its script"))?;
        match act {
            ScriptedLaunch::Write(writes) => self.write(launch, writes),
            ScriptedLaunch::Trap => {
                let fault = LaunchFault::Reported {
                    kind: FaultKind::Trap,
                    kernel: launch.kernel.clone(),
                    buffer: None,
                    details: "the script says so".to_owned(),
                };
                Ok(Outcome { faults: vec![fault], ..Outcome::default() })
            }
            ScriptedLaunch::Fail => Err(DeviceError::Driver(DriverError {
                call: "cuLaunchKernel",
                name: "CUDA_ERROR_UNKNOWN".to_owned(),
                description: "the script says so".to_owned(),
                log: String::new(),
            })),
            ScriptedLaunch::Hang => loop {
                std::thread::park();
            },
            ScriptedLaunch::Die => std::process::abort(),
        }
    }

    fn read(&mut self, buffer: BufferId) -> Result<Content, DeviceError> {
        self.buffer(buffer).cloned()
    }
}

fn content(length: usize, initial: InitialContent) -> Content {
    let mut bytes = initial.given(length);
    bytes.truncate(length);
    let hole = bytes.len()..length;
    bytes.resize(length, 0);
    Content { bytes, unwritten: if hole.is_empty() { Vec::new() } else { vec![hole] } }
}

/// The parts of ranges outside another range.
fn without(ranges: &[Range<usize>], out: &Range<usize>) -> Vec<Range<usize>> {
    let parts = ranges.iter().flat_map(|range| {
        [range.start..range.end.min(out.start), range.start.max(out.end)..range.end]
    });
    parts.filter(|part| !part.is_empty()).collect()
}
