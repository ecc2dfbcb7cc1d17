//! CUDA source to `Artifact`: PTX, cubin, resources, line map, diagnostics.

pub mod job;
pub mod target;

pub mod includes;
pub mod prelude;

pub mod cache;
pub mod nvrtc;

pub mod cubin;
pub mod diagnostics;
pub mod ptx;
pub mod ptxas_log;
pub mod sass;
pub mod signature;

pub mod occupancy;
