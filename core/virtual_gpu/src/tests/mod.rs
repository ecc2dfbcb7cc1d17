//! Tests of the front end as a whole.

mod generated;
mod hostile;
mod random_programs;
mod real_modules;
mod refuse;
mod resolve;
mod robust;

use super::Module;
use crate as virtual_gpu;
use std::path::PathBuf;

/// A folder of `tests/ptx` at the top of the repository.
fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx").join(name)
}

/// Its files with their texts, sorted by name.
fn texts(name: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder(name)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            all.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    all.sort();
    all
}

/// A module around the statements of one kernel.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 a, .param .u32 n) {{\n{body}\n}}\n"
    )
}

fn loaded(text: &str) -> Module {
    match Module::load(text) {
        Ok(module) => module,
        Err(errors) => {
            let list: Vec<_> = errors.iter().map(ToString::to_string).collect();
            panic!("{}", list.join("\n"));
        }
    }
}
