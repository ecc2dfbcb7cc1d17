//! All PTX modules of the tests can be lowered.

use super::super::module::{FunctionId, FunctionKind, Module};
use super::lower;

#[test]
fn every_real_kernel_is_lowered() {
    let folder =
        std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/modules");
    let mut refused = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ptx") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let module = Module::load(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for (index, function) in module.functions.iter().enumerate() {
            if function.kind != FunctionKind::Entry {
                continue;
            }
            if let Err(reasons) = lower(&module, FunctionId(index as u32)) {
                refused.push(format!("{name}: {reasons:?}"));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
