//! Doctor: whether the cache folder can be written, and its size.

use std::fs;
use std::path::Path;

use super::{Finding, HostEnvironment, State, Topic};

pub(super) fn finding(surroundings: &HostEnvironment) -> Finding {
    let advice = "export LIGHTBENCH_CACHE=/a/folder/that/you/can/write";
    let Some(cache) = &surroundings.cache else {
        let summary = "no home folder, and LIGHTBENCH_CACHE is not set";
        return Finding::new(Topic::Cache, State::Missing, summary).command(advice);
    };
    // A cache that does not exist yet is as good as the folder that it will be made in.
    let Some(existing) = cache.ancestors().find(|folder| folder.exists()) else {
        let summary = "no folder above it exists";
        return Finding::new(Topic::Cache, State::Problem, summary).at(cache).command(advice);
    };
    if let Err(error) = tempfile::Builder::new().prefix(".writable-").tempfile_in(existing) {
        let summary = format!("cannot be written: {}", error.kind());
        return Finding::new(Topic::Cache, State::Problem, summary).at(cache).command(advice);
    }
    let summary = if existing == cache {
        format!("writable, holds {} MiB", bytes_below(cache) >> 20)
    } else {
        "writable, made on first use".to_owned()
    };
    Finding::new(Topic::Cache, State::Ok, summary).at(cache)
}

/// Bytes of all files below a folder; unreadable entries count as 0.
fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let mut bytes = 0;
    for entry in entries.filter_map(Result::ok) {
        bytes += match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |metadata| metadata.len()),
            Ok(_) | Err(_) => 0,
        };
    }
    bytes
}
