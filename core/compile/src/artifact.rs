//! The result of a compilation: PTX, machine code, and the facts of each kernel.
//!
//! The cache stores the compiler's answer, and an artifact is read from that answer. A cache hit and a compilation
//! therefore give the same artifact, and facts always come from the current code.

use lightbench_device::ComputeCapability;
use lightbench_project::prelude;
use lightbench_ptx;
use lightbench_ptx::{PtxEntry, PtxModule, PtxParameter};
use lightbench_units::Bytes;
use serde::Serialize;

use super::architecture_advice;
use super::cubin::{self, Cubin, CubinKernel};
use super::diagnostics::{self, Diagnostic, Log, Note, Place, Severity, SourcePlace};
use super::header_advice;
use super::line_directives::PhysicalLine;
use super::name_errors;
use super::nvrtc::{NvrtcOutcome, NvrtcOutput};
use super::protocol::AssembleReply;
use super::ptxas_log::{self, KernelUsage};
use super::signature::{function_name, with_readable_names};
use super::source_names::SourceNames;
use super::triton::TritonLaunch;

/// Static shared memory that a block may declare; more must be dynamic (CUDA programming guide, technical specifications).
const STATIC_SHARED_LIMIT: Bytes = Bytes(48 << 10);

/// A compiled module.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The PTX.
    pub ptx: String,
    /// The declarations of the PTX, and the source line of each PTX line.
    pub module: PtxModule,
    /// Machine code; `None` for PTX without an assembler.
    pub cubin: Option<Vec<u8>>,
    /// Its kernels: the requested kernels in the requested order, then all others.
    pub kernels: Vec<KernelFacts>,
    /// Warnings and remarks.
    pub diagnostics: Vec<Diagnostic>,
    /// Messages that no rule understood.
    pub other: String,
    /// The names of the texts.
    pub names: SourceNames,
}

/// The facts of one compiled kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelFacts {
    /// The name expression that requested it.
    pub expression: Option<String>,
    /// The symbol, mangled unless `extern "C"`.
    pub symbol: String,
    /// The parameters that the kernel declares.
    pub parameters: Vec<PtxParameter>,
    /// The block size that `__launch_bounds__` or the like allows.
    pub max_threads: Option<[u32; 3]>,
    /// The block size that it requires.
    pub required_threads: Option<[u32; 3]>,
    /// The cluster that it was compiled for.
    pub required_cluster: Option<[u32; 3]>,
    /// Whether it uses dynamic shared memory.
    pub uses_dynamic_shared: bool,
    /// Resources of the machine code; `None` if the PTX was not assembled.
    pub resources: Option<Resources>,
    /// What Triton decided about the launch; `None` for other languages.
    pub triton: Option<TritonLaunch>,
}

/// Resources that a kernel's machine code uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of register spills stored to local memory, per thread.
    pub spill_stores: Bytes,
    /// Bytes of register spills loaded from local memory, per thread.
    pub spill_loads: Bytes,
    /// Stack of each thread with all calls; `None` if recursion makes it unknown.
    pub stack: Option<Bytes>,
    /// Shared memory that the kernel declares, without what the system reserves.
    pub static_shared: Bytes,
    /// Constant memory of the kernel's own: parameters and literals.
    pub constant: Bytes,
    /// `__constant__` data of the module.
    pub module_constant: Bytes,
    /// Named barriers.
    pub barriers: u32,
    /// Machine code, padding included.
    pub code: Bytes,
}

/// Errors in [`Rejection::first_errors`]: later ones mostly follow from them.
const MOST_FIRST_ERRORS: usize = 3;

/// The compiler's messages about a kernel that it rejects.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// At least one error.
    pub diagnostics: Vec<Diagnostic>,
    /// Messages that no rule understood.
    pub other: String,
}

impl Rejection {
    /// A rejection for one reason.
    pub(super) fn new(place: Place, message: String) -> Self {
        let diagnostics = vec![Diagnostic { place, ..error(message) }];
        Self { diagnostics, other: String::new() }
    }

    /// The first errors, in one line: what a person or a model needs to correct the source.
    #[must_use]
    pub fn first_errors(&self) -> String {
        let errors = self.diagnostics.iter().filter(|each| each.severity >= Severity::Error);
        let texts: Vec<String> = errors.take(MOST_FIRST_ERRORS).map(Diagnostic::in_line).collect();
        texts.join("; ")
    }

    /// The first error, if the only errors are about instructions that the device lacks and a newer one has.
    #[must_use]
    pub fn newer_device_needed(&self) -> Option<&str> {
        architecture_advice::newer_device_needed(&self.diagnostics)
    }
}

/// Reads the compiler's answer.
///
/// # Errors
/// The compiler's messages, if it rejected the kernel.
pub fn from_compiler(
    answer: NvrtcOutput,
    expressions: &[String],
    names: SourceNames,
) -> Result<Artifact, Rejection> {
    let log = read_log(&answer.log, &names);
    match answer.outcome {
        NvrtcOutcome::Rejected { name, .. } => Err(rejection(log, &name)),
        NvrtcOutcome::Compiled { ptx, cubin, lowered_names } => {
            let asked = expressions.iter().cloned().zip(lowered_names).collect();
            Ok(assemble(Parts { ptx: into_text(ptx), cubin, log, asked, names }))
        }
    }
}

/// Refuses PTX whose version or target the device does not run, before anything reads the rest of it.
///
/// # Errors
/// The reason.
pub fn check_header(ptx: &str, device: ComputeCapability) -> Result<(), Rejection> {
    let checked = lightbench_ptx::header::check(&lightbench_ptx::read(ptx), device);
    checked.map_err(|problem| Rejection::new(Place::Nowhere, problem.to_string()))
}

/// Reads PTX with the assembler's answer, if there is an assembler.
///
/// # Errors
/// The assembler's messages, if it rejected the PTX.
pub fn from_assembler(
    ptx: String,
    answer: Option<AssembleReply>,
    names: SourceNames,
) -> Result<Artifact, Rejection> {
    let (log, cubin) = match answer {
        None => (Log::default(), None),
        Some(AssembleReply { cubin: None, log }) => {
            return Err(rejection(read_log(&log, &names), "ptxas"));
        }
        Some(AssembleReply { cubin, log }) => (read_log(&log, &names), cubin),
    };
    Ok(assemble(Parts { ptx, cubin, log, asked: Vec::new(), names }))
}

struct Parts {
    ptx: String,
    cubin: Option<Vec<u8>>,
    log: Log,
    asked: Vec<(String, String)>,
    names: SourceNames,
}

fn assemble(parts: Parts) -> Artifact {
    let Parts { ptx, cubin, mut log, asked, names } = parts;
    let module = lightbench_ptx::read(&ptx);
    for diagnostic in &mut log.diagnostics {
        use_source_line(diagnostic, &module, &names);
    }
    // Machine code that cannot be read has no facts; a device would refuse it too.
    let machine = cubin.as_deref().and_then(|bytes| cubin::read(bytes).ok()).unwrap_or_default();
    let usage = ptxas_log::read(&log.resources);
    let mut kernels: Vec<KernelFacts> = module
        .entries
        .iter()
        .map(|entry| {
            let of = |symbol: &str| symbol == entry.name;
            let expression =
                asked.iter().find(|(_, symbol)| of(symbol)).map(|(text, _)| text.clone());
            let kernel = machine.kernels.iter().find(|kernel| of(&kernel.symbol));
            let usage = usage.kernels.iter().find(|kernel| of(&kernel.symbol));
            facts(entry, expression, kernel.and_then(|kernel| resources(kernel, usage, &machine)))
        })
        .collect();
    let place = |kernel: &KernelFacts| {
        asked.iter().position(|(_, symbol)| *symbol == kernel.symbol).unwrap_or(usize::MAX)
    };
    kernels.sort_by_key(place);
    Artifact { ptx, module, cubin, kernels, diagnostics: log.diagnostics, other: log.other, names }
}

fn facts(
    entry: &PtxEntry,
    expression: Option<String>,
    resources: Option<Resources>,
) -> KernelFacts {
    KernelFacts {
        expression,
        symbol: entry.name.clone(),
        parameters: entry.parameters.clone(),
        max_threads: entry.max_threads,
        required_threads: entry.required_threads,
        required_cluster: entry.required_cluster,
        uses_dynamic_shared: entry.uses_dynamic_shared(),
        resources,
        triton: None,
    }
}

/// The assembler's report has spills and shared memory as declared; the cubin has the rest.
fn resources(
    kernel: &CubinKernel,
    usage: Option<&KernelUsage>,
    module: &Cubin,
) -> Option<Resources> {
    let bank = |banks: &std::collections::BTreeMap<u32, u64>, number| {
        Bytes(banks.get(&number).copied().unwrap_or(0))
    };
    let bytes = |count: Option<u64>| Bytes(count.unwrap_or(0));
    Some(Resources {
        registers: kernel.registers?,
        spill_stores: bytes(usage.and_then(|usage| usage.spill_store_bytes)),
        spill_loads: bytes(usage.and_then(|usage| usage.spill_load_bytes)),
        stack: kernel.stack_bytes.map(|stack| Bytes(stack.into())),
        static_shared: Bytes(usage.map_or(kernel.shared_bytes, |usage| usage.shared_bytes)),
        constant: bank(&kernel.constant_bytes, 0),
        module_constant: bank(&module.constant_bytes, 3),
        barriers: kernel.barriers.unwrap_or(0),
        code: Bytes(kernel.code_bytes),
    })
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Replaces a line of PTX by the line of the kernel's files that it was generated from.
fn use_source_line(diagnostic: &mut Diagnostic, module: &PtxModule, names: &SourceNames) {
    let Place::Ptx { line } = diagnostic.place else { return };
    let lines = module.line_map.at(line);
    let Some(source) = lines.iter().find(|source| names.is_given(&source.file)) else { return };
    let mut place = SourcePlace {
        file: source.file.clone(),
        line: source.line,
        column: Some(source.column).filter(|column| *column > 0),
        excerpt: None,
        foreign: false,
    };
    use_display_name(&mut place, names);
    diagnostic.place = Place::Source(place);
    diagnostic.message = with_readable_names(&diagnostic.message);
    let message = format!("line {line} of the generated PTX");
    diagnostic.notes.push(Note { place: None, message });
}

/// Replaces the compiler's file name by the name for the user, and a presumed line of the main file by its physical line.
fn use_display_name(place: &mut SourcePlace, names: &SourceNames) {
    if names.is_main(&place.file)
        && let PhysicalLine::Line(line) = names.physical_line(&place.file, place.line)
    {
        place.line = line;
    }
    place.file = names.display_name(&place.file).to_owned();
}

/// Reads the log with file names for the user, and without warnings about the prelude.
fn read_log(log: &[u8], names: &SourceNames) -> Log {
    let spelled = names.compiler_names();
    let spelled: Vec<&str> = spelled.iter().map(String::as_str).collect();
    let mut log = diagnostics::read(&String::from_utf8_lossy(log), &spelled);
    log.diagnostics.retain(|diagnostic| !is_about_the_prelude(diagnostic));
    log.diagnostics = name_errors::explain(log.diagnostics);
    header_advice::explain(&mut log.diagnostics);
    header_advice::name_missing(&mut log.diagnostics);
    architecture_advice::explain(&mut log.diagnostics);
    for diagnostic in &mut log.diagnostics {
        if let Place::Source(place) = &mut diagnostic.place {
            use_display_name(place, names);
        }
        for place in diagnostic.notes.iter_mut().filter_map(|note| note.place.as_mut()) {
            use_display_name(place, names);
        }
    }
    log
}

/// Whether a warning reports that a header redefines a macro of the prelude, which the kernel's author cannot change.
fn is_about_the_prelude(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity < Severity::Error
        && diagnostic.message.contains("redefinition")
        && diagnostic.message.contains(prelude::PRELUDE_NAME)
}

/// Makes a rejection with at least one error: if the log has none, the error is the cause found, or the compiler's code.
fn rejection(log: Log, code: &str) -> Rejection {
    let Log { mut diagnostics, resources, other } = log;
    let has_error = diagnostics.iter().any(|diagnostic| diagnostic.severity >= Severity::Error);
    if !has_error {
        let oversized = ptxas_log::read(&resources).kernels.into_iter();
        let oversized = oversized.filter(|kernel| kernel.shared_bytes > STATIC_SHARED_LIMIT.0);
        diagnostics.extend(oversized.map(|kernel| {
            error(format!(
                "`{}` declares {} bytes of static shared memory; at most {} are allowed, more must be dynamic \
                 (`extern __shared__`, and `shared:` in the launch)",
                function_name(&kernel.symbol).unwrap_or(kernel.symbol),
                kernel.shared_bytes,
                STATIC_SHARED_LIMIT.0
            ))
        }));
    }
    if diagnostics.iter().all(|diagnostic| diagnostic.severity < Severity::Error) {
        diagnostics.push(error(format!("the compiler failed without an error message ({code})")));
    }
    Rejection { diagnostics, other }
}

fn error(message: String) -> Diagnostic {
    Diagnostic {
        place: Place::Nowhere,
        severity: Severity::Error,
        code: None,
        message,
        notes: Vec::new(),
    }
}
