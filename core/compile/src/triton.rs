//! Triton kernels: what determines their code, and what Triton decides about their launch.

use lightbench_device::ComputeCapability;
use lightbench_primitives::dtype::Dtype;
use lightbench_project::PlannedArgument;
use lightbench_project::extent::MAX_TENSOR_BYTES;
use lightbench_project::launch::Buffer;
use lightbench_project::launch::plan::{PlanError, PlannedLaunch, PlannedScratch};
use lightbench_project::launch::triton::{Assumption, ConstexprValue, Specialisation, TritonCall};
use lightbench_project::manifest::Init;
use lightbench_python::PythonError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::source_names;
use super::target::Target;

/// PTX ISA for which Triton generates code, times ten: the first one for each architecture that has all the instructions
/// that Triton uses there, because a driver compiles PTX up to the version of its own CUDA release.
const fn ptx_version(capability: ComputeCapability) -> u32 {
    match capability {
        ComputeCapability(..=9, _) => 84,
        ComputeCapability(10.., _) => 87,
    }
}

/// The kernels of a file with everything that determines their code besides the architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TritonSource {
    /// The file's name, as diagnostics show it.
    pub name: String,
    /// The text of the file, without its launch block.
    pub text: String,
    /// The kernels and how they are called; equal ones have the same symbol.
    pub kernels: Vec<Specialisation>,
}

/// Why Triton did not compile, for a reason other than the kernel.
#[derive(Debug, thiserror::Error)]
pub enum TritonError {
    /// There is no usable Triton.
    #[error("Triton kernels need Python with Triton: {reason}")]
    Missing {
        /// What was found, and what to do.
        reason: String,
    },
    /// The Python process failed.
    #[error("Triton: {0}")]
    Python(#[from] PythonError),
    /// The process answered with something else than a compiled kernel.
    #[error("Triton's worker gave an unexpected answer: {0}")]
    Answer(String),
}

/// What Triton generates from a kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TritonOutput {
    /// The code.
    pub ptx: String,
    /// What the launch needs.
    #[serde(flatten)]
    pub launch: TritonLaunch,
}

impl TritonOutput {
    /// Declares PTX 8.6 where the code has bulk copies to `.shared::cta`, which came with that version (PTX ISA,
    /// "cp.async.bulk"): Triton generates them for the older version of [`ptx_version`] too.
    pub(super) fn declare_version(&mut self) {
        if self.ptx.contains(".shared::cta.global") {
            self.ptx = self.ptx.replacen(".version 8.4\n", ".version 8.6\n", 1);
        }
    }
}

/// What Triton decides about the launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TritonLaunch {
    /// The entry's name.
    pub name: String,
    /// Bytes of dynamic shared memory.
    pub shared: u64,
    /// Warps of a block, with those that Triton adds.
    pub num_warps: u32,
    /// Blocks of a cluster.
    pub num_ctas: u32,
    /// Bytes of global scratch memory for each block.
    pub global_scratch: u64,
    /// Bytes of profiling memory for each block.
    pub profile_scratch: u64,
    /// Alignment of both, in bytes.
    pub scratch_align: u64,
    /// Whether all blocks must be resident together.
    pub cooperative: bool,
    /// Whether the kernel may start before the previous one has ended.
    pub programmatic: bool,
    /// Bytes of tensor memory.
    pub tensor_memory: u64,
    /// The arguments that the entry takes, by their indices in the launch; the others are constants.
    pub kept: Vec<usize>,
    /// The version of Triton.
    pub version: String,
}

impl TritonSource {
    /// Everything that determines the generated code, for the key of the cache.
    pub(super) fn key_parts(&self) -> [String; 3] {
        [self.name.clone(), self.text.clone(), format!("{:?}", self.kernels)]
    }

    /// The sources of the kernels one by one, each symbol once.
    pub(super) fn separate(&self) -> Vec<(&Specialisation, Self)> {
        let mut all: Vec<(&Specialisation, Self)> = Vec::new();
        for kernel in &self.kernels {
            if all.iter().all(|(known, _)| known.symbol != kernel.symbol) {
                let only = Specialisation {
                    symbol: kernel.call.kernel.clone(),
                    call: kernel.call.clone(),
                };
                let (name, text) = (self.name.clone(), self.text.clone());
                all.push((kernel, Self { name, text, kernels: vec![only] }));
            }
        }
        all
    }

    /// The request to the Python worker for one call.
    pub(super) fn request(&self, call: &TritonCall, target: Target) -> Value {
        let capability = target.capability;
        let TritonCall { kernel, arguments, constexprs, fuse, max_registers, .. } = call;
        let arguments: Vec<Value> = arguments
            .iter()
            .map(|argument| {
                let assumes = match argument.assumption {
                    Assumption::None => "nothing",
                    Assumption::MultipleOf16 => "multiple_of_16",
                    Assumption::One => "one",
                    Assumption::Null => "null",
                };
                json!({ "type": argument.type_name, "assumes": assumes })
            })
            .collect();
        let constexprs: serde_json::Map<String, Value> =
            constexprs.iter().map(|(name, value)| (name.clone(), constant(value))).collect();
        json!({
            "file": source_names::compiler_name(&self.name),
            "kernel": kernel,
            "capability": target.number(),
            "arguments": arguments,
            "constexprs": constexprs,
            "options": {
                "num_warps": call.num_warps,
                "num_stages": call.num_stages,
                "num_ctas": call.num_ctas,
                "maxnreg": max_registers,
                "enable_fp_fusion": fuse,
                "ptx_version": ptx_version(capability),
            },
        })
    }
}

fn constant(value: &ConstexprValue) -> Value {
    match value {
        ConstexprValue::Integer(number) => json!(number),
        ConstexprValue::Boolean(truth) => json!(truth),
        ConstexprValue::Text(text) => json!(text),
        ConstexprValue::Type(name) => json!({ "type": name }),
        ConstexprValue::None => Value::Null,
    }
}

impl TritonLaunch {
    /// Threads of a block.
    #[must_use]
    pub fn block(&self) -> [u32; 3] {
        [self.num_warps.saturating_mul(32), 1, 1]
    }

    /// Replaces the numbers of a launch by those of the compiled kernel, which takes `parameters` parameters, and adds
    /// the scratch memory of its blocks.
    ///
    /// # Errors
    /// The grid or the scratch memory exceeds the limits of the project format.
    pub(super) fn apply(
        &self,
        planned: &mut PlannedLaunch,
        parameters: usize,
        scratch: &mut Vec<PlannedScratch>,
    ) -> Result<(), PlanError> {
        planned.block = self.block();
        planned.shared_bytes = self.shared;
        // The grid counts programs, each of which is a cluster.
        planned.grid[0] = self.blocks_of(planned.grid[0])?;
        planned.cluster = (self.num_ctas > 1).then_some([self.num_ctas, 1, 1]);
        planned.cooperative = self.cooperative;
        planned.programmatic = self.programmatic;
        let kept = self.kept.iter().filter_map(|index| planned.arguments.get(*index).cloned());
        let mut arguments: Vec<PlannedArgument> = kept.collect();
        // Triton appends the addresses of two kinds of scratch memory of its own; that of an unused one is null.
        let blocks = planned.grid.iter().map(|size| u64::from(*size)).product::<u64>();
        let own =
            [("global_scratch", self.global_scratch), ("profile_scratch", self.profile_scratch)];
        let own = own.into_iter().take(parameters.saturating_sub(arguments.len()));
        for (name, bytes) in own {
            arguments.push(match bytes {
                0 => PlannedArgument::Null,
                bytes => {
                    let name = format!("{name} of {}", planned.name_expression);
                    scratch.push(scratch_of_blocks(name, bytes, blocks)?);
                    PlannedArgument::Buffer(Buffer::Scratch(scratch.len() - 1))
                }
            });
        }
        planned.arguments = arguments;
        Ok(())
    }

    /// Blocks along the first dimension of a grid of `programs` programs.
    fn blocks_of(&self, programs: u32) -> Result<u32, PlanError> {
        let blocks = u64::from(programs) * u64::from(self.num_ctas);
        let fits = u32::try_from(blocks).ok().filter(|blocks| *blocks < 1 << 31);
        fits.ok_or_else(|| PlanError::OutOfRange {
            field: "grid",
            text: format!("{programs} programs of {} blocks", self.num_ctas),
            found: blocks.to_string(),
            expected: "at most 2^31 - 1 blocks".to_owned(),
        })
    }
}

/// Scratch memory of `bytes` bytes for each block. Triton allocates it for each launch, without a value.
fn scratch_of_blocks(name: String, bytes: u64, blocks: u64) -> Result<PlannedScratch, PlanError> {
    let all = bytes.checked_mul(blocks).filter(|all| *all <= MAX_TENSOR_BYTES);
    let all = all.ok_or_else(|| PlanError::OutOfRange {
        field: "grid",
        text: name.clone(),
        found: format!("{bytes} bytes for each of {blocks} blocks"),
        expected: "at most 2^41 bytes".to_owned(),
    })?;
    let (dtype, init) = (Dtype::U8, Init::Undefined);
    Ok(PlannedScratch { name, dtype, init, dims: vec![all], bytes: all })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(global_scratch: u64, num_ctas: u32) -> TritonLaunch {
        TritonLaunch {
            name: "copy".to_owned(),
            shared: 64,
            num_warps: 8,
            num_ctas,
            global_scratch,
            profile_scratch: 0,
            scratch_align: 128,
            cooperative: false,
            programmatic: false,
            tensor_memory: 0,
            kept: vec![1],
            version: "3.9.0".to_owned(),
        }
    }

    fn planned() -> PlannedLaunch {
        PlannedLaunch {
            name_expression: "copy".to_owned(),
            arguments: vec![PlannedArgument::Null, PlannedArgument::Buffer(Buffer::Tensor(3))],
            grid: [5, 3, 1],
            block: [128, 1, 1],
            shared_bytes: 0,
            cluster: None,
            cooperative: false,
            carveout: None,
            programmatic: false,
        }
    }

    #[test]
    fn scratch_memory_is_allocated_for_each_block() {
        let check = |bytes, ctas, parameters, grid: [u32; 3], scratch: &[u64]| {
            let (mut planned, mut all) = (planned(), Vec::new());
            launch(bytes, ctas).apply(&mut planned, parameters, &mut all).unwrap();
            assert_eq!((planned.grid, planned.block), (grid, [256, 1, 1]));
            let sizes: Vec<u64> = all.iter().map(|scratch| scratch.bytes).collect();
            assert_eq!(sizes, scratch);
            planned.arguments
        };
        let (tensor, own) = (
            PlannedArgument::Buffer(Buffer::Tensor(3)),
            PlannedArgument::Buffer(Buffer::Scratch(0)),
        );
        let null = PlannedArgument::Null;
        let one = |argument: &PlannedArgument| vec![tensor.clone(), argument.clone(), null.clone()];
        assert_eq!(check(0, 1, 3, [5, 3, 1], &[]), one(&null));
        assert_eq!(check(256, 1, 3, [5, 3, 1], &[256 * 15]), one(&own));
        assert_eq!(check(256, 2, 3, [10, 3, 1], &[256 * 30]), one(&own));
        assert_eq!(check(256, 1, 1, [5, 3, 1], &[]), [tensor]);
    }

    #[test]
    fn sizes_beyond_the_limits_are_refused() {
        let check = |bytes, ctas, grid: [u32; 3], found: &str| {
            let mut planned = PlannedLaunch { grid, ..planned() };
            let error = launch(bytes, ctas).apply(&mut planned, 3, &mut Vec::new()).unwrap_err();
            assert!(error.to_string().contains(found), "{error}");
        };
        check(1 << 40, 1, [3, 1, 1], "1099511627776 bytes for each of 3 blocks");
        check(u64::MAX, 1, [3, 1, 1], "at most 2^41 bytes");
        check(0, 2, [1 << 30, 1, 1], "at most 2^31 - 1 blocks");
    }
}
