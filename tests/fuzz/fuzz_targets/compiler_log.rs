//! The compiler's log, which repeats whatever the source says: nothing in it is lost or stops the reader.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::compile::{diagnostics, ptxas_log};

fuzz_target!(|text: &str| {
    let log = diagnostics::read(text, &["kernel.cu", "include/part.cuh"]);
    let _ = (log.worst(), ptxas_log::read(&log.resources), ptxas_log::read(text));
});
