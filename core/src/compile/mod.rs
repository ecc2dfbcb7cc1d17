//! CUDA source to `Artifact`: PTX, cubin, resources, line map, diagnostics.

pub mod cache;
pub mod occupancy;
pub mod prelude;
pub mod cubin;
pub mod diagnostics;
pub mod includes;
pub mod ptx;
pub mod ptxas_log;
pub mod sass;
pub mod signature;
