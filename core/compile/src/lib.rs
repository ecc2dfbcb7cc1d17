//! Compiles CUDA C++ and PTX to an [`Artifact`]: PTX, cubin, resources, line map and diagnostics.

pub mod compiler;
pub mod facts;

pub mod artifact;
pub mod error;
pub mod job;
pub mod line_directives;
pub mod source_names;
pub mod target;

mod architecture_advice;
pub mod header_advice;

pub mod cache;
pub mod nvrtc;
pub mod protocol;
pub mod service;
mod tools;
pub mod triton;

mod copied_parameter;
pub mod cubin;
pub mod diagnostics;
pub mod launch_arguments;
mod name_errors;
pub mod ptxas_log;
pub mod sass;
pub mod signature;

pub mod modelled_time;
pub mod occupancy;

pub use artifact::{Artifact, KernelFacts, Rejection, Resources};
pub use compiler::{Batch, BatchJob, Compiled, Compiler, Notice, Origin};
pub use error::CompileError;
pub use job::{Build, CompileJob, CudaSource, Source};
pub use source_names::SourceNames;
pub use target::{Portability, Target};
