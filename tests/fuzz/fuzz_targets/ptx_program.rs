//! Random programs: whatever the bytes, the machine computes what a second implementation computes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::virtual_gpu;

#[path = "../../../core/virtual_gpu/src/tests/generated/mod.rs"]
mod generated;

fuzz_target!(|bytes: &[u8]| {
    if let Err(difference) = generated::compare(bytes) {
        panic!("{}", difference.0);
    }
});
