//! A CUDA GPU through its driver. The only folder that names `cudarc`; with `compile/nvrtc.rs` the only one that may be
//! unsafe.
//!
//! cuBLAS, which runs as a baseline, is loaded in `cublas.rs`. The driver's library is loaded when a GPU is asked for and linked to nothing, so that the program runs where there is
//! none. `driver.rs` holds the calls, each checked, but for those about memory, which are in `block.rs`, and those about order
//! and time, which are in `stream.rs`; the rest is safe.

mod block;
mod cublas;
mod device;
mod driver;
mod fault;
mod function;
mod guards;
mod mailbox;
mod memory;
mod staging;
mod stopwatch;
mod stream;
mod telemetry;

pub use device::CudaDevice;
pub use telemetry::driver_release;
