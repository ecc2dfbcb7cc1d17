//! The document of `lightbench check`: what the compiler reports about kernels.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build_failure::{ReportedBuildFailure, ReportedDiagnostic};
use super::kernel_facts::{ReportedKernelFacts, ReportedOccupancy};
use super::listing::ReportedListings;
use super::problem::ReportedBrokenFile;
use crate::compile::facts::{Facts, LaunchFacts};
use crate::compile::{Artifact, Origin};
use crate::cuda_source::{OmittedItem, Reason};

/// The compile facts of a project's kernels, or of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckReport {
    /// The schema of this document.
    pub schema: CheckSchema,
    /// The device that the kernels are compiled for.
    pub device: ReportedTarget,
    /// The compiler.
    pub compiler: ReportedCompiler,
    /// Whether the compiler optimises.
    pub build: ReportedBuild,
    /// What was compiled.
    #[serde(flatten)]
    pub subject: CheckSubject,
}

/// The schema of a [`CheckReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CheckSchema {
    /// The first schema.
    #[serde(rename = "lightbench.check/1")]
    V1,
}

/// A device that kernels are compiled for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedTarget {
    /// The name of its device sheet.
    pub sheet: String,
    /// Its name in words.
    pub title: String,
    /// The architecture, such as `sm_90`.
    pub architecture: String,
}

/// A compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedCompiler {
    /// Name and version.
    pub name: String,
    /// The file of its library.
    pub library: PathBuf,
}

/// Whether the compiler optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportedBuild {
    /// As for a run.
    Optimised,
    /// Without optimisation.
    AsWritten,
}

/// What was compiled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CheckSubject {
    /// Kernels of a project.
    Project {
        /// The project.
        project: ReportedProject,
        /// The workload whose sizes decide grids and constants.
        workload: ReportedSizes,
        /// The kernels.
        kernels: Vec<CheckedKernel>,
        /// Kernels whose files cannot be read.
        broken: Vec<ReportedBrokenFile>,
        /// The elapsed time.
        seconds: f64,
    },
    /// A file outside any project.
    File {
        /// The file.
        file: PathBuf,
        /// Where the compiled code came from.
        origin: ReportedOrigin,
        /// The compiler's messages.
        messages: ReportedMessages,
        /// The kernels in it.
        kernels: Vec<StandaloneKernelFacts>,
        /// Host code, and headers that only host code uses; missing for a file with device code only.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<ReportedOmission>,
        /// The requested listings.
        #[serde(flatten)]
        listings: ReportedListings,
    },
    /// A file outside any project that cannot be compiled.
    FailedFile {
        /// The file.
        file: PathBuf,
        /// Why not.
        failure: ReportedBuildFailure,
    },
}

/// An item of a file with host and device code that was not compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedOmission {
    /// The local header that has it, by its name in the directive; `null` for the file itself.
    pub header: Option<String>,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// Its beginning, in one line.
    pub text: String,
    /// Why it was left out.
    pub reason: ReportedOmissionReason,
}

/// Why an item was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportedOmissionReason {
    /// A function, a variable or a type of the host.
    HostCode,
    /// A header that only host code uses.
    Header,
}

impl From<&OmittedItem> for ReportedOmission {
    fn from(item: &OmittedItem) -> Self {
        Self {
            header: item.header.clone(),
            line: item.place.line,
            column: item.place.column,
            text: item.what.clone(),
            reason: match item.why {
                Reason::HostCode => ReportedOmissionReason::HostCode,
                Reason::Header => ReportedOmissionReason::Header,
            },
        }
    }
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedProject {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
}

/// A workload with the value of each axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSizes {
    /// Its name.
    pub name: String,
    /// The value of each axis, by the name of the axis.
    pub axes: BTreeMap<String, u64>,
}

/// One kernel of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedKernel {
    /// Its name.
    pub name: String,
    /// Its file, relative to the project folder.
    pub file: PathBuf,
    /// Its title.
    pub title: String,
    /// Its facts.
    #[serde(flatten)]
    pub result: CheckedKernelResult,
}

/// The facts of one kernel of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CheckedKernelResult {
    /// It has none.
    Failed {
        /// Why not.
        failure: ReportedBuildFailure,
    },
    /// It was compiled.
    Compiled(Box<CompiledKernelReport>),
}

/// The facts of a compiled kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompiledKernelReport {
    /// The hash of the candidate.
    pub candidate: String,
    /// The value of each parameter, by its name.
    pub parameters: BTreeMap<String, i64>,
    /// Where the compiled code came from.
    pub origin: ReportedOrigin,
    /// Its launches, in order; a repeated launch counts once.
    pub launches: Vec<ReportedLaunch>,
    /// The compiler's messages.
    #[serde(flatten)]
    pub messages: ReportedMessages,
    /// The requested listings.
    #[serde(flatten)]
    pub listings: ReportedListings,
}

/// The compiler's messages about code that compiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedMessages {
    /// Warnings and remarks.
    pub warnings: Vec<ReportedDiagnostic>,
    /// Lines of the log that are no such message.
    pub other: String,
}

/// Where compiled code came from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReportedOrigin {
    /// The cache, from an earlier compilation of the same source.
    Cache,
    /// The assembler, or the PTX alone if there is no assembler.
    Assembler,
    /// The compiler.
    Compiler {
        /// The time inside the compiler library, in milliseconds.
        compile_ms: f64,
    },
}

/// One launch and the compiled kernel that it starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedLaunch {
    /// The compiled kernel.
    #[serde(flatten)]
    pub kernel: ReportedKernelFacts,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub dynamic_shared_bytes: u64,
    /// Blocks of a cluster, if the launch has clusters.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks are resident together.
    pub cooperative: bool,
    /// Occupancy; null if a number is unknown.
    pub occupancy: Option<ReportedOccupancy>,
    /// Why the driver would refuse the launch, besides a block that does not fit.
    pub cannot_launch: Vec<String>,
}

/// A kernel of a file outside any project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandaloneKernelFacts {
    /// The compiled kernel.
    #[serde(flatten)]
    pub kernel: ReportedKernelFacts,
    /// Occupancy by the number of threads of a block; absent if a number is unknown.
    pub occupancy_by_block: BTreeMap<String, ReportedOccupancy>,
}

impl CompiledKernelReport {
    /// The facts of a kernel, with the requested listings.
    #[must_use]
    pub fn new(facts: &Facts, listings: ReportedListings) -> Self {
        Self {
            candidate: format!("{:#}", facts.candidate.hash),
            parameters: facts.candidate.selection.parameters.iter().cloned().collect(),
            origin: facts.origin.into(),
            launches: facts.launches.iter().map(Into::into).collect(),
            messages: (&facts.artifact).into(),
            listings,
        }
    }
}

impl From<&Artifact> for ReportedMessages {
    fn from(artifact: &Artifact) -> Self {
        Self {
            warnings: artifact.diagnostics.iter().map(Into::into).collect(),
            other: artifact.other.clone(),
        }
    }
}

impl From<Origin> for ReportedOrigin {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Cache => Self::Cache,
            Origin::Assembler => Self::Assembler,
            Origin::Compiler { elapsed } => {
                Self::Compiler { compile_ms: elapsed.as_secs_f64() * 1e3 }
            }
        }
    }
}

impl From<&LaunchFacts> for ReportedLaunch {
    fn from(launch: &LaunchFacts) -> Self {
        let planned = &launch.planned;
        Self {
            kernel: (&launch.kernel).into(),
            grid: planned.grid,
            block: planned.block,
            dynamic_shared_bytes: planned.shared_bytes,
            cluster: planned.cluster,
            cooperative: planned.cooperative,
            occupancy: launch.occupancy.as_ref().map(Into::into),
            cannot_launch: launch.problems.iter().map(ToString::to_string).collect(),
        }
    }
}
