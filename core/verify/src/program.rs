//! What one side runs for a case: its launches with every number known and every argument as bytes.

use std::path::PathBuf;

use lightbench_compile::facts::{Facts, LaunchFacts};
use lightbench_compile::occupancy::Occupancy;
use lightbench_device::Residence;
use lightbench_device::library::Product;
use lightbench_primitives::dtype::{CType, Dtype};
use lightbench_primitives::element::pattern;
use lightbench_primitives::element_text::element_bytes;
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_primitives::tensor_map::TensorMap;
use lightbench_primitives::texture::TextureObject;
use lightbench_project::launch::plan::{PlannedArgument, PlannedLaunch, PlannedStep};
use lightbench_project::launch::{Buffer, KernelRole};
use lightbench_project::manifest::Init;
use lightbench_project::{Definition, Kernel, Plan};
use serde::{Deserialize, Serialize};

/// The steps of one kernel file for one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The module, by its index among those that a session has loaded.
    pub module: usize,
    /// Device memory beside the tensors.
    pub scratch: Vec<ScratchCase>,
    /// Variables that are filled before the first step.
    pub constants: Vec<ConstantCase>,
    /// What runs, in order.
    pub steps: Vec<Step>,
}

/// A `__constant__` array that is filled before the first step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstantCase {
    /// Its symbol in the module.
    pub symbol: String,
    /// What it is filled with.
    pub buffer: Buffer,
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
        /// The bytes of one element, or of two that share a byte.
        element: Vec<u8>,
    },
    /// A vendor's library runs.
    Library(LibraryStep),
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

/// A call of a vendor's library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryStep {
    /// What it computes.
    pub product: Product,
    /// Where the library may lie, the first that loads counts.
    pub files: Vec<PathBuf>,
    /// The factors and the product.
    pub buffers: [Buffer; 3],
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
    /// Blocks of a cluster, unless the kernel declares them.
    pub cluster: Option<[u32; 3]>,
    /// Blocks that are resident on a multiprocessor, where the compiler reports resources.
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
    /// A descriptor of a buffer for the Tensor Memory Accelerator.
    TensorMap { buffer: Buffer, map: TensorMap },
    /// A texture or surface object of a buffer.
    Texture { buffer: Buffer, object: TextureObject },
}

/// Why a compiled kernel file cannot be converted to a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// A launch that is not among those that were compiled.
    #[error("no kernel was compiled for the launch of `{0}`")]
    NotCompiled(String),
    /// A step of an argument or a buffer that the file does not have.
    #[error("a step refers to a buffer or an argument that its kernel file does not declare")]
    NoSuchBuffer,
}

impl Program {
    /// The steps of a compiled kernel file for the workload of `facts`.
    ///
    /// # Errors
    /// The facts are those of another kernel.
    pub fn from_facts(
        module: usize,
        definition: &Definition,
        kernel: &Kernel,
        facts: &Facts,
    ) -> Result<Self, ProgramError> {
        let launch = &kernel.launch;
        let Plan { scratch, steps, .. } = &facts.plan;
        let scratch = scratch.iter().map(|planned| ScratchCase {
            name: planned.name.clone(),
            bytes: planned.bytes,
            init: planned.init,
        });
        let converter = Converter { definition, kernel, facts };
        let constants = launch.constant_memory.iter().map(|array| ConstantCase {
            symbol: linker_symbol(&array.symbol),
            buffer: array.buffer,
        });
        let (scratch, constants) = (scratch.collect(), constants.collect());
        Ok(Self { module, scratch, constants, steps: converter.steps(steps)? })
    }

    /// How many launches run.
    #[must_use]
    pub fn launches(&self) -> u64 {
        fn count(steps: &[Step]) -> u64 {
            let each = steps.iter().map(|step| match step {
                Step::Launch(_) | Step::Library(_) => 1,
                Step::Fill { .. } => 0,
                Step::Repeat { count: turns, steps, .. } => turns.saturating_mul(count(steps)),
            });
            each.fold(0, u64::saturating_add)
        }
        count(&self.steps)
    }

    /// Whether a launch needs all of its blocks on the device at once.
    #[must_use]
    pub fn is_cooperative(&self) -> bool {
        self.any_launch(|launch| launch.cooperative)
    }

    /// Whether some launch is like that.
    pub(super) fn any_launch(&self, is_so: impl Fn(&LaunchStep) -> bool) -> bool {
        fn any(steps: &[Step], is_so: &impl Fn(&LaunchStep) -> bool) -> bool {
            steps.iter().any(|step| match step {
                Step::Launch(launch) => is_so(launch),
                Step::Fill { .. } | Step::Library(_) => false,
                Step::Repeat { steps, .. } => any(steps, is_so),
            })
        }
        any(&self.steps, &is_so)
    }
}

struct Converter<'a> {
    definition: &'a Definition,
    kernel: &'a Kernel,
    facts: &'a Facts,
}

impl Converter<'_> {
    fn steps(&self, steps: &[PlannedStep]) -> Result<Vec<Step>, ProgramError> {
        steps.iter().map(|step| self.step(step)).collect()
    }

    fn step(&self, step: &PlannedStep) -> Result<Step, ProgramError> {
        Ok(match step {
            PlannedStep::Launch(launch) => Step::Launch(self.launch(launch)?),
            PlannedStep::Fill { buffer, value } => {
                let dtype = self.dtype(*buffer).ok_or(ProgramError::NoSuchBuffer)?;
                Step::Fill { buffer: *buffer, element: pattern(dtype, *value) }
            }
            PlannedStep::Repeat { count, swap, steps } => {
                Step::Repeat { count: *count, swap: swap.clone(), steps: self.steps(steps)? }
            }
        })
    }

    fn dtype(&self, buffer: Buffer) -> Option<Dtype> {
        Some(match buffer {
            Buffer::Tensor(index) => {
                let tensor = self.definition.tensors.get(index)?;
                let is_exact = self.kernel.role == KernelRole::Reference
                    && tensor.dtype.is_float()
                    && tensor.role.compare().is_some();
                if is_exact { Dtype::F64 } else { tensor.dtype }
            }
            Buffer::Scratch(index) => self.facts.plan.scratch.get(index)?.dtype,
            Buffer::Magnitude(_) => Dtype::F64,
        })
    }

    fn launch(&self, launch: &PlannedLaunch) -> Result<LaunchStep, ProgramError> {
        let compiled = self.facts.launches.iter().find(|known| known.planned == *launch);
        let not_compiled = || ProgramError::NotCompiled(launch.name_expression.clone());
        let compiled = compiled.ok_or_else(not_compiled)?;
        let arguments = launch.arguments.iter().map(|argument| self.argument(argument));
        let arguments = arguments.collect::<Result<_, _>>()?;
        Ok(LaunchStep {
            kernel: compiled.kernel.symbol.clone(),
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: u32::try_from(launch.shared_bytes).unwrap_or(u32::MAX),
            cooperative: launch.cooperative,
            cluster: launch.cluster,
            residence: residence(compiled),
            arguments,
        })
    }

    fn argument(&self, argument: &PlannedArgument) -> Result<ArgumentCase, ProgramError> {
        Ok(match argument {
            PlannedArgument::Buffer(buffer) => ArgumentCase::Buffer(*buffer),
            PlannedArgument::Value { c_type, value, .. } => {
                ArgumentCase::Bytes(element_bytes(*c_type, *value))
            }
            PlannedArgument::Struct { bytes, fields, .. } => {
                ArgumentCase::Bytes(packed(*bytes, fields))
            }
            PlannedArgument::TensorMap(index) => {
                let declared = self.kernel.launch.tensor_maps.get(*index);
                let map = self.facts.plan.tensor_maps.get(*index);
                let (declared, map) = declared.zip(map).ok_or(ProgramError::NoSuchBuffer)?;
                ArgumentCase::TensorMap { buffer: declared.buffer, map: map.clone() }
            }
            PlannedArgument::Null => ArgumentCase::Bytes(vec![0; 8]),
            PlannedArgument::Texture(index) => {
                let declared = self.kernel.launch.textures.get(*index);
                let object = self.facts.plan.textures.get(*index);
                let (declared, object) = declared.zip(object).ok_or(ProgramError::NoSuchBuffer)?;
                ArgumentCase::Texture { buffer: declared.buffer, object: object.clone() }
            }
            // Only a file without a project has names from outside, and such a file is not verified.
            PlannedArgument::Outside(_) => return Err(ProgramError::NoSuchBuffer),
        })
    }
}

/// The bytes of a struct.
fn packed(bytes: u64, fields: &[(u64, CType, ScalarValue)]) -> Vec<u8> {
    let mut packed = vec![0; usize::try_from(bytes).unwrap_or(0)];
    for (offset, c_type, value) in fields {
        let element = element_bytes(*c_type, *value);
        let start = usize::try_from(*offset).unwrap_or(usize::MAX);
        if let Some(place) = packed.get_mut(start..start.saturating_add(element.len())) {
            place.copy_from_slice(&element);
        }
    }
    packed
}

fn residence(launch: &LaunchFacts) -> Option<Residence> {
    let Some(Occupancy::Resident(resident)) = &launch.occupancy else { return None };
    let shared = launch.demand.as_ref()?.shared();
    Some(Residence { blocks: resident.blocks, shared: shared * u64::from(resident.blocks) })
}

/// What the compiler calls a variable: plain names stay, those in namespaces are mangled (Itanium C++ ABI 5.1.2, "Name
/// encodings").
fn linker_symbol(written: &str) -> String {
    if !written.contains("::") {
        return written.to_owned();
    }
    let parts = written.split("::").map(|part| format!("{}{part}", part.len()));
    format!("_ZN{}E", parts.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::linker_symbol;

    #[test]
    fn a_variable_is_called_as_the_compiler_calls_it() {
        assert_eq!(linker_symbol("coefficients"), "coefficients");
        assert_eq!(linker_symbol("filters::small::taps"), "_ZN7filters5small4tapsE");
    }
}
