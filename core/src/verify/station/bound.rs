//! The buffers of one case on a device: made, filled again, read, given back.

use std::collections::BTreeMap;

use super::{MemoryOrder, Side, StationFailure};
use crate::device::{BufferId, BufferRequest, Content, Device, DeviceError, Placement};
use crate::project::launch::Buffer;
use crate::project::manifest::Init;
use crate::project::tensor::Role;
use crate::verify::case::{Case, TensorCase};
use crate::verify::element::load_reals;
use crate::verify::inputs::{self, InputError, Recipe};
use crate::verify::program::Program;
use crate::virtual_gpu::{Access, Initial};

/// Bytes of an element that the reference writes.
const EXACT_BYTES: u64 = 8;

/// The buffers of a case, by what a program calls them.
#[derive(Debug)]
pub(super) struct Bound {
    workload: String,
    buffers: BTreeMap<Buffer, BufferId>,
    /// Must be zero after a run.
    zero: Vec<(String, BufferId)>,
    /// Those that another program's buffers own.
    shared: Vec<BufferId>,
}

/// A buffer before it is made.
struct Wanted {
    buffer: Buffer,
    name: String,
    bytes: u64,
    align: u64,
    access: Access,
    initial: Initial,
    init: Init,
}

impl Bound {
    /// Makes the buffers of a run, or fills those of the run before.
    pub(super) fn prepare(
        device: &mut dyn Device,
        before: Option<Self>,
        (case, program, side): (&Case, &Program, Side),
        recipe: Recipe,
        memory: MemoryOrder,
    ) -> Result<Self, StationFailure> {
        let wanted = wanted(case, program, side, recipe)?;
        match (memory, before) {
            (MemoryOrder::Same, Some(bound)) if bound.workload == case.workload => {
                bound.fill(device, wanted)?;
                Ok(bound)
            }
            (MemoryOrder::Same, _) => {
                Err(StationFailure::Order("there is no run of this case before".to_owned()))
            }
            (MemoryOrder::Fresh(placement), before) => {
                let made = Self::make(device, &case.workload, wanted, placement);
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
    ) -> Result<Self, StationFailure> {
        let workload = workload.to_owned();
        let (buffers, zero, shared) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut bound = Self { workload, buffers, zero, shared };
        for wanted in wanted {
            let Wanted { buffer, name, bytes, align, access, initial, init } = wanted;
            let request =
                BufferRequest { name: name.clone(), bytes, align, access, initial, placement };
            let id = match device.allocate(request) {
                Ok(id) => id,
                Err(error) => {
                    // What was made so far would lie there until the device is opened anew.
                    bound.free(device)?;
                    return Err(of_device(&error));
                }
            };
            bound.buffers.insert(buffer, id);
            if init == Init::ZeroOnce && matches!(buffer, Buffer::Scratch(_)) {
                bound.zero.push((name, id));
            }
        }
        Ok(bound)
    }

    fn fill(&self, device: &mut dyn Device, wanted: Vec<Wanted>) -> Result<(), StationFailure> {
        for wanted in wanted {
            let Some(id) = self.buffers.get(&wanted.buffer) else {
                return Err(StationFailure::Order("the program has other buffers".to_owned()));
            };
            // What is cleared once stays as the kernel left it.
            if wanted.init != Init::ZeroOnce {
                device.set(*id, wanted.initial).map_err(|error| of_device(&error))?;
            }
        }
        Ok(())
    }

    /// The buffers of another program of the same case: the very same tensors, as where a buffer lies changes how fast it
    /// is read, and scratch of its own.
    pub(super) fn beside(
        &self,
        device: &mut dyn Device,
        program: &Program,
        placement: Placement,
    ) -> Result<Self, StationFailure> {
        let mut beside = Self::make(device, &self.workload, scratch(program)?, placement)?;
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
        &self,
        device: &mut dyn Device,
        (case, program, side): (&Case, &Program, Side),
        recipe: Recipe,
    ) -> Result<(), StationFailure> {
        self.fill(device, wanted(case, program, side, recipe)?)
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

    pub(super) fn free(self, device: &mut dyn Device) -> Result<(), StationFailure> {
        let Self { buffers, shared, .. } = self;
        let mut own = buffers.into_values().filter(|id| !shared.contains(id));
        own.try_for_each(|id| device.free(id)).map_err(|error| of_device(&error))
    }

    /// What each name stands for; a run may let names change places.
    pub(super) fn names(&self) -> BTreeMap<Buffer, BufferId> {
        self.buffers.clone()
    }

    pub(super) fn read(
        &self,
        device: &mut dyn Device,
        buffer: Buffer,
    ) -> Result<Content, StationFailure> {
        let id = self.buffers.get(&buffer).copied();
        let id = id.ok_or_else(|| StationFailure::Order("no such buffer".to_owned()))?;
        device.read(id).map_err(|error| of_device(&error))
    }

    /// The names of buffers that must be zero and are not.
    pub(super) fn left_dirty(
        &self,
        device: &mut dyn Device,
    ) -> Result<Vec<String>, StationFailure> {
        let mut dirty = Vec::new();
        for (name, id) in &self.zero {
            if device
                .read(*id)
                .map_err(|error| of_device(&error))?
                .bytes
                .iter()
                .any(|byte| *byte != 0)
            {
                dirty.push(name.clone());
            }
        }
        Ok(dirty)
    }
}

fn wanted(
    case: &Case,
    program: &Program,
    side: Side,
    recipe: Recipe,
) -> Result<Vec<Wanted>, StationFailure> {
    let mut all = Vec::new();
    let made = inputs::generate(case, recipe).map_err(|error| of_inputs(&error))?;
    for ((index, tensor), content) in case.tensors.iter().enumerate().zip(made) {
        all.push(tensor_wanted(index, tensor, content, side)?);
        let judged_by_magnitude = tensor.has_magnitude() && side == Side::Reference;
        if judged_by_magnitude {
            all.push(Wanted {
                buffer: Buffer::Magnitude(index),
                name: format!("{}.magnitude", tensor.name),
                bytes: tensor.span.saturating_mul(EXACT_BYTES),
                align: 256,
                access: Access::ReadWrite,
                initial: Initial::Unwritten,
                init: Init::Undefined,
            });
        }
    }
    all.extend(scratch(program)?);
    Ok(all)
}

/// What a program needs beside the tensors.
fn scratch(program: &Program) -> Result<Vec<Wanted>, StationFailure> {
    let each = program.scratch.iter().enumerate().map(|(index, scratch)| {
        Ok(Wanted {
            buffer: Buffer::Scratch(index),
            name: scratch.name.clone(),
            bytes: scratch.bytes,
            align: 256,
            access: Access::ReadWrite,
            initial: initial(scratch.init, scratch.bytes)?,
            init: scratch.init,
        })
    });
    each.collect()
}

fn tensor_wanted(
    index: usize,
    tensor: &TensorCase,
    content: Option<Vec<u8>>,
    side: Side,
) -> Result<Wanted, StationFailure> {
    let exact = side == Side::Reference && tensor.dtype.is_float();
    let wide = tensor.span.saturating_mul(EXACT_BYTES);
    let written = if exact { wide } else { tensor.bytes };
    let (bytes, access, initial, init) = match (&tensor.role, content) {
        (Role::Input { .. }, Some(content)) => {
            (tensor.bytes, Access::ReadOnly, Initial::Bytes(content), Init::Undefined)
        }
        (Role::Inout { .. }, Some(content)) => {
            let content = if exact { widened(tensor, &content) } else { content };
            (written, Access::ReadWrite, Initial::Bytes(content), Init::Undefined)
        }
        (Role::Output { init, .. }, _) => {
            (written, Access::ReadWrite, initial(*init, written)?, *init)
        }
        (Role::Input { .. } | Role::Inout { .. }, None) => {
            let message = format!("`{}` has no content", tensor.name);
            return Err(StationFailure::Order(message));
        }
    };
    let align = if exact { tensor.align.max(EXACT_BYTES) } else { tensor.align };
    let (buffer, name) = (Buffer::Tensor(index), tensor.name.clone());
    Ok(Wanted { buffer, name, bytes, align, access, initial, init })
}

fn initial(init: Init, bytes: u64) -> Result<Initial, StationFailure> {
    let length = usize::try_from(bytes);
    Ok(match init {
        Init::Undefined => Initial::Unwritten,
        Init::ZeroEachLaunch | Init::ZeroOnce => Initial::Bytes(vec![
            0;
            length.map_err(
                |_too_large| { StationFailure::Memory(format!("{bytes} bytes of zeros")) }
            )?
        ]),
    })
}

/// The elements of a float tensor as f64, gaps included.
fn widened(tensor: &TensorCase, content: &[u8]) -> Vec<u8> {
    let mut reals = vec![0.0; usize::try_from(tensor.span).unwrap_or(0)];
    load_reals(tensor.dtype, content, &mut reals);
    reals.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// Inputs that cannot be made are the project's fault.
pub(super) fn of_inputs(error: &InputError) -> StationFailure {
    StationFailure::Inputs(error.to_string())
}

/// What a device says, by whose fault it is.
pub(super) fn of_device(error: &DeviceError) -> StationFailure {
    let text = error.to_string();
    match error {
        DeviceError::Load(_) => StationFailure::Load(text),
        DeviceError::Launch(_) | DeviceError::Variable(_) | DeviceError::Demand(_) => {
            StationFailure::Launch(text)
        }
        DeviceError::Buffer(_) => StationFailure::Memory(text),
        DeviceError::Unknown(_) => StationFailure::Order(text),
        DeviceError::Driver(_) => StationFailure::Device(text),
    }
}
