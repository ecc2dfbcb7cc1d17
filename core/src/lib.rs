//! CUDA kernels from source to facts; `ARCHITECTURE.md` draws the whole.
//!
//! ```text
//!  project folder ──► Project::load ──► Project, Kernel
//!                                           │ Candidate::of
//!  toolchain::discover ──► Toolchain ──► compile (in a worker process) ──► Artifact ──► Facts
//!                                           ▲            │
//!                                   device sheets        ▼
//!                   arguments ──► device::Launch ──► device::Device ──► Outcome
//! ```
//!
//! Modules in reading order.

#![warn(missing_docs, reason = "the interface of the program beside the window and the commands")]

pub use lightbench_project as project;

pub use lightbench_import as import;

pub use lightbench_toolchain as toolchain;

pub use lightbench_ptx as ptx;

pub use lightbench_compile as compile;
#[doc(inline)]
pub use lightbench_cuda_source as cuda_source;

pub use lightbench_remote as remote;
pub use lightbench_worker as worker;

pub use lightbench_python as python;

pub use lightbench_device as device;

pub mod arguments;

pub use lightbench_virtual_gpu as virtual_gpu;

pub use lightbench_tensors as tensors;

pub use lightbench_verify as verify;

pub use lightbench_measure as measure;

pub mod evaluate;

pub use lightbench_speed_of_light as speed_of_light;

pub use lightbench_models as models;

pub use lightbench_strategies as strategies;

pub use lightbench_suggest as suggest;

pub mod virtual_program;

pub mod access;

pub mod timeline;

pub mod audit;

pub mod calibrate;

pub mod nsight;

pub use lightbench_history as history;

pub mod explain;

pub mod figure;

pub mod lesson;

pub mod report;

pub mod launcher;

pub mod search;

pub mod engine;

pub use lightbench_primitives::{
    cancellation, coalescing_queue, display_text, dtype, element, element_text, no_links,
    scalar_value, tensor_map, wake_signal, whole_file,
};
pub use lightbench_units as units;
