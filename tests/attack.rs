//! Mutants of a sample kernel: `audit --attack`, its journal, and requests that are wrong.

use std::fs;

use crate::compiler;
use crate::program::{Bench, copy_folder, repository};

#[test]
fn an_attack_catches_mutants_and_continues_from_its_journal() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let folder = bench.path().join("transpose");
    copy_folder(&repository().join("sample-projects/transpose"), &folder);
    let journal = bench.path().join("attack.jsonl");
    let attack = |budget: &str, more: &[&str]| {
        let command = [
            "audit",
            "transpose",
            "--attack",
            "--kernel",
            "padded",
            "--budget",
            budget,
            "--seed",
            "1",
            "--device",
            "virtual:h200",
            "--journal",
            journal.to_str().unwrap(),
        ];
        bench.run(&[&command, more].concat())
    };
    let first = attack("6", &["--json"]);
    let document = first.json();
    let mutants = document["attack"]["mutants"].as_array().unwrap().clone();
    let caught = mutants.iter().filter(|mutant| mutant["fate"] == "caught").count();
    assert!(mutants.len() == 6 && caught >= 3, "{document:#}");
    assert!(mutants.iter().all(|mutant| mutant["fate"] != "hole"), "{document:#}");
    assert_eq!((first.status, document["score"].as_f64()), (0, Some(1.0)));

    // A line that was cut off is not a mutant.
    let mut text = fs::read_to_string(&journal).unwrap();
    assert_eq!(text.lines().count(), 6);
    text.push_str("{\"key\": \"cut");
    fs::write(&journal, text).unwrap();
    let second = attack("8", &["--json"]).json();
    let continued = second["attack"]["mutants"].as_array().unwrap();
    assert_eq!(continued[..6], mutants[..], "{second:#}");
    assert_eq!(fs::read_to_string(&journal).unwrap().lines().count(), 8);
    attack("8", &[]).expect(0, &["caught", "same bits", "100.0 % caught: 8 of"]);

    fs::write(&journal, "not a journal\n").unwrap();
    attack("8", &[]).expect(2, &["is not a journal of attacks: line 1"]);
    bench.run(&["audit", "transpose", "--budget", "3"]).expect(2, &["--attack"]);
    let unknown = ["audit", "transpose", "--attack", "--kernel", "nothing"];
    bench.run(&unknown).expect(2, &["unknown kernel `nothing`"]);
}
