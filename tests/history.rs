//! What is kept of runs, whatever happens to the process, the disk and the file.

use std::fs;
use std::path::Path;

use lightbench_core::history::location::HistoryLocation;
use lightbench_core::history::machine::Machine;
use lightbench_core::history::{IntegrityCheck, OpenedHistory, open};

mod commands;
mod processes;

/// The history in a folder, looked through from end to end; the machine's key lies beside it.
fn opened(folder: &Path, suspicion: IntegrityCheck) -> OpenedHistory {
    let place = HistoryLocation::for_writing(folder, None).unwrap();
    open(&place, &Machine::open(&folder.join("state")).unwrap(), suspicion).unwrap()
}

/// A run that passed, of a name of its own.
fn record(id: u64) -> serde_json::Value {
    let path = crate::program::repository().join("tests/data/history/run.json");
    let mut record: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    record["id"] = format!("{id:032x}").into();
    record
}
