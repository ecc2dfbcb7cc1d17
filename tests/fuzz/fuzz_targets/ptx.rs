//! The PTX parser: any text has declarations and a line map, perhaps empty ones, and a tree with bounded errors.
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
    let lines = u32::try_from(text.lines().count() + 1).unwrap();
    for line in 0..=lines {
        let _ = module.line_map.at(line);
    }
    let (tree, errors) = ptx::parse(text);
    let unsupported = tree.unsupported().map(|statement| &statement.error);
    let errors: Vec<&ptx::SyntaxError> = errors.iter().chain(unsupported).collect();
    assert!(errors.len() <= ptx::MAX_ERRORS + 1);
    for error in &errors {
        assert!(error.place.line <= lines && !error.to_string().is_empty());
    }
    assert!(tree.unsupported().all(|statement| text.contains(statement.text)));
});
