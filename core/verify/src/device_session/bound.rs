//! The buffers of one case on a device: made, filled again, read, given back.

use std::collections::BTreeMap;

use lightbench_device::{BufferId, BufferRequest, Content, Device, DeviceError, Placement};
use lightbench_project::launch::Buffer;
use lightbench_project::manifest::Init;
use lightbench_project::tensor::Role;
use lightbench_tensors::case::{Case, TensorCase};
use lightbench_tensors::encoding::input::InputEncoding;
use lightbench_tensors::inputs;
use lightbench_tensors::inputs::{GeneratedInput, InputError, InputSpec};
use lightbench_virtual_gpu::{Access, InitialContent};

use super::harness_kernels::{HarnessKernels, constant};
use super::{BufferPlacement, SessionFailure, Side};
use crate::program::Program;

/// Bytes of an element that the reference writes.
const EXACT_BYTES: u64 = 8;

/// The buffers of a case, by what a program calls them.
#[derive(Debug)]
pub(super) struct Bound {
    workload: String,
    buffers: BTreeMap<Buffer, BufferId>,
    /// Inputs that the device made, by name: whether they still are what was made can be seen there.
    made: BTreeMap<BufferId, (String, InputEncoding)>,
    trusted: Option<HarnessKernels>,
    /// Must be zero after a run.
    zero: Vec<(String, BufferId, u64)>,
    /// Buffers that another program owns.
    shared: Vec<BufferId>,
}

/// A buffer before it is made.
struct Wanted {
    buffer: Buffer,
    name: String,
    bytes: u64,
    align: u64,
    access: Access,
    begins: Begins,
    init: Init,
}

/// What a buffer holds before a run.
enum Begins {
    Unwritten,
    Holds(GeneratedInput),
    /// A beginning, again and again.
    Repeats(Vec<u8>),
}

impl Begins {
    /// What a device is given, and what it makes of that.
    fn parts(self) -> (InitialContent, Option<Box<InputEncoding>>) {
        match self {
            Self::Unwritten => (InitialContent::Uninitialised, None),
            Self::Holds(GeneratedInput::OnHost(content)) => (InitialContent::Bytes(content), None),
            Self::Repeats(beginning) => (InitialContent::Repeated(beginning), None),
            Self::Holds(GeneratedInput::OnDevice(making)) => {
                (InitialContent::Uninitialised, Some(making))
            }
        }
    }
}

impl Bound {
    /// Allocates the buffers of a run, or refills those of the previous run.
    pub(super) fn prepare(
        device: &mut dyn Device,
        before: Option<Self>,
        (case, program, side): (&Case, &Program, Side),
        recipe: InputSpec,
        memory: BufferPlacement,
        trusted: Option<HarnessKernels>,
    ) -> Result<Self, SessionFailure> {
        let wanted = wanted(case, program, side, recipe, trusted)?;
        match (memory, before) {
            (BufferPlacement::Same, Some(mut bound)) if bound.workload == case.workload => {
                bound.fill(device, wanted)?;
                Ok(bound)
            }
            (BufferPlacement::AsLeft, Some(mut bound)) if bound.workload == case.workload => {
                let holds = |wanted: &Wanted| !matches!(wanted.begins, Begins::Unwritten);
                bound.fill(device, wanted.into_iter().filter(holds).collect())?;
                Ok(bound)
            }
            (BufferPlacement::Same | BufferPlacement::AsLeft, _) => {
                Err(SessionFailure::Order("no previous run of this case".to_owned()))
            }
            (BufferPlacement::Fresh(placement), before) => {
                let made = Self::make(device, &case.workload, wanted, placement, trusted);
                // Given back after the new ones are made, so that those lie elsewhere.
                if let Some(before) = before {
                    before.free(device)?;
                }
                made
            }
        }
    }

    fn make(
        device: &mut dyn Device,
        workload: &str,
        wanted: Vec<Wanted>,
        placement: Placement,
        trusted: Option<HarnessKernels>,
    ) -> Result<Self, SessionFailure> {
        let mut bound = Self {
            workload: workload.to_owned(),
            buffers: BTreeMap::new(),
            made: BTreeMap::new(),
            trusted,
            zero: Vec::new(),
            shared: Vec::new(),
        };
        for wanted in wanted {
            let Wanted { buffer, name, bytes, align, access, begins, init } = wanted;
            let (initial, making) = begins.parts();
            let request =
                BufferRequest { name: name.clone(), bytes, align, access, initial, placement };
            let id = match device.allocate(request) {
                Ok(id) => id,
                Err(error) => {
                    // What was made so far would lie there until the device is opened anew.
                    bound.free(device)?;
                    return Err(failure_from_device_error(&error));
                }
            };
            bound.buffers.insert(buffer, id);
            if let Some(making) = making {
                bound.make_there(device, id, (&name, access), *making)?;
            }
            if init == Init::ZeroOnce && matches!(buffer, Buffer::Scratch(_)) {
                bound.zero.push((name, id, bytes));
            }
        }
        Ok(bound)
    }

    /// Has the device make what a buffer holds.
    fn make_there(
        &mut self,
        device: &mut dyn Device,
        id: BufferId,
        (name, access): (&str, Access),
        making: InputEncoding,
    ) -> Result<(), SessionFailure> {
        let missing = || {
            let message = "the device has no harness kernels that generate inputs";
            SessionFailure::Order(message.to_owned())
        };
        self.trusted.ok_or_else(missing)?.make(device, id, &making)?;
        if access == Access::ReadOnly {
            self.made.insert(id, (name.to_owned(), making));
        }
        Ok(())
    }

    fn fill(&mut self, device: &mut dyn Device, wanted: Vec<Wanted>) -> Result<(), SessionFailure> {
        for wanted in wanted {
            let Some(id) = self.buffers.get(&wanted.buffer).copied() else {
                return Err(SessionFailure::Order("the program has other buffers".to_owned()));
            };
            // What is cleared once stays as the kernel left it.
            if wanted.init == Init::ZeroOnce {
                continue;
            }
            let (initial, making) = wanted.begins.parts();
            self.made.remove(&id);
            device.set(id, initial).map_err(|error| failure_from_device_error(&error))?;
            if let Some(making) = making {
                self.make_there(device, id, (&wanted.name, wanted.access), *making)?;
            }
        }
        Ok(())
    }

    /// The buffers of another program of the same case: the same tensors, because the address of a buffer affects how
    /// fast it is read, and separate scratch.
    pub(super) fn beside(
        &self,
        device: &mut dyn Device,
        program: &Program,
        placement: Placement,
    ) -> Result<Self, SessionFailure> {
        let mut beside = Self::make(
            device,
            &self.workload,
            scratch(program, self.trusted)?,
            placement,
            self.trusted,
        )?;
        for (buffer, id) in &self.buffers {
            if !matches!(buffer, Buffer::Scratch(_)) {
                beside.buffers.insert(*buffer, *id);
                beside.shared.push(*id);
            }
        }
        Ok(beside)
    }

    /// Fills the buffers of the same case again, for other inputs.
    pub(super) fn set(
        &mut self,
        device: &mut dyn Device,
        (case, program, side): (&Case, &Program, Side),
        recipe: InputSpec,
    ) -> Result<(), SessionFailure> {
        self.fill(device, wanted(case, program, side, recipe, self.trusted)?)
    }

    /// Outputs and scratch with how they begin.
    pub(super) fn begins(&self, case: &Case, program: &Program) -> Vec<(BufferId, Init)> {
        let outputs = case.tensors.iter().enumerate().filter_map(|(index, tensor)| {
            let Role::Output { init, .. } = &tensor.role else { return None };
            Some((self.tensor(index)?, *init))
        });
        let scratch = program.scratch.iter().enumerate().filter_map(|(index, scratch)| {
            Some((*self.buffers.get(&Buffer::Scratch(index))?, scratch.init))
        });
        outputs.chain(scratch).collect()
    }

    /// The buffer of a tensor.
    pub(super) fn tensor(&self, index: usize) -> Option<BufferId> {
        self.buffers.get(&Buffer::Tensor(index)).copied()
    }

    pub(super) fn free(self, device: &mut dyn Device) -> Result<(), SessionFailure> {
        let Self { buffers, shared, .. } = self;
        let mut own = buffers.into_values().filter(|id| !shared.contains(id));
        own.try_for_each(|id| device.free(id)).map_err(|error| failure_from_device_error(&error))
    }

    /// What each name stands for; a run may let names change places.
    pub(super) fn names(&self) -> BTreeMap<Buffer, BufferId> {
        self.buffers.clone()
    }

    /// Inputs that the device made, with their names.
    pub(super) fn made(&self) -> &BTreeMap<BufferId, (String, InputEncoding)> {
        &self.made
    }

    /// The buffer by that name.
    pub(super) fn buffer(&self, buffer: Buffer) -> Result<BufferId, SessionFailure> {
        let id = self.buffers.get(&buffer).copied();
        id.ok_or_else(|| SessionFailure::Order("no such buffer".to_owned()))
    }

    /// The buffer by that name, which is no longer given back with the others.
    pub(super) fn keep(&mut self, buffer: Buffer) -> Result<BufferId, SessionFailure> {
        let id = self.buffers.remove(&buffer);
        id.ok_or_else(|| SessionFailure::Order("no such buffer".to_owned()))
    }

    pub(super) fn read(
        &self,
        device: &mut dyn Device,
        buffer: Buffer,
    ) -> Result<Content, SessionFailure> {
        let id = self.buffer(buffer)?;
        device.read(id).map_err(|error| failure_from_device_error(&error))
    }

    /// The names of buffers that must be zero and are not.
    pub(super) fn left_dirty(
        &self,
        device: &mut dyn Device,
    ) -> Result<Vec<String>, SessionFailure> {
        let mut dirty = Vec::new();
        for (name, id, bytes) in &self.zero {
            let clean = match (self.trusted, zeros(*bytes)) {
                (Some(trusted), Some(zeros)) => {
                    trusted.first_change(device, *id, &zeros)?.is_none()
                }
                (Some(_) | None, _) => {
                    let content =
                        device.read(*id).map_err(|error| failure_from_device_error(&error))?;
                    content.bytes.iter().all(|byte| *byte == 0)
                }
            };
            if !clean {
                dirty.push(name.clone());
            }
        }
        Ok(dirty)
    }
}

/// How a device makes zeros: byte by byte, because a buffer may begin anywhere.
fn zeros(bytes: u64) -> Option<InputEncoding> {
    constant(bytes, &[0])
}

/// Fills a buffer with what a tensor holds at first, for the candidate's side.
pub(super) fn fill_with_tensor(
    device: &mut dyn Device,
    trusted: Option<HarnessKernels>,
    buffer: BufferId,
    (case, tensor, recipe): (&Case, usize, InputSpec),
) -> Result<(), SessionFailure> {
    let made = made(case, tensor, recipe, inputs::FloatStorage::AsElements, trusted)?;
    let (initial, making) = made.unwrap_or(Begins::Unwritten).parts();
    device.set(buffer, initial).map_err(|error| failure_from_device_error(&error))?;
    match (making, trusted) {
        (Some(making), Some(trusted)) => trusted.make(device, buffer, &making),
        (Some(_) | None, _) => Ok(()),
    }
}

/// What a tensor holds at first: as the device makes it, where it has trusted code and can.
fn made(
    case: &Case,
    tensor: usize,
    recipe: InputSpec,
    wanted: inputs::FloatStorage,
    trusted: Option<HarnessKernels>,
) -> Result<Option<Begins>, SessionFailure> {
    if wanted == inputs::FloatStorage::AsElements {
        let repeated = inputs::repeated(case, tensor, recipe)
            .map_err(|error| failure_from_input_error(&error))?;
        if let Some(beginning) = repeated {
            return Ok(Some(Begins::Repeats(beginning)));
        }
    }
    let made = match trusted {
        Some(_) => inputs::make(case, tensor, recipe, wanted),
        None => inputs::make_on_host(case, tensor, recipe, wanted)
            .map(|content| content.map(GeneratedInput::OnHost)),
    };
    Ok(made.map_err(|error| failure_from_input_error(&error))?.map(Begins::Holds))
}

fn wanted(
    case: &Case,
    program: &Program,
    side: Side,
    recipe: InputSpec,
    trusted: Option<HarnessKernels>,
) -> Result<Vec<Wanted>, SessionFailure> {
    let mut all = Vec::new();
    for (index, tensor) in case.tensors.iter().enumerate() {
        let reals = is_exact(tensor, side) && matches!(tensor.role, Role::Inout { .. });
        let form =
            if reals { inputs::FloatStorage::AsReals } else { inputs::FloatStorage::AsElements };
        let made = made(case, index, recipe, form, trusted)?;
        all.push(tensor_wanted(index, tensor, made, side, trusted)?);
        let judged_by_magnitude = tensor.has_magnitude() && side == Side::Reference;
        if judged_by_magnitude {
            all.push(Wanted {
                buffer: Buffer::Magnitude(index),
                name: format!("{}.magnitude", tensor.name),
                bytes: tensor.span.saturating_mul(EXACT_BYTES),
                align: 256,
                access: Access::ReadWrite,
                begins: Begins::Unwritten,
                init: Init::Undefined,
            });
        }
    }
    all.extend(scratch(program, trusted)?);
    Ok(all)
}

/// What a program needs beside the tensors.
fn scratch(
    program: &Program,
    trusted: Option<HarnessKernels>,
) -> Result<Vec<Wanted>, SessionFailure> {
    let each = program.scratch.iter().enumerate().map(|(index, scratch)| {
        Ok(Wanted {
            buffer: Buffer::Scratch(index),
            name: scratch.name.clone(),
            bytes: scratch.bytes,
            align: 256,
            access: Access::ReadWrite,
            begins: initial(scratch.init, scratch.bytes, trusted)?,
            init: scratch.init,
        })
    });
    each.collect()
}

fn tensor_wanted(
    index: usize,
    tensor: &TensorCase,
    made: Option<Begins>,
    side: Side,
    trusted: Option<HarnessKernels>,
) -> Result<Wanted, SessionFailure> {
    let exact = is_exact(tensor, side);
    let wide = tensor.span.saturating_mul(EXACT_BYTES);
    let written = if exact { wide } else { tensor.bytes };
    let (bytes, access, begins, init) = match (&tensor.role, made) {
        (Role::Input { .. }, Some(made)) => (tensor.bytes, Access::ReadOnly, made, Init::Undefined),
        (Role::Inout { .. }, Some(made)) => (written, Access::ReadWrite, made, Init::Undefined),
        (Role::Output { init, .. }, _) => {
            (written, Access::ReadWrite, initial(*init, written, trusted)?, *init)
        }
        (Role::Input { .. } | Role::Inout { .. }, None) => {
            let message = format!("`{}` has no content", tensor.name);
            return Err(SessionFailure::Order(message));
        }
    };
    let align = if exact { tensor.align.max(EXACT_BYTES) } else { tensor.align };
    let (buffer, name) = (Buffer::Tensor(index), tensor.name.clone());
    Ok(Wanted { buffer, name, bytes, align, access, begins, init })
}

/// Whether what a side writes are f64.
fn is_exact(tensor: &TensorCase, side: Side) -> bool {
    side == Side::Reference && tensor.dtype.is_float()
}

fn initial(
    init: Init,
    bytes: u64,
    trusted: Option<HarnessKernels>,
) -> Result<Begins, SessionFailure> {
    let too_large = |_error| SessionFailure::Memory(format!("{bytes} bytes of zeros"));
    Ok(match (init, trusted.and_then(|_| zeros(bytes))) {
        (Init::Undefined, _) => Begins::Unwritten,
        (Init::ZeroEachLaunch | Init::ZeroOnce, Some(zeros)) => {
            Begins::Holds(GeneratedInput::OnDevice(Box::new(zeros)))
        }
        (Init::ZeroEachLaunch | Init::ZeroOnce, None) => {
            Begins::Holds(GeneratedInput::OnHost(vec![
                0;
                usize::try_from(bytes).map_err(too_large)?
            ]))
        }
    })
}

/// Inputs that cannot be made are the project's fault.
pub(super) fn failure_from_input_error(error: &InputError) -> SessionFailure {
    SessionFailure::Inputs(error.to_string())
}

/// The failure for a device error.
pub(super) fn failure_from_device_error(error: &DeviceError) -> SessionFailure {
    let text = error.to_string();
    match error {
        error if error.is_unsupported() => SessionFailure::NotSupported(text),
        DeviceError::NewerPtx { .. } => SessionFailure::NotSupported(text),
        DeviceError::Load(_) => SessionFailure::Load(text),
        DeviceError::Launch(_)
        | DeviceError::Variable(_)
        | DeviceError::Demand(_)
        | DeviceError::TensorMap { .. }
        | DeviceError::Texture { .. }
        | DeviceError::TwoCopies
        | DeviceError::Library(_) => SessionFailure::Launch(text),
        DeviceError::Buffer(_) => SessionFailure::Memory(text),
        DeviceError::Unknown(_) => SessionFailure::Order(text),
        DeviceError::Driver(_) | DeviceError::NewerCubin { .. } => SessionFailure::Device(text),
        DeviceError::Passing(_) => SessionFailure::Outputs(text),
    }
}
