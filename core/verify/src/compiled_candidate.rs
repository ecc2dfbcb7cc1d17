//! What is verified: a candidate compiled for every workload, and its reference.

use std::time::Duration;

use lightbench_compile::facts::{Facts, LaunchFacts};
use lightbench_compile::line_directives::PhysicalLine;
use lightbench_compile::source_names::SourceNames;
use lightbench_project::definition::Summation;
use lightbench_project::manifest::BlockOrder;
use lightbench_project::policy::Limits;
use lightbench_project::{Language, PythonReference};
use lightbench_ptx::LineMap;
use lightbench_speed_of_light::code_mix::CodeMix;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::InputMode;

use super::device_session::{Admission, ModuleImage};
use super::evidence::Found;
use super::fault_report::CodePlace;
use super::program::Program;
use super::reference_source::{PythonCall, ReferenceSource};
use super::verdict::{Checks, NotRun, Step};

/// A candidate and its reference, compiled for every workload that will run.
#[derive(Debug)]
pub struct CompiledCandidate {
    /// The candidate's modules.
    pub candidate: Vec<ModuleImage>,
    /// How many modules of other candidates are loaded before them.
    pub preceding_modules: usize,
    /// Where the code of each of them comes from.
    pub origins: Vec<Origins>,
    /// The reference.
    pub reference: CompiledReference,
    /// The harness kernels, for a GPU, which generates and compares tensors itself.
    pub harness_kernels: Option<ModuleImage>,
    /// The visible workloads.
    pub workloads: Vec<CompiledWorkload>,
    /// Some of them with other scalars or sizes than those declared.
    pub varied: Vec<CompiledVariation>,
    /// Small workloads with launches as on a device with few multiprocessors, where these differ.
    pub on_few_multiprocessors: Vec<CompiledVariation>,
    /// Scalars, sizes and devices that the candidate cannot be launched with, and why.
    pub not_varied: Vec<String>,
    /// A workload whose indices do not fit 32 bits, where the device has the memory.
    pub large_indices: Option<CompiledVariation>,
    /// The measured workloads.
    pub measured: Vec<CompiledWorkload>,
    /// The held-out workloads; none for one that the candidate does not compile for or is refused on.
    pub held_out: Vec<Option<CompiledWorkload>>,
    /// Workloads that will not run.
    pub not_run: Vec<NotRun>,
    /// Static evidence found in the code.
    pub evidence: Vec<Found>,
    /// Time, memory and steps.
    pub limits: Limits,
    /// The orders of block starts in which the candidate must work.
    pub block_order: BlockOrder,
}

/// The reference of a project, compiled.
#[derive(Clone, Debug, PartialEq)]
pub enum CompiledReference {
    /// The modules of a kernel.
    Modules(Vec<ModuleImage>),
    /// A function of Python.
    Python(PythonReference),
}

/// A workload with another scalar or another size than the declared one.
#[derive(Clone, Debug)]
pub struct CompiledVariation {
    /// The workload.
    pub trial: CompiledWorkload,
    /// The scalar or the sizes with their values, for reports.
    pub what: String,
    /// The inputs.
    pub draw: InputMode,
}

/// One workload with both programs.
#[derive(Clone, Debug)]
pub struct CompiledWorkload {
    /// The sizes.
    pub case: Case,
    /// The candidate's steps.
    pub candidate: Program,
    /// What computes the expected outputs.
    pub reference: ReferenceSource,
    /// The least work of any correct kernel, in operations and words moved; costs are compared relative to it.
    pub work: f64,
    /// Whether the task is made of additions and multiplications alone, so that there are inputs on which it is exact.
    pub adds_and_multiplies: bool,
    /// Whether it is small enough for a virtual device.
    pub extent: Extent,
    /// How the verifier decides which inputs from the whole domain are fair; none where it draws no such inputs:
    /// workloads that are not small, tasks in f64, and references whose f32 twin does not compile.
    pub admission: Option<Admission>,
    /// The Python reference in the types that its text requests, where its results must agree with those of the exact one.
    pub as_written: Option<PythonCall>,
    /// What sums of a correct kernel may lose on equal and on monotone terms.
    pub summation: Summation,
    /// The candidate's launches, as compiled.
    pub launches: Vec<LaunchFacts>,
    /// What the candidate's code consists of.
    pub code: CodeMix,
}

/// How large a workload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A virtual device runs it in seconds.
    Small,
    /// Only a GPU runs it in a reasonable time.
    Large,
}

/// From lines of PTX to those of the kernel file.
#[derive(Debug)]
pub struct Origins {
    /// The kernel file, by the name given to the compiler.
    pub file: String,
    /// What it is written in: PTX is its own source.
    pub language: Language,
    /// The names of texts.
    pub names: SourceNames,
    /// Which source lines each line of PTX came from.
    pub lines: LineMap,
}

impl Origins {
    /// The origins of the code that was compiled.
    #[must_use]
    pub fn from_facts(facts: &Facts) -> Self {
        Self {
            file: facts.candidate.file.display().to_string(),
            language: facts.candidate.language,
            names: facts.artifact.names.clone(),
            lines: facts.artifact.module.line_map.clone(),
        }
    }

    /// The innermost line of the kernel file itself, else whatever the PTX names: what was inlined from a header counts
    /// for the line that called it.
    pub fn settle(&self, place: &mut CodePlace) {
        if self.language == Language::Ptx {
            place.source = Some((self.file.clone(), place.ptx.0, place.ptx.1));
            return;
        }
        let chain = self.lines.at(place.ptx.0);
        let own = chain.iter().find_map(|at| match self.names.physical_line(&at.file, at.line) {
            PhysicalLine::Line(line) => Some((line, at.column)),
            PhysicalLine::Unknown | PhysicalLine::Elsewhere => None,
        });
        if let Some((line, column)) = own {
            place.source = Some((self.file.clone(), line, column));
        } else if let Some((file, line, _)) = &mut place.source {
            *file = match self.names.physical_line(file, *line) {
                PhysicalLine::Unknown => self.names.presumed_name(file),
                PhysicalLine::Line(_) | PhysicalLine::Elsewhere => {
                    self.names.display_name(file).to_owned()
                }
            };
        }
    }
}

impl CompiledReference {
    /// The modules of a kernel; none of a Python function.
    #[must_use]
    pub fn modules(&self) -> &[ModuleImage] {
        match self {
            Self::Modules(modules) => modules,
            Self::Python(_) => &[],
        }
    }
}

impl CompiledWorkload {
    /// Bytes of all tensors and of the candidate's scratch.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let scratch = self.candidate.scratch.iter().map(|scratch| scratch.bytes);
        scratch.fold(self.case.bytes(), u64::saturating_add)
    }
}

impl CompiledCandidate {
    /// Sets how many modules of other candidates are loaded before its own, and adjusts the module indices.
    pub fn set_preceding_modules(&mut self, others: usize) {
        let trials = self.workloads.iter_mut().chain(&mut self.measured);
        let varied = self.varied.iter_mut().chain(&mut self.on_few_multiprocessors);
        let varied = varied.chain(&mut self.large_indices).map(|varied| &mut varied.trial);
        for trial in trials.chain(self.held_out.iter_mut().flatten()).chain(varied) {
            trial.candidate.module = trial.candidate.module - self.preceding_modules + others;
        }
        self.preceding_modules = others;
    }

    /// Where the code of a workload comes from.
    #[must_use]
    pub fn origins(&self, trial: &CompiledWorkload) -> Option<&Origins> {
        self.origins.get(trial.candidate.module.checked_sub(self.preceding_modules)?)
    }

    /// The checks that are done before anything runs.
    #[must_use]
    pub fn checks(&self, compiling: Duration) -> Checks {
        let (not_run, evidence) = (self.not_run.clone(), self.evidence.clone());
        let not_checked = self.not_varied.clone();
        Checks {
            not_run,
            evidence,
            not_checked,
            costs: vec![(Step::Compile, compiling)],
            ..Checks::default()
        }
    }
}
