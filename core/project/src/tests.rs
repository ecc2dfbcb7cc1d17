//! Whole projects: what loads, and each rule of the format with its problem and place.

mod files;
mod fixture;
mod held_out;
mod kernels;
mod manifests;
mod nonsense;
mod tensor_maps;
mod triton;
