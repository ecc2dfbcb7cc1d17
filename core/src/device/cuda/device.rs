//! A GPU as a device: a context of its own, its modules and its buffers.

use cudarc::driver::sys::{CUdevice_attribute, CUresult};

use super::driver::{Context, DEFAULT_STREAM, Driver, Gpu, Kernel, LoadedModule, error};
use super::memory::{Memory, Source, Trespass};
use super::stopwatch::{Action, Prepared, Stopwatch, Trouble};
use super::stream::Room;
use super::telemetry::Telemetry;
use super::{fault, function};
use crate::device::capability::ComputeCapability;
use crate::device::error::{DeviceError, DriverError, OpenError};
use crate::device::execution::{
    Argument, BufferId, BufferRequest, Content, Description, Device, DeviceKind, Image, Launch,
    LaunchFault, ModuleId, Outcome, POISON,
};
use crate::device::timing::{Operation, Sampling, Timed, Work};
use crate::device::virtual_device::Watch;
use crate::virtual_gpu::machine::VariableError;
use crate::virtual_gpu::{Access, FaultKind, Initial, LaunchError};

/// What a GPU does not look for.
const NOT_CHECKED: [&str; 3] = ["exact bounds", "values that nothing wrote", "data races"];

/// One CUDA GPU. Fields are dropped in this order: the context last.
#[derive(Debug)]
pub struct CudaDevice {
    description: Description,
    gpu: Gpu,
    source: Source,
    buffers: Vec<Option<Buffer>>,
    modules: Vec<LoadedModule>,
    /// Made when something is timed.
    stopwatch: Option<Stopwatch>,
    /// Opened with it.
    telemetry: Option<Telemetry>,
    context: Context,
}

#[derive(Debug)]
struct Buffer {
    name: String,
    access: Access,
    memory: Memory,
    /// What an input held at first, to see whether a kernel wrote to it.
    guarded: Option<Vec<u8>>,
}

impl Buffer {
    fn set(&mut self, initial: Initial) -> Result<(), DriverError> {
        let given = match initial {
            Initial::Unwritten => Vec::new(),
            Initial::Bytes(given) => given,
        };
        if given.len() < self.memory.length() {
            self.memory.fill(POISON)?;
        }
        self.memory.write(&given)?;
        self.guarded = match self.access {
            Access::ReadWrite => None,
            Access::ReadOnly => Some(given),
        };
        Ok(())
    }
}

impl CudaDevice {
    /// Opens the GPU of that number, in the driver's order.
    ///
    /// # Errors
    ///
    /// There is no driver, it is too old, or it has no such GPU.
    pub fn open(ordinal: u32) -> Result<Self, OpenError> {
        let driver = Driver::load()?;
        let gpu = driver.gpu(ordinal)?;
        let major =
            gpu.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor =
            gpu.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let description = Description {
            name: format!("cuda:{ordinal}"),
            title: gpu.name()?,
            capability: ComputeCapability(major, minor),
            memory_bytes: gpu.memory_bytes()?,
            kind: DeviceKind::Cuda { uuid: gpu.uuid()?, driver: driver.version },
        };
        let context = Context::new(gpu)?;
        let source = Source::of(gpu)?;
        let (buffers, modules) = (Vec::new(), Vec::new());
        let (stopwatch, telemetry) = (None, None);
        Ok(Self { description, gpu, source, buffers, modules, stopwatch, telemetry, context })
    }

    fn values(&self, arguments: &[Argument]) -> Result<Vec<Vec<u8>>, LaunchError> {
        let value = |(index, argument): (usize, &Argument)| match argument {
            Argument::Bytes(bytes) => Ok(bytes.clone()),
            Argument::Buffer(buffer) => {
                let buffer = self.buffers.get(buffer.0).and_then(Option::as_ref);
                let buffer = buffer.ok_or(LaunchError::UnknownBuffer(index + 1))?;
                Ok(buffer.memory.address().to_le_bytes().to_vec())
            }
        };
        arguments.iter().enumerate().map(value).collect()
    }

    /// The kernel of a launch and the bytes of its parameters, where the driver will take them.
    fn prepared(&self, launch: &Launch) -> Result<(Kernel, Vec<u8>), DeviceError> {
        let values = self.values(&launch.arguments)?;
        let module = self.modules.get(launch.module.0).ok_or(DeviceError::Unknown("module"))?;
        let unknown = || LaunchError::UnknownKernel(launch.kernel.clone());
        let kernel = module.kernel(&launch.kernel)?.ok_or_else(unknown)?;
        function::prepare(self.gpu, kernel, launch)?;
        Ok((kernel, function::parameters(kernel, &values)?))
    }

    fn prepared_work(&self, work: &Work) -> Result<Prepared, DeviceError> {
        let rooms = |(from, to): &(BufferId, BufferId)| Ok((self.room(*from)?, self.room(*to)?));
        let action = |operation: &Operation| match operation {
            Operation::Launch { launch, .. } => {
                let (kernel, parameters) = self.prepared(launch)?;
                Ok(Action::Launch { kernel, launch: Box::new(launch.clone()), parameters })
            }
            Operation::Fill { buffer, element } => {
                Ok(Action::Fill { to: self.room(*buffer)?, element: element.clone() })
            }
        };
        Ok(Prepared {
            poison: work.poison.iter().map(|each| self.room(*each)).collect::<Result<_, _>>()?,
            restore: work.restore.iter().map(rooms).collect::<Result<_, DeviceError>>()?,
            timed: work.timed.iter().map(action).collect::<Result<_, DeviceError>>()?,
        })
    }

    fn room(&self, buffer: BufferId) -> Result<Room, DeviceError> {
        let buffer = self.buffers.get(buffer.0).and_then(Option::as_ref);
        Ok(buffer.ok_or(DeviceError::Unknown("buffer"))?.memory.room())
    }

    /// Writes to what surrounds buffers.
    fn trespasses(&mut self, kernel: &str) -> Result<Vec<LaunchFault>, DeviceError> {
        let mut faults = Vec::new();
        for buffer in self.buffers.iter_mut().flatten() {
            for Trespass { side, distance } in buffer.memory.trespasses()? {
                faults.push(LaunchFault::Reported {
                    kind: FaultKind::OutOfBounds,
                    kernel: kernel.to_owned(),
                    buffer: Some(buffer.name.clone()),
                    details: format!(
                        "something was written {side} `{}`, the nearest of it {distance} bytes away",
                        buffer.name
                    ),
                });
            }
        }
        Ok(faults)
    }

    /// Inputs that a kernel changed.
    fn changed_inputs(&self, kernel: &str) -> Result<Vec<LaunchFault>, DeviceError> {
        let mut faults = Vec::new();
        for buffer in self.buffers.iter().flatten() {
            let Some(guarded) = &buffer.guarded else { continue };
            let now = buffer.memory.read()?;
            let Some(offset) = now.iter().zip(guarded).position(|(now, then)| now != then) else {
                continue;
            };
            faults.push(LaunchFault::Reported {
                kind: FaultKind::ReadOnlyWrite,
                kernel: kernel.to_owned(),
                buffer: Some(buffer.name.clone()),
                details: format!(
                    "the input `{}` is not what it was before the launch, from byte {offset} on",
                    buffer.name
                ),
            });
        }
        Ok(faults)
    }
}

impl Device for CudaDevice {
    fn description(&self) -> &Description {
        &self.description
    }

    fn load(&mut self, image: Image<'_>) -> Result<ModuleId, DeviceError> {
        self.context.enter()?;
        self.modules.push(match image.cubin {
            Some(cubin) => LoadedModule::of_cubin(cubin)?,
            None => LoadedModule::of_ptx(image.ptx)?,
        });
        Ok(ModuleId(self.modules.len() - 1))
    }

    fn allocate(&mut self, request: BufferRequest) -> Result<BufferId, DeviceError> {
        self.context.enter()?;
        let memory = Memory::new(self.source, &request)?;
        let BufferRequest { name, access, initial, .. } = request;
        let mut buffer = Buffer { name, access, memory, guarded: None };
        buffer.set(initial)?;
        self.buffers.push(Some(buffer));
        Ok(BufferId(self.buffers.len() - 1))
    }

    fn set(&mut self, buffer: BufferId, initial: Initial) -> Result<(), DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        Ok(buffer.ok_or(DeviceError::Unknown("buffer"))?.set(initial)?)
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get_mut(buffer.0).ok_or(DeviceError::Unknown("buffer"))?;
        *buffer = None;
        Ok(())
    }

    fn watch(&mut self, _watch: Watch) {}

    fn fill_variable(
        &mut self,
        module: ModuleId,
        symbol: &str,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.context.enter()?;
        let module = self.modules.get(module.0).ok_or(DeviceError::Unknown("module"))?;
        let unknown = || VariableError::Unknown(symbol.to_owned());
        let mut variable = module.variable(symbol)?.ok_or_else(unknown)?;
        let (size, given) = (variable.bytes() as u64, bytes.len() as u64);
        if given > size {
            return Err(VariableError::Size { name: symbol.to_owned(), bytes: size, given }.into());
        }
        Ok(variable.write(bytes)?)
    }

    fn launch(&mut self, launch: &Launch) -> Result<Outcome, DeviceError> {
        self.context.enter()?;
        let (kernel, mut parameters) = self.prepared(launch)?;
        kernel.start(launch, &mut parameters, DEFAULT_STREAM).map_err(fault::refusal)?;
        let faults = match self.context.synchronise() {
            Ok(()) => {
                let mut faults = self.trespasses(&launch.kernel)?;
                faults.extend(self.changed_inputs(&launch.kernel)?);
                faults
            }
            Err(code) => vec![reported(code, &launch.kernel)?],
        };
        let not_checked = NOT_CHECKED.to_vec();
        Ok(Outcome { faults, not_checked, ..Outcome::default() })
    }

    fn time(&mut self, work: &Work, sampling: Sampling) -> Result<Timed, DeviceError> {
        self.context.enter()?;
        let prepared = self.prepared_work(work)?;
        if self.stopwatch.is_none() {
            self.stopwatch = Some(Stopwatch::new(self.gpu)?);
            self.telemetry = Telemetry::open(self.gpu.pci_bus()?);
        }
        let Some(stopwatch) = &mut self.stopwatch else {
            return Err(DeviceError::Unknown("stopwatch"));
        };
        let Sampling { mode, batch, samples } = sampling;
        match stopwatch.samples(&prepared, mode, batch, samples) {
            Ok(times) => {
                let reading = self.telemetry.as_mut().and_then(Telemetry::read);
                Ok(Timed::Samples { clock: stopwatch.clock(mode), times, reading })
            }
            Err(Trouble::Driver(error)) => Err(error.into()),
            Err(Trouble::Kernel(code)) => {
                let kernels = work.timed.iter().find_map(|operation| match operation {
                    Operation::Launch { launch, .. } => Some(launch.kernel.as_str()),
                    Operation::Fill { .. } => None,
                });
                Ok(Timed::Faulted(vec![reported(code, kernels.unwrap_or_default())?]))
            }
        }
    }

    fn read(&mut self, buffer: BufferId) -> Result<Content, DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get(buffer.0).and_then(Option::as_ref);
        let buffer = buffer.ok_or(DeviceError::Unknown("buffer"))?;
        Ok(Content { bytes: buffer.memory.read()?, unwritten: Vec::new() })
    }
}

/// What a kernel did, if that is what the code says.
fn reported(code: CUresult, kernel: &str) -> Result<LaunchFault, DeviceError> {
    let said = error("cuCtxSynchronize", code);
    let Some(kind) = fault::kind(code) else { return Err(said.into()) };
    Ok(LaunchFault::Reported {
        kind,
        kernel: kernel.to_owned(),
        buffer: None,
        details: format!("{}: {}", said.name, said.description),
    })
}
