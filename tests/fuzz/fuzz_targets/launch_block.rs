//! A kernel file of its own: any text has a launch block, has none, or is refused with places inside it.
#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use lightbench_core::project::Kernel;

thread_local! {
    static FILE: tempfile::NamedTempFile = tempfile::Builder::new().suffix(".cu").tempfile().unwrap();
}

fuzz_target!(|text: &str| {
    FILE.with(|file| {
        fs::write(file.path(), text).unwrap();
        match Kernel::load_standalone(file.path()) {
            Ok(kernel) => assert_eq!(kernel.source, text),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
});
