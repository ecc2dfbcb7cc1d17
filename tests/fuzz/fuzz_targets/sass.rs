//! The reader of disassembled machine code: any text has functions, perhaps none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::compile::sass;

fuzz_target!(|text: &str| {
    drop(sass::read(text));
});
