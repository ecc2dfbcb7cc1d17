//! Triton kernels: from a Python file to PTX and what the launch needs, in a confined Python process.

use std::time::Duration;

use lightbench_device::ComputeCapability;
use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::dtype::CType;
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::PlannedArgument;
use lightbench_project::launch::plan::PlannedLaunch;
use lightbench_project::launch::triton::{Assumption, ConstexprValue, TritonCall};
use lightbench_python::{PythonError, Worker};
use lightbench_worker::error::{Stage, WorkerError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::artifact::Rejection;
use super::diagnostics::{Diagnostic, Place, Severity, SourcePlace};
use super::error::CompileError;
use super::source_names;
use super::target::Target;

/// The service of the Python worker.
const SERVICE: &str = "triton_compile";

/// PTX ISA for which Triton generates code, times ten: the first one for each architecture that has all the instructions
/// that Triton uses there, because a driver compiles PTX up to the version of its own CUDA release.
const fn ptx_version(capability: ComputeCapability) -> u32 {
    match capability {
        ComputeCapability(..=9, _) => 84,
        ComputeCapability(10.., _) => 87,
    }
}

/// A Triton kernel with everything that determines its code besides the architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TritonSource {
    /// The file's name, as diagnostics show it.
    pub name: String,
    /// The text of the file, without its launch block.
    pub text: String,
    /// The kernel and how it is called.
    pub call: TritonCall,
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

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Rejected { rejected: RejectedText },
    Compiled(TritonOutput),
}

#[derive(Deserialize)]
struct RejectedText {
    message: String,
    line: u32,
    column: u32,
}

impl TritonSource {
    /// Everything that determines the generated code, for the key of the cache.
    pub(super) fn key_parts(&self) -> [String; 3] {
        [self.name.clone(), self.text.clone(), format!("{:?}", self.call)]
    }

    fn request(&self, target: Target) -> Value {
        let capability = target.capability;
        let TritonCall { kernel, arguments, constexprs, fuse, max_registers, .. } = &self.call;
        let arguments: Vec<Value> = arguments
            .iter()
            .map(|argument| {
                let assumes = match argument.assumption {
                    Assumption::None => "nothing",
                    Assumption::MultipleOf16 => "multiple_of_16",
                    Assumption::One => "one",
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
                "num_warps": self.call.num_warps,
                "num_stages": self.call.num_stages,
                "num_ctas": self.call.num_ctas,
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

/// Generates PTX.
///
/// # Errors
/// Triton rejects the kernel, exceeds the limit, or fails.
pub(super) fn generate(
    worker: &mut Worker,
    (source, target): (&TritonSource, Target),
    limit: Duration,
    cancellation: &Cancellation,
) -> Result<TritonOutput, CompileError> {
    let request = source.request(target);
    let blobs = [source.text.as_bytes()];
    let mut reply = worker.call(SERVICE, &request, &blobs, limit, cancellation);
    if reply.as_ref().is_err_and(is_crash) {
        // Once more in a new process: the code of an earlier kernel may have damaged the first one.
        reply = worker.call(SERVICE, &request, &blobs, limit, cancellation);
    }
    let reply = reply.map_err(|error| from_python(error, limit))?;
    let unexpected = |error: serde_json::Error| TritonError::Answer(error.to_string());
    match serde_json::from_value(reply.value).map_err(unexpected)? {
        Answer::Compiled(output) => {
            output.launch.check(&source.call).map_err(CompileError::Rejected)?;
            Ok(output)
        }
        Answer::Rejected { rejected } => {
            Err(CompileError::Rejected(rejection(&source.name, rejected)))
        }
    }
}

/// Whether the process ended by a signal that its own code caused, as after a failed assertion of LLVM.
fn is_crash(error: &PythonError) -> bool {
    matches!(error, PythonError::Worker(WorkerError::Died { during: Stage::Call, death, oom_kills: 0, .. })
        if death.is_crash())
}

/// A process that crashed twice on one kernel was crashed by this kernel.
fn from_python(error: PythonError, limit: Duration) -> CompileError {
    if is_crash(&error) {
        let message = format!("Triton ended without a message: {error}");
        return CompileError::Rejected(rejected_at(Place::Nowhere, message));
    }
    if let PythonError::Worker(WorkerError::Cancelled) = error {
        return CompileError::Cancelled;
    }
    if let PythonError::Worker(WorkerError::TimedOut { during: Stage::Call, .. }) = error {
        return CompileError::TimedOut { limit };
    }
    TritonError::Python(error).into()
}

fn rejection(file: &str, RejectedText { message, line, column }: RejectedText) -> Rejection {
    let place = if line == 0 {
        Place::Nowhere
    } else {
        Place::Source(SourcePlace {
            file: file.to_owned(),
            line,
            column: Some(column).filter(|column| *column > 0),
            excerpt: None,
            foreign: false,
        })
    };
    rejected_at(place, message)
}

fn rejected_at(place: Place, message: String) -> Rejection {
    let severity = Severity::Error;
    let diagnostic = Diagnostic { place, severity, code: None, message, notes: Vec::new() };
    Rejection { diagnostics: vec![diagnostic], other: String::new() }
}

impl TritonLaunch {
    /// Refuses what cannot be launched here.
    fn check(&self, call: &TritonCall) -> Result<(), Rejection> {
        let reason = if self.kept.iter().any(|index| *index >= call.arguments.len()) {
            "Triton names an argument that the launch does not have"
        } else if self.global_scratch > 0 {
            "the kernel needs global scratch memory (a descriptor made in the kernel, for example), which launches do not \
             provide yet"
        } else if self.tensor_memory > 0 {
            "the kernel needs tensor memory, which is not supported yet"
        } else {
            return Ok(());
        };
        Err(rejected_at(Place::Nowhere, reason.to_owned()))
    }

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
        // Triton appends the addresses of its own scratch memory; both are unused.
        let names = ["global_scratch", "profile_scratch"];
        let own = names.iter().take(parameters.saturating_sub(arguments.len()));
        arguments.extend(own.map(|name| PlannedArgument::Value {
            name: (*name).to_owned(),
            c_type: CType::U64,
            value: ScalarValue::Integer(0),
        }));
        planned.arguments = arguments;
    }
}
