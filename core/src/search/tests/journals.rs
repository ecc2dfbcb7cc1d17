//! Where a journal lies: through no link, and never without its header.

use std::fs;

use super::*;
use crate::search::JournalError;

#[cfg(unix)]
#[test]
fn a_planted_link_is_refused_and_nothing_is_written_behind_it() {
    use std::os::unix::fs::symlink;
    let kept = Kept::new();
    let victim = kept.folder.path().join("victim");
    fs::create_dir(&victim).unwrap();
    let check = |link: &str, to: &std::path::Path| {
        let project = tempfile::tempdir().unwrap();
        let link = project.path().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(to, &link).unwrap();
        let path = project.path().join(".lightbench/searches/2026.jsonl");
        let refusals = [
            Journal::create(&path, kept.machine.clone()).map(drop),
            Journal::resume(&path, kept.machine.clone()).map(drop),
            Journal::read(&path, &kept.machine).map(drop),
        ];
        for refused in refusals {
            let refused = refused.unwrap_err();
            assert!(matches!(refused, JournalError::Files { .. }), "{refused}");
            let told = refused.to_string();
            assert!(told.contains(link.to_str().unwrap()) && told.contains("link"), "{told}");
        }
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
    };
    check(".lightbench", &victim);
    check(".lightbench/searches", &victim);
    check(".lightbench/searches/2026.jsonl", &victim.join("journal"));
}

#[test]
fn a_journal_appears_with_its_first_line() {
    let kept = Kept::new();
    let journal = Journal::create(&kept.path(), kept.machine.clone()).unwrap();
    assert!(!kept.path().exists());
    drop(journal);
    kept.begin(&Setting { evaluations: 6, ..USUAL }, usize::MAX);
    let taken = Journal::create(&kept.path(), kept.machine.clone()).unwrap_err().to_string();
    assert!(taken.contains("journal.jsonl"), "{taken}");
    let left = fs::read_dir(kept.folder.path()).unwrap();
    let names = left.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    assert!(names.into_iter().all(|name| !name.ends_with(".new")));
}
