//! What one side runs for a case: its launches with every number known and every argument as bytes.

use serde::{Deserialize, Serialize};

use crate::arguments::element_bytes;
use crate::compile::facts::{Facts, LaunchFacts};
use crate::compile::occupancy::Occupancy;
use crate::device::Residence;
use crate::project::dtype::{CType, Dtype};
use crate::project::launch::Buffer;
use crate::project::launch::plan::{PlannedArgument, PlannedLaunch, PlannedStep};
use crate::project::manifest::Init;
use crate::project::{Definition, Kernel, Plan};

/// The steps of one kernel file for one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The module, by its index among those that a station has loaded.
    pub module: usize,
    /// Device memory beside the tensors.
    pub scratch: Vec<ScratchCase>,
    /// What runs, in order.
    pub steps: Vec<Step>,
}

/// Device memory that a kernel needs beside the tensors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScratchCase {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// How it begins.
    pub init: Init,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// A kernel runs.
    Launch(LaunchStep),
    /// A buffer is set to one value.
    Fill {
        /// Which.
        buffer: Buffer,
        /// The bytes of one element.
        element: Vec<u8>,
    },
    /// Steps run again and again.
    Repeat {
        /// How often.
        count: u64,
        /// Buffers that change places after each turn.
        swap: Vec<(Buffer, Buffer)>,
        /// What runs in each turn.
        steps: Vec<Self>,
    },
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchStep {
    /// The kernel's symbol.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Whether all blocks are on the device at once.
    pub cooperative: bool,
    /// What a multiprocessor holds at once, where the compiler knows.
    pub residence: Option<Residence>,
    /// One for each parameter.
    pub arguments: Vec<ArgumentCase>,
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArgumentCase {
    /// The address of a buffer.
    Buffer(Buffer),
    /// The bytes of a value.
    Bytes(Vec<u8>),
}

/// Something of a launch block that no device here carries out yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Unsupported {
    /// A tensor map.
    #[error("tensor maps are not carried out yet")]
    TensorMaps,
    /// A texture object.
    #[error("texture objects are not carried out yet")]
    Textures,
    /// A `__constant__` array that is filled by the host.
    #[error("`constant_memory` is not carried out yet")]
    ConstantMemory,
    /// A fill of a buffer whose elements have no C type.
    #[error("fills of 8-bit floats and packed elements are not carried out yet")]
    Fill,
    /// A cluster.
    #[error("clusters are not carried out yet")]
    Clusters,
}

impl Program {
    /// What a compiled kernel file does in the workload that its facts are for.
    ///
    /// # Errors
    /// The launch block asks for something that is not carried out yet.
    pub fn of(
        module: usize,
        definition: &Definition,
        kernel: &Kernel,
        facts: &Facts,
    ) -> Result<Self, Unsupported> {
        let launch = &kernel.launch;
        for (absent, unsupported) in [
            (launch.tensor_maps.is_empty(), Unsupported::TensorMaps),
            (launch.textures.is_empty(), Unsupported::Textures),
            (launch.constant_memory.is_empty(), Unsupported::ConstantMemory),
        ] {
            if !absent {
                return Err(unsupported);
            }
        }
        let Plan { scratch, steps, .. } = &facts.plan;
        let scratch = launch.scratch.iter().zip(scratch).map(|(written, planned)| ScratchCase {
            name: written.name.clone(),
            bytes: planned.bytes,
            init: written.init,
        });
        let converter = Converter { definition, kernel, facts };
        Ok(Self { module, scratch: scratch.collect(), steps: converter.steps(steps)? })
    }

    /// How many launches run.
    #[must_use]
    pub fn launches(&self) -> u64 {
        fn count(steps: &[Step]) -> u64 {
            let each = steps.iter().map(|step| match step {
                Step::Launch(_) => 1,
                Step::Fill { .. } => 0,
                Step::Repeat { count: turns, steps, .. } => turns.saturating_mul(count(steps)),
            });
            each.fold(0, u64::saturating_add)
        }
        count(&self.steps)
    }
}

struct Converter<'a> {
    definition: &'a Definition,
    kernel: &'a Kernel,
    facts: &'a Facts,
}

impl Converter<'_> {
    fn steps(&self, steps: &[PlannedStep]) -> Result<Vec<Step>, Unsupported> {
        steps.iter().map(|step| self.step(step)).collect()
    }

    fn step(&self, step: &PlannedStep) -> Result<Step, Unsupported> {
        Ok(match step {
            PlannedStep::Launch(launch) => Step::Launch(self.launch(launch)?),
            PlannedStep::Fill { buffer, value } => {
                let c_type = CType::of(self.dtype(*buffer)).ok_or(Unsupported::Fill)?;
                Step::Fill { buffer: *buffer, element: element_bytes(c_type, *value) }
            }
            PlannedStep::Repeat { count, swap, steps } => {
                Step::Repeat { count: *count, swap: swap.clone(), steps: self.steps(steps)? }
            }
        })
    }

    fn dtype(&self, buffer: Buffer) -> Dtype {
        match buffer {
            Buffer::Tensor(index) => self.definition.tensors[index].dtype,
            Buffer::Scratch(index) => self.kernel.launch.scratch[index].dtype,
            Buffer::Magnitude(_) => Dtype::F64,
        }
    }

    fn launch(&self, launch: &PlannedLaunch) -> Result<LaunchStep, Unsupported> {
        if launch.cluster.is_some() {
            return Err(Unsupported::Clusters);
        }
        let compiled = self.facts.launches.iter().find(|known| known.planned == *launch);
        let arguments = launch.arguments.iter().map(argument).collect::<Result<_, _>>()?;
        Ok(LaunchStep {
            kernel: compiled.map(|known| known.kernel.symbol.clone()).unwrap_or_default(),
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: u32::try_from(launch.shared_bytes).unwrap_or(u32::MAX),
            cooperative: launch.cooperative,
            residence: compiled.and_then(residence),
            arguments,
        })
    }
}

fn residence(launch: &LaunchFacts) -> Option<Residence> {
    let Some(Occupancy::Resident(resident)) = &launch.occupancy else { return None };
    let shared = launch.demand.as_ref()?.shared();
    Some(Residence { blocks: resident.blocks, shared: shared * u64::from(resident.blocks) })
}

fn argument(argument: &PlannedArgument) -> Result<ArgumentCase, Unsupported> {
    Ok(match argument {
        PlannedArgument::Buffer(buffer) => ArgumentCase::Buffer(*buffer),
        PlannedArgument::Value { c_type, value, .. } => {
            ArgumentCase::Bytes(element_bytes(*c_type, *value))
        }
        PlannedArgument::Struct { bytes, fields, .. } => {
            let mut packed = vec![0; usize::try_from(*bytes).unwrap_or(0)];
            for (offset, c_type, value) in fields {
                let element = element_bytes(*c_type, *value);
                let start = usize::try_from(*offset).unwrap_or(usize::MAX);
                if let Some(place) = packed.get_mut(start..start.saturating_add(element.len())) {
                    place.copy_from_slice(&element);
                }
            }
            ArgumentCase::Bytes(packed)
        }
        PlannedArgument::TensorMap(_) => return Err(Unsupported::TensorMaps),
        PlannedArgument::Texture(_) => return Err(Unsupported::Textures),
        // Only a file without a project has names from outside, and such a file is not verified.
        PlannedArgument::Outside(_) => ArgumentCase::Bytes(Vec::new()),
    })
}
