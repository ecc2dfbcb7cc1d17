//! The PTX reader: any text has entries and a line map, perhaps empty ones.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::ptx;

fuzz_target!(|text: &str| {
    let module = ptx::read(text);
    let _ = module.constant_bytes();
    for entry in &module.entries {
        let _ = (entry.static_shared_bytes(), entry.uses_dynamic_shared());
        for parameter in &entry.parameters {
            let _ = parameter.may_be_pointer();
        }
    }
    for line in 0..=text.lines().count() + 1 {
        let _ = module.line_map.at(u32::try_from(line).unwrap());
    }
});
