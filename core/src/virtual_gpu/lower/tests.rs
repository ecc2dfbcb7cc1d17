//! Which of the real modules can be run.

use std::collections::BTreeSet;

use super::super::module::{FunctionId, FunctionKind, Module};
use super::lower;

/// Modules with kernels whose instructions are not executed yet: tensor cores, asynchronous copies, barriers in memory.
const REFUSED: &[&str] = &[
    "block_barrier-100-f",
    "mbarrier_basics-80-G",
    "mma_fp8-100-f",
    "mma_pipeline-80-o",
    "mma_types-100-o",
    "pipeline_copy-90-f",
    "wmma_half-90-f",
    "wmma_types-100-f",
];

#[test]
fn real_kernels_are_lowered_unless_they_need_tensor_cores_or_asynchronous_copies() {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/ptx/modules");
    let mut refused = BTreeSet::new();
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
            if lower(&module, FunctionId(index as u32)).is_err() {
                refused.insert(name.clone());
            }
        }
    }
    let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
    assert_eq!(refused, REFUSED);
}
