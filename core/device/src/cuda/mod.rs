//! A CUDA GPU through its driver. Only this folder uses `cudarc`; `unsafe` is allowed here and in `compile/nvrtc.rs`.
//!
//! The driver's library is loaded when a GPU is opened and is not linked, so that the program runs on machines without
//! it. `driver.rs` contains the calls, each checked; `block.rs` the calls about memory and `stream.rs` those about
//! order and time; `tensor_map.rs` encodes descriptors, `texture.rs` makes texture and surface objects. `older_driver.rs` supplies what drivers of CUDA 12 lack. `cupti.rs` calls the library of time stamps and `cublas.rs` the library that runs as a baseline. All
//! other files are safe code.

mod attributes;
mod block;
mod buffer;
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
mod older_driver;
mod prepared;
mod staging;
mod stamps;
mod stopwatch;
mod stream;
mod telemetry;
mod tensor_map;
mod texture;

pub use attributes::local_gpus;
pub use clock_control::NvmlClocks;
pub use device::CudaDevice;
pub use telemetry::driver_release;
