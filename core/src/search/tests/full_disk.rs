//! Journals on a full disk.

use std::fs;

use lightbench_primitives::no_links;

use crate::history::fixture::{MountedFolder, machine};
use crate::search::{Entry, Journal};

#[test]
fn a_journal_without_a_header_is_not_left_behind() {
    let Some(folder) = MountedFolder::new(2048) else { return };
    let (_key, machine) = machine();
    let searches = folder.path().join("searches");
    fs::create_dir(&searches).unwrap();
    folder.fill();
    let mut journal = Journal::create(&searches.join("2026.jsonl"), machine).unwrap();
    let entry = Entry::TurnedDown { variant: 0, why: "x".repeat(9000) };
    let refused = journal.append(0.0, &entry).unwrap_err().to_string();
    assert!(refused.contains("2026.jsonl") && refused.contains("space"), "{refused}");
    assert!(no_links::names(&searches).unwrap().is_empty());
    // Once there is room, the same journal is written.
    fs::remove_file(folder.path().join("filler")).unwrap();
    journal.append(0.0, &entry).unwrap();
    assert_eq!(no_links::names(&searches).unwrap(), ["2026.jsonl"]);
}
