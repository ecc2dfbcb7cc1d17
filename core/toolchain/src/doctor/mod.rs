//! Examines the machine and reports, per topic, the state and the fix.

mod cache;
mod compiler;
mod display;
mod driver;
mod libraries;
mod pip;
mod profilers;
mod sandbox;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::Serialize;

use super::{HostEnvironment, discover};

pub use super::FETCH_COMMAND;
pub use driver::installed_driver;

/// All findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// `lightbench.doctor/1`.
    pub schema: &'static str,
    /// Operating system and processor.
    pub system: String,
    /// Whether kernels can be compiled as things are.
    pub can_compile: bool,
    /// One finding per topic, in the order of [`Topic`]; [`examine`] leaves out [`Topic::Python`].
    pub findings: Vec<Finding>,
}

/// The finding on one topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub topic: Topic,
    pub state: State,
    /// One line for a person.
    pub summary: String,
    /// Path of the file or folder, if it was found.
    pub at: Option<String>,
    /// More that may matter, one line each.
    pub notes: Vec<String>,
    pub fix: Option<Fix>,
}

/// A topic of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// NVRTC.
    Compiler,
    /// The headers of the compiler.
    Headers,
    /// `nvdisasm`.
    Disassembler,
    /// `cuobjdump`.
    CubinReader,
    /// `ptxas`.
    Assembler,
    /// Our folder in the user's cache.
    Cache,
    /// pip, which a fetch needs.
    Pip,
    /// The NVIDIA driver and the CUDA version that it supports.
    Driver,
    /// The GPUs that the driver lists.
    Gpu,
    /// The kernel module that CUDA programs need.
    UnifiedMemoryModule,
    /// Permission to read GPU performance counters.
    CounterPermission,
    /// `ncu`.
    NsightCompute,
    /// `compute-sanitizer`.
    ComputeSanitizer,
    /// The headers that CuTe kernels include.
    Cutlass,
    /// The library that runs as a baseline of products.
    Cublas,
    /// The library of the driver's time stamps.
    Cupti,
    /// Whether a window can be opened.
    Display,
    /// Landlock: confines the compile worker to its folders.
    FileSandbox,
    /// Seccomp: the filter that denies system calls to the compile worker.
    CallFilter,
    /// The Python interpreter and its packages, which the program examines and adds.
    Python,
}

/// The state of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Present and usable.
    Ok,
    /// Missing, and needed by Lightbench.
    Missing,
    /// Present and unusable.
    Problem,
    /// Information that requires no action.
    Info,
}

/// The remedy for a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
pub enum Fix {
    /// One command to type.
    Command(String),
    /// Something that no single command does on every machine.
    Advice(String),
}

impl Topic {
    /// The name that a person reads.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Compiler => "Compiler",
            Self::Headers => "Headers",
            Self::Disassembler => "Disassembler",
            Self::CubinReader => "Cubin reader",
            Self::Assembler => "Assembler",
            Self::Cache => "Cache folder",
            Self::Pip => "pip",
            Self::Driver => "NVIDIA driver",
            Self::Gpu => "GPU",
            Self::UnifiedMemoryModule => "nvidia-uvm",
            Self::CounterPermission => "GPU counters",
            Self::NsightCompute => "Nsight Compute",
            Self::ComputeSanitizer => "Compute Sanitizer",
            Self::Cutlass => "CUTLASS",
            Self::Cublas => "cuBLAS",
            Self::Cupti => "CUPTI",
            Self::Display => "Display",
            Self::FileSandbox => "File sandbox",
            Self::CallFilter => "Call filter",
            Self::Python => "Python",
        }
    }
}

impl Finding {
    /// A finding without a path, notes and a fix.
    pub fn new(topic: Topic, state: State, summary: impl Into<String>) -> Self {
        Self { topic, state, summary: summary.into(), at: None, notes: Vec::new(), fix: None }
    }

    /// The finding with the path of what was found.
    #[must_use]
    pub fn at(self, path: &Path) -> Self {
        Self { at: Some(path.display().to_string()), ..self }
    }

    /// The finding with one more note, a line.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    fn command(self, command: impl Into<String>) -> Self {
        Self { fix: Some(Fix::Command(command.into())), ..self }
    }

    /// The finding with a remedy that no single command is.
    #[must_use]
    pub fn advice(self, advice: impl Into<String>) -> Self {
        Self { fix: Some(Fix::Advice(advice.into())), ..self }
    }
}

/// Examines all topics; takes about a second, most of it waiting for pip and the driver.
#[must_use]
pub fn examine(surroundings: &HostEnvironment) -> Report {
    let discovery = discover(surroundings);
    let can_compile = discovery.compiler.is_some();
    let compiler_version = discovery.compiler.as_ref().map(|(nvrtc, _)| nvrtc.version);
    let mut findings = compiler::findings(&discovery, surroundings);
    findings.push(cache::finding(surroundings));
    findings.push(pip::finding(surroundings, can_compile));
    findings.extend(driver::findings(&driver::ask(), surroundings, compiler_version));
    findings.extend(profilers::findings(surroundings));
    findings.extend(libraries::findings(surroundings));
    findings.push(display::finding(surroundings));
    findings.extend(sandbox::findings(surroundings));
    Report {
        schema: "lightbench.doctor/1",
        system: super::discover::system_name(),
        can_compile,
        findings,
    }
}
