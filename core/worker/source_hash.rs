//! A hash of the sources of a worker protocol. The build scripts of the crates that define one include this file.

use std::io;
use std::path::{Path, PathBuf};

/// Sets `LIGHTBENCH_SOURCE_HASH` to the package version and a hash of all Rust files below `folders`, which are relative to
/// the crate. Two builds with the same value encode and decode the same messages.
pub(crate) fn emit(folders: &[&str]) -> io::Result<()> {
    let mut files = Vec::new();
    for folder in folders {
        println!("cargo::rerun-if-changed={folder}");
        collect(Path::new(folder), &mut files)?;
    }
    files.sort();
    // FNV-1a with 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/).
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for file in files {
        for byte in std::fs::read(file)? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=LIGHTBENCH_SOURCE_HASH={}+{hash:016x}", env!("CARGO_PKG_VERSION"));
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
