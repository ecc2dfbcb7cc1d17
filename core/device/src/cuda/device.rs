//! A GPU as a device: a context of its own, its modules and its buffers.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use cudarc::driver::sys::{CUdeviceptr, CUresult};
use lightbench_primitives::element::POISON;
use lightbench_ptx::header;
use lightbench_virtual_gpu::machine::{BufferError, VariableError};
use lightbench_virtual_gpu::{Access, FaultKind, InitialContent, LaunchError};

use super::cublas::Cublas;
use super::driver::{
    Context, DEFAULT_STREAM, Driver, Gpu, Kernel, LoadedModule, error, free_bytes,
};
use super::guards::Guards;
use super::memory::{GUARD, GuardViolation, Memory, Source};
use super::memory_exchange::{self, DeviceMemoryExchange};
use super::prepared::{Action, Prepared};
use super::staging::Staging;
use super::stopwatch::{Stopwatch, StopwatchError};
use super::stream::BorrowedMemory;
use super::telemetry::Telemetry;
use super::{attributes, fault, function};
use crate::error::{DeviceError, OpenError};
use crate::execution::{
    Argument, BufferId, BufferRequest, Content, Description, Device, DeviceKind, Image,
    Instruments, Launch, LaunchFault, MemoryExchange, ModuleId, Outcome,
};
use crate::library::{LibraryOutcome, LibraryRun};
use crate::timing::{Operation, Sampling, Timed, Timekeeping, Work};
use crate::virtual_device::Watch;

/// What a GPU does not look for.
const NOT_CHECKED: [&str; 3] = ["exact bounds", "values that nothing wrote", "data races"];

/// One CUDA GPU. Fields are dropped in this order: the context last.
#[derive(Debug)]
pub struct CudaDevice {
    description: Description,
    gpu: Gpu,
    source: Source,
    staging: Staging,
    guards: Option<Guards>,
    mailbox: DeviceMemoryExchange,
    buffers: Vec<Option<Buffer>>,
    modules: Vec<LoadedModule>,
    /// Made when something is timed.
    stopwatch: Option<Stopwatch>,
    pub(super) timekeeping: Timekeeping,
    /// Opened with it.
    telemetry: Option<Telemetry>,
    /// Loaded when a baseline asks for it.
    cublas: Option<Rc<Cublas>>,
    context: Context,
}

/// What a GPU is timed with, and what is read beside it.
pub(super) type TimingEquipment<'a> = (&'a mut Stopwatch, &'a mut Option<Telemetry>);

#[derive(Debug)]
struct Buffer {
    name: String,
    access: Access,
    memory: Memory,
    /// What an input held at first, to see whether a kernel wrote to it.
    guarded: Option<Vec<u8>>,
}

impl Buffer {
    fn set(&mut self, initial: InitialContent, staging: &mut Staging) -> Result<(), DeviceError> {
        let given = initial.given(self.memory.length());
        if given.len() < self.memory.length() {
            self.memory.fill(POISON)?;
        }
        let mut rest = given.as_slice();
        let length = given.len().min(self.memory.length());
        let source = &mut |part: &mut [u8]| io::Read::read_exact(&mut rest, part);
        staging.copy_in(self.memory.address(), length, source)?;
        self.guarded = match self.access {
            Access::ReadWrite => None,
            // What is not given is made by trusted code, and known to whoever had it made.
            Access::ReadOnly => Some(given).filter(|given| !given.is_empty()),
        };
        Ok(())
    }

    fn read(
        &self,
        staging: &mut Staging,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), DeviceError> {
        staging.copy_out(self.memory.address(), self.memory.length(), sink)
    }

    /// All of it.
    fn bytes(&self, staging: &mut Staging) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = Vec::with_capacity(self.memory.length());
        self.read(staging, &mut |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        Ok(bytes)
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
        let attributes = Box::new(attributes::read(gpu)?);
        let description = Description {
            name: format!("cuda:{ordinal}"),
            title: attributes.title.clone(),
            capability: attributes.compute_capability,
            memory_bytes: attributes.memory_bytes,
            kind: DeviceKind::Cuda { uuid: gpu.uuid()?, driver: driver.version, attributes },
        };
        let context = Context::new(gpu)?;
        let source = Source::new(gpu)?;
        let staging = Staging::new()?;
        Ok(Self {
            description,
            gpu,
            source,
            staging,
            guards: None,
            mailbox: DeviceMemoryExchange::default(),
            buffers: Vec::new(),
            modules: Vec::new(),
            stopwatch: None,
            timekeeping: Timekeeping::Events,
            telemetry: None,
            cublas: None,
            context,
        })
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
            Operation::Library(run) => {
                let cublas = self.cublas.clone().ok_or(DeviceError::Unknown("library"))?;
                let addresses = self.addresses(run)?;
                Ok(Action::Library { cublas, product: run.product.clone(), addresses })
            }
        };
        let each = |buffers: &[BufferId]| -> Result<Vec<_>, DeviceError> {
            buffers.iter().map(|buffer| self.room(*buffer)).collect()
        };
        Ok(Prepared {
            poison: each(&work.poison)?,
            clear: each(&work.clear)?,
            restore: work.restore.iter().map(rooms).collect::<Result<_, DeviceError>>()?,
            timed: work.timed.iter().map(action).collect::<Result<_, DeviceError>>()?,
        })
    }

    /// Work that can begin, and what it is timed with; nothing else is under way.
    pub(super) fn ready(
        &mut self,
        work: &Work,
    ) -> Result<(Prepared, TimingEquipment<'_>), DeviceError> {
        self.context.enter()?;
        self.mailbox.withdraw();
        for operation in &work.timed {
            match operation {
                Operation::Library(run) => drop(self.cublas(&run.files)?),
                Operation::Launch { .. } | Operation::Fill { .. } => {}
            }
        }
        let prepared = self.prepared_work(work)?;
        if self.stopwatch.is_none() {
            self.stopwatch = Some(Stopwatch::new(self.gpu)?);
            self.telemetry = Telemetry::open(self.gpu.pci_bus()?);
        }
        // The stopwatch's stream waits for no other: what is still being filled must be done.
        self.context.synchronise().map_err(|code| error("cuCtxSynchronize", code))?;
        let Some(stopwatch) = &mut self.stopwatch else {
            return Err(DeviceError::Unknown("stopwatch"));
        };
        if let Some(cublas) = &self.cublas {
            cublas.bind(stopwatch.stream())?;
        }
        Ok((prepared, (stopwatch, &mut self.telemetry)))
    }

    fn addresses(&self, run: &LibraryRun) -> Result<[CUdeviceptr; 3], DeviceError> {
        let [a, b, c] = run.buffers;
        Ok([self.room(a)?.start, self.room(b)?.start, self.room(c)?.start])
    }

    /// The library, loaded when it is first asked for.
    fn cublas(&mut self, files: &[PathBuf]) -> Result<Rc<Cublas>, DeviceError> {
        if self.cublas.is_none() {
            self.cublas = Some(Rc::new(Cublas::load(files)?));
        }
        self.cublas.clone().ok_or(DeviceError::Unknown("library"))
    }

    fn room(&self, buffer: BufferId) -> Result<BorrowedMemory, DeviceError> {
        let buffer = self.buffers.get(buffer.0).and_then(Option::as_ref);
        Ok(buffer.ok_or(DeviceError::Unknown("buffer"))?.memory.room())
    }

    /// Runs a kernel to its end; the driver's code where it does not come to one.
    fn run(&self, launch: &Launch) -> Result<Result<(), CUresult>, DeviceError> {
        let (kernel, mut parameters) = self.prepared(launch)?;
        kernel.start(launch, &mut parameters, DEFAULT_STREAM).map_err(fault::refusal)?;
        Ok(self.context.synchronise())
    }

    /// Whether something was written around any buffer; not known without the code that looks.
    fn has_guard_violation(&mut self) -> Result<bool, DeviceError> {
        let Some(mut guards) = self.guards.take() else { return Ok(true) };
        let around = self.buffers.iter().flatten().flat_map(|buffer| buffer.memory.around());
        let around = around.filter(|(_, length)| *length > 0);
        let extents: Vec<_> = around.map(|(start, length)| (start, length as u64)).collect();
        let changed = guards.changed(&extents, GUARD, |launch| {
            self.run(launch)?.map_err(|code| error("cuCtxSynchronize", code).into())
        });
        self.guards = Some(guards);
        Ok(changed?.contains(&true))
    }

    /// Writes to what surrounds buffers.
    fn guard_violations(&mut self, kernel: &str) -> Result<Vec<LaunchFault>, DeviceError> {
        let mut faults = Vec::new();
        if !self.has_guard_violation()? {
            return Ok(faults);
        }
        for buffer in self.buffers.iter_mut().flatten() {
            for GuardViolation { side, distance } in buffer.memory.guard_violations()? {
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
    fn changed_inputs(&mut self, kernel: &str) -> Result<Vec<LaunchFault>, DeviceError> {
        let mut faults = Vec::new();
        for buffer in self.buffers.iter().flatten() {
            let Some(guarded) = &buffer.guarded else { continue };
            let now = buffer.bytes(&mut self.staging)?;
            let Some(offset) = now.iter().zip(guarded).position(|(now, then)| now != then) else {
                continue;
            };
            faults.push(LaunchFault::input_changed(kernel, &buffer.name, offset as u64));
        }
        Ok(faults)
    }
}

impl CudaDevice {
    /// The PTX, if its version is one that the driver compiles.
    fn compiled_by_driver<'p>(&self, ptx: &'p str) -> Result<&'p str, DeviceError> {
        let DeviceKind::Cuda { driver, .. } = &self.description.kind else { return Ok(ptx) };
        match header::newer_than_driver(ptx, *driver) {
            Some((written, newest)) => {
                Err(DeviceError::NewerPtx { written, newest, driver: *driver })
            }
            None => Ok(ptx),
        }
    }
}

impl Device for CudaDevice {
    fn description(&self) -> &Description {
        &self.description
    }

    fn load(&mut self, image: Image<'_>) -> Result<ModuleId, DeviceError> {
        self.context.enter()?;
        self.modules.push(match image.cubin {
            Some(cubin) => LoadedModule::from_cubin(cubin)?,
            None => LoadedModule::from_ptx(self.compiled_by_driver(image.ptx)?)?,
        });
        Ok(ModuleId(self.modules.len() - 1))
    }

    fn allocate(&mut self, request: BufferRequest) -> Result<BufferId, DeviceError> {
        self.context.enter()?;
        let memory = Memory::new(self.source, &request).map_err(|error| {
            if !error.is_out_of_memory() {
                return DeviceError::from(error);
            }
            let (name, bytes) = (request.name.clone(), request.bytes);
            match free_bytes() {
                Ok(left) => BufferError::NoMemory { name, bytes, left }.into(),
                Err(error) => error.into(),
            }
        })?;
        let BufferRequest { name, access, initial, .. } = request;
        let mut buffer = Buffer { name, access, memory, guarded: None };
        buffer.set(initial, &mut self.staging)?;
        self.buffers.push(Some(buffer));
        Ok(BufferId(self.buffers.len() - 1))
    }

    fn set(&mut self, buffer: BufferId, initial: InitialContent) -> Result<(), DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        buffer.ok_or(DeviceError::Unknown("buffer"))?.set(initial, &mut self.staging)
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
        let is_trusted = self.guards.as_ref().is_some_and(|guards| guards.module == launch.module);
        if !is_trusted {
            self.mailbox.withdraw();
        }
        let faults = match self.run(launch)? {
            Ok(()) if is_trusted => Vec::new(),
            Ok(()) => {
                let mut faults = self.guard_violations(&launch.kernel)?;
                faults.extend(self.changed_inputs(&launch.kernel)?);
                faults
            }
            Err(code) => vec![reported(code, &launch.kernel)?],
        };
        let not_checked = NOT_CHECKED.to_vec();
        Ok(Outcome { faults, not_checked, ..Outcome::default() })
    }

    fn library(&mut self, run: &LibraryRun) -> Result<LibraryOutcome, DeviceError> {
        self.context.enter()?;
        let cublas = self.cublas(&run.files)?;
        let addresses = self.addresses(run)?;
        cublas.bind(DEFAULT_STREAM)?;
        cublas.start(&run.product, addresses)?;
        let used = cublas.used(&run.product);
        let faults = match self.context.synchronise() {
            Ok(()) => {
                let mut faults = self.guard_violations(&used.name)?;
                faults.extend(self.changed_inputs(&used.name)?);
                faults
            }
            Err(code) => vec![reported(code, &used.name)?],
        };
        Ok(LibraryOutcome { used, faults })
    }

    fn time(&mut self, work: &Work, sampling: Sampling) -> Result<Timed, DeviceError> {
        let timekeeping = self.timekeeping.clone();
        let (prepared, (stopwatch, telemetry)) = self.ready(work)?;
        let kept = stopwatch.keep_time(&timekeeping);
        match kept.and_then(|()| stopwatch.samples(&prepared, sampling)) {
            Ok((clock, times)) => {
                let reading = telemetry.as_mut().and_then(Telemetry::read);
                Ok(Timed::Samples { clock, times, reading })
            }
            Err(StopwatchError::Driver(error)) => Err(error.into()),
            Err(StopwatchError::Library(error)) => Err(error.into()),
            Err(StopwatchError::Kernel(code)) => {
                let kernels = work.timed.iter().find_map(|operation| match operation {
                    Operation::Launch { launch, .. } => Some(launch.kernel.as_str()),
                    Operation::Library(_) => Some("cuBLAS"),
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
        Ok(Content { bytes: buffer.bytes(&mut self.staging)?, unwritten: Vec::new() })
    }

    fn read_to(
        &mut self,
        buffer: BufferId,
        sink: &mut dyn io::Write,
    ) -> Result<Vec<Range<usize>>, DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get(buffer.0).and_then(Option::as_ref);
        let buffer = buffer.ok_or(DeviceError::Unknown("buffer"))?;
        buffer.read(&mut self.staging, &mut |part| sink.write_all(part))?;
        Ok(Vec::new())
    }

    fn set_from(&mut self, buffer: BufferId, source: &mut dyn io::Read) -> Result<(), DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        let buffer = buffer.ok_or(DeviceError::Unknown("buffer"))?;
        // Nobody knows what an input should be that came so.
        buffer.guarded = None;
        let (start, length) = (buffer.memory.address(), buffer.memory.length());
        self.staging.copy_in(start, length, &mut |part| source.read_exact(part))
    }

    fn equip(&mut self, image: Image<'_>) -> Result<Option<ModuleId>, DeviceError> {
        let module = self.load(image)?;
        self.guards = Some(Guards::new(module)?);
        Ok(Some(module))
    }

    fn direct(&mut self) -> Option<&mut dyn MemoryExchange> {
        Some(self)
    }

    fn instruments(&mut self) -> Option<&mut dyn Instruments> {
        Some(self)
    }
}

impl MemoryExchange for CudaDevice {
    fn offer(&mut self, buffer: BufferId, slot: usize) -> Result<Vec<u8>, DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get(buffer.0).and_then(Option::as_ref);
        let memory = &buffer.ok_or(DeviceError::Unknown("buffer"))?.memory;
        self.mailbox.offer(&self.context, slot, memory.address(), memory.length())
    }

    fn take(&mut self, buffer: BufferId, offered: &[u8]) -> Result<(), DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        let buffer = buffer.ok_or(DeviceError::Unknown("buffer"))?;
        buffer.guarded = None;
        let (to, length) = (buffer.memory.address(), buffer.memory.length());
        memory_exchange::take(&self.context, to, length, offered)
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
