//! CUDA source to `Artifact`: PTX, cubin, resources, line map, diagnostics.

pub mod cache;
pub mod occupancy;
pub mod prelude;
