//! Device-wide algorithms of CUB, which hand partial results from block to block, raise no alarm.

use crate::compiler;
use crate::program::{Bench, copy_folder, repository};

/// Both look back over `blockIdx`, which is a note.
const NOTE_OF_ORDER: &str = "blocks wait for blocks of lower index";

#[test]
fn device_wide_algorithms_of_cub_pass() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let check = |algorithm: &str, note: Option<&str>| {
        let project = bench.path().join(algorithm);
        copy_folder(&repository().join("tests/cub").join(algorithm), &project);
        let path = project.to_str().unwrap();
        let flags = ["--device", "virtual:h200", "--seed", "1", "--no-history", "--json"];
        let run = bench.run(&[&["run", path, "--kernel", "cub"][..], &flags].concat()).json();
        assert_eq!(run["verdict"], "passed", "{algorithm}: {}", run["sentence"]);
        let notes = run["passed"]["notes"].as_array().unwrap();
        assert_eq!(notes.len(), usize::from(note.is_some()), "{algorithm}: {notes:?}");
        let has = |note: &str| notes[0].as_str().unwrap().starts_with(note);
        assert!(note.is_none_or(has), "{algorithm}: {notes:?}");
    };
    check("reduce", None);
    check("radix-sort", None);
    check("scan", Some(NOTE_OF_ORDER));
    check("partition", Some(NOTE_OF_ORDER));
}
