//! Mangled symbols, as they stand in PTX and cubins: any text is a function with parameters, or none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::compile::signature;

fuzz_target!(|text: &str| {
    drop(signature::parameters(text));
    drop(signature::function_name(text));
});
