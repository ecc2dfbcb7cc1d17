// Included by the build scripts of the crates that define worker protocols.

use std::path::{Path, PathBuf};

/// Sets `LIGHTBENCH_SOURCE_HASH` to the package version and a hash of all Rust files below `folders`, which are relative to
/// the crate. Two builds with the same value encode and decode the same messages.
fn emit_source_hash(folders: &[&str]) {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it"));
    let mut files = Vec::new();
    for folder in folders {
        println!("cargo::rerun-if-changed={folder}");
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    // FNV-1a with 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/).
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for file in files {
        for byte in std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=LIGHTBENCH_SOURCE_HASH={}+{hash:016x}", env!("CARGO_PKG_VERSION"));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
