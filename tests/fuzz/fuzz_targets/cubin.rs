//! The cubin reader: any bytes are an ELF file with kernels, or are refused in words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::compile::cubin;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = cubin::read(bytes) {
        assert!(!error.to_string().is_empty());
    }
});
