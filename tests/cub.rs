//! Device-wide algorithms of CUB, which hand partial results from block to block.

use serde_json::Value;

use crate::compiler;
use crate::program::{Bench, copy_folder, repository};

/// What looks back over `blockIdx` has it.
const NOTE_OF_ORDER: &str = "blocks wait for blocks of lower index";

/// The verdict on a kernel of a project of `tests/cub`.
fn verdict(bench: &Bench, algorithm: &str, kernel: &str) -> Value {
    let project = bench.path().join(algorithm);
    copy_folder(&repository().join("tests/cub").join(algorithm), &project);
    let path = project.to_str().unwrap();
    let flags = ["--device", "virtual:h200", "--seed", "1", "--no-history", "--json"];
    bench.run(&[&["run", path, "--kernel", kernel][..], &flags].concat()).json()
}

#[test]
fn device_wide_algorithms_raise_no_alarm() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let check = |algorithm: &str, note: Option<&str>| {
        let run = verdict(&bench, algorithm, "cub");
        assert_eq!(run["verdict"], "passed", "{algorithm}: {}", run["sentence"]);
        let notes = run["passed"]["notes"].as_array().unwrap();
        assert_eq!(notes.len(), usize::from(note.is_some()), "{algorithm}: {notes:?}");
        let has = |note: &str| notes[0].as_str().unwrap().starts_with(note);
        assert!(note.is_none_or(has), "{algorithm}: {notes:?}");
    };
    check("radix-sort", None);
    check("scan", Some(NOTE_OF_ORDER));
    check("partition", Some(NOTE_OF_ORDER));
}

/// CUB may sleep while a block waits, and calls a function of the kernel's own there if it gets one.
#[test]
fn a_callback_that_sleeps_is_the_kernels_own() {
    if compiler::required().is_none() {
        return;
    }
    let run = verdict(&Bench::new(), "scan", "sleeping-callback");
    assert_eq!(run["verdict"], "refused", "{}", run["sentence"]);
}
