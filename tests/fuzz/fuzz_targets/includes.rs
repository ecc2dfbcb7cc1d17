//! The include scanner: any text has a closure within its bounds, or is refused with places.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::project::includes;
use lightbench_core::project::includes::{Lookup, MAX_FILES};

fuzz_target!(|text: &str| {
    let lookup = |name: &str| match name.len() % 3 {
        // A file that includes itself, and one that includes what the kernel wrote.
        0 => Lookup::Found(format!("#include \"{name}\"\n")),
        1 => Lookup::Found(text.to_owned()),
        _ => Lookup::Absent,
    };
    match includes::closure("kernels/a.cu", text, lookup) {
        Ok(closure) => assert!(closure.files.len() < MAX_FILES),
        Err(refusals) => {
            assert!(!refusals.is_empty());
            assert!(refusals.iter().all(|refusal| !refusal.to_string().is_empty()));
        }
    }
});
