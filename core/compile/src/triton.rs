//! Triton kernels: what determines their code, and what Triton decides about their launch.

use lightbench_device::ComputeCapability;
use lightbench_project::PlannedArgument;
use lightbench_project::launch::plan::PlannedLaunch;
use lightbench_project::launch::triton::{Assumption, ConstexprValue, Specialisation, TritonCall};
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

    /// Replaces the numbers of a launch by those of the compiled kernel, which takes `parameters` parameters.
    pub(super) fn apply(&self, planned: &mut PlannedLaunch, parameters: usize) {
        planned.block = self.block();
        planned.shared_bytes = self.shared;
        planned.cluster = (self.num_ctas > 1).then_some([self.num_ctas, 1, 1]);
        planned.cooperative = self.cooperative;
        planned.programmatic = self.programmatic;
        let kept = self.kept.iter().filter_map(|index| planned.arguments.get(*index).cloned());
        let mut arguments: Vec<PlannedArgument> = kept.collect();
        // Triton appends the addresses of two kinds of scratch memory of its own, both unused.
        let own = parameters.saturating_sub(arguments.len()).min(2);
        arguments.extend(std::iter::repeat_n(PlannedArgument::Null, own));
        planned.arguments = arguments;
    }
}
