//! A CUDA GPU through its driver. The only folder that names `cudarc`; with `compile/nvrtc.rs` the only one that may be
//! unsafe.
//!
//! The driver's library is loaded when a GPU is asked for and linked to nothing, so that the program runs where there is
//! none. `driver.rs` holds the calls, each checked, but for those about memory, which are in `block.rs`, and those about order
//! and time, which are in `stream.rs`; `cupti.rs` calls the driver's library of time stamps, `cublas.rs` the one that runs as
//! a baseline; the rest is safe.

mod attributes;
mod block;
mod clock_control;
mod cublas;
mod cupti;
mod device;
mod driver;
mod fault;
mod function;
mod guards;
mod instruments;
mod memory;
mod memory_exchange;
mod prepared;
mod staging;
mod stamps;
mod stopwatch;
mod stream;
mod telemetry;

pub use attributes::local_gpus;
pub use clock_control::NvmlClocks;
pub use device::CudaDevice;
pub use telemetry::driver_release;
