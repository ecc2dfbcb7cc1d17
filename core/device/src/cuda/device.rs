//! A CUDA GPU as a device, with its own context, modules and buffers.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use cudarc::driver::sys::{CUdeviceptr, CUresult};
use lightbench_ptx::header;
use lightbench_virtual_gpu::machine::{BufferError, VariableError};
use lightbench_virtual_gpu::{FaultKind, InitialContent, LaunchError};

use super::buffer::Buffer;
use super::cublas::Cublas;
use super::driver::{
    Context, DEFAULT_STREAM, Driver, Gpu, Kernel, LoadedModule, error, free_bytes,
};
use super::guards::Guards;
use super::memory::{GUARD, GuardViolation, Memory, Source};
use super::memory_exchange::{self, DeviceMemoryExchange};
use super::older_driver::Layouts;
use super::prepared::{Action, Prepared, arrays_of};
use super::staging::Staging;
use super::stopwatch::{Stopwatch, StopwatchError};
use super::stream::BorrowedMemory;
use super::telemetry::Telemetry;
use super::texture::Textures;
use super::{attributes, fault, function, tensor_map};
use crate::error::{DeviceError, OpenError};
use crate::execution::{
    Argument, BufferId, BufferRequest, Content, Description, Device, DeviceKind, Image,
    Instruments, Launch, LaunchFault, MemoryExchange, ModuleId, Outcome,
};
use crate::library::{LibraryOutcome, LibraryRun};
use crate::timing::{Operation, Sampling, Timed, Timekeeping, Work};
use crate::virtual_device::Watch;

/// Checks that a GPU does not perform.
const NOT_CHECKED: [&str; 3] = ["exact bounds", "uninitialised values", "data races"];

/// The byte of an ELF file with the version of its binary interface, and that version in cubins of CUDA 13, which drivers of
/// CUDA 12 do not load.
const ELF_ABI_VERSION: usize = 8;
const ABI_OF_CUDA_13: u8 = 8;
const FIRST_FOR_CUDA_13: (u32, u32) = (13, 0);

/// A module on the GPU.
#[derive(Debug)]
struct Module {
    loaded: LoadedModule,
    layouts: Layouts,
}

/// One CUDA GPU. Fields are dropped in this order: the context last.
#[derive(Debug)]
pub struct CudaDevice {
    description: Description,
    /// The newest CUDA version that the driver supports.
    driver: (u32, u32),
    gpu: Gpu,
    source: Source,
    staging: Staging,
    guards: Option<Guards>,
    mailbox: DeviceMemoryExchange,
    buffers: Vec<Option<Buffer>>,
    modules: Vec<Module>,
    /// Made when something is timed.
    stopwatch: Option<Stopwatch>,
    pub(super) timekeeping: Timekeeping,
    /// Opened with it.
    telemetry: Option<Telemetry>,
    /// Loaded when a baseline first needs it.
    cublas: Option<Rc<Cublas>>,
    context: Context,
}

/// The stopwatch and the telemetry of a GPU.
pub(super) type TimingEquipment<'a> = (&'a mut Stopwatch, &'a mut Option<Telemetry>);

impl CudaDevice {
    /// Opens a GPU by its number in the driver's order.
    ///
    /// # Errors
    ///
    /// The driver is missing, too old, or has no such GPU.
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
            driver: driver.version,
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

    /// Makes the buffers of a launch ready: the objects of its textures, and the memory behind its addresses.
    fn bind(&mut self, launch: &Launch) -> Result<(), DeviceError> {
        for (index, argument) in launch.arguments.iter().enumerate() {
            let position = index + 1;
            let (Argument::Buffer(id)
            | Argument::TensorMap { buffer: id, .. }
            | Argument::Texture { buffer: id, .. }) = argument
            else {
                continue;
            };
            let buffer = self.buffers.get_mut(id.0).and_then(Option::as_mut);
            let buffer = buffer.ok_or(LaunchError::UnknownBuffer(position))?;
            if let Argument::Texture { object, .. } = argument {
                let room = buffer.memory.room();
                object
                    .check(room.bytes as u64)
                    .map_err(|error| DeviceError::Texture { position, error })?;
                buffer.textures.bind(object, room)?;
            } else {
                buffer.use_memory()?;
            }
        }
        Ok(())
    }

    fn values(&self, arguments: &[Argument]) -> Result<Vec<Vec<u8>>, DeviceError> {
        let memory = |position: usize, buffer: &BufferId| {
            let buffer = self.buffers.get(buffer.0).and_then(Option::as_ref);
            buffer.map(|buffer| &buffer.memory).ok_or(LaunchError::UnknownBuffer(position))
        };
        let value = |(index, argument): (usize, &Argument)| match argument {
            Argument::Bytes(bytes) => Ok(bytes.clone()),
            Argument::Buffer(buffer) => {
                Ok(memory(index + 1, buffer)?.address().to_le_bytes().to_vec())
            }
            Argument::TensorMap { buffer, map } => {
                let memory = memory(index + 1, buffer)?;
                let place = (memory.address(), memory.length() as u64);
                crate::tensor_map::check(&self.description, (index + 1, map), place)?;
                Ok(tensor_map::encode(map, memory.address())?)
            }
            Argument::Texture { buffer, object } => {
                let buffer = self.buffers.get(buffer.0).and_then(Option::as_ref);
                let handle = buffer.and_then(|buffer| buffer.textures.handle(object));
                let handle = handle.ok_or(LaunchError::UnknownBuffer(index + 1))?;
                Ok(handle.to_le_bytes().to_vec())
            }
        };
        arguments.iter().enumerate().map(value).collect()
    }

    /// The kernel of a launch and the bytes of its parameters, after checking the driver's requirements.
    fn prepared(&self, launch: &Launch) -> Result<(Kernel, Vec<u8>), DeviceError> {
        let values = self.values(&launch.arguments)?;
        let module = self.modules.get(launch.module.0).ok_or(DeviceError::Unknown("module"))?;
        let unknown = || LaunchError::UnknownKernel(launch.kernel.clone());
        let kernel = module.loaded.kernel(&launch.kernel)?.ok_or_else(unknown)?;
        function::prepare(self.gpu, kernel, launch)?;
        let layout = match &module.layouts {
            Layouts::Driver => function::layout(kernel)?,
            Layouts::Ptx(known) => known.get(&launch.kernel).cloned().ok_or_else(unknown)?,
        };
        Ok((kernel, function::parameters(layout, &values)?))
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
        let in_array = arrays_of(work)?.into_iter();
        let refills = in_array.filter_map(|buffer| {
            let buffer = self.buffers.get(buffer.0)?.as_ref()?;
            buffer.textures.refill(buffer.memory.room())
        });
        Ok(Prepared {
            arrays: refills.collect(),
            poison: each(&work.poison)?,
            clear: each(&work.clear)?,
            restore: work.restore.iter().map(rooms).collect::<Result<_, DeviceError>>()?,
            timed: work.timed.iter().map(action).collect::<Result<_, DeviceError>>()?,
        })
    }

    /// Work that is ready to start, with the stopwatch; no other work is pending.
    pub(super) fn ready(
        &mut self,
        work: &Work,
    ) -> Result<(Prepared, TimingEquipment<'_>), DeviceError> {
        self.context.enter()?;
        self.mailbox.withdraw();
        for operation in &work.timed {
            match operation {
                Operation::Library(run) => drop(self.cublas(&run.files)?),
                Operation::Launch { launch, .. } => self.bind(launch)?,
                Operation::Fill { .. } => {}
            }
        }
        let prepared = self.prepared_work(work)?;
        if self.stopwatch.is_none() {
            self.stopwatch = Some(Stopwatch::new(self.gpu)?);
            self.telemetry = Telemetry::open(self.gpu.pci_bus()?);
        }
        // The stopwatch's stream does not wait for other streams: pending fills must have completed.
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

    /// The library, loaded on first use.
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

    /// Runs a kernel to its end; returns the driver's error code if it fails.
    fn run(&mut self, launch: &Launch) -> Result<Result<(), CUresult>, DeviceError> {
        self.bind(launch)?;
        let (kernel, mut parameters) = self.prepared(launch)?;
        kernel.start(launch, &mut parameters, DEFAULT_STREAM).map_err(fault::refusal)?;
        Ok(self.context.synchronise())
    }

    /// Whether any guard region was written; `None` without the harness kernels that check it.
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

    /// Writes to the guard regions of buffers.
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
                        "out-of-bounds write {side} `{}`, found in the guard region {distance} bytes away",
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
        for buffer in self.buffers.iter_mut().flatten() {
            if let Some(offset) = buffer.first_change(&mut self.staging)? {
                faults.push(LaunchFault::input_changed(kernel, &buffer.name, offset as u64));
            }
        }
        Ok(faults)
    }
}

impl CudaDevice {
    /// The PTX, if its version is one that the driver compiles.
    fn compiled_by_driver<'p>(&self, ptx: &'p str) -> Result<&'p str, DeviceError> {
        let driver = self.driver;
        match header::newer_than_driver(ptx, driver) {
            Some((written, newest)) => Err(DeviceError::NewerPtx { written, newest, driver }),
            None => Ok(ptx),
        }
    }

    fn loaded_by_driver<'c>(&self, cubin: &'c [u8]) -> Result<&'c [u8], DeviceError> {
        let of_13 = cubin.get(ELF_ABI_VERSION).is_some_and(|version| *version >= ABI_OF_CUDA_13);
        if of_13 && self.driver < FIRST_FOR_CUDA_13 {
            return Err(DeviceError::NewerCubin { driver: self.driver });
        }
        Ok(cubin)
    }
}

impl Device for CudaDevice {
    fn description(&self) -> &Description {
        &self.description
    }

    fn load(&mut self, image: Image<'_>) -> Result<ModuleId, DeviceError> {
        self.context.enter()?;
        let loaded = match image.cubin {
            Some(cubin) => LoadedModule::from_cubin(self.loaded_by_driver(cubin)?)?,
            None => LoadedModule::from_ptx(self.compiled_by_driver(image.ptx)?)?,
        };
        let layouts = Layouts::new(self.driver, image.ptx);
        self.modules.push(Module { loaded, layouts });
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
        let textures = Textures::default();
        let mut buffer = Buffer { name, access, textures, memory, guarded: None };
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
        let mut variable = module.loaded.variable(symbol)?.ok_or_else(unknown)?;
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
        let buffer = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        let buffer = buffer.ok_or(DeviceError::Unknown("buffer"))?;
        Ok(Content { bytes: buffer.bytes(&mut self.staging)?, unwritten: Vec::new() })
    }

    fn read_to(
        &mut self,
        buffer: BufferId,
        sink: &mut dyn io::Write,
    ) -> Result<Vec<Range<usize>>, DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        let buffer = buffer.ok_or(DeviceError::Unknown("buffer"))?;
        buffer.read(&mut self.staging, &mut |part| sink.write_all(part))?;
        Ok(Vec::new())
    }

    fn set_from(&mut self, buffer: BufferId, source: &mut dyn io::Read) -> Result<(), DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        let buffer = buffer.ok_or(DeviceError::Unknown("buffer"))?;
        // The expected content of an input set this way is unknown.
        buffer.guarded = None;
        buffer.use_memory()?;
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
        let buffer = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        let buffer = buffer.ok_or(DeviceError::Unknown("buffer"))?;
        buffer.use_memory()?;
        let memory = &buffer.memory;
        self.mailbox.offer(&self.context, slot, memory.address(), memory.length())
    }

    fn take(&mut self, buffer: BufferId, offered: &[u8]) -> Result<(), DeviceError> {
        self.context.enter()?;
        let buffer = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        let buffer = buffer.ok_or(DeviceError::Unknown("buffer"))?;
        buffer.guarded = None;
        buffer.use_memory()?;
        let (to, length) = (buffer.memory.address(), buffer.memory.length());
        memory_exchange::take(&self.context, to, length, offered)
    }
}

/// The kernel fault that an error code reports, if it reports one.
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
