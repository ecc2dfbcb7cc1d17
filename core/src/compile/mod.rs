//! CUDA source to `Artifact`: PTX, cubin, resources, line map, diagnostics.

pub mod nvrtc;
