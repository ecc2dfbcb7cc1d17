//! Kernels whose blocks wait for each other, under both values of `block_order`.

use crate::compiler;
use crate::program::{Bench, copy_folder, repository};

const NOTE_OF_ORDER: &str = "blocks wait for blocks of lower index";
const NOTE_OF_RESIDENCY: &str = "the blocks wait for each other";

#[test]
fn waiting_for_a_lower_block_is_a_note_or_a_fault() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let project = bench.path().join("orders");
    copy_folder(&repository().join("tests/block_orders"), &project);
    let file = project.join("project.ron");
    let ascending = std::fs::read_to_string(&file).unwrap();
    let any = ascending.replace("block_order: ascending", "block_order: any");
    let check = |kernel: &str, definition: &str, expected: Result<Option<&str>, &str>| {
        std::fs::write(&file, definition).unwrap();
        let path = project.to_str().unwrap();
        let said = bench.run(&[
            "run",
            path,
            "--kernel",
            kernel,
            "--device",
            "virtual:h200",
            "--seed",
            "1",
            "--no-history",
            "--json",
        ]);
        let run = said.json();
        let sentence = format!("{kernel}: {}", run["sentence"]);
        match expected {
            Ok(note) => {
                assert_eq!(run["verdict"], "passed", "{sentence}");
                let notes = run["passed"]["notes"].as_array().unwrap();
                let notes: Vec<&str> = notes.iter().map(|note| note.as_str().unwrap()).collect();
                assert_eq!(notes.len(), usize::from(note.is_some()), "{kernel}: {notes:?}");
                assert!(note.is_none_or(|note| notes[0].starts_with(note)), "{kernel}: {notes:?}");
            }
            Err(kind) => {
                assert_eq!(run["fault"]["kind"], kind, "{sentence}");
                let details = run["fault"]["faults"][0]["details"].as_str().unwrap();
                assert!(details.starts_with(NOTE_OF_ORDER), "{details}");
            }
        }
    };
    check("by-index", &ascending, Ok(Some(NOTE_OF_ORDER)));
    check("by-index", &any, Err("residency"));
    for definition in [&ascending, &any] {
        check("by-ticket", definition, Ok(None));
        check("no-waiting", definition, Ok(None));
        check("barrier", definition, Ok(Some(NOTE_OF_RESIDENCY)));
    }
}
